#include "codec/sequenced/sequenced.h"

#include <charconv>

#include "base/format.h"
#include "model/ordered.h"

namespace lastword::codec {

bool SequencedReader::ReadLine(const Record& record, Line& line) {
  Stop& stop = x_builder.stop();
  JsonFault fault;
  if (record.value.kind() != JsonKind::kObject) {
    uint32_t token = record.value.token;
    if (record.value && !SkipChecked(*record.value.doc, token, fault)) {
      return stop.Fail(ErrorKind::kBadJson, fault.why);
    }
    return stop.Fail(ErrorKind::kBadEnvelope,
                     Message("{} where {{\"seq\", \"key\", \"op\", \"value\"}} is expected; check "
                             "`format`",
                             NameOf(record.value.kind())));
  }
  const JsonDoc& doc = *record.value.doc;
  Members members(doc, record.value.token, fault);
  while (members.Next()) {
    const std::string_view name = members.name();
    JsonRef* const into = name == "seq"     ? &line.seq
                          : name == "key"   ? &line.key
                          : name == "op"    ? &line.op
                          : name == "value" ? &line.value
                                            : nullptr;
    if (into != nullptr && *into) {
      const ErrorKind kind = name == "key" ? ErrorKind::kAmbiguousKey : ErrorKind::kBadJson;
      return stop.Fail(kind, Message("`{}` is twice in one record; fix the source", name));
    }
    uint32_t behind = members.value();
    if (into != nullptr) *into = JsonRef{&doc, behind};
    if (!SkipChecked(doc, behind, fault, 1)) break;
    members.Done(behind);
  }
  return fault.why == nullptr || stop.Fail(ErrorKind::kBadJson, fault.why);
}

bool SequencedReader::ReadSeq(const Line& line, Version& version) {
  Stop& stop = x_builder.stop();
  if (line.seq.kind() == JsonKind::kNull) {
    return stop.Fail(ErrorKind::kNoVersion,
                     "the record has no `seq`, so it has no version; number the changes of each "
                     "key at the source");
  }
  const std::string_view raw = line.seq.doc->Scalar(line.seq.token);
  int64_t seq = 0;
  const auto [end, status] = std::from_chars(raw.data(), raw.data() + raw.size(), seq);
  if (status == std::errc::result_out_of_range) {
    return stop.Fail(ErrorKind::kOutOfRange, "`seq` is beyond a signed 64-bit integer");
  }
  if (status != std::errc() || end != raw.data() + raw.size()) {
    return stop.Fail(
        ErrorKind::kTypeMismatch,
        Message("`seq` is {}, and a version is a whole number", NameOf(line.seq.kind())));
  }
  version.hi = OrderedFromSigned(seq);
  return true;
}

bool SequencedReader::MakeImage(const TablePlan& plan, const Line& line, bool with_value) {
  const JsonDoc& doc = *line.key.doc;
  const auto text = [&](JsonRef value) {
    return RawText(doc, value.token, SkipUnchecked(doc, value.token));
  };
  x_text = "{\"key\":";
  x_text += text(line.key);
  if (with_value && line.value) {
    const uint32_t column = plan.FindByName("value");
    const bool whole =
        line.value.kind() != JsonKind::kObject ||
        (column != kNone && plan.schema.columns[column].type.kind == TypeKind::kJson);
    if (whole) {
      x_text += ",\"value\":";
      x_text += text(line.value);
    } else if (const std::string_view fields = text(line.value);
               doc.At(line.value.token + 1) != '}') {
      x_text += ',';
      x_text += fields.substr(1, fields.size() - 2);
    }
  }
  x_text += '}';
  if (!x_index.Index(x_text)) return false;
  x_image = JsonRef{&x_index.doc(), 0};
  return true;
}

bool SequencedReader::Read(const Record& record) {
  Stop& stop = x_builder.stop();
  x_image = {};
  Line line;
  if (!ReadLine(record, line)) return false;
  JsonFault fault;
  std::string_view op;
  if (line.op.kind() == JsonKind::kString &&
      !ReadString(*line.op.doc, line.op.token, x_scratch, op, fault)) {
    return stop.Fail(ErrorKind::kBadJson, fault.why);
  }
  const bool is_upsert = op == "upsert", is_delete = op == "delete";
  if (!is_upsert && !is_delete) {
    return stop.Fail(ErrorKind::kInvalidOperation,
                     Message("op `{}` is neither upsert nor delete", op));
  }
  if (is_delete && line.value.kind() != JsonKind::kNull) {
    return stop.Fail(ErrorKind::kInvalidOperation,
                     "a delete carries a value; a delete has none, or null");
  }
  ChangeMeta meta;
  if (!ReadSeq(line, meta.version)) return false;
  switch (line.key.kind()) {
    case JsonKind::kObject:
    case JsonKind::kList:
      return stop.Fail(
          ErrorKind::kTypeMismatch,
          Message("the key is {}; a key is a text, a number or a bool", NameOf(line.key.kind())),
          "key");
    case JsonKind::kNull:
      if (!line.key) {
        return stop.Fail(ErrorKind::kMissingKey, "the record has no `key`", "key");
      }
      break;
    default:
      break;
  }
  const uint32_t table = x_router.ByTopic(record.topic);
  if (table == kNone) {
    return stop.Fail(
        ErrorKind::kUnroutedTable,
        record.topic.empty()
            ? std::string("a sequenced record names no table, and several are "
                          "declared; apply it to one table")
            : Message("no table takes topic `{}`; add it under `source` of a table", record.topic));
  }
  TablePlan& plan = x_builder.plan(table);
  if (plan.key_names.empty()) plan.key_names.emplace_back("key");
  if (!MakeImage(plan, line, is_upsert)) {
    return stop.Fail(ErrorKind::kInternal, "an image of a sequenced record is no JSON");
  }
  // The image names the key; the record's own key would be read as a second one.
  Record bare = record;
  bare.key = {};
  bare.key_text = {};
  return is_upsert ? x_builder.Upsert(plan, bare, x_image, JsonRef{}, meta, Version{})
                   : x_builder.Delete(plan, bare, x_image, meta);
}

}  // namespace lastword::codec
