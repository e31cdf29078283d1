// The step loop: read, decode, apply, commit. One Step does one round and returns, so that a
// simulation drives the same code as a process does. No clock, no thread, no I/O of its own.
//
// Every table commits the position of what it has applied, in the same commit. A run that stops at
// a record commits what stands in front of it and that position: the next run stops there again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/config.h"
#include "pipeline/destination.h"
#include "source/source.h"

namespace lastword {

struct ApplyOptions {
  /// Commit after this many changes, all tables together; empty = only when memory asks for it.
  std::optional<uint64_t> checkpoint_every;
  /// Commit when the uncommitted changes of all tables hold this much.
  uint64_t pending_bytes_max = 256ull << 20;
  /// Makes the run one checkpoint with this id, committed at the end only. A run that stops at a
  /// record commits what is in front of it without the id, so that the id can be tried again.
  std::string checkpoint_id;
  /// Commits at the end or not at all: what stops the run leaves the tables as they were.
  bool all_or_nothing = false;
  std::vector<EpochRule> epochs;
  /// Sees each delivery's changes of one table with their outcomes, before rows are dropped.
  std::function<void(const TableConfig& table, const ChangeBatch& batch,
                     const std::vector<Outcome>& outcomes)>
      on_outcomes;
  std::function<void(const std::string& note)> on_note;
};

/// What became of one table in this run.
struct TableResult {
  bool already_committed = false;  // it had the checkpoint id: nothing was read for it
  uint64_t lance_version = 0;      // of the last commit; 0 = none
  uint64_t commits = 0;
};

class ApplyRun {
 public:
  /// `source` outlives the run.
  ApplyRun(Source& source, std::vector<Destination> destinations, ApplyOptions options);

  /// Tells the source where the tables stand. Call once, before the first step.
  Status Start();
  /// One round. False: everything is applied and committed, or all tables had the checkpoint id.
  /// After an error the run is over: what was in front of it is committed, as far as the error lets
  /// commits happen.
  Result<bool> Step();
  /// Commits what is applied, unless it is all or nothing; for a run that is to end early. Keeps
  /// the checkpoint id for the next try.
  Status CommitEarly();

  const std::vector<Destination>& destinations() const { return x_destinations; }
  const std::vector<TableResult>& results() const { return x_results; }
  uint64_t changes() const { return x_changes; }
  uint64_t dead_letters(size_t table) const { return x_dead_letters[table]; }

 private:
  Status ApplyDelivery(Delivery& delivery);
  // Applies changes [begin, end) of a table's batch; all of it in one piece where that is the
  // whole.
  Status ApplyPart(size_t table, ChangeBatch& batch, size_t begin, size_t end);
  // The same for a table with a dead letter: records that fail are put aside, the rest is applied.
  Status ApplyOrPutAside(size_t table, const ChangeBatch& batch, size_t begin, size_t end);
  // Applies `part`; on an error x_failed is its change.
  Status ApplyOnce(size_t table, ChangeBatch& part, std::vector<Outcome>& outcomes);
  // The table whose dead letter takes a record that no decoder could read; none: the run stops.
  std::optional<size_t> TakerOf(const Error& error) const;
  // Keeps `record` in the dead letter.
  void PutAside(size_t table, const Error& error, std::string record);
  // Holds the key of a bad record from `version` on.
  void Hold(size_t table, const Error& error, const Version& version);
  // Puts changes aside that were decided and not applied: held ones, quarantined conflicts.
  void PutDecidedAside(size_t table, const ChangeBatch& part, std::span<const Outcome> outcomes);
  void SetEpochs(ChangeBatch& batch) const;
  Status Grant(const codec::SchemaRequest& request);
  Status Finish();
  bool CommitDue() const;
  // Commits every table; `before` = the failing change in front of which it stops.
  Status Commit(const std::string& id, const ChangeHead* before);
  Error StopAt(Error error, const ChangeHead* before);
  // The error of `table`, still with the inputs' names as tables know them.
  void NoteMaintenance(size_t table, const Status& done) const;
  Error In(size_t table, Error error) const;
  void SendSpecs();

  Source& x_source;
  std::vector<Destination> x_destinations;
  ApplyOptions x_options;
  std::vector<TableResult> x_results;
  std::vector<uint64_t> x_dead_letters;  // a table: records put aside in this run
  Delivery x_delivery;
  std::optional<ChangeHead> x_failed;  // set by ApplyPart
  uint64_t x_changes = 0, x_uncommitted = 0;
  bool x_pair_open = false;  // the last change is a -U whose +U may follow: no checkpoint between
  bool x_over = false;
};

}  // namespace lastword
