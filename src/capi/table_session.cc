#include "capi/table_session.h"

#include <future>

#include "base/format.h"
#include "capi/value_json.h"
#include "commit/commit_note.h"
#include "model/row_chunk.h"
#include "model/schema_change.h"

namespace lastword::capi {
namespace {

constexpr uint64_t kVersionsLookedAt = 256;
constexpr size_t kBytesWorthAThread = 64 << 10;

Error Incompatible(std::string message, const std::string& column) {
  Error error{ErrorKind::kSchemaIncompatible, std::move(message), {}};
  error.place.column = column;
  return error;
}

bool SameColumns(const Schema& a, const Schema& b) {
  if (a.columns.size() != b.columns.size()) return false;
  for (size_t i = 0; i < a.columns.size(); ++i) {
    if (a.columns[i].name != b.columns[i].name || a.columns[i].type != b.columns[i].type)
      return false;
  }
  return true;
}

Status CheckSameKey(const Schema& stored, const Schema& declared) {
  std::string stored_key, declared_key;
  for (const uint32_t key : stored.key) stored_key += stored.columns[key].name + " ";
  for (const uint32_t key : declared.key) declared_key += declared.columns[key].name + " ";
  if (stored_key == declared_key) return Ok{};
  return Error{ErrorKind::kSchemaIncompatible,
               Message("the table's key is ({}), declared is ({}): declare the table's key, or "
                       "write to another table",
                       stored_key.substr(0, stored_key.size() - 1),
                       declared_key.substr(0, declared_key.size() - 1)),
               {}};
}

// A later change of a batch cannot be told by its place there: the place means nothing to a user.
Error WithoutOffset(Error error) {
  error.place.offset.reset();
  return error;
}

}  // namespace

Result<Schema> JoinSchemas(const Schema& stored, const Schema& declared, bool evolve) {
  LW_RETURN_IF_ERROR(CheckSameKey(stored, declared));
  Schema joined = stored;
  for (const Column& column : declared.columns) {
    const std::optional<uint32_t> found = stored.Find(column.name);
    if (found && stored.columns[*found].type == column.type) continue;
    if (!evolve) {
      const std::string what =
          found ? Message("is {} in the table and declared as {}",
                          ToString(stored.columns[*found].type), ToString(column.type))
                : std::string("is not in the table");
      return Incompatible(Message("column `{}` {}: declare the table's columns, or set "
                                  "schema_evolution: evolve",
                                  column.name, what),
                          column.name);
    }
    if (!found) {
      joined.columns.push_back(column);
      joined.columns.back().nullable = true;
      continue;
    }
    Status widens = CanWiden(stored.columns[*found].type, column.type);
    if (!widens.ok()) {
      widens.error().place.column = column.name;
      return std::move(widens.error());
    }
    joined.columns[*found].type = column.type;
  }
  for (const Column& column : stored.columns) {
    if (column.nullable || declared.Find(column.name)) continue;
    return Incompatible(
        Message("column `{}` of the table takes no NULL and is not declared", column.name),
        column.name);
  }
  return joined;
}

TableSession::TableSession(TableOpening opening, Table table)
    : x_opening(std::move(opening)), x_table(std::move(table)) {}

Result<std::unique_ptr<TableSession>> TableSession::Open(const std::string& uri,
                                                         std::string_view options) {
  LW_ASSIGN_OR_RETURN(TableOpening opening, ParseTableOptions(options));
  LW_ASSIGN_OR_RETURN(Table table, Table::Open(uri, opening.options));
  std::unique_ptr<TableSession> session(new TableSession(std::move(opening), std::move(table)));
  LW_RETURN_IF_ERROR(session->ReconcileSchema());
  return session;
}

Status TableSession::ReconcileSchema() {
  x_exists = !impl().schema().columns.empty();
  const Schema& declared = x_opening.declared.schema;
  if (declared.columns.empty()) return Ok{};
  if (impl().schema().columns.empty()) return impl().SetSchema(declared);
  LW_ASSIGN_OR_RETURN(const Schema joined,
                      JoinSchemas(impl().schema(), declared, x_opening.evolve));
  if (SameColumns(joined, impl().schema())) return Ok{};
  return impl().SetSchema(joined);
}

Status TableSession::ApplyAll(const BatchSource& batches) {
  SealedDecoder decoder;
  SealedChanges decoded[2];
  std::future<Status> next;
  // The bytes of a batch are needed until it is decoded, which it is before the next one is asked
  // for.
  const auto decode = [&](size_t i) -> Status {
    LW_ASSIGN_OR_RETURN(const std::string_view bytes, batches.next(i));
    const bool small = bytes.size() < kBytesWorthAThread;
    next =
        std::async(small ? std::launch::deferred : std::launch::async | std::launch::deferred,
                   [&decoder, bytes, to = &decoded[i % 2]] { return decoder.Decode(bytes, *to); });
    return Ok{};
  };
  if (batches.count != 0) LW_RETURN_IF_ERROR(decode(0));
  for (size_t i = 0; i < batches.count; ++i) {
    LW_RETURN_IF_ERROR(next.get());
    if (i + 1 < batches.count) LW_RETURN_IF_ERROR(decode(i + 1));
    LW_RETURN_IF_ERROR(ApplySealed(decoded[i % 2]));
  }
  return Ok{};
}

Status TableSession::ApplySealed(SealedChanges& sealed) {
  // A batch may come from before the table got its present columns, or before there was a table.
  if (impl().schema().columns.empty()) LW_RETURN_IF_ERROR(impl().SetSchema(sealed.schema));
  LW_ASSIGN_OR_RETURN(const Schema joined,
                      JoinSchemas(impl().schema(), sealed.schema, x_opening.evolve));
  if (!SameColumns(joined, impl().schema())) LW_RETURN_IF_ERROR(impl().SetSchema(joined));
  if (!SameColumns(sealed.schema, joined)) {
    const RowAdapter adapter(sealed.schema, joined);
    Rows adapted(joined);
    for (uint64_t row = 0; row < sealed.changes.rows.size(); ++row)
      adapter.Append(sealed.changes.rows, row, adapted);
    sealed.changes.rows = std::move(adapted);
  }
  sealed.changes.inputs = {x_opening.input};
  std::vector<Outcome> outcomes;
  outcomes.reserve(sealed.changes.heads.size());
  return impl().ApplyBatch(sealed.changes, outcomes);
}

Result<SessionCommit> TableSession::ApplyAndCommit(const std::string& id,
                                                   const BatchSource& batches) {
  SessionCommit commit;
  LW_ASSIGN_OR_RETURN(const bool known, impl().KnowsCheckpoint(id));
  const Counts before = impl().counts();
  if (!known) {
    LW_RETURN_IF_ERROR(ApplyAll(batches));
  }
  LW_ASSIGN_OR_RETURN(commit.result, impl().Commit({id, {}}));
  x_exists = true;
  LW_ASSIGN_OR_RETURN(const TableStatus status, impl().GetStatus());
  commit.tombstones = status.tombstones;
  const Counts& after = impl().counts();
  commit.counts.applied = after.applied - before.applied;
  commit.counts.stale = after.stale - before.stale;
  commit.counts.below_floor = after.below_floor - before.below_floor;
  commit.counts.repeat = after.repeat - before.repeat;
  commit.counts.conflict = after.conflict - before.conflict;
  commit.counts.quarantined = after.quarantined - before.quarantined;
  return commit;
}

Result<SessionCommit> TableSession::Commit(const std::string& id, const BatchSource& batches) {
  if (x_broken) return *x_broken;
  if (id.empty()) {
    return Error{
        ErrorKind::kUsage, "a checkpoint needs an id: without one it cannot be repeated", {}};
  }
  auto commit = ApplyAndCommit(id, batches);
  if (commit.ok()) return commit;
  // What was applied of the checkpoint would be part of the next one.
  x_broken = Error{ErrorKind::kUsage,
                   "the table failed before: close it, open it again and repeat the checkpoint",
                   {}};
  return WithoutOffset(std::move(commit.error()));
}

Result<bool> TableSession::KnowsCheckpoint(const std::string& id) {
  return impl().KnowsCheckpoint(id);
}

Result<std::string> TableSession::LastCheckpoint() {
  if (!x_exists) return std::string();
  LW_ASSIGN_OR_RETURN(const std::vector<VersionInfo> log, impl().Log(kVersionsLookedAt));
  // Other programs' commits say nothing of checkpoints.
  for (const VersionInfo& version : log) {
    LW_ASSIGN_OR_RETURN(const std::optional<CommitNote> ours, ReadCommitNote(version.properties));
    if (ours && !ours->checkpoint.empty()) return ours->checkpoint;
  }
  return std::string();
}

Result<std::string> TableSession::Explain(const std::string& key, std::string_view version) {
  std::optional<Version> asked;
  if (!version.empty()) {
    LW_ASSIGN_OR_RETURN(asked, ParseVersion(version));
  }
  LW_ASSIGN_OR_RETURN(const Explanation explanation, impl().Explain(key, asked));
  return DumpJson(ExplanationToJson(explanation));
}

}  // namespace lastword::capi
