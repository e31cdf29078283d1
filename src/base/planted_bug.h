// Defects that tests plant into the program, one at a time, to prove that the simulation would find
// them (test/sim/planted_bug_test.cc). Only a library compiled with LW_PLANTED_BUGS has them; in
// every other one Planted is a constant false and the branch is gone.
#pragma once

#include <cstdint>

namespace lastword {

enum class PlantedBug : uint8_t {
  kNone,
  kUnversionedDelete,     // a delete applies whatever its version
  kDroppedTombstone,      // a delete leaves no version behind
  kTieByArrival,          // of two changes with one version the later one stays
  kForgottenFloor,        // a restart forgets the floor
  kFillAcrossKeyChange,   // late images fill columns that came from another key
  kNullValueReRead,       // a null-value record deletes again when it is read again
  kForgottenDelete,       // the null-value record behind a delete is one of its own
  kTruncateOnlyStored,    // a truncate leaves uncommitted rows
  kTruncateOnlyPending,   // a truncate leaves committed rows
  kTruncateOfAllSources,  // a truncate removes the rows of the other source tables too
  kKeptRowDropped,        // the row of a key change is not kept for the other half
  kSwapUnmarked,          // a swap's second delete removes the new row
  kLedgerNotPinned,       // the newest ledger is read, not the pinned one
  kLedgerNotRolledBack,   // a ledger that no version pins is built upon
  kConflictIgnored,       // rows that another program moved keep their addresses
  kPositionsBeforeRows,   // positions are committed ahead of the rows
  kCheckpointForgotten,   // a restart forgets the ids of checkpoints
  kCompactionLosesKey,    // a compaction leaves one key at its old address
  kCompactionUnpinned,    // a compacted ledger's addresses are used before a version pins it
};

#ifdef LW_PLANTED_BUGS
/// The one bug that is planted now; set by the test before it opens a table.
inline PlantedBug planted_bug = PlantedBug::kNone;
inline bool Planted(PlantedBug bug) {
  return planted_bug == bug;
}
#else
constexpr bool Planted(PlantedBug) {
  return false;
}
#endif

}  // namespace lastword
