// A place in an open file on its way to becoming a position: bytes and lines in front of it, and
// the digest of those bytes, still open for more.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "source/file/file_position.h"

namespace lastword::file {

struct FilePlace {
  uint64_t bytes = 0, lines = 0;
  Hasher128 hasher;
  bool line_open = false;  // the last consumed line had no newline yet

  /// Moves behind `whole_lines`; the last may lack its newline.
  void Advance(std::string_view whole_lines);
  FilePosition Position() const { return {bytes, lines, hasher.Digest()}; }
};

}  // namespace lastword::file
