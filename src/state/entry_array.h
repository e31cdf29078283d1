// Room for the entries of one shard of the key index. Not initialised, and knows nothing of which
// entries are set.
#pragma once

#include <cstdint>
#include <utility>

#include "base/large_memory.h"
#include "state/key_entry.h"

namespace lastword {

class EntryArray {
 public:
  EntryArray() = default;
  explicit EntryArray(uint64_t size)
      : x_entries(static_cast<KeyEntry*>(AllocateLarge(size * sizeof(KeyEntry)))), x_size(size) {}
  ~EntryArray() { FreeLarge(x_entries, x_size * sizeof(KeyEntry)); }
  EntryArray(EntryArray&& other) noexcept { *this = std::move(other); }
  EntryArray& operator=(EntryArray&& other) noexcept {
    std::swap(x_entries, other.x_entries);
    std::swap(x_size, other.x_size);
    return *this;
  }

  uint64_t size() const { return x_size; }
  KeyEntry& operator[](uint64_t at) { return x_entries[at]; }
  const KeyEntry& operator[](uint64_t at) const { return x_entries[at]; }

 private:
  KeyEntry* x_entries = nullptr;
  uint64_t x_size = 0;
};

}  // namespace lastword
