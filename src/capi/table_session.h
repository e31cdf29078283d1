// A table as the C interface holds it: opened once, given whole checkpoints of sealed batches.
// Knows how sealed batches become changes of a table whose columns may have moved on since; what
// becomes of a change is the table's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "capi/options.h"
#include "capi/sealed_batch.h"
#include "commit/table_impl.h"

namespace lastword::capi {

/// What one checkpoint did.
struct SessionCommit {
  CommitResult result;
  Counts counts;  // of this checkpoint alone
  uint64_t tombstones = 0;
};

/// The batches of a checkpoint, one behind the other.
struct BatchSource {
  size_t count = 0;
  /// Called once for each index, ascending. What it gives stays valid until the next call.
  std::function<Result<std::string_view>(size_t)> next;
};

class TableSession {
 public:
  /// Contract of lastword_table_open.
  static Result<std::unique_ptr<TableSession>> Open(const std::string& uri,
                                                    std::string_view options);

  /// Contract of lastword_table_commit_from.
  Result<SessionCommit> Commit(const std::string& id, const BatchSource& batches);

  Result<bool> KnowsCheckpoint(const std::string& id);
  Result<std::string> LastCheckpoint();
  /// One JSON object.
  Result<std::string> Explain(const std::string& key, std::string_view version);

 private:
  TableSession(TableOpening opening, Table table);

  TableImpl& impl() { return x_table.impl(); }
  Status ReconcileSchema();
  /// Applies them in order; one is read ahead, on a thread of its own, while the one before it is
  /// applied.
  Status ApplyAll(const BatchSource& batches);
  Status ApplySealed(SealedChanges& sealed);
  Result<SessionCommit> ApplyAndCommit(const std::string& id, const BatchSource& batches);

  TableOpening x_opening;
  Table x_table;
  bool x_exists = false;  // on storage
  std::optional<Error> x_broken;
};

/// The columns that a table has after `declared` columns joined the `stored` ones. Without `evolve`
/// the declared ones must be among the stored ones, with the same types. kSchemaIncompatible names
/// the column.
Result<Schema> JoinSchemas(const Schema& stored, const Schema& declared, bool evolve);

}  // namespace lastword::capi
