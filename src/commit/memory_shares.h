// How the memory that a user declares (`memory:`) is divided: the one place where its parts are
// named. docs/performance.md says what was measured for each.
#pragma once

#include <cstdint>

namespace lastword {

struct MemoryShares {
  uint64_t index;       // key index of one table: entries, or RocksDB's caches and buffers
  uint64_t moved;       // addresses that are read again after a rewrite by another program; while
                        // no compaction of ours runs
  uint64_t compaction;  // what a long round of compaction holds, in the place of `moved`; a short
                        // one beside it holds an eighth of that
  uint64_t ledger_compaction;  // the same of the ledger, whose rows are small
  uint64_t lance_cache;        // Lance's caches of one dataset; a table has two
  uint64_t ahead;              // lines that were read ahead, and what was decoded of them
  uint64_t pending;  // uncommitted changes; sealing and writing them takes as much again, twice
};

/// Of one table, when `tables` of them share `memory_bytes`.
constexpr MemoryShares SharesOf(uint64_t memory_bytes, uint64_t tables = 1) {
  const uint64_t own = memory_bytes / (tables == 0 ? 1 : tables);
  return {own / 2, own / 8, own / 8, own / 64, own / 32, own / 16, own / 8};
}

}  // namespace lastword
