// What happened at a made-up source, and what its log says of it: transactions over a few keys,
// written to partitions in the order of each key. Everything that the law has a rule for occurs:
// partial images, key changes whose halves lie in different partitions, swaps, deletes with and
// without their null-value record, null-value records alone, truncates, conflicting copies; in some
// histories two source tables, each with keys, truncates and key changes of its own.
//
// Knows the truth behind each record, so what a table must hold after any prefix of each partition
// needs no merging and nothing of src/state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/test_change.h"

namespace lastword::sim {

/// Columns a and b.
using Row = std::pair<std::string, std::string>;
using Table = std::map<int64_t, Row>;

struct LogRecord {
  std::vector<TestChange> changes;        // one, or both halves of a key change
  uint64_t sequence = 0;                  // order in which it happened, over all partitions
  std::vector<std::optional<Row>> truth;  // the row of each change's key behind it
  /// The delete half of a swap, behind the upsert of its key: it says nothing of the new row.
  bool is_swap_delete = false;
  bool is_copy = false;  // a conflicting copy of the record before it: changes nothing
};

struct History {
  std::vector<std::vector<LogRecord>> partitions;
  bool several_sources = false;

  static std::string NameOf(size_t partition) { return "t:" + std::to_string(partition); }
  /// The source table of a key; empty where there is only one.
  std::string SourceOf(int64_t key) const {
    return !several_sources ? "" : key % 2 == 0 ? "a" : "b";
  }
  /// The table behind the first `counts[p]` records of each partition p. Key changes that wait for
  /// their other half leave the row that was there.
  Table TableAt(const std::vector<uint64_t>& counts) const;
  uint64_t records() const;
  uint64_t copies() const;  // conflicting ones
};

/// One random number generator, one history.
History MakeHistory(Random& random, bool several_sources);

}  // namespace lastword::sim
