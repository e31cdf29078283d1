// 64- and 128-bit hashes of bytes. The only file that knows which hash; its results are persisted,
// so it never changes.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
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
/// Hash128 of `count` texts of one length, which lie one behind the other in `bytes`.
void Hash128Each(std::string_view bytes, size_t count, KeyHash* hashes);

/// XXH3-128 of bytes that come in pieces: the digest after any cut is Hash128 of the whole.
class Hasher128 {
 public:
  Hasher128();
  ~Hasher128();
  Hasher128(const Hasher128& other);
  Hasher128& operator=(const Hasher128& other);

  void Update(std::string_view bytes);
  /// Of everything so far; more may follow.
  KeyHash Digest() const;

 private:
  struct State;
  std::unique_ptr<State> x_state;
};

/// For std::unordered_map: a KeyHash is already uniform.
struct KeyHashHasher {
  size_t operator()(const KeyHash& hash) const { return hash.low; }
};

}  // namespace lastword
