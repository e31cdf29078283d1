// A Dataset over the Rust library. lance::OpenDataset and CreateDataset (dataset.h) make it;
// nothing else sees it.
#pragma once

#include <memory>
#include <string>

#include "lance/dataset.h"
#include "lance/shim/lastword_lance.h"

namespace lastword::lance {

class LanceDataset : public Dataset {
 public:
  /// Takes `handle` over, also when it fails: an unknown column type is kSchemaIncompatible.
  static Result<std::unique_ptr<Dataset>> Adopt(lastword_lance_dataset* handle, std::string uri);
  ~LanceDataset() override;

  const std::string& uri() const override { return x_uri; }
  uint64_t version() const override;
  const Schema& schema() const override { return x_schema; }
  std::vector<Fragment> fragments() const override { return x_fragments; }
  uint64_t count_rows() const override;

  Status Refresh() override;
  Result<uint64_t> Latest() override;
  Status Checkout(uint64_t version) override;
  Result<std::vector<uint64_t>> Versions() override;
  Result<VersionInfo> Describe(uint64_t version) override;
  Result<std::optional<uint64_t>> FindTransaction(const std::string& transaction_id,
                                                  uint64_t from_version) override;

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
  Result<std::vector<Index>> Indexes() override;
  Result<uint64_t> ExtendIndex(const std::string& name, uint64_t expected_version,
                               const Properties& properties) override;
  Result<uint64_t> Cleanup(uint64_t keep_from) override;

  IoCounters counters() const override { return x_counters; }

 private:
  struct Outgoing;
  class LanceWrite;

  LanceDataset(lastword_lance_dataset* handle, std::string uri);
  /// Reads what is kept of the open version: schema and fragments.
  Status Reload();
  Status CheckCommittable() const;
  Status Export(const Rows* rows, Outgoing& outgoing) const;
  Result<CommitReceipt> CommitRaw(lastword_lance_commit_request& raw, const CommitRequest& request);
  Result<CommitReceipt> ReceiptOf(lastword_lance_error* error,
                                  const lastword_lance_receipt& receipt, std::string_view what,
                                  uint64_t rows_written,
                                  ErrorKind not_found = ErrorKind::kStorageCorrupt);
  Result<std::vector<Type>> TypesOf(const std::vector<std::string>& columns) const;

  lastword_lance_dataset* const x_handle;
  const std::string x_uri;
  Schema x_schema;
  std::vector<Fragment> x_fragments;
  bool x_is_latest = true;  // false after Checkout of an older version
  IoCounters x_counters;
};

}  // namespace lastword::lance
