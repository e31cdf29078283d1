#include "test/double/memory_dataset.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "lance/take_turns.h"
#include "test/double/memory_versions.h"

namespace lastword {
namespace {

using VersionPointer = std::shared_ptr<const MemoryVersion>;

// The manifest's time is for people only; a fixed one keeps runs alike.
constexpr int64_t kTimestampMs = 1'700'000'000'000;

constexpr size_t kUnorderedPieceRows = 3;

uint64_t BytesOf(const Rows* rows) {
  return rows == nullptr ? 0 : rows->bytes_held();
}

void SetInfo(MemoryVersion& version, std::string operation, std::string transaction_id,
             Properties properties, uint64_t restored_version = 0) {
  const uint64_t number = version.info.version;
  version.info = VersionInfo{.version = number,
                             .timestamp_ms = kTimestampMs + static_cast<int64_t>(number),
                             .operation = std::move(operation),
                             .transaction_id = std::move(transaction_id),
                             .restored_version = restored_version,
                             .properties = std::move(properties)};
}

void CoverAll(const std::string& index, MemoryVersion& version) {
  for (const MemoryFragment& fragment : version.fragments) {
    version.indexed[index].insert(fragment.id);
  }
}

}  // namespace

class MemoryDataset : public Dataset {
 public:
  MemoryDataset(MemoryStore& store, std::string uri, VersionPointer version, uint64_t incarnation,
                uint64_t fragment_rows_max)
      : x_store(store),
        x_uri(std::move(uri)),
        x_version(std::move(version)),
        x_incarnation(incarnation),
        x_fragment_rows_max(fragment_rows_max) {}

  const std::string& uri() const override { return x_uri; }
  uint64_t version() const override { return x_version->info.version; }
  const Schema& schema() const override { return x_version->schema; }
  std::vector<Fragment> fragments() const override { return FragmentsOf(*x_version); }
  uint64_t count_rows() const override {
    uint64_t rows = 0;
    for (const Fragment& fragment : fragments()) {
      rows += fragment.physical_rows - fragment.deleted_rows;
    }
    return rows;
  }

  Status Refresh() override {
    LW_ASSIGN_OR_RETURN(x_version, LatestVersion());
    x_is_latest = true;
    return Ok{};
  }
  Result<uint64_t> Latest() override {
    LW_ASSIGN_OR_RETURN(const VersionPointer latest, LatestVersion());
    return latest->info.version;
  }
  Status Checkout(uint64_t version) override {
    LW_ASSIGN_OR_RETURN(const VersionPointer latest, LatestVersion());
    LW_ASSIGN_OR_RETURN(x_version, Find(version));
    x_is_latest = version == latest->info.version;
    return Ok{};
  }
  Result<std::vector<uint64_t>> Versions() override {
    LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
    std::vector<uint64_t> numbers;
    for (const auto& [number, version] : x_store.VersionsOf(x_uri)) numbers.push_back(number);
    return numbers;
  }
  Result<VersionInfo> Describe(uint64_t version) override {
    LW_ASSIGN_OR_RETURN(const VersionPointer found, Find(version));
    return found->info;
  }
  Result<std::optional<uint64_t>> FindTransaction(const std::string& transaction_id,
                                                  uint64_t from_version) override {
    LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
    std::optional<uint64_t> found;
    for (const auto& [number, version] : x_store.VersionsOf(x_uri)) {
      if (number >= from_version && version->info.transaction_id == transaction_id) found = number;
    }
    return found;
  }

  Status Scan(const std::vector<std::string>& columns, const ScanSink& sink) override;
  Status ScanFragments(const std::vector<std::string>& columns, std::span<const uint64_t> fragments,
                       const ScanSink& sink) override;
  Status ScanUnordered(const std::vector<std::string>& columns,
                       const std::vector<std::string>& lent, unsigned threads,
                       const std::function<Status(const ScanPiece& piece)>& sink) override;
  Result<Rows> Take(std::span<const RowAddress> addresses,
                    const std::vector<std::string>& columns) override;
  Result<CommitReceipt> Commit(const CommitRequest& request) override;
  Result<std::unique_ptr<RunningWrite>> BeginWrite(const Rows* new_rows,
                                                   std::span<const RowAddress> deleted) override;
  Result<CommitReceipt> CommitBegun(std::unique_ptr<RunningWrite> begun,
                                    const CommitRequest& request) override;
  Result<uint64_t> AddColumns(const std::vector<Column>& columns, uint64_t expected_version,
                              const Properties& properties) override;
  Result<uint64_t> WidenColumn(const std::string& name, const Type& type, uint64_t expected_version,
                               const Properties& properties) override;
  Result<std::unique_ptr<RunningCompaction>> BeginCompaction(
      const CompactionRequest& request) override;
  Result<CompactionReceipt> FinishCompaction(std::unique_ptr<RunningCompaction> running,
                                             uint64_t expected_version,
                                             const Properties& properties) override;
  Result<uint64_t> Restore(uint64_t version, uint64_t expected_version,
                           const Properties& properties) override;
  Result<uint64_t> CreateIndex(const std::string& column, const std::string& kind,
                               uint64_t expected_version, const Properties& properties) override;
  Result<std::vector<Index>> Indexes() override {
    LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
    return IndexesOf(*x_version);
  }
  Result<uint64_t> ExtendIndex(const std::string& name, uint64_t expected_version,
                               const Properties& properties) override;
  Result<uint64_t> Cleanup(uint64_t keep_from) override;

  IoCounters counters() const override { return x_counters; }

 private:
  Result<VersionPointer> LatestVersion() const {
    LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
    VersionPointer latest = x_store.LatestOf(x_uri);
    if (!latest) return Error{ErrorKind::kStorageCorrupt, Message("{} is gone", x_uri)};
    return latest;
  }
  Result<VersionPointer> Find(uint64_t version) const {
    LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
    const auto versions = x_store.VersionsOf(x_uri);
    const auto at = versions.find(version);
    if (at == versions.end()) {
      return Error{ErrorKind::kUsage, Message("{} has no version {}", x_uri, version)};
    }
    return at->second;
  }
  Result<std::vector<uint32_t>> ColumnsOf(const std::vector<std::string>& names) const;
  Status Change(StorageCall::Kind kind, uint64_t expected_version,
                const MemoryStore::Change& change);

  MemoryStore& x_store;
  const std::string x_uri;
  VersionPointer x_version;
  const uint64_t x_incarnation;
  const uint64_t x_fragment_rows_max;
  bool x_is_latest = true;
  IoCounters x_counters;
};

Result<std::vector<uint32_t>> MemoryDataset::ColumnsOf(
    const std::vector<std::string>& names) const {
  std::vector<uint32_t> columns;
  for (const std::string& name : names) {
    const std::optional<uint32_t> column = schema().Find(name);
    LW_CHECK(column.has_value(), Message("{} has no column {}", x_uri, name));
    columns.push_back(*column);
  }
  if (names.empty()) {
    for (uint32_t i = 0; i < schema().columns.size(); ++i) columns.push_back(i);
  }
  return columns;
}

Status MemoryDataset::Scan(const std::vector<std::string>& columns, const ScanSink& sink) {
  return ScanFragments(columns, {}, sink);
}

Status MemoryDataset::ScanFragments(const std::vector<std::string>& columns,
                                    std::span<const uint64_t> fragments, const ScanSink& sink) {
  LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
  LW_ASSIGN_OR_RETURN(const std::vector<uint32_t> wanted, ColumnsOf(columns));
  ++x_counters.scans;
  // The sink may commit to this object; the scan stays with its version.
  const VersionPointer version = x_version;
  for (const uint64_t id : fragments) {
    LW_CHECK(std::any_of(version->fragments.begin(), version->fragments.end(),
                         [&](const MemoryFragment& fragment) { return fragment.id == id; }),
             Message("there is no fragment {}", id));
  }
  for (const MemoryFragment& fragment : version->fragments) {
    if (!fragments.empty() &&
        std::find(fragments.begin(), fragments.end(), fragment.id) == fragments.end()) {
      continue;
    }
    Rows rows;
    for (const uint32_t column : wanted) {
      rows.columns.emplace_back(version->schema.columns[column].type);
    }
    std::vector<RowAddress> addresses;
    for (uint32_t row = 0; row < fragment.rows->size(); ++row) {
      if (fragment.deleted && fragment.deleted->contains(row)) continue;
      AppendStoredRow(fragment, row, wanted, rows);
      addresses.push_back(fragment.id << 32 | row);
    }
    LW_RETURN_IF_ERROR(sink(rows, addresses));
  }
  return Ok{};
}

Status MemoryDataset::ScanUnordered(const std::vector<std::string>& columns,
                                    const std::vector<std::string>& lent, unsigned threads,
                                    const std::function<Status(const ScanPiece& piece)>& sink) {
  // A piece is a few rows, so that small tables have several; the last comes first.
  struct Piece {
    std::vector<RowAddress> addresses;
    Rows rows;
    Rows lent;
  };
  LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
  LW_ASSIGN_OR_RETURN(const std::vector<uint32_t> wanted, ColumnsOf(columns));
  LW_ASSIGN_OR_RETURN(const std::vector<uint32_t> borrowed, ColumnsOf(lent));
  ++x_counters.scans;
  const VersionPointer version = x_version;
  const auto empty = [&](const std::vector<uint32_t>& of) {
    Rows rows;
    for (const uint32_t column : of) {
      rows.columns.emplace_back(version->schema.columns[column].type);
    }
    return rows;
  };
  size_t fragment = version->fragments.size(), row = 0;
  const auto next = [&]() -> Result<std::optional<Piece>> {
    Piece piece{{}, empty(wanted), empty(borrowed)};
    while (piece.addresses.size() < kUnorderedPieceRows) {
      if (row == 0 && fragment == 0) break;
      if (row == 0) row = version->fragments[--fragment].rows->size();
      const MemoryFragment& from = version->fragments[fragment];
      const auto at = static_cast<uint32_t>(--row);
      if (from.deleted && from.deleted->contains(at)) continue;
      AppendStoredRow(from, at, wanted, piece.rows);
      AppendStoredRow(from, at, borrowed, piece.lent);
      piece.addresses.push_back(from.id << 32 | at);
    }
    if (piece.addresses.empty()) return std::optional<Piece>();
    return std::optional<Piece>(std::move(piece));
  };
  return TakeTurns<Piece>(threads, next, [&](Piece& piece) -> Status {
    std::vector<const void*> values;
    for (const ColumnData& column : piece.lent.columns) values.push_back(column.raw_bytes().data());
    return sink({piece.rows, values, piece.addresses});
  });
}

Result<Rows> MemoryDataset::Take(std::span<const RowAddress> addresses,
                                 const std::vector<std::string>& columns) {
  LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
  LW_ASSIGN_OR_RETURN(const std::vector<uint32_t> wanted, ColumnsOf(columns));
  Rows rows;
  for (const uint32_t column : wanted) rows.columns.emplace_back(schema().columns[column].type);
  for (const RowAddress address : addresses) {
    const auto& fragments = x_version->fragments;
    const auto at = std::find_if(fragments.begin(), fragments.end(),
                                 [&](const auto& f) { return f.id == address >> 32; });
    const auto row = static_cast<uint32_t>(address);
    LW_CHECK(at != fragments.end() && row < at->rows->size(),
             Message("there is no row {} in fragment {}", row, address >> 32));
    AppendStoredRow(*at, row, wanted, rows);
  }
  x_counters.rows_taken += addresses.size();
  return rows;
}

Status MemoryDataset::Change(StorageCall::Kind kind, uint64_t expected_version,
                             const MemoryStore::Change& change) {
  LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
  LW_CHECK(x_is_latest, Message("{}: version {} is checked out to be read", x_uri, version()));
  LW_CHECK(expected_version == version(), "a commit builds upon the open version");
  LW_ASSIGN_OR_RETURN(x_version, x_store.Step(kind, x_uri, expected_version, false, change));
  ++x_counters.commits;
  return Ok{};
}

Result<CommitReceipt> MemoryDataset::Commit(const CommitRequest& request) {
  CommitReceipt receipt;
  LW_RETURN_IF_ERROR(Change(
      StorageCall::Kind::kCommit, request.expected_version, [&](MemoryVersion& next) -> Status {
        LW_RETURN_IF_ERROR(ApplyCommit(request.new_rows, request.deleted, x_fragment_rows_max, next,
                                       receipt.new_fragments));
        SetInfo(next, "Update", request.transaction_id, request.properties);
        return Ok{};
      }));
  receipt.version = version();
  receipt.bytes_written = BytesOf(request.new_rows) + 8 * request.deleted.size();
  x_counters.rows_written += request.new_rows == nullptr ? 0 : request.new_rows->size();
  x_counters.bytes_written += receipt.bytes_written;
  return receipt;
}

// Nothing to begin: what it is about to hold is made of the request.
class MemoryWrite final : public RunningWrite {};

Result<std::unique_ptr<RunningWrite>> MemoryDataset::BeginWrite(const Rows*,
                                                                std::span<const RowAddress>) {
  LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
  return std::unique_ptr<RunningWrite>(std::make_unique<MemoryWrite>());
}

Result<CommitReceipt> MemoryDataset::CommitBegun(std::unique_ptr<RunningWrite>,
                                                 const CommitRequest& request) {
  return Commit(request);
}

Result<uint64_t> MemoryDataset::AddColumns(const std::vector<Column>& columns,
                                           uint64_t expected_version,
                                           const Properties& properties) {
  LW_RETURN_IF_ERROR(
      Change(StorageCall::Kind::kAddColumns, expected_version, [&](MemoryVersion& next) -> Status {
        LW_RETURN_IF_ERROR(ApplyAddColumns(columns, next));
        SetInfo(next, "Merge", "", properties);
        return Ok{};
      }));
  return version();
}

Result<uint64_t> MemoryDataset::WidenColumn(const std::string& name, const Type& type,
                                            uint64_t expected_version,
                                            const Properties& properties) {
  LW_RETURN_IF_ERROR(
      Change(StorageCall::Kind::kWiden, expected_version, [&](MemoryVersion& next) -> Status {
        LW_RETURN_IF_ERROR(ApplyWiden(name, type, next));
        SetInfo(next, "Merge", "", properties);
        return Ok{};
      }));
  return version();
}

// Holds the version that it reads: what it writes is made of it at the end.
class MemoryCompaction final : public RunningCompaction {
 public:
  MemoryCompaction(CompactionRequest asked, VersionPointer version, uint64_t waits)
      : request(std::move(asked)), read(std::move(version)), x_waits(waits) {}
  bool Wait(std::chrono::milliseconds limit) override {
    if (x_waits == 0 || limit >= std::chrono::hours(1)) return true;
    --x_waits;
    return false;
  }

  const CompactionRequest request;
  const VersionPointer read;

 private:
  uint64_t x_waits;
};

Result<std::unique_ptr<RunningCompaction>> MemoryDataset::BeginCompaction(
    const CompactionRequest& request) {
  LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
  return std::unique_ptr<RunningCompaction>(
      std::make_unique<MemoryCompaction>(request, x_version, x_store.x_compaction_waits));
}

Result<CompactionReceipt> MemoryDataset::FinishCompaction(
    std::unique_ptr<RunningCompaction> running, uint64_t expected_version,
    const Properties& properties) {
  const auto& compaction = static_cast<const MemoryCompaction&>(*running);
  CompactionReceipt receipt{.removed_fragments = compaction.request.fragments};
  LW_RETURN_IF_ERROR(
      Change(StorageCall::Kind::kCompact, expected_version, [&](MemoryVersion& next) -> Status {
        LW_RETURN_IF_ERROR(ApplyCompaction(*compaction.read, compaction.request.fragments,
                                           compaction.request.target_rows, next,
                                           receipt.new_fragments));
        SetInfo(next, "Rewrite", "", properties);
        return Ok{};
      }));
  receipt.version = version();
  return receipt;
}

Result<uint64_t> MemoryDataset::Restore(uint64_t restored, uint64_t expected_version,
                                        const Properties& properties) {
  LW_ASSIGN_OR_RETURN(const VersionPointer source, Find(restored));
  LW_RETURN_IF_ERROR(
      Change(StorageCall::Kind::kRestore, expected_version, [&](MemoryVersion& next) -> Status {
        next.schema = source->schema;
        next.fragments = source->fragments;
        next.indexes = source->indexes;
        next.indexed = source->indexed;
        SetInfo(next, "Restore", "", properties, restored);
        return Ok{};
      }));
  return version();
}

Result<uint64_t> MemoryDataset::CreateIndex(const std::string& column, const std::string& kind,
                                            uint64_t expected_version,
                                            const Properties& properties) {
  LW_RETURN_IF_ERROR(
      Change(StorageCall::Kind::kCreateIndex, expected_version, [&](MemoryVersion& next) -> Status {
        LW_CHECK(kind == "btree" || kind == "ivf_pq", Message("{} is no type of index", kind));
        LW_CHECK(next.schema.Find(column), Message("there is no column {}", column));
        std::erase_if(next.indexes, [&](const Index& index) { return index.column == column; });
        next.indexes.push_back({.name = column + "_idx", .column = column});
        CoverAll(column + "_idx", next);
        SetInfo(next, "CreateIndex", "", properties);
        return Ok{};
      }));
  return version();
}

Result<uint64_t> MemoryDataset::ExtendIndex(const std::string& name, uint64_t expected_version,
                                            const Properties& properties) {
  LW_RETURN_IF_ERROR(
      Change(StorageCall::Kind::kExtendIndex, expected_version, [&](MemoryVersion& next) -> Status {
        LW_CHECK(next.indexed.contains(name), Message("there is no index {}", name));
        CoverAll(name, next);
        SetInfo(next, "CreateIndex", "", properties);
        return Ok{};
      }));
  return version();
}

Result<uint64_t> MemoryDataset::Cleanup(uint64_t keep_from) {
  LW_RETURN_IF_ERROR(x_store.CheckAlive(x_incarnation));
  const Fault fault = x_store.Ask(StorageCall::Kind::kCleanup, x_uri);
  if (fault != Fault::kNone) {
    return Error{ErrorKind::kStorageUnavailable, "clean-up failed on demand"};
  }
  const std::lock_guard lock(x_store.x_mutex);
  MemoryStore::Versions& versions = x_store.x_datasets[x_uri];
  uint64_t freed = 0;
  while (versions.size() > 1 && versions.begin()->first < keep_from) {
    versions.erase(versions.begin());
    ++freed;  // Bytes of a kind: what nobody names any more is not known here.
  }
  return freed;
}

Result<std::unique_ptr<Dataset>> MemoryStore::Open(const std::string& uri) {
  const std::lock_guard lock(x_mutex);
  if (x_crashed) return Error{ErrorKind::kStorageUnavailable, "crashed"};
  const auto at = x_datasets.find(uri);
  if (at == x_datasets.end()) return std::unique_ptr<Dataset>();
  return std::unique_ptr<Dataset>(std::make_unique<MemoryDataset>(
      *this, uri, at->second.rbegin()->second, x_incarnation, x_fragment_rows_max));
}

Result<std::unique_ptr<Dataset>> MemoryStore::Create(const std::string& uri, const Schema& schema,
                                                     const Properties& properties) {
  LW_RETURN_IF_ERROR(
      Step(StorageCall::Kind::kCreate, uri, 0, false, [&](MemoryVersion& next) -> Status {
        // What storage does not keep of a column is not there after a restart either.
        for (const Column& column : schema.columns) {
          next.schema.columns.push_back(
              Column{.name = column.name, .type = column.type, .nullable = column.nullable});
        }
        next.schema.key = schema.key;
        for (const uint32_t column : schema.key) {
          next.schema.nullable_key.push_back(schema.columns[column].nullable);
        }
        SetInfo(next, "Overwrite", "", properties);
        return Ok{};
      }));
  return Open(uri);
}

void MemoryStore::Drop(const std::string& uri) {
  const std::lock_guard lock(x_mutex);
  x_datasets.erase(uri);
}

void MemoryStore::SetFaults(FaultScript script) {
  const std::lock_guard lock(x_mutex);
  x_script = std::move(script);
}

uint64_t MemoryStore::calls() const {
  const std::lock_guard lock(x_mutex);
  return x_calls;
}

bool MemoryStore::crashed() const {
  const std::lock_guard lock(x_mutex);
  return x_crashed;
}

void MemoryStore::Reboot() {
  const std::lock_guard lock(x_mutex);
  x_crashed = false;
  ++x_incarnation;
}

Status MemoryStore::CheckAlive(uint64_t incarnation) const {
  const std::lock_guard lock(x_mutex);
  if (x_crashed || incarnation != x_incarnation) {
    return Error{ErrorKind::kStorageUnavailable, "crashed"};
  }
  return Ok{};
}

VersionPointer MemoryStore::LatestOf(const std::string& uri) const {
  const std::lock_guard lock(x_mutex);
  const auto at = x_datasets.find(uri);
  return at == x_datasets.end() ? nullptr : at->second.rbegin()->second;
}

MemoryStore::Versions MemoryStore::VersionsOf(const std::string& uri) const {
  const std::lock_guard lock(x_mutex);
  const auto at = x_datasets.find(uri);
  return at == x_datasets.end() ? Versions() : at->second;
}

Fault MemoryStore::Ask(StorageCall::Kind kind, const std::string& uri) {
  FaultScript script;
  StorageCall call{.kind = kind, .uri = uri};
  {
    const std::lock_guard lock(x_mutex);
    call.number = ++x_calls;
    script = x_script;
  }
  return script ? script(call) : Fault::kNone;
}

Result<VersionPointer> MemoryStore::Publish(const std::string& uri, uint64_t expected,
                                            const Change& change) {
  const std::lock_guard lock(x_mutex);
  Versions& versions = x_datasets[uri];
  const uint64_t latest = versions.empty() ? 0 : versions.rbegin()->first;
  if (latest != expected) {
    return Error{ErrorKind::kCommitConflict,
                 Message("version {} was taken by another commit", expected + 1)};
  }
  auto next = std::make_shared<MemoryVersion>();
  if (!versions.empty()) *next = *versions.rbegin()->second;
  next->info.version = expected + 1;
  Status changed = change(*next);
  if (!changed.ok()) {
    if (versions.empty()) x_datasets.erase(uri);
    return std::move(changed.error());
  }
  if (next->info.transaction_id.empty()) {
    next->info.transaction_id = Message("memory-{}", ++x_transactions);
  }
  versions[expected + 1] = next;
  return VersionPointer(next);
}

Result<VersionPointer> MemoryStore::Step(StorageCall::Kind kind, const std::string& uri,
                                         uint64_t expected, bool is_foreign, const Change& change) {
  const Fault fault = is_foreign ? Fault::kNone : Ask(kind, uri);
  const auto crash = [this] {
    const std::lock_guard lock(x_mutex);
    x_crashed = true;
    return Error{ErrorKind::kStorageUnavailable, "crashed on demand"};
  };
  switch (fault) {
    case Fault::kNone:
    case Fault::kUnknownAndCommitted:
    case Fault::kCrashAfter:
      break;
    case Fault::kFailBefore:
      return Error{ErrorKind::kStorageUnavailable, "failed on demand"};
    case Fault::kDiskFull:
      return Error{ErrorKind::kStorageFull, "no space on demand"};
    case Fault::kConflict:
      if (expected != 0) {
        LW_RETURN_IF_ERROR(Publish(uri, expected, [](MemoryVersion& next) -> Status {
          SetInfo(next, "Update", "", {});
          return Ok{};
        }));
      }
      return Error{ErrorKind::kCommitConflict, "conflict on demand"};
    case Fault::kUnknownAndLost:
      return Error{ErrorKind::kCommitStateUnknown, "unknown on demand"};
    case Fault::kCrashBefore:
      return crash();
  }
  LW_ASSIGN_OR_RETURN(VersionPointer published, Publish(uri, expected, change));
  if (fault == Fault::kCrashAfter) return crash();
  if (fault == Fault::kUnknownAndCommitted) {
    return Error{ErrorKind::kCommitStateUnknown, "unknown on demand"};
  }
  return published;
}

Status MemoryStore::ForeignCompact(const std::string& uri) {
  const VersionPointer latest = LatestOf(uri);
  LW_CHECK(latest != nullptr, Message("{} is not there", uri));
  if (latest->fragments.empty()) return Ok{};
  std::vector<uint64_t> ids;
  for (const MemoryFragment& fragment : latest->fragments) ids.push_back(fragment.id);
  LW_RETURN_IF_ERROR(Step(StorageCall::Kind::kCompact, uri, latest->info.version, true,
                          [&](MemoryVersion& next) -> Status {
                            std::vector<Fragment> made;
                            LW_RETURN_IF_ERROR(ApplyCompaction(next, ids, UINT64_MAX, next, made));
                            SetInfo(next, "Rewrite", "", {});
                            return Ok{};
                          }));
  return Ok{};
}

Status MemoryStore::ForeignCommit(const std::string& uri, const Rows& new_rows,
                                  const std::vector<RowAddress>& deleted) {
  const VersionPointer latest = LatestOf(uri);
  LW_CHECK(latest != nullptr, Message("{} is not there", uri));
  LW_RETURN_IF_ERROR(Step(StorageCall::Kind::kCommit, uri, latest->info.version, true,
                          [&](MemoryVersion& next) -> Status {
                            std::vector<Fragment> made;
                            LW_RETURN_IF_ERROR(
                                ApplyCommit(&new_rows, deleted, x_fragment_rows_max, next, made));
                            SetInfo(next, "Update", "", {});
                            return Ok{};
                          }));
  return Ok{};
}

Status MemoryStore::ForeignAddColumn(const std::string& uri, const Column& column) {
  const VersionPointer latest = LatestOf(uri);
  LW_CHECK(latest != nullptr, Message("{} is not there", uri));
  LW_RETURN_IF_ERROR(Step(StorageCall::Kind::kAddColumns, uri, latest->info.version, true,
                          [&](MemoryVersion& next) -> Status {
                            LW_RETURN_IF_ERROR(ApplyAddColumns({column}, next));
                            SetInfo(next, "Merge", "", {});
                            return Ok{};
                          }));
  return Ok{};
}

FaultScript FaultAt(uint64_t number, Fault fault) {
  return [number, fault](const StorageCall& call) {
    return call.number == number ? fault : Fault::kNone;
  };
}

}  // namespace lastword
