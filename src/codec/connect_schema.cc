#include "codec/connect_schema.h"

#include <charconv>
#include <memory>

#include "model/schema_change.h"

namespace lastword::codec {
namespace {

/// What one schema object says, before it becomes a column.
struct RawSchema {
  std::string type, name, field, scale, precision;
  std::vector<ConnectField> fields;  // of a struct
  ConnectField items;                // of an array
  bool has_items = false;
};

struct Semantic {
  std::string_view name;
  TypeKind kind;
  Form form;
};

// Names of the connectors' and Connect's own logical types whose column is another than that of
// the plain type below them. Enum, Xml, Bits, intervals and the rest keep the plain type.
constexpr Semantic kSemantics[] = {
    {"io.debezium.time.Date", TypeKind::kDate, Form::kPlain},
    {"io.debezium.time.IsoDate", TypeKind::kDate, Form::kPlain},
    {"org.apache.kafka.connect.data.Date", TypeKind::kDate, Form::kPlain},
    {"io.debezium.time.Time", TypeKind::kTimeUs, Form::kMillis},
    {"io.debezium.time.MicroTime", TypeKind::kTimeUs, Form::kMicros},
    {"io.debezium.time.NanoTime", TypeKind::kTimeUs, Form::kNanos},
    {"io.debezium.time.IsoTime", TypeKind::kTimeUs, Form::kPlain},
    {"org.apache.kafka.connect.data.Time", TypeKind::kTimeUs, Form::kMillis},
    {"io.debezium.time.Timestamp", TypeKind::kTimestampUs, Form::kMillis},
    {"io.debezium.time.MicroTimestamp", TypeKind::kTimestampUs, Form::kMicros},
    {"io.debezium.time.NanoTimestamp", TypeKind::kTimestampUs, Form::kNanos},
    {"io.debezium.time.IsoTimestamp", TypeKind::kTimestampUs, Form::kPlain},
    {"org.apache.kafka.connect.data.Timestamp", TypeKind::kTimestampUs, Form::kMillis},
    {"io.debezium.time.ZonedTimestamp", TypeKind::kTimestamptzUs, Form::kPlain},
    {"io.debezium.data.Uuid", TypeKind::kUuid, Form::kPlain},
    {"io.debezium.data.Json", TypeKind::kJson, Form::kPlain},
};

struct PlainType {
  std::string_view name;
  TypeKind kind;
};
constexpr PlainType kPlainTypes[] = {
    {"int8", TypeKind::kInt8},      {"int16", TypeKind::kInt16},
    {"int32", TypeKind::kInt32},    {"int64", TypeKind::kInt64},
    {"float", TypeKind::kFloat32},  {"float32", TypeKind::kFloat32},
    {"double", TypeKind::kFloat64}, {"float64", TypeKind::kFloat64},
    {"boolean", TypeKind::kBool},   {"string", TypeKind::kString},
    {"bytes", TypeKind::kBytes},    {"struct", TypeKind::kJson},
    {"map", TypeKind::kJson},
};

bool ToInt(const std::string& text, int32_t& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size();
}

/// org.apache.kafka.connect.data.Decimal: the scale is always there, the precision sometimes.
void DecimalField(const RawSchema& raw, ConnectField& field) {
  int32_t scale = 0, precision = 0;
  ToInt(raw.scale, scale);
  field.form = ValueForm{Form::kDecimalBytes, scale};
  field.exact = ToInt(raw.precision, precision) && precision >= 1 && precision <= 76 &&
                scale >= 0 && scale <= precision;
  if (!field.exact && (scale < 0 || scale > 38)) {
    field.type = Type{TypeKind::kString};
    return;
  }
  field.type = Type{TypeKind::kDecimal, field.exact ? precision : 38, scale};
}

ConnectField FieldOf(const RawSchema& raw) {
  ConnectField field;
  field.name = raw.field;
  field.is_text = raw.type == "string";
  if (raw.type == "array") {
    field.type = Type{TypeKind::kList};
    field.type.element =
        std::make_shared<const Type>(raw.has_items ? raw.items.type : Type{TypeKind::kJson});
    field.form = raw.items.form;
    field.is_text = raw.items.is_text;
    field.exact = raw.items.exact;
    return field;
  }
  if (raw.name == "org.apache.kafka.connect.data.Decimal") {
    DecimalField(raw, field);
    return field;
  }
  if (raw.name == "io.debezium.data.VariableScaleDecimal") {
    // Neither digits nor scale are known, so only a text keeps every value.
    field.type = Type{TypeKind::kString};
    field.form = ValueForm{Form::kVariableScale, 0};
    field.exact = false;
    return field;
  }
  for (const Semantic& semantic : kSemantics) {
    if (semantic.name == raw.name) {
      field.type = Type{semantic.kind};
      field.form = ValueForm{semantic.form, 0};
      return field;
    }
  }
  field.type = Type{TypeKind::kJson};
  for (const PlainType& plain : kPlainTypes) {
    if (plain.name == raw.type) field.type = Type{plain.kind};
  }
  return field;
}

/// Reads the text or number at `at` as text; anything else leaves `out` empty.
bool ReadText(const JsonDoc& doc, uint32_t at, std::string& out, JsonFault& fault) {
  std::string scratch;
  std::string_view text;
  if (KindOf(doc, at) == JsonKind::kString) {
    if (!ReadString(doc, at, scratch, text, fault)) return false;
    out = text;
  } else if (KindOf(doc, at) == JsonKind::kNumber) {
    out = doc.Scalar(at);
  }
  return true;
}

bool ReadSchema(const JsonDoc& doc, uint32_t& token, RawSchema& raw, JsonFault& fault,
                uint32_t depth);

bool ReadFields(const JsonDoc& doc, uint32_t& token, RawSchema& raw, JsonFault& fault,
                uint32_t depth) {
  if (KindOf(doc, token) != JsonKind::kList) return SkipChecked(doc, token, fault, depth);
  Elements elements(doc, token, fault);
  while (elements.Next()) {
    uint32_t at = elements.value();
    RawSchema field;
    if (!ReadSchema(doc, at, field, fault, depth + 1)) return false;
    raw.fields.push_back(FieldOf(field));
    elements.Done(at);
  }
  token = elements.end();
  return elements.ok();
}

bool ReadParameters(const JsonDoc& doc, uint32_t& token, RawSchema& raw, JsonFault& fault,
                    uint32_t depth) {
  if (KindOf(doc, token) != JsonKind::kObject) return SkipChecked(doc, token, fault, depth);
  Members members(doc, token, fault);
  while (members.Next()) {
    uint32_t at = members.value();
    if (members.name() == "scale" && !ReadText(doc, at, raw.scale, fault)) return false;
    if (members.name() == "connect.decimal.precision" && !ReadText(doc, at, raw.precision, fault)) {
      return false;
    }
    if (!SkipChecked(doc, at, fault, depth + 1)) return false;
    members.Done(at);
  }
  token = members.end();
  return members.ok();
}

bool ReadSchema(const JsonDoc& doc, uint32_t& token, RawSchema& raw, JsonFault& fault,
                uint32_t depth) {
  if (depth > kNestingMax || KindOf(doc, token) != JsonKind::kObject) {
    return SkipChecked(doc, token, fault, depth);
  }
  Members members(doc, token, fault);
  while (members.Next()) {
    uint32_t at = members.value();
    const std::string_view name = members.name();
    bool ok = true;
    if (name == "fields") {
      ok = ReadFields(doc, at, raw, fault, depth + 1);
    } else if (name == "items") {
      RawSchema items;
      ok = ReadSchema(doc, at, items, fault, depth + 1);
      raw.items = FieldOf(items);
      raw.has_items = true;
    } else if (name == "parameters") {
      ok = ReadParameters(doc, at, raw, fault, depth + 1);
    } else {
      std::string* const into = name == "type"    ? &raw.type
                                : name == "name"  ? &raw.name
                                : name == "field" ? &raw.field
                                                  : nullptr;
      ok = (into == nullptr || ReadText(doc, at, *into, fault)) &&
           SkipChecked(doc, at, fault, depth + 1);
    }
    if (!ok) return false;
    members.Done(at);
  }
  token = members.end();
  return members.ok();
}

bool IsInteger(TypeKind kind) {
  return kind >= TypeKind::kInt8 && kind <= TypeKind::kUint64;
}
bool IsTimestamp(TypeKind kind) {
  return kind == TypeKind::kTimestampUs || kind == TypeKind::kTimestamptzUs;
}

/// What a text may be read as: the value itself is checked.
bool TextFits(TypeKind column) {
  switch (column) {
    case TypeKind::kString:
    case TypeKind::kJson:
    case TypeKind::kUuid:
    case TypeKind::kDecimal:
    case TypeKind::kDate:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return true;
    default:
      return false;
  }
}

bool IntegerFits(TypeKind source, TypeKind column) {
  switch (column) {
    case TypeKind::kDecimal:
      return true;
    case TypeKind::kFloat64:  // 2^53 holds every integer of 32 bits
      return source == TypeKind::kInt8 || source == TypeKind::kInt16 || source == TypeKind::kInt32;
    case TypeKind::kFloat32:
      return source == TypeKind::kInt8 || source == TypeKind::kInt16;
    case TypeKind::kUint8:
    case TypeKind::kUint16:
    case TypeKind::kUint32:
    case TypeKind::kUint64:
      // Sources without unsigned types send them in a signed one.
      return true;
    default:
      return false;
  }
}

}  // namespace

bool ReadStructSchema(const JsonDoc& doc, uint32_t& token, std::vector<ConnectField>& fields,
                      JsonFault& fault) {
  RawSchema raw;
  if (!ReadSchema(doc, token, raw, fault, 0)) return false;
  fields = std::move(raw.fields);
  return true;
}

bool ReadEnvelopeSchema(const JsonDoc& doc, uint32_t& token, std::vector<ConnectField>& fields,
                        JsonFault& fault) {
  // The image's schema lies two levels down and is read as a schema of its own; everything else
  // around it is only checked.
  fields.clear();
  bool has_after = false;
  if (KindOf(doc, token) == JsonKind::kObject) {
    Members members(doc, token, fault);
    while (members.Next()) {
      uint32_t at = members.value();
      if (members.name() == "fields" && KindOf(doc, at) == JsonKind::kList) {
        Elements elements(doc, at, fault);
        while (elements.Next()) {
          uint32_t element = elements.value();
          RawSchema raw;
          if (!ReadSchema(doc, element, raw, fault, 2)) return false;
          if (raw.field == "after" || (raw.field == "before" && !has_after)) {
            has_after = raw.field == "after";
            fields = std::move(raw.fields);
          }
          elements.Done(element);
        }
        if (!elements.ok()) return false;
        at = elements.end();
      } else if (!SkipChecked(doc, at, fault, 1)) {
        return false;
      }
      members.Done(at);
    }
    token = members.end();
    return members.ok();
  }
  return SkipChecked(doc, token, fault);
}

Fit FitOf(const ConnectField& field, const Type& column) {
  const Type& source = field.type;
  if (source == column || CanWiden(source, column).ok()) return Fit::kFits;
  if (source.kind == TypeKind::kList) {
    if (column.kind == TypeKind::kJson) return Fit::kFits;
    const TypeKind element = source.element->kind;
    if (column.kind == TypeKind::kVector) {
      return IsInteger(element) || element == TypeKind::kFloat32 || element == TypeKind::kFloat64
                 ? Fit::kFits
                 : Fit::kNever;
    }
    if (column.kind != TypeKind::kList) return Fit::kNever;
    ConnectField inner = field;
    inner.type = *source.element;
    const Fit fit = FitOf(inner, *column.element);
    return fit == Fit::kWiden && !CanWiden(column, source).ok() ? Fit::kNever : fit;
  }
  // A number without fixed digits, or a decimal as text: each value is checked.
  if (column.kind == TypeKind::kDecimal &&
      (!field.exact || source.kind == TypeKind::kFloat64 || source.kind == TypeKind::kFloat32)) {
    return Fit::kFits;
  }
  if (source.kind == TypeKind::kDecimal && column.kind == TypeKind::kString) return Fit::kFits;
  if (field.is_text && source.kind != TypeKind::kBytes && TextFits(column.kind)) return Fit::kFits;
  if (source.kind == TypeKind::kJson && column.kind == TypeKind::kJson) return Fit::kFits;
  if (IsTimestamp(source.kind) && IsTimestamp(column.kind)) return Fit::kFits;
  if (IsInteger(source.kind) && IntegerFits(source.kind, column.kind)) return Fit::kFits;
  return CanWiden(column, source).ok() ? Fit::kWiden : Fit::kNever;
}

}  // namespace lastword::codec
