#include "source/file/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/decoder.h"

namespace lastword::file {

LineReader::LineReader(std::unique_ptr<ByteStream> stream, size_t chunk_bytes)
    : x_stream(std::move(stream)), x_chunk_bytes(std::max<size_t>(chunk_bytes, 1)) {}

Result<bool> LineReader::Fill() {
  if (x_error) return *x_error;
  if (x_ended) return false;
  // No more than what a chunk lacks: then only the rest of a line is ever moved to the front.
  const size_t held = x_end - x_begin;
  const size_t wanted = held < x_chunk_bytes ? x_chunk_bytes - held : x_chunk_bytes;
  if (x_begin != 0 && x_capacity - x_end < wanted) {
    std::memmove(x_buffer.get(), x_buffer.get() + x_begin, held);
    x_begin = 0;
    x_end = held;
  }
  if (x_capacity - x_end < wanted) MoveInto(std::max(x_end + wanted, 2 * x_capacity), {});
  const auto got = x_stream->Read(x_buffer.get() + x_end, wanted);
  if (!got.ok()) {
    x_error = got.error();
    return *x_error;
  }
  x_end += *got;
  x_ended = *got == 0;
  return !x_ended;
}

std::unique_ptr<char[]> LineReader::MoveInto(size_t capacity, LineBuffer spare) {
  if (spare.capacity < capacity) {
    spare.memory = std::make_unique_for_overwrite<char[]>(capacity + codec::kPaddingBytes);
    spare.capacity = capacity;
    std::memset(spare.memory.get() + capacity, 0, codec::kPaddingBytes);
  }
  const size_t held = x_end - x_begin;
  if (held != 0) std::memcpy(spare.memory.get(), x_buffer.get() + x_begin, held);
  x_capacity = spare.capacity;
  x_begin = 0;
  x_end = held;
  return std::exchange(x_buffer, std::move(spare.memory));
}

Result<LineReader::Lines> LineReader::Peek(uint64_t lines_max) {
  const char* newline = nullptr;
  while (true) {
    const size_t size = x_end - x_begin;
    if (size != 0) {
      const char* begin = x_buffer.get() + x_begin;
      newline = static_cast<const char*>(memrchr(begin + x_no_newline, '\n', size - x_no_newline));
      x_no_newline = newline == nullptr ? size : 0;
    }
    if (newline != nullptr && (size >= x_chunk_bytes || x_error || x_ended)) break;
    const auto more = Fill();
    if (!more.ok()) {
      // The lines in front of the damage are delivered first; the error follows them.
      if (newline == nullptr) return more.error();
      break;
    }
    if (!*more) break;
  }
  const char* begin = x_buffer.get() + x_begin;
  size_t size = x_end - x_begin;
  const bool whole = x_ended;
  if (!whole) size = newline == nullptr ? 0 : static_cast<size_t>(newline + 1 - begin);
  // A chunk stays near its size even when more lies in the buffer.
  if (size > x_chunk_bytes) {
    const auto* cut = static_cast<const char*>(memrchr(begin, '\n', x_chunk_bytes));
    if (cut == nullptr) {
      cut = static_cast<const char*>(std::memchr(begin, '\n', size));
    }
    if (cut != nullptr) size = static_cast<size_t>(cut + 1 - begin);
  }
  if (lines_max < size) {  // no line is shorter than one byte
    const char* at = begin;
    for (uint64_t lines = 0; lines < lines_max && at < begin + size; ++lines) {
      const auto* end =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(begin + size - at)));
      at = end == nullptr ? begin + size : end + 1;
    }
    size = static_cast<size_t>(at - begin);
  }
  return Lines{std::string_view(begin, size), whole && x_begin + size == x_end};
}

void LineReader::Consume(size_t bytes) {
  x_begin += bytes;
  x_no_newline = 0;
}

LineBuffer LineReader::TakeAway(size_t bytes, LineBuffer spare) {
  LineBuffer taken{nullptr, x_capacity, x_begin, bytes};
  Consume(bytes);
  taken.memory = MoveInto(std::max(x_end - x_begin, x_chunk_bytes), std::move(spare));
  return taken;
}

Result<std::string_view> LineReader::PeekBytes(size_t size) {
  while (x_end - x_begin < size) {
    LW_ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) break;
  }
  return std::string_view(x_buffer.get() + x_begin, std::min(size, x_end - x_begin));
}

}  // namespace lastword::file
