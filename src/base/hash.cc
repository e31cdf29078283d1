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

void Hash128Each(std::string_view bytes, size_t count, KeyHash* hashes) {
  const size_t size = count == 0 ? 0 : bytes.size() / count;
  for (size_t i = 0; i < count; ++i) hashes[i] = Hash128(bytes.substr(i * size, size));
}

struct Hasher128::State {
  XXH3_state_t hash;
};

Hasher128::Hasher128() : x_state(std::make_unique<State>()) {
  XXH3_128bits_reset(&x_state->hash);
}
Hasher128::~Hasher128() = default;
Hasher128::Hasher128(const Hasher128& other) : x_state(std::make_unique<State>(*other.x_state)) {}
Hasher128& Hasher128::operator=(const Hasher128& other) {
  *x_state = *other.x_state;
  return *this;
}

void Hasher128::Update(std::string_view bytes) {
  XXH3_128bits_update(&x_state->hash, bytes.data(), bytes.size());
}

KeyHash Hasher128::Digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&x_state->hash);
  return {hash.high64, hash.low64};
}

}  // namespace lastword
