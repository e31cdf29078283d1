// Measures one key index with one number of keys: what it holds, how fast it answers and takes
// changes, how long it takes to be filled at once and to be opened again. What it answers is
// checked. One line of figures; tools/bench.sh puts lines together.
//
//   index_bench memory|rocksdb KEYS [MEMORY_BYTES] [FOLDER]
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "commit/table_index.h"

namespace lastword {
namespace {

constexpr uint64_t kProbes = 2'000'000;
constexpr uint64_t kStores = 1'000'000;
constexpr uint64_t kStoresABatch = 200'000;
constexpr size_t kAhead = 256;
constexpr size_t kLoadBatch = 8192;

// Time that passed, and time that all threads of this process had a core: on a busy machine only
// the second says something.
struct Clock {
  double wall = 0, core = 0;
};

double Seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Clock Now() {
  return {Seconds(CLOCK_MONOTONIC), Seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

Clock operator-(const Clock& end, const Clock& begin) {
  return {end.wall - begin.wall, end.core - begin.core};
}

// VmHWM or VmRSS of this process.
uint64_t MemoryBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field + ":", 0) == 0) {
      return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10) << 10;
    }
  }
  return 0;
}

KeyHash HashOf(uint64_t key) {
  return Hash128({reinterpret_cast<const char*>(&key), sizeof(key)});
}

// As a PostgreSQL table loaded from a log has them.
KeyEntry EntryOf(uint64_t key, uint64_t change) {
  KeyEntry entry;
  entry.key = HashOf(key);
  entry.hi = 0x16B3748 + change * 8;
  entry.mid = entry.hi + 3;
  entry.lo = 2;
  entry.digest = Hash64({reinterpret_cast<const char*>(&change), sizeof(change)});
  entry.address = (change >> 20) << 32 | (change & 0xFFFFF);
  entry.status = KeyStatus::kLive;
  return entry;
}

void Demand(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "index_bench: %s\n", what.c_str());
  std::exit(1);
}

void Check(const Status& status) {
  Demand(status.ok(), status.ok() ? "" : status.error().message);
}

void Print(const char* what, double value, const char* unit) {
  std::printf("  %-34s %10.3g %s\n", what, value, unit);
  std::fflush(stdout);
}

void PrintRate(const char* what, uint64_t count, const Clock& took) {
  const auto number = static_cast<double>(count);
  std::printf("  %-34s %10.3g a second, %.3g a second of a core\n", what, number / took.wall,
              number / took.core);
  std::fflush(stdout);
}

// Probes keys that are there, keys that are not, and keys one after the other without being told
// of them in advance.
void Probe(const KeyIndex& index, uint64_t keys) {
  const auto probe = [&](const char* what, uint64_t first, bool ahead, bool there) {
    const uint64_t probes = kProbes / kAhead * kAhead;
    Random random(1 + first);
    std::vector<KeyHash> block(kAhead);
    uint64_t right = 0;
    const Clock begin = Now();
    for (uint64_t done = 0; done < probes; done += kAhead) {
      for (KeyHash& key : block) key = HashOf(first + random.Below(keys));
      if (ahead) index.Prefetch(block);
      KeyEntry entry;
      for (const KeyHash& key : block) right += index.Find(key, entry) == there;
    }
    PrintRate(what, probes, Now() - begin);
    Demand(right == probes, "the index does not know its keys");
  };
  probe("probes, key there", 0, true, true);
  probe("probes, key not there", 1ull << 40, true, false);
  probe("probes, one at a time", 0, false, true);
}

// Changes in the bursts in which checkpoints bring them.
void StoreBursts(TableIndex& index, uint64_t keys) {
  Random random(2);
  Clock took;
  for (uint64_t done = 0; done < kStores; done += kStoresABatch) {
    std::vector<KeyEntry> entries;
    for (uint64_t i = 0; i < kStoresABatch; ++i) {
      entries.push_back(EntryOf(random.Below(keys), keys + done + i));
    }
    const Clock begin = Now();
    for (const KeyEntry& entry : entries) index.Store(entry);
    const Clock burst = Now() - begin;
    took.wall += burst.wall;
    took.core += burst.core;
    KeyEntry found;
    Demand(index.Find(entries.back().key, found) && found == entries.back(),
           "the index does not hold what was stored last");
  }
  Check(index.Health());
  PrintRate("stores", kStores, took);
}

int Run(const std::string& kind, uint64_t keys, uint64_t memory, const std::string& folder) {
  const bool in_memory = kind == "memory";
  if (in_memory) memory = UINT64_MAX;
  const uint64_t before = MemoryBytes("VmRSS");
  auto index = std::make_unique<TableIndex>(memory, folder, false);
  Clock begin = Now();
  const auto kept = index->Open("bench", keys);
  Check(kept.ok() ? Status(Ok{}) : Status(kept.error()));
  std::optional<KeyEntry> contradicted;
  std::vector<KeyEntry> batch;
  for (uint64_t key = 0; key < keys; ++key) {
    batch.push_back(EntryOf(key, key));
    if (batch.size() < kLoadBatch && key + 1 < keys) continue;
    Check(index->Load(batch, contradicted));
    batch.clear();
  }
  Check(index->FinishLoad(contradicted));
  const Clock loaded = Now() - begin;
  Demand(!contradicted && index->in_memory() == in_memory,
         "not loaded, or not where it was asked to be");
  const auto per_key = [&](uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(keys);
  };
  std::printf("%s, %.3g keys\n", kind.c_str(), static_cast<double>(keys));
  Print("filled at once in", loaded.wall, "s");
  PrintRate("  keys", keys, loaded);
  Probe(*index, keys);
  StoreBursts(*index, keys);
  Print("bytes held a key", per_key(index->bytes_held()), "");
  Print("peak memory of the process a key", per_key(MemoryBytes("VmHWM") - before), "");
  Print("peak memory of the process", static_cast<double>(MemoryBytes("VmHWM")) / 1048576, "MiB");
  if (in_memory) {
    index.reset();
    MemoryIndex grown;
    std::ofstream("/proc/self/clear_refs") << "5";
    const uint64_t start = MemoryBytes("VmRSS");
    begin = Now();
    for (uint64_t key = 0; key < keys; ++key) grown.Store(EntryOf(key, key));
    PrintRate("grown key by key, keys", keys, Now() - begin);
    Print("  bytes held a key", per_key(grown.bytes_held()), "");
    Print("  peak memory a key", per_key(MemoryBytes("VmHWM") - start), "");
    return 0;
  }
  begin = Now();
  Check(index->Keep("bench"));
  index.reset();
  Print("closed in", (Now() - begin).wall, "s");
  uint64_t disk = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) disk += file.file_size();
  Print("bytes on disk a key", per_key(disk), "");
  begin = Now();
  index = std::make_unique<TableIndex>(memory, folder, false);
  const auto again = index->Open("bench", keys);
  Demand(again.ok() && *again, "the kept index was not opened again");
  Print("opened again in", (Now() - begin).wall, "s");
  index.reset();
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "index_bench memory|rocksdb KEYS [MEMORY_BYTES] [FOLDER]\n");
    return 2;
  }
  const uint64_t keys = std::strtoull(argv[2], nullptr, 10);
  const uint64_t memory = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1ull << 30;
  const std::string folder = argc > 4 ? argv[4] : "build/bench-index";
  std::filesystem::remove_all(folder);
  return lastword::Run(argv[1], keys, memory, folder);
}
