// Which rounds go on side by side, and when one is given out, over a double whose rounds take as
// many waits as the test says.
#include "commit/rewrites.h"

#include <gtest/gtest.h>

#include "test/double/memory_dataset.h"

namespace lastword {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNow{0};
constexpr uint64_t kLongRows = 40'000;
constexpr uint64_t kMemory = 64 << 20;

class RewritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Schema schema;
    schema.columns = {{"id", {TypeKind::kInt64}}};
    schema.key = {0};
    schema.nullable_key = {false};
    auto created = x_store.Create("memory://t", schema, {});
    ASSERT_TRUE(created.ok());
    x_table = std::move(*created);
    x_policy.fragments = 2;
  }

  void Append(uint64_t rows, std::vector<RowAddress> deleted = {}) {
    Rows added(x_table->schema());
    for (uint64_t i = 0; i < rows; ++i) added.columns[0].AppendFixed(x_next++);
    CommitRequest request;
    request.expected_version = x_table->version();
    request.new_rows = &added;
    request.deleted = deleted;
    request.transaction_id = std::to_string(request.expected_version);
    ASSERT_TRUE(x_table->Commit(request).ok());
  }

  void Begin() { ASSERT_TRUE(x_rewrites->Begin(*x_table, x_policy).ok()); }

  MemoryStore x_store;
  std::unique_ptr<Dataset> x_table;
  CompactionPolicy x_policy;
  std::unique_ptr<Rewrites> x_rewrites = std::make_unique<Rewrites>(kMemory);
  int64_t x_next = 0;
};

TEST_F(RewritesTest, ARoundIsGivenOutOnceItIsWritten) {
  x_store.SetCompactionWaits(2);
  Append(10);
  Begin();
  EXPECT_FALSE(x_rewrites->any()) << "one fragment";
  Append(10);
  Begin();
  EXPECT_TRUE(x_rewrites->any());
  EXPECT_EQ(x_rewrites->oldest_read(), x_table->version());
  EXPECT_FALSE(x_rewrites->TakeWritten(*x_table, kNow).has_value());
  EXPECT_FALSE(x_rewrites->TakeWritten(*x_table, kNow).has_value());
  const auto written = x_rewrites->TakeWritten(*x_table, kNow);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->fragments, (std::vector<uint64_t>{0, 1}));
  EXPECT_FALSE(x_rewrites->any());
  EXPECT_EQ(x_rewrites->oldest_read(), UINT64_MAX);
}

TEST_F(RewritesTest, AShortOneGoesOnBesideALongOne) {
  x_store.SetCompactionWaits(5);
  Append(kLongRows);
  Append(kLongRows);
  Begin();
  EXPECT_TRUE(x_rewrites->has_long());
  Append(10);
  Append(10);
  Begin();
  // Neither place is free: what comes waits for one.
  Append(kLongRows);
  Append(kLongRows);
  Append(10);
  Append(10);
  Begin();
  std::vector<std::vector<uint64_t>> given;
  while (x_rewrites->any()) {
    const auto written = x_rewrites->TakeWritten(*x_table, Rewrites::kForever);
    ASSERT_TRUE(written.has_value());
    given.push_back(written->fragments);
  }
  EXPECT_EQ(given, (std::vector<std::vector<uint64_t>>{{0, 1}, {2, 3}}));
}

TEST_F(RewritesTest, FewRowsThatHoldMuchAreALongRound) {
  x_store.SetCompactionWaits(1);
  x_rewrites = std::make_unique<Rewrites>(8 * 10 * 8);  // rows of eight bytes: ten are short
  Append(5);
  Append(5);
  Begin();
  EXPECT_TRUE(x_rewrites->any());
  EXPECT_FALSE(x_rewrites->has_long());
  x_rewrites = std::make_unique<Rewrites>(8 * 10 * 8 - 8);
  Begin();
  EXPECT_TRUE(x_rewrites->has_long());
}

TEST_F(RewritesTest, OnlyTheShortOneIsWaitedFor) {
  x_store.SetCompactionWaits(1);
  Append(kLongRows);
  Append(kLongRows);
  Begin();
  EXPECT_FALSE(x_rewrites->TakeWritten(*x_table, milliseconds(50)).has_value());
  EXPECT_TRUE(x_rewrites->TakeWritten(*x_table, milliseconds(50)).has_value());
}

TEST_F(RewritesTest, ARoundWhoseRowsAreAllGoneIsDropped) {
  x_store.SetCompactionWaits(9);
  Append(2);
  Append(2);
  Begin();
  ASSERT_TRUE(x_rewrites->any());
  Append(1, {0, 1});
  EXPECT_FALSE(x_rewrites->TakeWritten(*x_table, kNow).has_value());
  EXPECT_FALSE(x_rewrites->any());
}

TEST_F(RewritesTest, NothingOfWhatIsDroppedComesBack) {
  Append(2);
  Append(2);
  Begin();
  x_rewrites->Drop();
  EXPECT_FALSE(x_rewrites->TakeWritten(*x_table, Rewrites::kForever).has_value());
}

}  // namespace
}  // namespace lastword
