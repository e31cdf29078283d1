// Records that could not be applied, kept for people and for `lastword apply --dead-letter`. One
// NDJSON file a checkpoint in the folder dead_letter/ beside the table, named after the Lance
// version whose commit it belongs to: a file above the table's version is left from a checkpoint
// that never became visible, one below StateHead::dead_letter_from was applied since.
//
//   line := {"input", "offset", "line"?, "key"?, "column"?, "kind", "message", "record"}
//   record is the original record as text, or {"base64": …} where its bytes are not UTF-8.
#pragma once

#include <cstdint>
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

  /// Writes the file of `version`, durable when `sync`; replaces one left by a failed attempt.
  Status Write(uint64_t version, const std::vector<DeadLetter>& letters, bool sync) const;
  /// All letters of versions [from, to], oldest first. kStorageCorrupt names the file that cannot
  /// be read.
  Result<std::vector<DeadLetter>> Read(uint64_t from, uint64_t to) const;
  /// Removes the files of versions above `latest`: of attempts that never became visible. To be
  /// called before a commit takes one of their numbers.
  Status RemoveAbove(uint64_t latest) const;
  /// Removes the files of versions below `from`.
  Status RemoveBelow(uint64_t from) const;

 private:
  Result<std::vector<uint64_t>> Versions() const;
  std::string PathOf(uint64_t version) const;

  std::string x_folder;
};

}  // namespace lastword
