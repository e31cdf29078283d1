// Whether bytes are well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
// Text from outside that no JSON parser has checked passes here: an Arrow utf8 column that holds
// anything else breaks every reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace lastword {

/// Whether the 32 bytes at `bytes` are all ASCII.
inline bool AreAscii32(const char* bytes) {
  uint64_t words[4];
  std::memcpy(words, bytes, sizeof words);
  return ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080ULL) == 0;
}

/// True for well-formed text, the empty one included. Skips ASCII in stretches.
inline bool IsUtf8(std::string_view text) {
  const auto at = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  size_t i = 0;
  while (i < text.size()) {
    if (i + 32 <= text.size() && AreAscii32(text.data() + i)) {
      i += 32;
      continue;
    }
    uint64_t word;
    if (i + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + i, sizeof word);
      if ((word & 0x8080808080808080ULL) == 0) {
        i += sizeof word;
        continue;
      }
    }
    const uint8_t lead = at(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t more = lead < 0xC2 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 0;
    if (more == 0 || i + more >= text.size()) return false;
    const uint8_t second = at(i + 1);
    const uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (second < lowest || second > highest) return false;
    for (size_t j = 2; j <= more; ++j) {
      if ((at(i + j) & 0xC0) != 0x80) return false;
    }
    i += more + 1;
  }
  return true;
}

}  // namespace lastword
