// Both key indexes against a map, by the same random steps.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/random.h"
#include "state/memory_index.h"
#include "state/rocks_index.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

using Model = std::map<KeyHash, KeyEntry>;

KeyHash HashOf(uint64_t key) {
  return Hash128({reinterpret_cast<const char*>(&key), sizeof(key)});
}

KeyEntry RandomEntry(uint64_t key, Random& random) {
  const uint64_t kSizes[] = {2, 1 << 20, UINT64_MAX};
  KeyEntry entry;
  entry.key = HashOf(key);
  entry.hi = random.Below(kSizes[random.Below(3)]);
  entry.mid = random.Below(kSizes[random.Below(3)]);
  entry.lo = random.Below(kSizes[random.Below(3)]);
  entry.digest = random.Below(UINT64_MAX);
  entry.address = random.Below(4) == 0 ? kNoAddress : random.Below(1ull << 40);
  entry.epoch = static_cast<uint32_t>(random.Below(3));
  entry.status = static_cast<KeyStatus>(random.Below(3));
  entry.has_extra = random.Below(2) == 0;
  entry.delete_input = static_cast<uint16_t>(random.Below(1 << 16));
  return entry;
}

Model ContentOf(const KeyIndex& index) {
  Model content;
  index.ForEach([&](const KeyEntry& entry) {
    EXPECT_TRUE(content.emplace(entry.key, entry).second) << "visited twice";
  });
  return content;
}

class KeyIndexTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "memory") {
      x_index = std::make_unique<MemoryIndex>();
      return;
    }
    std::filesystem::remove_all(x_folder);
    auto made = RocksIndex::Create(x_folder, 16 << 20);
    ASSERT_TRUE(made.ok()) << made.error().message;
    x_index = std::move(*made);
  }
  void TearDown() override {
    x_index.reset();
    std::filesystem::remove_all(x_folder);
  }

  const std::string x_folder = testing::TempDir() + "key_index_test";
  std::unique_ptr<KeyIndex> x_index;
};

TEST_P(KeyIndexTest, HoldsWhatAMapHolds) {
  Random random(7);
  Model model;
  for (int step = 0; step < 60'000; ++step) {
    const uint64_t key = random.Below(4000);
    switch (random.Below(4)) {
      case 0:
      case 1: {
        const KeyEntry entry = RandomEntry(key, random);
        x_index->Store(entry);
        model[entry.key] = entry;
        break;
      }
      case 2:
        x_index->Erase(HashOf(key));
        model.erase(HashOf(key));
        break;
      default: {
        KeyEntry found;
        const auto known = model.find(HashOf(key));
        ASSERT_EQ(x_index->Find(HashOf(key), found), known != model.end());
        ASSERT_EQ(found, known != model.end() ? known->second : KeyEntry{});
      }
    }
  }
  EXPECT_TRUE(ContentOf(*x_index) == model);
  x_index->Clear();
  EXPECT_TRUE(ContentOf(*x_index) == Model{});
  EXPECT_TRUE(x_index->Health().ok());
}

// What was read ahead must not answer for what changed since.
TEST_P(KeyIndexTest, PrefetchChangesNoAnswer) {
  Random random(9);
  Model model;
  for (int step = 0; step < 300; ++step) {
    std::vector<KeyHash> keys;
    for (int i = 0; i < 50; ++i) keys.push_back(HashOf(random.Below(500)));
    x_index->Prefetch(keys);
    for (const KeyHash& key : keys) {
      KeyEntry found;
      const auto known = model.find(key);
      ASSERT_EQ(x_index->Find(key, found), known != model.end());
      ASSERT_EQ(found, known != model.end() ? known->second : KeyEntry{});
      if (random.Below(20) != 0) continue;
      const KeyEntry entry = RandomEntry(random.Below(500), random);
      x_index->Store(entry);
      model[entry.key] = entry;
      x_index->Erase(keys[0]);
      model.erase(keys[0]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, KeyIndexTest, testing::Values("memory", "rocksdb"),
                         [](const auto& info) { return std::string(info.param); });

// The gap of an erased entry is closed also where its run wraps round the end of the shard.
TEST(MemoryIndexTest, ErasesAcrossTheEndOfAShard) {
  MemoryIndex index;
  std::vector<KeyHash> keys;
  for (uint64_t i = 0; i < 13; ++i) keys.push_back({0x00FFFFFFFFFFFFFF - i % 3, i});
  for (const KeyHash& key : keys) {
    KeyEntry entry;
    entry.key = key;
    index.Store(entry);
  }
  for (size_t gone = 0; gone < keys.size(); ++gone) {
    index.Erase(keys[gone]);
    for (size_t i = 0; i < keys.size(); ++i) {
      KeyEntry entry;
      EXPECT_EQ(index.Find(keys[i], entry), i > gone);
    }
  }
  EXPECT_EQ(index.size(), 0u);
}

TEST(MemoryIndexTest, FillsUpToAKeyThatIsThere) {
  Random random(5);
  MemoryIndex index;
  std::vector<std::vector<KeyEntry>> shards(MemoryIndex::kShards);
  for (uint64_t key = 0; key < 60'000; ++key) {
    const KeyEntry entry = RandomEntry(key, random);
    shards[MemoryIndex::ShardOf(entry.key)].push_back(entry);
  }
  Model model;
  for (std::vector<KeyEntry>& entries : shards) {
    for (const KeyEntry& entry : entries) model[entry.key] = entry;
    KeyEntry again = entries[entries.size() / 2];
    again.lo = 7;
    model[again.key] = again;
    const size_t at = entries.size() - random.Below(3);
    entries.insert(entries.begin() + static_cast<ptrdiff_t>(at), again);
    KeyEntry* known = nullptr;
    ASSERT_EQ(index.Fill(entries, known), at + 1);
    ASSERT_TRUE(known);
    EXPECT_EQ(known->key, again.key);
    *known = again;
    const std::span<const KeyEntry> rest = std::span(entries).subspan(at + 1);
    EXPECT_EQ(index.Fill(rest, known), rest.size());
    EXPECT_EQ(known, nullptr);
  }
  EXPECT_EQ(index.size(), model.size());
  EXPECT_TRUE(ContentOf(index) == model);
}

TEST(MemoryIndexTest, KeepsItsBytesAKey) {
  MemoryIndex index;
  Random random(3);
  uint64_t most_a_key = 0;
  for (uint64_t key = 0; key < 400'000; ++key) {
    index.Store(RandomEntry(key, random));
    if (key > 100'000) most_a_key = std::max(most_a_key, index.bytes_held() / index.size());
  }
  EXPECT_LE(most_a_key, 96u);
  MemoryIndex reserved;
  reserved.Reserve(400'000);
  const uint64_t before = reserved.bytes_held();
  EXPECT_EQ(before, MemoryIndex::BytesFor(400'000));
  for (uint64_t key = 0; key < 400'000; ++key) reserved.Store(RandomEntry(key, random));
  EXPECT_EQ(reserved.bytes_held(), before) << "grew in spite of the reservation";
}

TEST(MemoryIndexTest, ShardsComeInOrder) {
  MemoryIndex index;
  Random random(3);
  for (uint64_t key = 0; key < 20'000; ++key) index.Store(RandomEntry(key, random));
  std::vector<KeyHash> keys;
  for (uint64_t shard = 0; shard < MemoryIndex::kShards; ++shard) {
    for (const KeyEntry& entry : index.TakeShard(shard)) keys.push_back(entry.key);
  }
  EXPECT_EQ(keys.size(), 20'000u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(index.size(), 0u);
  EXPECT_EQ(index.bytes_held(), 0u);
}

class RocksIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(x_folder);
    auto made = RocksIndex::Create(x_folder, 16 << 20);
    ASSERT_TRUE(made.ok()) << made.error().message;
    x_index = std::move(*made);
    for (uint64_t key = 0; key < 1000; ++key) {
      const KeyEntry entry = RandomEntry(key, x_random);
      x_index->Store(entry);
      x_model[entry.key] = entry;
    }
  }
  void TearDown() override {
    x_index.reset();
    std::filesystem::remove_all(x_folder);
  }
  std::unique_ptr<RocksIndex> Reopen(const std::string& identity) {
    x_index.reset();
    return RocksIndex::Open(x_folder, 16 << 20, identity, false);
  }

  const std::string x_folder = testing::TempDir() + "rocks_index_test";
  Random x_random{5};
  Model x_model;
  std::unique_ptr<RocksIndex> x_index;
};

TEST_F(RocksIndexTest, OpensOnlyTheStateItWasMarkedFor) {
  ASSERT_TRUE(x_index->SetMark("3 7").ok());
  EXPECT_EQ(Reopen("3 8"), nullptr);
  x_index = Reopen("3 7");
  ASSERT_NE(x_index, nullptr);
  EXPECT_TRUE(ContentOf(*x_index) == x_model);
}

TEST_F(RocksIndexTest, AnyChangeTakesTheMarkAway) {
  ASSERT_TRUE(x_index->SetMark("3 7").ok());
  x_index->Erase(x_model.begin()->first);
  EXPECT_EQ(Reopen("3 7"), nullptr);
}

TEST_F(RocksIndexTest, AnUnmarkedOneIsNotOpened) {
  EXPECT_EQ(Reopen(""), nullptr);
}

TEST_F(RocksIndexTest, ADamagedOneIsNotOpened) {
  ASSERT_TRUE(x_index->SetMark("3 7").ok());
  x_index.reset();
  for (const auto& file : std::filesystem::directory_iterator(x_folder)) {
    if (file.path().extension() == ".sst") std::filesystem::resize_file(file.path(), 100);
  }
  EXPECT_EQ(Reopen("3 7"), nullptr);
}

// A crash takes what RocksDB has not written to a file: a copy of the folder at that moment.
TEST_F(RocksIndexTest, ACrashLeavesTheMarkedStateOrNone) {
  ASSERT_TRUE(x_index->SetMark("3 7").ok());
  const std::string crashed = x_folder + "_crashed";
  int copies = 0, opened = 0;
  for (int round = 0; round < 60; ++round) {
    for (uint64_t i = 0; i < 2000; ++i) x_index->Store(RandomEntry(i, x_random));
    std::filesystem::remove_all(crashed);
    std::error_code moved;  // RocksDB deletes files meanwhile
    std::filesystem::copy(x_folder, crashed, std::filesystem::copy_options::recursive, moved);
    if (moved) continue;
    ++copies;
    const auto index = RocksIndex::Open(crashed, 16 << 20, "3 7", false);
    if (!index) continue;
    ++opened;
    EXPECT_TRUE(ContentOf(*index) == x_model);
  }
  EXPECT_GT(opened, 0) << "the first rounds are in memory only";
  EXPECT_LT(opened, copies) << "the last ones are not";
  std::filesystem::remove_all(crashed);
}

TEST_F(RocksIndexTest, TakesSortedRunsOver) {
  x_index->Clear();
  std::vector<std::unique_ptr<RocksIndex::Run>> runs;
  size_t i = 0;
  for (const auto& [key, entry] : x_model) {
    if (i++ % 300 == 0) {
      if (!runs.empty()) {
        ASSERT_TRUE(runs.back()->Finish().ok());
      }
      auto run = x_index->StartRun();
      ASSERT_TRUE(run.ok()) << run.error().message;
      runs.push_back(std::move(*run));
    }
    ASSERT_TRUE(runs.back()->Add(entry).ok());
  }
  ASSERT_TRUE(runs.back()->Finish().ok());
  ASSERT_TRUE(x_index->Ingest(runs).ok());
  EXPECT_TRUE(ContentOf(*x_index) == x_model);
  x_index->Store(x_model.begin()->second);
  EXPECT_TRUE(ContentOf(*x_index) == x_model);
}

}  // namespace
}  // namespace lastword
