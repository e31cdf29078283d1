#include "state/floors.h"

#include <algorithm>

namespace lastword {

void Floors::Raise(const Origin& origin, const Version& version) {
  if (origin.all_rows()) {
    x_all_rows = x_all_rows ? std::max(*x_all_rows, version) : version;
    return;
  }
  Version& floor = x_by_columns[origin.columns].emplace(origin.values, version).first->second;
  floor = std::max(floor, version);
}

std::optional<Version> Floors::Of(const Schema& schema, std::string_view canonical_key) const {
  std::optional<Version> highest = x_all_rows;
  for (const auto& [columns, by_values] : x_by_columns) {
    const auto values = OriginValues(schema, columns, canonical_key);
    if (!values) continue;
    const auto found = by_values.find(*values);
    if (found == by_values.end()) continue;
    highest = highest ? std::max(*highest, found->second) : found->second;
  }
  return highest;
}

std::optional<Version> Floors::OfOrigin(const Origin& origin) const {
  const auto columns = x_by_columns.find(origin.columns);
  if (columns == x_by_columns.end()) return x_all_rows;
  const auto found = columns->second.find(origin.values);
  if (found == columns->second.end()) return x_all_rows;
  return x_all_rows ? std::max(*x_all_rows, found->second) : found->second;
}

std::vector<std::pair<Origin, Version>> Floors::of_origins() const {
  std::vector<std::pair<Origin, Version>> floors;
  for (const auto& [columns, by_values] : x_by_columns) {
    for (const auto& [values, version] : by_values) {
      floors.emplace_back(Origin{columns, values}, version);
    }
  }
  return floors;
}

}  // namespace lastword
