#include "sim/history_writer.h"

namespace lastword::sim {
namespace {

// Ranks at one log position (docs/ordering.md).
constexpr uint64_t kRankDelete = 1;
constexpr uint64_t kRankUpsert = 2;

// A key that comes back in another partition than the one it was deleted in (the log got more
// partitions). The order of its changes is lost, so it has complete images only; the null-value
// record behind its delete comes late.
constexpr int64_t kWanderer = 100;

}  // namespace

HistoryWriter::HistoryWriter(Random& random, size_t partitions, uint64_t keys, bool several_sources)
    : x_random(random), x_partitions(partitions), x_keys(keys) {
  x_history.several_sources = several_sources;
  x_history.partitions.resize(partitions);
}

Version HistoryWriter::At(uint64_t rank) {
  return {0, x_hi, x_mid, rank};
}

std::string HistoryWriter::NewText() {
  return "v" + std::to_string(++x_texts);
}

std::optional<int64_t> HistoryWriter::AnyKey(bool live) {
  const uint64_t first = x_random.Below(x_keys);
  for (uint64_t i = 0; i < x_keys; ++i) {
    const auto key = static_cast<int64_t>((first + i) % x_keys);
    if ((x_rows.count(key) != 0) == live) return key;
  }
  return std::nullopt;
}

bool HistoryWriter::SameSource(int64_t a, int64_t b) const {
  return x_history.SourceOf(a) == x_history.SourceOf(b);
}

LogRecord& HistoryWriter::Append(size_t partition, std::vector<TestChange> changes,
                                 std::vector<std::optional<Row>> truth) {
  LogRecord& record = x_history.partitions[partition].emplace_back();
  record.sequence = ++x_sequence;
  for (TestChange& change : changes) {
    x_swapped.erase(change.key);
    if (change.kind != Kind::kTruncate) change.source = x_history.SourceOf(change.key);
  }
  record.changes = std::move(changes);
  record.truth = std::move(truth);
  return record;
}

TestChange HistoryWriter::Image(int64_t key, const Row& row,
                                const std::vector<std::string>& hidden) {
  TestChange change;
  change.key = key;
  change.version = At(kRankUpsert);
  change.a = row.first;
  change.b = row.second;
  change.unavailable = hidden;
  return change;
}

std::vector<std::string> HistoryWriter::SomeHidden() {
  static const std::vector<std::string> kChoices[] = {{}, {}, {"a"}, {"b"}, {"a", "b"}};
  return kChoices[x_random.Below(5)];
}

void HistoryWriter::Transaction() {
  x_hi += 1 + x_random.Below(9);
  x_mid = 0;
  x_moved.clear();
  const uint64_t changes = 1 + x_random.Below(3);
  for (uint64_t i = 0; i < changes; ++i) Change();
}

void HistoryWriter::Change() {
  ++x_mid;
  const std::optional<int64_t> live = AnyKey(true);
  const std::optional<int64_t> free = AnyKey(false);
  const uint64_t what = x_random.Below(40);
  if (what < 1) return Truncate();
  if (what > 36) return WriteWanderer();
  if (live && what < 9) return Remove(*live);
  if (live && what < 11 && x_swapped.count(*live) == 0) return RemoveByNullValue(*live);
  // A truncate has no place in the order of a key. While one is under way, a row that moves to a
  // key and on again in one transaction looks like a swap with the row that the truncate removes.
  if (live && free && what < 17 && x_moved.count(*live) == 0 && SameSource(*live, *free))
    return ChangeKey(*live, *free);
  const std::optional<int64_t> other = AnyKey(true);
  if (live && other && *live != *other && what < 20 && SameSource(*live, *other) &&
      x_moved.count(*live) + x_moved.count(*other) == 0)
    return Swap(*live, *other);
  Write(static_cast<int64_t>(x_random.Below(x_keys)));
}

void HistoryWriter::Write(int64_t key) {
  const auto known = x_rows.find(key);
  const std::vector<std::string> hidden =
      known == x_rows.end() ? std::vector<std::string>{} : SomeHidden();
  Row row = {NewText(), NewText()};
  for (const std::string& column : hidden) {
    (column == "a" ? row.first : row.second) =
        column == "a" ? known->second.first : known->second.second;
  }
  x_rows[key] = row;
  Append(PartitionOf(key), {Image(key, row, hidden)}, {row});
  if (hidden.empty() && x_random.OneIn(12)) {
    Append(PartitionOf(key), {Image(key, {"copy", "copy"}, {})}, {row}).is_copy = true;
  }
}

void HistoryWriter::Remove(int64_t key) {
  x_rows.erase(key);
  TestChange change;
  change.kind = Kind::kDelete;
  change.key = key;
  change.version = At(kRankDelete);
  Append(PartitionOf(key), {change}, {std::nullopt});
  if (x_random.OneIn(4)) return;
  TestChange null_value;
  null_value.kind = Kind::kDelete;
  null_value.key = key;
  null_value.flags = kNullValue;
  Append(PartitionOf(key), {null_value}, {std::nullopt});
}

// The delete itself was removed by the log's compaction.
void HistoryWriter::RemoveByNullValue(int64_t key) {
  x_rows.erase(key);
  TestChange change;
  change.kind = Kind::kDelete;
  change.key = key;
  change.flags = kNullValue;
  Append(PartitionOf(key), {change}, {std::nullopt});
}

void HistoryWriter::Halves(int64_t from, int64_t to, const Row& row, bool swap_delete) {
  TestChange remove;
  remove.kind = Kind::kDelete;
  remove.key = from;
  remove.version = At(kRankDelete);
  remove.flags = kKeyChangeDelete;
  remove.other_key = to;
  TestChange set = Image(to, row, {});
  set.flags = kKeyChangeUpsert;
  set.other_key = from;
  // Only what did not change can be unavailable.
  const Row& old = x_rows.at(from);
  if (old.first == row.first && x_random.OneIn(2)) set.unavailable.push_back("a");
  if (old.second == row.second && x_random.OneIn(2)) set.unavailable.push_back("b");
  if (PartitionOf(from) == PartitionOf(to) && x_random.OneIn(2)) {
    Append(PartitionOf(to), {remove, set}, {std::nullopt, row}).is_swap_delete = swap_delete;
    return;
  }
  Append(PartitionOf(from), {remove}, {std::nullopt}).is_swap_delete = swap_delete;
  Append(PartitionOf(to), {set}, {row});
}

void HistoryWriter::ChangeKey(int64_t from, int64_t to) {
  Row row = x_rows.at(from);
  if (x_random.OneIn(2)) row.second = NewText();
  Halves(from, to, row, false);
  x_rows.erase(from);
  x_rows[to] = row;
  x_moved.insert(to);
}

void HistoryWriter::Swap(int64_t a, int64_t b) {
  const Row row_a = x_rows.at(a);
  const Row row_b = x_rows.at(b);
  Halves(a, b, row_a, false);
  ++x_mid;
  Halves(b, a, row_b, true);
  x_rows[a] = row_b;
  x_rows[b] = row_a;
  // A null-value record behind it would be taken as that delete's.
  x_swapped.insert(b);
}

void HistoryWriter::FlushNullValue() {
  if (!x_null_value) return;
  TestChange change;
  change.kind = Kind::kDelete;
  change.key = kWanderer;
  change.flags = kNullValue;
  // It says nothing: the record is a copy of what its delete said.
  Append(*x_null_value, {change}, {std::nullopt}).is_copy = true;
  x_null_value.reset();
}

void HistoryWriter::WriteWanderer() {
  const bool live = x_wanderer_live;
  if (!live) {
    x_wanderer_partition = x_random.Below(x_partitions);
    if (x_null_value == x_wanderer_partition) FlushNullValue();
  }
  if (live && x_random.OneIn(2)) {
    FlushNullValue();
    x_wanderer_live = false;
    TestChange change;
    change.kind = Kind::kDelete;
    change.key = kWanderer;
    change.version = At(kRankDelete);
    Append(x_wanderer_partition, {change}, {std::nullopt});
    x_null_value = x_wanderer_partition;
    return;
  }
  x_wanderer_live = true;
  const Row row = {NewText(), NewText()};
  Append(x_wanderer_partition, {Image(kWanderer, row, {})}, {row});
}

History HistoryWriter::Finish() {
  FlushNullValue();
  return std::move(x_history);
}

void HistoryWriter::Truncate() {
  TestChange change;
  change.kind = Kind::kTruncate;
  // A truncate is of the source table of some key.
  if (x_history.several_sources) change.source = x_history.SourceOf(x_random.Below(2));
  if (x_history.SourceOf(kWanderer) == change.source) x_wanderer_live = false;
  std::erase_if(x_rows,
                [&](const auto& row) { return x_history.SourceOf(row.first) == change.source; });
  change.version = At(kRankUpsert);
  Append(x_random.Below(x_partitions), {change}, {std::nullopt});
}

}  // namespace lastword::sim
