// Records that could not be applied, kept for people and for `lastword apply --dead-letter`. One
// NDJSON file a checkpoint in the folder dead_letter/ beside the table, VERSION-WRITER.ndjson: the
// Lance version whose commit it belongs to, and the epoch of the writer. A file above the table's
// version, or of another writer than the version's, is left from a checkpoint that never became
// visible; one below StateHead::dead_letter_from was applied since. No writer touches the files of
// one that took the table over. Older files are VERSION.ndjson, of any writer.
//
//   line := {"input", "offset", "line"?, "key"?, "column"?, "kind", "message", "record"}
//   record is the original record as text, or {"base64": …} where its bytes are not UTF-8.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lastword/status.h"

namespace lastword {

struct DeadLetter {
  Error error;         // kind, message and place
  std::string record;  // bytes as the source gave them
};

class DeadLetterFolder {
 public:
  explicit DeadLetterFolder(std::string folder) : x_folder(std::move(folder)) {}

  /// Writes the file of `version` and `writer`, durable when `sync`; replaces one left by a failed
  /// attempt. Without letters there is none.
  Status Write(uint64_t version, uint64_t writer, const std::vector<DeadLetter>& letters,
               bool sync) const;
  /// The epoch of the writer of a version, empty where it is not known any more.
  using WriterOf = std::function<Result<std::optional<uint64_t>>(uint64_t version)>;
  /// All letters of versions [from, to], oldest first. kStorageCorrupt names the file that cannot
  /// be read.
  Result<std::vector<DeadLetter>> Read(uint64_t from, uint64_t to, const WriterOf& writer_of) const;
  /// Removes the files of versions above `latest` by writers up to `writer`: of attempts that never
  /// became visible. To be called before a commit takes one of their numbers.
  Status RemoveAbove(uint64_t latest, uint64_t writer) const;
  /// Removes those in [from, to) whose version is of another writer: once the version itself is
  /// gone, nobody could tell any more.
  Status RemoveLost(uint64_t from, uint64_t to, const WriterOf& writer_of) const;
  /// Removes the files of versions below `from`.
  Status RemoveBelow(uint64_t from) const;

 private:
  struct File {
    uint64_t version = 0;
    std::optional<uint64_t> writer;
    std::string name;
  };
  Result<std::vector<File>> Files() const;
  Status ReadFile(const File& file, std::vector<DeadLetter>& letters) const;
  std::string PathOf(const File& file) const { return x_folder + "/" + file.name; }

  std::string x_folder;
};

}  // namespace lastword
