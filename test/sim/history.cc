#include "sim/history.h"

#include <algorithm>
#include <set>

#include "sim/history_writer.h"

namespace lastword::sim {
namespace {

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// One key on its way through the records that a table has seen.
struct KeyWalk {
  std::optional<Row> visible;
  bool waits = false;
  std::set<std::string> missing;  // while it waits
};

bool SameHalf(const Version& a, const Version& b) {
  return a.hi == b.hi && a.mid == b.mid;
}

}  // namespace

Table History::TableAt(const std::vector<uint64_t>& counts) const {
  std::vector<const LogRecord*> seen;
  for (size_t p = 0; p < partitions.size(); ++p) {
    for (uint64_t i = 0; i < counts[p]; ++i) seen.push_back(&partitions[p][i]);
  }
  std::sort(seen.begin(), seen.end(),
            [](const LogRecord* a, const LogRecord* b) { return a->sequence < b->sequence; });
  const auto delete_half_seen = [&](const TestChange& upsert) {
    return std::any_of(seen.begin(), seen.end(), [&](const LogRecord* record) {
      const TestChange& change = record->changes[0];
      return change.flags & kKeyChangeDelete && change.key == upsert.other_key &&
             SameHalf(change.version, upsert.version);
    });
  };
  std::map<int64_t, KeyWalk> keys;
  for (const LogRecord* record : seen) {
    if (record->is_copy) continue;
    for (size_t i = 0; i < record->changes.size(); ++i) {
      const TestChange& change = record->changes[i];
      if (change.kind == Kind::kTruncate) {
        std::erase_if(keys, [&](const auto& key) { return SourceOf(key.first) == change.source; });
        continue;
      }
      if (record->is_swap_delete && i == 0) continue;
      KeyWalk& key = keys[change.key];
      const bool half = (change.flags & kKeyChangeUpsert) != 0;
      if (change.kind == Kind::kDelete || change.unavailable.empty()) {
        key = {record->truth[i], false, {}};
      } else if (half && !delete_half_seen(change)) {
        key.waits = true;
        key.missing = {change.unavailable.begin(), change.unavailable.end()};
      } else if (key.waits && !half) {
        std::erase_if(key.missing,
                      [&](const std::string& name) { return !Has(change.unavailable, name); });
        if (key.missing.empty()) key = {record->truth[i], false, {}};
      } else {
        key = {record->truth[i], false, {}};
      }
    }
  }
  Table table;
  for (const auto& [id, key] : keys) {
    if (key.visible) table[id] = *key.visible;
  }
  return table;
}

uint64_t History::records() const {
  uint64_t count = 0;
  for (const auto& partition : partitions) count += partition.size();
  return count;
}

uint64_t History::copies() const {
  uint64_t count = 0;
  for (const auto& partition : partitions) {
    for (const LogRecord& record : partition) count += record.is_copy;
  }
  return count;
}

History MakeHistory(Random& random, bool several_sources) {
  const size_t partitions = 1 + random.Below(3);
  HistoryWriter writer(random, partitions, 3 + random.Below(4), several_sources);
  const uint64_t transactions = 5 + random.Below(25);
  for (uint64_t i = 0; i < transactions; ++i) writer.Transaction();
  return writer.Finish();
}

}  // namespace lastword::sim
