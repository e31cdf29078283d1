// How far memory bounds a round, on rows that are narrow, wide, and larger than they look on disk.
#include "commit/compaction_round.h"

#include <gtest/gtest.h>

#include "test/double/memory_dataset.h"

namespace lastword {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kRowsOfOne = 1000;  // a fragment
constexpr int kFragments = 8;

Schema TextSchema() {
  Schema schema;
  schema.columns = {{"id", {TypeKind::kInt64}}, {"text", {TypeKind::kString}}};
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

// Eight fragments whose text has `text_bytes` a row.
std::unique_ptr<Dataset> TableOf(MemoryStore& store, size_t text_bytes) {
  auto created = store.Create("memory://t", TextSchema(), {});
  EXPECT_TRUE(created.ok());
  for (int i = 0; i < kFragments; ++i) {
    Rows rows(TextSchema());
    for (uint64_t row = 0; row < kRowsOfOne; ++row) {
      rows.columns[0].AppendFixed(static_cast<int64_t>(row));
      rows.columns[1].AppendBytes(std::string(text_bytes, 'x'));
    }
    CommitRequest request;
    request.expected_version = (*created)->version();
    request.new_rows = &rows;
    request.transaction_id = std::to_string(i);
    EXPECT_TRUE((*created)->Commit(request).ok());
  }
  return std::move(*created);
}

TEST(CompactionRound, RowsAreHeldUntilTheyFillAPage) {
  const std::vector<double> narrow = {8, 8}, wide(1000, 8.0);
  EXPECT_EQ(RowsHeldWithin(narrow, 16 * kMiB), UINT64_MAX);  // a page of each
  EXPECT_NEAR(static_cast<double>(RowsHeldWithin(narrow, 8 * kMiB)), 8.0 * kMiB / 16, 1);
  EXPECT_NEAR(static_cast<double>(RowsHeldWithin(wide, 16 * kMiB)), 16.0 * kMiB / 8000, 1);
  // Long texts fill pages early, and count as one: the rest is for the numbers.
  const std::vector<double> text = {8, 10'000};
  EXPECT_NEAR(static_cast<double>(RowsHeldWithin(text, 12 * kMiB)), 4.0 * kMiB / 8, 1);
  EXPECT_EQ(RowsHeldWithin(std::vector<double>{1e9, 1e9}, kMiB), 1u);
}

TEST(CompactionRound, WidthsAreThoseOfDecodedRows) {
  MemoryStore store;
  const auto table = TableOf(store, 300);
  const auto widths = SampleWidths(*table, table->fragments(), kMiB);
  ASSERT_TRUE(widths.ok());
  EXPECT_DOUBLE_EQ(widths->at(0), 8);
  EXPECT_NEAR(widths->at(1), 308, 10);  // with its offset
}

TEST(CompactionRound, ASampleOfHugeRowsIsOneRow) {
  MemoryStore store;
  const auto table = TableOf(store, 5000);
  const uint64_t before = table->counters().rows_taken;
  ASSERT_TRUE(SampleWidths(*table, table->fragments(), 4096).ok());
  EXPECT_EQ(table->counters().rows_taken - before, 1u);
}

TEST(CompactionRound, LongRowsAreReadFewAtATime) {
  for (const size_t text_bytes : {10, 1500}) {
    MemoryStore store;
    const auto table = TableOf(store, text_bytes);
    const auto round =
        CompactionRounds(16 * kMiB).Next(*table, table->fragments(), CompactionPolicy());
    ASSERT_TRUE(round.ok() && round->has_value());
    EXPECT_EQ((*round)->request.fragments.size(), static_cast<size_t>(kFragments));
    const double row = static_cast<double>(text_bytes) + 16;
    EXPECT_NEAR(static_cast<double>((*round)->request.batch_rows),
                std::min(8192.0, 16.0 * kMiB / 32 / row), 8192 / row);
  }
}

TEST(CompactionRound, MoreRowsThanAllowedAreNotDue) {
  MemoryStore store;
  const auto table = TableOf(store, 10);
  const uint64_t rows = kFragments * kRowsOfOne;
  CompactionRounds rounds(16 * kMiB);
  const CompactionPolicy policy;
  EXPECT_FALSE((*rounds.Next(*table, table->fragments(), policy, rows - 1)).has_value());
  EXPECT_TRUE((*rounds.Next(*table, table->fragments(), policy, rows)).has_value());
}

// What was just written need not be read to know how large its rows are.
TEST(CompactionRound, KnownRowsAreNotRead) {
  MemoryStore store;
  const auto table = TableOf(store, 300);
  CompactionRounds rounds(16 * kMiB);
  const RowWidths widths = *SampleWidths(*table, table->fragments(), kMiB);
  const uint64_t before = table->counters().rows_taken;
  auto known = table->fragments();
  known.pop_back();
  rounds.Wrote(known, {8, 100});
  // The last one was written by others, and counts by its rows.
  auto round = rounds.Next(*table, table->fragments(), CompactionPolicy());
  ASSERT_TRUE(round.ok() && round->has_value());
  EXPECT_NEAR((*round)->widths[1], (100.0 * (kFragments - 1) + widths[1]) / kFragments, 1e-6);
  EXPECT_GT(table->counters().rows_taken, before);
  const uint64_t after = table->counters().rows_taken;
  ASSERT_TRUE(rounds.Next(*table, table->fragments(), CompactionPolicy())->has_value());
  EXPECT_EQ(table->counters().rows_taken, after);
}

TEST(CompactionRound, WidthsOfOtherColumnsAreForgotten) {
  MemoryStore store;
  const auto table = TableOf(store, 10);
  CompactionRounds rounds(16 * kMiB);
  rounds.Wrote(table->fragments(), {8});
  const auto round = rounds.Next(*table, table->fragments(), CompactionPolicy());
  ASSERT_TRUE(round.ok() && round->has_value());
  EXPECT_EQ((*round)->widths.size(), 2u);
}

TEST(CompactionRound, WidthsOfRowsInMemoryAreThoseOfASample) {
  MemoryStore store;
  const auto table = TableOf(store, 300);
  Rows rows(TextSchema());
  rows.columns[0].AppendFixed(int64_t{1});
  rows.columns[1].AppendBytes(std::string(300, 'x'));
  EXPECT_NEAR(WidthsOf(rows)[1], (*SampleWidths(*table, table->fragments(), kMiB))[1], 10);
}

}  // namespace
}  // namespace lastword
