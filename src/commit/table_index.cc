#include "commit/table_index.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/kill_points.h"
#include "base/random.h"
#include "commit/index_fill.h"
#include "commit/index_spill.h"
#include "commit/key_scan.h"
#include "state/rocks_index.h"

namespace lastword {
namespace {

// Of the share, for what RocksDB can be told to bound: compactions, open files and the making of
// runs take the rest. Less than the minimum it cannot work with.
constexpr uint64_t RocksBytes(uint64_t share) {
  return std::max<uint64_t>(4 << 20, share / 4 * 3);
}
constexpr uint64_t kRunEntries = 2 << 20;

}  // namespace

TableIndex::TableIndex(uint64_t memory_bytes, std::string kept_folder, bool read_only)
    : x_memory_bytes(memory_bytes), x_kept_folder(std::move(kept_folder)), x_read_only(read_only) {}

TableIndex::~TableIndex() {
  x_rocks.reset();
  std::error_code ignored;
  if (!x_own_folder.empty()) std::filesystem::remove_all(x_own_folder, ignored);
}

const KeyIndex& TableIndex::index() const {
  if (x_rocks) return *x_rocks;
  return x_memory;
}

KeyIndex& TableIndex::index() {
  if (x_rocks) return *x_rocks;
  return x_memory;
}

Result<bool> TableIndex::Open(const std::string& identity, uint64_t keys) {
  x_rocks.reset();
  x_fill.reset();
  x_spill.reset();
  x_move_error.reset();
  x_memory.Clear();
  const bool kept = !x_kept_folder.empty();
  if (MemoryIndex::BytesFor(keys) <= x_memory_bytes) {
    // One that was left from when it was wanted is of an older state soon.
    if (kept && !x_read_only && FileExists(x_kept_folder)) {
      LW_RETURN_IF_ERROR(RocksIndex::Remove(x_kept_folder));
    }
    x_memory.Reserve(keys);
    x_fill = std::make_unique<IndexFill>(x_memory, keys, ScanThreads());
    return false;
  }
  if (kept) {
    x_rocks = RocksIndex::Open(x_kept_folder, RocksBytes(x_memory_bytes), identity, x_read_only);
    if (x_rocks) return true;
  }
  LW_RETURN_IF_ERROR(CreateRocks());
  const std::string& folder = x_own_folder.empty() ? x_kept_folder : x_own_folder;
  LW_ASSIGN_OR_RETURN(x_spill, IndexSpill::Create(folder + "/unsorted", keys));
  return false;
}

Status TableIndex::CreateRocks() {
  const bool own = x_kept_folder.empty() || x_read_only;
  if (own && x_own_folder.empty()) {
    std::error_code failed;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
    x_own_folder = (folder / ("lastword-index-" + RandomId())).string();
  }
  const std::string& folder = own ? x_own_folder : x_kept_folder;
  LW_RETURN_IF_ERROR(CreateFolders(folder));
  LW_ASSIGN_OR_RETURN(x_rocks, RocksIndex::Create(folder, RocksBytes(x_memory_bytes)));
  return Ok{};
}

Status TableIndex::Load(std::span<const KeyEntry> entries, std::optional<KeyEntry>& contradicted) {
  if (x_spill) return x_spill->Add(entries);
  if (x_fill) x_fill->Add(entries, contradicted);
  return Ok{};
}

Status TableIndex::FinishLoad(std::optional<KeyEntry>& contradicted) {
  if (x_fill) {
    x_fill->Finish(contradicted);
    x_fill.reset();
    return x_memory.bytes_held() <= x_memory_bytes ? Status(Ok{}) : MoveOver();
  }
  const std::unique_ptr<IndexSpill> spill = std::move(x_spill);
  LW_KILL_POINT("index.before_fill");
  return spill->Finish(*x_rocks, contradicted);
}

Status TableIndex::Keep(const std::string& identity) {
  if (!x_rocks || !x_own_folder.empty() || x_read_only) return Ok{};
  LW_KILL_POINT("index.before_mark");
  return x_rocks->SetMark(identity);
}

// Shard by shard, so that an entry is in memory once.
Status TableIndex::MoveOver() {
  LW_RETURN_IF_ERROR(CreateRocks());
  std::vector<std::unique_ptr<RocksIndex::Run>> runs;
  uint64_t in_run = kRunEntries;
  for (uint64_t shard = 0; shard < MemoryIndex::kShards; ++shard) {
    for (const KeyEntry& entry : x_memory.TakeShard(shard)) {
      if (in_run >= kRunEntries) {
        if (!runs.empty()) LW_RETURN_IF_ERROR(runs.back()->Finish());
        LW_ASSIGN_OR_RETURN(auto run, x_rocks->StartRun());
        runs.push_back(std::move(run));
        in_run = 0;
      }
      LW_RETURN_IF_ERROR(runs.back()->Add(entry));
      ++in_run;
    }
  }
  if (!runs.empty()) LW_RETURN_IF_ERROR(runs.back()->Finish());
  LW_KILL_POINT("index.moving_over");
  return x_rocks->Ingest(runs);
}

void TableIndex::Store(const KeyEntry& entry) {
  index().Store(entry);
  if (x_rocks || x_memory.bytes_held() <= x_memory_bytes) return;
  if (const Status moved = MoveOver(); !moved.ok()) x_move_error = moved.error();
}

Status TableIndex::Health() const {
  if (x_move_error) return *x_move_error;
  return index().Health();
}

bool TableIndex::Find(const KeyHash& key, KeyEntry& entry) const {
  if (!x_rocks) return x_memory.Find(key, entry);
  return !x_move_error && x_rocks->Find(key, entry);
}

void TableIndex::Prefetch(std::span<const KeyHash> keys) const {
  index().Prefetch(keys);
}

void TableIndex::PrefetchStore(const KeyHash& key) const {
  index().PrefetchStore(key);
}

void TableIndex::Erase(const KeyHash& key) {
  index().Erase(key);
}

void TableIndex::ForEach(const std::function<void(const KeyEntry&)>& visit) const {
  index().ForEach(visit);
}

uint64_t TableIndex::bytes_held() const {
  return index().bytes_held();
}

void TableIndex::Clear() {
  index().Clear();
}

void TableIndex::Reserve(uint64_t keys) {
  if (MemoryIndex::BytesFor(keys) <= x_memory_bytes) index().Reserve(keys);
}

}  // namespace lastword
