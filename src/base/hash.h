// 64- and 128-bit hashes of bytes. The only file that knows which hash; its results are persisted,
// so it never changes.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace lastword {

/// Identity of a key: XXH3-128 of its canonical bytes (model/key.h). Two keys with one hash are
/// taken for one; at 10^10 keys that chance is below 10^-18.
struct KeyHash {
  uint64_t high = 0, low = 0;
  friend auto operator<=>(const KeyHash&, const KeyHash&) = default;
};

/// XXH3-64, seed 0.
uint64_t Hash64(std::string_view bytes);
/// XXH3-128, seed 0.
KeyHash Hash128(std::string_view bytes);

/// For std::unordered_map: a KeyHash is already uniform.
struct KeyHashHasher {
  size_t operator()(const KeyHash& hash) const { return hash.low; }
};

}  // namespace lastword
