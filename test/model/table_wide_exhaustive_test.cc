// Every script of at most 4 out of upserts and deletes of 2 keys over 3 versions, truncates,
// collections of tombstones and epochs, with every cut and restart, against an oracle of its own;
// and the promise of gc: a key that was deleted at or below a boundary is never visible again with
// a version at or below it. Once with one source table, once with a source table for each key.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/script.h"

namespace lastword {
namespace {

constexpr int kLengthMax = 4;
constexpr int kKeys = 2;
constexpr int kVersions = 3;
// Letters: upsert and delete of each key and version, truncate at each version, gc at two, epoch.
// With several sources fewer versions are enough, and a truncate is of one key's source.
constexpr int kKeyLetters = kKeys * kVersions * 2;
constexpr int kLetters = kKeyLetters + kVersions + 2 + 1;
constexpr int kSourceVersions = 2;
constexpr int kSourceLetters = kKeys * kSourceVersions * 3 + 1;
constexpr const char* kSources[kKeys] = {"a", "b"};

struct Letter {
  enum What { kUpsert, kDelete, kTruncate, kCollect, kEpoch } what = kUpsert;
  int key = 0;
  int version = 0;
};

Letter LetterOf(int number) {
  if (number < kKeyLetters) {
    return {number % 2 == 0 ? Letter::kUpsert : Letter::kDelete, number / 2 % kKeys,
            number / 2 / kKeys + 1};
  }
  number -= kKeyLetters;
  if (number < kVersions) return {Letter::kTruncate, 0, number + 1};
  number -= kVersions;
  if (number < 2) return {Letter::kCollect, 0, number + 1};
  return {Letter::kEpoch, 0, 0};
}

Letter SourceLetterOf(int number) {
  if (number + 1 == kSourceLetters) return {Letter::kCollect, 0, 1};
  constexpr Letter::What kWhat[] = {Letter::kUpsert, Letter::kDelete, Letter::kTruncate};
  return {kWhat[number % 3], number / 3 % kKeys, number / 3 / kKeys + 1};
}

// Versions as (epoch, version, rank) in one number: the oracle compares those.
int Order(int epoch, int version, int rank) {
  return (epoch * 10 + version) * 10 + rank;
}

struct Oracle {
  struct Key {
    int order = -1;  // -1: nothing known
    bool live = false;
    std::string text;
  };
  Key keys[kKeys];
  int floors[kKeys] = {-1, -1};
  int epoch = 0;
  bool several_sources = false;

  Outcome Truncate(int at, int first, int last) {
    bool removes = false;
    for (int i = first; i <= last; ++i) removes |= keys[i].live && keys[i].order <= at;
    const int floor = floors[first];
    if (at <= floor && !removes) return at == floor ? Outcome::kRepeat : Outcome::kStale;
    for (int i = first; i <= last; ++i) {
      if (keys[i].order <= at) keys[i] = {};
      floors[i] = std::max(floors[i], at);
    }
    return Outcome::kApplied;
  }
  Outcome Arrive(const Letter& letter) {
    if (letter.what == Letter::kTruncate) {
      const int at = Order(epoch, letter.version, 2);
      return several_sources ? Truncate(at, letter.key, letter.key) : Truncate(at, 0, kKeys - 1);
    }
    const bool upsert = letter.what == Letter::kUpsert;
    const int order = Order(epoch, letter.version, upsert ? 2 : 1);
    Key& key = keys[letter.key];
    if (!key.live && order <= floors[letter.key]) return Outcome::kStale;
    if (order < key.order) return Outcome::kStale;
    if (order == key.order) return Outcome::kRepeat;
    key = {order, upsert, std::to_string(order)};
    return Outcome::kApplied;
  }
  void Collect(int version) {
    // The boundary has rank 0: changes at that position stay above it.
    for (int& floor : floors) floor = std::max(floor, Order(epoch, version, 0));
    for (Key& key : keys) {
      if (!key.live && key.order <= Order(epoch, version, 0)) key.order = -1;
    }
  }
  std::string Text() const {
    std::string text;
    for (int key = 0; key < kKeys; ++key) {
      if (!keys[key].live) continue;
      if (several_sources) text += std::string(kSources[key]) + ".";
      text += std::to_string(key) + "=" + keys[key].text + ",- ";
    }
    return text;
  }
};

TestChange ChangeOf(const Letter& letter, int epoch, bool several_sources) {
  if (several_sources) return Of(kSources[letter.key], ChangeOf(letter, epoch, false));
  const At at{static_cast<uint64_t>(letter.version)};
  if (letter.what == Letter::kTruncate) return Truncate(at);
  if (letter.what == Letter::kDelete) return Delete(letter.key, at);
  return Upsert(letter.key, at, std::to_string(Order(epoch, letter.version, 2)));
}

// What gc promised: for each key deleted at or below a boundary, the boundary.
class Promise {
 public:
  void Collect(const Oracle& before, int boundary) {
    for (int key = 0; key < kKeys; ++key) {
      if (!before.keys[key].live && before.keys[key].order <= boundary) {
        x_boundary[key] = std::max(x_boundary[key], boundary);
      }
    }
  }
  void Check(const StateFixture& table) const {
    for (const auto& [key, row] : table.Table()) {
      ASSERT_GT(std::stoi(*row.first), x_boundary[key]) << "key " << key << " is back";
    }
  }

 private:
  int x_boundary[kKeys] = {-1, -1};
};

void RunScript(const std::vector<Letter>& script, bool several_sources, uint32_t cuts,
               bool restart) {
  StateFixture table({}, several_sources);
  Oracle oracle;
  oracle.several_sources = several_sources;
  Promise promise;
  std::string what;
  for (size_t i = 0; i < script.size(); ++i) {
    const Letter& letter = script[i];
    what += std::to_string(letter.what) + "/" + std::to_string(letter.key) + "@" +
            std::to_string(letter.version) + " ";
    bool commit = (cuts >> i & 1) != 0 || i + 1 == script.size();
    if (letter.what == Letter::kCollect) {
      // It works on what is committed.
      ASSERT_TRUE(table.Commit().ok());
      promise.Collect(oracle, Order(oracle.epoch, letter.version, 0));
      oracle.Collect(letter.version);
      Version boundary{static_cast<uint32_t>(oracle.epoch), static_cast<uint64_t>(letter.version),
                       0, 0};
      (void)table.Collect(boundary);
    } else if (letter.what == Letter::kEpoch) {
      oracle.epoch = static_cast<int>(table.NextEpoch());
      commit = true;
    } else {
      const auto outcome = table.Apply(ChangeOf(letter, oracle.epoch, several_sources));
      ASSERT_TRUE(outcome.ok()) << what << ToString(outcome.error());
      ASSERT_EQ(*outcome, oracle.Arrive(letter)) << what << "cuts " << cuts << restart;
    }
    if (!commit) continue;
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    ASSERT_EQ(table.Text(), oracle.Text()) << what << "cuts " << cuts << restart;
    promise.Check(table);
  }
  uint64_t tombstones = 0;
  for (const Oracle::Key& key : oracle.keys) tombstones += key.order >= 0 && !key.live;
  ASSERT_EQ(table.tombstones(), tombstones) << what << "cuts " << cuts << restart;
}

// Every script over the letters, every cut, with and without restarts; the number of scripts.
uint64_t RunScripts(int letters, Letter (*letter_of)(int), bool several_sources) {
  uint64_t scripts = 0;
  for (int length = 1; length <= kLengthMax; ++length) {
    uint64_t count = 1;
    for (int i = 0; i < length; ++i) count *= static_cast<uint64_t>(letters);
    for (uint64_t number = 0; number < count; ++number) {
      std::vector<Letter> script;
      uint64_t rest = number;
      for (int i = 0; i < length; ++i, rest /= static_cast<uint64_t>(letters)) {
        script.push_back(letter_of(static_cast<int>(rest % static_cast<uint64_t>(letters))));
      }
      ++scripts;
      for (uint32_t cuts = 0; cuts < 1u << (length - 1); ++cuts) {
        for (const bool restart : {false, true}) {
          RunScript(script, several_sources, cuts, restart);
          if (::testing::Test::HasFatalFailure()) return scripts;
        }
      }
    }
  }
  return scripts;
}

TEST(Exhaustive, TruncatesCollectionsAndEpochs) {
  const uint64_t scripts = RunScripts(kLetters, LetterOf, false);
  std::printf("%llu scripts with truncates, gc and epochs, every cut, 0 differences\n",
              static_cast<unsigned long long>(scripts));
}

TEST(Exhaustive, TruncatesOfSeveralSources) {
  const uint64_t scripts = RunScripts(kSourceLetters, SourceLetterOf, true);
  std::printf("%llu scripts with two source tables, every cut, 0 differences\n",
              static_cast<unsigned long long>(scripts));
}

}  // namespace
}  // namespace lastword
