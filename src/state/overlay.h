// The uncommitted batch, key by key: what each touched key was at the last commit and what it is
// now. Dropping the overlay undoes the batch; the key index is written only after the commit.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/stable_vector.h"
#include "state/key_entry.h"
#include "state/key_extra.h"

namespace lastword {

/// A row of the uncommitted batch.
struct RowRef {
  uint32_t chunk = UINT32_MAX;  // UINT32_MAX: none, the row is the committed one
  uint32_t row = 0;
  bool pending() const { return chunk != UINT32_MAX; }
};

/// What a change looks at lies in two cache lines, what only the commit needs in a third.
struct alignas(64) PendingKey {
  KeyEntry now;          // address is meaningful only while the committed row is still the row
  RowRef row;            // of a live key, when the batch holds it
  std::string_view key;  // canonical bytes; empty where only the hash is known
  std::unique_ptr<KeyExtra> extra;  // when it may differ from the committed one
  bool changed = false;             // state or extra differ from what is committed
  bool lone_update_before = false;  // its -U waits for its +U
  alignas(64) KeyEntry before;      // as committed; status kNone where there was nothing
};
static_assert(sizeof(PendingKey) == 192);

class Overlay {
 public:
  /// The key's slot, or null where the batch has not touched it. Stays valid until Clear.
  PendingKey* Find(const KeyHash& key);
  /// Tells the memory that a Find of `key` follows: the slot first, what it names once that came.
  void PrefetchSlot(const KeyHash& key) const {
    if (!x_slots.empty()) __builtin_prefetch(&x_slots[Home(key)]);
  }
  void PrefetchKey(const KeyHash& key) const {
    if (x_slots.empty()) return;
    const Slot& slot = x_slots[Home(key)];
    if (slot.number == kFree || slot.tag != TagOf(key)) return;
    const PendingKey& pending = x_keys[slot.number];
    __builtin_prefetch(&pending.now);
    __builtin_prefetch(&pending.row);
  }
  /// A fresh slot; the key must not be there.
  PendingKey& Add(const KeyHash& key);
  PendingKey& at(uint64_t slot) { return x_keys[slot]; }
  const PendingKey& at(uint64_t slot) const { return x_keys[slot]; }
  uint64_t size() const { return x_keys.size(); }
  uint64_t bytes_held() const { return x_keys.bytes_held() + x_slots.size() * sizeof(Slot); }
  void Clear();

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  // The tag spares a look at a key that only lies where the wanted one would.
  struct Slot {
    uint32_t number = kFree;  // in x_keys
    uint32_t tag = 0;
  };
  static uint32_t TagOf(const KeyHash& key) { return static_cast<uint32_t>(key.low); }
  uint64_t Home(const KeyHash& key) const { return key.high & (x_slots.size() - 1); }
  void Rehash(uint64_t slots);
  void Place(uint32_t number, const KeyHash& key);

  StableVector<PendingKey> x_keys;
  std::vector<Slot> x_slots;  // open addressing
};

}  // namespace lastword
