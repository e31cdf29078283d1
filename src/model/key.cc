#include "model/key.h"

#include "base/format.h"
#include "model/canonical.h"

namespace lastword {

Status AppendKey(const Schema& schema, const Rows& rows, uint64_t row, std::string& out) {
  const size_t begin = out.size();
  for (size_t i = 0; i < schema.key.size(); ++i) {
    const uint32_t column = schema.key[i];
    const bool nullable = i < schema.nullable_key.size() && schema.nullable_key[i];
    if (!nullable && rows.columns[column].IsNull(row)) {
      out.resize(begin);
      Error error{ErrorKind::kNullInKey,
                  "NULL in a key column; list the column under `nullable_key` if NULL is a value "
                  "there"};
      error.place.column = schema.columns[column].name;
      return error;
    }
    AppendCanonicalPart(rows.columns[column], row, out);
  }
  return Ok{};
}

Status CheckKeyTypes(const Schema& schema) {
  if (schema.key.empty()) {
    return Error{ErrorKind::kUsage, "the table has no primary key; declare one"};
  }
  std::vector<bool> seen(schema.columns.size());
  for (const uint32_t column : schema.key) {
    if (column >= schema.columns.size()) {
      return Error{ErrorKind::kUsage, Message("key column {} of {} columns does not exist", column,
                                              schema.columns.size())};
    }
    const Column& key = schema.columns[column];
    Error error{ErrorKind::kUsage, ""};
    error.place.column = key.name;
    if (seen[column]) {
      error.message = Message("column `{}` is twice in the primary key; remove one", key.name);
      return error;
    }
    seen[column] = true;
    if (key.type.kind == TypeKind::kList || key.type.kind == TypeKind::kVector) {
      error.message = Message("column `{}` is a {} and cannot be a key; choose another primary key",
                              key.name, ToString(key.type));
      return error;
    }
  }
  return Ok{};
}

}  // namespace lastword
