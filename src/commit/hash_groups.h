// Deals entries out by the first bits of their hashes, so that what is locked, or lies together, is
// met once a batch and not once an entry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/key_entry.h"

namespace lastword {

class HashGroups {
 public:
  /// `bits`: at least one. The entries stay where they are and must outlive this object.
  HashGroups(std::span<const KeyEntry> entries, int bits);

  uint64_t count() const { return x_begins.size() - 1; }
  /// Places of the entries of one group, ascending.
  std::span<const uint32_t> operator[](uint64_t group) const {
    return std::span(x_places).subspan(x_begins[group], x_begins[group + 1] - x_begins[group]);
  }

 private:
  std::vector<uint32_t> x_begins;  // of each group, and the end of the last
  std::vector<uint32_t> x_places;
};

}  // namespace lastword
