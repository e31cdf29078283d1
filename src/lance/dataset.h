// One versioned Lance dataset as the commit protocol sees it: opened, read at a version, changed by
// exactly one next version at a time. Knows nothing of changes, keys or ledgers. lance::OpenDataset
// gives the real one; tests have a double.
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

#include "lastword/schema.h"
#include "model/rows.h"

namespace lastword {

/// Transaction properties of one version: written with the commit, read back with the version.
using Properties = std::map<std::string, std::string>;

/// Physical place of a row: fragment << 32 | offset. Valid until the fragment is rewritten.
using RowAddress = uint64_t;

struct Fragment {
  uint64_t id = 0;
  uint64_t physical_rows = 0;
  uint64_t deleted_rows = 0;
  uint64_t bytes = 0;      // of its data files
  uint64_t index_set = 0;  // equal where the same indexes cover it, 0 where none does; fragments of
                           // different sets cannot be compacted into one. Not known in receipts
  uint64_t live_rows() const { return physical_rows - deleted_rows; }
};

struct CommitRequest {
  uint64_t expected_version = 0;   // the commit becomes exactly expected_version + 1 or nothing
  const Rows* new_rows = nullptr;  // may be null or empty; columns as schema()
  std::span<const RowAddress> deleted;  // any order, no duplicates; each must be live
  Properties properties;
  std::string transaction_id;  // unique a commit; FindTransaction finds it. Letters, digits, '-'
};

/// Files of a commit that are being written, and synced where commits are, beside whatever follows.
/// No version names them: Dataset::CommitBegun takes them over; dropped, they are waited for and
/// removed.
class RunningWrite {
 public:
  virtual ~RunningWrite() = default;
};

struct CommitReceipt {
  uint64_t version = 0;
  /// Fragments of the new rows in write order: row i of the request lies in them one after the
  /// other from offset 0.
  std::vector<Fragment> new_fragments;
  uint64_t bytes_written = 0;  // data, deletion and transaction files
};

/// What a commit says of its own kind, for `log` and for inheriting properties.
struct VersionInfo {
  uint64_t version = 0;
  int64_t timestamp_ms = 0;  // of the manifest; for people only
  std::string
      operation;  // "Update", "Rewrite", "Restore", … ; empty when the transaction is not kept
  std::string transaction_id;
  uint64_t restored_version = 0;  // for Restore, else 0
  Properties properties;
};

struct CompactionRequest {
  std::vector<uint64_t> fragments;      // to be merged, ascending ids
  uint64_t target_rows = 1 << 20;       // rows a new fragment
  uint64_t file_bytes = 256 << 20;      // bytes of a new data file at most
  uint64_t batch_rows = 8192;           // rows that are read at a time
  uint64_t buffer_bytes = 64ull << 20;  // what may be read ahead of writing
};

/// New fragments that are being written, of the rows that were live when it began, while commits
/// follow one another. No version names them: Dataset::FinishCompaction takes them over; dropped,
/// they are waited for and removed.
class RunningCompaction {
 public:
  virtual ~RunningCompaction() = default;
  /// Waits until all is written, or that failed, but no longer than `limit`; true = so it is.
  virtual bool Wait(std::chrono::milliseconds limit) = 0;
};

struct CompactionReceipt {
  uint64_t version = 0;
  std::vector<uint64_t> removed_fragments;
  std::vector<Fragment>
      new_fragments;  // rows in the order of the removed fragments, deleted rows left out
  uint64_t bytes_written = 0;
};

/// A secondary index over one column.
struct Index {
  std::string name;
  std::string column;
  uint64_t unindexed_rows = 0;  // live rows that it does not cover: readers scan them
};

/// Gives scanned rows in pieces; returning an error ends the scan with it. `addresses[i]` is the
/// place of row i.
using ScanSink = std::function<Status(const Rows& rows, std::span<const RowAddress> addresses)>;

/// Some rows of an unordered scan; all of it is lent for the call.
struct ScanPiece {
  const Rows& rows;
  std::span<const void* const> lent;  // values of fixed-width columns, one after the other
  std::span<const RowAddress> addresses;
};

/// Counters since the dataset was opened, for tests and metrics.
struct IoCounters {
  uint64_t commits = 0;
  uint64_t scans = 0;  // calls of any Scan
  uint64_t rows_taken = 0;
  uint64_t rows_written = 0;
  uint64_t bytes_written = 0;
};

/// One dataset at its latest version known to this object. Calls come from one thread at a time.
/// Errors: kCommitConflict (another commit took the next version; nothing of ours was applied),
/// kCommitStateUnknown (ask FindTransaction), kStorageFull, kStorageCorrupt, kStorageUnavailable,
/// kInternal.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual const std::string& uri() const = 0;
  /// The version that reads and commits of this object build upon.
  virtual uint64_t version() const = 0;
  virtual const Schema& schema()
      const = 0;  // as stored: columns in order, key from the primary-key metadata
  virtual std::vector<Fragment> fragments() const = 0;
  /// Live rows: physical minus deleted.
  virtual uint64_t count_rows() const = 0;

  /// Moves to the latest version on storage; `Latest` only asks for its number.
  virtual Status Refresh() = 0;
  virtual Result<uint64_t> Latest() = 0;
  /// Moves to an existing version; commits are refused (kInternal) until Refresh or until it is the
  /// latest.
  virtual Status Checkout(uint64_t version) = 0;
  /// Known versions, ascending; those that clean-up removed are missing.
  virtual Result<std::vector<uint64_t>> Versions() = 0;
  virtual Result<VersionInfo> Describe(uint64_t version) = 0;
  /// The version whose transaction has this id, looking back from the latest to `from_version`.
  virtual Result<std::optional<uint64_t>> FindTransaction(const std::string& transaction_id,
                                                          uint64_t from_version) = 0;

  /// Reads `columns` (empty = all) of all live rows in address order.
  virtual Status Scan(const std::vector<std::string>& columns, const ScanSink& sink) = 0;
  /// The same of some fragments only, which must be there.
  virtual Status ScanFragments(const std::vector<std::string>& columns,
                               std::span<const uint64_t> fragments, const ScanSink& sink) = 0;
  /// Reads `columns` and `lent` of all live rows, in pieces of any size and order: `sink` is called
  /// on `threads` threads, the calling one among them, and must be safe for that. `lent` columns
  /// are of fixed width and hold no NULL (kStorageCorrupt); they cost no copy.
  virtual Status ScanUnordered(const std::vector<std::string>& columns,
                               const std::vector<std::string>& lent, unsigned threads,
                               const std::function<Status(const ScanPiece& piece)>& sink) = 0;
  /// Reads rows by address, in the order asked; every address must be live or deleted within a kept
  /// fragment.
  virtual Result<Rows> Take(std::span<const RowAddress> addresses,
                            const std::vector<std::string>& columns) = 0;

  /// One Operation::Update: new rows, deletion vectors, properties. Synced to disk before it
  /// appears when the dataset was opened with fsync.
  virtual Result<CommitReceipt> Commit(const CommitRequest& request) = 0;
  /// Begins to write what a commit upon the open version will hold. Rows and addresses stay as they
  /// are until the write is committed or dropped.
  virtual Result<std::unique_ptr<RunningWrite>> BeginWrite(const Rows* new_rows,
                                                           std::span<const RowAddress> deleted) = 0;
  /// Commit of what was begun; `request` names the same rows and addresses.
  virtual Result<CommitReceipt> CommitBegun(std::unique_ptr<RunningWrite> begun,
                                            const CommitRequest& request) = 0;
  /// Appends nullable columns; metadata only. Returns the new version.
  virtual Result<uint64_t> AddColumns(const std::vector<Column>& columns, uint64_t expected_version,
                                      const Properties& properties) = 0;
  /// Rewrites one column as a wider type. Row addresses stay. Returns the new version.
  virtual Result<uint64_t> WidenColumn(const std::string& name, const Type& type,
                                       uint64_t expected_version, const Properties& properties) = 0;
  /// Begins to write the live rows of fragments of the open version into new ones. They are of one
  /// index_set. Commits may follow, and clean-up that leaves the open version.
  virtual Result<std::unique_ptr<RunningCompaction>> BeginCompaction(
      const CompactionRequest& request) = 0;
  /// Waits, and puts the new fragments in the place of the old ones, without the rows that were
  /// deleted meanwhile; kCommitConflict also where others changed the old ones. One version; two
  /// when the dataset has indexes, both with the properties (the first only reserves fragment ids,
  /// and stays where the second fails).
  virtual Result<CompactionReceipt> FinishCompaction(std::unique_ptr<RunningCompaction> running,
                                                     uint64_t expected_version,
                                                     const Properties& properties) = 0;
  /// Both at once.
  Result<CompactionReceipt> Compact(const CompactionRequest& request, uint64_t expected_version,
                                    const Properties& properties) {
    auto running = BeginCompaction(request);
    if (!running.ok()) return std::move(running.error());
    return FinishCompaction(std::move(*running), expected_version, properties);
  }
  /// Makes the content of `version` the next version.
  virtual Result<uint64_t> Restore(uint64_t version, uint64_t expected_version,
                                   const Properties& properties) = 0;
  /// Trains an index ("btree", "ivf_pq") over all rows of the open version, in the place of one of
  /// the same column. Rows committed later are not in it, and readers scan them. Compaction keeps
  /// indexes; widening a column drops its. Returns the new version.
  virtual Result<uint64_t> CreateIndex(const std::string& column, const std::string& kind,
                                       uint64_t expected_version, const Properties& properties) = 0;
  virtual Result<std::vector<Index>> Indexes() = 0;
  /// Takes the rows that an index does not cover into it, without training it anew. Returns the new
  /// version.
  virtual Result<uint64_t> ExtendIndex(const std::string& name, uint64_t expected_version,
                                       const Properties& properties) = 0;
  /// Deletes versions below `keep_from` that are not tagged, and files that no kept version names.
  /// Returns bytes freed.
  virtual Result<uint64_t> Cleanup(uint64_t keep_from) = 0;

  virtual IoCounters counters() const = 0;
};

struct DatasetOptions {
  bool fsync = true;  // sync files and folders before a manifest appears, and after
  std::string storage_version = "2.2";  // Lance file format; fixed when a dataset is created
  uint64_t cache_bytes = 64ull << 20;   // of Lance's own metadata and index caches together
};

namespace lance {

/// Opens a dataset at its latest version; an empty result where there is none.
Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& uri, const DatasetOptions& options);
/// Creates version 1, empty, with the schema's key as Lance's unenforced primary key (not with a
/// nullable key column) and `properties` as those of version 1. kCommitConflict if there is a
/// dataset already.
Result<std::unique_ptr<Dataset>> CreateDataset(const std::string& uri, const Schema& schema,
                                               const Properties& properties,
                                               const DatasetOptions& options);

}  // namespace lance
}  // namespace lastword
