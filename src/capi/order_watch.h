// Counts orders of changes that no changelog of a key has: +I on a row that lives, or a removal of
// one that is gone. A sign that changes of a key came by several ways and overtook each other; it
// cannot see an inversion that looks like a changelog, so zero proves nothing.
//
// Within a batch the caller says what the key's last change left. Of earlier batches it remembers
// the keys that were sealed last, in a table of fixed size: a key is forgotten when another one
// needs its place, and never taken for another.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "capi/row_codec.h"

namespace lastword::capi {

/// What the changes of a key have left so far.
enum class RowLife : uint8_t { kUnknown, kLives, kGone };

class OrderWatch {
 public:
  /// Judges a change of `kind` that follows another one of its key in the batch.
  void Follows(RowLife before, RowKind kind) { x_suspected += Contradicts(before, kind) ? 1 : 0; }
  /// Judges the first change of a key in its batch.
  void Begins(const KeyHash& key, RowKind kind) { Follows(Remembered(key), kind); }
  /// The batch is sealed and leaves `key` so.
  void Remember(const KeyHash& key, RowLife life);
  /// Fetches what Begins will look at.
  void Prefetch(const KeyHash& key) const;

  uint64_t suspected() const { return x_suspected; }

 private:
  static bool Contradicts(RowLife before, RowKind kind) {
    return (before == RowLife::kLives && kind == RowKind::kInsert) ||
           (before == RowLife::kGone && IsRemoval(kind));
  }
  RowLife Remembered(const KeyHash& key) const;

  uint64_t x_suspected = 0;
  std::vector<uint64_t> x_places;  // 0, or a hash whose lowest bit says whether the row lives
};

}  // namespace lastword::capi
