// Every history of at most 3 changes of 3 keys - key changes to free and to taken keys (swaps),
// complete and with unavailable columns, updates, deletes, inserts - in every delivery that keeps
// the order of each key. What arrives must give what happened; where halves with unavailable
// columns overlap apart it may stop, and must not be wrong.
#include <gtest/gtest.h>

#include <array>

#include "model/script.h"

namespace lastword {
namespace {

constexpr int kKeys = 3;
constexpr int kLengthMax = 3;

struct Op {
  enum What { kMove, kWrite, kRemove } what = kWrite;
  int key = 0, to = 0;
  bool hides = false;  // column a is unavailable (and unchanged)
};

std::vector<Op> AllOps() {
  std::vector<Op> ops;
  for (int key = 0; key < kKeys; ++key) {
    for (const bool hides : {false, true}) {
      ops.push_back({Op::kWrite, key, 0, hides});
      for (int to = 0; to < kKeys; ++to) {
        if (to != key) ops.push_back({Op::kMove, key, to, hides});
      }
    }
    ops.push_back({Op::kRemove, key, 0, false});
  }
  return ops;
}

// One source table, written to as the ops say; each key's changes in a queue of its own.
class World {
 public:
  World() {
    for (int key = 0; key < kKeys - 1; ++key) {
      x_rows[key] = {"a" + std::to_string(key), "b"};
      x_queues[key].push_back(AnyOutcome(
          Upsert(key, {10 + static_cast<uint64_t>(key)}, x_rows[key]->first, x_rows[key]->second)));
    }
  }

  // False where the source could not do that. All ops are of one transaction, so a key may be taken
  // twice for a while; it must be free again at the end.
  bool Do(const Op& op) {
    const At at{100, ++x_mid};
    if (x_doubled && !(op.what == Op::kMove && op.key == *x_doubled)) return false;
    if (op.what == Op::kWrite) {
      if (op.hides && !x_rows[op.key]) return false;
      const std::string a = op.hides ? x_rows[op.key]->first : "w" + std::to_string(x_mid);
      x_rows[op.key] = {a, "b" + std::to_string(x_mid)};
      Queue(op.key, Upsert(op.key, at, op.hides ? kHidden : a, x_rows[op.key]->second));
      return true;
    }
    if (!x_rows[op.key]) return false;
    if (op.what == Op::kRemove) {
      x_rows[op.key].reset();
      Queue(op.key, Delete(op.key, at));
      return true;
    }
    return Move(op, at);
  }

  bool complete() const { return !x_doubled; }
  const std::array<std::vector<Step>, kKeys>& queues() const { return x_queues; }
  std::string Text() const {
    std::string text;
    for (int key = 0; key < kKeys; ++key) {
      if (!x_rows[key]) continue;
      text += std::to_string(key) + "=" + x_rows[key]->first + "," + x_rows[key]->second + " ";
    }
    return text;
  }

 private:
  using Row = std::pair<std::string, std::string>;

  void Queue(int key, TestChange change) { x_queues[key].push_back(AnyOutcome(std::move(change))); }

  bool Move(const Op& op, const At& at) {
    // While a key is taken twice, the move that frees it takes the older row away.
    const Row old = x_doubled ? x_older : *x_rows[op.key];
    const bool freed = x_doubled.has_value();
    x_doubled.reset();
    const Row row = {op.hides ? old.first : "m" + std::to_string(x_mid),
                     "b" + std::to_string(x_mid)};
    if (!freed) x_rows[op.key].reset();
    if (x_rows[op.to]) {
      x_doubled = op.to;
      x_older = *x_rows[op.to];
    }
    x_rows[op.to] = row;
    Queue(op.key, KeyDelete(op.key, at, op.to));
    Queue(op.to, KeyUpsert(op.to, at, op.key, op.hides ? kHidden : row.first, row.second));
    return true;
  }

  std::array<std::optional<Row>, kKeys> x_rows;
  std::array<std::vector<Step>, kKeys> x_queues;
  std::optional<int> x_doubled;
  Row x_older;
  uint64_t x_mid = 0;
};

struct Sums {
  uint64_t histories = 0, deliveries = 0, runs = 0, stopped = 0;
};

// True where the run ended, false where it stopped at an overlap.
bool Deliver(const std::vector<Step>& script, uint32_t cuts, const std::string& text) {
  StateFixture table;
  for (size_t i = 0; i < script.size(); ++i) {
    const auto outcomes = table.ApplyRecord(script[i].record);
    if (!outcomes.ok()) {
      EXPECT_EQ(outcomes.error().kind, ErrorKind::kPkOverlapInTransaction)
          << ToText(script) << "at " << i << ": " << ToString(outcomes.error());
      return false;
    }
    if ((cuts >> i & 1) == 0 && i + 1 != script.size()) continue;
    EXPECT_TRUE(table.Commit().ok());
    table.Restart();
  }
  EXPECT_EQ(table.Text(), text) << ToText(script) << "cuts " << cuts;
  for (const auto& [key, stored] : table.state().extras()) {
    EXPECT_TRUE(stored.extra.kept.empty()) << ToText(script) << "a row is kept for nobody";
    EXPECT_FALSE(stored.extra.waiting) << ToText(script) << "a change waits for nobody";
  }
  return true;
}

void RunHistory(const World& world, bool hides, Sums& sums) {
  ++sums.histories;
  const auto& queues = world.queues();
  for (const std::vector<Step>& script : Interleavings({queues.begin(), queues.end()})) {
    ++sums.deliveries;
    const uint32_t all = (1u << script.size()) - 1;
    std::vector<uint32_t> cuts = {0, all, all / 3, all / 3 * 2};
    for (size_t i = 0; i + 1 < script.size(); ++i) cuts.push_back(1u << i);
    for (const uint32_t cut : cuts) {
      ++sums.runs;
      const bool ended = Deliver(script, cut, world.Text());
      if (!ended) ++sums.stopped;
      EXPECT_TRUE(ended || hides) << "complete images never wait: " << ToText(script);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Exhaustive, KeyChangesInEveryDeliveryThatKeepsTheOrderOfAKey) {
  const std::vector<Op> ops = AllOps();
  Sums sums;
  std::vector<Op> history;
  const std::function<void()> extend = [&] {
    World world;
    bool possible = true, hides = false;
    for (const Op& op : history) {
      possible = possible && world.Do(op);
      hides |= op.hides && op.what == Op::kMove;
    }
    if (!possible) return;
    if (!history.empty() && world.complete()) RunHistory(world, hides, sums);
    if (history.size() == kLengthMax || ::testing::Test::HasFailure()) return;
    for (const Op& op : ops) {
      history.push_back(op);
      extend();
      history.pop_back();
    }
  };
  extend();
  std::printf(
      "%llu histories with key changes, %llu deliveries, %llu runs, %llu stopped at an overlap, "
      "0 differences\n",
      static_cast<unsigned long long>(sums.histories),
      static_cast<unsigned long long>(sums.deliveries), static_cast<unsigned long long>(sums.runs),
      static_cast<unsigned long long>(sums.stopped));
  EXPECT_LT(sums.stopped * 4, sums.runs) << "stopping is for the few that overlap apart";
}

}  // namespace
}  // namespace lastword
