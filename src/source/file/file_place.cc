#include "source/file/file_place.h"

#include <cstring>

namespace lastword::file {

void FilePlace::Advance(std::string_view whole_lines) {
  if (whole_lines.empty()) return;
  line_open = whole_lines.back() != '\n';
  bytes += whole_lines.size();
  hasher.Update(whole_lines);
  const char* at = whole_lines.data();
  const char* const end = at + whole_lines.size();
  while (at != end) {
    const void* const newline = std::memchr(at, '\n', static_cast<size_t>(end - at));
    at = newline == nullptr ? end : static_cast<const char*>(newline) + 1;
    ++lines;
  }
}

}  // namespace lastword::file
