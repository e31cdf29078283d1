#include "commit/retention.h"

namespace lastword {

Result<uint64_t> KeepFrom(std::span<const uint64_t> versions, const RetentionPolicy& policy,
                          int64_t now_ms, const VersionFacts& facts) {
  if (policy.keep_versions == 0 || versions.size() <= policy.keep_versions) return uint64_t{0};
  // Both rules hold for a version's followers when they hold for it: searched by halves.
  size_t low = 0, high = versions.size() - policy.keep_versions;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const uint64_t version = versions[middle];
    LW_ASSIGN_OR_RETURN(const int64_t written_at_ms, facts.written_at_ms(version));
    const bool stays =
        written_at_ms > now_ms - policy.keep_ms && facts.bytes_since(version) <= policy.keep_bytes;
    if (stays) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == 0 ? uint64_t{0} : versions[low];
}

}  // namespace lastword
