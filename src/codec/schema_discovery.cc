#include "codec/schema_discovery.h"

#include <charconv>
#include <memory>

#include "base/format.h"
#include "model/schema_change.h"
#include "model/schema_check.h"

namespace lastword::codec {
namespace {

Type NumberType(std::string_view raw) {
  if (raw.find_first_of(".eE") != std::string_view::npos) return Type{TypeKind::kFloat64};
  int64_t as_signed = 0;
  uint64_t as_unsigned = 0;
  const char* const end = raw.data() + raw.size();
  if (std::from_chars(raw.data(), end, as_signed).ec == std::errc()) return Type{TypeKind::kInt64};
  if (std::from_chars(raw.data(), end, as_unsigned).ec == std::errc()) {
    return Type{TypeKind::kUint64};
  }
  const size_t digits = raw.size() - raw.starts_with('-');
  return Type{TypeKind::kDecimal, digits <= 38 ? 38 : 76, 0};
}

Type ListType(const JsonDoc& doc, uint32_t token) {
  JsonFault fault;
  Elements elements(doc, token, fault);
  while (elements.Next()) {
    const uint32_t at = elements.value();
    if (const std::optional<Type> element = InferType(doc, at)) {
      Type type{TypeKind::kList};
      type.element = std::make_shared<const Type>(*element);
      return type;
    }
    elements.Done(SkipUnchecked(doc, at));
  }
  // Empty, or nulls only: json keeps the value as it is until something better is declared.
  return Type{TypeKind::kJson};
}

constexpr TypeKind kSignedTypes[] = {TypeKind::kInt8, TypeKind::kInt16, TypeKind::kInt32,
                                     TypeKind::kInt64};
constexpr TypeKind kUnsignedTypes[] = {TypeKind::kUint8, TypeKind::kUint16, TypeKind::kUint32,
                                       TypeKind::kUint64};

bool Holds(TypeKind kind, bool negative, uint64_t magnitude) {
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t bits = 8u << i;
    if (kind == kSignedTypes[i]) {
      const uint64_t limit = uint64_t{1} << (bits - 1);
      return negative ? magnitude <= limit : magnitude < limit;
    }
    if (kind == kUnsignedTypes[i]) {
      return (!negative || magnitude == 0) && (bits == 64 || magnitude >> bits == 0);
    }
  }
  return false;
}

}  // namespace

std::optional<Type> InferType(const JsonDoc& doc, uint32_t token) {
  switch (KindOf(doc, token)) {
    case JsonKind::kBool:
      return Type{TypeKind::kBool};
    case JsonKind::kNumber:
      return NumberType(doc.Scalar(token));
    case JsonKind::kString:
      return Type{TypeKind::kString};
    case JsonKind::kObject:
      return Type{TypeKind::kJson};
    case JsonKind::kList:
      return ListType(doc, token);
    case JsonKind::kNull:
    case JsonKind::kInvalid:
      break;
  }
  return std::nullopt;
}

std::optional<Type> WidenToInteger(const Type& type, bool negative, uint64_t magnitude) {
  if (type.kind == TypeKind::kList) {
    const std::optional<Type> element = WidenToInteger(*type.element, negative, magnitude);
    if (!element) return std::nullopt;
    Type widened = type;
    widened.element = std::make_shared<const Type>(*element);
    return widened;
  }
  for (const auto& family : {kSignedTypes, kUnsignedTypes}) {
    for (int i = 0; i < 4; ++i) {
      const Type candidate{family[i]};
      if (Holds(candidate.kind, negative, magnitude) && CanWiden(type, candidate).ok()) {
        return candidate;
      }
    }
  }
  return std::nullopt;
}

Result<Schema> GrowSchema(const TablePlan& plan, std::span<const NewColumn> columns,
                          std::span<const std::string> key_names) {
  Schema schema = plan.schema;
  for (const NewColumn& column : columns) {
    LW_RETURN_IF_ERROR(CheckColumnName(column.name));
    schema.columns.push_back(Column{column.name, column.type});
  }
  if (!schema.key.empty() || key_names.empty()) return schema;
  for (const std::string& name : key_names) {
    const std::optional<uint32_t> column = schema.Find(name);
    if (!column) {
      schema.key.clear();
      return schema;
    }
    schema.key.push_back(*column);
  }
  schema.nullable_key.assign(schema.key.size(), false);
  for (size_t i = 0; i < schema.key.size(); ++i) {
    for (const std::string& name : plan.spec.nullable_key) {
      if (name == key_names[i]) schema.nullable_key[i] = true;
    }
    schema.columns[schema.key[i]].nullable = schema.nullable_key[i];
  }
  return schema;
}

Result<std::optional<Schema>> BindFields(TablePlan& plan) {
  plan.wrapper_forms = plan.plain_forms;
  std::vector<NewColumn> added;
  Schema schema = plan.schema;
  bool widened = false;
  const bool may_grow = plan.spec.discover || plan.spec.evolution == TableSpec::Evolution::kEvolve;
  for (const ConnectField& field : plan.wrapper_fields) {
    const uint32_t column = plan.FindByName(field.name);
    if (column == kNone) {
      if (may_grow) added.push_back(NewColumn{field.name, field.type});
      continue;
    }
    plan.wrapper_forms[column] = field.form;
    if (field.form.form == Form::kPlain &&
        (field.is_text || field.type.kind == TypeKind::kFloat64)) {
      plan.wrapper_forms[column].form = Form::kDecimalText;
    }
    Column& declared = schema.columns[column];
    const Fit fit = FitOf(field, declared.type);
    if (fit == Fit::kFits) continue;
    if (fit == Fit::kWiden && plan.spec.type_widening) {
      declared.type = field.type;
      widened = true;
      continue;
    }
    Error error{ErrorKind::kSchemaIncompatible,
                Message("column `{}` is {}, and the source declares {}; declare that type{}",
                        declared.name, ToString(declared.type), ToString(field.type),
                        fit == Fit::kWiden ? ", or set type_widening: true" : "")};
    error.place.column = declared.name;
    return error;
  }
  if (added.empty() && !widened) return std::optional<Schema>();
  LW_ASSIGN_OR_RETURN(const Schema grown, GrowSchema(plan, added, plan.key_names));
  for (size_t i = schema.columns.size(); i < grown.columns.size(); ++i) {
    schema.columns.push_back(grown.columns[i]);
  }
  for (size_t i = 0; i < plan.schema.columns.size(); ++i) {
    schema.columns[i].nullable = grown.columns[i].nullable;
  }
  schema.key = grown.key;
  schema.nullable_key = grown.nullable_key;
  return std::optional<Schema>(std::move(schema));
}

}  // namespace lastword::codec
