#include "lance/lance_dataset.h"

#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/kill_points.h"
#include "lance/arrow_export.h"
#include "lance/arrow_import.h"
#include "lance/arrow_schema.h"
#include "lance/lance_error.h"
#include "lance/take_turns.h"

namespace lastword::lance {
namespace {

constexpr size_t kScanBatchRows = 8192;
// Of keys and versions only: what a batch costs beside its rows weighs more than its memory.
constexpr size_t kUnorderedBatchRows = 65536;

lastword_lance_text TextOf(std::string_view text) {
  return {text.data(), text.size()};
}

std::string StringOf(lastword_lance_text text) {
  return std::string(text.data, text.size);
}

// Borrows from the properties that it is made of.
class PropertyList {
 public:
  explicit PropertyList(const Properties& properties) {
    x_list.reserve(properties.size());
    for (const auto& [key, value] : properties) x_list.push_back({TextOf(key), TextOf(value)});
  }
  lastword_lance_properties get() const { return {x_list.data(), x_list.size()}; }

 private:
  std::vector<lastword_lance_property> x_list;
};

std::vector<lastword_lance_text> TextsOf(const std::vector<std::string>& strings) {
  std::vector<lastword_lance_text> texts;
  texts.reserve(strings.size());
  for (const std::string& string : strings) texts.push_back(TextOf(string));
  return texts;
}

std::vector<Fragment> FragmentsOf(const lastword_lance_fragment* fragments, size_t size) {
  std::vector<Fragment> result;
  result.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    const lastword_lance_fragment& raw = fragments[i];
    result.push_back({raw.id, raw.physical_rows, raw.deleted_rows, raw.bytes, raw.index_set});
  }
  return result;
}

lastword_lance_options OptionsOf(const DatasetOptions& options) {
  return {options.fsync ? 1 : 0, TextOf(options.storage_version), options.cache_bytes};
}

struct ScanCloser {
  void operator()(lastword_lance_scan* scan) const { lastword_lance_scan_close(scan); }
};

class LanceCompaction final : public RunningCompaction {
 public:
  LanceCompaction(lastword_lance_compaction* running, std::vector<uint64_t> ids)
      : fragments(std::move(ids)), x_running(running) {}
  ~LanceCompaction() override {
    if (x_running != nullptr) lastword_lance_compaction_abandon(x_running);
  }
  bool Wait(std::chrono::milliseconds limit) override {
    return lastword_lance_compaction_wait(x_running, static_cast<uint64_t>(limit.count())) != 0;
  }
  lastword_lance_compaction* Release() { return std::exchange(x_running, nullptr); }

  std::vector<uint64_t> fragments;

 private:
  lastword_lance_compaction* x_running;
};

// Receives the pieces of a take; the schema is filled before the first one comes.
struct TakeTarget {
  Released<ArrowSchema> schema;
  Rows rows;
  Status status = Ok{};
};

int32_t ReceivePiece(void* context, ArrowArray* array) {
  auto* target = static_cast<TakeTarget*>(context);
  target->status = ImportRows(target->schema.held, *array, target->rows);
  array->release(array);
  return target->status.ok() ? 0 : 1;
}

}  // namespace

// Arrays on their way into the library: what it did not take over is released here, and the rows
// behind what it did take are waited for.
struct LanceDataset::Outgoing {
  std::shared_ptr<ExportLatch> latch = std::make_shared<ExportLatch>();
  Released<ArrowSchema> schema;
  std::vector<ArrowArray> pieces;
  ~Outgoing() {
    for (ArrowArray& piece : pieces) {
      if (piece.release != nullptr) piece.release(&piece);
    }
    latch->Wait();
  }
  /// A request for what goes out and for `deleted`.
  lastword_lance_commit_request Request(std::span<const RowAddress> deleted) {
    lastword_lance_commit_request raw{};
    raw.rows_schema = pieces.empty() ? nullptr : &schema.held;
    raw.rows = pieces.data();
    raw.rows_size = pieces.size();
    raw.deleted = deleted.data();
    raw.deleted_size = deleted.size();
    return raw;
  }
};

class LanceDataset::LanceWrite final : public RunningWrite {
 public:
  ~LanceWrite() override {
    if (running != nullptr) lastword_lance_write_abandon(running);
  }

  Outgoing outgoing;
  lastword_lance_write* running = nullptr;
};

LanceDataset::LanceDataset(lastword_lance_dataset* handle, std::string uri)
    : x_handle(handle), x_uri(std::move(uri)) {}

LanceDataset::~LanceDataset() {
  lastword_lance_close(x_handle);
}

Result<std::unique_ptr<Dataset>> LanceDataset::Adopt(lastword_lance_dataset* handle,
                                                     std::string uri) {
  std::unique_ptr<LanceDataset> dataset(new LanceDataset(handle, std::move(uri)));
  LW_RETURN_IF_ERROR(dataset->Reload());
  return std::unique_ptr<Dataset>(std::move(dataset));
}

Status LanceDataset::Reload() {
  Released<ArrowSchema> schema;
  LW_RETURN_IF_ERROR(Check(lastword_lance_get_schema(x_handle, &schema.held), "schema"));
  LW_ASSIGN_OR_RETURN(x_schema, ImportSchema(schema.held));
  const lastword_lance_fragment* fragments = nullptr;
  size_t size = 0;
  LW_RETURN_IF_ERROR(Check(lastword_lance_get_fragments(x_handle, &fragments, &size), "fragments"));
  x_fragments = FragmentsOf(fragments, size);
  return Ok{};
}

uint64_t LanceDataset::version() const {
  return lastword_lance_get_version(x_handle);
}

uint64_t LanceDataset::count_rows() const {
  uint64_t rows = 0;
  for (const Fragment& fragment : x_fragments) {
    rows += fragment.physical_rows - fragment.deleted_rows;
  }
  return rows;
}

Status LanceDataset::Refresh() {
  LW_RETURN_IF_ERROR(Check(lastword_lance_refresh(x_handle), "refresh"));
  x_is_latest = true;
  return Reload();
}

Result<uint64_t> LanceDataset::Latest() {
  uint64_t version = 0;
  LW_RETURN_IF_ERROR(Check(lastword_lance_latest(x_handle, &version), "latest version"));
  return version;
}

Status LanceDataset::Checkout(uint64_t version) {
  LW_RETURN_IF_ERROR(Check(lastword_lance_checkout(x_handle, version),
                           Message("version {}", version), ErrorKind::kUsage));
  LW_ASSIGN_OR_RETURN(const uint64_t latest, Latest());
  x_is_latest = version == latest;
  return Reload();
}

Result<std::vector<uint64_t>> LanceDataset::Versions() {
  const uint64_t* versions = nullptr;
  size_t size = 0;
  LW_RETURN_IF_ERROR(Check(lastword_lance_versions(x_handle, &versions, &size), "versions"));
  return std::vector<uint64_t>(versions, versions + size);
}

Result<VersionInfo> LanceDataset::Describe(uint64_t version) {
  lastword_lance_version raw{};
  LW_RETURN_IF_ERROR(Check(lastword_lance_describe(x_handle, version, &raw),
                           Message("version {}", version), ErrorKind::kUsage));
  VersionInfo info{.version = raw.version,
                   .timestamp_ms = raw.timestamp_ms,
                   .operation = StringOf(raw.operation),
                   .transaction_id = StringOf(raw.transaction_id),
                   .restored_version = raw.restored_version};
  for (size_t i = 0; i < raw.properties.size; ++i) {
    const lastword_lance_property& property = raw.properties.data[i];
    info.properties[StringOf(property.key)] = StringOf(property.value);
  }
  return info;
}

Result<std::optional<uint64_t>> LanceDataset::FindTransaction(const std::string& transaction_id,
                                                              uint64_t from_version) {
  uint64_t version = 0;
  LW_RETURN_IF_ERROR(Check(
      lastword_lance_find_transaction(x_handle, TextOf(transaction_id), from_version, &version),
      Message("transaction {}", transaction_id)));
  if (version == 0) return std::optional<uint64_t>();
  return std::optional<uint64_t>(version);
}

Result<std::vector<Type>> LanceDataset::TypesOf(const std::vector<std::string>& columns) const {
  std::vector<Type> types;
  for (const std::string& name : columns) {
    const std::optional<uint32_t> column = x_schema.Find(name);
    LW_CHECK(column.has_value(), Message("{} has no column {}", x_uri, name));
    types.push_back(x_schema.columns[*column].type);
  }
  return types;
}

Status LanceDataset::Scan(const std::vector<std::string>& columns, const ScanSink& sink) {
  return ScanFragments(columns, {}, sink);
}

Status LanceDataset::ScanFragments(const std::vector<std::string>& columns,
                                   std::span<const uint64_t> fragments, const ScanSink& sink) {
  std::vector<std::string> names = columns;
  if (names.empty()) {
    for (const Column& column : x_schema.columns) names.push_back(column.name);
  }
  LW_ASSIGN_OR_RETURN(const std::vector<Type> types, TypesOf(names));
  const std::vector<lastword_lance_text> texts = TextsOf(names);
  ++x_counters.scans;
  Released<ArrowSchema> schema;
  lastword_lance_scan* opened = nullptr;
  LW_RETURN_IF_ERROR(
      Check(lastword_lance_scan_open(x_handle, texts.data(), texts.size(), fragments.data(),
                                     fragments.size(), kScanBatchRows, 1, &schema.held, &opened),
            "scan"));
  const std::unique_ptr<lastword_lance_scan, ScanCloser> scan(opened);
  for (;;) {
    Released<ArrowArray> array;
    LW_RETURN_IF_ERROR(Check(lastword_lance_scan_next(scan.get(), &array.held), "scan",
                             ErrorKind::kStorageCorrupt, ErrorKind::kStorageCorrupt));
    if (array.held.release == nullptr) return Ok{};
    Rows rows;
    for (const Type& type : types) rows.columns.emplace_back(type);
    LW_RETURN_IF_ERROR(ImportRows(schema.held, array.held, rows));
    const uint64_t* addresses =
        Uint64Values(schema.held, array.held, static_cast<int64_t>(types.size()));
    LW_CHECK(addresses != nullptr, "a scan gives row addresses");
    LW_RETURN_IF_ERROR(sink(rows, {addresses, rows.size()}));
  }
}

Status LanceDataset::ScanUnordered(const std::vector<std::string>& columns,
                                   const std::vector<std::string>& lent, unsigned threads,
                                   const std::function<Status(const ScanPiece& piece)>& sink) {
  LW_ASSIGN_OR_RETURN(const std::vector<Type> types, TypesOf(columns));
  std::vector<lastword_lance_text> texts = TextsOf(columns);
  for (const std::string& name : lent) texts.push_back(TextOf(name));
  ++x_counters.scans;
  Released<ArrowSchema> schema;
  lastword_lance_scan* opened = nullptr;
  LW_RETURN_IF_ERROR(
      Check(lastword_lance_scan_open(x_handle, texts.data(), texts.size(), nullptr, 0,
                                     kUnorderedBatchRows, 0, &schema.held, &opened),
            "scan"));
  const std::unique_ptr<lastword_lance_scan, ScanCloser> scan(opened);
  using Piece = std::unique_ptr<Released<ArrowArray>>;
  const auto next = [&]() -> Result<std::optional<Piece>> {
    auto array = std::make_unique<Released<ArrowArray>>();
    LW_RETURN_IF_ERROR(Check(lastword_lance_scan_next(scan.get(), &array->held), "scan",
                             ErrorKind::kStorageCorrupt, ErrorKind::kStorageCorrupt));
    if (array->held.release == nullptr) return std::optional<Piece>();
    return std::optional<Piece>(std::move(array));
  };
  return TakeTurns<Piece>(threads, next, [&](Piece& piece) -> Status {
    const ArrowArray& array = piece->held;
    Rows rows;
    for (const Type& type : types) rows.columns.emplace_back(type);
    LW_RETURN_IF_ERROR(ImportRows(schema.held, array, rows));
    std::vector<const void*> values;
    for (const std::string& name : lent) {
      const Type& type = x_schema.columns[*x_schema.Find(name)].type;
      const size_t column = types.size() + values.size();
      LW_ASSIGN_OR_RETURN(const void* own, LentValues(schema.held, array, column, type));
      values.push_back(own);
    }
    const auto last = static_cast<int64_t>(texts.size());
    const uint64_t* addresses = Uint64Values(schema.held, array, last);
    LW_CHECK(addresses != nullptr, "a scan gives row addresses");
    return sink({rows, values, {addresses, static_cast<size_t>(array.length)}});
  });
}

Result<Rows> LanceDataset::Take(std::span<const RowAddress> addresses,
                                const std::vector<std::string>& columns) {
  std::vector<std::string> names = columns;
  if (names.empty()) {
    for (const Column& column : x_schema.columns) names.push_back(column.name);
  }
  LW_ASSIGN_OR_RETURN(const std::vector<Type> types, TypesOf(names));
  const std::vector<lastword_lance_text> texts = TextsOf(names);
  TakeTarget target;
  for (const Type& type : types) target.rows.columns.emplace_back(type);
  LW_RETURN_IF_ERROR(
      Check(lastword_lance_take(x_handle, addresses.data(), addresses.size(), texts.data(),
                                texts.size(), &target.schema.held, ReceivePiece, &target),
            "take"));
  if (!target.status.ok()) return std::move(target.status.error());
  x_counters.rows_taken += addresses.size();
  return std::move(target.rows);
}

Status LanceDataset::CheckCommittable() const {
  LW_CHECK(x_is_latest, Message("{}: version {} is checked out to be read", x_uri, version()));
  return Ok{};
}

Result<CommitReceipt> LanceDataset::ReceiptOf(lastword_lance_error* error,
                                              const lastword_lance_receipt& receipt,
                                              std::string_view what, uint64_t rows_written,
                                              ErrorKind not_found) {
  LW_RETURN_IF_ERROR(Check(error, what, not_found));
  CommitReceipt result{
      .version = receipt.version,
      .new_fragments = FragmentsOf(receipt.new_fragments, receipt.new_fragments_size),
      .bytes_written = receipt.bytes_written};
  ++x_counters.commits;
  x_counters.rows_written += rows_written;
  x_counters.bytes_written += receipt.bytes_written;
  // The commit is there whatever this says; an error of it would be taken for the commit's own.
  if (Status reloaded = Reload(); !reloaded.ok()) {
    return Error{ErrorKind::kCommitStateUnknown, std::move(reloaded.error().message)};
  }
  return result;
}

Status LanceDataset::Export(const Rows* rows, Outgoing& outgoing) const {
  if (rows == nullptr || rows->size() == 0) return Ok{};
  LW_CHECK(rows->columns.size() == x_schema.columns.size(),
           "rows to commit have the columns of the table");
  for (size_t i = 0; i < x_schema.columns.size(); ++i) {
    LW_CHECK(rows->columns[i].type() == x_schema.columns[i].type,
             "rows to commit have the types of the table");
  }
  LW_RETURN_IF_ERROR(ExportSchema(x_schema, false, &outgoing.schema.held));
  return ExportRows(*rows, outgoing.latch, outgoing.pieces);
}

Result<CommitReceipt> LanceDataset::CommitRaw(lastword_lance_commit_request& raw,
                                              const CommitRequest& request) {
  const PropertyList properties(request.properties);
  raw.expected_version = request.expected_version;
  raw.properties = properties.get();
  raw.transaction_id = TextOf(request.transaction_id);
  lastword_lance_receipt receipt{};
  lastword_lance_error* error = lastword_lance_commit(x_handle, &raw, &receipt);
  return ReceiptOf(error, receipt, "commit",
                   request.new_rows == nullptr ? 0 : request.new_rows->size());
}

Result<CommitReceipt> LanceDataset::Commit(const CommitRequest& request) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  Outgoing outgoing;
  LW_RETURN_IF_ERROR(Export(request.new_rows, outgoing));
  lastword_lance_commit_request raw = outgoing.Request(request.deleted);
  return CommitRaw(raw, request);
}

Result<std::unique_ptr<RunningWrite>> LanceDataset::BeginWrite(
    const Rows* new_rows, std::span<const RowAddress> deleted) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  auto write = std::make_unique<LanceWrite>();
  LW_RETURN_IF_ERROR(Export(new_rows, write->outgoing));
  const lastword_lance_commit_request raw = write->outgoing.Request(deleted);
  LW_RETURN_IF_ERROR(Check(lastword_lance_write_begin(x_handle, &raw, &write->running), "write"));
  return std::unique_ptr<RunningWrite>(std::move(write));
}

Result<CommitReceipt> LanceDataset::CommitBegun(std::unique_ptr<RunningWrite> begun,
                                                const CommitRequest& request) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  lastword_lance_commit_request raw{};
  raw.begun = std::exchange(static_cast<LanceWrite&>(*begun).running, nullptr);
  return CommitRaw(raw, request);
}

Result<uint64_t> LanceDataset::AddColumns(const std::vector<Column>& columns,
                                          uint64_t expected_version, const Properties& properties) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  Released<ArrowSchema> schema;
  LW_RETURN_IF_ERROR(ExportSchema(Schema{.columns = columns}, false, &schema.held));
  const PropertyList list(properties);
  lastword_lance_receipt receipt{};
  lastword_lance_error* error =
      lastword_lance_add_columns(x_handle, &schema.held, expected_version, list.get(), &receipt);
  LW_ASSIGN_OR_RETURN(const CommitReceipt done, ReceiptOf(error, receipt, "add columns", 0));
  return done.version;
}

Result<uint64_t> LanceDataset::WidenColumn(const std::string& name, const Type& type,
                                           uint64_t expected_version,
                                           const Properties& properties) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  Released<ArrowSchema> schema;
  const Schema column{.columns = {Column{.name = name, .type = type}}};
  LW_RETURN_IF_ERROR(ExportSchema(column, false, &schema.held));
  const PropertyList list(properties);
  lastword_lance_receipt receipt{};
  lastword_lance_error* error =
      lastword_lance_widen_column(x_handle, &schema.held, expected_version, list.get(), &receipt);
  LW_ASSIGN_OR_RETURN(const CommitReceipt done, ReceiptOf(error, receipt, "widen column", 0));
  return done.version;
}

Result<std::unique_ptr<RunningCompaction>> LanceDataset::BeginCompaction(
    const CompactionRequest& request) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  const lastword_lance_compaction_request raw = {request.fragments.data(), request.fragments.size(),
                                                 request.target_rows,      request.file_bytes,
                                                 request.batch_rows,       request.buffer_bytes};
  lastword_lance_compaction* begun = nullptr;
  LW_RETURN_IF_ERROR(Check(lastword_lance_compaction_begin(x_handle, &raw, &begun), "compaction"));
  return std::unique_ptr<RunningCompaction>(
      std::make_unique<LanceCompaction>(begun, request.fragments));
}

Result<CompactionReceipt> LanceDataset::FinishCompaction(std::unique_ptr<RunningCompaction> running,
                                                         uint64_t expected_version,
                                                         const Properties& properties) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  auto& compaction = static_cast<LanceCompaction&>(*running);
  while (!compaction.Wait(std::chrono::hours(1))) {
  }
  LW_KILL_POINT("compact.before_commit");
  const PropertyList list(properties);
  lastword_lance_receipt receipt{};
  lastword_lance_error* error = lastword_lance_compaction_finish(
      x_handle, compaction.Release(), expected_version, list.get(), &receipt);
  LW_ASSIGN_OR_RETURN(CommitReceipt done, ReceiptOf(error, receipt, "compaction", 0));
  return CompactionReceipt{.version = done.version,
                           .removed_fragments = std::move(compaction.fragments),
                           .new_fragments = std::move(done.new_fragments),
                           .bytes_written = done.bytes_written};
}

Result<uint64_t> LanceDataset::Restore(uint64_t version, uint64_t expected_version,
                                       const Properties& properties) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  const PropertyList list(properties);
  lastword_lance_receipt receipt{};
  lastword_lance_error* error =
      lastword_lance_restore(x_handle, version, expected_version, list.get(), &receipt);
  LW_ASSIGN_OR_RETURN(const CommitReceipt done,
                      ReceiptOf(error, receipt, "restore", 0, ErrorKind::kUsage));
  return done.version;
}

Result<uint64_t> LanceDataset::CreateIndex(const std::string& column, const std::string& kind,
                                           uint64_t expected_version,
                                           const Properties& properties) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  const PropertyList list(properties);
  lastword_lance_receipt receipt{};
  lastword_lance_error* error = lastword_lance_create_index(x_handle, TextOf(column), TextOf(kind),
                                                            expected_version, list.get(), &receipt);
  LW_ASSIGN_OR_RETURN(const CommitReceipt done, ReceiptOf(error, receipt, "create index", 0));
  return done.version;
}

Result<std::vector<Index>> LanceDataset::Indexes() {
  const lastword_lance_index* raw = nullptr;
  size_t size = 0;
  LW_RETURN_IF_ERROR(Check(lastword_lance_indices(x_handle, &raw, &size), "indexes"));
  std::vector<Index> indexes;
  for (size_t i = 0; i < size; ++i) {
    indexes.push_back({.name = StringOf(raw[i].name),
                       .column = StringOf(raw[i].column),
                       .unindexed_rows = raw[i].unindexed_rows});
  }
  return indexes;
}

Result<uint64_t> LanceDataset::ExtendIndex(const std::string& name, uint64_t expected_version,
                                           const Properties& properties) {
  LW_RETURN_IF_ERROR(CheckCommittable());
  const PropertyList list(properties);
  lastword_lance_receipt receipt{};
  lastword_lance_error* error =
      lastword_lance_extend_index(x_handle, TextOf(name), expected_version, list.get(), &receipt);
  LW_ASSIGN_OR_RETURN(const CommitReceipt done, ReceiptOf(error, receipt, "extend index", 0));
  return done.version;
}

Result<uint64_t> LanceDataset::Cleanup(uint64_t keep_from) {
  uint64_t bytes = 0;
  LW_RETURN_IF_ERROR(Check(lastword_lance_cleanup(x_handle, keep_from, &bytes), "clean-up"));
  return bytes;
}

Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& uri,
                                             const DatasetOptions& options) {
  const lastword_lance_options raw = OptionsOf(options);
  lastword_lance_dataset* handle = nullptr;
  lastword_lance_error* error = lastword_lance_open(TextOf(uri), &raw, &handle);
  if (error != nullptr && lastword_lance_error_get_class(error) == LASTWORD_LANCE_NOT_FOUND) {
    lastword_lance_error_free(error);
    return std::unique_ptr<Dataset>();
  }
  LW_RETURN_IF_ERROR(
      Check(error, Message("open {}", uri), ErrorKind::kStorageCorrupt, ErrorKind::kUsage));
  return LanceDataset::Adopt(handle, uri);
}

Result<std::unique_ptr<Dataset>> CreateDataset(const std::string& uri, const Schema& schema,
                                               const Properties& properties,
                                               const DatasetOptions& options) {
  Released<ArrowSchema> exported;
  LW_RETURN_IF_ERROR(ExportSchema(schema, true, &exported.held));
  const lastword_lance_options raw = OptionsOf(options);
  const PropertyList list(properties);
  lastword_lance_dataset* handle = nullptr;
  lastword_lance_error* error =
      lastword_lance_create(TextOf(uri), &exported.held, list.get(), TextOf({}), &raw, &handle);
  LW_RETURN_IF_ERROR(
      Check(error, Message("create {}", uri), ErrorKind::kStorageCorrupt, ErrorKind::kUsage));
  return LanceDataset::Adopt(handle, uri);
}

}  // namespace lastword::lance
