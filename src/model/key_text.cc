// Keys between their canonical bytes and what people type and read. A single key column is the
// value itself; several are a JSON array. Text that itself looks like JSON is printed inside an
// array, so that whatever is printed reads back as the same key.
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "model/canonical.h"
#include "model/civil_time.h"
#include "model/key.h"
#include "model/uuid.h"
#include "model/value_rows.h"

namespace lastword {
namespace {

// ---- canonical bytes to text

uint64_t LoadUint64(std::string_view bytes) {
  uint64_t value = 0;
  for (int i = 8; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::string HexOf(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += Message("{:02x}", static_cast<uint8_t>(c));
  return text;
}

// "15e-1" as "1.5"; exponents far out stay as they are.
std::string PlainDecimal(std::string_view canonical) {
  const size_t e = canonical.rfind('e');
  int64_t exponent = 0;
  if (e == std::string_view::npos ||
      std::from_chars(canonical.data() + e + 1, canonical.data() + canonical.size(), exponent).ec !=
          std::errc() ||
      exponent > 80 || exponent < -80) {
    return std::string(canonical);
  }
  std::string digits(canonical.substr(0, e));
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  if (exponent >= 0) {
    digits.append(static_cast<size_t>(exponent), '0');
  } else {
    const auto places = static_cast<size_t>(-exponent);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, 1, '.');
  }
  return negative ? "-" + digits : digits;
}

// One part as JSON: numbers and booleans as such, everything else as a string.
std::optional<Json> TakePart(std::string_view& rest) {
  const std::optional<CanonicalPart> part = TakeCanonicalPart(rest);
  if (!part) return std::nullopt;
  if (part->tag == 0) return Json(nullptr);
  const std::string_view payload = part->payload;
  const auto number = payload.size() == 8 ? static_cast<int64_t>(LoadUint64(payload)) : 0;
  switch (part->tag) {
    case 'i':
      return Json(number);
    case 'u':
      return Json(LoadUint64(payload));
    case 'b':
      return Json(payload[0] != 0);
    case 'f': {
      double real;
      const uint64_t bits = LoadUint64(payload);
      std::memcpy(&real, &bits, sizeof real);
      if (std::isfinite(real)) return Json(real);
      return Json(std::isnan(real) ? "NaN" : real > 0 ? "inf" : "-inf");
    }
    case 'd':
      return Json(PlainDecimal(payload));
    case 's':
      return Json(std::string(payload));
    case 'x':
      return Json(EncodeBase64(payload));
    case 'D':
      if (!std::in_range<int32_t>(number)) return std::nullopt;
      return Json(DateToText(static_cast<int32_t>(number)));
    case 'T':
      return Json(TimeToText(number));
    case 't':
      return Json(TimestampToText(number, false));
    case 'z':
      return Json(TimestampToText(number, true));
    case 'U':
      return Json(UuidToText(payload));
    default:
      return std::nullopt;
  }
}

// ---- text to canonical bytes

Error NoKey(const Schema& schema, std::string_view why) {
  std::string names;
  for (const uint32_t column : schema.key) {
    if (!names.empty()) names += ", ";
    names += schema.columns[column].name;
  }
  return Error{ErrorKind::kUsage,
               Message("text is no key of ({}): {}; write the value, or JSON such as [1,\"a\"] or "
                       "{{\"id\":1}}",
                       names, why)};
}

Result<Value> ValueFromJson(const Type& type, const Json& json) {
  if (json.is_null()) return Value();
  if (json.is_boolean()) return Value(*json.get_ptr<const bool*>());
  if (json.is_number_unsigned()) return Value(*json.get_ptr<const Json::number_unsigned_t*>());
  if (json.is_number_integer()) return Value(*json.get_ptr<const Json::number_integer_t*>());
  if (json.is_number_float()) {
    // The shortest text that gives this double: what was typed, up to 15 digits.
    if (type.kind == TypeKind::kDecimal) return Value(Decimal{DumpJson(json)});
    return Value(*json.get_ptr<const Json::number_float_t*>());
  }
  if (json.is_string()) return ParseValueText(type, *json.get_ptr<const std::string*>());
  return Error{ErrorKind::kTypeMismatch, "a part of a key is an array or object"};
}

Status AppendPart(const Schema& schema, size_t part, const Value& value, std::string& out) {
  const Column& column = schema.columns[schema.key[part]];
  const bool nullable = part < schema.nullable_key.size() && schema.nullable_key[part];
  if (value.is_null() && !nullable) return NoKey(schema, "NULL is no value of " + column.name);
  ColumnData data(column.type);
  if (Status status = AppendValue(value, data); !status.ok()) {
    return NoKey(schema, column.name + ": " + status.error().message);
  }
  AppendCanonicalPart(data, 0, out);
  return Ok{};
}

Result<std::string> FromJsonKey(const Schema& schema, const Json& json) {
  if (json.size() != schema.key.size()) {
    return NoKey(schema, Message("it has {} parts of {}", json.size(), schema.key.size()));
  }
  std::string canonical;
  for (size_t part = 0; part < schema.key.size(); ++part) {
    const Column& column = schema.columns[schema.key[part]];
    const Json* member = nullptr;
    if (json.is_array()) {
      member = &json[part];
    } else if (const auto found = json.find(column.name); found != json.end()) {
      member = &*found;
    } else {
      return NoKey(schema, "it lacks " + column.name);
    }
    Result<Value> value = ValueFromJson(column.type, *member);
    if (!value.ok()) return NoKey(schema, column.name + ": " + value.error().message);
    LW_RETURN_IF_ERROR(AppendPart(schema, part, *value, canonical));
  }
  return canonical;
}

bool IsText(const Type& type) {
  return type.kind == TypeKind::kString || type.kind == TypeKind::kJson;
}

// Whether a text key column's input is the JSON form rather than a text that looks like one.
bool IsJsonFormOf(const Schema& schema, const Json& json) {
  const Column& column = schema.columns[schema.key[0]];
  if (json.size() != 1) return false;
  if (json.is_array()) return json[0].is_string() || json[0].is_null();
  return json.is_object() && json.begin().key() == column.name &&
         (json.begin()->is_string() || json.begin()->is_null());
}

}  // namespace

std::string KeyToText(std::string_view canonical) {
  Json parts = Json::array();
  std::string_view rest = canonical;
  while (!rest.empty()) {
    std::optional<Json> part = TakePart(rest);
    if (!part) return "0x" + HexOf(canonical);
    parts.push_back(std::move(*part));
  }
  if (parts.size() == 1) {
    const Json& only = parts[0];
    if (only.is_number() || only.is_boolean()) return DumpJson(only);
    if (only.is_string()) {
      const std::string& text = *only.get_ptr<const std::string*>();
      if (!text.starts_with('[') && !text.starts_with('{')) return text;
    }
  }
  return DumpJson(parts);
}

Result<std::string> ParseKey(const Schema& schema, std::string_view text) {
  LW_RETURN_IF_ERROR(CheckKeyTypes(schema));
  const bool single = schema.key.size() == 1;
  const bool looks_like_json = text.starts_with('[') || text.starts_with('{');
  if (!single || looks_like_json) {
    Result<Json> json = ParseJson(text);
    const bool container = json.ok() && (json->is_array() || json->is_object());
    const bool text_key = single && IsText(schema.columns[schema.key[0]].type);
    if (container && (!text_key || IsJsonFormOf(schema, *json))) return FromJsonKey(schema, *json);
    if (!text_key) return NoKey(schema, "it is not a JSON array or object");
  }
  const Type& type = schema.columns[schema.key[0]].type;
  Result<Value> value = ParseValueText(type, text);
  if (!value.ok()) return NoKey(schema, value.error().message);
  std::string canonical;
  LW_RETURN_IF_ERROR(AppendPart(schema, 0, *value, canonical));
  return canonical;
}

}  // namespace lastword
