// The key index in memory: open addressing, one cache line an entry and one byte of its hash beside
// it, in shards that grow one at a time, so that growing never needs twice the memory of the whole.
// Between 74 and 87 bytes a key.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "state/entry_array.h"
#include "state/key_index.h"

namespace lastword {

class MemoryIndex final : public KeyIndex {
 public:
  static constexpr int kShardBits = 8;
  static constexpr uint64_t kShards = 1 << kShardBits;

  MemoryIndex();

  bool Find(const KeyHash& key, KeyEntry& entry) const override;
  void Prefetch(std::span<const KeyHash> keys) const override;
  void PrefetchStore(const KeyHash& key) const override { PrefetchSlot(key); }
  void Store(const KeyEntry& entry) override;
  void Erase(const KeyHash& key) override;
  void ForEach(const std::function<void(const KeyEntry&)>& visit) const override;
  uint64_t bytes_held() const override { return x_bytes.load(std::memory_order_relaxed); }
  void Clear() override;
  void Reserve(uint64_t keys) override;
  Status Health() const override { return Ok{}; }

  /// Stores entries of keys of one shard that have none, and returns how many it took: all, or up
  /// to and with the first whose key has one. That is `known` then, and may be changed but for its
  /// key. For filling an index: calls for different shards may run side by side.
  uint64_t Fill(std::span<const KeyEntry> entries, KeyEntry*& known);
  static uint64_t ShardOf(const KeyHash& key) { return key.high >> kShardShift; }

  uint64_t size() const;
  /// Gives the entries of one shard in ascending order of key, and forgets them. All keys of a
  /// shard are below those of the next.
  std::vector<KeyEntry> TakeShard(uint64_t shard);
  /// What `keys` entries hold once Reserve has made room for them.
  static uint64_t BytesFor(uint64_t keys);

 private:
  // Entries are placed by linear probing from their home slot. A tag is zero where the slot is
  // free, else seven bits of the hash: a probe reads tags, eight at a time, and the entry that it
  // finds. The first tags are repeated behind the last, so that reading eight never wraps.
  struct Shard {
    EntryArray entries;  // set where the tag is
    std::vector<uint8_t> tags;
    uint64_t count = 0;

    uint64_t slots() const { return entries.size(); }
    void Resize(uint64_t slots);
    void SetTag(uint64_t at, uint8_t tag);
    void PrefetchTags(const KeyHash& key) const;
    uint64_t Next(uint64_t at) const { return at + 1 == slots() ? 0 : at + 1; }
    // The slot of `key`; where it has none, `slots()`, and in `free` the slot that it would get.
    uint64_t SlotOf(const KeyHash& key, uint64_t& free) const;
  };
  static constexpr int kShardShift = 64 - kShardBits;
  void Grow(Shard& shard, uint64_t slots);
  void MakeRoom(Shard& shard);
  void PrefetchSlot(const KeyHash& key) const;

  std::vector<Shard> x_shards;
  std::atomic<uint64_t> x_bytes = 0;
};

}  // namespace lastword
