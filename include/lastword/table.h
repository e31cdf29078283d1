// A table that always equals the newest state of its source.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lastword/change.h"
#include "lastword/schema.h"
#include "lastword/status.h"

namespace lastword {

/// What happens at one version with two contents: stop at it, or dead-letter it and go on.
enum class OnConflict : uint8_t { kFail, kQuarantine };
/// Live rows that a completed new snapshot did not see: source_gap, removed, or kept.
enum class OnResnapshot : uint8_t { kUnset, kReplace, kMerge };
/// What a -U means whose key ends the checkpoint without a +U: a delete, nothing, an error.
enum class LoneUpdateBefore : uint8_t { kDelete, kDrop, kFail };

/// A secondary index that is to be there: "btree" over a scalar column, "ivf_pq" over a vector.
struct IndexOptions {
  std::string column;
  std::string type;
};

/// How a table is opened or created; a table that exists keeps its schema and storage version.
struct TableOptions {
  /// Columns and primary key for a table that does not exist yet; empty for one that does.
  Schema schema;
  OnConflict on_conflict = OnConflict::kFail;
  OnResnapshot on_resnapshot = OnResnapshot::kUnset;
  LoneUpdateBefore lone_update_before = LoneUpdateBefore::kDelete;
  bool fsync = true;  // `durability: fsync`; false = a process crash is survived, a power loss not
  bool read_only = false;  // takes no lock; Apply and Commit fail
  std::string storage_version = "2.2";
  uint64_t memory_bytes_max = 2ull << 30;
  /// What happens to the table between checkpoints (docs/commit.md). False: fragments and indexes
  /// stay as commits leave them.
  bool compaction = true;
  uint32_t compaction_fragments = 8;  // so many small fragments of like size become one; at least 2
  uint64_t keep_versions = 100;       // newest versions that clean-up leaves; 0 = no clean-up
  std::chrono::seconds keep_for{3600};  // younger versions stay too, but for …
  double keep_ratio =
      1;  // … those by which old versions hold more than this many times the live data
  /// Ids of checkpoints that are remembered, at least so many of the newest; an id that is older is
  /// taken for a new one.
  uint64_t checkpoint_ids = 1 << 20;
  std::vector<IndexOptions> indexes;  // made once there are rows enough, and kept up to date
};

/// How many changes had each outcome.
struct Counts {
  uint64_t applied = 0, stale = 0, below_floor = 0, repeat = 0, conflict = 0, quarantined = 0,
           held = 0;
  Counts& operator+=(const Counts& other);
};

/// What one checkpoint wrote.
struct CommitResult {
  uint64_t lance_version = 0;
  bool already_committed = false;  // the checkpoint id was known: nothing was changed
  bool committed = false;          // false: there was nothing to commit
  uint64_t rows_written = 0, rows_deleted = 0, bytes_written = 0;
  /// Maintenance behind the commit: rows and bytes that compaction wrote, and the pause it all
  /// made.
  uint64_t rows_compacted = 0, bytes_compacted = 0;
  double maintenance_seconds = 0;
  std::optional<Error> maintenance_error;  // the commit stands; maintenance is tried again later
};

/// What `explain` says of one key.
struct Explanation {
  enum class State { kLive, kDeleted, kUnknown, kBelowFloor } state = State::kUnknown;
  std::optional<Version> version;  // of the state; the floor for kBelowFloor
  std::optional<uint64_t>
      lance_version;       // the version whose commit wrote the state, where still known
  std::string checkpoint;  // id of that commit's checkpoint
  std::optional<Row> row;  // for kLive
  bool quarantined = false;
  std::optional<Outcome> would_be;  // of a change with the asked version
  std::string why;                  // one sentence
};

/// What `status` says of a table, at its opened version.
struct TableStatus {
  uint64_t lance_version = 0, ledger_version = 0, rows = 0, tombstones = 0, fragments = 0,
           deleted_rows = 0;
  uint64_t data_bytes = 0;  // of the data files of this version, deleted rows included
  uint64_t kept_rows = 0, waiting_changes = 0, dead_letters = 0, checkpoints = 0;
  std::vector<std::string> quarantined_keys, held_keys;
  std::map<std::string, Version> floors;  // "": of every row; "src=orders_01": of a source table
  uint32_t epoch = 0;
  uint64_t writer_epoch = 0;
  std::map<std::string, std::string> positions;  // input -> position, as people read it
  std::vector<std::string> foreign_changes;      // data commits by others since our last one
  Counts totals;                                 // since the table was created
  std::string index;         // where this process has the key index: "memory" or "rocksdb"
  uint64_t index_bytes = 0;  // what it holds in memory
};

class TableImpl;

/// One table, opened by one writer or any number of readers. Calls come from one thread at a time.
/// After an error of class kReread, kLookUp, kFenced or kDefect the object only answers errors:
/// open it again.
class Table {
 public:
  /// Opens `uri` ("…/orders.lance"), or creates it when options.schema has columns. Recovers: rolls
  /// a ledger that no visible version pins back. Commits nothing. Errors: kUsage, kLedgerMissing,
  /// kPositionsLost, kStorage…, kFencedWriter (another process holds the lock), kUnsupportedFormat.
  static Result<Table> Open(const std::string& uri, const TableOptions& options = {});
  ~Table();
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;

  /// Decides `changes` in order against the state including what was applied and not yet committed.
  /// One outcome a change. kVersionConflict (policy fail) and every other error name the change;
  /// the changes before it stay applied.
  Result<std::vector<Outcome>> Apply(std::span<const Change> changes);

  /// Makes everything applied durable and visible in one atomic step. `checkpoint_id`: a repeated
  /// id changes nothing and drops what was applied; empty = a fresh one. `positions` are stored
  /// with it and come back from positions().
  Result<CommitResult> Commit(const std::string& checkpoint_id = {});

  /// The state of one key, `key` as `explain` takes it; with `version`, what a change of that
  /// version would get.
  Result<Explanation> Explain(const std::string& key, const std::optional<Version>& version = {});

  /// Calls `sink` for every live row, at the opened version or at `as_of`. Returning false ends the
  /// scan.
  Status Scan(const std::function<bool(const Row&)>& sink, std::optional<uint64_t> as_of = {});

  /// The opened version in figures; reads the ledger, changes nothing.
  Result<TableStatus> GetStatus();
  const Schema& schema() const;
  uint64_t count_rows() const;
  const Counts& counts() const;  // since Open

  TableImpl& impl();  // for the library's own layers

 private:
  struct Parts;
  explicit Table(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> x_parts;
};

}  // namespace lastword
