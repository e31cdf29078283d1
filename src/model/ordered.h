// Signed numbers as unsigned ones of the same order: versions are unsigned, sequence columns often
// are not. Persisted in versions: never changes.
#pragma once

#include <cstdint>

namespace lastword {

/// Moves the range so that the smallest signed number becomes 0.
constexpr uint64_t OrderedFromSigned(int64_t value) {
  return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
}
constexpr int64_t SignedFromOrdered(uint64_t value) {
  return static_cast<int64_t>(value ^ (uint64_t{1} << 63));
}

}  // namespace lastword
