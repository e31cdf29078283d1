// The engine of one table: state and storage tied together by the commit protocol (docs/commit.md).
// The public Table and the pipeline both drive it; it reads no source and knows no format.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commit/dead_letter.h"
#include "lance/dataset.h"
#include "lastword/table.h"
#include "model/change_batch.h"

namespace lastword {

/// How a table reaches its two datasets; the default opens Lance, tests give a double.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual Result<std::unique_ptr<Dataset>> OpenDataset(
      const std::string& uri) = 0;  // null = none there
  virtual Result<std::unique_ptr<Dataset>> CreateDataset(const std::string& uri,
                                                         const Schema& schema,
                                                         const Properties& properties) = 0;
};

struct CheckpointRequest {
  std::string id;  // empty = a fresh one; a known one changes nothing
  std::map<std::string, std::string>
      positions;  // where sources resume: input -> opaque text; merged into those stored
  bool more_at_once = false;  // the next batch follows at once, or none does: compaction begins
                              // with it, and not before
};

class TableImpl {
 public:
  virtual ~TableImpl() = default;

  /// Contract of Table::Open. `storage` outlives the table.
  static Result<std::unique_ptr<TableImpl>> Open(const std::string& uri,
                                                 const TableOptions& options, Storage& storage);

  virtual const std::string& uri() const = 0;
  /// Declared or discovered columns, without the `_lw_*` ones, including what SetSchema announced.
  virtual const Schema& schema() const = 0;
  /// Announces columns added at the end or widened; storage follows with the next commit.
  virtual Status SetSchema(const Schema& schema) = 0;

  /// Decides batch.heads in order, appends one outcome each to `outcomes`, and takes batch.rows
  /// over (they are empty afterwards). On an error the failing head is the one after the last
  /// outcome; what came before it stays applied. The error's place is filled.
  virtual Status ApplyBatch(ChangeBatch& batch, std::vector<Outcome>& outcomes) = 0;

  /// Says that every input is at its end: a snapshot whose end is pending is complete
  /// (on_resnapshot).
  virtual Status EndOfInputs() = 0;

  /// Keeps a record that could not be applied; stored with the next commit, exactly once.
  virtual void AddDeadLetter(DeadLetter letter) = 0;
  /// The bad record was one of this key (canonical bytes) with this version, {} where it is not
  /// known: later changes of the key get Outcome::kHeld, but for deletes and complete images above
  /// it.
  /// The log behind `input` was made anew in `epoch`: its offsets count from 0 again, and what is
  /// known of earlier ones says nothing. Nothing happens where that is known already.
  virtual void BeginLog(const std::string& input, uint32_t epoch) = 0;
  virtual void HoldKey(std::string_view canonical_key, const Version& version) = 0;
  /// Committed dead letters, oldest first.
  virtual Result<std::vector<DeadLetter>> DeadLetters() = 0;
  /// Takes all committed dead letters away with the next commit and ends all holds: the caller
  /// applies their records again and adds those that fail.
  virtual Status TakeDeadLetters() = 0;

  /// Contract of Table::Commit.
  virtual Result<CommitResult> Commit(const CheckpointRequest& request) = 0;
  virtual Result<bool> KnowsCheckpoint(const std::string& id) = 0;
  /// Sees compaction through that goes on beside the commits, and does a first round where this
  /// object has committed and done none; waits for both. kUsage while changes are pending; every
  /// error leaves the commits as they are. The destructor does the same and keeps errors to itself.
  virtual Status Settle() = 0;

  /// Where the source resumes `input`, as given to the last commit; empty = never seen.
  virtual std::optional<std::string> PositionOf(const std::string& input) const = 0;

  /// What was applied and not yet committed, for batching and back-pressure.
  virtual uint64_t pending_changes() const = 0;
  virtual uint64_t pending_bytes() const = 0;

  virtual Result<Explanation> Explain(const std::string& key,
                                      const std::optional<Version>& version) = 0;
  /// Live rows of the opened version, or of `as_of`; `sink` returning false ends the scan.
  virtual Status Scan(const std::function<bool(const Rows& rows, const Schema& schema)>& sink,
                      std::optional<uint64_t> as_of) = 0;
  virtual Result<TableStatus> GetStatus() = 0;
  /// Newest first, at most `limit` versions.
  virtual Result<std::vector<VersionInfo>> Log(uint64_t limit) = 0;
  virtual uint64_t count_rows() const = 0;
  virtual const Counts& counts() const = 0;  // since Open

  struct GcReport {
    uint64_t removed = 0, kept = 0;
    std::string why;  // of what was kept
    uint64_t lance_version = 0;
  };
  /// Removes tombstones at or below `boundary` and raises the floor to it in the same commit;
  /// without one, keeps all.
  virtual Result<GcReport> CollectTombstones(const std::optional<Version>& boundary) = 0;
  struct CompactReport {
    struct Size {
      uint64_t fragments = 0, deleted_rows = 0, data_bytes = 0, ledger_fragments = 0, versions = 0;
    };
    Size before, after;
    uint64_t rounds = 0, bytes_written = 0, bytes_freed = 0;
    uint64_t lance_version = 0;
  };
  /// Compacts until nothing is left to do, brings declared indexes up to date and removes old
  /// versions by the options, or all but the newest `keep_versions`. Rows, positions and everything
  /// else stay. kUsage while changes are pending.
  virtual Result<CompactReport> Compact(const std::optional<uint64_t>& keep_versions) = 0;
  /// Declares the next epoch: every version from now on outranks all before. Returns it.
  virtual Result<uint32_t> NextEpoch() = 0;
};

}  // namespace lastword
