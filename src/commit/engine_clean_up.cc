// Old versions of a table, and those of its ledger that only they pin: which go, and in which
// order. Never removes what a version that stays, a round of compaction or a tag still needs.
#include <algorithm>
#include <chrono>

#include "base/kill_points.h"
#include "commit/engine.h"

namespace lastword {
namespace {

// Old versions of a small table may hold this much, however little lives.
constexpr uint64_t kOldBytesFree = 64 << 20;

int64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

RetentionPolicy Engine::Retention() const {
  RetentionPolicy policy;
  policy.keep_versions = x_options.keep_versions;
  policy.keep_ms = std::chrono::milliseconds(x_options.keep_for).count();
  double live = 0;
  for (const Fragment& fragment : x_table->fragments()) {
    if (fragment.physical_rows == 0) continue;
    live += static_cast<double>(fragment.bytes) * static_cast<double>(fragment.live_rows()) /
            static_cast<double>(fragment.physical_rows);
  }
  const auto held = static_cast<uint64_t>(x_options.keep_ratio * live);
  policy.keep_bytes = std::max(held, kOldBytesFree);
  return policy;
}

// The table first: a version whose ledger is gone could not be restored.
Result<uint64_t> Engine::CleanUp(const RetentionPolicy& policy) {
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, x_table->Versions());
  VersionFacts facts;
  facts.written_at_ms = [this](uint64_t version) -> Result<int64_t> {
    LW_ASSIGN_OR_RETURN(const VersionInfo info, x_table->Describe(version));
    return info.timestamp_ms;
  };
  facts.bytes_since = [this](uint64_t version) {
    uint64_t bytes = 0;
    for (const auto& [written, size] : x_written) bytes += written >= version ? size : 0;
    return bytes;
  };
  LW_ASSIGN_OR_RETURN(uint64_t keep, KeepFrom(versions, policy, NowMs(), facts));
  keep = std::min(keep, x_committed.version);
  keep = std::min(keep, x_table_rewrites.oldest_read());
  // The oldest version that stays must say itself where its sources stand: it has nothing to
  // inherit from.
  for (auto at = std::upper_bound(versions.begin(), versions.end(), keep);
       keep != 0 && at != versions.begin(); --at) {
    keep = *(at - 1);
    LW_ASSIGN_OR_RETURN(const VersionInfo info, x_table->Describe(keep));
    LW_ASSIGN_OR_RETURN(const auto own, DecodeProperties(info.properties));
    if (own) break;
    if (at - 1 == versions.begin()) keep = 0;
  }
  if (keep == 0 || keep == versions.front()) return uint64_t{0};
  LW_RETURN_IF_ERROR(x_dead_letters.RemoveLost(
      x_letters_checked, keep, [this](uint64_t version) { return WriterOf(version); }));
  x_letters_checked = keep;
  LW_ASSIGN_OR_RETURN(const uint64_t freed, x_table->Cleanup(keep));
  LW_KILL_POINT("cleanup.after_table");
  while (!x_written.empty() && x_written.front().first < keep) x_written.pop_front();
  LW_RETURN_IF_ERROR(CleanUpLedger());
  return freed;
}

// Below every version of the ledger that a version of the table pins: those that clean-up left, and
// older ones that somebody tagged.
Status Engine::CleanUpLedger() {
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, x_table->Versions());
  std::map<uint64_t, uint64_t> pins;
  uint64_t lowest = std::min(x_committed.ledger_version, x_ledger_rewrites.oldest_read());
  for (const uint64_t version : versions) {
    LW_ASSIGN_OR_RETURN(pins[version], PinOf(version));
    lowest = std::min(lowest, pins[version]);
  }
  x_pins = std::move(pins);
  if (lowest <= x_ledger_kept_from) return Ok{};
  LW_RETURN_IF_ERROR(x_ledger->Cleanup(lowest));
  x_ledger_kept_from = lowest;
  return Ok{};
}

Result<uint64_t> Engine::PinOf(uint64_t version) {
  const auto known = x_pins.find(version);
  if (known != x_pins.end()) return known->second;
  const auto properties = EffectiveProperties(*x_table, version, nullptr);
  // Nothing says what it pinned: nobody can go back to it with or without a ledger.
  if (!properties.ok() && properties.error().kind == ErrorKind::kPositionsLost) return UINT64_MAX;
  if (!properties.ok()) return properties.error();
  return properties->ledger_version;
}

}  // namespace lastword
