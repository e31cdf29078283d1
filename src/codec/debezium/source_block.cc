#include "codec/debezium/source_block.h"

#include <charconv>

#include "base/format.h"

namespace lastword::codec {
namespace {

constexpr std::string_view kFieldNames[] = {
    "db",         "schema",   "table", "connector", "snapshot", "file",           "commit_lsn",
    "change_lsn", "sequence", "lsn",   "pos",       "row",      "event_serial_no"};

/// Reads a whole number, quoted or not; anything else is not said.
void ReadUint(const JsonDoc& doc, uint32_t token, std::optional<uint64_t>& out) {
  const JsonKind kind = KindOf(doc, token);
  if (kind != JsonKind::kNumber && kind != JsonKind::kString) return;
  int64_t small = 0;
  if (ReadShortInteger(doc, token, small) && small >= 0) {
    out = static_cast<uint64_t>(small);
    return;
  }
  std::string_view raw = doc.Scalar(token);
  if (kind == JsonKind::kString) raw = raw.substr(1, raw.size() - 2);
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (!raw.empty() && status == std::errc() && end == raw.data() + raw.size()) out = value;
}

/// Whether `field` is a text and one stands at `token`.
bool IsText(SourceField field, const JsonDoc& doc, uint32_t token) {
  return field < SourceField::kSequence && KindOf(doc, token) == JsonKind::kString;
}

}  // namespace

SourceField SourceFieldOf(std::string_view name) {
  for (uint32_t field = 0; field < std::size(kFieldNames); ++field) {
    if (kFieldNames[field] == name) return static_cast<SourceField>(field);
  }
  return SourceField::kNoField;
}

bool SourceReader::Read(JsonRef block, SourceBlock& out, uint32_t& behind_block, Stop& stop) {
  out.block = block;
  uint32_t seen = 0;
  size_t position_in_block = 0;
  JsonFault fault;
  Members members(*block.doc, block.token, fault);
  uint32_t meaning = 0;
  const auto lookup = [](std::string_view name) {
    return static_cast<uint32_t>(SourceFieldOf(name));
  };
  while (x_names.Next(position_in_block++, members, lookup, meaning)) {
    const auto field = static_cast<SourceField>(meaning);
    if (field != SourceField::kNoField) {
      if ((seen >> meaning & 1) != 0) {
        return stop.Fail(
            ErrorKind::kBadJson,
            Message("`source.{}` is twice in one event; fix the source", kFieldNames[meaning]));
      }
      seen |= 1u << meaning;
    }
    const uint32_t token = members.value();
    uint32_t behind = token;
    if (IsText(field, *block.doc, token)) {
      ++behind;  // checked as it is read
    } else if (!SkipChecked(*block.doc, behind, fault, 2)) {
      break;
    }
    if (!Take(field, *block.doc, token, behind, out, fault)) break;
    members.Done(behind);
  }
  behind_block = members.end();
  return fault.why == nullptr || stop.Fail(ErrorKind::kBadJson, fault.why);
}

bool SourceReader::Take(SourceField field, const JsonDoc& doc, uint32_t token, uint32_t behind,
                        SourceBlock& out, JsonFault& fault) {
  SourcePosition& position = out.position;
  if (IsText(field, doc, token)) {
    std::string_view* const texts[] = {&out.db,
                                       &out.schema,
                                       &out.table,
                                       &position.connector,
                                       &position.snapshot,
                                       &position.file,
                                       &position.commit_lsn,
                                       &position.change_lsn};
    const auto which = static_cast<size_t>(field);
    return ReadString(doc, token, x_scratch[which], *texts[which], fault);
  }
  if (field == SourceField::kSequence) {
    // VersionOf reads it as it is, with the quotes inside it escaped. What is neither a text nor a
    // list stays as it is written, and is not understood there.
    const JsonKind kind = KindOf(doc, token);
    if (kind != JsonKind::kNull) position.sequence = RawText(doc, token, behind);
    if (kind == JsonKind::kString && position.sequence.size() > 2) {
      position.sequence = position.sequence.substr(1, position.sequence.size() - 2);
    }
  } else if (field > SourceField::kSequence && field != SourceField::kNoField) {
    std::optional<uint64_t>* const numbers[] = {&position.lsn, &position.pos, &position.row,
                                                &position.event_serial_no};
    const auto first = static_cast<size_t>(SourceField::kLsn);
    ReadUint(doc, token, *numbers[static_cast<size_t>(field) - first]);
  }
  return true;
}

}  // namespace lastword::codec
