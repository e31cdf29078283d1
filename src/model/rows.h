// Rows as typed columns: what decoders fill, the state keeps and storage writes. No allocation a
// row.
//
// A ColumnData holds the values of one column in the layout of Arrow, but always with 64-bit
// offsets; storage narrows them on the way out. Not thread-safe; distinct objects are independent.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_buffer.h"
#include "lastword/schema.h"

namespace lastword {

/// Bytes of one fixed-width value of `type` in storage; 0 for text, bytes, json and lists. Bool
/// takes one byte here. decimal: 16 (32 above 38 digits), little-endian two's complement. uuid: 16.
/// vector(n): 4 n.
uint32_t FixedWidth(const Type& type);

class ColumnData {
 public:
  explicit ColumnData(Type type);

  const Type& type() const { return x_type; }
  uint64_t size() const { return x_size; }
  uint64_t null_count() const { return x_null_count; }
  /// Bytes held, for the accounting against `memory:`.
  uint64_t bytes_held() const;

  /// Makes room for `rows` rows with `bytes` of values in all.
  void Reserve(uint64_t rows, uint64_t bytes) {
    x_bytes.Reserve(bytes);
    if (x_width == 0) x_offsets.reserve(rows + 1);
  }
  void AppendNull();
  /// Appends a fixed-width value; sizeof(T) must be FixedWidth(type()).
  template <typename T>
  void AppendFixed(const T& value) {
    assert(sizeof value == x_width);
    std::memcpy(x_bytes.Extend(sizeof value), &value, sizeof value);
    AppendValid(true);
  }
  /// Appends FixedWidth(type()) bytes.
  void AppendFixedBytes(const void* bytes) {
    assert(x_width != 0);
    std::memcpy(x_bytes.Extend(x_width), bytes, x_width);
    AppendValid(true);
  }
  /// Appends `rows` fixed-width values, one behind the other in `bytes`, none of them NULL.
  void AppendFixedRun(const void* bytes, uint64_t rows);
  /// Appends a text, bytes or json value.
  void AppendBytes(std::string_view bytes) {
    assert(x_width == 0 && !x_child);
    x_bytes.Append(bytes);
    x_offsets.push_back(x_bytes.size());
    AppendValid(true);
  }
  /// Ends a list value whose `elements` last elements were appended to child() before.
  void AppendList(uint64_t elements);
  ColumnData& child() { return *x_child; }
  const ColumnData& child() const { return *x_child; }

  /// Appends row `row` of `other`, which has the same type.
  void AppendFrom(const ColumnData& other, uint64_t row);
  /// Appends several rows of `other`, another column of the same type, in the order of `rows`.
  void AppendRows(const ColumnData& other, std::span<const uint64_t> rows);
  /// Drops rows from the end until `size` are left: undoes a row that failed half-way.
  void Truncate(uint64_t size);

  bool IsNull(uint64_t row) const {
    return x_null_count != 0 && !(x_valid[row >> 3] >> (row & 7) & 1);
  }
  /// The fixed-width value of a row; meaningless for NULL.
  template <typename T>
  T Fixed(uint64_t row) const {
    T value;
    std::memcpy(&value, x_bytes.data() + row * sizeof(T), sizeof(T));
    return value;
  }
  std::string_view FixedBytes(uint64_t row) const {
    return {x_bytes.data() + row * x_width, x_width};
  }
  /// The text, bytes or json value of a row.
  std::string_view Bytes(uint64_t row) const {
    return {x_bytes.data() + x_offsets[row], x_offsets[row + 1] - x_offsets[row]};
  }
  /// First element and number of elements of a list value in child().
  std::pair<uint64_t, uint64_t> ListRange(uint64_t row) const {
    return {x_offsets[row], x_offsets[row + 1] - x_offsets[row]};
  }

  // The raw parts, for storage (src/lance) to export and import without a copy where layouts agree.
  /// Least significant bit first; kept only while null_count() is not 0, exact size unspecified.
  const std::vector<uint8_t>& valid_bits() const { return x_valid; }
  const std::vector<uint64_t>& offsets() const {
    return x_offsets;
  }  // size()+1 entries, only for variable-width types
  std::string_view raw_bytes() const { return x_bytes.view(); }

 private:
  void AppendValid(bool valid) {
    if (valid && x_null_count == 0) {
      ++x_size;
      return;
    }
    AppendValidBit(valid);
  }
  void AppendValidBit(bool valid);

  Type x_type;
  uint32_t x_width = 0;
  uint64_t x_size = 0;
  uint64_t x_null_count = 0;
  std::vector<uint8_t> x_valid;
  std::vector<uint64_t> x_offsets;
  ByteBuffer x_bytes;
  std::unique_ptr<ColumnData> x_child;
};

/// Rows of one schema: column i of `columns` holds Schema::columns[i].
struct Rows {
  std::vector<ColumnData> columns;

  Rows() = default;
  explicit Rows(const Schema& schema);
  uint64_t size() const { return columns.empty() ? 0 : columns[0].size(); }
  void AppendFrom(const Rows& other, uint64_t row);
  /// Appends a row of NULLs.
  void AppendNulls();
  void Truncate(uint64_t size);
  uint64_t bytes_held() const;
};

}  // namespace lastword
