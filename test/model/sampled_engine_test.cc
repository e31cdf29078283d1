// Scripts of the exhaustive test, sampled, through the whole engine: opened, committed and opened
// again over real storage (with LW_WITH_LANCE) or its double. Many scripts share a table, each with
// keys of its own, and a round applies one change of each; so thousands of them are a few hundred
// commits.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/random.h"
#include "model/engine_fixture.h"
#include "model/oracle.h"
#ifdef LW_WITH_LANCE
#include "commit/lance_storage.h"
#else
#include "test/double/double_storage.h"
#endif

namespace lastword {
namespace {

constexpr uint64_t kScriptsATable = 25;
constexpr uint64_t kTables = 80;
constexpr uint64_t kLengthMax = 6;

std::vector<oracle::Event> DrawScript(Random& random) {
  std::vector<oracle::Event> script(2 + random.Below(kLengthMax - 1));
  for (oracle::Event& event : script) {
    event.key = static_cast<int>(random.Below(2));
    event.version = static_cast<int>(random.Below(3));
    event.row = static_cast<int>(random.Below(3));
  }
  return script;
}

TestChange ChangeOf(const oracle::Event& event, uint64_t number) {
  TestChange change;
  change.kind = event.row == 0 ? Kind::kDelete : Kind::kUpsert;
  change.key = static_cast<int64_t>(number * 2) + event.key;
  change.version.hi = static_cast<uint64_t>(event.version);
  change.a = std::to_string(event.row);
  return change;
}

Outcome OutcomeOf(oracle::Said said) {
  switch (said) {
    case oracle::Said::kApplied:
      return Outcome::kApplied;
    case oracle::Said::kStale:
      return Outcome::kStale;
    case oracle::Said::kRepeat:
      return Outcome::kRepeat;
    case oracle::Said::kConflict:
      return Outcome::kConflict;
  }
  return Outcome::kStale;
}

void RunTable(EngineFixture& table, Random& random) {
  std::vector<std::vector<oracle::Event>> scripts;
  std::vector<std::vector<oracle::Said>> said;
  for (uint64_t i = 0; i < kScriptsATable; ++i) {
    scripts.push_back(DrawScript(random));
    said.push_back(oracle::Outcomes(scripts.back()));
  }
  ASSERT_TRUE(table.Open().ok());
  for (size_t round = 0; round < kLengthMax; ++round) {
    std::vector<TestChange> changes;
    std::vector<Outcome> wanted;
    for (uint64_t i = 0; i < kScriptsATable; ++i) {
      if (round >= scripts[i].size()) continue;
      changes.push_back(ChangeOf(scripts[i][round], i));
      wanted.push_back(OutcomeOf(said[i][round]));
    }
    const auto outcomes = table.Apply(changes);
    ASSERT_TRUE(outcomes.ok()) << ToString(outcomes.error());
    ASSERT_EQ(*outcomes, wanted) << "round " << round;
    if (round + 1 != kLengthMax && random.OneIn(2)) continue;
    const auto committed = table.Commit();
    ASSERT_TRUE(committed.ok()) << ToString(committed.error());
    if (random.OneIn(2)) {
      ASSERT_TRUE(table.Open().ok());
    }
  }
  std::map<int64_t, EngineFixture::TableRow> rows;
  for (uint64_t i = 0; i < kScriptsATable; ++i) {
    for (const auto& [key, row] : oracle::Table(scripts[i])) {
      rows[static_cast<int64_t>(i * 2) + key] = {std::to_string(row), std::nullopt};
    }
  }
  const auto found = table.Table();
  ASSERT_TRUE(found.ok()) << ToString(found.error());
  EXPECT_EQ(*found, rows);
}

TEST(SampledEngine, ScriptsThroughOpenApplyAndCommit) {
  const uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  TableOptions options;
  options.on_conflict = OnConflict::kQuarantine;
  options.fsync = false;
#ifdef LW_WITH_LANCE
  std::string folder = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::unique_ptr<Storage> storage = MakeLanceStorage(options);
#else
  const std::string folder = "mem://";
  MemoryStore store;
  const auto storage = std::make_unique<DoubleStorage>(store);
#endif
  for (uint64_t i = 0; i < kTables && !::testing::Test::HasFailure(); ++i) {
    const std::string uri = folder + "/t" + std::to_string(i) + ".lance";
    // With no memory at all, the key index is in RocksDB from the first key on.
    options.memory_bytes_max = i % 8 == 0 ? 0 : TableOptions().memory_bytes_max;
    EngineFixture table(uri, options, *storage);
    RunTable(table, random);
#ifdef LW_WITH_LANCE
    if (!::testing::Test::HasFailure()) std::filesystem::remove_all(uri);
#endif
  }
#ifdef LW_WITH_LANCE
  if (!::testing::Test::HasFailure()) std::filesystem::remove_all(folder);
#endif
  std::printf("%llu scripts, 0 differences\n",
              static_cast<unsigned long long>(kTables * kScriptsATable));
}

}  // namespace
}  // namespace lastword
