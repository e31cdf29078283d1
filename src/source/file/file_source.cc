#include "source/file/file_source.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"

namespace lastword::file {
namespace {

constexpr size_t kPrefixBytes = 1 << 20;

uint64_t StoredSize(const std::string& path) {
  std::error_code error;
  const auto size = path == "-" ? 0 : std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// The first `lines_max` lines of `text`; its last line may lack its newline.
std::string_view FirstLines(std::string_view text, uint64_t lines_max) {
  size_t at = 0;
  for (uint64_t lines = 0; lines < lines_max && at < text.size(); ++lines) {
    const size_t newline = text.find('\n', at);
    at = newline == std::string_view::npos ? text.size() : newline + 1;
  }
  return text.substr(0, at);
}

std::string_view WithoutLineEnd(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

FileSource::FileSource(FileSourceOptions options, std::unique_ptr<codec::Decoder> decoder,
                       std::vector<std::unique_ptr<codec::Decoder>> ahead)
    : x_options(std::move(options)), x_decoder(std::move(decoder)) {
  if (!ahead.empty()) {
    x_ahead = std::make_unique<DecodeAhead>(std::move(ahead), x_options.ahead_bytes_max);
  }
  size_t streams = 0;
  for (const std::string& path : x_options.paths) {
    x_stored_total += StoredSize(path);
    std::string& input = x_inputs.emplace_back(InputOf(path));
    if (!HasPosition(input) && ++streams > 1) input += std::to_string(streams);
  }
}

void FileSource::Resume(std::vector<ResumePoint> tables) {
  x_tables = std::move(tables);
}

void FileSource::SetTables(const std::vector<codec::TableSpec>& tables) {
  x_decoder->SetTables(tables);
  if (x_ahead != nullptr) x_ahead->SetTables(tables);
}

Status FileSource::Next(uint64_t records_max, Delivery& out) {
  out.state = Delivery::State::kMore;
  out.notes.clear();
  while (true) {
    if (!x_is_open) {
      LW_ASSIGN_OR_RETURN(const bool opened, OpenNext(out));
      if (!opened) {
        out.decoded = {};
        out.decoded.tables.resize(x_tables.size());
        out.first_new.assign(x_tables.size(), 0);
        out.logs_began.assign(x_tables.size(), 0);
        out.state = Delivery::State::kEnd;
        return Ok{};
      }
    }
    LW_ASSIGN_OR_RETURN(const bool delivered,
                        x_is_ahead ? DeliverAhead(records_max, out) : Deliver(records_max, out));
    if (delivered) break;
    CloseCurrent();
  }
  out.first_new.assign(out.decoded.tables.size(), 0);
  out.error_known.clear();
  if (const auto& error = out.decoded.error; error && error->place.line) {
    for (const uint64_t known : x_known_lines) {
      out.error_known.push_back(*error->place.line <= known);
    }
  }
  out.logs_began.assign(out.decoded.tables.size(), 0);
  for (size_t table = 0; table < out.decoded.tables.size(); ++table) {
    if (x_content[table].anew) out.logs_began[table] = x_content[table].began;
    for (std::string& input : out.decoded.tables[table].inputs) {
      if (input == x_input) input = InputFor(table);
    }
    const auto& heads = out.decoded.tables[table].heads;
    if (x_known_lines[table] <= x_chunk.lines) continue;
    size_t& first = out.first_new[table];
    while (first < heads.size() && heads[first].line <= x_known_lines[table]) ++first;
  }
  return Ok{};
}

Result<bool> FileSource::Deliver(uint64_t records_max, Delivery& out) {
  LW_ASSIGN_OR_RETURN(LineReader::Lines lines, x_reader->Peek(records_max));
  if (x_place.line_open && lines.bytes.starts_with('\n')) {
    // The file went on behind a last line that had no newline when it was applied.
    x_place.Advance(lines.bytes.substr(0, 1));
    --x_place.lines;
    x_reader->Consume(1);
    LW_ASSIGN_OR_RETURN(lines, x_reader->Peek(records_max));
  }
  if (lines.bytes.empty()) return false;
  DecodeHere(lines.bytes, lines.last, out);
  x_reader->Consume(out.decoded.bytes);
  x_bytes_stored = x_reader->bytes_stored();
  return true;
}

void FileSource::DecodeHere(std::string_view lines, bool last, Delivery& out) {
  x_chunk = x_place;
  x_chunk_bytes = lines;
  x_decoder->DecodeLines(lines, {x_input, x_place.bytes, x_place.lines + 1}, last, out.decoded);
  x_place.Advance(lines.substr(0, out.decoded.bytes));
}

Result<bool> FileSource::DeliverAhead(uint64_t records_max, Delivery& out) {
  if (x_front != nullptr && FrontLeft().empty()) x_ahead->Recycle(std::move(x_front));
  if (x_front == nullptr) {
    LW_ASSIGN_OR_RETURN(x_front, x_ahead->Take());
    if (x_front == nullptr) return false;
    x_front_begin = 0;
    x_bytes_stored = x_front->bytes_stored;
    x_place = x_front->begin;
    if (x_front->specs == x_ahead->specs() && x_front->lines() <= records_max) {
      x_chunk = x_place;
      x_chunk_bytes = x_front->bytes();
      std::swap(out.decoded, x_front->decoded);
      x_front_begin = out.decoded.bytes;
      if (x_front_begin == x_front->bytes().size()) {
        x_place = x_front->end;
      } else {
        x_place.Advance(x_chunk_bytes.substr(0, x_front_begin));
      }
      return true;
    }
  }
  // The rest of a chunk, one that is too long, or one that was decoded with specs of before.
  const std::string_view left = FrontLeft();
  const std::string_view lines = FirstLines(left, records_max);
  DecodeHere(lines, x_front->last && lines.size() == left.size(), out);
  x_front_begin += out.decoded.bytes;
  return true;
}

Result<std::string> FileSource::SkipRecord() {
  std::string_view line;
  if (x_is_ahead) {
    line = FirstLines(FrontLeft(), 1);
    x_front_begin += line.size();
  } else {
    LW_ASSIGN_OR_RETURN(const LineReader::Lines lines, x_reader->Peek(1));
    line = lines.bytes;
  }
  const std::string record(WithoutLineEnd(line));
  x_place.Advance(line);
  if (!x_is_ahead) x_reader->Consume(line.size());
  x_chunk = x_place;
  x_chunk_bytes = {};
  return record;
}

size_t FileSource::BeginOfLine(uint64_t line) const {
  size_t begin = 0;
  for (uint64_t at = x_chunk.lines + 1; at < line; ++at) {
    const size_t newline = x_chunk_bytes.find('\n', begin);
    if (newline == std::string_view::npos) break;
    begin = newline + 1;
  }
  return begin;
}

std::string FileSource::RecordOf(const ChangeHead& head) const {
  const std::string_view rest = x_chunk_bytes.substr(BeginOfLine(head.line));
  return std::string(WithoutLineEnd(rest.substr(0, rest.find('\n'))));
}

Status FileSource::Reopen() {
  auto stream = OpenByteStream(x_path);
  if (!stream.ok()) {
    // A file that was not opened has no place to commit.
    x_is_open = false;
    return stream.error();
  }
  x_reader = std::make_unique<LineReader>(std::move(*stream), x_options.chunk_bytes);
  x_place = x_chunk = FilePlace();
  x_chunk_bytes = {};
  x_bytes_stored = 0;
  x_is_open = true;
  return Ok{};
}

Result<bool> FileSource::OpenNext(Delivery& out) {
  if (x_next_path == x_options.paths.size()) return false;
  x_path = x_options.paths[x_next_path];
  x_input = x_inputs[x_next_path];
  LW_RETURN_IF_ERROR(Reopen());
  if (const auto found = FindStart(out); !found.ok()) {
    // Nothing of this file was handed out: its stored position stays as it is.
    x_is_open = false;
    return found.error();
  }
  ++x_next_path;
  x_is_ahead = x_ahead != nullptr && std::filesystem::is_regular_file(x_path);
  if (x_is_ahead) x_ahead->Start(std::move(x_reader), x_place, x_input);
  return true;
}

void FileSource::CloseCurrent() {
  if (HasPosition(x_input)) x_done[x_input] = {x_place.Position(), x_content};
  x_stored_before += x_bytes_stored;
  if (x_is_ahead) x_ahead->Finish();
  x_reader = nullptr;
  x_is_open = x_is_ahead = false;
  x_chunk_bytes = {};
}

Result<std::vector<std::optional<FilePosition>>> FileSource::KnownPositions() const {
  std::vector<std::optional<FilePosition>> known(x_tables.size());
  if (!HasPosition(x_input)) return known;
  for (size_t table = 0; table < x_tables.size(); ++table) {
    if (const auto done = x_done.find(x_input); done != x_done.end()) {
      // Named twice in one run: the second time continues the first.
      known[table] = done->second.position;
      known[table]->epoch = x_tables[table].epoch;
      known[table]->began = done->second.content[table].began;
      known[table]->content = done->second.content[table].number;
      known[table]->anew = done->second.content[table].anew;
      continue;
    }
    if (x_options.from_start || x_tables[table].skip_all) continue;
    if (const auto text = x_tables[table].position_of(x_input)) {
      LW_ASSIGN_OR_RETURN(known[table], ParseFilePosition(*text));
    }
  }
  return known;
}

auto FileSource::ContentsFromStart() -> Result<std::vector<Content>> {
  std::vector<Content> contents;
  std::vector<std::pair<FilePosition, size_t>> stored;
  for (size_t table = 0; table < x_tables.size(); ++table) {
    contents.push_back({x_tables[table].epoch, 0});
    if (!x_options.from_start || !HasPosition(x_input)) continue;
    const auto text = x_tables[table].position_of(x_input);
    if (!text) continue;
    // A damaged one is what this way of delivering is the remedy of.
    const auto position = ParseFilePosition(*text);
    if (position.ok() && position->began == contents[table].began) {
      stored.emplace_back(*position, table);
    }
  }
  std::sort(stored.begin(), stored.end(),
            [](const auto& a, const auto& b) { return a.first.bytes < b.first.bytes; });
  for (const auto& [position, table] : stored) {
    LW_ASSIGN_OR_RETURN(const bool same, MoveTo(position));
    contents[table].number = position.content + (same ? 0 : 1);
  }
  return contents;
}

Status FileSource::FindStart(Delivery& out) {
  LW_ASSIGN_OR_RETURN(auto known, KnownPositions());
  LW_ASSIGN_OR_RETURN(x_content, ContentsFromStart());
  std::vector<size_t> by_place;
  for (size_t table = 0; table < known.size(); ++table) {
    if (known[table]) by_place.push_back(table);
  }
  std::sort(by_place.begin(), by_place.end(),
            [&](size_t a, size_t b) { return known[a]->bytes < known[b]->bytes; });
  for (const size_t table : by_place) {
    LW_ASSIGN_OR_RETURN(const bool same, MoveTo(*known[table]));
    if (same) continue;
    if (x_tables[table].epoch <= known[table]->epoch) return Rewound(*known[table]);
    known[table].reset();  // a new epoch was declared since: the file counts as a new one
    x_content[table].anew = true;
  }
  FilePosition start;
  bool started = false;
  x_known_lines.assign(x_tables.size(), 0);
  for (size_t table = 0; table < known.size(); ++table) {
    if (known[table]) {
      x_content[table] = {known[table]->began, known[table]->content, known[table]->anew};
    }
    if (x_tables[table].skip_all) {
      x_known_lines[table] = UINT64_MAX;
      continue;
    }
    const FilePosition position = known[table].value_or(FilePosition());
    x_known_lines[table] = position.lines;
    if (!started || position.bytes < start.bytes) start = position;
    started = true;
  }
  if (start.bytes != x_place.bytes) {
    LW_RETURN_IF_ERROR(Reopen());
    LW_RETURN_IF_ERROR(MoveTo(start));
  }
  x_place.lines = start.lines;
  if (start.bytes != 0) {
    out.notes.push_back(
        Message("{}: already applied up to byte {} (line {}); continuing behind it; --from-start "
                "applies it again",
                x_path, start.bytes, start.lines));
  }
  return Ok{};
}

Result<bool> FileSource::MoveTo(const FilePosition& position) {
  while (x_place.bytes < position.bytes) {
    const size_t size = std::min<uint64_t>(position.bytes - x_place.bytes, kPrefixBytes);
    LW_ASSIGN_OR_RETURN(const std::string_view piece, x_reader->PeekBytes(size));
    if (piece.empty()) return false;
    x_place.Advance(piece);
    x_reader->Consume(piece.size());
  }
  return position.bytes == 0 ||
         (x_place.bytes == position.bytes && x_place.hasher.Digest() == position.digest);
}

Error FileSource::Rewound(const FilePosition& position) const {
  const std::string what =
      x_place.bytes < position.bytes
          ? Message("the file ends at byte {}, but {} bytes ({} lines) of it are applied",
                    x_place.bytes, position.bytes, position.lines)
          : Message("the first {} bytes ({} lines) of the file are not those that were applied",
                    position.bytes, position.lines);
  return Error{ErrorKind::kSourceRewound,
               what +
                   "; apply it with --from-start when its versions go on, or declare the next "
                   "epoch with `lastword epoch` when they start again",
               lastword::Place{.input = x_path}};
}

std::string FileSource::InputFor(size_t table) const {
  const Content& content = x_content[table];
  if (content.number != 0) return Message("{}#{}.{}", x_input, content.began, content.number);
  return content.began == 0 ? x_input : Message("{}#{}", x_input, content.began);
}

Source::Positions FileSource::WithCurrent(size_t table, const FilePlace& current) const {
  Positions positions;
  const auto add = [&](const std::string& input, FilePosition position, const Content& content) {
    if (position.bytes == 0) return;  // nothing of it is applied: nothing to resume behind
    position.epoch = x_tables[table].epoch;
    position.began = content.began;
    position.content = content.number;
    position.anew = content.anew;
    positions[input] = ToString(position);
  };
  for (const auto& [input, done] : x_done) add(input, done.position, done.content[table]);
  // A table that is further than this run has come keeps the position that it has.
  if (x_is_open && HasPosition(x_input) && x_known_lines[table] <= current.lines) {
    add(x_input, current.Position(), x_content[table]);
  }
  return positions;
}

Source::Positions FileSource::Behind(size_t table) const {
  return WithCurrent(table, x_place);
}

Source::Positions FileSource::Before(size_t table, const ChangeHead& head) const {
  FilePlace place = x_chunk;
  place.Advance(x_chunk_bytes.substr(0, BeginOfLine(head.line)));
  return WithCurrent(table, place);
}

std::string FileSource::NameForPeople(const std::string& input) const {
  const std::string file = input.substr(0, input.rfind('#'));
  for (size_t i = 0; i < x_inputs.size(); ++i) {
    if (x_inputs[i] == input || x_inputs[i] == file) return x_options.paths[i];
  }
  return input;
}

Source::Progress FileSource::GetProgress() const {
  return {x_stored_before + (x_is_open ? x_bytes_stored : 0), x_stored_total};
}

}  // namespace lastword::file
