// A version as bytes, in ledger rows, sealed batches and encoded rows: epoch(4) hi(8) mid(8) lo(8),
// little-endian. Persisted: this never changes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "lastword/version.h"

namespace lastword {

inline constexpr size_t kVersionBytes = sizeof(uint32_t) + 3 * sizeof(uint64_t);

inline void PutVersion(const Version& version, ByteWriter& out) {
  out.Put(version.epoch);
  out.Put(version.hi);
  out.Put(version.mid);
  out.Put(version.lo);
}

/// Meaningless where `in` is not ok() behind it.
inline Version GetVersion(ByteReader& in) {
  Version version;
  version.epoch = in.Get<uint32_t>();
  version.hi = in.Get<uint64_t>();
  version.mid = in.Get<uint64_t>();
  version.lo = in.Get<uint64_t>();
  return version;
}

}  // namespace lastword
