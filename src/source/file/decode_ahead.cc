#include "source/file/decode_ahead.h"

#include <utility>

namespace lastword::file {
namespace {

// A chunk of one long line is not kept for the next ones.
constexpr size_t kSpareBytesMax = 1 << 20;
// What was full is read into again once it holds no more than so large a part.
constexpr uint64_t kRefillNumerator = 3, kRefillDenominator = 4;

}  // namespace

DecodeAhead::DecodeAhead(std::vector<std::unique_ptr<codec::Decoder>> decoders, uint64_t bytes_max)
    : x_bytes_max(bytes_max) {
  for (std::unique_ptr<codec::Decoder>& decoder : decoders) {
    x_threads.emplace_back(
        [this, own = std::shared_ptr<codec::Decoder>(std::move(decoder))] { Run(*own); });
  }
}

DecodeAhead::~DecodeAhead() {
  {
    const std::lock_guard lock(x_mutex);
    x_stop = true;
  }
  x_may_read.notify_all();
  for (std::thread& thread : x_threads) thread.join();
}

void DecodeAhead::SetTables(const std::vector<codec::TableSpec>& tables) {
  const std::lock_guard lock(x_mutex);
  x_specs = tables;
  ++x_specs_number;
}

void DecodeAhead::Start(std::unique_ptr<LineReader> reader, FilePlace place, std::string input) {
  {
    const std::lock_guard lock(x_mutex);
    x_reader = std::move(reader);
    x_place = std::move(place);
    x_input = std::move(input);
    x_error.reset();
    x_ended = false;
  }
  x_may_read.notify_one();
}

void DecodeAhead::Finish() {
  std::unique_lock lock(x_mutex);
  x_ended = true;
  // Threads may be at work on what nobody wants any more.
  x_ready.wait(lock, [this] {
    if (x_reading) return false;
    for (const Waiting& waiting : x_waiting) {
      if (waiting.chunk == nullptr) return false;
    }
    return true;
  });
  x_first += x_waiting.size();
  x_waiting.clear();
  x_waiting_bytes = x_taken_bytes = 0;
  x_reader.reset();
}

Result<std::unique_ptr<AheadChunk>> DecodeAhead::Take() {
  std::unique_lock lock(x_mutex);
  x_ready.wait(lock, [this] {
    if (!x_waiting.empty()) return x_waiting.front().chunk != nullptr;
    return x_ended && !x_reading;
  });
  if (x_waiting.empty()) {
    if (x_error) return *x_error;
    return std::unique_ptr<AheadChunk>();
  }
  std::unique_ptr<AheadChunk> chunk = std::move(x_waiting.front().chunk);
  x_taken_bytes = x_waiting.front().bytes;
  x_waiting_bytes -= x_taken_bytes;
  x_waiting.pop_front();
  ++x_first;
  return chunk;
}

void DecodeAhead::Recycle(std::unique_ptr<AheadChunk> chunk) {
  if (chunk->buffer.capacity > kSpareBytesMax) chunk.reset();
  bool may_read = false;
  {
    const std::lock_guard lock(x_mutex);
    x_taken_bytes = 0;
    if (chunk != nullptr) x_spare.push_back(std::move(chunk));
    may_read = MayRead();
  }
  if (may_read) x_may_read.notify_one();
}

bool DecodeAhead::MayRead() {
  const uint64_t held = x_waiting_bytes + x_taken_bytes;
  const uint64_t low = x_bytes_max / kRefillDenominator * kRefillNumerator;
  x_full = held != 0 && held >= (x_full ? low : x_bytes_max);
  return !x_ended && !x_reading && !x_full;
}

bool DecodeAhead::Read(AheadChunk& chunk, std::optional<Error>& error) {
  const auto lines = x_reader->Peek(UINT64_MAX);
  if (!lines.ok()) {
    error = lines.error();
    return false;
  }
  std::string_view bytes = lines->bytes;
  if (x_place.line_open && bytes.starts_with('\n')) {
    // The file went on behind a last line that had no newline when it was applied.
    x_place.Advance(bytes.substr(0, 1));
    --x_place.lines;
    x_reader->Consume(1);
    bytes.remove_prefix(1);
    if (bytes.empty()) return Read(chunk, error);
  }
  if (bytes.empty()) return false;
  chunk.buffer = x_reader->TakeAway(bytes.size(), std::move(chunk.buffer));
  chunk.last = lines->last;
  chunk.begin = x_place;
  x_place.Advance(chunk.bytes());
  chunk.end = x_place;
  chunk.bytes_stored = x_reader->bytes_stored();
  return true;
}

void DecodeAhead::Run(codec::Decoder& decoder) {
  uint64_t specs = 0;
  std::unique_lock lock(x_mutex);
  while (true) {
    x_may_read.wait(lock, [this] { return x_stop || MayRead(); });
    if (x_stop) return;
    std::unique_ptr<AheadChunk> chunk;
    if (x_spare.empty()) {
      chunk = std::make_unique<AheadChunk>();
    } else {
      chunk = std::move(x_spare.back());
      x_spare.pop_back();
    }
    x_reading = true;
    lock.unlock();
    std::optional<Error> error;
    const bool read = Read(*chunk, error);
    lock.lock();
    x_reading = false;
    if (!read) {
      x_ended = true;
      x_error = std::move(error);
      x_spare.push_back(std::move(chunk));
      x_ready.notify_one();
      continue;
    }
    const uint64_t number = x_first + x_waiting.size();
    const uint64_t before = chunk->bytes_held();
    x_waiting.push_back({nullptr, before});
    x_waiting_bytes += before;
    chunk->specs = x_specs_number;
    if (specs != x_specs_number) {
      specs = x_specs_number;
      decoder.SetTables(x_specs);
    }
    const codec::ChunkPlace place{x_input, chunk->begin.bytes, chunk->begin.lines + 1};
    lock.unlock();
    x_may_read.notify_one();
    decoder.DecodeLines(chunk->bytes(), place, chunk->last, chunk->decoded);
    const uint64_t bytes = chunk->bytes_held();
    lock.lock();
    x_waiting[number - x_first] = {std::move(chunk), bytes};
    x_waiting_bytes += bytes - before;
    if (number == x_first || x_ended) x_ready.notify_one();
  }
}

}  // namespace lastword::file
