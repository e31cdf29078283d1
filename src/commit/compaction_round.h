// The rounds of compaction of one dataset, each as large as the table's memory has room for. What
// counts is what rows take once they are decoded: files say little of that, where values repeat.
// Decides and asks; what a round does is the dataset's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "commit/compaction.h"
#include "lance/dataset.h"

namespace lastword {

/// Bytes that a row takes in memory, by column.
using RowWidths = std::vector<double>;

/// Of all columns together.
double BytesOfRow(std::span<const double> widths);

/// Those of rows that are in memory; not empty.
RowWidths WidthsOf(const Rows& rows);

/// Those of a few rows of `fragments`: read until they are enough, or take `bytes_max`. At least
/// one fragment, none empty.
Result<RowWidths> SampleWidths(Dataset& dataset, std::span<const Fragment> fragments,
                               uint64_t bytes_max);

/// So many rows of such columns can be written into one file while no more than `bytes` of them
/// are held: Lance keeps the values of a column until they fill a page. At least 1; UINT64_MAX =
/// any number.
uint64_t RowsHeldWithin(std::span<const double> widths, uint64_t bytes);

/// Live rows of the fragments `ids` (ascending) among `fragments`.
uint64_t LiveRowsOf(std::span<const Fragment> fragments, std::span<const uint64_t> ids);

struct CompactionRound {
  CompactionRequest request;
  RowWidths widths;  // of the rows that it writes
};

/// Calls come from one thread at a time.
class CompactionRounds {
 public:
  /// `bytes`: memory of a round.
  explicit CompactionRounds(uint64_t bytes);

  /// `fragments` were written of such rows: a round that takes them need not read some first.
  void Wrote(std::span<const Fragment> fragments, const RowWidths& widths);

  /// The next round of `dataset` among `fragments` of its open version; none = nothing is due, or
  /// it has more than `live_rows_max` rows. Rows are read where fragments were written by others,
  /// or before this object was there.
  Result<std::optional<CompactionRound>> Next(Dataset& dataset, std::span<const Fragment> fragments,
                                              const CompactionPolicy& policy,
                                              uint64_t live_rows_max = UINT64_MAX);

 private:
  CompactionPolicy Within(const CompactionPolicy& policy) const;
  void ForgetAllBut(std::span<const Fragment> fragments);
  // Of the rows of these fragments, on average.
  Result<RowWidths> WidthsIn(Dataset& dataset, std::span<const Fragment> chosen);

  const uint64_t x_bytes;
  uint64_t x_rows_max = UINT64_MAX;        // of a round, by the rows that were seen last
  std::map<uint64_t, RowWidths> x_widths;  // by fragment, as far as known
};

}  // namespace lastword
