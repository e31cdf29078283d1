#include "codec/debezium/envelope.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "codec/connect_schema.h"
#include "codec/schema_discovery.h"

namespace lastword::codec {
namespace {

// Events of a few tables, with and without `before`, inserts and deletes. Each that does not match
// costs a comparison.
constexpr size_t kShapesMax = 16;

}  // namespace

void DebeziumReader::Start() {
  x_previous.clear();
}

bool DebeziumReader::Fault(const JsonFault& fault) {
  return x_builder.stop().Fail(ErrorKind::kBadJson,
                               fault.why == nullptr ? "the record is no JSON" : fault.why);
}

bool DebeziumReader::Skip(const Image& image) {
  const JsonRef value = image.value;
  if (!value || image.members != nullptr) return true;
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

bool DebeziumReader::ReadMembers(JsonRef payload, Envelope& envelope, SourceBlock& source) {
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
        if (!x_source.Read(envelope[part], source, behind, x_builder.stop())) return false;
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
  SourceBlock source;
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

TablePlan* DebeziumReader::Route(const Record& record, const SourceBlock& source) {
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
                                const Envelope& envelope, const SourceBlock& source,
                                std::string_view op) {
  if (!ReadBlocks(envelope, op)) return false;
  const bool is_delete = op == "d";
  const JsonRef row = is_delete ? envelope[kBefore] : envelope[kAfter];
  const JsonRef other = is_delete ? envelope[kAfter] : envelope[kBefore];
  if (row.kind() == JsonKind::kObject) x_image = row;
  TablePlan* const plan = Route(record, source);
  if (plan == nullptr) return Skip(row) && Skip(other) && false;
  x_builder.Enter(*plan);
  // A truncate has neither key nor columns.
  if (op == "t" ? !Skip(value.schema)
                : !x_builder.NameKey(*plan, record) ||
                      (value.schema && !BindWrapper(*plan, value.schema))) {
    return false;
  }
  return Append(*plan, record, source, op, row, other, static_cast<bool>(value.schema));
}

bool DebeziumReader::Append(TablePlan& plan, const Record& record, const SourceBlock& source,
                            std::string_view op, const Image& row, const Image& other,
                            bool wrapped) {
  const bool is_delete = op == "d", is_truncate = op == "t";
  const Rank rank = op == "r"                  ? Rank::kSnapshotRead
                    : is_delete || is_truncate ? Rank::kDelete
                                               : Rank::kUpsert;
  ChangeMeta meta;
  if (!PlaceInLog(plan, source, rank, meta)) return false;
  if (is_truncate) {
    return Skip(row) && Skip(other) && x_builder.Truncate(plan, record, meta);
  }
  if (wrapped) meta.fields = &plan.wrapper_fields;
  if (is_delete) {
    if (!Skip(other) || !x_builder.Delete(plan, record, row, meta)) return false;
  } else {
    if (row.kind() != JsonKind::kObject) {
      return x_builder.stop().Fail(ErrorKind::kBadEnvelope,
                                   Message("the event has op `{}` and no row in `after`", op));
    }
    const bool may_move = op == "u";
    if (!may_move && !Skip(other)) return false;
    if (!x_builder.Upsert(plan, record, row, may_move ? other : Image{}, meta,
                          WithRank(meta.version, Rank::kDelete))) {
      return false;
    }
  }
  Remember(record, is_delete);
  return true;
}

size_t DebeziumReader::ReadLike(std::string_view text, const Record& record) {
  for (size_t i = 0; i < x_shapes.size(); ++i) {
    const size_t size = x_shapes[i]->Match(text, x_shape_tokens);
    if (size == 0) continue;
    JsonDoc doc;
    doc.text = text.data();
    doc.tokens = x_shape_tokens.data();
    doc.end = static_cast<uint32_t>(x_shape_tokens.size());
    doc.text_end = static_cast<uint32_t>(size);
    if (!ReadShaped(*x_shapes[i], doc, record)) return 0;
    std::rotate(x_shapes.begin(), x_shapes.begin() + i, x_shapes.begin() + i + 1);
    return size;
  }
  return 0;
}

bool DebeziumReader::ReadShaped(const EventShape& shape, const JsonDoc& doc, const Record& record) {
  TablePlan& plan = x_builder.plan(shape.table());
  if (record.topic != shape.topic()) return false;
  if (shape.wrapper_hash() && !(plan.wrapper_bound && plan.wrapper_hash == *shape.wrapper_hash())) {
    return false;
  }
  const std::string_view quoted_op = doc.Scalar(shape.op_token());
  if (quoted_op.size() != 3 || quoted_op[0] != '"') return false;
  const std::string_view op = quoted_op.substr(1, 1);
  if (shape.is_delete() ? op != "d" : op != "c" && op != "u" && op != "r") return false;
  SourceBlock source = shape.source();
  source.position.sequence = shape.SequenceOf(doc);
  JsonFault fault;
  for (const auto& [field, token] : shape.fields()) {
    if (!x_source.Take(field, doc, token, token + 1, source, fault)) return false;
  }
  x_builder.StartRecord();
  x_builder.Enter(plan);
  if (Append(plan, record, source, op, shape.RowOf(doc), shape.OtherOf(doc),
             shape.wrapper_hash().has_value())) {
    return true;
  }
  x_builder.RollBack();
  return false;
}

void DebeziumReader::Learn(std::string_view line, const Record& record) {
  if (x_builder.table() == kNone || !record.value) return;
  JsonFault fault;
  DecodedEvent event;
  event.line = line;
  event.value = UnwrapSchema(record.value, fault);
  event.topic = record.topic;
  Envelope envelope;
  if (event.value.payload.kind() != JsonKind::kObject ||
      !ReadMembers(event.value.payload, envelope, event.source)) {
    return;
  }
  event.op = envelope[kOp];
  event.before = envelope[kBefore];
  event.after = envelope[kAfter];
  const std::string_view op = event.op ? event.op.doc->Scalar(event.op.token) : "";
  event.is_delete = op == R"("d")";
  if (!event.is_delete && op != R"("c")" && op != R"("u")" && op != R"("r")") return;
  std::unique_ptr<EventShape> shape = EventShape::Of(event, x_builder.plan(x_builder.table()));
  if (shape == nullptr) return;
  if (x_shapes.size() == kShapesMax) x_shapes.pop_back();
  x_shapes.insert(x_shapes.begin(), std::move(shape));
}

bool DebeziumReader::PlaceInLog(const TablePlan& plan, const SourceBlock& source, Rank rank,
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
  TablePlan* const plan = table == kNone ? Route(record, SourceBlock{}) : &x_builder.plan(table);
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
