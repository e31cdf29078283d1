// A checkpoint costs what its batch costs, whatever the size of the table: no scan, no row
// rewritten that did not change. Counted, not timed, on real Lance.
#include <gtest/gtest.h>

#include <filesystem>

#include "commit/lance_storage.h"
#include "model/digest.h"
#include "model/key.h"

namespace lastword {
namespace {

constexpr uint64_t kTableRows = 1'000'000;
constexpr uint64_t kBatchRows = 10'000;

// Real Lance; remembers the datasets, so that their counters can be read.
class CountingStorage final : public Storage {
 public:
  explicit CountingStorage(const TableOptions& options) : x_lance(MakeLanceStorage(options)) {}
  Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& uri) override {
    return Remember(x_lance->OpenDataset(uri));
  }
  Result<std::unique_ptr<Dataset>> CreateDataset(const std::string& uri, const Schema& schema,
                                                 const Properties& properties) override {
    return Remember(x_lance->CreateDataset(uri, schema, properties));
  }
  Dataset& table(const std::string& uri) { return *x_seen.at(uri); }

 private:
  Result<std::unique_ptr<Dataset>> Remember(Result<std::unique_ptr<Dataset>> opened) {
    if (opened.ok() && *opened) x_seen[(*opened)->uri()] = opened->get();
    return opened;
  }
  std::unique_ptr<Storage> x_lance;
  std::map<std::string, Dataset*> x_seen;
};

Schema WideSchema() {
  Schema schema;
  schema.columns = {{"id", {TypeKind::kInt64}}, {"payload", {TypeKind::kString}}};
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

// Upserts of keys first, first + step, …, with version hi; every tenth is a delete when `deletes`.
ChangeBatch MakeBatch(uint64_t rows, uint64_t step, uint64_t hi, bool deletes) {
  const Schema schema = WideSchema();
  ChangeBatch batch;
  batch.rows = Rows(schema);
  batch.inputs = {"0"};
  Digester digester(schema);
  for (uint64_t i = 0; i < rows; ++i) {
    batch.rows.columns[0].AppendFixed(static_cast<int64_t>(i * step));
    batch.rows.columns[1].AppendBytes("value of version " + std::to_string(hi) + " of key " +
                                      std::to_string(i) + std::string(80, 'x'));
    ChangeHead head;
    head.key_begin = static_cast<uint32_t>(batch.key_bytes.size());
    EXPECT_TRUE(AppendKey(schema, batch.rows, i, batch.key_bytes).ok());
    head.key_size = static_cast<uint32_t>(batch.key_bytes.size()) - head.key_begin;
    head.key = Hash128(batch.KeyOf(head));
    head.version.hi = hi;
    head.offset = hi * kTableRows + i;
    if (deletes && i % 10 == 0) {
      head.kind = Kind::kDelete;
      head.digest = kDeleteDigest;
    } else {
      head.row = static_cast<uint32_t>(i);
      head.digest = digester.Digest(batch.rows, i, {}, {});
    }
    batch.heads.push_back(head);
  }
  return batch;
}

TEST(CommitCost, ACheckpointReadsAndWritesItsBatchOnly) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "lastword-commit-cost";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string uri = (folder / "t.lance").string();
  TableOptions options;
  options.schema = WideSchema();
  options.fsync = false;
  CountingStorage storage(options);
  {
    auto table = TableImpl::Open(uri, options, storage);
    ASSERT_TRUE(table.ok()) << ToString(table.error());
    ChangeBatch load = MakeBatch(kTableRows, 1, 1, false);
    std::vector<Outcome> outcomes;
    ASSERT_TRUE((*table)->ApplyBatch(load, outcomes).ok());
    const auto loaded = (*table)->Commit({});
    ASSERT_TRUE(loaded.ok()) << ToString(loaded.error());

    const IoCounters before = storage.table(uri).counters();
    ChangeBatch batch = MakeBatch(kBatchRows, 97, 2, true);
    outcomes.clear();
    ASSERT_TRUE((*table)->ApplyBatch(batch, outcomes).ok());
    const auto committed = (*table)->Commit({});
    ASSERT_TRUE(committed.ok()) << ToString(committed.error());
    const IoCounters after = storage.table(uri).counters();

    EXPECT_EQ(after.scans, before.scans);
    EXPECT_EQ(after.rows_taken, before.rows_taken);
    EXPECT_EQ(after.rows_written - before.rows_written, kBatchRows * 9 / 10);
    EXPECT_EQ(after.commits - before.commits, 1u);
    const uint64_t written = after.bytes_written - before.bytes_written;
    std::printf("loaded %llu bytes; the checkpoint wrote %llu\n",
                static_cast<unsigned long long>(loaded->bytes_written),
                static_cast<unsigned long long>(written));
    // The batch is a hundredth of the table; deletion vectors and the transaction come on top.
    EXPECT_LT(written, loaded->bytes_written / 20);
    EXPECT_EQ((*table)->count_rows(), kTableRows - kBatchRows / 10);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lastword
