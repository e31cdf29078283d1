#include "state/memory_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/stream_line.h"

namespace lastword {
namespace {

constexpr uint64_t kSlotsMin = 16;
constexpr uint64_t kGroup = 8;  // tags read at once
constexpr uint64_t kEach = 0x0101010101010101;
constexpr uint64_t kTopBits = kEach << 7;
constexpr uint64_t kTagsAhead = 8;  // entries

// Maps a uniform hash to [0, slots) without a division, in the order of the hashes. The shard has
// used up the first eight bits.
uint64_t Home(const KeyHash& key, uint64_t slots) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(key.high << 8) * slots) >> 64);
}

uint8_t TagOf(const KeyHash& key) {
  return static_cast<uint8_t>(key.low) | 0x80;
}

// Grown by a sixth at 7/8 full: between 75 % and 88 % full.
constexpr bool Full(uint64_t count, uint64_t slots) {
  return count * 8 > slots * 7;
}

constexpr uint64_t kSlotBytes = sizeof(KeyEntry) + 1;

// Slots that the fullest shard of `keys` will not fill up: four deviations above the mean.
uint64_t SlotsFor(uint64_t keys) {
  const double mean = static_cast<double>(keys) / MemoryIndex::kShards;
  return static_cast<uint64_t>((mean + 4 * std::sqrt(mean)) * 8 / 7) + kSlotsMin;
}

}  // namespace

void MemoryIndex::Shard::Resize(uint64_t slots) {
  entries = EntryArray(slots);
  tags.assign(slots + kGroup - 1, 0);
}

void MemoryIndex::Shard::SetTag(uint64_t at, uint8_t tag) {
  tags[at] = tag;
  if (at < kGroup - 1) tags[slots() + at] = tag;
}

void MemoryIndex::Shard::PrefetchTags(const KeyHash& key) const {
  __builtin_prefetch(&tags[Home(key, slots())]);
}

uint64_t MemoryIndex::Shard::SlotOf(const KeyHash& key, uint64_t& free) const {
  static_assert(std::endian::native == std::endian::little, "the first tag is the lowest byte");
  const uint64_t wanted = TagOf(key) * kEach;
  const uint64_t size = slots();
  for (uint64_t at = Home(key, size);;) {
    uint64_t group = 0;
    std::memcpy(&group, &tags[at], kGroup);
    const uint64_t free_bits = ~group & kTopBits;
    // Marks bytes that are zero, and at times one above such a byte: the keys are compared.
    const uint64_t differences = group ^ wanted;
    uint64_t same_bits = (differences - kEach) & ~differences & kTopBits;
    if (free_bits != 0) same_bits &= (free_bits & -free_bits) - 1;
    for (; same_bits != 0; same_bits &= same_bits - 1) {
      uint64_t slot = at + static_cast<uint64_t>(std::countr_zero(same_bits)) / 8;
      if (slot >= size) slot -= size;
      if (entries[slot].key == key) return slot;
    }
    if (free_bits != 0) {
      free = at + static_cast<uint64_t>(std::countr_zero(free_bits)) / 8;
      if (free >= size) free -= size;
      return size;
    }
    at += kGroup;
    if (at >= size) at -= size;
  }
}

MemoryIndex::MemoryIndex() : x_shards(kShards) {}

void MemoryIndex::Grow(Shard& shard, uint64_t slots) {
  Shard grown;
  grown.Resize(slots);
  grown.count = shard.count;
  for (uint64_t i = 0; i < shard.slots(); ++i) {
    if (shard.tags[i] == 0) continue;
    const KeyEntry& entry = shard.entries[i];
    uint64_t at = Home(entry.key, slots);
    while (grown.tags[at] != 0) at = grown.Next(at);
    grown.entries[at] = entry;
    grown.SetTag(at, TagOf(entry.key));
  }
  x_bytes.fetch_add((slots - shard.slots()) * kSlotBytes, std::memory_order_relaxed);
  shard = std::move(grown);
}

bool MemoryIndex::Find(const KeyHash& key, KeyEntry& entry) const {
  const Shard& shard = x_shards[ShardOf(key)];
  if (shard.slots() == 0) return false;
  uint64_t free = 0;
  const uint64_t slot = shard.SlotOf(key, free);
  if (slot == shard.slots()) return false;
  entry = shard.entries[slot];
  return true;
}

void MemoryIndex::Prefetch(std::span<const KeyHash> keys) const {
  for (const KeyHash& key : keys) PrefetchSlot(key);
}

void MemoryIndex::PrefetchSlot(const KeyHash& key) const {
  const Shard& shard = x_shards[ShardOf(key)];
  if (shard.slots() == 0) return;
  const uint64_t at = Home(key, shard.slots());
  __builtin_prefetch(&shard.tags[at]);
  __builtin_prefetch(&shard.entries[at]);
}

void MemoryIndex::MakeRoom(Shard& shard) {
  if (!Full(shard.count + 1, shard.slots())) return;
  Grow(shard, std::max(kSlotsMin, shard.slots() + shard.slots() / 6));
}

void MemoryIndex::Store(const KeyEntry& entry) {
  Shard& shard = x_shards[ShardOf(entry.key)];
  MakeRoom(shard);
  uint64_t free = 0;
  const uint64_t slot = shard.SlotOf(entry.key, free);
  if (slot != shard.slots()) {
    shard.entries[slot] = entry;
    return;
  }
  shard.entries[free] = entry;
  shard.SetTag(free, TagOf(entry.key));
  ++shard.count;
}

uint64_t MemoryIndex::Fill(std::span<const KeyEntry> entries, KeyEntry*& known) {
  known = nullptr;
  if (entries.empty()) return 0;
  Shard& shard = x_shards[ShardOf(entries[0].key)];
  uint64_t taken = 0;
  while (taken < entries.size() && known == nullptr) {
    MakeRoom(shard);
    const uint64_t ahead = taken + kTagsAhead;
    if (ahead < entries.size()) shard.PrefetchTags(entries[ahead].key);
    const KeyEntry& entry = entries[taken++];
    uint64_t free = 0;
    const uint64_t slot = shard.SlotOf(entry.key, free);
    if (slot != shard.slots()) {
      known = &shard.entries[slot];
      continue;
    }
    StreamLine(&shard.entries[free], &entry);
    shard.SetTag(free, TagOf(entry.key));
    ++shard.count;
  }
  EndStream();
  return taken;
}

uint64_t MemoryIndex::size() const {
  uint64_t size = 0;
  for (const Shard& shard : x_shards) size += shard.count;
  return size;
}

void MemoryIndex::Erase(const KeyHash& key) {
  Shard& shard = x_shards[ShardOf(key)];
  const uint64_t slots = shard.slots();
  if (slots == 0) return;
  uint64_t free = 0;
  uint64_t gap = shard.SlotOf(key, free);
  if (gap == slots) return;
  --shard.count;
  // Closes the gap: every entry of the run behind it that may move to the gap does, so probing
  // never meets a hole.
  for (uint64_t next = shard.Next(gap); shard.tags[next] != 0; next = shard.Next(next)) {
    const uint64_t home = Home(shard.entries[next].key, slots);
    const uint64_t distance_to_next = (next + slots - home) % slots;
    const uint64_t distance_to_gap = (next + slots - gap) % slots;
    if (distance_to_next < distance_to_gap) continue;
    shard.entries[gap] = shard.entries[next];
    shard.SetTag(gap, shard.tags[next]);
    gap = next;
  }
  shard.SetTag(gap, 0);
}

void MemoryIndex::ForEach(const std::function<void(const KeyEntry&)>& visit) const {
  for (const Shard& shard : x_shards) {
    for (uint64_t i = 0; i < shard.slots(); ++i) {
      if (shard.tags[i] != 0) visit(shard.entries[i]);
    }
  }
}

std::vector<KeyEntry> MemoryIndex::TakeShard(uint64_t number) {
  Shard& shard = x_shards[number];
  std::vector<KeyEntry> taken;
  taken.reserve(shard.count);
  for (uint64_t i = 0; i < shard.slots(); ++i) {
    if (shard.tags[i] != 0) taken.push_back(shard.entries[i]);
  }
  std::sort(taken.begin(), taken.end(),
            [](const KeyEntry& a, const KeyEntry& b) { return a.key < b.key; });
  x_bytes.fetch_sub(shard.slots() * kSlotBytes, std::memory_order_relaxed);
  shard = {};
  return taken;
}

void MemoryIndex::Clear() {
  for (Shard& shard : x_shards) shard = {};
  x_bytes = 0;
}

void MemoryIndex::Reserve(uint64_t keys) {
  if (keys < kShards * kSlotsMin) return;
  const uint64_t slots = SlotsFor(keys);
  for (Shard& shard : x_shards) {
    if (shard.slots() < slots) Grow(shard, slots);
  }
}

uint64_t MemoryIndex::BytesFor(uint64_t keys) {
  return kShards * SlotsFor(keys) * kSlotBytes;
}

}  // namespace lastword
