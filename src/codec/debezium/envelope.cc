#include "codec/debezium/envelope.h"

#include <charconv>

#include "base/format.h"
#include "base/hash.h"
#include "codec/connect_schema.h"
#include "codec/schema_discovery.h"

namespace lastword::codec {

void DebeziumReader::Start() {
  x_previous.clear();
}

bool DebeziumReader::Fault(const JsonFault& fault) {
  return x_builder.stop().Fail(ErrorKind::kBadJson,
                               fault.why == nullptr ? "the record is no JSON" : fault.why);
}

bool DebeziumReader::Skip(JsonRef value) {
  if (!value) return true;
  JsonFault fault;
  uint32_t token = value.token;
  return SkipChecked(*value.doc, token, fault, 1) || Fault(fault);
}

bool DebeziumReader::Read(const Record& record) {
  x_image = {};
  JsonFault fault;
  const Unwrapped value = UnwrapSchema(record.value, fault);
  if (fault.why != nullptr) return Fault(fault);
  if (!value.payload || value.payload.kind() == JsonKind::kNull) {
    return Skip(record.value) && ReadNull(record);
  }
  return ReadEnvelope(record, value);
}

bool DebeziumReader::ReadMembers(JsonRef payload, Envelope& envelope) {
  Stop& stop = x_builder.stop();
  JsonFault fault;
  Members members(*payload.doc, payload.token, fault);
  while (members.Next()) {
    const std::string_view name = members.name();
    const JsonRef value{payload.doc, members.value()};
    ++envelope.members;
    JsonRef* const into = name == "op"             ? &envelope.op
                          : name == "after"        ? &envelope.after
                          : name == "before"       ? &envelope.before
                          : name == "source"       ? &envelope.source
                          : name == "status"       ? &envelope.status
                          : name == "id"           ? &envelope.id
                          : name == "ddl"          ? &envelope.ddl
                          : name == "tableChanges" ? &envelope.table_changes
                                                   : nullptr;
    uint32_t behind = value.token;
    if (into == nullptr) {
      envelope.only_clocks &= name == "ts_ms" || name == "ts_us" || name == "ts_ns";
      if (!SkipChecked(*payload.doc, behind, fault, 1)) return Fault(fault);
    } else {
      if (*into) {
        return stop.Fail(ErrorKind::kBadJson,
                         Message("`{}` is twice in one envelope; fix the source", name));
      }
      *into = value;
      envelope.only_clocks = false;
      behind = SkipUnchecked(*payload.doc, behind);
    }
    members.Done(behind);
  }
  return members.ok() || Fault(fault);
}

bool DebeziumReader::ReadEnvelope(const Record& record, const Unwrapped& value) {
  Stop& stop = x_builder.stop();
  if (value.payload.kind() != JsonKind::kObject) {
    return Skip(record.value) &&
           stop.Fail(ErrorKind::kBadEnvelope,
                     Message("{} where a Debezium envelope is expected; check `format`",
                             NameOf(value.payload.kind())));
  }
  Envelope envelope;
  if (!ReadMembers(value.payload, envelope)) return false;
  std::string_view op;
  JsonFault fault;
  if (envelope.op.kind() == JsonKind::kString) {
    if (!ReadString(*envelope.op.doc, envelope.op.token, x_scratch[0], op, fault)) {
      return Fault(fault);
    }
  }
  if (op == "c" || op == "u" || op == "d" || op == "r" || op == "t") {
    return ReadChange(record, value, envelope, op);
  }
  // From here on nothing is decoded; it still has to be JSON.
  for (const JsonRef part : {envelope.op, envelope.before, envelope.after, envelope.source,
                             envelope.status, envelope.id, envelope.ddl, envelope.table_changes}) {
    if (!Skip(part)) return false;
  }
  if (op == "m") return true;
  if (!op.empty()) {
    return stop.Fail(ErrorKind::kUnsupportedOp,
                     Message("op `{}` is none of c, u, d, r, t, m; filter such events at the "
                             "source",
                             op));
  }
  const bool has_rows = envelope.before || envelope.after;
  const bool is_transaction = envelope.status && envelope.id && !envelope.source;
  const bool is_schema_change = envelope.ddl || envelope.table_changes;
  const bool is_heartbeat = envelope.members > 0 && envelope.only_clocks;
  if (!envelope.op && !has_rows && (is_transaction || is_schema_change || is_heartbeat)) {
    return true;
  }
  return stop.Fail(ErrorKind::kBadEnvelope,
                   "the record has no op, and is no heartbeat, transaction marker or schema "
                   "change; check `format` and the transforms of the source (records that were "
                   "unwrapped by ExtractNewRecordState have none)");
}

namespace {

bool ReadUint(const JsonDoc& doc, uint32_t token, std::optional<uint64_t>& out) {
  std::string_view raw;
  const JsonKind kind = KindOf(doc, token);
  if (kind != JsonKind::kNumber && kind != JsonKind::kString) return true;
  raw = doc.Scalar(token);
  if (kind == JsonKind::kString) raw = raw.substr(1, raw.size() - 2);
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (!raw.empty() && status == std::errc() && end == raw.data() + raw.size()) out = value;
  return true;
}

}  // namespace

bool DebeziumReader::ReadSource(JsonRef block, Source& source) {
  source.block = block;
  const JsonDoc& doc = *block.doc;
  SourcePosition& position = source.position;
  JsonFault fault;
  Members members(doc, block.token, fault);
  while (members.Next()) {
    const std::string_view name = members.name();
    const uint32_t token = members.value();
    uint32_t behind = token;
    std::string_view* text = nullptr;
    uint32_t scratch = 0;
    switch (name.size()) {
      case 2:
        if (name == "db") text = &source.db, scratch = 1;
        break;
      case 3:
        if (name == "lsn") ReadUint(doc, token, position.lsn);
        if (name == "pos") ReadUint(doc, token, position.pos);
        if (name == "row") ReadUint(doc, token, position.row);
        break;
      case 4:
        if (name == "file") text = &position.file, scratch = 2;
        break;
      case 5:
        if (name == "table") text = &source.table, scratch = 3;
        break;
      case 6:
        if (name == "schema") text = &source.schema, scratch = 4;
        break;
      case 8:
        if (name == "snapshot") text = &position.snapshot, scratch = 5;
        if (name == "sequence" && KindOf(doc, token) == JsonKind::kString) {
          // Its quotes are escaped; VersionOf reads it as it is.
          position.sequence = doc.Scalar(token);
          position.sequence = position.sequence.substr(1, position.sequence.size() - 2);
        } else if (name == "sequence" && KindOf(doc, token) == JsonKind::kList) {
          position.sequence = RawText(doc, token, SkipUnchecked(doc, token));
        }
        break;
      case 9:
        if (name == "connector") text = &position.connector, scratch = 6;
        break;
      case 10:
        if (name == "commit_lsn") text = &position.commit_lsn, scratch = 7;
        if (name == "change_lsn") text = &position.change_lsn, scratch = 8;
        break;
      case 15:
        if (name == "event_serial_no") ReadUint(doc, token, position.event_serial_no);
        break;
      default:
        break;
    }
    if (text != nullptr && KindOf(doc, token) == JsonKind::kString) {
      if (!ReadString(doc, token, x_scratch[scratch], *text, fault)) return Fault(fault);
      ++behind;
    } else if (!SkipChecked(doc, behind, fault, 2)) {
      return Fault(fault);
    }
    members.Done(behind);
  }
  return members.ok() || Fault(fault);
}

TablePlan* DebeziumReader::Route(const Record& record, const Source& source) {
  const std::string_view schema = source.schema.empty() ? source.db : source.schema;
  uint32_t table = kNone;
  if (source.table.empty()) {
    table = x_router.ByTopic(record.topic);
  } else {
    table = x_router.ByTable(schema, source.table, record.topic);
  }
  if (table != kNone) return &x_builder.plan(table);
  std::string name(source.table.empty() ? record.topic : source.table);
  if (!source.table.empty() && !schema.empty()) name = Message("{}.{}", schema, source.table);
  if (name.empty()) {
    x_builder.stop().Fail(ErrorKind::kUnroutedTable,
                          "the record names no table and no topic, and several tables are "
                          "declared; add the topic to the records");
  } else {
    x_builder.stop().Fail(
        ErrorKind::kUnroutedTable,
        Message("no table takes `{}`; add it under `source` of a table, or filter it at the source",
                name));
  }
  return nullptr;
}

bool DebeziumReader::ReadChange(const Record& record, const Unwrapped& value,
                                const Envelope& envelope, std::string_view op) {
  Stop& stop = x_builder.stop();
  const bool is_delete = op == "d", is_truncate = op == "t";
  for (const JsonRef part : {envelope.status, envelope.id, envelope.ddl, envelope.table_changes}) {
    if (!Skip(part)) return false;
  }
  Source source;
  if (envelope.source.kind() == JsonKind::kObject) {
    if (!ReadSource(envelope.source, source)) return false;
  } else if (!Skip(envelope.source)) {
    return false;
  } else {
    return stop.Fail(ErrorKind::kBadEnvelope,
                     Message("the event has op `{}` and no source block, so neither its table nor "
                             "its place in the log is known; keep `source` at the source's "
                             "transforms",
                             op));
  }
  const JsonRef row = is_delete ? envelope.before : envelope.after;
  const JsonRef other = is_delete ? envelope.after : envelope.before;
  x_image = row.kind() == JsonKind::kObject ? row : JsonRef{};
  for (const JsonRef image : {row, other}) {
    if (image.kind() == JsonKind::kObject || image.kind() == JsonKind::kNull) continue;
    return Skip(image) && stop.Fail(ErrorKind::kBadEnvelope,
                                    Message("{} where a row is expected", NameOf(image.kind())));
  }
  TablePlan* const plan = Route(record, source);
  if (plan == nullptr) return Skip(row) && Skip(other) && false;
  x_builder.Enter(*plan);
  // A truncate has neither key nor columns.
  if (is_truncate) {
    if (!Skip(value.schema)) return false;
  } else if (!x_builder.NameKey(*plan, record) ||
             (value.schema && !BindWrapper(*plan, value.schema))) {
    return false;
  }

  const Rank rank = op == "r"                  ? Rank::kSnapshotRead
                    : is_delete || is_truncate ? Rank::kDelete
                                               : Rank::kUpsert;
  const EventVersion event = VersionOf(source.position, rank);
  ChangeMeta meta;
  meta.version = event.version;
  meta.flags = event.flags;
  meta.has_version = event.missing == nullptr;
  meta.source = source.block;
  if (value.schema && !is_truncate) meta.fields = &plan->wrapper_fields;
  if (plan->spec.several_sources()) {
    const std::string_view schema = source.schema.empty() ? source.db : source.schema;
    x_origin = schema.empty() ? std::string(source.table) : Message("{}.{}", schema, source.table);
    meta.origin = x_origin;
  }
  if (event.missing != nullptr && plan->spec.sequence_columns.empty()) {
    return stop.Fail(ErrorKind::kNoVersion,
                     Message("the event's source block lacks {}, so the change has no version; "
                             "declare sequence_columns for table `{}`",
                             event.missing, plan->spec.name));
  }
  if (is_truncate) {
    return Skip(row) && Skip(other) && x_builder.Truncate(*plan, record, meta);
  }
  if (is_delete) {
    if (!Skip(other) || !x_builder.Delete(*plan, record, row, meta)) return false;
    Remember(record, true);
    return true;
  }
  if (row.kind() != JsonKind::kObject) {
    return stop.Fail(ErrorKind::kBadEnvelope,
                     Message("the event has op `{}` and no row in `after`", op));
  }
  const bool may_move = op == "u";
  if (!may_move && !Skip(other)) return false;
  if (!x_builder.Upsert(*plan, record, row, may_move ? other : JsonRef{}, meta,
                        WithRank(event.version, Rank::kDelete))) {
    return false;
  }
  Remember(record, false);
  return true;
}

void DebeziumReader::Remember(const Record& record, bool was_delete) {
  if (x_previous.size() <= record.input) x_previous.resize(record.input + 1);
  Previous& previous = x_previous[record.input];
  previous.known = true;
  previous.was_delete = was_delete;
  // Only a delete is asked for its key.
  if (!was_delete) return;
  if (record.key) {
    previous.key = RawText(*record.key.doc, record.key.token,
                           SkipUnchecked(*record.key.doc, record.key.token));
  } else {
    previous.key = record.key_text;
  }
}

bool DebeziumReader::ReadNull(const Record& record) {
  const uint32_t table = x_router.ByTopic(record.topic);
  TablePlan* const plan = table == kNone ? Route(record, Source{}) : &x_builder.plan(table);
  if (plan == nullptr) return false;
  ChangeMeta meta;
  meta.flags = kNullValue;
  meta.has_version = false;
  if (plan->spec.several_sources() && !record.topic.empty()) {
    const size_t last = record.topic.rfind('.');
    const size_t second = last == std::string_view::npos || last == 0
                              ? std::string_view::npos
                              : record.topic.rfind('.', last - 1);
    x_origin = record.topic.substr(second == std::string_view::npos ? 0 : second + 1);
    meta.origin = x_origin;
  }
  if (x_builder.Delete(*plan, record, JsonRef{}, meta)) {
    Remember(record, true);
    return true;
  }
  // The key of some tables is not in the record key. Then the record can only be the one that
  // Debezium sends behind each delete, if it follows one; at the start of a call that is not known,
  // and a stop there would come back after each restart.
  const Stop& stop = x_builder.stop();
  if (!stop.error || stop.error->kind != ErrorKind::kMissingKey) return false;
  const std::string_view key = record.key
                                   ? RawText(*record.key.doc, record.key.token,
                                             SkipUnchecked(*record.key.doc, record.key.token))
                                   : record.key_text;
  const Previous previous =
      record.input < x_previous.size() ? x_previous[record.input] : Previous{};
  if (previous.known && !(previous.was_delete && previous.key == key)) return false;
  x_builder.RollBack();
  x_builder.StartRecord();
  return true;
}

bool DebeziumReader::BindWrapper(TablePlan& plan, JsonRef schema) {
  const std::string_view text =
      RawText(*schema.doc, schema.token, SkipUnchecked(*schema.doc, schema.token));
  const uint64_t hash = Hash64(text);
  if (plan.wrapper_bound && plan.wrapper_hash == hash) return true;
  Stop& stop = x_builder.stop();
  JsonFault fault;
  uint32_t token = schema.token;
  plan.wrapper_bound = false;
  if (!ReadEnvelopeSchema(*schema.doc, token, plan.wrapper_fields, fault)) return Fault(fault);
  Result<std::optional<Schema>> bound = BindFields(plan);
  if (!bound.ok()) {
    stop.error = std::move(bound.error());
    return false;
  }
  if (*bound) return stop.Request(std::move(**bound));
  plan.wrapper_hash = hash;
  plan.wrapper_bound = true;
  return true;
}

}  // namespace lastword::codec
