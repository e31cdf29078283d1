#include "codec/image_read.h"

#include <algorithm>

#include "base/format.h"
#include "codec/schema_discovery.h"
#include "model/schema_check.h"
#include "model/value_rows.h"

namespace lastword::codec {

bool Stop::Fail(ErrorKind kind, std::string message, std::string column) {
  error = Error{kind, std::move(message)};
  error->place.column = std::move(column);
  return false;
}

bool Stop::Request(Schema new_schema) {
  schema = std::move(new_schema);
  return false;
}

bool ImageReader::Read(TablePlan& plan, const Image& image, const std::vector<ValueForm>& forms,
                       const std::vector<ConnectField>* fields, Rows& rows, Stop& stop) {
  x_unavailable.clear();
  x_absent.clear();
  x_new.clear();
  ++plan.stamp;
  uint32_t seen = 0;
  JsonFault fault;
  const JsonDoc& doc = *image.value.doc;
  if (image.members != nullptr) {
    for (const KnownMember& member : *image.members) {
      uint32_t at = member.token;
      if (!ReadColumn(plan, doc, at, forms, member.column, rows, fault, stop)) return false;
      ++seen;
    }
  } else {
    size_t position = 0;
    Members members(doc, image.value.token, fault);
    uint32_t column = kNone;
    while (plan.NextColumn(position++, members, column)) {
      uint32_t at = members.value();
      if (column != kNone) {
        if (!ReadColumn(plan, doc, at, forms, column, rows, fault, stop)) return false;
        ++seen;
      } else {
        if (!members.ok()) break;
        if (!Unknown(plan, doc, at, members.name(), fields, fault, stop)) return false;
      }
      members.Done(at);
    }
    if (!members.ok()) return stop.Fail(ErrorKind::kBadJson, fault.why);
  }
  if (!x_new.empty()) return RequestColumns(plan, stop);
  std::sort(x_unavailable.begin(), x_unavailable.end());
  return seen == plan.image_columns || Missing(plan, rows, stop);
}

bool ImageReader::ReadColumn(TablePlan& plan, const JsonDoc& doc, uint32_t& token,
                             const std::vector<ValueForm>& forms, uint32_t column, Rows& rows,
                             JsonFault& fault, Stop& stop) {
  if (!plan.Mark(column)) return Repeated(plan, column, stop);
  ColumnData& data = rows.columns[column];
  switch (x_values.Decode(doc, token, forms[column], plan.spec.decimal_encoding, data, fault,
                          x_error)) {
    case ValueRead::kValue:
      return true;
    case ValueRead::kNull:
      return plan.schema.columns[column].nullable || plan.is_key[column] != 0 ||
             stop.Fail(ErrorKind::kTypeMismatch,
                       Message("column `{}` is NULL, and its table says it never is",
                               plan.schema.columns[column].name),
                       plan.schema.columns[column].name);
    case ValueRead::kUnavailable:
      data.AppendNull();
      x_unavailable.push_back(column);
      return true;
    case ValueRead::kError:
      break;
  }
  return ValueFailed(plan, column, stop);
}

bool ImageReader::Missing(TablePlan& plan, Rows& rows, Stop& stop) {
  for (uint32_t column = 0; column < plan.image_names.size(); ++column) {
    if (plan.image_names[column].empty() || plan.Marked(column)) continue;
    const Column& declared = plan.schema.columns[column];
    if (declared.default_value) {
      const Status status = AppendValue(*declared.default_value, rows.columns[column]);
      if (!status.ok()) {
        return stop.Fail(
            status.error().kind,
            Message("the default of column `{}`: {}", declared.name, status.error().message),
            declared.name);
      }
      x_absent.push_back(column);
    } else if (plan.is_key[column]) {
      return stop.Fail(ErrorKind::kMissingKey,
                       Message("the row has no key column `{}`; declare a primary key that every "
                               "row carries, or map the column with `from:`",
                               declared.name),
                       declared.name);
    } else {
      rows.columns[column].AppendNull();
    }
  }
  return true;
}

bool ImageReader::Repeated(const TablePlan& plan, uint32_t column, Stop& stop) {
  const std::string& name = plan.schema.columns[column].name;
  if (plan.is_key[column]) {
    return stop.Fail(ErrorKind::kAmbiguousKey,
                     Message("key column `{}` is twice in one row, so the row has two keys; fix "
                             "the source, or set on_bad_record: dead_letter",
                             name),
                     name);
  }
  return stop.Fail(ErrorKind::kBadJson,
                   Message("column `{}` is twice in one row; fix the source, or set "
                           "on_bad_record: dead_letter",
                           name),
                   name);
}

bool ImageReader::ValueFailed(const TablePlan& plan, uint32_t column, Stop& stop) {
  const Column& declared = plan.schema.columns[column];
  if (x_error.kind == ErrorKind::kBadJson) {
    return stop.Fail(ErrorKind::kBadJson, x_error.what, declared.name);
  }
  if (x_error.is_integer) {
    const std::optional<Type> wider =
        WidenToInteger(declared.type, x_error.is_negative, x_error.magnitude);
    if (wider && plan.spec.type_widening) {
      Schema schema = plan.schema;
      schema.columns[column].type = *wider;
      return stop.Request(std::move(schema));
    }
    if (wider) {
      return stop.Fail(x_error.kind,
                       Message("column `{}`: {}; declare {}, or set type_widening: true",
                               declared.name, x_error.what, ToString(*wider)),
                       declared.name);
    }
  }
  return stop.Fail(x_error.kind,
                   Message("column `{}`: {}; declare a type that holds it, or set on_bad_record: "
                           "dead_letter",
                           declared.name, x_error.what),
                   declared.name);
}

bool ImageReader::Unknown(TablePlan& plan, const JsonDoc& doc, uint32_t& token,
                          std::string_view name, const std::vector<ConnectField>* fields,
                          JsonFault& fault, Stop& stop) {
  const uint32_t begin = token;
  if (!SkipChecked(doc, token, fault, 1)) return stop.Fail(ErrorKind::kBadJson, fault.why);
  std::optional<Type> type = InferType(doc, begin);
  // NULL is the same as absent, so nothing is lost by a column that the table does not have.
  if (!type) return true;
  if (fields != nullptr) {
    for (const ConnectField& field : *fields) {
      if (field.name == name) type = field.type;
    }
  }
  if (plan.IgnoresUnknown()) return true;
  if (const Status status = CheckColumnName(name); !status.ok()) {
    return stop.Fail(status.error().kind, status.error().message, std::string(name));
  }
  if (!plan.spec.discover && plan.spec.evolution == TableSpec::Evolution::kException) {
    return stop.Fail(ErrorKind::kSchemaIncompatible,
                     Message("column `{}` ({}) is not in the table; add it to `columns`, or set "
                             "schema_evolution: evolve or ignore",
                             name, ToString(*type)),
                     std::string(name));
  }
  for (const NewColumn& other : x_new) {
    if (other.name != name) continue;
    const auto& key = plan.key_names;
    const bool is_key = std::find(key.begin(), key.end(), name) != key.end();
    return stop.Fail(is_key ? ErrorKind::kAmbiguousKey : ErrorKind::kBadJson,
                     Message("column `{}` is twice in one row; fix the source", name),
                     std::string(name));
  }
  x_new.push_back(NewColumn{std::string(name), *type});
  return true;
}

bool ImageReader::RequestColumns(const TablePlan& plan, Stop& stop) {
  Result<Schema> grown = GrowSchema(plan, x_new, plan.key_names);
  if (!grown.ok()) {
    stop.error = std::move(grown.error());
    return false;
  }
  return stop.Request(std::move(*grown));
}

bool ImageReader::ReadPart(TablePlan& plan, const JsonDoc& doc, uint32_t& token,
                           const std::vector<ValueForm>& forms, uint32_t column, Rows& rows,
                           JsonFault& fault, Stop& stop) {
  if (!plan.Mark(column)) return Repeated(plan, column, stop);
  switch (x_values.Decode(doc, token, forms[column], plan.spec.decimal_encoding,
                          rows.columns[column], fault, x_error)) {
    case ValueRead::kValue:
      x_parts[column] = Part::kValue;
      return true;
    case ValueRead::kNull:
      x_parts[column] = Part::kNull;
      return true;
    case ValueRead::kUnavailable:
      x_parts[column] = Part::kUnavailable;
      return true;
    case ValueRead::kError:
      break;
  }
  return ValueFailed(plan, column, stop);
}

}  // namespace lastword::codec
