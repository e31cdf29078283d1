// The shape of a Debezium event: its bytes but for the values that differ from event to event of
// one table. A line that has the bytes of a shape around sound values means what the event meant
// that the shape was made of, with those values; so it is compared where it stands and needs no
// tokens. A shortcut of the general way (envelope.h) and nothing else: whatever does not match is
// read there, and every error is said there.
//
// Made only of an event that was decoded. Fixed are names, punctuation, the schema wrapper, where
// the event comes from (db, schema, table, connector, snapshot), and NULL outside of images. An
// event whose table has lists in its rows, or fills columns from the source block, has no shape;
// nor has one whose sequence is a list.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/debezium/source_block.h"
#include "codec/image_read.h"
#include "codec/record.h"
#include "codec/table_plan.h"

namespace lastword::codec {

/// An event as the general way has read it.
struct DecodedEvent {
  std::string_view line;  // its text; all documents below are of it
  Unwrapped value;
  JsonRef op, before, after;
  SourceBlock source;
  std::string_view topic;
  bool is_delete = false;
};

class EventShape {
 public:
  /// The shape of `event`, a change of the table of `plan`; null where it has none.
  static std::unique_ptr<EventShape> Of(const DecodedEvent& event, const TablePlan& plan);

  /// How many bytes of `text` are a line of this shape, without its newline; 0 where it has another
  /// one. Fills `tokens`: value i of the line begins at tokens[2 i] and ends before
  /// tokens[2 i + 1].
  size_t Match(std::string_view text, std::vector<uint32_t>& tokens) const;

  uint32_t table() const { return x_table; }
  std::string_view topic() const { return x_topic; }
  bool is_delete() const { return x_is_delete; }
  /// Of the schema wrapper, where there is one: that of TablePlan.
  const std::optional<uint64_t>& wrapper_hash() const { return x_wrapper_hash; }

  // Where the values lie among the tokens of a match.
  uint32_t op_token() const { return x_op; }
  /// The row of the change, and the other image; without members where it is no object.
  Image RowOf(const JsonDoc& doc) const { return ImageOf(x_is_delete ? x_before : x_after, doc); }
  Image OtherOf(const JsonDoc& doc) const { return ImageOf(x_is_delete ? x_after : x_before, doc); }
  /// The source block of a match, but for what `fields` and `sequence` say.
  const SourceBlock& source() const { return x_source; }
  const std::vector<std::pair<SourceField, uint32_t>>& fields() const { return x_fields; }
  /// The sequence of a match, where it is written as Debezium does; else empty.
  std::string_view SequenceOf(const JsonDoc& doc) const;

 private:
  class Maker;
  struct Slot {
    uint32_t fixed_begin = 0, fixed_size = 0;  // the bytes in front of the value, in x_line
    bool is_digits = false;                    // of the sequence; else a scalar
  };
  struct KnownImage {
    bool is_row = false;
    std::vector<KnownMember> members;
  };
  static Image ImageOf(const KnownImage& image, const JsonDoc& doc) {
    return image.is_row ? Image(doc, image.members) : Image{};
  }

  std::string x_line;  // what it was made of
  std::vector<Slot> x_slots;
  uint32_t x_tail_begin = 0;  // the bytes behind the last value
  uint32_t x_table = kNone;
  std::string x_topic;
  bool x_is_delete = false;
  std::optional<uint64_t> x_wrapper_hash;
  uint32_t x_op = 0;
  KnownImage x_before, x_after;
  SourceBlock x_source;  // views of x_line
  std::vector<std::pair<SourceField, uint32_t>> x_fields;
  std::optional<uint32_t> x_sequence;  // its first number; the second one is the value behind it
};

}  // namespace lastword::codec
