// The key index of one table within its share of memory: in memory while it fits, in RocksDB when
// it does not. By count when the table is opened, and in mid-run by moving over. A RocksDB index of
// a writer stays in the table's companion folder and is used again by the next open, if its mark
// names exactly the state that is opened; everything else is rebuilt from the two datasets.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "state/memory_index.h"

namespace lastword {

class IndexFill;
class IndexSpill;
class RocksIndex;

class TableIndex final : public KeyIndex {
 public:
  /// `kept_folder`: where the index of a writer lies; empty = the table has no folder here. A
  /// reader uses what is there and writes nothing into it: its own goes into the system's folder
  /// for temporary files, and is removed with this object.
  TableIndex(uint64_t memory_bytes, std::string kept_folder, bool read_only);
  ~TableIndex() override;

  /// True where the kept index is that of `identity` and is wanted for `keys` keys: nothing is to
  /// be loaded then. Otherwise the index is empty and waits for Load, in batches in any order that
  /// hold each entry of the ledger and each live row once, then FinishLoad.
  Result<bool> Open(const std::string& identity, uint64_t keys);
  /// May run on several threads at once, and nothing else meanwhile. Neither names the key of a
  /// contradiction: `contradicted` holds one of its two states.
  Status Load(std::span<const KeyEntry> entries, std::optional<KeyEntry>& contradicted);
  Status FinishLoad(std::optional<KeyEntry>& contradicted);
  /// The entries are those of `identity`: so says the mark from now on, until something changes.
  Status Keep(const std::string& identity);

  bool in_memory() const { return x_rocks == nullptr; }

  bool Find(const KeyHash& key, KeyEntry& entry) const override;
  void Prefetch(std::span<const KeyHash> keys) const override;
  void PrefetchStore(const KeyHash& key) const override;
  void Store(const KeyEntry& entry) override;
  void Erase(const KeyHash& key) override;
  void ForEach(const std::function<void(const KeyEntry&)>& visit) const override;
  uint64_t bytes_held() const override;
  void Clear() override;
  void Reserve(uint64_t keys) override;
  Status Health() const override;

 private:
  Status CreateRocks();
  Status MoveOver();
  const KeyIndex& index() const;
  KeyIndex& index();

  const uint64_t x_memory_bytes;
  const std::string x_kept_folder;
  const bool x_read_only;
  std::string x_own_folder;  // of a reader, once it has one
  MemoryIndex x_memory;
  std::unique_ptr<RocksIndex> x_rocks;  // the index, once there is one
  // Between Open and FinishLoad one of them.
  std::unique_ptr<IndexFill> x_fill;
  std::unique_ptr<IndexSpill> x_spill;
  std::optional<Error> x_move_error;
};

}  // namespace lastword
