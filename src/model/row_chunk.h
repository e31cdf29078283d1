// Rows with the schema that they were made under, and their way into a later schema: columns by
// name, missing ones NULL, narrower ones widened. Row bytes are the form in which single rows lie
// in the ledger.
//
//   row    := count(4) column*
//   column := name:text type:text value            text := length(4) bytes
//   value  := 0x00 | 0x01 payload                  NULL or not
//   payload:= fixed-width bytes | length(4) bytes | count(4) value*     by type (FixedWidth, text
//   and bytes, list)
// Little-endian. Persisted: this grammar never changes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "model/rows.h"

namespace lastword {

struct RowChunk {
  std::shared_ptr<const Schema> schema;
  Rows rows;

  RowChunk() = default;
  explicit RowChunk(std::shared_ptr<const Schema> of) : schema(std::move(of)), rows(*schema) {}
};

/// Copies rows of one schema into rows of another; made once for a pair, then used for many rows.
class RowAdapter {
 public:
  RowAdapter(const Schema& from, const Schema& to);
  /// Appends row `row` of `from` to `to`; `to.columns` beyond the target schema are left alone.
  void Append(const Rows& from, uint64_t row, Rows& to) const {
    Append(from, std::span(&row, 1), to);
  }
  /// The same for several rows, in their order.
  void Append(const Rows& from, std::span<const uint64_t> rows, Rows& to) const;

 private:
  std::vector<int64_t> x_source;  // a column of the target: its column in the source, or -1
  std::vector<Type> x_types;
};

/// Appends one value, widening integers, floats and decimals where the types differ
/// (schema_change.h says which may).
void AppendWidened(const ColumnData& from, uint64_t row, ColumnData& to);

std::string RowToBytes(const Schema& schema, const Rows& rows, uint64_t row);
/// Fails with kStorageCorrupt on bytes that are no row.
Result<RowChunk> RowFromBytes(std::string_view bytes);

}  // namespace lastword
