#include "model/row_chunk.h"

#include <cassert>
#include <utility>

#include "base/bytes.h"
#include "model/decimal.h"

namespace lastword {
namespace {

void PutValue(const ColumnData& column, uint64_t row, ByteWriter& out) {
  if (column.IsNull(row)) {
    out.Put(uint8_t{0});
    return;
  }
  out.Put(uint8_t{1});
  if (column.type().kind == TypeKind::kList) {
    const auto [begin, count] = column.ListRange(row);
    out.Put(static_cast<uint32_t>(count));
    for (uint64_t i = 0; i < count; ++i) PutValue(column.child(), begin + i, out);
  } else if (FixedWidth(column.type()) != 0) {
    out.PutRaw(column.FixedBytes(row));
  } else {
    out.PutBytes(column.Bytes(row));
  }
}

bool GetValue(ByteReader& in, ColumnData& column) {
  const uint8_t present = in.Get<uint8_t>();
  if (!in.ok() || present > 1) return false;
  if (present == 0) {
    column.AppendNull();
    return true;
  }
  if (column.type().kind == TypeKind::kList) {
    const uint32_t count = in.Get<uint32_t>();
    if (!in.ok() || count > in.left()) return false;
    for (uint32_t i = 0; i < count; ++i) {
      if (!GetValue(in, column.child())) return false;
    }
    column.AppendList(count);
    return true;
  }
  const uint32_t width = FixedWidth(column.type());
  const std::string_view bytes = width != 0 ? in.GetRaw(width) : in.GetBytes();
  if (!in.ok()) return false;
  if (width != 0) {
    column.AppendFixedBytes(bytes.data());
  } else {
    column.AppendBytes(bytes);
  }
  return true;
}

// The value of an integer column; unsigned 64-bit values keep their bits.
int64_t IntegerAt(const ColumnData& column, uint64_t row) {
  switch (column.type().kind) {
    case TypeKind::kInt8:
      return column.Fixed<int8_t>(row);
    case TypeKind::kInt16:
      return column.Fixed<int16_t>(row);
    case TypeKind::kInt32:
      return column.Fixed<int32_t>(row);
    case TypeKind::kUint8:
      return column.Fixed<uint8_t>(row);
    case TypeKind::kUint16:
      return column.Fixed<uint16_t>(row);
    case TypeKind::kUint32:
      return column.Fixed<uint32_t>(row);
    default:
      return column.Fixed<int64_t>(row);
  }
}

void AppendInteger(int64_t value, ColumnData& to) {
  switch (FixedWidth(to.type())) {
    case 1:
      to.AppendFixed(static_cast<int8_t>(value));
      break;
    case 2:
      to.AppendFixed(static_cast<int16_t>(value));
      break;
    case 4:
      to.AppendFixed(static_cast<int32_t>(value));
      break;
    default:
      to.AppendFixed(value);
      break;
  }
}

}  // namespace

void AppendWidened(const ColumnData& from, uint64_t row, ColumnData& to) {
  if (from.type() == to.type()) {
    to.AppendFrom(from, row);
  } else if (from.IsNull(row)) {
    to.AppendNull();
  } else if (to.type().kind == TypeKind::kFloat64) {
    to.AppendFixed(static_cast<double>(from.Fixed<float>(row)));
  } else if (to.type().kind == TypeKind::kDecimal) {
    char bytes[kDecimalBytesMax] = {};
    // CanWiden allowed the type: every value fits.
    const bool fits = DecimalRescale(from.FixedBytes(row), from.type(), to.type(), bytes).ok();
    assert(fits);
    if (fits)
      to.AppendFixedBytes(bytes);
    else
      to.AppendNull();
  } else if (to.type().kind == TypeKind::kList) {
    const auto [begin, count] = from.ListRange(row);
    for (uint64_t i = 0; i < count; ++i) AppendWidened(from.child(), begin + i, to.child());
    to.AppendList(count);
  } else {
    AppendInteger(IntegerAt(from, row), to);
  }
}

RowAdapter::RowAdapter(const Schema& from, const Schema& to) {
  for (const Column& column : to.columns) {
    const std::optional<uint32_t> source = from.Find(column.name);
    x_source.push_back(source ? static_cast<int64_t>(*source) : -1);
    x_types.push_back(column.type);
  }
}

void RowAdapter::Append(const Rows& from, std::span<const uint64_t> rows, Rows& to) const {
  for (size_t i = 0; i < x_source.size(); ++i) {
    ColumnData& column = to.columns[i];
    if (x_source[i] < 0) {
      for (size_t row = 0; row < rows.size(); ++row) column.AppendNull();
      continue;
    }
    const ColumnData& source = from.columns[static_cast<size_t>(x_source[i])];
    if (source.type() == column.type()) {
      column.AppendRows(source, rows);
    } else {
      for (const uint64_t row : rows) AppendWidened(source, row, column);
    }
  }
}

std::string RowToBytes(const Schema& schema, const Rows& rows, uint64_t row) {
  std::string bytes;
  ByteWriter out(bytes);
  out.Put(static_cast<uint32_t>(schema.columns.size()));
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    out.PutBytes(schema.columns[i].name);
    out.PutBytes(ToString(schema.columns[i].type));
    PutValue(rows.columns[i], row, out);
  }
  return bytes;
}

Result<RowChunk> RowFromBytes(std::string_view bytes) {
  const Error corrupt{ErrorKind::kStorageCorrupt, "a row kept in the ledger cannot be read", {}};
  ByteReader in(bytes);
  const uint32_t count = in.Get<uint32_t>();
  if (!in.ok() || count > in.left()) return corrupt;
  auto schema = std::make_shared<Schema>();
  Rows rows;
  for (uint32_t i = 0; i < count; ++i) {
    Column column;
    column.name = in.GetBytes();
    auto type = ParseType(in.GetBytes());
    if (!in.ok() || !type.ok()) return corrupt;
    column.type = *type;
    rows.columns.emplace_back(column.type);
    schema->columns.push_back(std::move(column));
    if (!GetValue(in, rows.columns.back())) return corrupt;
  }
  if (!in.at_end()) return corrupt;
  RowChunk chunk;
  chunk.schema = std::move(schema);
  chunk.rows = std::move(rows);
  return chunk;
}

}  // namespace lastword
