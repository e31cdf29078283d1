// The key index in memory: open addressing, one cache line an entry, in shards that grow one at a
// time, so that growing never needs twice the memory of the whole.
#pragma once

#include <memory>
#include <vector>

#include "state/key_index.h"

namespace lastword {

class MemoryIndex : public KeyIndex {
 public:
  MemoryIndex();

  bool Find(const KeyHash& key, KeyEntry& entry) const override;
  void Prefetch(const KeyHash& key) const override;
  void Store(const KeyEntry& entry) override;
  void Erase(const KeyHash& key) override;
  void ForEach(const std::function<void(const KeyEntry&)>& visit) const override;
  uint64_t size() const override { return x_size; }
  uint64_t bytes_held() const override;
  void Clear() override;
  void Reserve(uint64_t keys) override;

 private:
  // Slots are used when `used` says so; entries are placed by linear probing from their home slot.
  struct Shard {
    std::vector<KeyEntry> slots;
    std::vector<uint8_t> used;
    uint64_t count = 0;
  };
  Shard& ShardOf(const KeyHash& key) { return x_shards[key.high >> 56]; }
  const Shard& ShardOf(const KeyHash& key) const { return x_shards[key.high >> 56]; }
  static void Grow(Shard& shard, uint64_t slots);

  std::vector<Shard> x_shards;
  uint64_t x_size = 0;
};

}  // namespace lastword
