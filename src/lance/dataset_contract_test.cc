// The contract of dataset.h, checked on everything that claims it: the double in memory and, where
// it is linked, Lance itself. What holds only of one of them is in its own test.
#include "test/double/dataset_contract.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/format.h"
#include "base/random.h"
#include "lastword/value.h"
#include "model/value_rows.h"

namespace lastword {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

INSTANTIATE_TEST_SUITE_P(Backends, DatasetContractTest, testing::ValuesIn(kBackends),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(DatasetContractTest, NothingToOpenIsNoError) {
  const std::unique_ptr<Backend> empty = GetParam().make();
  const Result<std::unique_ptr<Dataset>> opened = empty->Open();
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(*opened, nullptr);
}

TEST_P(DatasetContractTest, CreateMakesVersionOneWithKeyAndProperties) {
  EXPECT_EQ(x_dataset->version(), 1u);
  EXPECT_EQ(x_dataset->count_rows(), 0u);
  EXPECT_THAT(x_dataset->fragments(), IsEmpty());
  const std::unique_ptr<Dataset> opened = OpenAgain();
  ASSERT_THAT(opened->schema().columns, SizeIs(2));
  EXPECT_EQ(opened->schema().columns[0].name, "id");
  EXPECT_EQ(opened->schema().columns[1].type, TypeOf("string"));
  EXPECT_FALSE(opened->schema().columns[0].nullable);
  EXPECT_TRUE(opened->schema().columns[1].nullable);
  EXPECT_THAT(opened->schema().key, ElementsAre(0));
  EXPECT_THAT(opened->schema().nullable_key, ElementsAre(false));
  const Result<VersionInfo> info = opened->Describe(1);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->properties, (Properties{{"made", "yes"}}));
  EXPECT_THAT(Scan(*opened), IsEmpty());
}

TEST_P(DatasetContractTest, KeyOrderAndNullableKeysComeBack) {
  const std::unique_ptr<Backend> other = GetParam().make();
  const Schema schema{.columns = {{.name = "b", .type = TypeOf("string")},
                                  {.name = "a", .type = TypeOf("uuid"), .nullable = false}},
                      .key = {1, 0},
                      .nullable_key = {false, true}};
  ASSERT_THAT(other->Create(schema, {}), IsOk());
  Result<std::unique_ptr<Dataset>> opened = other->Open();
  ASSERT_THAT(opened, IsOk());
  EXPECT_THAT((*opened)->schema().key, ElementsAre(1, 0));
  EXPECT_THAT((*opened)->schema().nullable_key, ElementsAre(false, true));
}

TEST_P(DatasetContractTest, CreatingTwiceIsAConflict) {
  EXPECT_THAT(x_backend->Create(KeyAndText(), {}), IsError(ErrorKind::kCommitConflict));
  EXPECT_EQ(OpenAgain()->version(), 1u);
}

TEST_P(DatasetContractTest, PropertiesAndTransactionIdComeBack) {
  const Properties properties{
      {"lastword.positions", "{\"topic:3\": 42}"}, {"empty", ""}, {"text", "ä\n\"quoted\""}};
  const Rows rows = RowsOf(1, 3);
  const Result<CommitReceipt> receipt = x_dataset->Commit({.expected_version = 1,
                                                           .new_rows = &rows,
                                                           .properties = properties,
                                                           .transaction_id = "checkpoint-7"});
  ASSERT_THAT(receipt, IsOk());
  EXPECT_EQ(receipt->version, 2u);
  EXPECT_GT(receipt->bytes_written, 0u);
  const std::unique_ptr<Dataset> opened = OpenAgain();
  const Result<VersionInfo> info = opened->Describe(2);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->version, 2u);
  EXPECT_EQ(info->operation, "Update");
  EXPECT_EQ(info->transaction_id, "checkpoint-7");
  EXPECT_EQ(info->properties, properties);
  EXPECT_GT(info->timestamp_ms, 1'600'000'000'000);
  EXPECT_THAT(opened->FindTransaction("checkpoint-7", 1), IsOkAnd(testing::Optional(2u)));
  EXPECT_THAT(opened->FindTransaction("checkpoint-7", 3), IsOkAnd(std::nullopt));
  EXPECT_THAT(opened->FindTransaction("checkpoint-8", 1), IsOkAnd(std::nullopt));
  EXPECT_THAT(opened->Describe(9), IsError(ErrorKind::kUsage));
}

TEST_P(DatasetContractTest, ACommitWithoutRowsStillMakesItsVersion) {
  ASSERT_THAT(Commit(RowsOf(1, 0), {}, {{"only", "properties"}}), IsOk());
  EXPECT_EQ(x_dataset->version(), 2u);
  EXPECT_THAT(x_dataset->fragments(), IsEmpty());
  const Result<VersionInfo> info = OpenAgain()->Describe(2);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->properties, (Properties{{"only", "properties"}}));
}

TEST_P(DatasetContractTest, AddressesOfNewRowsAreAsPredictedOverManyCommits) {
  Random random(7);
  std::map<RowAddress, int64_t> expected;
  int64_t next_id = 1;
  for (int commit = 0; commit < 100; ++commit) {
    std::vector<RowAddress> deleted;
    for (const auto& [address, id] : expected) {
      if (random.OneIn(12)) deleted.push_back(address);
    }
    std::reverse(deleted.begin(), deleted.end());  // Any order is allowed.
    const auto count = static_cast<int64_t>(random.Below(20));
    const Rows rows = RowsOf(next_id, count);
    const Result<CommitReceipt> receipt = Commit(rows, deleted);
    ASSERT_THAT(receipt, IsOk());
    ASSERT_EQ(receipt->version, static_cast<uint64_t>(commit) + 2);
    for (const RowAddress address : deleted) expected.erase(address);
    for (const Fragment& fragment : receipt->new_fragments) {
      EXPECT_EQ(fragment.deleted_rows, 0u);
      for (uint64_t row = 0; row < fragment.physical_rows; ++row) {
        expected[fragment.id << 32 | row] = next_id++;
      }
    }
    ASSERT_EQ(x_dataset->count_rows(), expected.size());
  }
  EXPECT_EQ(Scan(*x_dataset), expected);
  const std::unique_ptr<Dataset> opened = OpenAgain();
  EXPECT_EQ(Scan(*opened), expected);
  EXPECT_EQ(opened->count_rows(), expected.size());
  std::set<uint64_t> with_rows;
  for (const auto& [address, id] : expected) with_rows.insert(address >> 32);
  EXPECT_EQ(opened->fragments().size(), with_rows.size());
}

TEST_P(DatasetContractTest, AnotherHandlesCommitIsAConflictAndNothingHappens) {
  const std::unique_ptr<Dataset> other = OpenAgain();
  ASSERT_THAT(Commit(RowsOf(1, 2)), IsOk());
  const Rows rows = RowsOf(10, 2);
  const Result<CommitReceipt> refused =
      other->Commit({.expected_version = 1, .new_rows = &rows, .transaction_id = "the-loser"});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict));
  EXPECT_EQ(other->version(), 1u);
  EXPECT_THAT(other->Latest(), IsOkAnd(2u));
  const std::unique_ptr<Dataset> opened = OpenAgain();
  EXPECT_EQ(opened->version(), 2u);
  EXPECT_EQ(opened->count_rows(), 2u);
  EXPECT_THAT(opened->FindTransaction("the-loser", 1), IsOkAnd(std::nullopt));
  ASSERT_THAT(other->Refresh(), IsOk());
  EXPECT_EQ(other->count_rows(), 2u);
  EXPECT_THAT(other->Commit({.expected_version = 2, .new_rows = &rows}), IsOk());
  EXPECT_EQ(other->count_rows(), 4u);
}

TEST_P(DatasetContractTest, ACommitMayBeBegunBefore) {
  ASSERT_THAT(Commit(RowsOf(1, 3)), IsOk());
  const Rows rows = RowsOf(10, 2);
  const std::vector<RowAddress> deleted = {1};
  const auto request = [&](uint64_t version) {
    return CommitRequest{.expected_version = version,
                         .new_rows = &rows,
                         .deleted = deleted,
                         .properties = {{"begun", "yes"}},
                         .transaction_id = RandomId()};
  };
  Result<std::unique_ptr<RunningWrite>> begun = x_dataset->BeginWrite(&rows, deleted);
  ASSERT_THAT(begun, IsOk());
  EXPECT_EQ(x_dataset->version(), 2u);
  EXPECT_EQ(OpenAgain()->count_rows(), 3u) << "nothing is there before its commit";
  begun->reset();
  EXPECT_THAT(OpenAgain()->Versions(), IsOkAnd(ElementsAre(1, 2))) << "dropped: as if it never was";

  begun = x_dataset->BeginWrite(&rows, deleted);
  ASSERT_THAT(begun, IsOk());
  const Result<CommitReceipt> receipt = x_dataset->CommitBegun(std::move(*begun), request(2));
  ASSERT_THAT(receipt, IsOk());
  ASSERT_EQ(receipt->new_fragments.size(), 1u);
  const RowAddress first = receipt->new_fragments[0].id << 32;
  const std::map<RowAddress, int64_t> expected = {{0, 1}, {2, 3}, {first, 10}, {first + 1, 11}};
  EXPECT_EQ(Scan(*OpenAgain()), expected);

  begun = x_dataset->BeginWrite(&rows, {});
  ASSERT_THAT(begun, IsOk());
  const std::unique_ptr<Dataset> other = OpenAgain();
  EXPECT_THAT(other->Commit({.expected_version = 3, .new_rows = &rows}), IsOk());
  EXPECT_THAT(x_dataset->CommitBegun(std::move(*begun), request(3)),
              IsError(ErrorKind::kCommitConflict));
  EXPECT_EQ(OpenAgain()->version(), 4u);
}

TEST_P(DatasetContractTest, EveryKindOfCommitLosesToAnEarlierOne) {
  ASSERT_THAT(Commit(RowsOf(1, 4)), IsOk());
  const std::unique_ptr<Dataset> other = OpenAgain();
  ASSERT_THAT(Commit(RowsOf(10, 1)), IsOk());
  const Column column{.name = "extra", .type = TypeOf("int32")};
  EXPECT_THAT(other->AddColumns({column}, 2, {}), IsError(ErrorKind::kCommitConflict));
  EXPECT_THAT(other->WidenColumn("id", TypeOf("int64"), 2, {}),
              IsError(ErrorKind::kCommitConflict));
  EXPECT_THAT(other->Compact({.fragments = {0}}, 2, {}), IsError(ErrorKind::kCommitConflict));
  EXPECT_THAT(other->Restore(1, 2, {}), IsError(ErrorKind::kCommitConflict));
  EXPECT_THAT(other->Latest(), IsOkAnd(3u));
  EXPECT_THAT(OpenAgain()->Versions(), IsOkAnd(ElementsAre(1, 2, 3)));
}

TEST_P(DatasetContractTest, TakeGivesTheAskedOrderAndDeletedRowsOfKeptFragments) {
  const Result<CommitReceipt> first = Commit(RowsOf(0, 10));
  const Result<CommitReceipt> second = Commit(RowsOf(10, 10));
  ASSERT_THAT(second, IsOk());
  const RowAddress a = first->new_fragments[0].id << 32;
  const RowAddress b = second->new_fragments[0].id << 32;
  ASSERT_THAT(Commit(RowsOf(0, 0), {a | 3, b | 4, b | 5}), IsOk());
  const std::vector<RowAddress> asked = {b | 9, a | 3, a | 0, b | 4, b | 9};
  const Result<Rows> rows = x_dataset->Take(asked, {"text", "id"});
  ASSERT_THAT(rows, IsOk());
  ASSERT_EQ(rows->size(), 5u);
  std::vector<int64_t> ids;
  for (uint64_t row = 0; row < 5; ++row) ids.push_back(rows->columns[1].Fixed<int64_t>(row));
  EXPECT_THAT(ids, ElementsAre(19, 3, 0, 14, 19));
  EXPECT_EQ(rows->columns[0].Bytes(1), "row 3");
  const Result<Rows> ascending = x_dataset->Take(std::vector<RowAddress>{a | 2, a | 3, b | 1}, {});
  ASSERT_THAT(ascending, IsOk());
  ASSERT_EQ(ascending->columns.size(), 2u);
  EXPECT_EQ(ascending->columns[0].Fixed<int64_t>(2), 11);
  const Result<Rows> nothing = x_dataset->Take({}, {});
  ASSERT_THAT(nothing, IsOk());
  EXPECT_EQ(nothing->size(), 0u);
  EXPECT_THAT(Scan(*x_dataset), SizeIs(17));
}

TEST_P(DatasetContractTest, TakeOfAPlaceThatIsNoRowIsADefect) {
  ASSERT_THAT(Commit(RowsOf(0, 3)), IsOk());
  EXPECT_THAT(x_dataset->Take(std::vector<RowAddress>{3}, {}), IsError(ErrorKind::kInternal));
  EXPECT_THAT(x_dataset->Take(std::vector<RowAddress>{7ull << 32}, {}),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(x_dataset->Take(std::vector<RowAddress>{1}, {"no such column"}),
              IsError(ErrorKind::kInternal));
}

TEST_P(DatasetContractTest, AnEmptiedFragmentIsGone) {
  const Result<CommitReceipt> first = Commit(RowsOf(0, 3));
  ASSERT_THAT(Commit(RowsOf(3, 3)), IsOk());
  const RowAddress a = first->new_fragments[0].id << 32;
  ASSERT_THAT(Commit(RowsOf(6, 1), {a | 1}), IsOk());
  ASSERT_THAT(x_dataset->fragments(), SizeIs(3));
  ASSERT_THAT(Commit(RowsOf(0, 0), {a | 0, a | 2}), IsOk());
  ASSERT_THAT(x_dataset->fragments(), SizeIs(2));
  EXPECT_EQ(x_dataset->count_rows(), 4u);
  const Result<CommitReceipt> next = Commit(RowsOf(7, 1));
  ASSERT_THAT(next, IsOk());
  EXPECT_GT(next->new_fragments[0].id, first->new_fragments[0].id) << "an id is used twice";
}

TEST_P(DatasetContractTest, DeletingWhatIsNotLiveIsADefectAndChangesNothing) {
  ASSERT_THAT(Commit(RowsOf(0, 3)), IsOk());
  ASSERT_THAT(Commit(RowsOf(0, 0), {1}), IsOk());
  EXPECT_THAT(Commit(RowsOf(5, 1), {1}), IsError(ErrorKind::kInternal));
  EXPECT_THAT(Commit(RowsOf(5, 1), {2, 2}), IsError(ErrorKind::kInternal));
  EXPECT_THAT(Commit(RowsOf(5, 1), {3}), IsError(ErrorKind::kInternal));
  EXPECT_THAT(Commit(RowsOf(5, 1), {9ull << 32}), IsError(ErrorKind::kInternal));
  EXPECT_EQ(x_dataset->version(), 3u);
  EXPECT_THAT(x_dataset->Latest(), IsOkAnd(3u));
  EXPECT_THAT(Scan(*x_dataset), SizeIs(2));
}

TEST_P(DatasetContractTest, RowsOfAnotherSchemaAreADefect) {
  Rows narrow;
  narrow.columns.emplace_back(TypeOf("int64")).AppendFixed(int64_t{1});
  EXPECT_THAT(Commit(narrow), IsError(ErrorKind::kInternal));
  narrow.columns.emplace_back(TypeOf("bytes")).AppendBytes("x");
  EXPECT_THAT(Commit(narrow), IsError(ErrorKind::kInternal));
  EXPECT_THAT(x_dataset->Latest(), IsOkAnd(1u));
}

TEST_P(DatasetContractTest, ANullInAColumnWithoutNullsIsADefect) {
  Rows rows(x_dataset->schema());
  rows.AppendNulls();
  EXPECT_THAT(Commit(rows), IsError(ErrorKind::kInternal));
  EXPECT_THAT(x_dataset->Latest(), IsOkAnd(1u));
}

TEST_P(DatasetContractTest, CommitUponAVersionThatIsNotOpenIsADefect) {
  const Rows rows = RowsOf(0, 1);
  EXPECT_THAT(x_dataset->Commit({.expected_version = 0, .new_rows = &rows}),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(x_dataset->Commit({.expected_version = 2, .new_rows = &rows}),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(x_dataset->Latest(), IsOkAnd(1u));
}

TEST_P(DatasetContractTest, CheckoutReadsTheOldAndRefusesCommits) {
  ASSERT_THAT(Commit(RowsOf(0, 3)), IsOk());
  ASSERT_THAT(Commit(RowsOf(3, 1), {0}), IsOk());
  ASSERT_THAT(x_dataset->Checkout(2), IsOk());
  EXPECT_EQ(x_dataset->version(), 2u);
  EXPECT_EQ(x_dataset->count_rows(), 3u);
  EXPECT_THAT(Scan(*x_dataset), SizeIs(3));
  EXPECT_THAT(Commit(RowsOf(9, 1)), IsError(ErrorKind::kInternal));
  EXPECT_THAT(x_dataset->Checkout(77), IsError(ErrorKind::kUsage));
  ASSERT_THAT(x_dataset->Checkout(3), IsOk());
  EXPECT_THAT(Commit(RowsOf(9, 1)), IsOk());
  ASSERT_THAT(x_dataset->Checkout(1), IsOk());
  ASSERT_THAT(x_dataset->Refresh(), IsOk());
  EXPECT_EQ(x_dataset->version(), 4u);
  EXPECT_THAT(Commit(RowsOf(10, 1)), IsOk());
}

TEST_P(DatasetContractTest, UnorderedScansGiveEveryRowOnceOnAnyNumberOfThreads) {
  ASSERT_THAT(Commit(RowsOf(0, 100)), IsOk());
  ASSERT_THAT(Commit(RowsOf(100, 57), {3, 99}), IsOk());
  for (const unsigned threads : {1u, 4u}) {
    std::mutex mutex;
    std::map<RowAddress, int64_t> found;
    const auto scanned =
        x_dataset->ScanUnordered({"text"}, {"id"}, threads, [&](const ScanPiece& piece) -> Status {
          const std::lock_guard lock(mutex);
          for (uint64_t row = 0; row < piece.rows.size(); ++row) {
            const int64_t id = static_cast<const int64_t*>(piece.lent[0])[row];
            EXPECT_EQ(piece.rows.columns[0].Bytes(row), Message("row {}", id));
            EXPECT_TRUE(found.emplace(piece.addresses[row], id).second);
          }
          return Ok{};
        });
    ASSERT_THAT(scanned, IsOk());
    EXPECT_EQ(found, Scan(*x_dataset));
    EXPECT_THAT(x_dataset->ScanUnordered({"text"}, {}, threads,
                                         [&](const ScanPiece&) -> Status {
                                           return Error{ErrorKind::kUsage, "enough", {}};
                                         }),
                IsError(ErrorKind::kUsage));
  }
}

TEST_P(DatasetContractTest, AddedColumnsAreNullInOldRowsAndTheCommitHasProperties) {
  ASSERT_THAT(Commit(RowsOf(0, 2)), IsOk());
  ASSERT_THAT(x_dataset->AddColumns({{.name = "note", .type = TypeOf("json")},
                                     {.name = "parts", .type = TypeOf("list<int32>")}},
                                    2, {{"lastword.positions", "q"}}),
              IsOkAnd(3u));
  ASSERT_THAT(x_dataset->schema().columns, SizeIs(4));
  EXPECT_EQ(x_dataset->schema().columns[2].type, TypeOf("json"));
  Rows rows = RowsOf(2, 1);
  rows.Truncate(0);
  ASSERT_THAT(AppendRow(x_dataset->schema(),
                        {{"id", 2}, {"note", "{}"}, {"parts", List{Value(1), Value()}}}, rows),
              IsOk());
  ASSERT_THAT(Commit(rows, {0}), IsOk());
  const std::unique_ptr<Dataset> opened = OpenAgain();
  EXPECT_THAT(opened->schema().key, ElementsAre(0));
  uint64_t seen = 0;
  const Status status = opened->Scan({}, [&](const Rows& found, auto) -> Status {
    for (uint64_t row = 0; row < found.size(); ++row, ++seen) {
      const bool is_new = found.columns[0].Fixed<int64_t>(row) == 2;
      EXPECT_EQ(found.columns[2].IsNull(row), !is_new);
      EXPECT_EQ(found.columns[3].IsNull(row), !is_new);
      if (is_new) {
        EXPECT_EQ(found.columns[3].ListRange(row).second, 2u);
      }
    }
    return Ok{};
  });
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(seen, 2u);
  const Result<VersionInfo> info = opened->Describe(3);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->properties, (Properties{{"lastword.positions", "q"}}));
  EXPECT_THAT(x_dataset->AddColumns({{.name = "text", .type = TypeOf("int8")}}, 4, {}),
              IsError(ErrorKind::kInternal));
}

TEST_P(DatasetContractTest, WideningKeepsAddressesValuesAndDeletedRows) {
  const std::unique_ptr<Backend> other = GetParam().make();
  const Schema schema{.columns = {{.name = "id", .type = TypeOf("int32"), .nullable = false},
                                  {.name = "amount", .type = TypeOf("decimal(10,2)")}},
                      .key = {0},
                      .nullable_key = {false}};
  Result<std::unique_ptr<Dataset>> created = other->Create(schema, {});
  ASSERT_THAT(created, IsOk());
  Dataset& dataset = **created;
  for (int32_t part = 0; part < 2; ++part) {
    Rows rows(schema);
    for (int32_t i = 0; i < 3; ++i) {
      const Value amount = i == 1 ? Value() : Value(Decimal{"-12.50"});
      ASSERT_THAT(AppendRow(schema, {{"id", part * 3 + i - 2}, {"amount", amount}}, rows), IsOk());
    }
    ASSERT_THAT(dataset.Commit({.expected_version = dataset.version(), .new_rows = &rows}), IsOk());
  }
  const std::vector<RowAddress> deleted = {1};
  ASSERT_THAT(dataset.Commit({.expected_version = 3, .deleted = deleted}), IsOk());
  ASSERT_THAT(dataset.WidenColumn("id", TypeOf("int64"), 4, {{"p", "1"}}), IsOkAnd(5u));
  ASSERT_THAT(dataset.WidenColumn("amount", TypeOf("decimal(50,5)"), 5, {{"p", "2"}}), IsOkAnd(6u));
  Result<std::unique_ptr<Dataset>> opened = other->Open();
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ((*opened)->schema().columns[0].type, TypeOf("int64"));
  EXPECT_EQ((*opened)->schema().columns[0].name, "id");
  EXPECT_EQ((*opened)->schema().columns[1].type, TypeOf("decimal(50,5)"));
  EXPECT_THAT((*opened)->schema().key, ElementsAre(0));
  EXPECT_EQ(Scan(**opened),
            (std::map<RowAddress, int64_t>{
                {0, -2}, {2, 0}, {1ull << 32, 1}, {1ull << 32 | 1, 2}, {1ull << 32 | 2, 3}}));
  const Result<Rows> rows = (*opened)->Take(std::vector<RowAddress>{0, 1, 2}, {});
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->columns[0].Fixed<int64_t>(1), -1) << "a deleted row of a kept fragment";
  EXPECT_EQ(std::get<Decimal>(ReadValue(rows->columns[1], 0).held).text, "-12.50000");
  EXPECT_TRUE(rows->columns[1].IsNull(1));
  EXPECT_EQ((*opened)->Describe(5)->properties, (Properties{{"p", "1"}}));
  EXPECT_EQ((*opened)->Describe(6)->properties, (Properties{{"p", "2"}}));
}

TEST_P(DatasetContractTest, RestoreBringsContentBackAndNeverAnOldFragmentId) {
  ASSERT_THAT(Commit(RowsOf(0, 2), {}, {{"p", "2"}}), IsOk());
  ASSERT_THAT(Commit(RowsOf(2, 2), {0}), IsOk());
  ASSERT_THAT(x_dataset->Restore(2, 3, {{"p", "restored"}}), IsOkAnd(4u));
  EXPECT_EQ(Scan(*x_dataset), (std::map<RowAddress, int64_t>{{0, 0}, {1, 1}}));
  const Result<VersionInfo> info = x_dataset->Describe(4);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->operation, "Restore");
  EXPECT_EQ(info->restored_version, 2u);
  EXPECT_EQ(info->properties, (Properties{{"p", "restored"}}));
  EXPECT_EQ(x_dataset->Describe(2)->properties, (Properties{{"p", "2"}}));
  const Result<CommitReceipt> next = Commit(RowsOf(9, 1), {1});
  ASSERT_THAT(next, IsOk());
  EXPECT_GT(next->new_fragments[0].id, 1u);
  EXPECT_THAT(x_dataset->Restore(77, 5, {}), IsError(ErrorKind::kUsage));
}

TEST_P(DatasetContractTest, CleanupRemovesOldVersionsOnly) {
  for (int64_t i = 0; i < 5; ++i) ASSERT_THAT(Commit(RowsOf(i, 1)), IsOk());
  ASSERT_THAT(Commit(RowsOf(0, 0), {0}), IsOk());
  const std::map<RowAddress, int64_t> before = Scan(*x_dataset);
  const Result<uint64_t> freed = x_dataset->Cleanup(6);
  ASSERT_THAT(freed, IsOk());
  EXPECT_GT(*freed, 0u);
  EXPECT_THAT(x_dataset->Versions(), IsOkAnd(ElementsAre(6, 7)));
  EXPECT_EQ(Scan(*x_dataset), before);
  EXPECT_THAT(x_dataset->Cleanup(100), IsOk());
  EXPECT_THAT(x_dataset->Versions(), IsOkAnd(ElementsAre(7)));
  EXPECT_EQ(Scan(*OpenAgain()), before);
  EXPECT_THAT(Commit(RowsOf(9, 1)), IsOk());
}

TEST_P(DatasetContractTest, SomeFragmentsAloneAreScanned) {
  for (int64_t i = 0; i < 4; ++i) ASSERT_THAT(Commit(RowsOf(10 * i, 3)), IsOk());
  ASSERT_THAT(Commit(RowsOf(0, 0), {2ull << 32}), IsOk());
  std::vector<RowAddress> seen;
  const ScanSink sink = [&](const Rows&, std::span<const RowAddress> addresses) -> Status {
    seen.insert(seen.end(), addresses.begin(), addresses.end());
    return Ok{};
  };
  ASSERT_THAT(x_dataset->ScanFragments({"id"}, std::vector<uint64_t>{1, 2}, sink), IsOk());
  EXPECT_THAT(seen, ElementsAre(1ull << 32, 1ull << 32 | 1, 1ull << 32 | 2, 2ull << 32 | 1,
                                2ull << 32 | 2));
  EXPECT_THAT(x_dataset->ScanFragments({"id"}, std::vector<uint64_t>{7}, sink),
              IsError(ErrorKind::kInternal));
}

TEST_P(DatasetContractTest, ASinkMayStopAScan) {
  ASSERT_THAT(Commit(RowsOf(0, 3)), IsOk());
  const Status status = x_dataset->Scan({}, [](const Rows&, auto) -> Status {
    return Error{ErrorKind::kTypeMismatch, "enough"};
  });
  EXPECT_THAT(status, IsError(ErrorKind::kTypeMismatch));
  EXPECT_THAT(x_dataset->Scan({"no such column"}, [](const Rows&, auto) { return Ok{}; }),
              IsError(ErrorKind::kInternal));
}

TEST_P(DatasetContractTest, CountersCountWhatWasDone) {
  ASSERT_THAT(Commit(RowsOf(0, 3)), IsOk());
  Scan(*x_dataset);
  ASSERT_THAT(x_dataset->Take(std::vector<RowAddress>{0, 1}, {}), IsOk());
  const IoCounters counters = x_dataset->counters();
  EXPECT_EQ(counters.commits, 1u);
  EXPECT_EQ(counters.scans, 1u);
  EXPECT_EQ(counters.rows_taken, 2u);
  EXPECT_EQ(counters.rows_written, 3u);
  EXPECT_GT(counters.bytes_written, 0u);
}

// Nested values as text, to be compared.
std::string ToText(const Value& value) {
  if (const auto* list = std::get_if<List>(&value.held)) {
    std::string text = "[";
    for (const Value& element : *list) text += ToText(element) + ",";
    return text + "]";
  }
  if (value.is_null()) return "NULL";
  if (const auto* text = std::get_if<std::string>(&value.held)) return "'" + *text + "'";
  if (const auto* bytes = std::get_if<Bytes>(&value.held)) return "x" + bytes->bytes;
  if (const auto* decimal = std::get_if<Decimal>(&value.held)) return decimal->text;
  if (const auto* number = std::get_if<double>(&value.held)) return Message("{}f", *number);
  if (const auto* number = std::get_if<uint64_t>(&value.held)) return Message("{}", *number);
  if (const auto* number = std::get_if<int64_t>(&value.held)) return Message("{}", *number);
  return std::get<bool>(value.held) ? "true" : "false";
}

struct TypeCase {
  const char* type;
  std::vector<Value> values;
};

// Limits and oddities of every type; NULL is added between them.
std::vector<TypeCase> TypeCases() {
  const List words = {Value("a"), Value(), Value("")};
  return {
      {"bool", {true, false, true}},
      {"int8", {-128, 127}},
      {"int16", {-32768, 32767}},
      {"int32", {INT32_MIN, INT32_MAX}},
      {"int64", {INT64_MIN, INT64_MAX, 0}},
      {"uint8", {0, 255}},
      {"uint16", {65535}},
      {"uint32", {uint64_t{UINT32_MAX}}},
      {"uint64", {UINT64_MAX, uint64_t{0}}},
      {"float32", {1.5, -0.0}},
      {"float64", {1e308, -1e-308, 0.1}},
      {"decimal(38,10)",
       {Decimal{"1234567890123456789012345678.0123456789"}, Decimal{"-0.0000000001"}}},
      {"decimal(50,5)",
       {Decimal{"-123456789012345678901234567890123456789012345.12345"}, Decimal{"0.00001"}}},
      {"string", {"", "plain", "äöü \xf0\x9f\xa6\x80", std::string(100'000, 'x')}},
      {"bytes", {Bytes{""}, Bytes{std::string("\x00\xff\xfe", 3)}}},
      {"date", {INT32_MIN, -719'162, -1, 0, 2'932'896}},
      {"time_us", {0, int64_t{86'400'000'000}, 1}},
      {"timestamp_us", {-1, int64_t{-62'135'596'800'000'000}, INT64_MAX}},
      {"timestamptz_us", {-1, int64_t{253'402'300'799'999'999}}},
      {"uuid", {"00112233-4455-6677-8899-aabbccddeeff"}},
      {"json", {"{\"a\": [1, null]}", "3"}},
      {"list<string>", {words, List{}, List{Value("z")}}},
      {"list<int64>", {List{}, List{Value(INT64_MIN)}}},
      {"list<list<int32>>", {List{Value(List{}), Value(List{Value(1), Value()})}, List{}}},
      {"list<decimal(12,2)>", {List{Value(Decimal{"1.25"})}}},
      {"list<bool>", {List{Value(true), Value(false), Value()}}},
      {"list<json>", {List{Value("{\"a\": 1}"), Value()}}},
      {"vector(3)", {List{Value(1.5), Value(-2.0), Value(0.0)}}},
  };
}

TEST_P(DatasetContractTest, EveryTypeComesBackWithItsNullsAndLimits) {
  Schema schema{.columns = {{.name = "id", .type = TypeOf("int64"), .nullable = false}},
                .key = {0},
                .nullable_key = {false}};
  const std::vector<TypeCase> cases = TypeCases();
  uint64_t rows_wanted = 1;
  for (const TypeCase& type : cases) {
    schema.columns.push_back(
        {.name = Message("c_{}", schema.columns.size()), .type = TypeOf(type.type)});
    rows_wanted = std::max<uint64_t>(rows_wanted, 2 * type.values.size() + 1);
  }
  const auto value_of = [&](size_t column, uint64_t row) {
    const std::vector<Value>& values = cases[column].values;
    return row % 2 == 0 || row / 2 >= values.size() ? Value() : values[row / 2];
  };
  Rows written(schema);
  for (uint64_t row = 0; row < rows_wanted; ++row) {
    written.columns[0].AppendFixed(static_cast<int64_t>(row));
    for (size_t i = 0; i < cases.size(); ++i) {
      ASSERT_THAT(AppendValue(value_of(i, row), written.columns[i + 1]), IsOk()) << cases[i].type;
    }
  }
  const std::unique_ptr<Backend> other = GetParam().make();
  Result<std::unique_ptr<Dataset>> created = other->Create(schema, {});
  ASSERT_THAT(created, IsOk());
  ASSERT_THAT((*created)->Commit({.expected_version = 1, .new_rows = &written}), IsOk());
  Result<std::unique_ptr<Dataset>> opened = other->Open();
  ASSERT_THAT(opened, IsOk());
  const Schema& stored = (*opened)->schema();
  ASSERT_THAT(stored.columns, SizeIs(schema.columns.size()));
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    EXPECT_EQ(stored.columns[i].type, schema.columns[i].type) << ToString(schema.columns[i].type);
  }
  const auto expect_equal = [&](const Rows& found, uint64_t row, uint64_t original) {
    for (size_t i = 0; i < found.columns.size(); ++i) {
      const ColumnData& in = written.columns[i];
      const std::string type = ToString(in.type());
      ASSERT_EQ(found.columns[i].IsNull(row), in.IsNull(original)) << type << " row " << original;
      Rows one_in, one_out;
      one_in.columns.emplace_back(in.type()).AppendFrom(in, original);
      one_out.columns.emplace_back(in.type()).AppendFrom(found.columns[i], row);
      EXPECT_EQ(one_in.columns[0].raw_bytes(), one_out.columns[0].raw_bytes()) << type;
      EXPECT_EQ(one_in.columns[0].offsets(), one_out.columns[0].offsets()) << type;
      EXPECT_EQ(ToText(ReadValue(in, original)), ToText(ReadValue(found.columns[i], row))) << type;
    }
  };
  uint64_t seen = 0;
  const Status status = (*opened)->Scan({}, [&](const Rows& found, auto) -> Status {
    for (uint64_t row = 0; row < found.size(); ++row) expect_equal(found, row, seen++);
    return Ok{};
  });
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(seen, rows_wanted);
  const std::vector<RowAddress> asked = {3, 0, 5, 3};
  const Result<Rows> taken = (*opened)->Take(asked, {});
  ASSERT_THAT(taken, IsOk());
  for (uint64_t row = 0; row < asked.size(); ++row) expect_equal(*taken, row, asked[row]);
}

}  // namespace
}  // namespace lastword
