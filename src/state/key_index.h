// The key index: the committed state of every key, by hash. A cache that can always be rebuilt from
// the two datasets, never a source of truth. One writer; no I/O promised to be absent (RocksIndex),
// none performed by MemoryIndex.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/hash.h"
#include "lastword/status.h"
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

class KeyIndex {
 public:
  virtual ~KeyIndex() = default;
  /// Copies the entry of `key`; false where there is none, and after an error (Health).
  virtual bool Find(const KeyHash& key, KeyEntry& entry) const = 0;
  /// Says that Finds of these keys follow soon, so that they cost one probe together: memory is
  /// asked for all of them at once, storage in one read. Changes no answer; some hundred keys a
  /// call.
  virtual void Prefetch(std::span<const KeyHash> keys) const = 0;
  /// Says that `key` is stored or erased soon: memory is asked for its place, storage for nothing.
  virtual void PrefetchStore(const KeyHash& /*key*/) const {}
  virtual void Store(const KeyEntry& entry) = 0;
  virtual void Erase(const KeyHash& key) = 0;
  /// Visits all entries in no order; the index must not change meanwhile.
  virtual void ForEach(const std::function<void(const KeyEntry&)>& visit) const = 0;
  virtual uint64_t bytes_held() const = 0;
  virtual void Clear() = 0;
  /// Expects about `keys` entries.
  virtual void Reserve(uint64_t keys) = 0;
  /// The first error of its storage. From then on it answers nothing: what was decided by its
  /// answers since the last good Health must not be committed.
  virtual Status Health() const = 0;
};

}  // namespace lastword
