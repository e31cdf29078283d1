#include "model/version_columns.h"

#include <algorithm>

namespace lastword {

Schema StoredSchema(const Schema& schema) {
  Schema stored = schema;
  for (size_t i = 0; i < stored.key.size(); ++i) {
    stored.columns[stored.key[i]].nullable =
        i < stored.nullable_key.size() && stored.nullable_key[i];
  }
  for (const char* name : kVersionColumns) {
    Column column;
    column.name = name;
    column.type = VersionColumnType(name);
    column.nullable = false;
    stored.columns.push_back(std::move(column));
  }
  return stored;
}

Result<Schema> UserSchema(const Schema& stored) {
  Schema schema;
  schema.nullable_key = stored.nullable_key;
  std::vector<uint32_t> moved(stored.columns.size(), UINT32_MAX);
  for (uint32_t i = 0; i < stored.columns.size(); ++i) {
    const Column& column = stored.columns[i];
    if (std::find(kVersionColumns.begin(), kVersionColumns.end(), column.name) !=
        kVersionColumns.end()) {
      continue;
    }
    moved[i] = static_cast<uint32_t>(schema.columns.size());
    schema.columns.push_back(column);
  }
  for (const char* name : kVersionColumns) {
    const std::optional<uint32_t> found = stored.Find(name);
    if (!found || !(stored.columns[*found].type == VersionColumnType(name))) {
      return Error{ErrorKind::kUnsupportedFormat,
                   std::string("the dataset has no column ") + name +
                       " of its type: it is not a Lastword table. Choose another --table path",
                   {}};
    }
  }
  for (const uint32_t key : stored.key) schema.key.push_back(moved[key]);
  return schema;
}

}  // namespace lastword
