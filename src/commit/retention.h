// Which old versions of a table stay: the newest, and those that are young, as long as old versions
// do not hold more than the data that lives. Decides only; removes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "lastword/status.h"

namespace lastword {

struct RetentionPolicy {
  uint64_t keep_versions = 100;  // newest versions that stay whatever else holds; 0 = all stay
  int64_t keep_ms = 3'600'000;   // younger ones stay too …
  uint64_t keep_bytes = 0;       // … but for those from which on more than this was written
};

/// What is known of versions; asked of few.
struct VersionFacts {
  std::function<Result<int64_t>(uint64_t version)> written_at_ms;
  /// Bytes written by this version and all later ones, as far as they are known.
  std::function<uint64_t(uint64_t version)> bytes_since;
};

/// The lowest of `versions` (ascending) that stays; 0 = all stay.
Result<uint64_t> KeepFrom(std::span<const uint64_t> versions, const RetentionPolicy& policy,
                          int64_t now_ms, const VersionFacts& facts);

}  // namespace lastword
