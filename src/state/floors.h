// The floors of a table: versions at or below which a key without a live row is refused. Clean-up
// raises the floor of every row, a truncate that of its source table (model/origin.h). Never
// lowered.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lastword/version.h"
#include "model/origin.h"

namespace lastword {

class Floors {
 public:
  void Raise(const Origin& origin, const Version& version);
  /// The highest floor that the key lies under.
  std::optional<Version> Of(const Schema& schema, std::string_view canonical_key) const;
  /// The highest floor that all rows of `origin` lie under.
  std::optional<Version> OfOrigin(const Origin& origin) const;
  const std::optional<Version>& of_all_rows() const { return x_all_rows; }
  bool any_of_origins() const { return !x_by_columns.empty(); }
  /// Those of source tables, in a fixed order.
  std::vector<std::pair<Origin, Version>> of_origins() const;
  bool empty() const { return !x_all_rows && x_by_columns.empty(); }

 private:
  using ByValues = std::map<std::vector<std::string>, Version>;

  std::optional<Version> x_all_rows;
  std::map<std::vector<std::string>, ByValues> x_by_columns;
};

}  // namespace lastword
