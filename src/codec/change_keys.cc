// The part of ChangeBuilder that finds keys: of deletes, of the other half of a key change, of
// tables whose key the stream names; and what fills columns from a record's metadata.
#include "base/format.h"
#include "codec/change_builder.h"
#include "codec/schema_discovery.h"
#include "model/canonical.h"
#include "model/key.h"
#include "model/value_rows.h"

namespace lastword::codec {

using Part = ImageReader::Part;

bool ChangeBuilder::NameKey(TablePlan& plan, const Record& record) {
  if (!plan.schema.key.empty() || !plan.key_names.empty()) return true;
  JsonFault unused;  // the record key was checked when the record was read
  const Unwrapped key = UnwrapSchema(record.key, unused);
  if (key.payload.kind() == JsonKind::kObject) {
    JsonFault fault;
    Members members(*key.payload.doc, key.payload.token, fault);
    while (members.Next()) {
      plan.key_names.emplace_back(members.name());
      members.Done(SkipUnchecked(*key.payload.doc, members.value()));
    }
  }
  if (!plan.key_names.empty()) return true;
  return x_stop.Fail(ErrorKind::kMissingKey,
                     Message("table `{}` has no primary key: none is declared, and the record has "
                             "no key that names columns; declare primary_key (--key)",
                             plan.spec.name));
}

bool ChangeBuilder::NeedKey(TablePlan& plan, JsonRef image) {
  // Columns that the same record asks for come with the key, or not at all.
  const Schema& schema = x_stop.schema ? *x_stop.schema : plan.schema;
  for (const std::string& name : plan.key_names) {
    if (schema.Find(name)) continue;
    x_stop.schema.reset();
    if (FindMember(image, name)) {
      return x_stop.Fail(ErrorKind::kNullInKey,
                         Message("key column `{}` is NULL and its type is not known; list it under "
                                 "`nullable_key` and declare its type if NULL is a value there",
                                 name),
                         name);
    }
    return x_stop.Fail(ErrorKind::kMissingKey,
                       Message("the row has no key column `{}`; declare a primary_key (--key) that "
                               "every row carries",
                               name),
                       name);
  }
  if (x_stop.schema) return false;
  Result<Schema> grown = GrowSchema(plan, {}, plan.key_names);
  if (!grown.ok()) {
    x_stop.error = std::move(grown.error());
    return false;
  }
  return x_stop.Request(std::move(*grown));
}

bool ChangeBuilder::GrowForDelete(TablePlan& plan, const Record& record, JsonRef before) {
  JsonFault unused;  // the record key was checked when the record was read
  const JsonRef key = UnwrapSchema(record.key, unused).payload;
  std::vector<NewColumn> columns;
  for (const std::string& name : plan.key_names) {
    if (plan.schema.Find(name)) continue;
    std::optional<Type> type;
    for (const JsonRef& image : {before, key}) {
      const JsonRef value = FindMember(image, name);
      if (value && !type) type = InferType(*value.doc, value.token);
    }
    if (!type) {
      return x_stop.Fail(ErrorKind::kMissingKey,
                         Message("the delete has no value for key column `{}`; declare a "
                                 "primary_key (--key) that every delete carries",
                                 name),
                         name);
    }
    columns.push_back(NewColumn{name, *type});
  }
  Result<Schema> grown = GrowSchema(plan, columns, plan.key_names);
  if (!grown.ok()) {
    x_stop.error = std::move(grown.error());
    return false;
  }
  return x_stop.Request(std::move(*grown));
}

bool ChangeBuilder::FillMetadata(TablePlan& plan, const Record& record, JsonRef source,
                                 bool key_only, Rows& rows) {
  for (const MetadataColumn& meta : plan.metadata) {
    if (key_only && plan.is_key[meta.column] == 0) continue;
    if (!FillOne(meta, plan.schema.columns[meta.column], record, source,
                 rows.columns[meta.column])) {
      return false;
    }
  }
  return true;
}

bool ChangeBuilder::FillOne(const MetadataColumn& meta, const Column& column, const Record& record,
                            JsonRef source, ColumnData& data) {
  const auto append = [&](const Result<Value>& value) {
    const Status status = value.ok() ? AppendValue(*value, data) : Status(value.error());
    return status.ok() || x_stop.Fail(status.error().kind,
                                      Message("column `{}` (from {}): {}", column.name, column.from,
                                              status.error().message),
                                      column.name);
  };
  switch (meta.kind) {
    case Metadata::kTopic:
      return append(Value(std::string(record.topic)));
    case Metadata::kPartition:
      return append(Value(int64_t{record.partition}));
    case Metadata::kOffset:
      return append(Value(static_cast<uint64_t>(record.offset)));
    case Metadata::kHeader: {
      HeaderValue header;
      if (!FindHeader(record, meta.name, header)) return data.AppendNull(), true;
      return append(ParseValueText(column.type, header.text));
    }
    case Metadata::kSource:
      break;
  }
  const JsonRef value = FindMember(source, meta.name);
  if (!value) return data.AppendNull(), true;
  ValueForm form;
  if (meta.name == "ts_ms") form.form = Form::kMillis;
  if (meta.name == "ts_ns") form.form = Form::kNanos;
  JsonFault fault;
  ValueError error;
  uint32_t token = value.token;
  const ValueRead read = x_values.Decode(*value.doc, token, form,
                                         TableSpec::DecimalEncoding::kString, data, fault, error);
  if (read == ValueRead::kValue || read == ValueRead::kNull) return true;
  return x_stop.Fail(error.kind,
                     Message("column `{}` (from {}): {}; declare a type that holds it", column.name,
                             column.from, error.what),
                     column.name);
}

bool ChangeBuilder::ReadKeyForms(const TablePlan& plan, JsonRef schema) {
  x_key_forms = plan.plain_forms;
  std::vector<ConnectField> fields;
  JsonFault fault;
  uint32_t token = schema.token;
  if (!ReadStructSchema(*schema.doc, token, fields, fault)) {
    return x_stop.Fail(ErrorKind::kBadJson, fault.why);
  }
  for (const ConnectField& field : fields) {
    const uint32_t column = plan.FindByName(field.name);
    if (column != kNone) x_key_forms[column] = field.form;
  }
  return true;
}

bool ChangeBuilder::ReadRecordKey(TablePlan& plan, const Record& record) {
  x_key_parts.assign(plan.schema.columns.size(), Part::kAbsent);
  for (const uint32_t column : plan.scratch_columns) plan.record_key.columns[column].Truncate(0);
  JsonFault unused;  // the record key was checked when the record was read
  const Unwrapped key = UnwrapSchema(record.key, unused);
  if (key.payload.kind() == JsonKind::kObject) {
    x_key_forms.clear();
    if (key.schema && !ReadKeyForms(plan, key.schema)) return false;
    const std::vector<ValueForm>& forms = key.schema ? x_key_forms : plan.plain_forms;
    const auto wanted = [&](uint32_t column) { return plan.is_key[column] != 0; };
    if (!x_reader.ReadSome(plan, key.payload, forms, wanted, plan.record_key, x_stop)) {
      return false;
    }
    x_key_parts = x_reader.parts();
    return true;
  }
  // A bare value is the key of a table with one key column.
  if (plan.schema.key.size() != 1) return true;
  const uint32_t column = plan.schema.key[0];
  ColumnData& data = plan.record_key.columns[column];
  if (record.key_text.data() != nullptr) {
    const Result<Value> value = ParseValueText(plan.schema.columns[column].type, record.key_text);
    if (value.ok() && AppendValue(*value, data).ok()) x_key_parts[column] = Part::kValue;
  } else if (key.payload) {
    JsonFault fault;
    ValueError error;
    uint32_t token = key.payload.token;
    const ValueRead read = x_values.Decode(*key.payload.doc, token, ValueForm{},
                                           plan.spec.decimal_encoding, data, fault, error);
    if (read == ValueRead::kValue) x_key_parts[column] = Part::kValue;
    if (read == ValueRead::kNull) x_key_parts[column] = Part::kNull;
  }
  if (x_key_parts[column] == Part::kAbsent) data.Truncate(0);
  return true;
}

bool ChangeBuilder::MergeKeyColumn(TablePlan& plan, uint32_t column, Part in_image) {
  ColumnData& data = plan.image_key.columns[column];
  const ColumnData& other = plan.record_key.columns[column];
  const Part in_key = x_key_parts[column];
  const std::string& name = plan.schema.columns[column].name;
  if (in_image == Part::kValue) {
    if (in_key != Part::kValue) return true;
    std::string image_part, key_part;
    AppendCanonicalPart(data, 0, image_part);
    AppendCanonicalPart(other, 0, key_part);
    if (image_part == key_part) return true;
    // Neither is trusted over the other: the wrong choice deletes another row.
    return x_stop.Fail(ErrorKind::kAmbiguousKey,
                       Message("key column `{}` of a delete has one value in the row and another "
                               "in the record key; check the replica identity and the transforms "
                               "of the source",
                               name),
                       name);
  }
  if (in_key == Part::kValue || (in_key == Part::kNull && in_image == Part::kAbsent)) {
    data.Truncate(0);
    data.AppendFrom(other, 0);
    return true;
  }
  if (in_image == Part::kNull) return true;  // AppendKey decides whether NULL is a value there
  if (in_image == Part::kUnavailable || in_key == Part::kUnavailable) {
    return UnavailableKey(name);
  }
  return x_stop.Fail(ErrorKind::kMissingKey,
                     Message("the delete has no value for key column `{}`, neither in its row nor "
                             "in the record key; key the topic by the primary key, or set REPLICA "
                             "IDENTITY FULL on the source table",
                             name),
                     name);
}

bool ChangeBuilder::CollectKey(TablePlan& plan, const Record& record, const Image& before,
                               const ChangeMeta& meta) {
  if (plan.schema.key.empty()) {
    return NameKey(plan, record) && GrowForDelete(plan, record, before.value);
  }
  for (const uint32_t column : plan.scratch_columns) plan.image_key.columns[column].Truncate(0);
  x_image_parts.assign(plan.schema.columns.size(), Part::kAbsent);
  if (before.kind() == JsonKind::kObject) {
    const auto wanted = [&](uint32_t column) {
      if (plan.is_key[column] != 0) return true;
      for (const uint32_t sequence : plan.sequence) {
        if (sequence == column) return true;
      }
      return false;
    };
    if (!x_reader.ReadSome(plan, before, FormsOf(plan, meta), wanted, plan.image_key, x_stop)) {
      return false;
    }
    x_image_parts = x_reader.parts();
  }
  if (!ReadRecordKey(plan, record)) return false;
  for (const uint32_t column : plan.schema.key) {
    if (plan.image_names[column].empty()) continue;
    if (!MergeKeyColumn(plan, column, x_image_parts[column])) return false;
  }
  if (plan.key_from_source && !meta.source) {
    return x_stop.Fail(ErrorKind::kMissingKey,
                       "a null-value record does not say its source, which is part of the key; set "
                       "tombstones.on.delete=false at the source");
  }
  return FillMetadata(plan, record, meta.source, true, plan.image_key) &&
         AppendCanonicalKey(plan, plan.image_key, 0, x_key);
}

bool ChangeBuilder::BeforeKey(TablePlan& plan, const Record& record, const Image& before,
                              const ChangeMeta& meta, bool& found) {
  found = false;
  for (const uint32_t column : plan.scratch_columns) plan.image_key.columns[column].Truncate(0);
  const auto wanted = [&](uint32_t column) { return plan.is_key[column] != 0; };
  if (!x_reader.ReadSome(plan, before, FormsOf(plan, meta), wanted, plan.image_key, x_stop)) {
    return false;
  }
  for (size_t i = 0; i < plan.schema.key.size(); ++i) {
    const uint32_t column = plan.schema.key[i];
    if (plan.image_names[column].empty()) continue;
    const Part part = x_reader.parts()[column];
    const bool nullable = i < plan.schema.nullable_key.size() && plan.schema.nullable_key[i];
    // A `before` without the whole key says nothing about a key change.
    if (part != Part::kValue && !(part == Part::kNull && nullable)) return true;
  }
  if (!FillMetadata(plan, record, meta.source, true, plan.image_key)) return false;
  found = true;
  return AppendCanonicalKey(plan, plan.image_key, 0, x_other_key);
}

bool ChangeBuilder::BeforeValues(TablePlan& plan, const Image& before, const ChangeMeta& meta,
                                 uint32_t& row) {
  Rows& rows = batch(plan).rows;
  const uint64_t at = rows.size();
  const std::vector<uint32_t>& columns = x_reader.unavailable();
  std::vector<uint8_t> wanted(plan.schema.columns.size(), 0);
  for (const uint32_t column : columns) wanted[column] = 1;
  if (!x_reader.ReadSome(
          plan, before, FormsOf(plan, meta), [&](uint32_t column) { return wanted[column] != 0; },
          rows, x_stop)) {
    return false;
  }
  bool any = false;
  for (uint32_t column = 0; column < wanted.size(); ++column) {
    ColumnData& data = rows.columns[column];
    if (data.size() > at && !data.IsNull(at)) {
      // Sources fill what they do not know of a NOT NULL column with an empty value.
      const TypeKind kind = data.type().kind;
      const bool variable = FixedWidth(data.type()) == 0;
      const bool empty = variable && (kind == TypeKind::kList ? data.ListRange(at).second == 0
                                                              : data.Bytes(at).empty());
      if (empty) data.Truncate(at);
      any |= !empty;
    }
    if (data.size() == at) data.AppendNull();
  }
  if (any) {
    row = static_cast<uint32_t>(at);
  } else {
    rows.Truncate(at);
  }
  return true;
}

bool ChangeBuilder::OtherKey(TablePlan& plan, const Record& record, std::string_view header,
                             std::string& out) {
  if (!record.headers && record.raw_headers.empty()) return false;
  HeaderValue value;
  if (!FindHeader(record, header, value)) return false;
  out.clear();
  Record other;
  if (value.json.kind() == JsonKind::kObject) {
    other.key = value.json;
  } else if (x_header_index.Index(value.text) && x_header_index.doc().end != 0) {
    other.key = JsonRef{&x_header_index.doc(), 0};
    uint32_t token = 0;
    JsonFault fault;
    if (!SkipChecked(x_header_index.doc(), token, fault) || token != x_header_index.doc().end) {
      other.key = {};
    }
  }
  if (!other.key) other.key_text = value.text;
  // A key that cannot be read is an unknown one: the header only links two halves.
  Stop kept = std::move(x_stop);
  bool known = ReadRecordKey(plan, other) && !plan.key_from_source;
  for (const uint32_t column : plan.schema.key) {
    known = known && (x_key_parts[column] == Part::kValue || x_key_parts[column] == Part::kNull);
  }
  if (!known || !AppendKey(plan.schema, plan.record_key, 0, out).ok()) out.clear();
  x_stop = std::move(kept);
  return true;
}

std::string ChangeBuilder::KeyForMessage(TablePlan& plan, const Record& record, JsonRef image) {
  if (plan.schema.key.empty()) return {};
  Stop kept = std::move(x_stop);
  x_stop = Stop{};
  ChangeMeta meta;
  meta.fields = x_fields;
  std::string key;
  if (!plan.key_from_source && CollectKey(plan, record, image, meta)) key = KeyToText(x_key);
  x_stop = std::move(kept);
  return key;
}

}  // namespace lastword::codec
