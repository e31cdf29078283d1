// The commit protocol on the storage double: what each fault leaves behind, and what the next
// process makes of it.
#include <gtest/gtest.h>

#include <filesystem>

#include "commit/ledger.h"
#include "model/digest.h"
#include "model/key.h"
#include "model/value_rows.h"
#include "test/double/double_storage.h"
#include "test/double/memory_dataset.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

constexpr const char* kUri = "mem://orders.lance";

Schema OrdersSchema() {
  Schema schema;
  schema.columns = {{"id", {TypeKind::kInt64}}, {"v", {TypeKind::kString}}};
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() : x_storage(x_store) { x_options.schema = OrdersSchema(); }

  void Open() {
    x_table.reset();
    auto opened = TableImpl::Open(x_uri, x_options, x_storage);
    ASSERT_TRUE(opened.ok()) << ToString(opened.error());
    x_table = std::move(*opened);
  }

  // Upserts key -> value at version hi; an empty value deletes.
  Status Apply(int64_t key, uint64_t hi, const std::string& value, const Row& more = {}) {
    ChangeBatch batch;
    batch.rows = Rows(x_table->schema());
    batch.inputs = {"0"};
    Row row = {{"id", key}};
    if (!value.empty()) row.emplace_back("v", value);
    row.insert(row.end(), more.begin(), more.end());
    std::vector<uint32_t> absent;
    LW_RETURN_IF_ERROR(AppendRow(x_table->schema(), row, batch.rows, &absent));
    ChangeHead head;
    LW_RETURN_IF_ERROR(AppendKey(x_table->schema(), batch.rows, 0, batch.key_bytes));
    head.key_size = static_cast<uint32_t>(batch.key_bytes.size());
    head.key = Hash128(batch.key_bytes);
    head.version.hi = hi;
    head.kind = value.empty() ? Kind::kDelete : Kind::kUpsert;
    head.row = value.empty() ? kNone : 0;
    head.digest = value.empty() ? kDeleteDigest
                                : Digester(x_table->schema()).Digest(batch.rows, 0, absent, {});
    head.offset = x_offset++;
    batch.heads = {head};
    std::vector<Outcome> outcomes;
    LW_RETURN_IF_ERROR(x_table->ApplyBatch(batch, outcomes));
    x_outcome = outcomes[0];
    return Ok{};
  }

  Result<CommitResult> Commit(const std::string& id = {}, const std::string& position = {}) {
    CheckpointRequest request;
    request.id = id;
    if (!position.empty()) request.positions["in"] = position;
    return x_table->Commit(request);
  }

  // "1=a 2=b " of the committed rows.
  std::string RowsText() {
    std::map<int64_t, std::string> rows;
    const Status scanned = x_table->Scan(
        [&](const Rows& scanned_rows, const Schema& schema) {
          const uint32_t id = *schema.Find("id"), v = *schema.Find("v");
          for (uint64_t i = 0; i < scanned_rows.size(); ++i) {
            rows[scanned_rows.columns[id].Fixed<int64_t>(i)] =
                std::string(scanned_rows.columns[v].Bytes(i));
          }
          return true;
        },
        {});
    if (!scanned.ok()) return ToString(scanned.error());
    std::string text;
    for (const auto& [id, v] : rows) text += std::to_string(id) + "=" + v + " ";
    return text;
  }

  std::string x_uri = kUri;
  MemoryStore x_store;
  DoubleStorage x_storage;
  TableOptions x_options;
  std::unique_ptr<TableImpl> x_table;
  Outcome x_outcome = Outcome::kApplied;
  uint64_t x_offset = 0;
};

TEST_F(EngineTest, ADeletedRowStaysDeletedAcrossProcesses) {
  Open();
  ASSERT_TRUE(Apply(7, 1, "a").ok());
  ASSERT_TRUE(Commit().ok());
  Open();
  ASSERT_TRUE(Apply(7, 3, "").ok());
  ASSERT_TRUE(Commit().ok());
  Open();
  ASSERT_TRUE(Apply(7, 2, "b").ok());
  EXPECT_EQ(x_outcome, Outcome::kStale);
  ASSERT_TRUE(Commit().ok());
  EXPECT_EQ(RowsText(), "");
  Open();
  ASSERT_TRUE(Apply(7, 4, "c").ok());
  ASSERT_TRUE(Commit().ok());
  EXPECT_EQ(RowsText(), "7=c ");
}

TEST_F(EngineTest, AKnownCheckpointChangesNothing) {
  Open();
  ASSERT_TRUE(Apply(1, 1, "a").ok());
  const auto first = Commit("job/1", "p1");
  ASSERT_TRUE(first.ok());
  Open();
  ASSERT_TRUE(Apply(2, 2, "b").ok());
  const auto again = Commit("job/1", "p2");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->already_committed);
  EXPECT_EQ(again->lance_version, first->lance_version);
  EXPECT_EQ(RowsText(), "1=a ");
  EXPECT_EQ(x_table->PositionOf("in"), "p1");
  // The dropped batch left nothing behind in memory either.
  ASSERT_TRUE(Apply(2, 2, "b").ok());
  EXPECT_EQ(x_outcome, Outcome::kApplied);
}

TEST_F(EngineTest, ALedgerThatNoVersionPinsIsRolledBack) {
  Open();
  ASSERT_TRUE(Apply(1, 1, "a").ok());
  ASSERT_TRUE(Commit().ok());
  ASSERT_TRUE(Apply(1, 5, "").ok());
  // The next two calls are the ledger's commit and the table's: the process dies at the second.
  x_store.SetFaults(FaultAt(x_store.calls() + 2, Fault::kCrashBefore));
  ASSERT_FALSE(Commit().ok());
  x_store.SetFaults({});
  x_store.Reboot();
  Open();
  EXPECT_EQ(RowsText(), "1=a ");
  ASSERT_TRUE(Apply(1, 3, "b").ok());
  EXPECT_EQ(x_outcome, Outcome::kApplied) << "the delete at 5 was never committed";
  ASSERT_TRUE(Commit().ok());
  ASSERT_TRUE(Apply(2, 4, "").ok());
  ASSERT_TRUE(Commit().ok());
  Open();
  EXPECT_EQ(RowsText(), "1=b ");
  EXPECT_EQ(x_table->GetStatus()->tombstones, 1u);
}

TEST_F(EngineTest, AMissingLedgerIsAnError) {
  Open();
  ASSERT_TRUE(Apply(7, 3, "").ok());
  ASSERT_TRUE(Commit().ok());
  x_table.reset();
  x_store.Drop(LedgerUri(kUri));
  const auto opened = TableImpl::Open(kUri, x_options, x_storage);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kLedgerMissing);
}

TEST_F(EngineTest, AForeignCompactionMovesRowsAndTheCommitGoesOn) {
  Open();
  for (int64_t key = 0; key < 5; ++key) {
    ASSERT_TRUE(Apply(key, 10, "a").ok());
    ASSERT_TRUE(Commit().ok());
  }
  ASSERT_TRUE(Apply(3, 11, "b").ok());
  ASSERT_TRUE(Apply(4, 11, "").ok());
  ASSERT_TRUE(x_store.ForeignCompact(kUri).ok());
  const auto committed = Commit();
  ASSERT_TRUE(committed.ok()) << ToString(committed.error());
  EXPECT_EQ(RowsText(), "0=a 1=a 2=a 3=b ");
  Open();
  EXPECT_EQ(RowsText(), "0=a 1=a 2=a 3=b ");
  ASSERT_TRUE(Apply(0, 12, "").ok());
  ASSERT_TRUE(Commit().ok());
  EXPECT_EQ(RowsText(), "1=a 2=a 3=b ");
}

TEST_F(EngineTest, AForeignColumnIsNullInOurRows) {
  Open();
  ASSERT_TRUE(Apply(1, 1, "a").ok());
  ASSERT_TRUE(Commit().ok());
  ASSERT_TRUE(Apply(2, 2, "b").ok());
  ASSERT_TRUE(x_store.ForeignAddColumn(kUri, {"note", {TypeKind::kString}}).ok());
  const auto committed = Commit();
  ASSERT_TRUE(committed.ok()) << ToString(committed.error());
  EXPECT_EQ(RowsText(), "1=a 2=b ");
}

TEST_F(EngineTest, AnUnknownOutcomeIsNeverAppliedTwice) {
  Open();
  ASSERT_TRUE(Apply(1, 1, "a").ok());
  ASSERT_TRUE(Commit().ok());
  uint64_t version = 1;
  for (const Fault fault : {Fault::kUnknownAndCommitted, Fault::kUnknownAndLost}) {
    ++version;
    ASSERT_TRUE(Apply(1, version, "b").ok());
    x_store.SetFaults(FaultAt(x_store.calls() + 1, fault));
    const auto committed = Commit();
    x_store.SetFaults({});
    if (!committed.ok()) {
      EXPECT_EQ(ClassOf(committed.error().kind), ErrorClass::kLookUp);
      EXPECT_FALSE(Apply(1, 9, "z").ok()) << "memory no longer knows what storage holds";
    }
    Open();
    EXPECT_EQ(RowsText(), "1=b ");
    ASSERT_TRUE(Apply(1, version, "b").ok());
    EXPECT_EQ(x_outcome, Outcome::kRepeat);
  }
}

TEST_F(EngineTest, AddedAndWidenedColumnsFollowWithTheNextCommit) {
  x_options.schema.columns.push_back({"n", {TypeKind::kInt32}});
  Open();
  ASSERT_TRUE(Apply(1, 1, "a", {{"n", 7}}).ok());
  ASSERT_TRUE(Commit({}, "p1").ok());
  Schema wider = x_table->schema();
  wider.columns[2].type.kind = TypeKind::kInt64;
  wider.columns.push_back({"w", {TypeKind::kString}});
  ASSERT_TRUE(x_table->SetSchema(wider).ok());
  ASSERT_TRUE(Apply(2, 2, "b", {{"n", int64_t{3000000000}}, {"w", "new"}}).ok());
  ASSERT_TRUE(Commit().ok());
  x_options.schema = {};
  Open();
  EXPECT_EQ(RowsText(), "1=a 2=b ");
  EXPECT_EQ(ToString(x_table->schema().columns[*x_table->schema().Find("n")].type), "int64");
  EXPECT_TRUE(x_table->schema().Find("w").has_value());
  EXPECT_EQ(x_table->PositionOf("in"), "p1") << "a schema change carries the positions on";
}

// The disk is full between the two commits of a checkpoint, and the same process tries again: the
// ledger of the first try must not stay below the second.
TEST_F(EngineTest, ACheckpointIsTriedAgainInTheSameProcess) {
  for (const Fault fault : {Fault::kDiskFull, Fault::kFailBefore}) {
    Open();
    ASSERT_TRUE(Apply(1, x_offset + 1, "a").ok());
    ASSERT_TRUE(Apply(2, x_offset + 1, "").ok());
    ASSERT_TRUE(Commit().ok());
    ASSERT_TRUE(Apply(1, x_offset + 1, "").ok());
    ASSERT_TRUE(Apply(2, x_offset + 1, "").ok());
    // Both commits of the checkpoint, then the roll-back and both again.
    for (const uint64_t call : {1, 2}) {
      x_store.SetFaults(FaultAt(x_store.calls() + call, fault));
      ASSERT_FALSE(Commit("same id", "p2").ok());
    }
    x_store.SetFaults({});
    EXPECT_NE(x_table->PositionOf("in"), "p2") << "nothing was committed";
    const auto committed = Commit("same id " + std::to_string(x_offset), "p3");
    ASSERT_TRUE(committed.ok()) << ToString(committed.error());
    EXPECT_EQ(RowsText(), "");
    EXPECT_EQ(x_table->GetStatus()->tombstones, 2u);
    Open();
    EXPECT_EQ(x_table->GetStatus()->tombstones, 2u);
    EXPECT_FALSE(*x_table->KnowsCheckpoint("same id"));
    ASSERT_TRUE(Apply(1, 1, "old").ok());
    EXPECT_EQ(x_outcome, Outcome::kStale);
  }
}

// Ids do not pile up for ever: the oldest go, in the ledger as well, and never one of the newest.
TEST_F(EngineTest, OldCheckpointIdsAreForgotten) {
  x_options.checkpoint_ids = 8;
  const auto id = [](int i) { return "id " + std::to_string(i); };
  for (int i = 0; i < 60; ++i) {
    if (i % 7 == 0) Open();
    ASSERT_TRUE(Apply(i % 3, static_cast<uint64_t>(i) + 1, i % 2 == 0 ? "a" : "").ok());
    if (i % 5 == 0) {
      // A failed try forgets nothing.
      x_store.SetFaults(FaultAt(x_store.calls() + 2, Fault::kDiskFull));
      ASSERT_FALSE(Commit(id(i)).ok());
      x_store.SetFaults({});
    }
    ASSERT_TRUE(Commit(id(i)).ok());
    for (int other = 0; other <= i + 1; ++other) {
      if (other <= i && other > i - 8) {
        EXPECT_TRUE(*x_table->KnowsCheckpoint(id(other))) << other << " of " << i;
      } else if (other < i - 10 || other > i) {
        EXPECT_FALSE(*x_table->KnowsCheckpoint(id(other))) << other << " of " << i;
      }
    }
    EXPECT_LE(x_table->GetStatus()->checkpoints, 11u);
  }
  Open();
  EXPECT_LE(x_table->GetStatus()->checkpoints, 11u);
}

// A table that somebody restored to an older version goes on from there, though later processes
// have left higher writer epochs in the ledger.
TEST_F(EngineTest, ARestoredTableGoesOn) {
  Open();
  ASSERT_TRUE(Apply(1, 1, "a").ok());
  ASSERT_TRUE(Apply(2, 1, "").ok());
  const auto first = Commit({}, "p1");
  ASSERT_TRUE(first.ok());
  for (uint64_t i = 0; i < 3; ++i) {
    Open();
    ASSERT_TRUE(Apply(1, 5 + i, i == 2 ? "" : "b").ok());
    ASSERT_TRUE(Apply(3 + static_cast<int64_t>(i), 5, "").ok());
    ASSERT_TRUE(Commit({}, "p2").ok());
  }
  x_table.reset();
  auto dataset = x_store.Open(kUri);
  ASSERT_TRUE(dataset.ok());
  ASSERT_TRUE((*dataset)->Restore(first->lance_version, (*dataset)->version(), {}).ok());
  Open();
  EXPECT_EQ(RowsText(), "1=a ");
  EXPECT_EQ(x_table->PositionOf("in"), "p1");
  ASSERT_TRUE(Apply(3, 4, "").ok());
  ASSERT_TRUE(Apply(2, 2, "c").ok());
  const auto committed = Commit({}, "p3");
  ASSERT_TRUE(committed.ok()) << ToString(committed.error());
  Open();
  EXPECT_EQ(RowsText(), "1=a 2=c ");
  EXPECT_EQ(x_table->GetStatus()->tombstones, 1u);
}

TEST_F(EngineTest, ATableHasOneLockWhateverItIsCalledBy) {
  std::string folder = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  x_uri = folder + "/or ders.lance";
  Open();
  EXPECT_THAT(TableImpl::Open("file://" + folder + "/or%20ders.lance", x_options, x_storage),
              IsError(ErrorKind::kFencedWriter));
  x_table.reset();
  std::filesystem::remove_all(folder);
}

TEST_F(EngineTest, AFolderOfOtherThingsIsNoTable) {
  std::string folder = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  x_uri = folder;
  std::filesystem::create_directory(folder + "/data");
  std::filesystem::create_directory(folder + "/_transactions");
  Open();  // left by a creation that was killed
  x_table.reset();
  std::filesystem::create_directory(folder + "/customers.lance");
  EXPECT_THAT(TableImpl::Open(folder, x_options, x_storage), IsError(ErrorKind::kUsage));
  std::filesystem::remove_all(folder);
  std::filesystem::remove_all(folder + ".lastword");
}

// Dead letters of a checkpoint that never became visible are none, whatever takes its version.
TEST_F(EngineTest, DeadLettersOfALostCheckpointAreNotThere) {
  std::string folder = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  x_uri = folder + "/orders.lance";
  Open();
  ASSERT_TRUE(Apply(1, 1, "a").ok());
  ASSERT_TRUE(Commit().ok());
  x_table->AddDeadLetter({Error{ErrorKind::kBadJson, "bad", {}}, "{"});
  ASSERT_TRUE(Apply(1, 2, "b").ok());
  x_store.SetFaults(FaultAt(x_store.calls() + 1, Fault::kCrashBefore));
  ASSERT_FALSE(Commit().ok());
  x_store.SetFaults({});
  x_store.Reboot();
  // Another program takes the version that the lost checkpoint would have been.
  ASSERT_TRUE(x_store.ForeignCompact(x_uri).ok());
  Open();
  EXPECT_EQ(x_table->DeadLetters()->size(), 0u);
  ASSERT_TRUE(Apply(1, 2, "b").ok());
  ASSERT_TRUE(Commit().ok());
  EXPECT_EQ(x_table->DeadLetters()->size(), 0u);
  x_table.reset();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lastword
