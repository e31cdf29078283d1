// Which rows of a table stem from one source table: where several feed one table, or one per
// database, the primary key may say it. Origin columns are the text columns of the key that are
// filled `from:` source.name, source.db, source.schema, source.table or topic, and in which NULL is
// no value. Which source tables they tell apart is in docs/ordering.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lastword/schema.h"

namespace lastword {

/// The rows whose key holds these values. No columns: every row of the table.
struct Origin {
  std::vector<std::string> columns;  // key columns, in key order
  std::vector<std::string> values;   // one a column

  bool all_rows() const { return columns.empty(); }
  bool operator==(const Origin&) const = default;
};

/// "src_table=orders_01"; empty for every row.
std::string ToText(const Origin& origin);

/// The names of the origin columns of `schema`, in key order.
std::vector<std::string> OriginColumns(const Schema& schema);

/// The values of the key columns `columns` in a key of `schema`; empty where the canonical bytes
/// hold no text there.
std::optional<std::vector<std::string>> OriginValues(const Schema& schema,
                                                     const std::vector<std::string>& columns,
                                                     std::string_view canonical_key);

/// True where the row of this key is one of the origin's.
bool Covers(const Origin& origin, const Schema& schema, std::string_view canonical_key);

}  // namespace lastword
