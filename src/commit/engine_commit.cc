// The commit protocol: the ledger first, then the visible table, which pins it. Only the second
// commit counts.
#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/kill_points.h"
#include "base/planted_bug.h"
#include "base/random.h"
#include "commit/engine.h"
#include "model/schema_change.h"
#include "model/version_columns.h"

namespace lastword {
namespace {

// So large a part of the ids that are kept comes on top before some go.
constexpr uint64_t kForgottenShare = 4;
constexpr int kConflictRetriesMax = 5;

std::vector<uint64_t> AddressesOf(const CommitReceipt& receipt) {
  std::vector<uint64_t> addresses;
  for (const Fragment& fragment : receipt.new_fragments) {
    for (uint64_t offset = 0; offset < fragment.physical_rows; ++offset) {
      addresses.push_back(fragment.id << 32 | offset);
    }
  }
  return addresses;
}

}  // namespace

namespace {

// Brings rows of `schema` into the order of the stored columns: columns that were added later lie
// behind the version columns there, and one that another program added is NULL in our rows.
Rows InStorageOrder(Rows rows, const Schema& schema, const Schema& stored) {
  Rows ordered;
  const uint64_t size = rows.size();
  for (const Column& column : stored.columns) {
    const std::optional<uint32_t> found = schema.Find(column.name);
    if (found) {
      ordered.columns.push_back(std::move(rows.columns[*found]));
      continue;
    }
    ColumnData& missing = ordered.columns.emplace_back(column.type);
    while (missing.size() < size) missing.AppendNull();
  }
  return ordered;
}

bool LedgerDue(const SealedBatch& sealed, const std::string& checkpoint_id) {
  return !sealed.ledger_rows.empty() || !sealed.ledger_superseded.empty() || !checkpoint_id.empty();
}

}  // namespace

Status Engine::Usable() const {
  if (x_broken) return *x_broken;
  LW_RETURN_IF_ERROR(x_index.Health());
  if (x_options.read_only) return Error{ErrorKind::kUsage, "the table was opened for reading", {}};
  return Ok{};
}

// After these errors memory and storage may disagree: only a new Open tells.
template <typename T>
T Engine::Poison(T result) {
  if (!result.ok()) {
    const ErrorClass error_class = ClassOf(result.error().kind);
    if (error_class != ErrorClass::kStop && error_class != ErrorClass::kRetry)
      x_broken = result.error();
  }
  return result;
}

Status Engine::ApplyBatch(ChangeBatch& batch, std::vector<Outcome>& outcomes) {
  LW_RETURN_IF_ERROR(Usable());
  BeginRounds();
  const size_t before = outcomes.size();
  auto applied = Poison(x_state.Apply(batch, outcomes));
  // What an index that cannot be read had answered is not known.
  LW_RETURN_IF_ERROR(x_index.Health());
  if (!applied.ok()) {
    Place& place = applied.error().place;
    const size_t failed = outcomes.size() - before;
    if (place.input.empty() && failed < batch.heads.size()) {
      place.input = batch.inputs[batch.heads[failed].input];
      place.offset = batch.heads[failed].offset;
    }
  }
  return applied;
}

Status Engine::EndOfInputs() {
  LW_RETURN_IF_ERROR(Usable());
  return x_state.EndOfInputs();
}

Result<bool> Engine::KnowsCheckpoint(const std::string& id) {
  return !id.empty() &&
         (id == x_committed.checkpoint || x_checkpoints.count(CheckpointHash(id)) != 0);
}

Result<std::vector<DeadLetter>> Engine::DeadLetters() {
  if (!x_table) return std::vector<DeadLetter>{};
  return x_dead_letters.Read(x_committed.head.dead_letter_from, x_committed.version,
                             [this](uint64_t version) { return WriterOf(version); });
}

// The epoch of the writer of a version; empty where the version is not kept, or not ours.
Result<std::optional<uint64_t>> Engine::WriterOf(uint64_t version) {
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, x_table->Versions());
  if (!std::binary_search(versions.begin(), versions.end(), version)) {
    return std::optional<uint64_t>{};
  }
  LW_ASSIGN_OR_RETURN(const VersionInfo info, x_table->Describe(version));
  LW_ASSIGN_OR_RETURN(const std::optional<TableProperties> ours, DecodeProperties(info.properties));
  return ours ? std::optional<uint64_t>(ours->writer_epoch) : std::nullopt;
}

namespace {

KeyHash HashOf(const DeadLetter& letter) {
  const Place& place = letter.error.place;
  return Hash128(Message("{}\n{}\n", place.input, place.offset.value_or(UINT64_MAX)) +
                 letter.record);
}

}  // namespace

// A record lies in the dead letter once: not for each of its changes, and not again when it is read
// again.
Status Engine::DropKnownLetters() {
  if (x_letters.empty()) return Ok{};
  if (!x_known_letters) {
    x_known_letters.emplace();
    LW_ASSIGN_OR_RETURN(const std::vector<DeadLetter> committed, DeadLetters());
    for (const DeadLetter& letter : committed) x_known_letters->insert(HashOf(letter));
  }
  std::unordered_set<KeyHash, KeyHashHasher> added;
  std::erase_if(x_letters, [&](const DeadLetter& letter) {
    const KeyHash hash = HashOf(letter);
    return (!x_letters_taken && x_known_letters->count(hash) != 0) || !added.insert(hash).second;
  });
  return Ok{};
}

// Those of the batch are known now; where it took the older ones, they are gone.
Status Engine::LettersCommitted() {
  if (x_letters_taken && x_known_letters) x_known_letters->clear();
  for (const DeadLetter& letter : x_letters) x_known_letters->insert(HashOf(letter));
  x_letters.clear();
  if (x_letters_taken) LW_RETURN_IF_ERROR(x_dead_letters.RemoveBelow(x_committed.version));
  x_letters_taken = false;
  return Ok{};
}

Status Engine::TakeDeadLetters() {
  LW_RETURN_IF_ERROR(Usable());
  x_letters_taken = true;
  x_state.ReleaseHolds();
  return Ok{};
}

void Engine::DropBatch() {
  x_letters.clear();
  x_letters_taken = false;
  x_state.Abandon();
  x_state.head() = x_committed.head;
}

TableProperties Engine::NextProperties(const std::string& checkpoint_id,
                                       std::map<std::string, std::string> positions) const {
  TableProperties properties;
  properties.checkpoint = checkpoint_id;
  properties.writer_epoch = x_writer_epoch;
  properties.ledger_version = x_ledger->version();
  properties.head = x_state.head();
  properties.positions = std::move(positions);
  return properties;
}

Result<CommitResult> Engine::Commit(const CheckpointRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  LW_RETURN_IF_ERROR(Usable());
  CommitResult result;
  LW_ASSIGN_OR_RETURN(const bool known, KnowsCheckpoint(request.id));
  if (known) {
    DropBatch();
    result.already_committed = true;
    result.lance_version = x_table ? x_table->version() : 0;
    return result;
  }
  std::map<std::string, std::string> positions = x_committed.positions;
  for (const auto& [input, position] : request.positions) positions[input] = position;
  const bool moved = positions != x_committed.positions;
  if (x_state.schema().columns.empty())
    return result;  // nothing was ever seen that could be stored

  LW_RETURN_IF_ERROR(Poison(CreateDatasets()));
  const uint64_t version_before = x_table->version();
  // Not the newest version: another program may have taken the number of a checkpoint of ours that
  // was lost.
  LW_RETURN_IF_ERROR(x_dead_letters.RemoveAbove(x_committed.version, x_writer_epoch));
  LW_RETURN_IF_ERROR(DropKnownLetters());
  LW_RETURN_IF_ERROR(Poison(FollowSchema()));
  LW_ASSIGN_OR_RETURN(SealedBatch sealed, Poison(x_state.Seal()));
  LW_RETURN_IF_ERROR(x_index.Health());
  if (sealed.empty() && !x_state.dirty() && !moved && request.id.empty() && x_letters.empty() &&
      !x_letters_taken) {
    result.lance_version = x_table->version();
    return result;
  }
  const Schema order = x_table->schema();
  sealed.rows = InStorageOrder(std::move(sealed.rows), StoredSchema(x_state.schema()), order);
  std::unique_ptr<RunningWrite> begun;
  if (LedgerDue(sealed, request.id)) {
    // The table's files are written beside the ledger's commit; what names them comes behind it.
    LW_ASSIGN_OR_RETURN(begun, Poison(x_table->BeginWrite(&sealed.rows, sealed.superseded)));
  }
  std::vector<uint64_t> ledger_addresses;
  LW_RETURN_IF_ERROR(Poison(CommitLedger(sealed, request.id, ledger_addresses)));
  LW_KILL_POINT("commit.after_ledger");
  // Counted here, so that the committed head says what this commit leaves behind.
  x_state.head().tombstones =
      x_committed.head.tombstones + static_cast<uint64_t>(sealed.tombstones_added);
  if (x_letters_taken) x_state.head().dead_letter_from = x_table->version() + 1;
  const std::string id = request.id.empty() ? RandomId() : request.id;
  TableProperties next = NextProperties(id, std::move(positions));
  LW_ASSIGN_OR_RETURN(const CommitReceipt receipt,
                      Poison(CommitTable(sealed, order, next, std::move(begun))));
  LW_KILL_POINT("commit.after_visible");

  const std::vector<uint64_t> row_addresses = AddressesOf(receipt);
  LW_CHECK(row_addresses.size() == sealed.row_keys.size(), "every new row has an address");
  x_state.Committed(sealed, row_addresses, ledger_addresses);
  x_committed = std::move(next);
  x_committed.version = receipt.version;
  LW_RETURN_IF_ERROR(LettersCommitted());
  if (!request.id.empty()) x_checkpoints.insert(CheckpointHash(request.id));
  for (const KeyHash& id : x_forgotten) x_checkpoints.erase(id);
  x_forgotten.clear();
  result.committed = true;
  result.lance_version = receipt.version;
  result.rows_written = row_addresses.size();
  result.rows_deleted = sealed.superseded.size();
  result.bytes_written = receipt.bytes_written;
  Maintain(request, version_before, std::chrono::steady_clock::now() - begin, result);
  LW_KILL_POINT("commit.before_acknowledge");
  return result;
}

// The first commit creates both datasets, empty, the ledger first: a table without a ledger never
// exists.
Status Engine::CreateDatasets() {
  if (x_table) return Ok{};
  const Schema& schema = x_state.schema();
  if (schema.key.empty()) {
    return Error{
        ErrorKind::kMissingKey,
        "the table has no primary key. Declare one (--key, or primary_key in the configuration)",
        {}};
  }
  LW_ASSIGN_OR_RETURN(x_ledger, OpenLeftoverLedger());
  if (!x_ledger) {
    LW_ASSIGN_OR_RETURN(x_ledger, x_storage.CreateDataset(LedgerUri(x_uri), LedgerSchema(), {}));
  }
  LW_KILL_POINT("create.after_ledger");
  TableProperties properties;
  properties.ledger_version = x_ledger->version();
  properties.writer_epoch = x_writer_epoch;
  LW_ASSIGN_OR_RETURN(
      x_table, x_storage.CreateDataset(x_uri, StoredSchema(schema), EncodeProperties(properties)));
  x_committed = properties;
  x_committed.version = x_table->version();
  return Ok{};
}

// A crash between the two creations leaves an empty ledger behind; one with rows belonged to a
// table that is gone.
Result<std::unique_ptr<Dataset>> Engine::OpenLeftoverLedger() {
  LW_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> ledger, x_storage.OpenDataset(LedgerUri(x_uri)));
  if (ledger && (ledger->version() != 1 || ledger->count_rows() != 0)) {
    return Error{ErrorKind::kStorageCorrupt,
                 Message("there is no table at {}, but the ledger of one in {}. Put the table "
                         "back, or remove that folder "
                         "to start anew",
                         x_uri, CompanionFolder(x_uri)),
                 {}};
  }
  return ledger;
}

// Storage takes over announced columns and wider types, with the properties that are committed
// already.
Status Engine::FollowSchema() {
  LW_ASSIGN_OR_RETURN(const Schema stored, UserSchema(x_table->schema()));
  std::vector<Column> added;
  for (const Column& column : x_state.schema().columns) {
    const std::optional<uint32_t> found = stored.Find(column.name);
    if (!found) {
      added.push_back(column);
      continue;
    }
    if (stored.columns[*found].type == column.type) continue;
    LW_RETURN_IF_ERROR(CanWiden(stored.columns[*found].type, column.type));
    auto widened = x_table->WidenColumn(column.name, column.type, x_table->version(),
                                        EncodeProperties(x_committed));
    if (!widened.ok()) return NameConflict(widened.error());
    x_committed.version = x_table->version();
  }
  if (!added.empty()) {
    for (Column& column : added) column.nullable = true;
    auto grown = x_table->AddColumns(added, x_table->version(), EncodeProperties(x_committed));
    if (!grown.ok()) return NameConflict(grown.error());
    x_committed.version = x_table->version();
    LW_KILL_POINT("schema.after_change");
  }
  return Ok{};
}

Status Engine::CommitLedger(const SealedBatch& sealed, const std::string& checkpoint_id,
                            std::vector<uint64_t>& addresses) {
  x_forgotten.clear();
  LW_RETURN_IF_ERROR(RollBackLedger());
  if (!LedgerDue(sealed, checkpoint_id)) return Ok{};
  LW_KILL_POINT("commit.before_ledger");
  const Rows rows = LedgerRows(sealed.ledger_rows, checkpoint_id, x_table->version() + 1);
  std::vector<RowAddress> deleted = sealed.ledger_superseded;
  LW_RETURN_IF_ERROR(ForgetOldCheckpoints(deleted));
  CommitRequest request;
  request.expected_version = x_ledger->version();
  request.new_rows = &rows;
  request.deleted = deleted;
  request.properties = LedgerProperties(x_writer_epoch);
  request.transaction_id = RandomId();
  auto receipt = x_ledger->Commit(request);
  if (!receipt.ok()) return NameConflict(receipt.error());
  addresses = AddressesOf(*receipt);
  x_ledger_rewrites.Wrote(receipt->new_fragments, WidthsOf(rows));
  return Ok{};
}

// Ids are kept for the sake of a resent checkpoint. One a second for a year would be gigabytes; so
// many go at once that looking for them costs nothing each.
Status Engine::ForgetOldCheckpoints(std::vector<RowAddress>& deleted) {
  const uint64_t kept = std::max<uint64_t>(x_options.checkpoint_ids, 1);
  if (x_checkpoints.size() < kept + kept / kForgottenShare + 1) return Ok{};
  LW_ASSIGN_OR_RETURN(const std::vector<StoredCheckpoint> oldest,
                      OldestCheckpoints(*x_ledger, x_checkpoints.size() - kept));
  for (const auto& [id, address] : oldest) {
    x_forgotten.push_back(id);
    deleted.push_back(address);
  }
  return Ok{};
}

// A ledger ahead of its pin belongs to a checkpoint that never became visible: its content is put
// back.
Status Engine::RollBackLedger() {
  const uint64_t pinned = x_committed.ledger_version;
  LW_ASSIGN_OR_RETURN(const uint64_t latest, x_ledger->Latest());
  // Not the version that we stand at: that may be our own, of a try whose second commit failed.
  if (latest == pinned) return Ok{};
  LW_ASSIGN_OR_RETURN(const VersionInfo info, x_ledger->Describe(latest));
  const uint64_t epoch = LedgerWriterEpoch(info.properties);
  if (epoch > x_writer_epoch) return FencedBy(epoch);
  LW_KILL_POINT("ledger.before_rollback");
  LW_RETURN_IF_ERROR(x_ledger->Refresh());
  if (Planted(PlantedBug::kLedgerNotRolledBack)) return Ok{};
  auto restored = x_ledger->Restore(pinned, x_ledger->version(), LedgerProperties(x_writer_epoch));
  if (!restored.ok()) return NameConflict(restored.error());
  LW_KILL_POINT("ledger.after_rollback");
  return Ok{};
}

Error Engine::FencedBy(uint64_t writer_epoch) const {
  return Error{
      ErrorKind::kFencedWriter,
      Message("another writer took {} over (writer epoch {}, ours is {}): nothing was changed",
              x_uri, writer_epoch, x_writer_epoch),
      {}};
}

// Behind a conflict: a writer that took the table over is said to have done so. It may have
// committed the ledger, or both, since the last look.
Error Engine::NameConflict(Error error) {
  if (error.kind != ErrorKind::kCommitConflict) return error;
  uint64_t epoch = 0;
  if (const auto latest = x_ledger->Latest(); latest.ok()) {
    const auto info = x_ledger->Describe(*latest);
    if (info.ok()) epoch = LedgerWriterEpoch(info->properties);
  }
  if (const auto latest = x_table->Latest(); latest.ok()) {
    const auto theirs = EffectiveProperties(*x_table, *latest, nullptr);
    if (theirs.ok()) epoch = std::max(epoch, theirs->writer_epoch);
  }
  return epoch > x_writer_epoch ? FencedBy(epoch) : error;
}

// `begun`: the files of `sealed`, whose rows are in the `order` of the stored columns; may be null.
Result<CommitReceipt> Engine::CommitTable(SealedBatch& sealed, Schema order,
                                          const TableProperties& next,
                                          std::unique_ptr<RunningWrite> begun) {
  const Properties properties = EncodeProperties(next);
  if (Planted(PlantedBug::kPositionsBeforeRows)) {
    CommitRequest early;
    early.expected_version = x_table->version();
    early.properties = properties;
    early.transaction_id = RandomId();
    LW_RETURN_IF_ERROR(x_table->Commit(early));
  }
  for (int attempt = 0;; ++attempt) {
    if (!x_letters.empty()) {
      LW_RETURN_IF_ERROR(
          x_dead_letters.Write(x_table->version() + 1, x_writer_epoch, x_letters, x_options.fsync));
      LW_KILL_POINT("commit.after_dead_letters");
    }
    if (attempt != 0) {
      // A foreign commit may have added a column.
      sealed.rows = InStorageOrder(std::move(sealed.rows), order, x_table->schema());
      order = x_table->schema();
    }
    CommitRequest request;
    request.expected_version = x_table->version();
    request.new_rows = &sealed.rows;
    request.deleted = sealed.superseded;
    request.properties = properties;
    request.transaction_id = RandomId();
    auto receipt = begun != nullptr ? x_table->CommitBegun(std::move(begun), request)
                                    : x_table->Commit(request);
    if (receipt.ok()) {
      x_table_rewrites.Wrote(receipt->new_fragments, WidthsOf(sealed.rows));
      return receipt;
    }
    const ErrorKind kind = receipt.error().kind;
    if (attempt == kConflictRetriesMax) return receipt;
    if (kind == ErrorKind::kCommitStateUnknown) {
      LW_ASSIGN_OR_RETURN(const bool found, FindOutcome(*x_table, request.transaction_id));
      // It is there: memory is rebuilt from storage by the caller's next Open, rather than guessed.
      if (found) return receipt;
      continue;
    }
    if (kind != ErrorKind::kCommitConflict) return receipt;
    LW_RETURN_IF_ERROR(
        x_dead_letters.Write(x_table->version() + 1, x_writer_epoch, {}, x_options.fsync));
    LW_RETURN_IF_ERROR(OnTableConflict(sealed));
  }
}

Result<bool> Engine::FindOutcome(Dataset& dataset, const std::string& transaction_id) {
  LW_ASSIGN_OR_RETURN(const std::optional<uint64_t> version,
                      dataset.FindTransaction(transaction_id, dataset.version()));
  return version.has_value();
}

// Somebody else took the next version. Foreign rewrites move rows; a writer of a higher epoch ends
// us; one of a lower epoch changed rows that the batch was decided against.
Status Engine::OnTableConflict(SealedBatch& sealed) {
  const uint64_t before = x_table->version();
  // What they read has moved perhaps, and addresses are read in their memory.
  x_table_rewrites.Drop();
  x_ledger_rewrites.Drop();
  LW_RETURN_IF_ERROR(x_table->Refresh());
  for (uint64_t version = before + 1; version <= x_table->version(); ++version) {
    LW_ASSIGN_OR_RETURN(const VersionInfo info, x_table->Describe(version));
    LW_ASSIGN_OR_RETURN(const std::optional<TableProperties> theirs,
                        DecodeProperties(info.properties));
    if (theirs && theirs->writer_epoch > x_writer_epoch) return FencedBy(theirs->writer_epoch);
    if (theirs) {
      return Error{ErrorKind::kCommitConflict,
                   Message("an older writer (epoch {}) committed version {} of {}: open the table "
                           "again, which builds "
                           "upon it",
                           theirs->writer_epoch, version, x_uri),
                   {}};
    }
  }
  LW_RETURN_IF_ERROR(EffectiveProperties(*x_table, x_table->version(), &x_foreign));
  if (Planted(PlantedBug::kConflictIgnored)) return Ok{};
  if (const Status reread = RereadAddresses(); !reread.ok()) {
    x_broken = reread.error();  // the index is neither of this version nor of the one before
    return reread;
  }
  x_state.Readdress(sealed);
  return x_index.Health();
}

Result<TableImpl::GcReport> Engine::CollectTombstones(const std::optional<Version>& boundary) {
  LW_RETURN_IF_ERROR(Usable());
  GcReport report;
  if (!x_table) return report;
  report.lance_version = x_table->version();
  if (!boundary) {
    report.kept = x_state.head().tombstones;
    report.why =
        "no replay boundary: the source gives none, so a change at any version may still arrive. "
        "Declare one with "
        "--boundary VERSION when no input can deliver anything at or below it any more";
    return report;
  }
  uint32_t epoch = x_state.head().epoch;
  for (const InputState& input : x_state.head().inputs.states()) {
    if (input.highest) epoch = std::max(epoch, input.highest->epoch);
  }
  if (boundary->epoch > epoch) {
    return Error{ErrorKind::kUsage,
                 Message("the boundary {} lies in an epoch that has not begun: the table is in "
                         "epoch {}, and every new key would be refused; correct the first number",
                         ToString(*boundary), epoch),
                 {}};
  }
  if (x_state.pending_changes() != 0) {
    return Error{ErrorKind::kUsage, "commit before tombstones are collected", {}};
  }
  const std::optional<Version>& floor = x_state.head().floors.of_all_rows();
  if (floor && *boundary <= *floor && x_state.head().tombstones == 0) return report;
  report.removed = x_state.CollectTombstones(*boundary, report.kept);
  if (report.kept != 0) report.why = "above the boundary, or with changes that still wait";
  LW_ASSIGN_OR_RETURN(const CommitResult result, Commit({}));
  report.lance_version = result.lance_version;
  return report;
}

Result<uint32_t> Engine::NextEpoch() {
  LW_RETURN_IF_ERROR(Usable());
  if (!x_table) return Error{ErrorKind::kUsage, Message("there is no table at {}", x_uri), {}};
  const uint32_t epoch = x_state.NextEpoch();
  LW_RETURN_IF_ERROR(Commit({}));
  return epoch;
}

}  // namespace lastword
