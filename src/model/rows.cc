#include "model/rows.h"

#include "base/short_copy.h"

namespace lastword {
namespace {

template <size_t kWidth>
void GatherOf(const char* from, std::span<const uint64_t> rows, char* to) {
  for (const uint64_t row : rows) {
    std::memcpy(to, from + row * kWidth, kWidth);
    to += kWidth;
  }
}

// Values of `width` bytes: a copy of known length is no call.
void GatherFixed(const char* from, uint32_t width, std::span<const uint64_t> rows, char* to) {
  switch (width) {
    case 1:
      return GatherOf<1>(from, rows, to);
    case 2:
      return GatherOf<2>(from, rows, to);
    case 4:
      return GatherOf<4>(from, rows, to);
    case 8:
      return GatherOf<8>(from, rows, to);
    case 16:
      return GatherOf<16>(from, rows, to);
    default:
      for (const uint64_t row : rows) {
        std::memcpy(to, from + row * width, width);
        to += width;
      }
  }
}

}  // namespace

uint32_t FixedWidth(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBool:
    case TypeKind::kInt8:
    case TypeKind::kUint8:
      return 1;
    case TypeKind::kInt16:
    case TypeKind::kUint16:
      return 2;
    case TypeKind::kInt32:
    case TypeKind::kUint32:
    case TypeKind::kFloat32:
    case TypeKind::kDate:
      return 4;
    case TypeKind::kInt64:
    case TypeKind::kUint64:
    case TypeKind::kFloat64:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return 8;
    case TypeKind::kDecimal:
      return type.precision <= 38 ? 16 : 32;
    case TypeKind::kUuid:
      return 16;
    case TypeKind::kVector:
      return 4 * static_cast<uint32_t>(type.dimension);
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kJson:
    case TypeKind::kList:
      return 0;
  }
  return 0;
}

ColumnData::ColumnData(Type type) : x_type(std::move(type)), x_width(FixedWidth(x_type)) {
  if (x_width == 0) x_offsets.push_back(0);
  if (x_type.kind == TypeKind::kList) x_child = std::make_unique<ColumnData>(*x_type.element);
}

uint64_t ColumnData::bytes_held() const {
  return sizeof *this + x_valid.capacity() + x_offsets.capacity() * sizeof(uint64_t) +
         x_bytes.capacity() + (x_child ? x_child->bytes_held() : 0);
}

void ColumnData::AppendValidBit(bool valid) {
  if (x_null_count == 0) {
    // The first NULL: all rows in front of it have a value. Bits behind the end stay 0.
    x_valid.assign((x_size + 7) / 8, 0xFF);
    if ((x_size & 7) != 0) x_valid.back() = static_cast<uint8_t>((1u << (x_size & 7)) - 1);
  }
  if ((x_size & 7) == 0) x_valid.push_back(0);
  x_valid.back() |= static_cast<uint8_t>(valid) << (x_size & 7);
  ++x_size;
  x_null_count += !valid;
}

void ColumnData::AppendFixedRun(const void* bytes, uint64_t rows) {
  assert(x_width != 0);
  if (rows == 0) return;
  std::memcpy(x_bytes.Extend(rows * x_width), bytes, rows * x_width);
  if (x_null_count == 0) {
    x_size += rows;
    return;
  }
  for (uint64_t row = 0; row < rows; ++row) AppendValidBit(true);
}

void ColumnData::AppendNull() {
  if (x_width != 0) {
    std::memset(x_bytes.Extend(x_width), 0, x_width);
  } else {
    x_offsets.push_back(x_offsets.back());
  }
  AppendValid(false);
}

void ColumnData::AppendList(uint64_t elements) {
  assert(x_child && x_offsets.back() + elements == x_child->size());
  x_offsets.push_back(x_offsets.back() + elements);
  AppendValid(true);
}

void ColumnData::AppendFrom(const ColumnData& other, uint64_t row) {
  assert(other.x_type == x_type && row < other.x_size);
  if (other.IsNull(row)) {
    AppendNull();
  } else if (x_width != 0) {
    // `other` may be this very column, whose bytes move when they grow.
    char* const to = x_bytes.Extend(x_width);
    std::memcpy(to, other.x_bytes.data() + row * x_width, x_width);
    AppendValid(true);
  } else if (x_child) {
    const auto [begin, count] = other.ListRange(row);
    for (uint64_t i = 0; i < count; ++i) x_child->AppendFrom(*other.x_child, begin + i);
    AppendList(count);
  } else {
    const uint64_t begin = other.x_offsets[row];
    const uint64_t size = other.x_offsets[row + 1] - begin;
    char* const to = x_bytes.Extend(size);
    if (size != 0) std::memcpy(to, other.x_bytes.data() + begin, size);
    x_offsets.push_back(x_bytes.size());
    AppendValid(true);
  }
}

void ColumnData::AppendRows(const ColumnData& other, std::span<const uint64_t> rows) {
  assert(other.x_type == x_type && &other != this);
  if (other.x_null_count != 0 || x_null_count != 0 || x_child) {
    for (const uint64_t row : rows) AppendFrom(other, row);
    return;
  }
  if (x_width != 0) {
    GatherFixed(other.x_bytes.data(), x_width, rows, x_bytes.Extend(rows.size() * x_width));
  } else {
    uint64_t end = x_bytes.size(), size = 0;
    for (const uint64_t row : rows) size += other.x_offsets[row + 1] - other.x_offsets[row];
    char* to = x_bytes.Extend(size);
    for (const uint64_t row : rows) {
      const std::string_view value = other.Bytes(row);
      CopyShort(to, value.data(), value.size());
      to += value.size();
      end += value.size();
      x_offsets.push_back(end);
    }
  }
  x_size += rows.size();
}

void ColumnData::Truncate(uint64_t size) {
  if (size >= x_size) {
    // Elements whose list was never ended belong to a row that failed.
    if (x_child) x_child->Truncate(x_offsets.back());
    return;
  }
  if (x_null_count != 0) {
    for (uint64_t row = size; row < x_size; ++row) {
      x_null_count -= !(x_valid[row >> 3] >> (row & 7) & 1);
    }
    x_valid.resize((size + 7) / 8);
    // The bits behind the end must be 0: AppendValidBit only sets.
    if ((size & 7) != 0) x_valid.back() &= static_cast<uint8_t>((1u << (size & 7)) - 1);
  }
  if (x_width != 0) {
    x_bytes.Truncate(size * x_width);
  } else {
    x_offsets.resize(size + 1);
    if (x_child) {
      x_child->Truncate(x_offsets.back());
    } else {
      x_bytes.Truncate(x_offsets.back());
    }
  }
  x_size = size;
}

Rows::Rows(const Schema& schema) {
  columns.reserve(schema.columns.size());
  for (const Column& column : schema.columns) columns.emplace_back(column.type);
}

void Rows::AppendFrom(const Rows& other, uint64_t row) {
  assert(columns.size() == other.columns.size());
  for (size_t i = 0; i < columns.size(); ++i) columns[i].AppendFrom(other.columns[i], row);
}

void Rows::AppendNulls() {
  for (ColumnData& column : columns) column.AppendNull();
}

void Rows::Truncate(uint64_t size) {
  for (ColumnData& column : columns) column.Truncate(size);
}

uint64_t Rows::bytes_held() const {
  uint64_t bytes = 0;
  for (const ColumnData& column : columns) bytes += column.bytes_held();
  return bytes;
}

}  // namespace lastword
