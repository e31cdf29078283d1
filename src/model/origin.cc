#include "model/origin.h"

#include "base/format.h"
#include "model/canonical.h"

namespace lastword {
namespace {

bool NamesASource(std::string_view from) {
  return from == "source.name" || from == "source.db" || from == "source.schema" ||
         from == "source.table" || from == "topic";
}

}  // namespace

std::string ToText(const Origin& origin) {
  std::string text;
  for (size_t i = 0; i < origin.columns.size(); ++i) {
    text += Message("{}{}={}", i == 0 ? "" : ",", origin.columns[i], origin.values[i]);
  }
  return text;
}

std::vector<std::string> OriginColumns(const Schema& schema) {
  std::vector<std::string> names;
  for (size_t i = 0; i < schema.key.size(); ++i) {
    const Column& column = schema.columns[schema.key[i]];
    const bool nullable = i < schema.nullable_key.size() && schema.nullable_key[i];
    if (!nullable && column.type.kind == TypeKind::kString && NamesASource(column.from)) {
      names.push_back(column.name);
    }
  }
  return names;
}

std::optional<std::vector<std::string>> OriginValues(const Schema& schema,
                                                     const std::vector<std::string>& columns,
                                                     std::string_view canonical_key) {
  std::vector<std::string> values;
  for (size_t i = 0; i < schema.key.size() && values.size() < columns.size(); ++i) {
    const std::optional<CanonicalPart> part = TakeCanonicalPart(canonical_key);
    if (!part) return std::nullopt;
    if (schema.columns[schema.key[i]].name != columns[values.size()]) continue;
    if (part->tag != 's') return std::nullopt;
    values.emplace_back(part->payload);
  }
  if (values.size() < columns.size()) return std::nullopt;
  return values;
}

bool Covers(const Origin& origin, const Schema& schema, std::string_view canonical_key) {
  if (origin.all_rows()) return true;
  const auto values = OriginValues(schema, origin.columns, canonical_key);
  return values && *values == origin.values;
}

}  // namespace lastword
