#include "model/value_rows.h"

#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

#include "base/base64.h"
#include "base/format.h"
#include "model/civil_time.h"
#include "model/decimal.h"
#include "model/uuid.h"

namespace lastword {
namespace {

std::string_view NameOfHeld(const Value& value) {
  constexpr std::string_view kNames[] = {"NULL", "bool",    "integer", "integer", "double",
                                         "text", "decimal", "bytes",   "list"};
  return kNames[value.held.index()];
}

Error Mismatch(const Value& value, const Type& type) {
  return Error{ErrorKind::kTypeMismatch,
               Message("a value of kind {} does not go into a column of type {}", NameOfHeld(value),
                       ToString(type))};
}

Error OutOfRange(const Type& type) {
  return Error{ErrorKind::kOutOfRange,
               Message("value lies outside the range of {}; declare a wider type", ToString(type))};
}

template <std::integral T>
Status AppendInteger(const Value& value, ColumnData& out) {
  if (const auto* number = std::get_if<int64_t>(&value.held)) {
    if (!std::in_range<T>(*number)) return OutOfRange(out.type());
    out.AppendFixed(static_cast<T>(*number));
    return Ok{};
  }
  if (const auto* number = std::get_if<uint64_t>(&value.held)) {
    if (!std::in_range<T>(*number)) return OutOfRange(out.type());
    out.AppendFixed(static_cast<T>(*number));
    return Ok{};
  }
  return Mismatch(value, out.type());
}

// The double of a number, where it has one exactly.
std::optional<double> ExactDouble(const Value& value) {
  if (const auto* number = std::get_if<double>(&value.held)) return *number;
  // 2^63 and 2^64 themselves are not in range of the cast back.
  if (const auto* number = std::get_if<int64_t>(&value.held)) {
    const auto real = static_cast<double>(*number);
    if (real < 0x1p63 && static_cast<int64_t>(real) == *number) return real;
  }
  if (const auto* number = std::get_if<uint64_t>(&value.held)) {
    const auto real = static_cast<double>(*number);
    if (real < 0x1p64 && static_cast<uint64_t>(real) == *number) return real;
  }
  return std::nullopt;
}

bool IsNumber(const Value& value) {
  return std::holds_alternative<double>(value.held) ||
         std::holds_alternative<int64_t>(value.held) ||
         std::holds_alternative<uint64_t>(value.held);
}

Result<double> AsFloat64(const Value& value, const Type& type) {
  if (!IsNumber(value)) return Mismatch(value, type);
  const std::optional<double> real = ExactDouble(value);
  if (!real) return OutOfRange(type);
  return *real;
}

Result<float> AsFloat32(const Value& value, const Type& type) {
  LW_ASSIGN_OR_RETURN(const double real, AsFloat64(value, type));
  const auto narrow = static_cast<float>(real);
  if (std::isfinite(real) && !std::isfinite(narrow)) return OutOfRange(type);
  // A double is taken as the nearest float, as sources send them; a whole number must be exact.
  if (!std::holds_alternative<double>(value.held) && narrow != real) return OutOfRange(type);
  return narrow;
}

Status AppendDecimalValue(const Value& value, ColumnData& out) {
  char bytes[kDecimalBytesMax];
  Status status = Ok{};
  if (const auto* decimal = std::get_if<Decimal>(&value.held)) {
    status = DecimalFromText(decimal->text, out.type(), bytes);
  } else if (const auto* text = std::get_if<std::string>(&value.held)) {
    status = DecimalFromText(*text, out.type(), bytes);
  } else if (const auto* number = std::get_if<int64_t>(&value.held)) {
    status = DecimalFromInt64(*number, out.type(), bytes);
  } else if (const auto* large = std::get_if<uint64_t>(&value.held)) {
    status = DecimalFromUint64(*large, out.type(), bytes);
  } else {
    return Mismatch(value, out.type());
  }
  LW_RETURN_IF_ERROR(std::move(status));
  out.AppendFixedBytes(bytes);
  return Ok{};
}

Status AppendUuid(const Value& value, ColumnData& out) {
  if (const auto* bytes = std::get_if<Bytes>(&value.held)) {
    if (bytes->bytes.size() != 16) return Mismatch(value, out.type());
    out.AppendFixedBytes(bytes->bytes.data());
    return Ok{};
  }
  const auto* text = std::get_if<std::string>(&value.held);
  if (text == nullptr) return Mismatch(value, out.type());
  LW_ASSIGN_OR_RETURN(const Uuid uuid, ParseUuid(*text));
  out.AppendFixed(uuid);
  return Ok{};
}

Status AppendList(const Value& value, ColumnData& out) {
  const auto* list = std::get_if<List>(&value.held);
  if (list == nullptr) return Mismatch(value, out.type());
  const uint64_t before = out.child().size();
  for (const Value& element : *list) {
    if (Status status = AppendValue(element, out.child()); !status.ok()) {
      out.child().Truncate(before);
      return status;
    }
  }
  out.AppendList(list->size());
  return Ok{};
}

Status AppendVector(const Value& value, ColumnData& out) {
  const auto* list = std::get_if<List>(&value.held);
  if (list == nullptr) return Mismatch(value, out.type());
  if (list->size() != static_cast<size_t>(out.type().dimension)) {
    return Error{ErrorKind::kTypeMismatch,
                 Message("a list of {} numbers does not go into a column of type {}", list->size(),
                         ToString(out.type()))};
  }
  std::vector<float> floats;
  floats.reserve(list->size());
  for (const Value& element : *list) {
    LW_ASSIGN_OR_RETURN(const float number, AsFloat32(element, out.type()));
    floats.push_back(number);
  }
  out.AppendFixedBytes(floats.data());
  return Ok{};
}

// Appends a date, time or timestamp that is text; `parse` reads it.
template <typename T>
Status AppendIsoText(const Value& value, Result<T> (*parse)(std::string_view), ColumnData& out) {
  LW_ASSIGN_OR_RETURN(const T number, parse(std::get<std::string>(value.held)));
  out.AppendFixed(number);
  return Ok{};
}

Status AppendTemporal(const Value& value, ColumnData& out) {
  const bool is_text = std::holds_alternative<std::string>(value.held);
  switch (out.type().kind) {
    case TypeKind::kDate:
      return is_text ? AppendIsoText(value, &ParseDate, out) : AppendInteger<int32_t>(value, out);
    case TypeKind::kTimeUs: {
      if (is_text) return AppendIsoText(value, &ParseTime, out);
      const auto* micros = std::get_if<int64_t>(&value.held);
      if (micros != nullptr && (*micros < 0 || *micros > kMicrosPerDay)) {
        return OutOfRange(out.type());
      }
      const auto* large = std::get_if<uint64_t>(&value.held);
      if (large != nullptr && *large > static_cast<uint64_t>(kMicrosPerDay)) {
        return OutOfRange(out.type());
      }
      return AppendInteger<int64_t>(value, out);
    }
    case TypeKind::kTimestampUs:
      return is_text ? AppendIsoText(value, &ParseTimestamp, out)
                     : AppendInteger<int64_t>(value, out);
    default:
      return is_text ? AppendIsoText(value, &ParseTimestamptz, out)
                     : AppendInteger<int64_t>(value, out);
  }
}

template <typename T>
Status AppendHeld(const Value& value, ColumnData& out) {
  const auto* held = std::get_if<T>(&value.held);
  if (held == nullptr) return Mismatch(value, out.type());
  if constexpr (std::same_as<T, bool>) {
    out.AppendFixed(static_cast<uint8_t>(*held));
  } else if constexpr (std::same_as<T, Bytes>) {
    out.AppendBytes(held->bytes);
  } else {
    out.AppendBytes(*held);
  }
  return Ok{};
}

Error WithColumn(Error error, const Column& column) {
  if (error.place.column.empty()) error.place.column = column.name;
  return error;
}

bool IsKeyColumn(const Schema& schema, uint32_t column) {
  for (const uint32_t key : schema.key) {
    if (key == column) return true;
  }
  return false;
}

// Appends what a column holds when the row does not name it.
Status AppendAbsent(const Schema& schema, uint32_t index, ColumnData& out) {
  const Column& column = schema.columns[index];
  if (column.default_value) return AppendValue(*column.default_value, out);
  if (IsKeyColumn(schema, index)) {
    return Error{ErrorKind::kMissingKey, "the row lacks a key column"};
  }
  if (!column.nullable) {
    return Error{ErrorKind::kTypeMismatch, "the row lacks a column that is not nullable"};
  }
  out.AppendNull();
  return Ok{};
}

Status AppendNamed(const Schema& schema, uint32_t index, const Value& value, ColumnData& out) {
  if (value.is_null() && !schema.columns[index].nullable && !IsKeyColumn(schema, index)) {
    return Error{ErrorKind::kTypeMismatch, "NULL in a column that is not nullable"};
  }
  return AppendValue(value, out);
}

// The value that `row` has for each column; nullptr = absent.
Result<std::vector<const Value*>> ByColumn(const Schema& schema, const Row& row) {
  std::vector<const Value*> values(schema.columns.size(), nullptr);
  for (const auto& [name, value] : row) {
    const std::optional<uint32_t> column = schema.Find(name);
    if (!column || values[*column] != nullptr) {
      Error error{ErrorKind::kUsage, column ? Message("the row names column `{}` twice", name)
                                            : Message("the table has no column `{}`", name)};
      error.place.column = name;
      return error;
    }
    values[*column] = &value;
  }
  return values;
}

template <std::integral T>
Result<Value> ParseInteger(const Type& type, std::string_view text) {
  T number{};
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return OutOfRange(type);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{ErrorKind::kTypeMismatch, Message("text is no number of type {}", ToString(type))};
  }
  if constexpr (std::unsigned_integral<T>) {
    return Value(uint64_t{number});
  } else {
    return Value(int64_t{number});
  }
}

Result<Value> ParseFloat(const Type& type, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return OutOfRange(type);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{ErrorKind::kTypeMismatch, Message("text is no number of type {}", ToString(type))};
  }
  return Value(number);
}

Value ReadVector(const ColumnData& column, uint64_t row) {
  List list;
  const std::string_view bytes = column.FixedBytes(row);
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes.data() + i, sizeof number);
    list.emplace_back(double{number});
  }
  return Value(std::move(list));
}

}  // namespace

Status AppendValue(const Value& value, ColumnData& out) {
  if (value.is_null()) {
    out.AppendNull();
    return Ok{};
  }
  switch (out.type().kind) {
    case TypeKind::kBool:
      return AppendHeld<bool>(value, out);
    case TypeKind::kInt8:
      return AppendInteger<int8_t>(value, out);
    case TypeKind::kInt16:
      return AppendInteger<int16_t>(value, out);
    case TypeKind::kInt32:
      return AppendInteger<int32_t>(value, out);
    case TypeKind::kInt64:
      return AppendInteger<int64_t>(value, out);
    case TypeKind::kUint8:
      return AppendInteger<uint8_t>(value, out);
    case TypeKind::kUint16:
      return AppendInteger<uint16_t>(value, out);
    case TypeKind::kUint32:
      return AppendInteger<uint32_t>(value, out);
    case TypeKind::kUint64:
      return AppendInteger<uint64_t>(value, out);
    case TypeKind::kFloat32: {
      LW_ASSIGN_OR_RETURN(const float number, AsFloat32(value, out.type()));
      out.AppendFixed(number);
      return Ok{};
    }
    case TypeKind::kFloat64: {
      LW_ASSIGN_OR_RETURN(const double number, AsFloat64(value, out.type()));
      out.AppendFixed(number);
      return Ok{};
    }
    case TypeKind::kDecimal:
      return AppendDecimalValue(value, out);
    case TypeKind::kString:
    case TypeKind::kJson:
      return AppendHeld<std::string>(value, out);
    case TypeKind::kBytes:
      return AppendHeld<Bytes>(value, out);
    case TypeKind::kDate:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return AppendTemporal(value, out);
    case TypeKind::kUuid:
      return AppendUuid(value, out);
    case TypeKind::kList:
      return AppendList(value, out);
    case TypeKind::kVector:
      return AppendVector(value, out);
  }
  return Mismatch(value, out.type());
}

Status AppendRow(const Schema& schema, const Row& row, Rows& out, std::vector<uint32_t>* absent) {
  LW_ASSIGN_OR_RETURN(const std::vector<const Value*> values, ByColumn(schema, row));
  const uint64_t before = out.size();
  if (absent != nullptr) absent->clear();
  for (uint32_t i = 0; i < values.size(); ++i) {
    ColumnData& column = out.columns[i];
    Status status = values[i] == nullptr ? AppendAbsent(schema, i, column)
                                         : AppendNamed(schema, i, *values[i], column);
    if (!status.ok()) {
      out.Truncate(before);
      return WithColumn(std::move(status.error()), schema.columns[i]);
    }
    if (values[i] == nullptr && absent != nullptr) absent->push_back(i);
  }
  return Ok{};
}

Value ReadValue(const ColumnData& column, uint64_t row) {
  if (column.IsNull(row)) return {};
  switch (column.type().kind) {
    case TypeKind::kBool:
      return Value(column.Fixed<uint8_t>(row) != 0);
    case TypeKind::kInt8:
      return Value(int64_t{column.Fixed<int8_t>(row)});
    case TypeKind::kInt16:
      return Value(int64_t{column.Fixed<int16_t>(row)});
    case TypeKind::kInt32:
    case TypeKind::kDate:
      return Value(int64_t{column.Fixed<int32_t>(row)});
    case TypeKind::kInt64:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return Value(column.Fixed<int64_t>(row));
    case TypeKind::kUint8:
      return Value(int64_t{column.Fixed<uint8_t>(row)});
    case TypeKind::kUint16:
      return Value(int64_t{column.Fixed<uint16_t>(row)});
    case TypeKind::kUint32:
      return Value(int64_t{column.Fixed<uint32_t>(row)});
    case TypeKind::kUint64: {
      const auto number = column.Fixed<uint64_t>(row);
      if (std::in_range<int64_t>(number)) return Value(static_cast<int64_t>(number));
      return Value(number);
    }
    case TypeKind::kFloat32:
      return Value(double{column.Fixed<float>(row)});
    case TypeKind::kFloat64:
      return Value(column.Fixed<double>(row));
    case TypeKind::kDecimal:
      return Value(Decimal{DecimalToText(column.FixedBytes(row), column.type().scale)});
    case TypeKind::kString:
    case TypeKind::kJson:
      return Value(std::string(column.Bytes(row)));
    case TypeKind::kBytes:
      return Value(Bytes{std::string(column.Bytes(row))});
    case TypeKind::kUuid:
      return Value(UuidToText(column.FixedBytes(row)));
    case TypeKind::kVector:
      return ReadVector(column, row);
    case TypeKind::kList:
      break;
  }
  List list;
  const auto [begin, count] = column.ListRange(row);
  for (uint64_t i = 0; i < count; ++i) list.push_back(ReadValue(column.child(), begin + i));
  return Value(std::move(list));
}

Row ReadRow(const Schema& schema, const Rows& rows, uint64_t row) {
  Row values;
  values.reserve(schema.columns.size());
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    values.emplace_back(schema.columns[i].name, ReadValue(rows.columns[i], row));
  }
  return values;
}

Result<Value> ParseValueText(const Type& type, std::string_view text) {
  switch (type.kind) {
    case TypeKind::kBool:
      if (text == "true") return Value(true);
      if (text == "false") return Value(false);
      return Error{ErrorKind::kTypeMismatch, "text is neither true nor false"};
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
      return ParseInteger<int64_t>(type, text);
    case TypeKind::kUint8:
    case TypeKind::kUint16:
    case TypeKind::kUint32:
    case TypeKind::kUint64:
      return ParseInteger<uint64_t>(type, text);
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      return ParseFloat(type, text);
    case TypeKind::kDecimal:
      return Value(Decimal{std::string(text)});
    case TypeKind::kBytes: {
      LW_ASSIGN_OR_RETURN(std::string bytes, DecodeBase64(text));
      return Value(Bytes{std::move(bytes)});
    }
    case TypeKind::kString:
    case TypeKind::kJson:
    case TypeKind::kUuid:
    case TypeKind::kDate:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return Value(std::string(text));
    case TypeKind::kList:
    case TypeKind::kVector:
      break;
  }
  return Error{ErrorKind::kTypeMismatch, Message("text is no {}", ToString(type))};
}

}  // namespace lastword
