// The double's own promises: faults happen where the script says, and foreign actions look foreign.
#include "test/double/memory_dataset.h"

#include <gmock/gmock.h>

#include "test/status_matchers.h"

namespace lastword {
namespace {

Schema Ids() {
  return Schema{.columns = {{.name = "id", .type = {.kind = TypeKind::kInt64}, .nullable = false}},
                .key = {0},
                .nullable_key = {false}};
}

class MemoryStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Dataset>> created = x_store.Create("a", Ids(), {{"p", "0"}});
    ASSERT_THAT(created, IsOk());
    x_dataset = std::move(*created);
    ASSERT_EQ(x_store.calls(), 1u);
  }
  std::unique_ptr<Dataset> Open() {
    Result<std::unique_ptr<Dataset>> opened = x_store.Open("a");
    EXPECT_THAT(opened, IsOk());
    return std::move(*opened);
  }
  Result<CommitReceipt> CommitOne(Dataset& dataset) {
    Rows rows(Ids());
    rows.columns[0].AppendFixed(int64_t{7});
    return dataset.Commit({.expected_version = dataset.version(),
                           .new_rows = &rows,
                           .properties = {{"p", "1"}},
                           .transaction_id = "the-commit"});
  }

  MemoryStore x_store;
  std::unique_ptr<Dataset> x_dataset;
};

TEST_F(MemoryStoreTest, EachFaultReportsItsKindAndDoesWhatItSays) {
  const struct {
    Fault fault;
    ErrorKind kind;
    bool is_committed;
    uint64_t latest;
  } kCases[] = {
      {Fault::kFailBefore, ErrorKind::kStorageUnavailable, false, 1},
      {Fault::kDiskFull, ErrorKind::kStorageFull, false, 1},
      {Fault::kConflict, ErrorKind::kCommitConflict, false, 2},
      {Fault::kUnknownAndCommitted, ErrorKind::kCommitStateUnknown, true, 2},
      {Fault::kUnknownAndLost, ErrorKind::kCommitStateUnknown, false, 1},
  };
  for (const auto& c : kCases) {
    MemoryStore store;
    Result<std::unique_ptr<Dataset>> created = store.Create("a", Ids(), {});
    ASSERT_THAT(created, IsOk());
    store.SetFaults(FaultAt(2, c.fault));
    EXPECT_THAT(CommitOne(**created), IsError(c.kind));
    EXPECT_EQ((*created)->version(), 1u);
    EXPECT_THAT((*created)->Latest(), IsOkAnd(c.latest));
    const auto found = (*created)->FindTransaction("the-commit", 1);
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ(found->has_value(), c.is_committed);
    ASSERT_THAT((*created)->Refresh(), IsOk());
    EXPECT_EQ((*created)->count_rows(), c.is_committed ? 1u : 0u);
    EXPECT_THAT(CommitOne(**created), IsOk()) << "the script names one call";
  }
}

TEST_F(MemoryStoreTest, ACrashKillsEveryOpenDatasetUntilReboot) {
  for (const Fault fault : {Fault::kCrashBefore, Fault::kCrashAfter}) {
    const std::unique_ptr<Dataset> other = Open();
    const std::unique_ptr<Dataset> dataset = Open();
    const uint64_t before = dataset->version();
    x_store.SetFaults(FaultAt(x_store.calls() + 1, fault));
    EXPECT_THAT(CommitOne(*dataset), IsError(ErrorKind::kStorageUnavailable));
    EXPECT_TRUE(x_store.crashed());
    EXPECT_THAT(x_store.Open("a"), IsError(ErrorKind::kStorageUnavailable));
    EXPECT_THAT(other->Refresh(), IsError(ErrorKind::kStorageUnavailable));
    x_store.Reboot();
    EXPECT_THAT(other->Latest(), IsError(ErrorKind::kStorageUnavailable));
    EXPECT_EQ(Open()->version(), before + (fault == Fault::kCrashAfter ? 1 : 0));
  }
}

TEST_F(MemoryStoreTest, ForeignActionsHaveNoPropertiesAndAreNotAskedAbout) {
  x_store.SetFaults([](const StorageCall&) { return Fault::kFailBefore; });
  Rows rows(Ids());
  rows.columns[0].AppendFixed(int64_t{1});
  ASSERT_THAT(x_store.ForeignCommit("a", rows, {}), IsOk());
  ASSERT_THAT(x_store.ForeignCommit("a", rows, {}), IsOk());
  ASSERT_THAT(x_store.ForeignCompact("a"), IsOk());
  ASSERT_THAT(x_store.ForeignAddColumn("a", {.name = "b", .type = {.kind = TypeKind::kBool}}),
              IsOk());
  EXPECT_EQ(x_store.calls(), 1u);
  const std::unique_ptr<Dataset> opened = Open();
  EXPECT_EQ(opened->version(), 5u);
  EXPECT_EQ(opened->fragments().size(), 1u);
  EXPECT_EQ(opened->schema().columns.size(), 2u);
  EXPECT_EQ(opened->Describe(4)->operation, "Rewrite");
  EXPECT_TRUE(opened->Describe(4)->properties.empty());
}

TEST_F(MemoryStoreTest, AScriptMayActOnTheStoreItself) {
  x_store.SetFaults([this](const StorageCall& call) {
    if (call.number == 2) {
      EXPECT_THAT(x_store.ForeignCommit("a", Rows(Ids()), {}), IsOk());
    }
    return Fault::kNone;
  });
  EXPECT_THAT(CommitOne(*x_dataset), IsError(ErrorKind::kCommitConflict));
  ASSERT_THAT(x_dataset->Refresh(), IsOk());
  EXPECT_THAT(CommitOne(*x_dataset), IsOk());
}

TEST_F(MemoryStoreTest, ADroppedDatasetIsGone) {
  x_store.Drop("a");
  EXPECT_THAT(x_store.Open("a"), IsOkAnd(testing::IsNull()));
  EXPECT_THAT(x_dataset->Refresh(), IsError(ErrorKind::kStorageCorrupt));
}

}  // namespace
}  // namespace lastword
