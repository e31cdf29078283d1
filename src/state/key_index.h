// The key index: the committed state of every key, by hash. A cache that can always be rebuilt from
// the two datasets, never a source of truth. One writer; no I/O promised to be absent (RocksIndex),
// none performed by MemoryIndex.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "lastword/status.h"
#include "state/key_entry.h"

namespace lastword {

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
