// Rounds of compaction of one dataset that go on beside its commits: a long one at most, and a
// short one, so that small fragments do not pile up behind it. Puts nothing in its place: that is a
// commit, and the engine's.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "commit/compaction_round.h"
#include "lance/dataset.h"

namespace lastword {

/// New fragments in the place of `fragments` (ascending), as soon as `running` is finished.
struct Rewrite {
  std::unique_ptr<RunningCompaction> running;
  std::vector<uint64_t> fragments;
  RowWidths widths;           // of their rows
  uint64_t read_version = 0;  // that it reads, and clean-up leaves
};

/// Calls come from one thread at a time.
class Rewrites {
 public:
  /// `bytes`: memory of a long round; a short one takes an eighth of it at most.
  explicit Rewrites(uint64_t bytes) : x_bytes(bytes), x_rounds(bytes) {}

  /// As CompactionRounds::Wrote.
  void Wrote(std::span<const Fragment> fragments, const RowWidths& widths) {
    x_rounds.Wrote(fragments, widths);
  }

  /// Begins the round that is due among the fragments that no other round has, where it may go on
  /// beside it.
  Status Begin(Dataset& dataset, const CompactionPolicy& policy);

  /// A round that is written. `patience`: how long a short one is waited for; kForever = each.
  /// Those whose fragments are gone (a truncate, updates of all their rows) are dropped.
  std::optional<Rewrite> TakeWritten(const Dataset& dataset, std::chrono::milliseconds patience);
  static constexpr std::chrono::hours kForever{24};

  bool any() const { return x_long.has_value() || x_short.has_value(); }
  bool has_long() const { return x_long.has_value(); }
  /// The lowest version that a round reads; UINT64_MAX where there is none.
  uint64_t oldest_read() const;
  /// Ends all of them, with nothing put in place.
  void Drop();

 private:
  const uint64_t x_bytes;
  CompactionRounds x_rounds;
  std::optional<Rewrite> x_long, x_short;
};

}  // namespace lastword
