#include "codec/debezium/event_shape.h"

#include <algorithm>

#include "codec/scalar_scan.h"

namespace lastword::codec {
namespace {

// A sequence as Debezium writes it: "[\"90\",\"100\"]".
constexpr std::string_view kSequenceOpen = R"("[\")", kSequenceComma = R"(\",\")",
                           kSequenceClose = R"(\"]")";

/// Fields of a source block that are the same in event after event.
bool IsFixed(std::string_view name, SourceField field) {
  return field <= SourceField::kSnapshot || name == "version" || name == "name";
}

bool IsScalar(JsonKind kind) {
  return kind != JsonKind::kObject && kind != JsonKind::kList && kind != JsonKind::kInvalid;
}

}  // namespace

/// Walks the tokens of a decoded event once. What it does not stop at is fixed.
class EventShape::Maker {
 public:
  Maker(const DecodedEvent& event, const TablePlan& plan, EventShape& out)
      : x_event(event),
        x_plan(plan),
        x_doc(*event.value.payload.doc),
        x_line_begin(static_cast<uint32_t>(event.line.data() - x_doc.text)),
        x_fixed(x_line_begin),
        x_out(out) {}

  bool Make() {
    for (uint32_t token = x_doc.begin; token < x_doc.end;) {
      if (Is(x_event.value.schema, token)) {
        token = SkipUnchecked(x_doc, token);
      } else if (Is(x_event.op, token)) {
        x_out.x_op = Value(token++);
      } else if (IsRow(x_event.before, token)) {
        if (!ReadRow(token, !x_event.is_delete, false, x_out.x_before)) return false;
      } else if (IsRow(x_event.after, token)) {
        if (!ReadRow(token, !x_event.is_delete, !x_event.is_delete, x_out.x_after)) return false;
      } else if (Is(x_event.source.block, token)) {
        if (!ReadSource(token)) return false;
      } else {
        Other(token, token + 1);
        ++token;
      }
    }
    x_out.x_tail_begin = x_fixed - x_line_begin;
    return true;
  }

 private:
  static bool Is(JsonRef part, uint32_t token) { return part && part.token == token; }
  static bool IsRow(JsonRef part, uint32_t token) {
    return Is(part, token) && part.kind() == JsonKind::kObject;
  }

  /// Makes the scalar at `token` a value; returns where its match is found.
  uint32_t Value(uint32_t token) {
    const std::string_view raw = x_doc.Scalar(token);
    return ValueAt(x_doc.Position(token), static_cast<uint32_t>(raw.size()), false);
  }
  uint32_t ValueAt(uint32_t position, uint32_t size, bool is_digits) {
    x_out.x_slots.push_back({x_fixed - x_line_begin, position - x_fixed, is_digits});
    x_fixed = position + size;
    return 2 * static_cast<uint32_t>(x_out.x_slots.size() - 1);
  }

  /// Makes every scalar a value that is neither NULL nor the name of a member.
  void Other(uint32_t token, uint32_t end) {
    for (; token < end; ++token) {
      const JsonKind kind = KindOf(x_doc, token);
      if (!IsScalar(kind) || kind == JsonKind::kNull || x_doc.At(token + 1) == ':') continue;
      Value(token);
    }
  }

  /// Takes the image at `token` apart and moves behind it. `whole`: all columns may be asked for,
  /// else those of the key; `strict`: a member without a column is no value but fixed, unless the
  /// table ignores such members.
  bool ReadRow(uint32_t& token, bool whole, bool strict, KnownImage& image) {
    image.is_row = true;
    JsonFault fault;
    Members members(x_doc, token, fault);
    while (members.Next()) {
      const uint32_t at = members.value();
      const uint32_t behind = SkipUnchecked(x_doc, at);
      const uint32_t column = x_plan.FindByName(members.name());
      members.Done(behind);
      if (column == kNone && strict && !x_plan.IgnoresUnknown()) continue;
      const auto& narrow = x_plan.scratch_columns;
      if (column == kNone ||
          (!whole && std::find(narrow.begin(), narrow.end(), column) == narrow.end())) {
        Other(at, behind);
        continue;
      }
      if (!IsScalar(KindOf(x_doc, at))) return false;
      image.members.push_back({column, Value(at)});
    }
    token = members.end();
    return members.ok();
  }

  /// Takes the source block at `token` apart and moves behind it.
  bool ReadSource(uint32_t& token) {
    JsonFault fault;
    Members members(x_doc, token, fault);
    while (members.Next()) {
      const uint32_t at = members.value();
      const uint32_t behind = SkipUnchecked(x_doc, at);
      const SourceField field = SourceFieldOf(members.name());
      const JsonKind kind = KindOf(x_doc, at);
      const bool is_value = IsScalar(kind) && kind != JsonKind::kNull;
      // A sequence may be a list, whose numbers are not found by one token.
      if (field != SourceField::kNoField && !IsScalar(kind)) return false;
      if (field == SourceField::kSequence && is_value && ReadSequence(at)) {
        members.Done(behind);
        continue;
      }
      if (is_value && !IsFixed(members.name(), field)) {
        const uint32_t value = Value(at);
        if (field != SourceField::kNoField) x_out.x_fields.emplace_back(field, value);
      } else if (!is_value) {
        Other(at, behind);
      }
      members.Done(behind);
    }
    token = members.end();
    return members.ok();
  }

  bool ReadSequence(uint32_t token) {
    const std::string_view raw = x_doc.Scalar(token);
    const size_t comma = raw.find(kSequenceComma);
    if (!raw.starts_with(kSequenceOpen) || !raw.ends_with(kSequenceClose) ||
        comma == std::string_view::npos || raw.size() < comma + kSequenceComma.size()) {
      return false;
    }
    const uint32_t begin = x_doc.Position(token);
    const size_t second = comma + kSequenceComma.size();
    const auto at = [begin](size_t offset) { return begin + static_cast<uint32_t>(offset); };
    x_out.x_sequence = ValueAt(at(kSequenceOpen.size()),
                               static_cast<uint32_t>(comma - kSequenceOpen.size()), true);
    ValueAt(at(second), static_cast<uint32_t>(raw.size() - kSequenceClose.size() - second), true);
    return true;
  }

  const DecodedEvent& x_event;
  const TablePlan& x_plan;
  const JsonDoc& x_doc;
  const uint32_t x_line_begin;
  uint32_t x_fixed;  // behind the last value
  EventShape& x_out;
};

std::unique_ptr<EventShape> EventShape::Of(const DecodedEvent& event, const TablePlan& plan) {
  for (const MetadataColumn& column : plan.metadata) {
    if (column.kind == Metadata::kSource) return nullptr;
  }
  auto shape = std::make_unique<EventShape>();
  shape->x_line = event.line;
  shape->x_table = plan.index;
  shape->x_topic = event.topic;
  shape->x_is_delete = event.is_delete;
  if (event.value.schema) shape->x_wrapper_hash = plan.wrapper_hash;
  bool in_line = true;
  const auto kept = [&](std::string_view text) -> std::string_view {
    if (text.empty()) return {};
    // A text with escapes lies elsewhere.
    in_line &= text.data() >= event.line.data() &&
               text.data() + text.size() <= event.line.data() + event.line.size();
    return in_line ? std::string_view(shape->x_line)
                         .substr(static_cast<size_t>(text.data() - event.line.data()), text.size())
                   : std::string_view();
  };
  SourceBlock& source = shape->x_source;
  source.db = kept(event.source.db);
  source.schema = kept(event.source.schema);
  source.table = kept(event.source.table);
  source.position.connector = kept(event.source.position.connector);
  source.position.snapshot = kept(event.source.position.snapshot);
  if (!in_line || !Maker(event, plan, *shape).Make()) return nullptr;
  // What does not even match itself (an escape of Unicode among its values) is no shape.
  std::vector<uint32_t> tokens;
  return shape->Match(event.line, tokens) == event.line.size() ? std::move(shape) : nullptr;
}

size_t EventShape::Match(std::string_view text, std::vector<uint32_t>& tokens) const {
  const char* const begin = text.data();
  const char* const end = begin + std::min<size_t>(text.size(), UINT32_MAX - 1);
  const char* const line = x_line.data();
  const char* at = begin;
  tokens.resize(2 * x_slots.size());
  uint32_t* token = tokens.data();
  for (const Slot& slot : x_slots) {
    if (static_cast<size_t>(end - at) <= slot.fixed_size ||
        !SameBytes(at, line + slot.fixed_begin, slot.fixed_size)) {
      return 0;
    }
    at += slot.fixed_size;
    const char* behind = nullptr;
    if (slot.is_digits) {
      behind = DigitsEnd(at, end);
      if (behind == at) return 0;
    } else {
      behind = ScalarEnd(at, end);
      if (behind == nullptr) return 0;
    }
    *token++ = static_cast<uint32_t>(at - begin);
    *token++ = static_cast<uint32_t>(behind - begin);
    at = behind;
  }
  const size_t tail = x_line.size() - x_tail_begin;
  if (static_cast<size_t>(end - at) < tail || !SameBytes(at, line + x_tail_begin, tail)) return 0;
  at += tail;
  return at == end || *at == '\n' ? static_cast<size_t>(at - begin) : 0;
}

std::string_view EventShape::SequenceOf(const JsonDoc& doc) const {
  if (!x_sequence) return {};
  // The brackets are fixed bytes around the numbers; the quotes of the text itself are left out.
  const uint32_t from = doc.Position(*x_sequence) - static_cast<uint32_t>(kSequenceOpen.size() - 1);
  const uint32_t to =
      doc.Position(*x_sequence + 3) + static_cast<uint32_t>(kSequenceClose.size() - 1);
  return std::string_view(doc.text + from, to - from);
}

}  // namespace lastword::codec
