#include "codec/records/record_line.h"

#include <charconv>

#include "base/format.h"

namespace lastword::codec {
namespace {

bool Fault(const JsonFault& fault, Stop& stop) {
  return stop.Fail(ErrorKind::kBadJson, fault.why);
}

bool Once(bool& seen, std::string_view name, Stop& stop) {
  if (!seen) return seen = true;
  return stop.Fail(ErrorKind::kBadJson,
                   Message("`{}` is twice in one record; a record has one of it", name));
}

}  // namespace

bool RecordLineReader::Read(const JsonDoc& line, Record& out, bool& has_topic, Stop& stop) {
  x_has_topic = x_has_partition = x_has_offset = x_has_key = x_has_value = false;
  if (KindOf(line, line.begin) != JsonKind::kObject) {
    JsonFault fault;
    uint32_t token = line.begin;
    if (!SkipChecked(line, token, fault)) return Fault(fault, stop);
    return stop.Fail(ErrorKind::kBadEnvelope,
                     Message("{} where a record with partition, offset, key and value is expected; "
                             "check `format`",
                             NameOf(KindOf(line, line.begin))));
  }
  JsonFault fault;
  Members members(line, line.begin, fault);
  while (members.Next()) {
    const uint32_t token = members.value();
    if (!TakeMember(line, members.name(), token, out, stop)) return false;
    const bool is_value = members.name() == "value" || members.name() == "payload";
    uint32_t behind = token;
    // The value is checked by whoever decodes it.
    if (is_value && KindOf(line, token) == JsonKind::kObject) {
      behind = SkipUnchecked(line, token);
    } else if (!SkipChecked(line, behind, fault, 1)) {
      return Fault(fault, stop);
    }
    members.Done(behind);
  }
  if (!members.ok()) return Fault(fault, stop);
  has_topic = x_has_topic;
  const char* const missing = !x_has_partition ? "partition"
                              : !x_has_offset  ? "offset"
                              : !x_has_value   ? "value"
                                               : nullptr;
  if (missing == nullptr) return true;
  return stop.Fail(ErrorKind::kBadEnvelope,
                   Message("the record has no `{}`; check `format` (a file of bare events is "
                           "`debezium`), or dump with kcat -J",
                           missing));
}

bool RecordLineReader::TakeMember(const JsonDoc& line, std::string_view name, uint32_t token,
                                  Record& out, Stop& stop) {
  if (name == "value" || name == "payload") {
    return Once(x_has_value, name, stop) && TakeValue(line, token, out, stop);
  }
  if (name == "key") return Once(x_has_key, name, stop) && TakeKey(line, token, out, stop);
  if (name == "partition") {
    uint64_t partition = 0;
    if (!Once(x_has_partition, name, stop) ||
        !TakeNumber(line, name, token, INT32_MAX, partition, stop)) {
      return false;
    }
    out.partition = static_cast<int32_t>(partition);
    return true;
  }
  if (name == "offset") {
    return Once(x_has_offset, name, stop) &&
           TakeNumber(line, name, token, INT64_MAX, out.offset, stop);
  }
  if (name == "headers") {
    const JsonKind kind = KindOf(line, token);
    if (kind == JsonKind::kObject || kind == JsonKind::kList) out.headers = JsonRef{&line, token};
    return true;
  }
  if (name == "topic" && KindOf(line, token) == JsonKind::kString) {
    JsonFault fault;
    if (!Once(x_has_topic, name, stop)) return false;
    return ReadString(line, token, x_topic, out.topic, fault) || Fault(fault, stop);
  }
  return true;
}

bool RecordLineReader::TakeNumber(const JsonDoc& line, std::string_view name, uint32_t token,
                                  uint64_t max, uint64_t& out, Stop& stop) {
  const std::string_view raw = line.Scalar(token);
  const auto [end, status] = std::from_chars(raw.data(), raw.data() + raw.size(), out);
  if (status == std::errc() && end == raw.data() + raw.size() && out <= max) return true;
  JsonFault fault;
  uint32_t at = token;
  if (!SkipChecked(line, at, fault, 1)) return Fault(fault, stop);
  return stop.Fail(ErrorKind::kBadEnvelope,
                   Message("`{}` of the record is no whole number from 0 to {}", name, max));
}

bool RecordLineReader::TakeKey(const JsonDoc& line, uint32_t token, Record& out, Stop& stop) {
  const JsonKind kind = KindOf(line, token);
  if (kind == JsonKind::kNull) return true;
  if (kind != JsonKind::kString) {
    out.key = JsonRef{&line, token};
    return true;
  }
  // The bytes of a key as text: JSON where they are JSON, else the key itself.
  JsonFault fault;
  std::string_view text;
  if (!ReadString(line, token, x_key, text, fault)) return Fault(fault, stop);
  out.key_text = text;
  if (!text.starts_with('{') && !text.starts_with('"')) return true;
  if (!x_key_index.Index(text) || x_key_index.doc().end == 0) return true;
  const JsonDoc& doc = x_key_index.doc();
  uint32_t at = 0;
  if (SkipChecked(doc, at, fault) && at == doc.end) {
    out.key = JsonRef{&doc, 0};
    out.key_text = {};
  }
  return true;
}

bool RecordLineReader::TakeValue(const JsonDoc& line, uint32_t token, Record& out, Stop& stop) {
  const JsonKind kind = KindOf(line, token);
  if (kind == JsonKind::kNull) return true;
  if (kind != JsonKind::kString) {
    out.value = JsonRef{&line, token};
    return true;
  }
  JsonFault fault;
  std::string_view text;
  if (!ReadString(line, token, x_value, text, fault)) return Fault(fault, stop);
  if (!x_value_index.Index(text)) {
    return stop.Fail(ErrorKind::kBadJson, Message("the value is no JSON: {}", x_value_index.why()));
  }
  const JsonDoc& doc = x_value_index.doc();
  if (doc.end == 0) {
    return stop.Fail(ErrorKind::kBadJson, "the value is an empty text; a null value is `null`");
  }
  if (KindOf(doc, 0) != JsonKind::kObject && SkipUnchecked(doc, 0) != doc.end) {
    return stop.Fail(ErrorKind::kBadJson, "something follows the value's JSON");
  }
  out.value = JsonRef{&doc, 0};
  return true;
}

}  // namespace lastword::codec
