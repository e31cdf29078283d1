// Copies of a few bytes without a call: most names, numbers and texts of a row are that short, and
// a call costs more than the copy.
#pragma once

#include <cstddef>
#include <cstring>

namespace lastword {

/// The first and the last `kWidth` of `size` bytes, which may overlap each other.
template <size_t kWidth>
inline void CopyEnds(char* to, const char* from, size_t size) {
  char first[kWidth], last[kWidth];
  std::memcpy(first, from, kWidth);
  std::memcpy(last, from + size - kWidth, kWidth);
  std::memcpy(to, first, kWidth);
  std::memcpy(to + size - kWidth, last, kWidth);
}

/// Copies `size` bytes from one place to another that does not overlap it.
inline void CopyShort(char* to, const char* from, size_t size) {
  if (size > 32) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    CopyEnds<16>(to, from, size);
  } else if (size >= 8) {
    CopyEnds<8>(to, from, size);
  } else if (size >= 4) {
    CopyEnds<4>(to, from, size);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

}  // namespace lastword
