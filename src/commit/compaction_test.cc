// The plan on fragments that exist only as sizes, over thousands of made-up checkpoints.
#include "commit/compaction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"

namespace lastword {
namespace {

constexpr uint64_t kRowBytes = 100;

Fragment Of(uint64_t id, uint64_t rows, uint64_t deleted = 0, uint64_t index_set = 0) {
  return {id, rows, deleted, rows * kRowBytes, index_set};
}

// A table of sizes: updates hit every row alike.
class SizedTable {
 public:
  SizedTable(uint64_t rows, const CompactionPolicy& policy) : x_policy(policy) {
    for (uint64_t left = rows; left != 0;) {
      const uint64_t part = std::min<uint64_t>(left, 1 << 20);
      Append(part);
      left -= part;
    }
  }

  void Update(uint64_t rows) {
    const double share = static_cast<double>(rows) / static_cast<double>(live());
    for (Fragment& fragment : x_fragments) {
      const double hit = share * static_cast<double>(fragment.live_rows()) + x_owed[fragment.id];
      const auto deleted = std::min(static_cast<uint64_t>(hit), fragment.live_rows());
      x_owed[fragment.id] = hit - static_cast<double>(deleted);
      fragment.deleted_rows += deleted;
    }
    std::erase_if(x_fragments, [](const Fragment& f) { return f.live_rows() == 0; });
    Append(rows);
  }

  // One round; false when nothing is due.
  bool Compact() {
    const std::vector<uint64_t> round = PlanCompaction(x_fragments, x_policy);
    if (round.empty()) return false;
    EXPECT_TRUE(std::is_sorted(round.begin(), round.end()));
    uint64_t rows = 0, deleted = 0;
    for (const uint64_t id : round) {
      const auto found = std::find_if(x_fragments.begin(), x_fragments.end(),
                                      [&](const Fragment& f) { return f.id == id; });
      EXPECT_NE(found, x_fragments.end());
      rows += found->live_rows();
      deleted += found->deleted_rows;
      x_fragments.erase(found);
    }
    EXPECT_TRUE(round.size() > 1 || deleted != 0) << "a round that changes nothing";
    if (round.size() > 1) {
      EXPECT_LE(rows, x_policy.rows_max);
    }
    if (round.size() > 2) {
      EXPECT_LE(rows, x_policy.round_rows);
    }
    written += rows;
    longest = std::max(longest, rows);
    Append(rows);
    return true;
  }

  uint64_t live() const {
    uint64_t rows = 0;
    for (const Fragment& fragment : x_fragments) rows += fragment.live_rows();
    return rows;
  }
  uint64_t physical() const {
    uint64_t rows = 0;
    for (const Fragment& fragment : x_fragments) rows += fragment.physical_rows;
    return rows;
  }
  size_t fragments() const { return x_fragments.size(); }

  uint64_t written = 0, longest = 0;

 private:
  void Append(uint64_t rows) {
    if (rows != 0) x_fragments.push_back(Of(x_next++, rows));
  }

  const CompactionPolicy x_policy;
  std::vector<Fragment> x_fragments;
  std::map<uint64_t, double> x_owed;
  uint64_t x_next = 0;
};

TEST(Compaction, LeavesAloneWhatIsWell) {
  const CompactionPolicy policy;
  EXPECT_TRUE(PlanCompaction({}, policy).empty());
  std::vector<Fragment> fragments = {Of(1, 1 << 20), Of(2, 1 << 20, 1000), Of(3, 900'000)};
  for (uint64_t id = 4; id < 4 + policy.fragments - 1; ++id) fragments.push_back(Of(id, 1000));
  EXPECT_TRUE(PlanCompaction(fragments, policy).empty());
}

TEST(Compaction, MergesSmallOnesOfOneTier) {
  const CompactionPolicy policy;
  std::vector<Fragment> fragments = {Of(1, 1 << 20), Of(2, 50'000)};
  std::vector<uint64_t> small;
  for (uint64_t id = 3; id < 3 + policy.fragments; ++id) {
    fragments.push_back(Of(id, 1000, id));
    small.push_back(id);
  }
  EXPECT_EQ(PlanCompaction(fragments, policy), small);
}

TEST(Compaction, GivesSpaceOfDeletedRowsBack) {
  const CompactionPolicy policy;
  const std::vector<Fragment> fragments = {Of(1, 1 << 20, 500'000), Of(2, 1 << 20, 530'000),
                                           Of(3, 1 << 20, 900'000), Of(4, 1000, 900)};
  // The most worn first; few deleted rows are not worth it.
  EXPECT_EQ(PlanCompaction(fragments, policy), (std::vector<uint64_t>{3}));
  CompactionPolicy large = policy;
  large.round_rows = large.rows_max;
  EXPECT_EQ(PlanCompaction(fragments, large), (std::vector<uint64_t>{2, 3}));
}

TEST(Compaction, LeavesDeletedRowsWhileTheyAreFew) {
  const CompactionPolicy policy;
  // A third of the live rows, then more than half of them: the most worn are enough.
  std::vector<Fragment> fragments = {Of(1, 600'000), Of(2, 120'000, 110'000),
                                     Of(3, 120'000, 90'000)};
  EXPECT_TRUE(PlanCompaction(fragments, policy).empty());
  fragments.push_back(Of(4, 200'000, 160'000));
  EXPECT_EQ(PlanCompaction(fragments, policy), (std::vector<uint64_t>{2}));
  // Nothing else is rewritten where every row is updated again and again: it goes by itself.
  SizedTable table(200'000, policy);
  for (int i = 0; i < 300; ++i) {
    table.Update(126'000);
    table.Compact();
  }
  EXPECT_LE(table.physical(), table.live() * 3 / 2);
  EXPECT_LE(table.written, 300u * 126'000 / 4);
}

TEST(Compaction, ARoundIsBounded) {
  CompactionPolicy policy;
  policy.rows_max = 10'000;
  std::vector<Fragment> fragments;
  for (uint64_t id = 0; id < 100; ++id) fragments.push_back(Of(id, 1000));
  EXPECT_EQ(PlanCompaction(fragments, policy).size(), 10u);
  policy.bytes_max = 3000 * kRowBytes;
  EXPECT_EQ(PlanCompaction(fragments, policy).size(), 3u);
  // One that is larger by itself is taken alone.
  EXPECT_EQ(
      PlanCompaction(std::vector<Fragment>{Of(1, 90'000, 50'000), Of(2, 90'000, 50'001)}, policy),
      (std::vector<uint64_t>{2}));
}

TEST(Compaction, NeverMixesWhatDifferentIndexesCover) {
  Random random(3);
  const CompactionPolicy policy;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Fragment> fragments;
    std::map<uint64_t, uint64_t> sets;
    for (uint64_t id = 0; id < random.Below(60); ++id) {
      const uint64_t rows = 1 + random.Below(uint64_t{1} << random.Below(21));
      fragments.push_back(Of(id, rows, random.Below(rows), random.Below(3)));
      sets[id] = fragments.back().index_set;
    }
    std::set<uint64_t> seen;
    for (const uint64_t id : PlanCompaction(fragments, policy)) seen.insert(sets.at(id));
    EXPECT_LE(seen.size(), 1u);
    seen.clear();
    for (const uint64_t id : PlanCompaction(fragments, ThoroughPolicy(policy)))
      seen.insert(sets.at(id));
    EXPECT_LE(seen.size(), 1u);
  }
}

// One round a checkpoint keeps up with ten thousand checkpoints, whatever their size.
TEST(Compaction, KeepsUpWithCheckpoints) {
  for (const uint64_t updates : {10, 1000, 20'000, 300'000}) {
    const CompactionPolicy policy;
    SizedTable table(1'000'000, policy);
    size_t fragments = 0;
    double worn = 0;
    constexpr uint64_t kCheckpoints = 10'000;
    for (uint64_t i = 0; i < kCheckpoints; ++i) {
      table.Update(updates);
      table.Compact();
      fragments = std::max(fragments, table.fragments());
      worn =
          std::max(worn, static_cast<double>(table.physical()) / static_cast<double>(table.live()));
    }
    const double amplification =
        static_cast<double>(table.written) / static_cast<double>(updates * kCheckpoints);
    std::printf(
        "%llu updates: at most %zu fragments, %.2f times the live rows, %.2f rows rewritten "
        "for each new one, at most %llu in a round\n",
        static_cast<unsigned long long>(updates), fragments, worn, amplification,
        static_cast<unsigned long long>(table.longest));
    EXPECT_NEAR(static_cast<double>(table.live()), 1e6, 2e4);
    EXPECT_LE(fragments, 48u);
    EXPECT_LE(worn, 2.2);
    // Batches far below the lowest tier are rewritten more often: they are cheap.
    EXPECT_LE(amplification, updates < 100 ? 40 : 6);
    EXPECT_LE(table.longest, policy.rows_max);
  }
}

TEST(Compaction, LargeTablesGetLargerFragments) {
  const CompactionPolicy policy;
  const auto sized = [&](uint64_t count, uint64_t rows) {
    std::vector<Fragment> fragments;
    for (uint64_t id = 0; id < count; ++id) fragments.push_back(Of(id, rows));
    return ForSize(policy, fragments);
  };
  EXPECT_EQ(sized(20, 1 << 20).rows_max, policy.rows_max);
  EXPECT_EQ(sized(20, 1 << 20).bytes_max, policy.bytes_max);
  EXPECT_EQ(sized(96, 1 << 20).rows_max, 3 * policy.rows_max);
  EXPECT_EQ(sized(96, 1 << 20).bytes_max, (96ull << 20) * kRowBytes / 32);
  EXPECT_EQ(sized(1000, 1 << 20).rows_max, 4 * policy.rows_max);
  // A hundred million rows that come by and by, compacted on the way.
  std::vector<Fragment> fragments;
  uint64_t next = 0, written = 0;
  constexpr uint64_t kRows = 100'000'000, kLoad = 500'000;
  for (uint64_t rows = 0; rows < kRows; rows += kLoad) {
    fragments.push_back(Of(next++, kLoad));
    const std::vector<uint64_t> round = PlanCompaction(fragments, ForSize(policy, fragments));
    if (round.empty()) continue;
    uint64_t merged = 0;
    std::erase_if(fragments, [&](const Fragment& fragment) {
      if (!std::binary_search(round.begin(), round.end(), fragment.id)) return false;
      merged += fragment.physical_rows;
      return true;
    });
    fragments.push_back(Of(next++, merged));
    written += merged;
  }
  EXPECT_LE(fragments.size(), 80u);
  EXPECT_LE(written, 3 * kRows);
}

TEST(Compaction, ThoroughComesToAnEnd) {
  const CompactionPolicy policy = ThoroughPolicy(CompactionPolicy());
  SizedTable table(3'000'000, policy);
  for (int i = 0; i < 200; ++i) table.Update(5000);
  int rounds = 0;
  while (table.Compact()) ASSERT_LT(++rounds, 1000);
  EXPECT_LE(table.fragments(), 7u);
  EXPECT_LE(table.physical(), table.live() * 12 / 10);
}

}  // namespace
}  // namespace lastword
