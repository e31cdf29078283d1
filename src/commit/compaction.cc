#include "commit/compaction.h"

#include <algorithm>
#include <map>

namespace lastword {
namespace {

// A fragment of half the maximum is full: two of them make one of the maximum, and no more.
constexpr uint64_t kFullShare = 2;
// A table of more than so many full fragments gets larger ones, up to so many times as large: a
// round of those goes on for seconds, and its rows move at once.
constexpr uint64_t kFullFragments = 32;
constexpr uint64_t kGrowthMax = 4;

uint64_t LiveBytes(const Fragment& fragment) {
  if (fragment.physical_rows == 0) return 0;
  const double share =
      static_cast<double>(fragment.live_rows()) / static_cast<double>(fragment.physical_rows);
  return static_cast<uint64_t>(static_cast<double>(fragment.bytes) * share);
}

// So many deleted rows of all are more than may be left where they are.
uint64_t DeadTooMany(std::span<const Fragment> fragments, const CompactionPolicy& policy) {
  uint64_t live = 0, deleted = 0;
  for (const Fragment& fragment : fragments) {
    live += fragment.live_rows();
    deleted += fragment.deleted_rows;
  }
  const auto allowed = static_cast<uint64_t>(policy.dead_share * static_cast<double>(live));
  return deleted - std::min(deleted, allowed);
}

bool Full(const Fragment& fragment, const CompactionPolicy& policy) {
  return fragment.live_rows() >= policy.rows_max / kFullShare ||
         LiveBytes(fragment) >= policy.bytes_max / kFullShare;
}

uint32_t TierOf(const Fragment& fragment, const CompactionPolicy& policy) {
  uint32_t tier = 0;
  for (uint64_t rows = policy.tier_rows; fragment.live_rows() > rows; rows *= policy.fragments) {
    ++tier;
  }
  return tier;
}

// As many of `from`, in order, as one round takes; more than `least` only within round_rows, and
// until `deleted_rows` are given back.
std::vector<uint64_t> Take(const std::vector<Fragment>& from, size_t least,
                           const CompactionPolicy& policy, uint64_t deleted_rows = UINT64_MAX) {
  std::vector<uint64_t> taken;
  uint64_t rows = 0, bytes = 0, deleted = 0;
  for (const Fragment& fragment : from) {
    rows += fragment.live_rows();
    bytes += LiveBytes(fragment);
    if (!taken.empty() && (rows > policy.rows_max || bytes > policy.bytes_max)) break;
    if (taken.size() >= least && (rows > policy.round_rows || deleted >= deleted_rows)) break;
    taken.push_back(fragment.id);
    deleted += fragment.deleted_rows;
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace

std::vector<uint64_t> PlanCompaction(std::span<const Fragment> fragments,
                                     const CompactionPolicy& policy) {
  // What touches every commit comes first: many small fragments, the smallest ones before others.
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Fragment>> tiers;
  std::map<uint64_t, std::vector<Fragment>> worn;
  for (const Fragment& fragment : fragments) {
    if (!Full(fragment, policy)) {
      tiers[{TierOf(fragment, policy), fragment.index_set}].push_back(fragment);
    }
    const double share = policy.deleted_share * static_cast<double>(fragment.physical_rows);
    if (static_cast<double>(fragment.deleted_rows) > share &&
        fragment.deleted_rows >= policy.deleted_rows_min) {
      worn[fragment.index_set].push_back(fragment);
    }
  }
  const uint32_t least = std::max<uint32_t>(policy.fragments, 2);
  for (const auto& [tier, members] : tiers) {
    if (members.size() < least) continue;
    std::vector<uint64_t> round = Take(members, 2, policy);
    if (round.size() >= 2) return round;
  }
  const uint64_t too_many = DeadTooMany(fragments, policy);
  if (too_many == 0) return {};
  for (auto& [set, members] : worn) {
    // The most worn first: it gives most back for what is written.
    std::stable_sort(members.begin(), members.end(), [](const Fragment& a, const Fragment& b) {
      return a.live_rows() * b.physical_rows < b.live_rows() * a.physical_rows;
    });
    return Take(members, 1, policy, too_many);
  }
  return {};
}

CompactionPolicy ForSize(const CompactionPolicy& policy, std::span<const Fragment> fragments) {
  uint64_t rows = 0, bytes = 0;
  for (const Fragment& fragment : fragments) {
    rows += fragment.live_rows();
    bytes += LiveBytes(fragment);
  }
  const auto grown = [](uint64_t max, uint64_t all) {
    return std::clamp(all / kFullFragments, max, max * kGrowthMax);
  };
  CompactionPolicy sized = policy;
  sized.rows_max = grown(policy.rows_max, rows);
  sized.bytes_max = grown(policy.bytes_max, bytes);
  return sized;
}

CompactionPolicy ThoroughPolicy(const CompactionPolicy& policy) {
  CompactionPolicy thorough = policy;
  thorough.fragments = 2;
  thorough.tier_rows = policy.rows_max;
  thorough.round_rows = policy.rows_max;
  thorough.deleted_share = 0.1;
  thorough.deleted_rows_min = 1;
  thorough.dead_share = 0;
  return thorough;
}

}  // namespace lastword
