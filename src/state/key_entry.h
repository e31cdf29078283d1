// What is committed of one key, as the key index holds it and the law reads it: its hash, its
// version, and where its row is.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "lastword/version.h"

namespace lastword {

enum class KeyStatus : uint8_t {
  kNone = 0,  // nothing stored, or only an extra (state/key_extra.h)
  kLive = 1,
  kTombstone = 2,
};

inline constexpr uint64_t kNoAddress = UINT64_MAX;

/// Set in a delete_input once the null-value record behind that delete was seen as well: nothing is
/// left to wait for, and what removes the tombstone may forget the delete.
inline constexpr uint16_t kNullValueSeen = 0x8000;

/// State of one key: 64 bytes, one cache line.
struct KeyEntry {
  KeyHash key;
  uint64_t hi = 0, mid = 0, lo = 0;
  uint64_t digest = 0;
  uint64_t address = kNoAddress;  // kLive: row of the visible table; kTombstone: row of the ledger
  uint32_t epoch = 0;
  KeyStatus status = KeyStatus::kNone;
  bool has_extra = false;
  uint16_t delete_input =
      0;  // 1 + number of the input whose last record of this key was a delete; 0 = none

  Version version() const { return {epoch, hi, mid, lo}; }
  void set_version(const Version& v) { epoch = v.epoch, hi = v.hi, mid = v.mid, lo = v.lo; }
  bool live() const { return status == KeyStatus::kLive; }
  friend bool operator==(const KeyEntry&, const KeyEntry&) = default;
};
static_assert(sizeof(KeyEntry) == 64);

}  // namespace lastword
