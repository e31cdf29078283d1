// Opening: what is the newest committed state? The table's latest properties answer, nothing else
// is asked.
#include <algorithm>
#include <mutex>

#include "base/files.h"
#include "base/format.h"
#include "base/planted_bug.h"
#include "commit/engine.h"
#include "commit/key_scan.h"
#include "commit/memory_shares.h"
#include "commit/writer_epoch.h"
#include "model/digest.h"
#include "model/key.h"
#include "model/schema_check.h"
#include "model/version_columns.h"

namespace lastword {
namespace {

constexpr size_t kLedgerBatch = 8192;  // entries that go into the index at a time

StateOptions StateOptionsOf(const TableOptions& options) {
  StateOptions state;
  state.on_conflict = options.on_conflict;
  state.on_resnapshot = options.on_resnapshot;
  state.lone_update_before = options.lone_update_before;
  return state;
}

bool IsLocal(const std::string& uri) {
  return uri.find("://") == std::string::npos;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// "file:///lake/a%20b.lance" is "/lake/a b.lance": whatever it is called by, a table has one lock
// file and one folder beside it.
std::string PlainPath(const std::string& uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with("file:///")) return uri;
  std::string path;
  for (size_t i = kScheme.size(); i < uri.size(); ++i) {
    const int high = i + 2 < uri.size() ? HexValue(uri[i + 1]) : -1;
    const int low = i + 2 < uri.size() ? HexValue(uri[i + 2]) : -1;
    if (uri[i] == '%' && high >= 0 && low >= 0) {
      path.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      path.push_back(uri[i]);
    }
  }
  return path;
}

// A folder of tables named as a table would get a table's files among its own.
Status CheckFolder(const std::string& path) {
  if (!IsFolder(path) || IsFolder(path + "/_versions")) return Ok{};
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(path));
  for (const std::string& name : names) {
    // What a creation that was killed may have left, and hidden files.
    if (name == "data" || name.starts_with('_') || name.starts_with('.')) continue;
    return Error{ErrorKind::kUsage,
                 Message("{} is a folder that holds other things, such as {}; name the table in "
                         "it, such as {}/orders.lance",
                         path, name, path),
                 {}};
  }
  return Ok{};
}

}  // namespace

Result<std::unique_ptr<TableImpl>> TableImpl::Open(const std::string& uri,
                                                   const TableOptions& options, Storage& storage) {
  auto engine = std::make_unique<Engine>(PlainPath(uri), options, storage);
  LW_RETURN_IF_ERROR(engine->Open());
  return std::unique_ptr<TableImpl>(std::move(engine));
}

Engine::Engine(std::string uri, const TableOptions& options, Storage& storage)
    : x_uri(std::move(uri)),
      x_options(options),
      x_storage(storage),
      x_index(SharesOf(options.memory_bytes_max).index,
              IsLocal(x_uri) ? CompanionFolder(x_uri) + "/index" : std::string(),
              options.read_only),
      x_state(x_index, *this, StateOptionsOf(options)),
      x_dead_letters(CompanionFolder(x_uri) + "/dead_letter"),
      x_table_rewrites(SharesOf(options.memory_bytes_max).compaction),
      x_ledger_rewrites(SharesOf(options.memory_bytes_max).ledger_compaction) {}

Status Engine::Open() {
  if (!x_options.read_only && IsLocal(x_uri)) {
    LW_RETURN_IF_ERROR(CheckFolder(x_uri));
    LW_RETURN_IF_ERROR(CreateFolders(CompanionFolder(x_uri)));
    LW_ASSIGN_OR_RETURN(x_lock, LockFile::Acquire(CompanionFolder(x_uri) + "/lock"));
  }
  if (!x_lock) return Recover();
  // Before the table is read: whoever takes it over from here on has a higher epoch.
  const std::string path = CompanionFolder(x_uri) + "/writer_epoch";
  LW_ASSIGN_OR_RETURN(uint64_t epoch, TakeWriterEpoch(path, 1));
  LW_RETURN_IF_ERROR(Recover());
  if (epoch < x_writer_epoch) {
    LW_ASSIGN_OR_RETURN(epoch, TakeWriterEpoch(path, x_writer_epoch));
  }
  x_writer_epoch = epoch;
  return Ok{};
}

Status Engine::Recover() {
  LW_ASSIGN_OR_RETURN(x_table, x_storage.OpenDataset(x_uri));
  x_foreign.clear();
  if (!x_table) {
    if (!x_options.schema.columns.empty()) LW_RETURN_IF_ERROR(SetSchema(x_options.schema));
    x_state.Restore({}, {});
    x_index_complete = true;
    x_writer_epoch = 1;
    return Ok{};
  }
  LW_ASSIGN_OR_RETURN(const Schema user, UserSchema(x_table->schema()));
  LW_ASSIGN_OR_RETURN(x_committed, EffectiveProperties(*x_table, x_table->version(), &x_foreign));
  LW_RETURN_IF_ERROR(OpenLedger(x_committed.ledger_version));
  LW_RETURN_IF_ERROR(LoadIndex());
  x_state.SetSchema(user);
  // Declared columns that the stored table lacks follow with the next commit.
  if (!x_options.schema.columns.empty()) LW_RETURN_IF_ERROR(SetSchema(x_options.schema));
  return Ok{};
}

Status Engine::OpenLedger(uint64_t pinned) {
  const Error missing{ErrorKind::kLedgerMissing,
                      Message("the ledger of {} is missing or does not hold version {}, which the "
                              "table's newest version needs: without "
                              "it the versions of deleted keys are lost, and a late change could "
                              "bring a deleted row back. Put the "
                              "folder {} back (from a backup of the same time), or restore the "
                              "table to a version whose ledger is "
                              "there (lastword log), or load the table anew",
                              x_uri, pinned, LedgerUri(x_uri)),
                      {}};
  auto ledger = x_storage.OpenDataset(LedgerUri(x_uri));
  if (!ledger.ok())
    return ledger.error().kind == ErrorKind::kStorageUnavailable ? ledger.error() : missing;
  if (!*ledger) return missing;
  x_ledger = std::move(*ledger);
  // Writers behind a restored version of the table, and one that died between its two commits,
  // count too.
  const auto newest = x_ledger->Describe(x_ledger->version());
  const uint64_t epoch = newest.ok() ? LedgerWriterEpoch(newest->properties) : 0;
  x_writer_epoch = std::max(x_committed.writer_epoch, epoch) + 1;
  if (x_ledger->version() == pinned || Planted(PlantedBug::kLedgerNotPinned)) return Ok{};
  // A ledger ahead of its pin is a checkpoint that never became visible; the next commit rolls it
  // back.
  const Status at_pin = x_ledger->Checkout(pinned);
  return at_pin.ok() ? Status(Ok{}) : Status(missing);
}

// Names the state of both datasets. Not by version numbers alone: they come again once a table was
// restored from a copy, or made anew.
Result<std::string> Engine::StateIdentity() {
  LW_ASSIGN_OR_RETURN(const VersionInfo table, x_table->Describe(x_table->version()));
  LW_ASSIGN_OR_RETURN(const VersionInfo ledger, x_ledger->Describe(x_committed.ledger_version));
  return Message("{} {} {} / {} {} {}", table.version, table.timestamp_ms, table.transaction_id,
                 ledger.version, ledger.timestamp_ms, ledger.transaction_id);
}

Status Engine::LoadIndex() {
  x_index_complete = false;
  LW_ASSIGN_OR_RETURN(const std::string identity, StateIdentity());
  LW_ASSIGN_OR_RETURN(const bool kept,
                      x_index.Open(identity, x_table->count_rows() + x_ledger->count_rows()));
  std::optional<KeyEntry> contradicted;
  std::vector<KeyEntry> batch;
  const auto load_batch = [&]() -> Status {
    LW_RETURN_IF_ERROR(x_index.Load(batch, contradicted));
    batch.clear();
    return contradicted ? Status(TwoStates(*contradicted)) : Status(Ok{});
  };
  const auto load = [&](const KeyEntry& entry) -> Status {
    if (kept) return Ok{};
    batch.push_back(entry);
    return batch.size() < kLedgerBatch ? Status(Ok{}) : load_batch();
  };
  LW_ASSIGN_OR_RETURN(LedgerContents contents, ReadLedger(*x_ledger, load));
  LW_RETURN_IF_ERROR(load_batch());
  x_checkpoints = std::move(contents.checkpoints);
  if (Planted(PlantedBug::kCheckpointForgotten)) x_checkpoints.clear();
  x_state.Restore(x_committed.head, std::move(contents.extras));
  if (!kept) {
    LW_RETURN_IF_ERROR(LoadRows(x_index));
    LW_RETURN_IF_ERROR(x_index.Keep(identity));
  }
  x_index_complete = true;
  return Ok{};
}

// What is in the index is in the table: the next open need not read it all again.
Engine::~Engine() {
  x_closing = true;
  (void)Settle();
  if (!x_table || !x_index_complete || x_broken || x_index.in_memory()) return;
  // An index that cannot be kept is rebuilt.
  if (const auto identity = StateIdentity(); identity.ok()) (void)x_index.Keep(*identity);
}

Error Engine::TwoStates(const KeyEntry& entry) {
  std::string key = "of the ledger";
  if (entry.live()) {
    std::string bytes;
    const auto row = Take({&entry.address, 1});
    if (row.ok() && AppendKey(*row->schema, row->rows, 0, bytes).ok()) key = KeyToText(bytes);
  }
  return Error{ErrorKind::kStorageCorrupt,
               Message("key {} has two states in the table: another program wrote to it. Remove "
                       "the row that does not belong there, or restore an older version",
                       key),
               {}};
}

// Takes every live row of the table into `index`, and ends its loading.
Status Engine::LoadRows(TableIndex& index) {
  std::mutex finding;
  std::optional<KeyEntry> contradicted;
  const Status scanned =
      ScanLiveEntries(*x_table, [&](std::span<const KeyEntry> entries) -> Status {
        std::optional<KeyEntry> found;
        LW_RETURN_IF_ERROR(index.Load(entries, found));
        if (!found) return Ok{};
        const std::lock_guard lock(finding);
        contradicted = found;
        return Error{ErrorKind::kStorageCorrupt, "a key has two states", {}};  // named below
      });
  if (contradicted) return TwoStates(*contradicted);
  LW_RETURN_IF_ERROR(scanned);
  LW_RETURN_IF_ERROR(index.FinishLoad(contradicted));
  return contradicted ? Status(TwoStates(*contradicted)) : index.Health();
}

// Rows have moved (a compaction by another program): every live key gets its new address.
Status Engine::RereadAddresses() {
  x_index_complete = false;
  TableIndex moved(SharesOf(x_options.memory_bytes_max).moved, {}, /*read_only=*/true);
  LW_RETURN_IF_ERROR(moved.Open({}, x_table->count_rows()));
  LW_RETURN_IF_ERROR(LoadRows(moved));
  uint64_t there = 0;
  moved.ForEach([&](const KeyEntry& fresh) {
    KeyEntry entry;
    if (!x_index.Find(fresh.key, entry)) entry = fresh;
    if (!entry.live()) return;
    ++there;
    entry.address = fresh.address;
    x_index.Store(entry);
  });
  uint64_t known = 0;
  x_index.ForEach([&](const KeyEntry& entry) { known += entry.live(); });
  if (known != there) {
    std::vector<KeyHash> gone;
    x_index.ForEach([&](const KeyEntry& entry) {
      KeyEntry fresh;
      if (entry.live() && !moved.Find(entry.key, fresh)) gone.push_back(entry.key);
    });
    for (const KeyHash& key : gone) x_index.Erase(key);
  }
  LW_RETURN_IF_ERROR(moved.Health());
  LW_RETURN_IF_ERROR(x_index.Health());
  x_index_complete = true;
  return Ok{};
}

Status Engine::SetSchema(const Schema& schema) {
  LW_RETURN_IF_ERROR(CheckColumnNames(schema));
  LW_RETURN_IF_ERROR(CheckKeyTypes(schema));
  x_state.SetSchema(schema);
  return Ok{};
}

Result<RowChunk> Engine::Take(std::span<const uint64_t> addresses) {
  auto schema = std::make_shared<Schema>();
  std::vector<std::string> names;
  LW_ASSIGN_OR_RETURN(*schema, UserSchema(x_table->schema()));
  for (const Column& column : schema->columns) names.push_back(column.name);
  RowChunk chunk;
  LW_ASSIGN_OR_RETURN(chunk.rows, x_table->Take(addresses, names));
  chunk.schema = std::move(schema);
  return chunk;
}

Status Engine::ForEachKey(const KeyVisit& visit) {
  if (!x_table) return Ok{};
  const KeyColumns keys(x_table->schema());
  std::string key;
  LW_RETURN_IF_ERROR(
      x_table->Scan(keys.names, [&](const Rows& rows, std::span<const RowAddress>) -> Status {
        for (uint64_t row = 0; row < rows.size(); ++row) {
          key.clear();
          LW_RETURN_IF_ERROR(AppendKey(keys.schema, rows, row, key));
          visit(Hash128(key), key);
        }
        return Ok{};
      }));
  // A try whose second commit failed left it at a version of its own.
  if (x_ledger->version() != x_committed.ledger_version) {
    LW_RETURN_IF_ERROR(x_ledger->Checkout(x_committed.ledger_version));
  }
  return ScanLedgerKeys(*x_ledger, visit);
}

std::optional<std::string> Engine::PositionOf(const std::string& input) const {
  const auto found = x_committed.positions.find(input);
  if (found == x_committed.positions.end()) return std::nullopt;
  return found->second;
}

}  // namespace lastword
