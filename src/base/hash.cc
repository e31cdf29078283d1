#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lastword {

uint64_t Hash64(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

KeyHash Hash128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace lastword
