#include "sim/scripted_source.h"

#include <algorithm>
#include <cstdio>

namespace lastword::sim {

std::string ToText(const Cursor& cursor) {
  return std::to_string(cursor.next) + "/" + std::to_string(cursor.high);
}

Cursor CursorOf(const std::optional<std::string>& position) {
  Cursor cursor;
  if (!position) return cursor;
  const size_t slash = position->find('/');
  cursor.next = std::stoull(position->substr(0, slash));
  cursor.high = std::stoull(position->substr(slash + 1));
  return cursor;
}

ScriptedSource::ScriptedSource(const History& history, Random& random, const Options& options)
    : x_history(history), x_random(random), x_options(options) {}

void ScriptedSource::Resume(std::vector<ResumePoint> tables) {
  for (size_t p = 0; p < x_history.partitions.size(); ++p) {
    Cursor cursor = CursorOf(tables[0].position_of(History::NameOf(p)));
    if (x_options.rewinds_one_in != 0 && x_random.OneIn(x_options.rewinds_one_in)) {
      cursor.next = x_random.Below(cursor.next + 1);
    }
    x_cursors.push_back(cursor);
  }
  x_before = x_cursors;
}

bool ScriptedSource::exhausted() const {
  for (size_t p = 0; p < x_cursors.size(); ++p) {
    if (x_cursors[p].next < x_history.partitions[p].size()) return false;
  }
  return true;
}

std::optional<size_t> ScriptedSource::Choose() {
  std::vector<size_t> open;
  for (size_t p = 0; p < x_cursors.size(); ++p) {
    if (x_cursors[p].next < x_history.partitions[p].size()) open.push_back(p);
  }
  if (open.empty()) return std::nullopt;
  if (!x_options.in_order) return open[x_random.Below(open.size())];
  return *std::min_element(open.begin(), open.end(), [&](size_t a, size_t b) {
    return x_history.partitions[a][x_cursors[a].next].sequence <
           x_history.partitions[b][x_cursors[b].next].sequence;
  });
}

Status ScriptedSource::Next(uint64_t records_max, Delivery& out) {
  out = Delivery{};
  out.first_new = {0};
  x_before = x_cursors;
  const std::optional<size_t> partition = Choose();
  if (!partition || x_deliveries == x_options.deliveries_max) {
    out.decoded.tables.push_back(EmptyBatch("none", x_history.several_sources));
    out.decoded.tables[0].inputs.clear();
    out.state = Delivery::State::kEnd;
    return Ok{};
  }
  ++x_deliveries;
  x_last = *partition;
  const std::vector<LogRecord>& log = x_history.partitions[*partition];
  Cursor& cursor = x_cursors[*partition];
  uint64_t records = x_options.in_order ? 1 : 1 + x_random.Below(6);
  records = std::min({records, records_max, log.size() - cursor.next});
  ChangeBatch batch = EmptyBatch(History::NameOf(*partition), x_history.several_sources);
  for (uint64_t i = 0; i < records; ++i) {
    for (const TestChange& change : log[cursor.next].changes) {
      AppendChange(change, cursor.next, batch);
      out.decoded.order.push_back(0);
    }
    cursor.high = std::max(cursor.high, ++cursor.next);
  }
  out.decoded.tables.push_back(std::move(batch));
  out.decoded.records = records;
  return Ok{};
}

Source::Positions ScriptedSource::Behind(size_t) const {
  Positions positions;
  for (size_t p = 0; p < x_cursors.size(); ++p) {
    positions[History::NameOf(p)] = ToText(x_cursors[p]);
  }
  return positions;
}

Source::Positions ScriptedSource::Before(size_t table, const ChangeHead& head) const {
  Positions positions = Behind(table);
  Cursor cursor = x_before[x_last];
  cursor.next = head.offset;
  cursor.high = std::max(cursor.high, cursor.next);
  positions[History::NameOf(x_last)] = ToText(cursor);
  return positions;
}

}  // namespace lastword::sim
