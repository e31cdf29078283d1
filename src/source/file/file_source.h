// Files of NDJSON, one after the other, as a source: resumes each behind what the tables have
// committed of it, and refuses a file whose consumed part has changed. Reads only; keeps nothing on
// disk. Decodes ahead of its caller where it is given decoders for it; what it delivers is the
// same.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/file/decode_ahead.h"
#include "source/file/file_place.h"
#include "source/file/file_position.h"
#include "source/file/line_reader.h"
#include "source/source.h"

namespace lastword::file {

struct FileSourceOptions {
  std::vector<std::string> paths;       // in order; "-" = standard input
  bool from_start = false;              // ignore positions: deliver everything again
  size_t chunk_bytes = 256 << 10;       // small enough for a core's cache
  uint64_t ahead_bytes_max = 16 << 20;  // lines that wait for the caller, decoded
};

class FileSource : public Source {
 public:
  /// Each decoder of `ahead`, of the same format as `decoder`, gets a thread that reads regular
  /// files and decodes ahead of Next. Without any, and for what is no regular file, everything
  /// happens in the calls.
  FileSource(FileSourceOptions options, std::unique_ptr<codec::Decoder> decoder,
             std::vector<std::unique_ptr<codec::Decoder>> ahead = {});

  void Resume(std::vector<ResumePoint> tables) override;
  void SetTables(const std::vector<codec::TableSpec>& tables) override;
  Status Next(uint64_t records_max, Delivery& out) override;
  Result<std::string> SkipRecord() override;
  std::string RecordOf(const ChangeHead& head) const override;
  Positions Behind(size_t table) const override;
  Positions Before(size_t table, const ChangeHead& head) const override;
  std::string NameForPeople(const std::string& input) const override;
  Progress GetProgress() const override;

 private:
  // Which content of a file, for a table: FilePosition's `began`, `content` and `anew`.
  struct Content {
    uint32_t began = 0, number = 0;
    bool anew = false;
  };

  // Opens the next path and moves behind what every table has of it; false = there is none left.
  Result<bool> OpenNext(Delivery& out);
  // Checks the positions that the tables have of the open file and moves to the lowest of them.
  Status FindStart(Delivery& out);
  // What each table has of the open file; empty = nothing that counts.
  Result<std::vector<std::optional<FilePosition>>> KnownPositions() const;
  // Which content each table finds in the open file, of which nothing counts as applied: the same
  // as before, or the next. Reads on.
  Result<std::vector<Content>> ContentsFromStart();
  // Reads and digests on until `position`; false = the file holds something else up to there.
  Result<bool> MoveTo(const FilePosition& position);
  Status Reopen();
  void CloseCurrent();
  Error Rewound(const FilePosition& position) const;
  // What a table's state calls the open file: content that began in a later epoch, or took the
  // place of other content, is another input there, whose byte offsets start again.
  std::string InputFor(size_t table) const;
  // The next lines at x_place into `out`; false = the open file is at its end.
  Result<bool> Deliver(uint64_t records_max, Delivery& out);
  Result<bool> DeliverAhead(uint64_t records_max, Delivery& out);
  void DecodeHere(std::string_view lines, bool last, Delivery& out);
  // What is left of x_front.
  std::string_view FrontLeft() const { return x_front->bytes().substr(x_front_begin); }
  // Where a line of the last delivery begins in x_chunk_bytes.
  size_t BeginOfLine(uint64_t line) const;
  Positions WithCurrent(size_t table, const FilePlace& current) const;

  FileSourceOptions x_options;
  std::vector<std::string> x_inputs;  // name of each path as an input of the tables
  std::unique_ptr<codec::Decoder> x_decoder;
  std::vector<ResumePoint> x_tables;

  size_t x_next_path = 0;
  std::string x_path, x_input;  // of the open file
  bool x_is_open = false;
  std::unique_ptr<LineReader> x_reader;  // null while x_ahead has it
  std::unique_ptr<DecodeAhead> x_ahead;  // null: nothing is decoded ahead
  bool x_is_ahead = false;               // the open file is read by x_ahead
  std::unique_ptr<AheadChunk> x_front;   // taken from x_ahead; null: the next one is to be taken
  size_t x_front_begin = 0;              // bytes of it that were handed out
  uint64_t x_bytes_stored = 0;           // of the open file
  FilePlace x_place;                     // behind what was handed out
  FilePlace x_chunk;                     // of the last delivery's first byte
  std::string_view x_chunk_bytes;        // the last delivery's lines, until the next call
  std::vector<uint64_t> x_known_lines;   // a table: lines of the open file that are part of it

  std::vector<Content> x_content;  // a table: of the open file

  struct Done {
    FilePosition position;
    std::vector<Content> content;  // a table
  };
  std::map<std::string, Done> x_done;  // inputs that this run has left behind
  uint64_t x_stored_before = 0;        // stored bytes of finished files
  uint64_t x_stored_total = 0;
};

}  // namespace lastword::file
