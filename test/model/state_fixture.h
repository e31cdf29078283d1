// A TableState with storage of its own: rows and ledger rows in maps, addresses counted up. Fast
// enough for millions of scripts; it shows the law and its state, not Lance and not the order of
// commits.
//
// Table: id int64 (key), a string, b string. One change a batch, so that every outcome has a name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/test_change.h"
#include "state/memory_index.h"
#include "state/table_state.h"

namespace lastword {

class StateFixture final : public StoredRows {
 public:
  explicit StateFixture(const StateOptions& options = {}, bool several_sources = false);

  /// Applies one change.
  Result<Outcome> Apply(const TestChange& change);
  /// Applies the changes of one record (the halves of a key change): one offset, that of the first.
  Result<std::vector<Outcome>> ApplyRecord(std::span<const TestChange> changes);
  Status EndOfInputs() { return x_state->EndOfInputs(); }
  Status Commit();
  /// A new process: everything is read back from the committed maps, uncommitted changes are lost.
  void Restart();
  /// Tombstone collection, committed.
  uint64_t Collect(const Version& boundary);
  uint32_t NextEpoch() { return x_state->NextEpoch(); }
  void BeginLog(const std::string& input, uint32_t epoch) { x_state->BeginLog(input, epoch); }

  using TableRow = std::pair<std::optional<std::string>, std::optional<std::string>>;
  /// Committed visible rows.
  std::map<int64_t, TableRow> Table() const;
  /// "1=x,y 2=z,- " : all committed rows as text; "a.1=x,y " with several sources.
  std::string Text() const;
  uint64_t ledger_rows() const { return x_ledger.size(); }
  uint64_t tombstones() const { return x_head.tombstones; }
  TableState& state() { return *x_state; }
  static KeyHash HashOf(int64_t key);

 private:
  struct StoredLive {
    RowChunk row;  // one row, version columns included
    KeyEntry entry;
  };
  struct StoredLedger {
    KeyEntry entry;
    std::string key, extra;
  };

  Result<RowChunk> Take(std::span<const uint64_t> addresses) override;
  Status ForEachKey(const KeyVisit& visit) override;

  StateOptions x_options;
  Schema x_schema;
  std::unique_ptr<MemoryIndex> x_index;
  std::unique_ptr<TableState> x_state;
  StateHead x_head;
  std::map<uint64_t, StoredLive> x_rows;
  std::map<uint64_t, StoredLedger> x_ledger;
  std::map<std::string, uint64_t> x_offsets;
  uint64_t x_next_address = 0;
};

}  // namespace lastword
