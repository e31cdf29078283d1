// The head of a table's state: what is persisted of it beside rows and ledger rows, in the
// properties of every version (commit/properties.h).
#pragma once

#include <cstdint>
#include <vector>

#include "lastword/table.h"
#include "state/floors.h"
#include "state/inputs.h"

namespace lastword {

/// A snapshot whose end was seen, but not every input of its source table is past it.
struct SnapshotEnd {
  Origin origin;
  Version version;
  bool shared = false;  // kSharedOrigin
};

/// What is persisted of the state beside rows and ledger rows.
struct StateHead {
  Inputs inputs;
  Floors floors;
  std::vector<SnapshotEnd> snapshot_ends;  // at most one a source table
  uint32_t epoch = 0;                      // of new inputs
  uint64_t highest_hi = 0;                 // of all versions decided; arrival versions start above
  uint64_t tombstones = 0;
  uint64_t dead_letter_from = 0;  // dead letters of older table versions were applied since
  Counts totals;
};

}  // namespace lastword
