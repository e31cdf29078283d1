// Fills the index in memory from several threads. Entries come in the order of storage and belong
// at random places; so they wait, one behind the other, until there are many of a shard, and what
// its places cost (lines of tags, pages, a lock) is met once for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "state/entry_array.h"
#include "state/memory_index.h"

namespace lastword {

class IndexFill {
 public:
  /// For about `keys` keys, for which `index` has made room; `threads` will come. What waits takes
  /// an eighth of the memory of `index` at most, 256 KiB a thread at least.
  IndexFill(MemoryIndex& index, uint64_t keys, unsigned threads);

  /// May run on several threads at once, and nothing else meanwhile. Where a key has two states,
  /// `contradicted` holds one of them.
  void Add(std::span<const KeyEntry> entries, std::optional<KeyEntry>& contradicted);
  /// Moves what still waits, on as many threads as have added.
  void Finish(std::optional<KeyEntry>& contradicted);

 private:
  // What waits of one thread: room for x_room entries a shard.
  struct Lane {
    explicit Lane(uint64_t entries) : waiting(entries) {}
    EntryArray waiting;
    std::array<uint32_t, MemoryIndex::kShards> counts{};
  };

  Lane* TakeLane();
  void GiveBack(Lane* lane);
  void Move(Lane& lane, uint64_t shard, std::optional<KeyEntry>& contradicted);

  MemoryIndex& x_index;
  const uint64_t x_room;
  std::mutex x_taking;  // of what follows
  std::vector<std::unique_ptr<Lane>> x_lanes;
  std::vector<Lane*> x_free;
  std::array<std::mutex, MemoryIndex::kShards> x_moving;  // into a shard each
};

}  // namespace lastword
