// Where the key index of a table lies, what moves it, and when a kept one is used again.
#include "commit/table_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include "base/random.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

using Model = std::map<KeyHash, KeyEntry>;

KeyEntry LiveEntry(Random& random) {
  KeyEntry entry;
  entry.key = {random.Next(), random.Next()};
  entry.hi = random.Below(1 << 30);
  entry.digest = random.Next();
  entry.address = random.Below(1ull << 40);
  entry.status = KeyStatus::kLive;
  return entry;
}

KeyEntry ExtraOf(const KeyEntry& live, uint16_t delete_input) {
  KeyEntry extra;
  extra.key = live.key;
  extra.has_extra = true;
  extra.delete_input = delete_input;
  return extra;
}

Model ContentOf(const KeyIndex& index) {
  Model content;
  index.ForEach([&](const KeyEntry& entry) { content.emplace(entry.key, entry); });
  return content;
}

class TableIndexTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(x_folder); }
  void TearDown() override { std::filesystem::remove_all(x_folder); }

  // Loads `entries` into an index with this much memory, on several threads.
  std::unique_ptr<TableIndex> Loaded(uint64_t memory_bytes, const std::vector<KeyEntry>& entries,
                                     std::optional<KeyEntry>& contradicted) {
    auto index = std::make_unique<TableIndex>(memory_bytes, x_folder, false);
    const auto kept = index->Open("none", entries.size());
    EXPECT_THAT(kept, IsOk());
    EXPECT_FALSE(kept.ok() && *kept);
    std::atomic<size_t> next = 0;
    std::mutex finding;
    const auto load = [&] {
      for (size_t at = next.fetch_add(kBatch); at < entries.size(); at = next.fetch_add(kBatch)) {
        std::optional<KeyEntry> found;
        const auto batch = std::span(entries).subspan(at, std::min(kBatch, entries.size() - at));
        EXPECT_THAT(index->Load(batch, found), IsOk());
        const std::lock_guard lock(finding);
        if (found) contradicted = found;
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(load);
    for (std::thread& thread : threads) thread.join();
    if (contradicted) return index;
    EXPECT_THAT(index->FinishLoad(contradicted), IsOk());
    return index;
  }

  static constexpr uint64_t kPlenty = 1ull << 30;
  static constexpr size_t kBatch = 777;
  const std::string x_folder = testing::TempDir() + "table_index_test";
  Random x_random{11};
};

TEST_F(TableIndexTest, LoadsTheSameIntoBothKinds) {
  std::vector<KeyEntry> entries;
  Model model;
  for (int i = 0; i < 200'000; ++i) {
    KeyEntry entry = LiveEntry(x_random);
    entries.push_back(entry);
    if (x_random.OneIn(50)) {
      // Before its row or behind it.
      entries.insert(entries.end() - static_cast<ptrdiff_t>(x_random.Below(2)), ExtraOf(entry, 3));
      entry.has_extra = true;
      entry.delete_input = 3;
    }
    model[entry.key] = entry;
  }
  for (const uint64_t memory : {kPlenty, uint64_t{0}}) {
    std::optional<KeyEntry> contradicted;
    const auto index = Loaded(memory, entries, contradicted);
    EXPECT_FALSE(contradicted);
    EXPECT_EQ(index->in_memory(), memory == kPlenty);
    EXPECT_TRUE(ContentOf(*index) == model);
  }
}

TEST_F(TableIndexTest, TwoStatesOfAKeyAreFound) {
  for (const uint64_t memory : {kPlenty, uint64_t{0}}) {
    for (const bool of_ledger : {true, false}) {
      std::vector<KeyEntry> entries = {LiveEntry(x_random), LiveEntry(x_random)};
      KeyEntry second = entries[0];
      if (of_ledger) second.status = KeyStatus::kTombstone;
      entries.push_back(second);
      std::optional<KeyEntry> contradicted;
      Loaded(memory, entries, contradicted);
      ASSERT_TRUE(contradicted) << memory << of_ledger;
      EXPECT_EQ(contradicted->key, second.key);
    }
  }
}

TEST_F(TableIndexTest, TwoStatesAmongManyKeysAreFoundWhereverTheyCome) {
  std::vector<KeyEntry> entries;
  for (int i = 0; i < 100'000; ++i) entries.push_back(LiveEntry(x_random));
  for (const size_t at : {size_t{0}, entries.size() / 2, entries.size()}) {
    std::vector<KeyEntry> all = entries;
    KeyEntry second = entries[x_random.Below(1000)];
    second.address += 1;
    all.insert(all.begin() + static_cast<ptrdiff_t>(at), second);
    std::optional<KeyEntry> contradicted;
    Loaded(kPlenty, all, contradicted);
    ASSERT_TRUE(contradicted) << at;
    EXPECT_EQ(contradicted->key, second.key);
  }
}

TEST_F(TableIndexTest, AnExtraHasOneRow) {
  for (const uint64_t memory : {kPlenty, uint64_t{0}}) {
    const KeyEntry row = LiveEntry(x_random);
    KeyEntry other = row;
    other.address = 1;
    std::optional<KeyEntry> contradicted;
    Loaded(memory, {ExtraOf(row, 0), row, other}, contradicted);
    EXPECT_TRUE(contradicted);
  }
}

TEST_F(TableIndexTest, MovesOverBehindALoadOfMoreThanWasExpected) {
  TableIndex index(4 << 20, x_folder, false);
  ASSERT_THAT(index.Open("none", 1000), IsOk());
  std::vector<KeyEntry> entries;
  for (int i = 0; i < 100'000; ++i) entries.push_back(LiveEntry(x_random));
  std::optional<KeyEntry> contradicted;
  ASSERT_THAT(index.Load(entries, contradicted), IsOk());
  ASSERT_THAT(index.FinishLoad(contradicted), IsOk());
  EXPECT_FALSE(index.in_memory());
  EXPECT_EQ(ContentOf(index).size(), entries.size());
}

TEST_F(TableIndexTest, MovesOverWhenMemoryIsFull) {
  std::optional<KeyEntry> contradicted;
  const auto index = Loaded(4 << 20, {}, contradicted);
  Model model;
  uint64_t most = 0;
  while (index->in_memory()) {
    const KeyEntry entry = LiveEntry(x_random);
    most = std::max(most, index->bytes_held());
    index->Store(entry);
    model[entry.key] = entry;
    ASSERT_LT(model.size(), 100'000u);
  }
  EXPECT_LE(most, uint64_t{4} << 20);
  EXPECT_GT(model.size(), 40'000u) << "moved too early";
  EXPECT_TRUE(ContentOf(*index) == model);
  KeyEntry changed = model.begin()->second;
  changed.hi = 7;
  index->Store(changed);
  index->Erase(model.rbegin()->first);
  model[changed.key] = changed;
  model.erase(model.rbegin()->first);
  EXPECT_TRUE(ContentOf(*index) == model);
  EXPECT_THAT(index->Health(), IsOk());
}

TEST_F(TableIndexTest, WhereNothingCanBeWrittenItIsAnError) {
  TableIndex index(0, "/proc/lastword", false);
  index.Store(LiveEntry(x_random));
  EXPECT_FALSE(index.Health().ok());
}

class KeptIndexTest : public TableIndexTest {
 protected:
  void SetUp() override {
    TableIndexTest::SetUp();
    for (int i = 0; i < 3000; ++i) {
      const KeyEntry entry = LiveEntry(x_random);
      x_model[entry.key] = entry;
      x_entries.push_back(entry);
    }
    std::optional<KeyEntry> contradicted;
    const auto index = Loaded(0, x_entries, contradicted);
    ASSERT_THAT(index->Keep("state 1"), IsOk());
  }
  Model x_model;
  std::vector<KeyEntry> x_entries;
};

TEST_F(KeptIndexTest, IsUsedAgainForItsState) {
  TableIndex index(0, x_folder, false);
  const auto kept = index.Open("state 1", 3000);
  ASSERT_THAT(kept, IsOk());
  EXPECT_TRUE(*kept);
  EXPECT_TRUE(ContentOf(index) == x_model);
}

TEST_F(KeptIndexTest, IsNotUsedForAnother) {
  TableIndex index(0, x_folder, false);
  const auto kept = index.Open("state 2", 3000);
  ASSERT_THAT(kept, IsOk());
  EXPECT_FALSE(*kept);
  EXPECT_TRUE(ContentOf(index) == Model{});
}

TEST_F(KeptIndexTest, ServesAReaderThatWritesNothing) {
  {
    TableIndex reader(0, x_folder, true);
    const auto kept = reader.Open("state 1", 3000);
    ASSERT_THAT(kept, IsOk());
    EXPECT_TRUE(*kept);
    EXPECT_TRUE(ContentOf(reader) == x_model);
    // Another state: of its own, elsewhere.
    const auto other = reader.Open("state 2", 3000);
    ASSERT_THAT(other, IsOk());
    EXPECT_FALSE(*other);
    std::optional<KeyEntry> contradicted;
    ASSERT_THAT(reader.Load({x_entries.data(), 1}, contradicted), IsOk());
    ASSERT_THAT(reader.FinishLoad(contradicted), IsOk());
    EXPECT_EQ(ContentOf(reader).size(), 1u);
  }
  TableIndex index(0, x_folder, false);
  EXPECT_TRUE(*index.Open("state 1", 3000));
}

TEST_F(KeptIndexTest, GoesWhenMemorySuffices) {
  TableIndex index(kPlenty, x_folder, false);
  EXPECT_FALSE(*index.Open("state 1", 3000));
  EXPECT_TRUE(index.in_memory());
  TableIndex later(0, x_folder, false);
  EXPECT_FALSE(*later.Open("state 1", 3000));
}

}  // namespace
}  // namespace lastword
