// Changes and what becomes of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "lastword/value.h"
#include "lastword/version.h"

namespace lastword {

/// What a change does: sets a row, removes one, or removes all rows up to its version.
enum class Kind : uint8_t { kUpsert, kDelete, kTruncate };

/// One change of one key. `row` of a delete names the key columns; of an upsert it is the complete
/// image.
struct Change {
  Kind kind = Kind::kUpsert;
  Version version;
  Row row;
};

/// What the law decided for one change (docs/ordering.md).
enum class Outcome : uint8_t {
  kApplied,   // replaced the state of its key
  kStale,     // older than the state, or at or below the floor without a live row
  kRepeat,    // the same change again
  kConflict,  // the state's version with another kind or digest
  kHeld,      // none of the law's: held back behind a bad record of its key, until that is mended
};

/// "applied", "stale", "repeat", "conflict", "held".
std::string_view NameOf(Outcome outcome);

}  // namespace lastword
