// The key index beyond memory: RocksDB in a folder of its own, within a declared amount of memory.
// A cache like the other one: nothing is synced commit by commit, and what a crash leaves is used
// only where the mark says exactly which state it is of.
//
//   key    := high(8) low(8)                  big-endian, so that the order is that of KeyHash
//   value  := status(1) digest(8) hi mid lo epoch address delete_input
//             status: KeyStatus, plus 0x80 with an extra; digest little-endian; the rest varints
//   mark   := "m" -> identity of the state that all entries together are of
//
// The mark goes with the first change after it and comes back with SetMark. RocksDB recovers a
// prefix of what was written, so a mark that is found belongs to exactly the entries found with it.
// Another form of keys or values gets another kFormat, which is part of each mark.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "state/key_index.h"

namespace rocksdb {
class DB;
class WriteBatch;
}  // namespace rocksdb

namespace lastword {

class RocksIndex final : public KeyIndex {
 public:
  /// An empty index in `folder`, which is emptied first. Block cache, filters and write buffers
  /// together hold `memory_bytes`.
  static Result<std::unique_ptr<RocksIndex>> Create(const std::string& folder,
                                                    uint64_t memory_bytes);
  /// The index in `folder` where it carries the mark `identity`; null where it is another one, is
  /// damaged or not there. `read_only`: beside a process that writes; Store and Erase are errors.
  static std::unique_ptr<RocksIndex> Open(const std::string& folder, uint64_t memory_bytes,
                                          const std::string& identity, bool read_only);
  /// Removes what lies in `folder`, which no process may have open.
  static Status Remove(const std::string& folder);
  ~RocksIndex() override;

  bool Find(const KeyHash& key, KeyEntry& entry) const override;
  void Prefetch(std::span<const KeyHash> keys) const override;
  void Store(const KeyEntry& entry) override;
  void Erase(const KeyHash& key) override;
  void ForEach(const std::function<void(const KeyEntry&)>& visit) const override;
  uint64_t bytes_held() const override;
  void Clear() override;
  void Reserve(uint64_t) override {}
  Status Health() const override;

  /// Says that the entries are those of the state `identity`, and makes them outlive the process.
  Status SetMark(const std::string& identity);

  /// Entries in ascending order become a file that Ingest takes over: how many entries at once are
  /// stored without being sorted or written twice. Several runs may be written side by side.
  class Run {
   public:
    ~Run();
    Status Add(const KeyEntry& entry);  // above the one before
    Status Finish();

   private:
    friend class RocksIndex;
    struct Parts;
    explicit Run(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> x_parts;
  };
  Result<std::unique_ptr<Run>> StartRun();
  /// Takes over finished runs, none of which overlaps another one or what is stored.
  Status Ingest(const std::vector<std::unique_ptr<Run>>& runs);

 private:
  struct Parts;
  explicit RocksIndex(std::unique_ptr<Parts> parts);
  void Flush() const;
  void Fail(Error error) const;

  std::unique_ptr<Parts> x_parts;
};

}  // namespace lastword
