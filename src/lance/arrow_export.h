// Rows out through the Arrow C data interface, without a copy where the layouts agree. Offsets are
// narrowed to 32 bits, so rows leave in pieces that fit them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "lance/arrow_c_data.h"
#include "model/rows.h"

namespace lastword::lance {

/// Counts exported arrays that are still held. A consumer may release them on a thread of its own
/// after its call has returned; the rows behind them must live until then.
class ExportLatch {
 public:
  void Add();
  void Remove();
  /// Blocks until every array is released.
  void Wait();

 private:
  std::mutex x_mutex;
  std::condition_variable x_released;
  uint64_t x_held = 0;
};

/// The largest text and the most list elements that one piece holds in a column.
inline constexpr uint64_t kPieceLimit = 1ull << 30;

/// Exports `rows` as struct arrays whose children are its columns, appended to `pieces`. They
/// borrow from `rows`: wait for `latch` before changing or destroying it. kOutOfRange when one row
/// alone exceeds `limit` in a column.
Status ExportRows(const Rows& rows, const std::shared_ptr<ExportLatch>& latch,
                  std::vector<ArrowArray>& pieces, uint64_t limit = kPieceLimit);

}  // namespace lastword::lance
