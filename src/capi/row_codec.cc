#include "capi/row_codec.h"

#include "base/bytes.h"
#include "base/format.h"
#include "base/utf8.h"
#include "model/decimal.h"
#include "model/version_bytes.h"

namespace lastword::capi {
namespace {

constexpr int64_t kDayMicroseconds = 86'400'000'000;

bool IsText(TypeKind kind) {
  return kind == TypeKind::kString || kind == TypeKind::kJson;
}

bool Bit(std::string_view bits, uint64_t i) {
  return (static_cast<uint8_t>(bits[i >> 3]) >> (i & 7) & 1) != 0;
}

Error EndsEarly() {
  return Error{ErrorKind::kUsage, "an encoded row ends early: its bytes do not fit the schema", {}};
}

// Whether not all bytes of its width are a value.
bool IsChecked(TypeKind kind) {
  return kind == TypeKind::kBool || kind == TypeKind::kTimeUs || kind == TypeKind::kDecimal;
}

Status CheckFixed(const Type& type, std::string_view bytes) {
  if (type.kind == TypeKind::kBool && static_cast<uint8_t>(bytes[0]) > 1) {
    return Error{ErrorKind::kUsage, "a bool is neither 0 nor 1", {}};
  }
  if (type.kind == TypeKind::kTimeUs) {
    int64_t time;
    std::memcpy(&time, bytes.data(), sizeof time);
    if (time < 0 || time > kDayMicroseconds) {
      return Error{ErrorKind::kOutOfRange, "a time lies outside the day", {}};
    }
  }
  if (type.kind == TypeKind::kDecimal) {
    char checked[kDecimalBytesMax];
    return DecimalRescale(bytes, type, type, checked);
  }
  return Ok{};
}

// What becomes of a value that was read: it is appended, or where there is no column only checked.
struct Target {
  const Type& type;
  ColumnData* column;

  Target Element() const { return {*type.element, column == nullptr ? nullptr : &column->child()}; }
};

Status ReadValue(ByteReader& in, const Target& to);

Status ReadList(ByteReader& in, const Target& to) {
  const uint32_t count = in.Get<uint32_t>();
  const std::string_view nulls = in.GetRaw((uint64_t{count} + 7) / 8);
  if (!in.ok()) return EndsEarly();
  const Target element = to.Element();
  for (uint32_t i = 0; i < count; ++i) {
    if (!Bit(nulls, i)) {
      LW_RETURN_IF_ERROR(ReadValue(in, element));
    } else if (element.column != nullptr) {
      element.column->AppendNull();
    }
  }
  if (to.column != nullptr) to.column->AppendList(count);
  return Ok{};
}

Status ReadValue(ByteReader& in, const Target& to) {
  if (to.type.kind == TypeKind::kList) return ReadList(in, to);
  const uint32_t width = FixedWidth(to.type);
  const std::string_view bytes = width != 0 ? in.GetRaw(width) : in.GetBytes();
  if (!in.ok()) return EndsEarly();
  if (width != 0) {
    LW_RETURN_IF_ERROR(CheckFixed(to.type, bytes));
    if (to.column != nullptr) to.column->AppendFixedBytes(bytes.data());
    return Ok{};
  }
  if (IsText(to.type.kind) && !IsUtf8(bytes)) {
    return Error{ErrorKind::kTypeMismatch, "a text is no UTF-8; declare the column as bytes", {}};
  }
  if (to.column != nullptr) to.column->AppendBytes(bytes);
  return Ok{};
}

void AppendNullBits(const ColumnData& column, uint64_t begin, uint64_t count, std::string& out) {
  const size_t at = out.size();
  out.append((count + 7) / 8, '\0');
  for (uint64_t i = 0; i < count; ++i) {
    if (column.IsNull(begin + i)) out[at + (i >> 3)] |= static_cast<char>(1 << (i & 7));
  }
}

void AppendEncodedValue(const ColumnData& column, uint64_t row, std::string& out) {
  ByteWriter writer(out);
  if (column.type().kind == TypeKind::kList) {
    const auto [begin, count] = column.ListRange(row);
    writer.Put(static_cast<uint32_t>(count));
    AppendNullBits(column.child(), begin, count, out);
    for (uint64_t i = begin; i < begin + count; ++i) {
      if (!column.child().IsNull(i)) AppendEncodedValue(column.child(), i, out);
    }
  } else if (FixedWidth(column.type()) != 0) {
    writer.PutRaw(column.FixedBytes(row));
  } else {
    writer.PutBytes(column.Bytes(row));
  }
}

}  // namespace

RowReader::RowReader(const Schema& schema, size_t columns, bool with_version)
    : x_schema(schema), x_with_version(with_version) {
  for (size_t i = 0; i < columns; ++i) {
    const Type& type = schema.columns[i].type;
    x_fields.push_back({schema.columns[i].nullable, kNoPart,
                        IsChecked(type.kind) ? 0 : FixedWidth(type), IsText(type.kind),
                        type.kind == TypeKind::kBytes});
  }
  for (size_t part = 0; part < schema.key.size(); ++part) {
    const uint32_t column = schema.key[part];
    x_key_schema.columns.push_back(schema.columns[column]);
    x_key_schema.key.push_back(static_cast<uint32_t>(part));
    if (column >= columns) continue;
    x_fields[column].takes_null = true;
    x_fields[column].key_part = static_cast<uint32_t>(part);
  }
  x_key_schema.nullable_key = schema.nullable_key;
}

// Reads what most columns hold. False, with nothing read, where it needs a closer look or is wrong.
bool RowReader::ReadSimple(const Field& field, ByteReader& in, ColumnData* to) {
  ByteReader ahead = in;
  if (field.simple_width != 0) {
    const std::string_view value = ahead.GetRaw(field.simple_width);
    if (!ahead.ok()) return false;
    if (to != nullptr) to->AppendFixedBytes(value.data());
  } else {
    if (!field.is_text && !field.is_bytes) return false;
    const std::string_view value = ahead.GetBytes();
    if (!ahead.ok() || (field.is_text && !IsUtf8(value))) return false;
    if (to != nullptr) to->AppendBytes(value);
  }
  in = ahead;
  return true;
}

Status RowReader::ReadColumns(std::string_view nulls, std::string_view& encoded, RowKind kind,
                              bool key_only, Rows& rows) {
  ByteReader in(encoded);
  for (size_t i = 0; i < x_fields.size(); ++i) {
    const Field& field = x_fields[i];
    ColumnData* to = nullptr;
    if (!key_only) {
      to = &rows.columns[i];
    } else if (field.key_part != kNoPart) {
      to = &rows.columns[field.key_part];
    }
    const bool is_null = Bit(nulls, i);
    if (!is_null && ReadSimple(field, in, to)) continue;
    const Column& column = x_schema.columns[i];
    Status appended = Ok{};
    if (!is_null) {
      appended = ReadValue(in, {column.type, to});
    } else if (!field.takes_null && !IsRemoval(kind)) {
      appended = Error{ErrorKind::kTypeMismatch, "NULL in a column that takes none", {}};
    } else if (to != nullptr) {
      to->AppendNull();
    }
    if (!appended.ok()) {
      appended.error().place.column = column.name;
      return appended;
    }
  }
  encoded = encoded.substr(encoded.size() - in.left());
  return Ok{};
}

Status RowReader::ReadRow(std::string_view& encoded, bool key_only, Rows& rows, RowKind& kind,
                          Version& version) {
  ByteReader in(encoded);
  const uint8_t kind_byte = in.Get<uint8_t>();
  if (x_with_version) version = GetVersion(in);
  const std::string_view nulls = in.GetRaw((x_fields.size() + 7) / 8);
  if (!in.ok()) return EndsEarly();
  if (kind_byte > static_cast<uint8_t>(RowKind::kDelete)) {
    return Error{ErrorKind::kUsage, Message("{} is no row kind", kind_byte), {}};
  }
  kind = static_cast<RowKind>(kind_byte);
  const uint64_t before = rows.size();
  std::string_view rest = encoded.substr(encoded.size() - in.left());
  const Status read = ReadColumns(nulls, rest, kind, key_only, rows);
  if (!read.ok()) {
    rows.Truncate(before);
    return read;
  }
  encoded = rest;
  return Ok{};
}

Status RowReader::Read(std::string_view& encoded, Rows& rows, RowKind& kind, Version& version) {
  return ReadRow(encoded, false, rows, kind, version);
}

Status RowReader::ReadKey(std::string_view& encoded, Rows& keys, RowKind& kind, Version& version) {
  return ReadRow(encoded, true, keys, kind, version);
}

void AppendEncodedRow(const Rows& rows, uint64_t row, std::string& out) {
  out.push_back(static_cast<char>(RowKind::kInsert));
  const size_t at = out.size();
  out.append((rows.columns.size() + 7) / 8, '\0');
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    if (rows.columns[i].IsNull(row)) {
      out[at + (i >> 3)] |= static_cast<char>(1 << (i & 7));
    } else {
      AppendEncodedValue(rows.columns[i], row, out);
    }
  }
}

}  // namespace lastword::capi
