// Which fragments of a dataset become one, decided from their sizes alone. Small fragments are
// merged by tiers, so that a row is rewritten a number of times that grows with the logarithm of
// the table; fragments with many deleted rows are rewritten to give their space back. Reads and
// writes nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lance/dataset.h"

namespace lastword {

struct CompactionPolicy {
  uint32_t fragments = 8;            // so many of one tier are merged; at least 2
  double deleted_share = 0.5;        // a fragment that lost more of its rows is rewritten, …
  uint64_t deleted_rows_min = 1024;  // … and so many: fewer are not worth a version, …
  double dead_share = 0.5;  // … once deleted rows are more than so many times the live ones: what
                            // is updated a lot goes by itself, with nothing left to rewrite
  uint64_t tier_rows = 4096;       // the lowest tier; each next one is `fragments` times as large
  uint64_t rows_max = 1 << 20;     // live rows that a fragment grows to by merging, and …
  uint64_t bytes_max = 256 << 20;  // … its bytes; more in large tables (ForSize)
  uint64_t round_rows = 1 << 18;   // live rows that a round rewrites, where it can do with so few
};

/// The fragments of one round, ascending; empty = nothing is due. All are of one index_set. A round
/// stays within the maxima of the policy, but for a single fragment that is larger by itself.
/// Rounds come to an end: each leaves fewer fragments, or fewer deleted rows.
std::vector<uint64_t> PlanCompaction(std::span<const Fragment> fragments,
                                     const CompactionPolicy& policy);

/// The policy of a dataset of `fragments`: one that is large gets larger ones, up to four times, so
/// that a commit that touches all of them touches few.
CompactionPolicy ForSize(const CompactionPolicy& policy, std::span<const Fragment> fragments);

/// The policy of a table that is to be as compact as it gets.
CompactionPolicy ThoroughPolicy(const CompactionPolicy& policy);

}  // namespace lastword
