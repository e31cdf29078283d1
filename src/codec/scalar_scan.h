// Reads scalars of JSON where they stand, without tokens: for text whose tokens are known from a
// line before it. Gives up where anything is unusual, right or wrong, and never says why: whoever
// asks reads the whole line in the general way then.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/byte_lanes.h"
#include "base/utf8.h"
#include "codec/json_cursor.h"

namespace lastword::codec {

/// Whether `size` bytes are the same.
inline bool SameBytes(const char* a, const char* b, size_t size) {
  if (size < 16) {
    if (size >= 8) {
      uint64_t low[2], high[2];
      std::memcpy(&low[0], a, 8);
      std::memcpy(&low[1], b, 8);
      std::memcpy(&high[0], a + size - 8, 8);
      std::memcpy(&high[1], b + size - 8, 8);
      return ((low[0] ^ low[1]) | (high[0] ^ high[1])) == 0;
    }
    for (size_t i = 0; i < size; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  // The last sixteen overlap the ones before them.
  for (size_t i = 0; i + 16 < size; i += 16) {
    if (FirstSet(LoadLanes(a + i) != LoadLanes(b + i)) != 16) return false;
  }
  return FirstSet(LoadLanes(a + size - 16) != LoadLanes(b + size - 16)) == 16;
}

/// The first byte from `at` on that is no digit.
inline const char* DigitsEnd(const char* at, const char* end) {
  while (end - at >= 16) {
    const ByteLanes lanes = LoadLanes(at);
    const size_t first = FirstSet((lanes < '0') | (lanes > '9'));
    if (first != 16) return at + first;
    at += 16;
  }
  while (at != end && *at >= '0' && *at <= '9') ++at;
  return at;
}

/// Behind the text whose opening quote is at `at`; null where it is not closed before `end`, holds
/// a control character or no UTF-8, or has an escape other than the short ones.
inline const char* TextEnd(const char* at, const char* end) {
  const char* const begin = ++at;
  bool ascii = true;
  while (true) {
    if (end - at >= 16) {
      const ByteLanes lanes = LoadLanes(at);
      // As signed numbers, control characters and all beyond ASCII are below a blank.
      const size_t first = FirstSet((lanes == '"') | (lanes == '\\') | (lanes < ' '));
      if (first == 16) {
        at += 16;
        continue;
      }
      at += first;
    }
    if (at == end) return nullptr;
    const char c = *at;
    if (c == '"') break;
    if (static_cast<uint8_t>(c) < ' ') return nullptr;
    if (c == '\\') {
      if (++at == end || std::memchr("\"\\/bfnrt", *at, 8) == nullptr) return nullptr;
    }
    ascii &= c >= 0;
    ++at;
  }
  if (!ascii && !IsUtf8(std::string_view(begin, static_cast<size_t>(at - begin)))) return nullptr;
  return at + 1;
}

/// ScalarEnd of what is neither a text nor a short whole number.
const char* PlainEnd(const char* at, const char* end);

/// Behind the scalar at `at`, which ends before `end`; null where there is none that is sound.
inline const char* ScalarEnd(const char* at, const char* end) {
  if (at == end) return nullptr;
  if (*at == '"') return TextEnd(at, end);
  const char* const behind = DigitsEnd(at, end);
  // What may follow a number without being part of it, in an object without blanks.
  const bool whole = behind != at && behind != end && (*behind == ',' || *behind == '}') &&
                     (*at != '0' || behind == at + 1);
  return whole ? behind : PlainEnd(at, end);
}

}  // namespace lastword::codec
