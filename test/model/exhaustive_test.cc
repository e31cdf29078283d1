// Every script of at most 4 changes over 2 keys, 3 versions, {delete, 2 rows}, with every cut into
// checkpoints and restarts, against the oracle: same table, same outcomes. That holds every
// permutation and every duplication of each script.
#include <gtest/gtest.h>

#include "model/oracle.h"
#include "model/state_fixture.h"

namespace lastword {
namespace {

constexpr int kLengthMax = 4;
constexpr int kKeys = 2;
constexpr int kVersions = 3;
constexpr int kRows = 3;  // delete and two payloads
constexpr int kLetters = kKeys * kVersions * kRows;

oracle::Event EventOf(int letter) {
  return {letter % kKeys, letter / kKeys % kVersions, letter / kKeys / kVersions};
}

TestChange ChangeOf(const oracle::Event& event) {
  TestChange change;
  change.kind = event.row == 0 ? Kind::kDelete : Kind::kUpsert;
  change.key = event.key;
  change.version.hi = static_cast<uint64_t>(event.version);  // from 0: version 0 is not "unknown"
  change.a = std::string(1, static_cast<char>('x' + event.row - 1));
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

// Runs a script; bit i of `cuts` commits after change i, and every commit is followed by a restart
// if asked.
::testing::AssertionResult Agrees(const std::vector<oracle::Event>& script, uint32_t cuts,
                                  bool restart) {
  StateOptions options;
  options.on_conflict = OnConflict::kQuarantine;
  StateFixture table(options);
  const std::vector<oracle::Said> expected = oracle::Outcomes(script);
  for (size_t i = 0; i < script.size(); ++i) {
    const auto outcome = table.Apply(ChangeOf(script[i]));
    if (!outcome.ok()) return ::testing::AssertionFailure() << ToString(outcome.error());
    if (*outcome != OutcomeOf(expected[i])) {
      return ::testing::AssertionFailure() << "change " << i << " of " << oracle::ToText(script)
                                           << "is " << NameOf(*outcome) << ", cuts " << cuts;
    }
    if ((cuts >> i & 1) == 0 && i + 1 != script.size()) continue;
    const Status committed = table.Commit();
    if (!committed.ok()) return ::testing::AssertionFailure() << ToString(committed.error());
    if (restart) table.Restart();
  }
  std::map<int, int> rows;
  for (const auto& [key, row] : table.Table())
    rows[static_cast<int>(key)] = row.first->at(0) - 'x' + 1;
  if (rows != oracle::Table(script)) {
    return ::testing::AssertionFailure() << oracle::ToText(script) << "gives " << table.Text()
                                         << ", cuts " << cuts << (restart ? " with restarts" : "");
  }
  return ::testing::AssertionSuccess();
}

TEST(Exhaustive, EveryScriptEveryCut) {
  uint64_t scripts = 0;
  uint64_t runs = 0;
  for (int length = 0; length <= kLengthMax; ++length) {
    uint64_t count = 1;
    for (int i = 0; i < length; ++i) count *= kLetters;
    for (uint64_t number = 0; number < count; ++number) {
      std::vector<oracle::Event> script;
      for (uint64_t rest = number; static_cast<int>(script.size()) < length; rest /= kLetters) {
        script.push_back(EventOf(static_cast<int>(rest % kLetters)));
      }
      ++scripts;
      const uint32_t cuts = length > 1 ? 1u << (length - 1) : 1;
      for (uint32_t cut = 0; cut < cuts; ++cut) {
        ASSERT_TRUE(Agrees(script, cut, false));
        ASSERT_TRUE(Agrees(script, cut, true));
        runs += 2;
      }
    }
  }
  std::printf("%llu scripts, %llu runs, 0 differences\n", static_cast<unsigned long long>(scripts),
              static_cast<unsigned long long>(runs));
  EXPECT_EQ(scripts, 111151u);
}

}  // namespace
}  // namespace lastword
