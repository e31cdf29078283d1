// The part of dataset.h's contract that is about compaction: rows keep their order, what commits do
// beside it is not lost, and indexes stay.
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <set>

#include "test/double/dataset_contract.h"

namespace lastword {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CompactionContractTest : public DatasetContractTest {};

INSTANTIATE_TEST_SUITE_P(Backends, CompactionContractTest, testing::ValuesIn(kBackends),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(CompactionContractTest, KeepsRowsInOrderAndCarriesProperties) {
  std::vector<uint64_t> ids;
  for (int64_t i = 0; i < 4; ++i) {
    const Result<CommitReceipt> receipt = Commit(RowsOf(i * 10, 10));
    ASSERT_THAT(receipt, IsOk());
    ids.push_back(receipt->new_fragments[0].id);
  }
  ASSERT_THAT(Commit(RowsOf(0, 0), {ids[0] << 32 | 2, ids[2] << 32 | 9}), IsOk());
  const Result<CompactionReceipt> receipt = x_dataset->Compact(
      {.fragments = {ids[0], ids[2]}}, x_dataset->version(), {{"lastword.positions", "p"}});
  ASSERT_THAT(receipt, IsOk());
  EXPECT_EQ(receipt->version, 7u);
  EXPECT_EQ(receipt->version, x_dataset->version());
  EXPECT_THAT(receipt->removed_fragments, ElementsAre(ids[0], ids[2]));
  ASSERT_THAT(receipt->new_fragments, SizeIs(1));
  const Fragment made = receipt->new_fragments[0];
  EXPECT_EQ(made.physical_rows, 18u);
  EXPECT_EQ(made.deleted_rows, 0u);
  std::map<RowAddress, int64_t> expected;
  for (int64_t i = 0; i < 10; ++i) {
    expected[ids[1] << 32 | static_cast<uint64_t>(i)] = 10 + i;
    expected[ids[3] << 32 | static_cast<uint64_t>(i)] = 30 + i;
  }
  RowAddress address = made.id << 32;
  for (int64_t id = 0; id < 30; ++id) {
    if (id == 2 || id == 29 || (id >= 10 && id < 20)) continue;
    expected[address++] = id;
  }
  EXPECT_EQ(Scan(*x_dataset), expected);
  const std::unique_ptr<Dataset> opened = OpenAgain();
  EXPECT_EQ(Scan(*opened), expected);
  const Result<VersionInfo> info = opened->Describe(receipt->version);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->operation, "Rewrite");
  EXPECT_EQ(info->properties, (Properties{{"lastword.positions", "p"}}));
  // Addresses still hold for the next commit, in every fragment.
  ASSERT_THAT(Commit(RowsOf(100, 1), {made.id << 32 | 0, ids[1] << 32 | 0}), IsOk());
  EXPECT_EQ(x_dataset->count_rows(), 37u);
}

TEST_P(CompactionContractTest, CutsAtTheTargetAndSpreadsTheRest) {
  ASSERT_THAT(Commit(RowsOf(0, 60)), IsOk());
  ASSERT_THAT(Commit(RowsOf(60, 40)), IsOk());
  const Result<CompactionReceipt> receipt =
      x_dataset->Compact({.fragments = {0, 1}, .target_rows = 30}, 3, {});
  ASSERT_THAT(receipt, IsOk());
  std::vector<uint64_t> sizes;
  for (const Fragment& fragment : receipt->new_fragments) sizes.push_back(fragment.physical_rows);
  EXPECT_THAT(sizes, ElementsAre(34, 33, 33));
  int64_t next = 0;
  for (const auto& [address, id] : Scan(*x_dataset)) EXPECT_EQ(id, next++);
  EXPECT_EQ(next, 100);
}

TEST_P(CompactionContractTest, TakesOverWhatWasDeletedMeanwhile) {
  ASSERT_THAT(Commit(RowsOf(0, 60)), IsOk());
  ASSERT_THAT(Commit(RowsOf(60, 40)), IsOk());
  ASSERT_THAT(Commit(RowsOf(0, 0), {5, 6, 1ull << 32 | 39}), IsOk());
  auto running = x_dataset->BeginCompaction({.fragments = {0, 1}, .target_rows = 30});
  ASSERT_THAT(running, IsOk());
  // Before, between and behind the rows that were gone already, and a new fragment.
  ASSERT_THAT(Commit(RowsOf(100, 10), {0, 4, 7, 59}), IsOk());
  ASSERT_THAT(Commit(RowsOf(0, 0), {1ull << 32 | 0, 1ull << 32 | 38, 2ull << 32 | 3}), IsOk());
  while (!(*running)->Wait(std::chrono::milliseconds(10))) {
  }
  const auto receipt =
      x_dataset->FinishCompaction(std::move(*running), x_dataset->version(), {{"p", "1"}});
  ASSERT_THAT(receipt, IsOk());
  ASSERT_THAT(receipt->new_fragments, SizeIs(3));
  std::map<RowAddress, int64_t> expected;
  for (int64_t i = 0; i < 10; ++i) {
    if (i != 3) expected[2ull << 32 | static_cast<uint64_t>(i)] = 100 + i;
  }
  int64_t id = 0;
  const std::set<int64_t> read_as_deleted = {5, 6, 99}, deleted_since = {0, 4, 7, 59, 60, 98};
  for (const Fragment& fragment : receipt->new_fragments) {
    for (uint64_t row = 0; row < fragment.physical_rows; ++row, ++id) {
      while (read_as_deleted.contains(id)) ++id;
      if (!deleted_since.contains(id)) expected[fragment.id << 32 | row] = id;
    }
  }
  EXPECT_EQ(Scan(*x_dataset), expected);
  const std::unique_ptr<Dataset> opened = OpenAgain();
  EXPECT_EQ(Scan(*opened), expected);
  EXPECT_EQ(opened->count_rows(), expected.size());
  // The next deletion builds upon these.
  const RowAddress first = receipt->new_fragments[0].id << 32;
  EXPECT_THAT(Commit(RowsOf(0, 0), {first}), IsError(ErrorKind::kInternal));
  ASSERT_THAT(Commit(RowsOf(0, 0), {first | 1}), IsOk());
  expected.erase(first | 1);
  EXPECT_EQ(Scan(*x_dataset), expected);
}

TEST_P(CompactionContractTest, OfWhatWasRestoredOrIsGoneIsAConflict) {
  ASSERT_THAT(Commit(RowsOf(0, 10)), IsOk());
  ASSERT_THAT(Commit(RowsOf(10, 10)), IsOk());
  ASSERT_THAT(Commit(RowsOf(0, 0), {1, 2}), IsOk());
  auto running = x_dataset->BeginCompaction({.fragments = {0, 1}});
  ASSERT_THAT(running, IsOk());
  ASSERT_THAT(x_dataset->Restore(3, 4, {}), IsOk());  // the two rows live again
  EXPECT_THAT(x_dataset->FinishCompaction(std::move(*running), 5, {}),
              IsError(ErrorKind::kCommitConflict));
  running = x_dataset->BeginCompaction({.fragments = {0, 1}});
  ASSERT_THAT(running, IsOk());
  std::vector<RowAddress> all;
  for (uint64_t row = 0; row < 10; ++row) all.push_back(row);
  ASSERT_THAT(Commit(RowsOf(0, 0), all), IsOk());
  EXPECT_THAT(x_dataset->FinishCompaction(std::move(*running), 6, {}),
              IsError(ErrorKind::kCommitConflict));
  running = x_dataset->BeginCompaction({.fragments = {1}});
  ASSERT_THAT(running, IsOk());
  running->reset();  // not wanted any more
  EXPECT_EQ(Scan(*x_dataset).size(), 10u);
}

TEST_P(CompactionContractTest, IndexesSurviveCommitsAndCompactionAndNotWidening) {
  const std::unique_ptr<Backend> other = GetParam().make();
  const Schema schema{.columns = {{.name = "id", .type = TypeOf("int32"), .nullable = false}},
                      .key = {0},
                      .nullable_key = {false}};
  Result<std::unique_ptr<Dataset>> created = other->Create(schema, {});
  ASSERT_THAT(created, IsOk());
  Dataset& dataset = **created;
  EXPECT_THAT(dataset.Indexes(), IsOkAnd(IsEmpty()));
  Rows rows(schema);
  for (int32_t id = 0; id < 50; ++id) rows.columns[0].AppendFixed(id);
  for (int part = 0; part < 3; ++part) {
    ASSERT_THAT(dataset.Commit({.expected_version = dataset.version(), .new_rows = &rows}), IsOk());
  }
  ASSERT_THAT(dataset.CreateIndex("id", "btree", 4, {{"p", "index"}}), IsOkAnd(5u));
  EXPECT_EQ(dataset.Describe(5)->operation, "CreateIndex");
  EXPECT_EQ(dataset.Describe(5)->properties, (Properties{{"p", "index"}}));
  EXPECT_THAT(dataset.CreateIndex("id", "no such kind", 5, {}), IsError(ErrorKind::kInternal));
  EXPECT_THAT(dataset.CreateIndex("id", "btree", 4, {}), IsError(ErrorKind::kInternal));
  const std::vector<RowAddress> deleted = {7, 1ull << 32};
  ASSERT_THAT(dataset.Commit({.expected_version = 5, .new_rows = &rows, .deleted = deleted}),
              IsOk());
  const std::vector<Fragment> fragments = dataset.fragments();
  ASSERT_THAT(fragments, SizeIs(4));
  EXPECT_EQ(fragments[0].index_set, fragments[2].index_set);
  EXPECT_NE(fragments[0].index_set, 0u);
  EXPECT_EQ(fragments[3].index_set, 0u) << "the index was trained before its rows came";
  EXPECT_GT(fragments[3].bytes, 0u);
  EXPECT_EQ((*dataset.Indexes())[0].unindexed_rows, 50u);
  const Result<CompactionReceipt> compacted =
      dataset.Compact({.fragments = {0, 1, 2}}, 6, {{"p", "compacted"}});
  ASSERT_THAT(compacted, IsOk());
  ASSERT_THAT(compacted->new_fragments, SizeIs(1));
  EXPECT_EQ(compacted->new_fragments[0].physical_rows, 148u);
  for (uint64_t version = 7; version <= compacted->version; ++version) {
    EXPECT_EQ(dataset.Describe(version)->properties, (Properties{{"p", "compacted"}}));
  }
  const std::map<RowAddress, int32_t> found = [&] {
    std::map<RowAddress, int32_t> ids;
    EXPECT_THAT(dataset.Scan({"id"},
                             [&](const Rows& read, auto addresses) -> Status {
                               for (uint64_t row = 0; row < read.size(); ++row) {
                                 ids[addresses[row]] = read.columns[0].Fixed<int32_t>(row);
                               }
                               return Ok{};
                             }),
                IsOk());
    return ids;
  }();
  EXPECT_THAT(found, SizeIs(198));
  EXPECT_EQ(found.at(compacted->new_fragments[0].id << 32 | 49), 1);
  Result<std::unique_ptr<Dataset>> opened = other->Open();
  ASSERT_THAT(opened, IsOk());
  Result<std::vector<Index>> indexes = (*opened)->Indexes();
  ASSERT_THAT(indexes, IsOkAnd(SizeIs(1)));
  EXPECT_EQ((*indexes)[0].column, "id");
  EXPECT_EQ((*indexes)[0].unindexed_rows, 50u) << "compacted rows stay in it";
  const uint64_t before = compacted->version;
  ASSERT_THAT((*opened)->ExtendIndex("id_idx", before, {{"p", "extended"}}), IsOkAnd(before + 1));
  EXPECT_EQ((*opened)->Describe(before + 1)->properties, (Properties{{"p", "extended"}}));
  indexes = (*opened)->Indexes();
  ASSERT_THAT(indexes, IsOkAnd(SizeIs(1)));
  EXPECT_EQ((*indexes)[0].unindexed_rows, 0u);
  EXPECT_EQ((*opened)->fragments()[0].index_set, (*opened)->fragments()[1].index_set);
  EXPECT_THAT((*opened)->ExtendIndex("id_idx", before, {}), IsError(ErrorKind::kInternal));
  ASSERT_THAT((*opened)->WidenColumn("id", TypeOf("int64"), before + 1, {}), IsOk());
  EXPECT_THAT((*opened)->Indexes(), IsOkAnd(IsEmpty()));
}

}  // namespace
}  // namespace lastword
