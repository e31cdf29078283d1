// Version: the order of the changes of one key.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "lastword/status.h"

namespace lastword {

/// Orders the changes of one key: compared field by field, highest wins. Comes from the source's
/// log, never from a clock or from text, and is never used to resume (that is a Position).
struct Version {
  uint32_t epoch = 0;  // declared incarnation of the source
  uint64_t hi = 0;     // docs/ordering.md says what each source puts into hi, mid and lo
  uint64_t mid = 0;
  uint64_t lo = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// "epoch/hi/mid/lo", the form that ParseVersion reads back.
std::string ToString(const Version& version);

/// Reads `epoch/hi/mid/lo` or a source's own form: `lsn:0/16B3748` (the highest version with that
/// commit LSN as hi), `offset:3:42` (partition 3, offset 42) or `seq:3`. Fails with kUsage.
Result<Version> ParseVersion(std::string_view text);

}  // namespace lastword
