#include "pipeline/dead_letter_source.h"

namespace lastword {

DeadLetterSource::DeadLetterSource(std::vector<DeadLetter> letters,
                                   std::unique_ptr<codec::Decoder> decoder)
    : x_letters(std::move(letters)), x_decoder(std::move(decoder)) {}

void DeadLetterSource::Resume(std::vector<ResumePoint> tables) {
  x_tables = tables.size();
}

void DeadLetterSource::SetTables(const std::vector<codec::TableSpec>& tables) {
  x_decoder->SetTables(tables);
}

Status DeadLetterSource::Next(uint64_t, Delivery& out) {
  out.notes.clear();
  out.first_new.assign(x_tables, 0);
  if (x_next == x_letters.size()) {
    out.decoded = {};
    out.decoded.tables.resize(x_tables);
    out.state = Delivery::State::kEnd;
    return Ok{};
  }
  out.state = Delivery::State::kMore;
  const DeadLetter& letter = x_letters[x_next];
  const Place& place = letter.error.place;
  x_line = letter.record + "\n";
  const size_t size = x_line.size();
  x_line.append(codec::kPaddingBytes, '\0');
  x_decoder->DecodeLines(std::string_view(x_line).substr(0, size),
                         {place.input, place.offset.value_or(0), place.line.value_or(1)},
                         /*last=*/true, out.decoded);
  if (!out.decoded.schema_request && !out.decoded.error) ++x_next;
  return Ok{};
}

Result<std::string> DeadLetterSource::SkipRecord() {
  return x_letters[x_next++].record;
}

std::string DeadLetterSource::RecordOf(const ChangeHead&) const {
  // The delivery at hand is one letter, and decoding has moved behind it.
  return x_letters[x_next - 1].record;
}

}  // namespace lastword
