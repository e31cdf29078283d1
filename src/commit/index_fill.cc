#include "commit/index_fill.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/stream_line.h"
#include "commit/index_spill.h"

namespace lastword {
namespace {

static_assert(sizeof(KeyEntry) == kLineBytes);

constexpr uint64_t kPart = 8;  // of the index waits
// More of a shard at a time finds nothing cheaper.
constexpr uint64_t kRoomMin = 16, kRoomMax = 4096;

uint64_t RoomFor(uint64_t keys, unsigned threads) {
  return std::clamp(keys / MemoryIndex::kShards / kPart / threads, kRoomMin, kRoomMax);
}

}  // namespace

IndexFill::IndexFill(MemoryIndex& index, uint64_t keys, unsigned threads)
    : x_index(index), x_room(RoomFor(keys, threads)) {}

IndexFill::Lane* IndexFill::TakeLane() {
  const std::lock_guard lock(x_taking);
  if (x_free.empty()) {
    x_lanes.push_back(std::make_unique<Lane>(x_room * MemoryIndex::kShards));
    return x_lanes.back().get();
  }
  Lane* const lane = x_free.back();
  x_free.pop_back();
  return lane;
}

void IndexFill::GiveBack(Lane* lane) {
  EndStream();
  const std::lock_guard lock(x_taking);
  x_free.push_back(lane);
}

void IndexFill::Add(std::span<const KeyEntry> entries, std::optional<KeyEntry>& contradicted) {
  Lane* const lane = TakeLane();
  for (const KeyEntry& entry : entries) {
    const uint64_t shard = MemoryIndex::ShardOf(entry.key);
    StreamLine(&lane->waiting[shard * x_room + lane->counts[shard]], &entry);
    if (++lane->counts[shard] < x_room) continue;
    Move(*lane, shard, contradicted);
    if (contradicted) break;
  }
  GiveBack(lane);
}

void IndexFill::Move(Lane& lane, uint64_t shard, std::optional<KeyEntry>& contradicted) {
  std::span<const KeyEntry> rest(&lane.waiting[shard * x_room], lane.counts[shard]);
  lane.counts[shard] = 0;
  const std::lock_guard lock(x_moving[shard]);
  while (!rest.empty()) {
    KeyEntry* known = nullptr;
    const uint64_t taken = x_index.Fill(rest, known);
    if (known != nullptr) {
      const KeyEntry& second = rest[taken - 1];
      const std::optional<KeyEntry> joined = Joined(*known, second);
      if (!joined) {
        contradicted = second;
        return;
      }
      *known = *joined;
    }
    rest = rest.subspan(taken);
  }
}

void IndexFill::Finish(std::optional<KeyEntry>& contradicted) {
  std::atomic<uint64_t> next = 0;
  std::mutex finding;
  const auto run = [&] {
    std::optional<KeyEntry> found;
    for (uint64_t shard = next++; shard < MemoryIndex::kShards && !found; shard = next++) {
      for (const std::unique_ptr<Lane>& lane : x_lanes) {
        if (!found) Move(*lane, shard, found);
      }
    }
    if (!found) return;
    const std::lock_guard lock(finding);
    contradicted = found;
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < x_lanes.size(); ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

}  // namespace lastword
