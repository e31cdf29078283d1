// Sorts more entries than memory holds into a RocksIndex, as a table that big is opened: entries
// are dealt out by the first bits of their hash into a file, each part is sorted on its own and
// written as a run, and RocksDB takes the runs over as they are. Every entry is written and read
// once before it is stored.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "state/rocks_index.h"

namespace lastword {

/// The one entry of a key that came from the ledger (an extra without a state) and from the table
/// (a live row), in any order; empty where two states contradict each other.
std::optional<KeyEntry> Joined(const KeyEntry& one, const KeyEntry& other);

class IndexSpill {
 public:
  /// For about `keys` entries, in a file at `path`, which has no name once it is open.
  static Result<std::unique_ptr<IndexSpill>> Create(const std::string& path, uint64_t keys);
  ~IndexSpill();

  /// May run on several threads at once.
  Status Add(std::span<const KeyEntry> entries);
  /// Moves everything into `index`, on two threads. An entry whose key has two states comes back
  /// in `contradicted`, and the index is then not to be used.
  Status Finish(RocksIndex& index, std::optional<KeyEntry>& contradicted);

 private:
  // Entries whose hashes begin alike: whole pieces in the file, and the last one in memory.
  struct Bucket {
    std::mutex adding;
    std::vector<KeyEntry> last;
    std::vector<uint64_t> pieces;  // offsets
  };
  // What one thread makes of its buckets.
  struct Share {
    std::vector<std::unique_ptr<RocksIndex::Run>> runs;
    std::optional<KeyEntry> contradicted;
    Status status = Ok{};
  };
  IndexSpill(int descriptor, int bits);
  Status AddTo(Bucket& bucket, const KeyEntry& entry);
  Status Read(const Bucket& bucket, std::vector<KeyEntry>& entries) const;
  Status FinishBuckets(size_t begin, size_t end, RocksIndex& index, Share& share);

  int x_descriptor;
  int x_bits;
  std::atomic<uint64_t> x_end = 0;  // of the file
  std::vector<Bucket> x_buckets;
};

}  // namespace lastword
