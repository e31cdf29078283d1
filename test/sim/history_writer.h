// Writes a history, transaction by transaction (history.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/history.h"

namespace lastword::sim {

class HistoryWriter {
 public:
  HistoryWriter(Random& random, size_t partitions, uint64_t keys, bool several_sources);

  void Transaction();
  History Finish();

 private:
  size_t PartitionOf(int64_t key) const { return static_cast<size_t>(key) % x_partitions; }
  Version At(uint64_t rank);
  std::optional<int64_t> AnyKey(bool live);
  std::string NewText();
  bool SameSource(int64_t a, int64_t b) const;
  LogRecord& Append(size_t partition, std::vector<TestChange> changes,
                    std::vector<std::optional<Row>> truth);
  TestChange Image(int64_t key, const Row& row, const std::vector<std::string>& hidden);
  std::vector<std::string> SomeHidden();

  void Change();
  void Write(int64_t key);
  void Remove(int64_t key);
  void RemoveByNullValue(int64_t key);
  void ChangeKey(int64_t from, int64_t to);
  void Halves(int64_t from, int64_t to, const Row& row, bool swap_delete);
  void Swap(int64_t a, int64_t b);
  void Truncate();
  void WriteWanderer();
  void FlushNullValue();

  Random& x_random;
  const size_t x_partitions;
  const uint64_t x_keys;
  History x_history;
  std::map<int64_t, Row> x_rows;
  std::set<int64_t> x_moved;  // keys that a row was moved to in this transaction
  bool x_wanderer_live = false;
  size_t x_wanderer_partition = 0;
  std::optional<size_t> x_null_value;  // partition in which the wanderer's is still to come
  std::set<int64_t> x_swapped;         // keys whose last record is the delete of a swap
  uint64_t x_hi = 0, x_mid = 0, x_sequence = 0, x_texts = 0;
};

}  // namespace lastword::sim
