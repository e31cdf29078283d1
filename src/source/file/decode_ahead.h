// Reads and decodes a file ahead of whoever applies it. Each thread in turn reads the next lines,
// then decodes them while another reads on; what they make is taken in the order of the file, so
// the order of changes and every position are those of one thread. Bounded by bytes. Knows no
// tables and no policy: lines that need more than decoding are handed over as bytes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "codec/decoder.h"
#include "source/file/file_place.h"
#include "source/file/line_reader.h"

namespace lastword::file {

/// Whole lines of a file and what was decoded of them.
struct AheadChunk {
  LineBuffer buffer;
  bool last = false;          // the input ends behind it
  FilePlace begin, end;       // of its first byte; behind its last
  uint64_t bytes_stored = 0;  // read from storage once it was read
  uint64_t specs = 0;         // which SetTables it was decoded under
  codec::Decoded decoded;

  std::string_view bytes() const { return buffer.bytes(); }
  uint64_t lines() const { return end.lines - begin.lines; }
  uint64_t bytes_held() const { return buffer.capacity + codec::BytesHeld(decoded); }
};

class DecodeAhead {
 public:
  /// One thread a decoder, from now until the destructor. Lines that were read and not given back,
  /// and what was decoded of them, hold at most `bytes_max`, and one chunk a thread beyond it.
  DecodeAhead(std::vector<std::unique_ptr<codec::Decoder>> decoders, uint64_t bytes_max);
  ~DecodeAhead();
  DecodeAhead(const DecodeAhead&) = delete;
  DecodeAhead& operator=(const DecodeAhead&) = delete;

  // One thread calls what follows.

  /// What is decoded from now on is decoded with `tables`; what was decoded before keeps the number
  /// of its own specs().
  void SetTables(const std::vector<codec::TableSpec>& tables);
  /// How often SetTables was called.
  uint64_t specs() const { return x_specs_number; }

  /// Starts with the lines of `reader`, which belongs to the threads until Finish; it stands at
  /// `place` of `input`. The file before it was finished.
  void Start(std::unique_ptr<LineReader> reader, FilePlace place, std::string input);
  /// The next chunk, in the order of the file; waits for it. Empty: the file is at its end, and
  /// `bytes_stored` was read of it. An error of the reader comes behind the lines in front of it,
  /// and comes again.
  Result<std::unique_ptr<AheadChunk>> Take();
  /// Gives the chunk that was taken last back, so that its memory is used again.
  void Recycle(std::unique_ptr<AheadChunk> chunk);
  /// Leaves the file; what was read and not taken is dropped.
  void Finish();

 private:
  struct Waiting {
    std::unique_ptr<AheadChunk> chunk;  // null while a thread decodes it
    uint64_t bytes = 0;                 // that it holds
  };

  void Run(codec::Decoder& decoder);
  // Whether a thread may read on. Full is full until there is room for more than one chunk: to wake
  // a thread for each costs more than its chunk.
  bool MayRead();
  // Reads the next chunk; the caller is the one thread that reads. False: end or error.
  bool Read(AheadChunk& chunk, std::optional<Error>& error);

  const uint64_t x_bytes_max;
  mutable std::mutex x_mutex;
  std::condition_variable x_may_read;  // MayRead may be true for one thread, or x_stop is
  std::condition_variable x_ready;     // what Take and Finish wait for
  bool x_stop = false;
  bool x_reading = false;  // a thread holds the reader and what belongs to it
  bool x_full = false;
  bool x_ended = true;  // no more lines come
  std::optional<Error> x_error;
  std::unique_ptr<LineReader> x_reader;
  FilePlace x_place;  // behind what was read
  std::string x_input;
  std::deque<Waiting> x_waiting;  // in the order of the file
  uint64_t x_first = 0;           // number of the first of them
  uint64_t x_waiting_bytes = 0;
  uint64_t x_taken_bytes = 0;  // of the chunk that the caller has
  std::vector<std::unique_ptr<AheadChunk>> x_spare;
  std::vector<codec::TableSpec> x_specs;
  uint64_t x_specs_number = 0;
  std::vector<std::thread> x_threads;
};

}  // namespace lastword::file
