// A table whose key index does not fit into memory: what the engine decides with it, and when it
// takes the one of the process before.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "commit/table_impl.h"
#include "model/engine_fixture.h"
#include "test/double/double_storage.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

class KeptIndexEngineTest : public testing::Test {
 protected:
  KeptIndexEngineTest() : x_storage(x_store) {
    std::filesystem::remove_all(x_folder);
    x_options.memory_bytes_max = 0;
    x_options.fsync = false;
  }
  ~KeptIndexEngineTest() override {
    x_table.reset();
    std::filesystem::remove_all(x_folder);
  }

  void Open() {
    x_table = std::make_unique<EngineFixture>(x_folder + "/orders.lance", x_options, x_storage);
    const Status opened = x_table->Open();
    ASSERT_THAT(opened, IsOk());
  }
  void Close() { x_table.reset(); }
  TestChange Change(int64_t key, uint64_t hi, Kind kind = Kind::kUpsert) {
    TestChange change;
    change.kind = kind;
    change.key = key;
    change.version.hi = hi;
    change.a = std::to_string(hi);
    return change;
  }
  // Commits 30 rows and 10 tombstones.
  void Fill() {
    std::vector<TestChange> changes;
    for (int64_t key = 0; key < 40; ++key) changes.push_back(Change(key, 5));
    for (int64_t key = 30; key < 40; ++key) changes.push_back(Change(key, 6, Kind::kDelete));
    ASSERT_THAT(x_table->Apply(changes), IsOk());
    ASSERT_THAT(x_table->Commit(), IsOk());
  }
  // Every outcome that the state of a key can lead to.
  void ExpectFilledState() {
    const auto outcomes = x_table->Apply(
        {Change(3, 4), Change(3, 5), Change(33, 5), Change(33, 6, Kind::kDelete), Change(33, 7)});
    ASSERT_THAT(outcomes, IsOk());
    EXPECT_EQ(*outcomes, (std::vector<Outcome>{Outcome::kStale, Outcome::kRepeat, Outcome::kStale,
                                               Outcome::kRepeat, Outcome::kApplied}));
  }
  // RocksDB's own name of the index: a new one is made with it.
  std::string NameOfIndex() {
    const auto name = ReadWholeFile(x_folder + "/orders.lance.lastword/index/IDENTITY");
    EXPECT_THAT(name, IsOk());
    return name.ok() ? *name : "";
  }

  const std::string x_folder = testing::TempDir() + "kept_index_test";
  MemoryStore x_store;
  DoubleStorage x_storage;
  TableOptions x_options;
  std::unique_ptr<EngineFixture> x_table;
};

TEST_F(KeptIndexEngineTest, IsTakenOverByTheNextProcess) {
  Open();
  Fill();
  EXPECT_EQ(x_table->table().GetStatus()->index, "rocksdb");
  Close();
  const std::string name = NameOfIndex();
  Open();
  EXPECT_EQ(NameOfIndex(), name) << "built anew";
  ExpectFilledState();
}

TEST_F(KeptIndexEngineTest, IsRebuiltAfterACrash) {
  Open();
  Fill();
  // What a crash leaves: the folder as it is while the process still runs.
  const std::string index = x_folder + "/orders.lance.lastword/index";
  std::filesystem::copy(index, x_folder + "/crashed", std::filesystem::copy_options::recursive);
  Close();
  std::filesystem::remove_all(index);
  std::filesystem::rename(x_folder + "/crashed", index);
  const std::string name = NameOfIndex();
  Open();
  EXPECT_NE(NameOfIndex(), name);
  ExpectFilledState();
}

TEST_F(KeptIndexEngineTest, IsRebuiltAfterAForeignCommit) {
  Open();
  Fill();
  Close();
  ASSERT_THAT(x_store.ForeignCompact(x_folder + "/orders.lance"), IsOk());
  const std::string name = NameOfIndex();
  Open();
  EXPECT_NE(NameOfIndex(), name);
  ExpectFilledState();
}

TEST_F(KeptIndexEngineTest, IsRebuiltForARestoredVersion) {
  Open();
  Fill();
  ASSERT_THAT(x_table->Apply({Change(3, 9)}), IsOk());
  ASSERT_THAT(x_table->Commit(), IsOk());
  Close();
  {
    auto other = x_storage.OpenDataset(x_folder + "/orders.lance");
    ASSERT_THAT(other, IsOk());
    ASSERT_THAT((*other)->Restore((*other)->version() - 1, (*other)->version(), {}), IsOk());
  }
  Open();
  ExpectFilledState();
}

TEST_F(KeptIndexEngineTest, AnUncommittedBatchIsNotInIt) {
  Open();
  Fill();
  ASSERT_THAT(x_table->Apply({Change(3, 9)}), IsOk());
  Close();
  Open();
  ExpectFilledState();
}

}  // namespace
}  // namespace lastword
