// Where a file resumes: how much of it was consumed, and a digest of exactly those bytes, so that a
// file with other content is never taken for a longer version of the same one.
//
//   position := {"bytes":n,"lines":n,"digest":"32 hex digits"[,"epoch":n][,"began":n]
//                [,"content":n][,"anew":1]}
//
// bytes: behind the last consumed line, decompressed; lines: consumed so far; digest: XXH3-128 of
// the consumed bytes; epoch: of the table when this was written; began: of the table when the first
// byte of this content was read; content: how often other content has taken the file's place in
// that epoch, delivered from its start; anew: it took the place of what was consumed in an earlier
// epoch. Each is absent for 0.
// Persisted in the table with each checkpoint: what was written once is read for ever.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "lastword/status.h"

namespace lastword::file {

struct FilePosition {
  uint64_t bytes = 0;
  uint64_t lines = 0;
  KeyHash digest;
  uint32_t epoch = 0, began = 0, content = 0;
  bool anew = false;
};

std::string ToString(const FilePosition& position);
/// kPositionsLost where the text is no position of a file.
Result<FilePosition> ParseFilePosition(std::string_view text);

/// Name of a file in the positions of a table: its absolute path without links and dots, so that
/// every way to name it is one input. "-" for standard input and for what is no file, such as a
/// pipe: it has no position, every byte of it is new.
std::string InputOf(const std::string& path);

/// False for the inputs of streams: "-", and "-2" for the second one of a run.
inline bool HasPosition(std::string_view input) {
  return !input.starts_with('-');
}

}  // namespace lastword::file
