// The streams that benchmarks apply: Debezium envelopes of PostgreSQL as NDJSON, made from a seed,
// together with what a table must hold behind them. Knows the truth because it invents the history;
// merges nothing that the engine merges.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lastword {

struct WorkloadShape {
  std::string_view name;
  std::string_view covers;  // one line for people
  bool updates = true;      // false: every event inserts a new key
  bool skewed = true;       // keys by a power law (Zipf, s = 1), else uniform
  uint32_t deletes = 0;     // percent of the events on known keys
  uint32_t key_changes = 0;
  uint32_t late = 0;            // percent of events that are sent again a while later
  uint32_t wide_columns = 0;    // further columns: text and numbers in turns
  uint32_t note_bytes_max = 0;  // 0: a short note
};

/// All shapes; the first one is what DESIGN's targets are about.
const std::vector<WorkloadShape>& WorkloadShapes();
/// Null for an unknown name.
const WorkloadShape* FindWorkload(std::string_view name);

struct WorkloadColumn {
  std::string name;
  std::string type;  // as in a configuration
};
/// Columns of the table; the key is `id`.
std::vector<WorkloadColumn> ColumnsOf(const WorkloadShape& shape);

/// What the table holds behind the whole stream.
struct WorkloadTruth {
  uint64_t events = 0, bytes = 0;
  uint64_t rows = 0;
  int64_t sum_id = 0, sum_qty = 0, sum_id_qty = 0;  // over all rows
};

/// Hands `events` lines, each with its newline, to `sink`; keys lie in [0, keys) and above them.
/// The same arguments give the same bytes on every machine.
WorkloadTruth MakeWorkload(const WorkloadShape& shape, uint64_t events, uint64_t keys,
                           const std::function<void(std::string_view line)>& sink);

}  // namespace lastword
