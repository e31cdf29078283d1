// The loop over lines and records that all formats share: finds the lines, hands each to its
// format, stops in front of the first that cannot be decoded, and says where that is.
#include "codec/decoder.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "codec/change_builder.h"
#include "codec/changelog/changelog.h"
#include "codec/debezium/envelope.h"
#include "codec/json_cursor.h"
#include "codec/records/record_line.h"
#include "codec/router.h"
#include "codec/sequenced/sequenced.h"

namespace lastword::codec {
namespace {

/// Lines are indexed in blocks of about this size: small enough for the cache, large enough that
/// the cost of a call does not count.
constexpr size_t kBlockBytes = 256u << 10;

/// Names in a record may be as long as the record; what is said of them is read by people.
constexpr size_t kSaidBytesMax = 2000;

/// Leaves the two ends of a long text, cut between characters.
void Shorten(std::string& text) {
  if (text.size() <= kSaidBytesMax) return;
  size_t head = kSaidBytesMax / 2, tail = text.size() - kSaidBytesMax / 2;
  const auto inside = [&](size_t at) { return (text[at] & 0xC0) == 0x80; };
  while (head > 0 && inside(head)) --head;
  while (tail < text.size() && inside(tail)) ++tail;
  text.replace(head, tail - head, "…");
}

/// The names of inputs, numbered in order of appearance.
class InputNames {
 public:
  uint32_t IndexOf(std::string_view name) {
    if (x_last < x_names.size() && x_names[x_last] == name) return x_last;
    const auto [found, added] = x_index.try_emplace(std::string(name), x_names.size());
    if (added) x_names.emplace_back(name);
    return x_last = found->second;
  }
  const std::vector<std::string>& names() const { return x_names; }
  void Clear() {
    x_names.clear();
    x_index.clear();
  }

 private:
  std::vector<std::string> x_names;
  std::map<std::string, uint32_t> x_index;
  uint32_t x_last = 0;
};

// Only Debezium writes decimals as bytes; elsewhere a text is digits. "1234" is good base64 too.
std::vector<TableSpec> WithForms(Format format, std::vector<TableSpec> tables) {
  if (format == Format::kDebezium || format == Format::kRecords) return tables;
  for (TableSpec& table : tables) {
    table.decimal_encoding = TableSpec::DecimalEncoding::kString;
  }
  return tables;
}

class FormatDecoder final : public Decoder {
 public:
  FormatDecoder(Format format, const std::vector<TableSpec>& tables)
      : x_format(format), x_builder(WithForms(format, tables)) {
    Make(tables);
  }

  void SetTables(const std::vector<TableSpec>& tables) override {
    x_builder.SetTables(WithForms(x_format, tables));
    Make(tables);
  }

  void DecodeLines(std::string_view chunk, const ChunkPlace& place, bool last,
                   Decoded& out) override;
  void DecodeRecords(std::span<const RawRecord> records, const std::vector<std::string>& inputs,
                     Decoded& out) override;

 private:
  void Make(const std::vector<TableSpec>& tables) {
    x_router = std::make_unique<Router>(tables);
    switch (x_format) {
      case Format::kDebezium:
      case Format::kRecords:
        x_reader = std::make_unique<DebeziumReader>(x_builder, *x_router);
        break;
      case Format::kChangelog:
        x_reader = std::make_unique<ChangelogReader>(x_builder, *x_router);
        break;
      case Format::kSequenced:
        x_reader = std::make_unique<SequencedReader>(x_builder, *x_router);
        break;
    }
  }

  bool DecodeBlock(std::string_view block, Decoded& out);
  size_t DecodeLike(std::string_view text, Decoded& out);
  bool DecodeStretch(std::string_view stretch, Decoded& out);
  bool DecodeLine(const JsonDoc& line, std::string_view text, bool learn, Decoded& out);
  void StartLine();
  bool DecodeRecord(const Record& record, Decoded& out);
  bool StopAt(Error error, Decoded& out);
  void Finish(Decoded& out);
  bool IndexPart(JsonIndex& index, std::string_view text, JsonRef& out);

  Format x_format;
  ChangeBuilder x_builder;
  std::unique_ptr<Router> x_router;
  std::unique_ptr<FormatReader> x_reader;
  RecordLineReader x_record_line;
  InputNames x_inputs;
  JsonIndex x_index, x_line_index, x_key_index;
  std::string x_input_name;  // of a line of a dump
  // The line or record at hand.
  Record x_record;
  std::string_view x_input;  // its name, for messages
  std::string x_file;
  bool x_log = false;     // the records are those of a log
  uint64_t x_offset = 0;  // of the line in its file
  uint64_t x_line = 0;
  uint32_t x_tokens_guess = 64;  // tokens of the last line
  size_t x_stretch_bytes = 0;    // how much is indexed at once, when a line looks like none before
};

/// The end of the last whole line of a block that starts at `begin`, or `begin` where there is
/// none.
size_t BlockEnd(std::string_view chunk, size_t begin, bool last) {
  const size_t limit = std::min(chunk.size(), begin + kBlockBytes);
  const size_t newline = chunk.substr(begin, limit - begin).rfind('\n');
  if (newline != std::string_view::npos) return begin + newline + 1;
  const size_t next = chunk.find('\n', limit);
  if (next != std::string_view::npos) return next + 1;
  return last ? chunk.size() : begin;
}

void FormatDecoder::DecodeLines(std::string_view chunk, const ChunkPlace& place, bool last,
                                Decoded& out) {
  x_builder.Start(out);
  x_reader->Start();
  x_inputs.Clear();
  x_log = x_format == Format::kRecords;
  x_file = place.input;
  x_line = place.line;
  x_offset = place.byte_offset;
  size_t at = 0;
  // Some programs put a byte order mark in front of UTF-8.
  if (x_offset == 0 && chunk.starts_with("\xEF\xBB\xBF")) {
    at = 3;
    x_offset = 3;
  }
  while (at < chunk.size()) {
    const size_t end = BlockEnd(chunk, at, last);
    if (end == at || !DecodeBlock(chunk.substr(at, end - at), out)) break;
    at = end;
  }
  out.bytes = x_offset - place.byte_offset;
  Finish(out);
}

bool FormatDecoder::DecodeBlock(std::string_view block, Decoded& out) {
  for (size_t at = 0; at < block.size();) {
    if (const size_t size = DecodeLike(block.substr(at), out); size != 0) {
      at += size;
      x_stretch_bytes /= 2;
      continue;
    }
    // The more lines look like none before them, the longer nothing else is tried.
    const size_t newline = block.find('\n', std::min(block.size(), at + x_stretch_bytes));
    const size_t end = newline == std::string_view::npos ? block.size() : newline + 1;
    x_stretch_bytes = std::min(kBlockBytes, 2 * (end - at));
    if (!DecodeStretch(block.substr(at, end - at), out)) return false;
    at = end;
  }
  return true;
}

/// Decodes the line that `text` begins with, if it looks like one before; returns its size, with
/// its newline, or 0.
size_t FormatDecoder::DecodeLike(std::string_view text, Decoded& out) {
  if (x_format != Format::kDebezium) return 0;
  StartLine();
  x_record.input = x_inputs.IndexOf(x_input);
  const size_t size = x_reader->ReadLike(text, x_record);
  if (size == 0) return 0;
  ++out.records;
  ++out.alike;
  const size_t next = std::min(text.size(), size + 1);
  x_offset += next;
  ++x_line;
  return next;
}

bool FormatDecoder::DecodeStretch(std::string_view block, Decoded& out) {
  // Where the whole stretch is sound, no text runs over the end of its line, so each line's tokens
  // are a range of its. Otherwise one line is not, and each is looked at alone.
  const bool whole = x_index.Index(block);
  const JsonDoc all = x_index.doc();
  uint32_t token = all.begin;
  size_t at = 0;
  while (at < block.size()) {
    const void* const found = std::memchr(block.data() + at, '\n', block.size() - at);
    const size_t end =
        found == nullptr ? block.size() : static_cast<const char*>(found) - block.data();
    const std::string_view text = block.substr(at, end - at);
    const size_t next = std::min(block.size(), end + 1);
    const bool learn = next == block.size();
    if (whole) {
      JsonDoc line = all;
      line.begin = token;
      line.text_end = static_cast<uint32_t>(end);
      uint32_t guess = token + x_tokens_guess;
      if (guess > all.end || (guess > token && all.tokens[guess - 1] >= end) ||
          (guess < all.end && all.tokens[guess] < end)) {
        guess = static_cast<uint32_t>(
            std::lower_bound(all.tokens + token, all.tokens + all.end, end) - all.tokens);
        x_tokens_guess = guess - token;
      }
      line.end = token = guess;
      if (line.end > line.begin && !DecodeLine(line, text, learn, out)) return false;
    } else if (!x_line_index.Index(text)) {
      StartLine();
      return StopAt(
          Error{ErrorKind::kBadJson, Message("the line is no JSON: {}", x_line_index.why())}, out);
    } else if (x_line_index.doc().end != 0 && !DecodeLine(x_line_index.doc(), text, learn, out)) {
      return false;
    }
    x_offset += next - at;
    ++x_line;
    at = next;
  }
  return true;
}

void FormatDecoder::StartLine() {
  x_record = Record{};
  x_record.offset = x_offset;
  x_record.line = x_line;
  x_input = x_file;
}

bool FormatDecoder::DecodeLine(const JsonDoc& line, std::string_view text, bool learn,
                               Decoded& out) {
  StartLine();
  x_builder.StartRecord();
  // Of an object its reader finds the end.
  if (KindOf(line, line.begin) != JsonKind::kObject &&
      SkipUnchecked(line, line.begin) != line.end) {
    JsonFault fault;
    uint32_t token = line.begin;
    const bool complete = SkipChecked(line, token, fault);
    return StopAt(Error{ErrorKind::kBadJson, complete ? "something follows the value" : fault.why},
                  out);
  }
  if (x_format == Format::kRecords) {
    bool has_topic = false;
    Record record;
    record.line = x_line;
    if (!x_record_line.Read(line, record, has_topic, x_builder.stop())) {
      return StopAt(std::move(*x_builder.stop().error), out);
    }
    x_record = record;
    x_input_name.clear();
    if (has_topic) x_input_name.append(record.topic).push_back(':');
    char digits[16];
    const int size = std::snprintf(digits, sizeof digits, "%d", record.partition);
    x_input_name.append(digits, size);
    x_input = x_input_name;
  } else {
    x_record.value = JsonRef{&line, line.begin};
  }
  x_record.input = x_inputs.IndexOf(x_input);
  if (!DecodeRecord(x_record, out)) return false;
  if (learn && x_format == Format::kDebezium) x_reader->Learn(text, x_record);
  return true;
}

bool FormatDecoder::DecodeRecord(const Record& record, Decoded& out) {
  if (x_reader->Read(record)) {
    ++out.records;
    return true;
  }
  const uint32_t table = x_builder.table();
  x_builder.RollBack();
  Stop& stop = x_builder.stop();
  if (stop.schema) {
    out.schema_request = SchemaRequest{table, std::move(*stop.schema)};
    return false;
  }
  Error error = stop.error ? std::move(*stop.error)
                           : Error{ErrorKind::kInternal, "a decoder stopped without saying why"};
  if (table != kNone) {
    TablePlan& plan = x_builder.plan(table);
    error.place.table = plan.spec.name;
    if (error.place.key.empty() && error.kind != ErrorKind::kBadJson) {
      error.place.key = x_builder.KeyForMessage(plan, record, x_reader->image());
    }
  }
  return StopAt(std::move(error), out);
}

bool FormatDecoder::StopAt(Error error, Decoded& out) {
  Shorten(error.message);
  Shorten(error.place.column);
  error.place.input = x_input;
  error.place.offset = x_record.offset;
  if (x_line != 0) error.place.line = x_line;
  out.error = std::move(error);
  return false;
}

void FormatDecoder::Finish(Decoded& out) {
  x_builder.Finish();
  for (ChangeBatch& batch : out.tables) {
    if (batch.inputs != x_inputs.names()) batch.inputs = x_inputs.names();
    batch.null_values = x_log;
  }
}

bool FormatDecoder::IndexPart(JsonIndex& index, std::string_view text, JsonRef& out) {
  if (!index.Index(text) || index.doc().end == 0) return false;
  const JsonDoc& doc = index.doc();
  if (KindOf(doc, 0) != JsonKind::kObject && SkipUnchecked(doc, 0) != doc.end) return false;
  out = JsonRef{&index.doc(), 0};
  return true;
}

void FormatDecoder::DecodeRecords(std::span<const RawRecord> records,
                                  const std::vector<std::string>& inputs, Decoded& out) {
  x_builder.Start(out);
  x_reader->Start();
  x_inputs.Clear();
  x_log = true;
  x_line = 0;
  for (const RawRecord& raw : records) {
    x_record = Record{};
    x_record.topic = raw.topic;
    x_record.partition = raw.partition;
    x_record.offset = raw.offset;
    x_record.line = raw.line;
    x_record.raw_headers = raw.headers;
    x_line = raw.line;
    x_input = inputs[raw.input];
    x_record.input = x_inputs.IndexOf(x_input);
    x_builder.StartRecord();
    if (!raw.value_is_null && !IndexPart(x_line_index, raw.value, x_record.value)) {
      StopAt(Error{ErrorKind::kBadJson, Message("the value is no JSON: {}", x_line_index.why())},
             out);
      break;
    }
    if (!raw.key.empty()) {
      // A key that is no JSON is a text.
      JsonFault fault;
      uint32_t token = 0;
      if (!IndexPart(x_key_index, raw.key, x_record.key) ||
          !SkipChecked(x_key_index.doc(), token, fault) || token != x_key_index.doc().end) {
        x_record.key = {};
        x_record.key_text = raw.key;
      }
    }
    if (!DecodeRecord(x_record, out)) break;
    out.bytes += raw.key.size() + raw.value.size();
  }
  Finish(out);
}

}  // namespace

uint64_t BytesHeld(const Decoded& decoded) {
  uint64_t bytes = decoded.order.capacity() * sizeof(uint32_t);
  for (const ChangeBatch& batch : decoded.tables) bytes += batch.bytes_held();
  return bytes;
}

Result<Format> ParseFormat(std::string_view name) {
  if (name == "debezium") return Format::kDebezium;
  if (name == "records") return Format::kRecords;
  if (name == "changelog") return Format::kChangelog;
  if (name == "sequenced") return Format::kSequenced;
  return Error{ErrorKind::kUsage, Message("format `{}` is none of debezium, records, changelog, "
                                          "sequenced",
                                          name)};
}

std::unique_ptr<Decoder> MakeDecoder(Format format, const std::vector<TableSpec>& tables) {
  return std::make_unique<FormatDecoder>(format, tables);
}

}  // namespace lastword::codec
