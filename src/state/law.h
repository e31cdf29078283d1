// The law: what becomes of one change, given what is stored of its key. Arrival, clocks and
// contents decide nothing. docs/ordering.md holds the table that this function is.
#pragma once

#include <optional>

#include "lastword/change.h"

namespace lastword {

/// What the law compares of a key's state.
struct StoredChange {
  Version version;
  uint64_t digest = 0;
  bool live = false;   // false: a tombstone
  bool waits = false;  // an upsert that is not visible yet, and no other row of the key is
};

struct Decision {
  Outcome outcome = Outcome::kStale;
  bool below_floor =
      false;  // stale because there is no live row and the version is at or below the floor
};

/// Decides an upsert (`live`) or a delete against the state of its key. A key without state and
/// without a floor above it is unknown, which is not version 0: its first change is applied
/// whatever its version.
inline Decision Decide(const Version& version, uint64_t digest, bool live,
                       const std::optional<StoredChange>& stored,
                       const std::optional<Version>& floor) {
  const bool has_row = stored && stored->live && !stored->waits;
  if (floor && version <= *floor && !has_row) return {Outcome::kStale, true};
  if (!stored || version > stored->version) return {Outcome::kApplied};
  if (version < stored->version) return {Outcome::kStale};
  const bool same = stored->digest == digest && stored->live == live;
  return {same ? Outcome::kRepeat : Outcome::kConflict};
}

}  // namespace lastword
