#include "commit/hash_groups.h"

#include <numeric>

namespace lastword {

HashGroups::HashGroups(std::span<const KeyEntry> entries, int bits)
    : x_begins((size_t{1} << bits) + 1), x_places(entries.size()) {
  const int shift = 64 - bits;
  for (const KeyEntry& entry : entries) ++x_begins[(entry.key.high >> shift) + 1];
  std::partial_sum(x_begins.begin(), x_begins.end(), x_begins.begin());
  std::vector<uint32_t> next(x_begins.begin(), x_begins.end() - 1);
  for (uint32_t i = 0; i < entries.size(); ++i) {
    x_places[next[entries[i].key.high >> shift]++] = i;
  }
}

}  // namespace lastword
