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

DebeziumReader::Part DebeziumReader::PartOf(std::string_view name) {
  static constexpr std::string_view kNames[] = {"op",     "after", "before", "source",
                                                "status", "id",    "ddl",    "tableChanges"};
  for (uint32_t part = 0; part < kClock; ++part) {
    if (kNames[part] == name) return static_cast<Part>(part);
  }
  return name == "ts_ms" || name == "ts_us" || name == "ts_ns" ? kClock : kOther;
}

bool DebeziumReader::ReadMembers(JsonRef payload, Envelope& envelope, Source& source) {
  JsonFault fault;
  Members members(*payload.doc, payload.token, fault);
  uint32_t meaning = kOther;
  while (x_envelope_names.Next(envelope.members, members, &PartOf, meaning)) {
    const auto part = static_cast<Part>(meaning);
    ++envelope.members;
    envelope.only_clocks &= part == kClock;
    uint32_t behind = members.value();
    if (part >= kClock) {
      if (!SkipChecked(*payload.doc, behind, fault, 1)) return Fault(fault);
    } else {
      if (envelope[part]) {
        return x_builder.stop().Fail(
            ErrorKind::kBadJson,
            Message("`{}` is twice in one envelope; fix the source", members.name()));
      }
      envelope[part] = JsonRef{payload.doc, members.value()};
      if (part == kSource && envelope[part].kind() == JsonKind::kObject) {
        if (!ReadSource(envelope[part], source, behind)) return false;
      } else {
        behind = SkipUnchecked(*payload.doc, behind);
      }
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
  Source source;
  if (!ReadMembers(value.payload, envelope, source)) return false;
  std::string_view op;
  JsonFault fault;
  if (envelope[kOp].kind() == JsonKind::kString) {
    if (!ReadString(*envelope[kOp].doc, envelope[kOp].token, x_op, op, fault)) {
      return Fault(fault);
    }
  }
  if (op == "c" || op == "u" || op == "d" || op == "r" || op == "t") {
    return ReadChange(record, value, envelope, source, op);
  }
  // From here on nothing is decoded; it still has to be JSON.
  for (const JsonRef part : envelope.parts) {
    if (!Skip(part)) return false;
  }
  if (op == "m") return true;
  if (!op.empty()) {
    return stop.Fail(ErrorKind::kUnsupportedOp,
                     Message("op `{}` is none of c, u, d, r, t, m; filter such events at the "
                             "source",
                             op));
  }
  const bool has_rows = envelope[kBefore] || envelope[kAfter];
  const bool is_transaction = envelope[kStatus] && envelope[kId] && !envelope[kSource];
  const bool is_schema_change = envelope[kDdl] || envelope[kTableChanges];
  const bool is_heartbeat = envelope.members > 0 && envelope.only_clocks;
  if (!envelope[kOp] && !has_rows && (is_transaction || is_schema_change || is_heartbeat)) {
    return true;
  }
  return stop.Fail(ErrorKind::kBadEnvelope,
                   "the record has no op, and is no heartbeat, transaction marker or schema "
                   "change; check `format` and the transforms of the source (records that were "
                   "unwrapped by ExtractNewRecordState have none)");
}

namespace {

/// What is read of a source block.
enum Field : uint32_t {
  kDb,
  kSchema,
  kTable,
  kConnector,
  kSnapshot,
  kFile,
  kCommitLsn,
  kChangeLsn,
  kSequence,
  kLsn,
  kPos,
  kRow,
  kEventSerialNo,
  kNoField
};
constexpr std::string_view kFieldNames[] = {
    "db",         "schema",   "table", "connector", "snapshot", "file",           "commit_lsn",
    "change_lsn", "sequence", "lsn",   "pos",       "row",      "event_serial_no"};

Field FieldOf(std::string_view name) {
  for (uint32_t field = 0; field < kNoField; ++field) {
    if (kFieldNames[field] == name) return static_cast<Field>(field);
  }
  return kNoField;
}

/// Reads a whole number, quoted or not; anything else is not said.
void ReadUint(const JsonDoc& doc, uint32_t token, std::optional<uint64_t>& out) {
  const JsonKind kind = KindOf(doc, token);
  if (kind != JsonKind::kNumber && kind != JsonKind::kString) return;
  std::string_view raw = doc.Scalar(token);
  if (kind == JsonKind::kString) raw = raw.substr(1, raw.size() - 2);
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (!raw.empty() && status == std::errc() && end == raw.data() + raw.size()) out = value;
}

}  // namespace

bool DebeziumReader::ReadSource(JsonRef block, Source& source, uint32_t& behind_block) {
  source.block = block;
  const JsonDoc& doc = *block.doc;
  SourcePosition& position = source.position;
  std::string_view* const texts[] = {&source.db,           &source.schema,      &source.table,
                                     &position.connector,  &position.snapshot,  &position.file,
                                     &position.commit_lsn, &position.change_lsn};
  std::optional<uint64_t>* const numbers[] = {&position.lsn, &position.pos, &position.row,
                                              &position.event_serial_no};
  uint32_t seen = 0;
  size_t position_in_block = 0;
  JsonFault fault;
  Members members(doc, block.token, fault);
  uint32_t meaning = kNoField;
  while (x_source_names.Next(position_in_block++, members, &FieldOf, meaning)) {
    const uint32_t token = members.value();
    const auto field = static_cast<Field>(meaning);
    uint32_t behind = token;
    if (field != kNoField) {
      if ((seen >> field & 1) != 0) {
        return x_builder.stop().Fail(
            ErrorKind::kBadJson,
            Message("`source.{}` is twice in one event; fix the source", kFieldNames[field]));
      }
      seen |= 1u << field;
    }
    if (field < kSequence && KindOf(doc, token) == JsonKind::kString) {
      if (!ReadString(doc, token, x_scratch[field], *texts[field], fault)) return Fault(fault);
      members.Done(token + 1);
      continue;
    }
    if (!SkipChecked(doc, behind, fault, 2)) return Fault(fault);
    if (field == kSequence) {
      // VersionOf reads it as it is, with the quotes inside it escaped. What is neither a text nor
      // a list stays as it is written, and is not understood there.
      const JsonKind kind = KindOf(doc, token);
      if (kind != JsonKind::kNull) position.sequence = RawText(doc, token, behind);
      if (kind == JsonKind::kString && position.sequence.size() > 2) {
        position.sequence = position.sequence.substr(1, position.sequence.size() - 2);
      }
    } else if (field > kSequence && field != kNoField) {
      ReadUint(doc, token, *numbers[field - kLsn]);
    }
    members.Done(behind);
  }
  behind_block = members.end();
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

bool DebeziumReader::ReadBlocks(const Envelope& envelope, std::string_view op) {
  for (const JsonRef part :
       {envelope[kStatus], envelope[kId], envelope[kDdl], envelope[kTableChanges]}) {
    if (!Skip(part)) return false;
  }
  for (const JsonRef image : {envelope[kBefore], envelope[kAfter]}) {
    if (image.kind() == JsonKind::kObject) continue;
    if (!Skip(image)) return false;
    if (image.kind() == JsonKind::kNull) continue;
    return x_builder.stop().Fail(ErrorKind::kBadEnvelope,
                                 Message("{} where a row is expected", NameOf(image.kind())));
  }
  if (envelope[kSource].kind() == JsonKind::kObject) return true;
  return Skip(envelope[kSource]) &&
         x_builder.stop().Fail(
             ErrorKind::kBadEnvelope,
             Message("the event has op `{}` and no source block, so neither its table nor its "
                     "place in the log is known; keep `source` at the source's transforms",
                     op));
}

bool DebeziumReader::ReadChange(const Record& record, const Unwrapped& value,
                                const Envelope& envelope, const Source& source,
                                std::string_view op) {
  if (!ReadBlocks(envelope, op)) return false;
  const bool is_delete = op == "d", is_truncate = op == "t";
  const JsonRef row = is_delete ? envelope[kBefore] : envelope[kAfter];
  const JsonRef other = is_delete ? envelope[kAfter] : envelope[kBefore];
  if (row.kind() == JsonKind::kObject) x_image = row;
  TablePlan* const plan = Route(record, source);
  if (plan == nullptr) return Skip(row) && Skip(other) && false;
  x_builder.Enter(*plan);
  // A truncate has neither key nor columns.
  if (is_truncate ? !Skip(value.schema)
                  : !x_builder.NameKey(*plan, record) ||
                        (value.schema && !BindWrapper(*plan, value.schema))) {
    return false;
  }
  const Rank rank = op == "r"                  ? Rank::kSnapshotRead
                    : is_delete || is_truncate ? Rank::kDelete
                                               : Rank::kUpsert;
  ChangeMeta meta;
  if (!PlaceInLog(*plan, source, rank, meta)) return false;
  if (value.schema && !is_truncate) meta.fields = &plan->wrapper_fields;
  if (is_truncate) {
    return Skip(row) && Skip(other) && x_builder.Truncate(*plan, record, meta);
  }
  if (is_delete) {
    if (!Skip(other) || !x_builder.Delete(*plan, record, row, meta)) return false;
  } else {
    if (!row || row.kind() != JsonKind::kObject) {
      return x_builder.stop().Fail(ErrorKind::kBadEnvelope,
                                   Message("the event has op `{}` and no row in `after`", op));
    }
    const bool may_move = op == "u";
    if (!may_move && !Skip(other)) return false;
    if (!x_builder.Upsert(*plan, record, row, may_move ? other : JsonRef{}, meta,
                          WithRank(meta.version, Rank::kDelete))) {
      return false;
    }
  }
  Remember(record, is_delete);
  return true;
}

bool DebeziumReader::PlaceInLog(const TablePlan& plan, const Source& source, Rank rank,
                                ChangeMeta& meta) {
  const EventVersion event = VersionOf(source.position, rank);
  meta.version = event.version;
  meta.flags = event.flags;
  meta.has_version = event.missing == nullptr;
  meta.source = source.block;
  meta.with_schemas = !source.schema.empty();
  return meta.has_version || !plan.spec.sequence_columns.empty() ||
         x_builder.stop().Fail(
             ErrorKind::kNoVersion,
             Message("the event's source block lacks {}, so the change has no version; declare "
                     "sequence_columns for table `{}`",
                     event.missing, plan.spec.name));
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
