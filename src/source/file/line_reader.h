// Whole lines of a byte stream, as many as fit a chunk, with readable bytes behind them. A line
// that is longer than the chunk makes the buffer grow; nothing is ever cut inside a line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lastword/status.h"
#include "source/file/byte_stream.h"

namespace lastword::file {

/// Memory for lines, and the lines that lie in it.
struct LineBuffer {
  std::unique_ptr<char[]> memory;
  size_t capacity = 0;  // codec::kPaddingBytes are readable behind it
  size_t begin = 0, size = 0;

  std::string_view bytes() const { return {memory.get() + begin, size}; }
};

class LineReader {
 public:
  /// `chunk_bytes`: size of a chunk unless one line is longer.
  explicit LineReader(std::unique_ptr<ByteStream> stream, size_t chunk_bytes = 1 << 20);

  struct Lines {
    std::string_view bytes;  // whole lines; codec::kPaddingBytes are readable behind
    bool last = false;       // the input ends here; the last line may lack its newline
  };
  /// The next lines, at most `lines_max`; empty and last = end of the input. Valid until the next
  /// Peek or PeekBytes. An error of the stream comes once the lines before it are consumed.
  Result<Lines> Peek(uint64_t lines_max);
  /// Moves `bytes` ahead, which lie inside what Peek showed.
  void Consume(size_t bytes);
  /// Moves `bytes` ahead as Consume does, and gives away the memory that they lie in: nothing is
  /// copied but what was read behind them. Reading goes on in the memory of `spare`, where it is
  /// large enough.
  LineBuffer TakeAway(size_t bytes, LineBuffer spare);

  /// Reads at most `size` bytes whatever lines they form; less only at the end. Valid as Peek is.
  Result<std::string_view> PeekBytes(size_t size);

  uint64_t bytes_stored() const { return x_stream->bytes_stored(); }

 private:
  // Makes room and reads once; false = end.
  Result<bool> Fill();
  // Goes on in memory of `capacity` bytes, that of `spare` where it has as many; gives what it was.
  std::unique_ptr<char[]> MoveInto(size_t capacity, LineBuffer spare);

  std::unique_ptr<ByteStream> x_stream;
  size_t x_chunk_bytes;
  std::unique_ptr<char[]> x_buffer;
  size_t x_capacity = 0;          // without the padding
  size_t x_begin = 0, x_end = 0;  // of what was read and not consumed
  size_t x_no_newline = 0;        // bytes from x_begin on that are known to hold none
  bool x_ended = false;
  std::optional<Error> x_error;  // of the stream, for when the buffer has no whole line left
};

}  // namespace lastword::file
