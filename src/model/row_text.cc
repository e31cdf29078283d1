#include "model/row_text.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "model/civil_time.h"

namespace lastword {
namespace {

std::string Quoted(const std::string& text) {
  return DumpJson(Json(text));
}

std::string FloatToText(double value, const Type& type) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[32];
  char* const end = text + sizeof text;
  // The shortest text of a float is shorter than that of the same value as a double.
  const bool narrow = type.kind == TypeKind::kFloat32 || type.kind == TypeKind::kVector;
  const auto result = narrow ? std::to_chars(text, end, static_cast<float>(value))
                             : std::to_chars(text, end, value);
  std::string number(text, result.ptr);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

// Days and microseconds mean what the type says; other integers are themselves.
std::string IntegerToText(int64_t value, const Type& type) {
  switch (type.kind) {
    case TypeKind::kDate:
      // A caller's value need not come from a column.
      if (!std::in_range<int32_t>(value)) return Message("{}", value);
      return DateToText(static_cast<int32_t>(value));
    case TypeKind::kTimeUs:
      return TimeToText(value);
    case TypeKind::kTimestampUs:
      return TimestampToText(value, false);
    case TypeKind::kTimestamptzUs:
      return TimestampToText(value, true);
    default:
      return Message("{}", value);
  }
}

bool IsTemporal(const Type& type) {
  return type.kind == TypeKind::kDate || type.kind == TypeKind::kTimeUs ||
         type.kind == TypeKind::kTimestampUs || type.kind == TypeKind::kTimestamptzUs;
}

std::string ListToJson(const List& list, const Type& type) {
  // The elements of a vector are floats of its own type.
  const Type& element = type.kind == TypeKind::kList && type.element ? *type.element : type;
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) text += ',';
    text += ValueToJson(list[i], element);
  }
  return text + "]";
}

// The value without quotes or escapes; NULL is empty.
struct PlainText {
  const Type& type;
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool held) const { return held ? "true" : "false"; }
  std::string operator()(int64_t held) const { return IntegerToText(held, type); }
  std::string operator()(uint64_t held) const { return Message("{}", held); }
  std::string operator()(double held) const { return FloatToText(held, type); }
  std::string operator()(const std::string& held) const { return held; }
  std::string operator()(const Decimal& held) const { return held.text; }
  std::string operator()(const Bytes& held) const { return EncodeBase64(held.bytes); }
  std::string operator()(const List& held) const { return ListToJson(held, type); }
};

struct JsonText {
  const Type& type;
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool held) const { return held ? "true" : "false"; }
  std::string operator()(int64_t held) const {
    const std::string text = IntegerToText(held, type);
    return IsTemporal(type) ? Quoted(text) : text;
  }
  std::string operator()(uint64_t held) const { return Message("{}", held); }
  std::string operator()(double held) const {
    const std::string text = FloatToText(held, type);
    return std::isfinite(held) ? text : Quoted(text);
  }
  std::string operator()(const std::string& held) const { return Quoted(held); }
  std::string operator()(const Decimal& held) const { return Quoted(held.text); }
  std::string operator()(const Bytes& held) const { return Quoted(EncodeBase64(held.bytes)); }
  std::string operator()(const List& held) const { return ListToJson(held, type); }
};

std::string OnOneLine(const std::string& text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      line += Message("\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      line += c;
    }
  }
  return line;
}

std::string CsvField(const std::string& text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

// The value of column `index`; rows that were read have their columns in the schema's order.
const Value& ValueOf(const Schema& schema, const Row& row, size_t index) {
  static const Value kNull;
  const std::string& name = schema.columns[index].name;
  if (index < row.size() && row[index].first == name) return row[index].second;
  for (const auto& [column, value] : row) {
    if (column == name) return value;
  }
  return kNull;
}

}  // namespace

std::string ValueToText(const Value& value, const Type& type) {
  if (value.is_null()) return "NULL";
  return OnOneLine(std::visit(PlainText{type}, value.held));
}

std::string ValueToJson(const Value& value, const Type& type) {
  return std::visit(JsonText{type}, value.held);
}

std::string ValueToCsv(const Value& value, const Type& type) {
  if (value.is_null()) return {};
  return CsvField(std::visit(PlainText{type}, value.held));
}

std::string RowToJson(const Schema& schema, const Row& row) {
  std::string text = "{";
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (i != 0) text += ',';
    text += Quoted(schema.columns[i].name);
    text += ':';
    text += ValueToJson(ValueOf(schema, row, i), schema.columns[i].type);
  }
  return text + "}";
}

std::string RowToCsv(const Schema& schema, const Row& row) {
  std::string text;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (i != 0) text += ',';
    text += ValueToCsv(ValueOf(schema, row, i), schema.columns[i].type);
  }
  return text;
}

std::string CsvHeader(const Schema& schema) {
  std::string text;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (i != 0) text += ',';
    text += CsvField(schema.columns[i].name);
  }
  return text;
}

}  // namespace lastword
