// Files of NDJSON, one after the other, as a source: resumes each behind what the tables have
// committed of it, and refuses a file whose consumed part has changed. Reads only; keeps nothing on
// disk.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "source/file/file_position.h"
#include "source/file/line_reader.h"
#include "source/source.h"

namespace lastword::file {

struct FileSourceOptions {
  std::vector<std::string> paths;  // in order; "-" = standard input
  bool from_start = false;         // ignore positions: deliver everything again
  size_t chunk_bytes = 1 << 20;
};

class FileSource : public Source {
 public:
  FileSource(FileSourceOptions options, std::unique_ptr<codec::Decoder> decoder);

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
  // Which content of a file, for a table: FilePosition's `began` and `content`.
  struct Content {
    uint32_t began = 0, number = 0;
  };

  // A place in the open file: what a position holds, with the digest still open.
  struct Place {
    uint64_t bytes = 0, lines = 0;
    Hasher128 hasher;
    bool line_open = false;  // the last consumed line had no newline yet

    void Advance(std::string_view whole_lines);
    FilePosition Position() const { return {bytes, lines, hasher.Digest()}; }
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
  // Where a line of the last delivery begins in x_chunk_bytes.
  size_t BeginOfLine(uint64_t line) const;
  Positions WithCurrent(size_t table, const Place& current) const;

  FileSourceOptions x_options;
  std::vector<std::string> x_inputs;  // name of each path as an input of the tables
  std::unique_ptr<codec::Decoder> x_decoder;
  std::vector<ResumePoint> x_tables;

  size_t x_next_path = 0;
  std::string x_path, x_input;  // of the open file
  std::unique_ptr<LineReader> x_reader;
  Place x_place;                        // behind what was handed out
  Place x_chunk;                        // of the last delivery's first byte
  std::string_view x_chunk_bytes;       // the last delivery's lines, while the reader shows them
  std::vector<uint64_t> x_known_lines;  // a table: lines of the open file that are part of it

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
