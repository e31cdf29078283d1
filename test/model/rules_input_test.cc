// What an input adds to the law: null-value records, the first transaction behind a snapshot,
// epochs, reads without position, arrival order: docs/ordering.md.
#include <gtest/gtest.h>

#include "model/script.h"

namespace lastword {
namespace {

constexpr Outcome kStale = Outcome::kStale;
constexpr Outcome kRepeat = Outcome::kRepeat;

TEST(NullValue, BehindItsDeleteSaysNothing) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "x"), Delete(1, {20}), {NullValue(1), kRepeat}, Upsert(1, {30}, "again")},
      "1=again,- "));
}

TEST(NullValue, AloneDeletesTheKey) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"), Upsert(2, {20}, "y"), NullValue(1)}, "2=y,- "));
  // Its version is the highest of its partition: changes before it are older, changes behind it
  // newer.
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"),
                           Upsert(2, {20}, "y"),
                           NullValue(1),
                           {From("p1", Upsert(1, {20}, "late")), kStale}},
                          "2=y,- "));
  EXPECT_TRUE(
      AlwaysGives({Upsert(1, {10}, "x"), NullValue(1), Upsert(1, {11}, "newer")}, "1=newer,- "));
}

TEST(NullValue, OutranksAnUpsertAtItsPlace) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"), NullValue(1)}, ""));
  EXPECT_TRUE(AlwaysGives({Read(1, {10}), NullValue(1)}, ""));
}

TEST(NullValue, BehindAReinsertedKeyDeletesIt) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"),
                           Delete(1, {20}),
                           {NullValue(1), kRepeat},
                           Upsert(1, {30}, "again"),
                           NullValue(1)},
                          ""));
}

// F065, F099: the re-read begins anywhere, also behind the delete.
TEST(NullValue, ReReadIsIgnored) {
  const std::vector<Step> first = {From("p0", Upsert(1, {10}, "x"), 0),
                                   From("p0", Delete(1, {20}), 1),
                                   {From("p0", NullValue(1), 2), kRepeat},
                                   From("p0", Upsert(1, {30}, "again"), 3)};
  for (size_t from = 0; from < 4; ++from) {
    std::vector<Step> script = first;
    for (size_t i = from; i < 4; ++i) script.push_back(AnyOutcome(first[i].record[0]));
    script.push_back(From("p0", Upsert(2, {40}, "next"), 4));
    ASSERT_TRUE(AlwaysGives(script, "1=again,- 2=next,- ")) << "re-read from " << from;
  }
}

TEST(NullValue, AloneReReadIsIgnoredToo) {
  EXPECT_TRUE(AlwaysGives({From("p0", Upsert(1, {10}, "x"), 0),
                           From("p0", NullValue(1), 1),
                           From("p0", Upsert(1, {30}, "again"), 2),
                           {From("p0", NullValue(1), 1), kRepeat},
                           {From("p0", Upsert(1, {30}, "again"), 2), kRepeat}},
                          "1=again,- "));
}

TEST(NullValue, BehindADeleteThatWasStale) {
  EXPECT_TRUE(AlwaysGives({From("p1", Upsert(1, {30}, "newer")),
                           From("p0", Upsert(9, {50}, "y")),
                           {From("p0", Delete(1, {20})), kStale},
                           {From("p0", NullValue(1)), kRepeat}},
                          "1=newer,- 9=y,- "));
}

TEST(NullValue, BehindADeleteBelowTheFloor) {
  EXPECT_TRUE(AlwaysGives({From("p1", Truncate({40})),
                           From("p0", Upsert(9, {60}, "y")),
                           {From("p0", Delete(1, {20})), kStale},
                           From("p1", Upsert(1, {50}, "newer")),
                           {From("p0", NullValue(1)), kRepeat}},
                          "1=newer,- 9=y,- "));
}

TEST(NullValue, EachPartitionRemembersItsOwnDeletes) {
  EXPECT_TRUE(AlwaysGives({From("p0", Upsert(1, {10}, "x")),
                           From("p0", Delete(1, {20})),
                           From("p1", Upsert(1, {30}, "y")),
                           From("p1", Delete(1, {40})),
                           From("p2", Upsert(1, {50}, "z")),
                           From("p0", Upsert(8, {60}, "t")),
                           From("p1", Upsert(9, {60}, "t")),
                           {From("p0", NullValue(1)), kRepeat},
                           {From("p1", NullValue(1)), kRepeat}},
                          "1=z,- 8=t,- 9=t,- "));
}

TEST(NullValue, InAnotherPartitionThanTheDeleteIsADeleteOfItsOwn) {
  EXPECT_TRUE(AlwaysGives({From("p0", Upsert(1, {10}, "x")),
                           From("p0", Delete(1, {20})),
                           From("p1", Upsert(2, {25}, "y")),
                           From("p1", NullValue(1)),
                           {From("p0", Upsert(1, {24}, "late")), kStale}},
                          "2=y,- "));
}

// Both halves of a one-record key change have one offset: neither is a re-read of the other.
TEST(NullValue, AKeyChangeInOneRecordEndsTheMemoryOfADelete) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {5}, "one"),
                           Upsert(2, {6}, "two"),
                           Delete(2, {10}),
                           {NullValue(2), kRepeat},
                           {{KeyDelete(1, {20}, 2), KeyUpsert(2, {20}, 1, "one")},
                            {Outcome::kApplied, Outcome::kApplied}},
                           {NullValue(1), kRepeat},
                           Upsert(3, {30}, "three"),
                           NullValue(2)},
                          "3=three,- "));
}

// A record whose second half failed was not applied: delivered again it is no re-read.
TEST(NullValue, ARecordThatFailedHalfWayIsNoReRead) {
  std::vector<TestChange> record = {From("0", KeyDelete(1, {20}, 2), 3),
                                    KeyUpsert(2, {20}, 1, kHidden, "B")};
  for (const bool restart : {false, true}) {
    StateFixture table;
    record[1].before_a.reset();
    ASSERT_TRUE(table.Apply(From("0", Upsert(2, {6}, "two"), 0)).ok());
    ASSERT_TRUE(table.Apply(From("0", Delete(2, {10}), 1)).ok());
    ASSERT_EQ(*table.Apply(From("0", NullValue(2), 2)), kRepeat);
    ASSERT_FALSE(table.ApplyRecord(record).ok()) << "key 1 has no row";
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    record[1].before_a = "fixed";
    ASSERT_TRUE(table.ApplyRecord(record).ok());
    ASSERT_EQ(*table.Apply(From("0", NullValue(2), 4)), Outcome::kApplied);
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "");
  }
}

TestChange NoCommit(TestChange change) {
  return WithFlags(std::move(change), kNoCommitSeen);
}

TEST(FirstTransaction, OutranksTheReadsOfItsSnapshot) {
  EXPECT_TRUE(AlwaysGives({Read(1, {100}, "read"), NoCommit(Upsert(1, {90, 90}, "streamed")),
                           Upsert(1, {110}, "later")},
                          "1=later,- "));
  EXPECT_TRUE(AlwaysGives({Read(1, {100}, "read"), NoCommit(Upsert(1, {90, 90}, "streamed")),
                           NoCommit(Upsert(1, {91, 91}, "more"))},
                          "1=more,- "));
}

TEST(FirstTransaction, IsOrderedInItself) {
  EXPECT_TRUE(AlwaysGives({Read(1, {100}, "read"),
                           NoCommit(Upsert(1, {91, 91}, "second")),
                           {NoCommit(Upsert(1, {90, 90}, "first")), kStale}},
                          "1=second,- "));
}

// Every event gets the version of its first reading, wherever the re-read begins and whatever
// snapshots came meanwhile.
TEST(FirstTransaction, ReReadAfterASecondSnapshot) {
  const std::vector<Step> first = {
      From("p0", Read(1, {100}, "r1"), 0), From("p0", NoCommit(Upsert(1, {90, 90}, "s1")), 1),
      From("p0", Upsert(1, {110}, "s2"), 2), From("p0", Read(1, {500}, "r2"), 3),
      From("p0", NoCommit(Upsert(2, {490, 490}, "s3")), 4)};
  for (size_t from = 0; from < first.size(); ++from) {
    std::vector<Step> script = first;
    for (size_t i = from; i < first.size(); ++i) {
      Step again = first[i];
      const bool newest = i >= 3;
      again.outcomes = {newest ? kRepeat : kStale};
      script.push_back(again);
    }
    ASSERT_TRUE(AlwaysGives(script, "1=r2,- 2=s3,- ")) << "re-read from " << from;
  }
}

// Positions start lower in a new epoch: a snapshot of the old one lifts nothing.
TEST(FirstTransaction, IsNotLiftedByASnapshotOfAnOlderEpoch) {
  for (const bool restart : {false, true}) {
    StateFixture table;
    ASSERT_TRUE(table.Apply(From("p0", Read(1, {1000}, "read"), 0)).ok());
    ASSERT_TRUE(table.Commit().ok());
    table.NextEpoch();
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    const TestChange first = From("p0", NoCommit(Upsert(1, {300, 300}, "first")), 1);
    const TestChange more = From("p0", NoCommit(Upsert(1, {310, 310}, "more")), 2);
    EXPECT_EQ(*table.Apply(first), Outcome::kApplied);
    if (restart) {
      ASSERT_TRUE(table.Commit().ok());
      table.Restart();
    }
    EXPECT_EQ(*table.Apply(more), Outcome::kApplied);
    EXPECT_EQ(*table.Apply(From("p0", Upsert(1, {400}, "later"), 3)), Outcome::kApplied);
    EXPECT_EQ(*table.Apply(first), kStale) << "a re-read";
    EXPECT_EQ(*table.Apply(more), kStale);
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "1=later,- ");
  }
}

TEST(Epoch, OutranksAllBefore) {
  for (const bool restart : {false, true}) {
    StateFixture table;
    ASSERT_TRUE(table.Apply(From("p0", Upsert(1, {1000}, "old"), 0)).ok());
    ASSERT_TRUE(table.Apply(From("p0", Delete(2, {1000}), 1)).ok());
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.NextEpoch(), 1u);
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    // A re-read of the old epoch stays in it.
    EXPECT_EQ(*table.Apply(From("p0", Upsert(1, {1000}, "old"), 0)), kRepeat);
    EXPECT_EQ(*table.Apply(From("p0", Upsert(1, {5}, "new"), 2)), Outcome::kApplied);
    EXPECT_EQ(*table.Apply(From("p0", Upsert(2, {6}, "new"), 3)), Outcome::kApplied);
    // An input that appears later begins in it.
    EXPECT_EQ(*table.Apply(From("p9", Upsert(3, {1}, "new"), 0)), Outcome::kApplied);
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    EXPECT_EQ(*table.Apply(From("p0", Upsert(1, {5}, "new"), 2)), kRepeat);
    EXPECT_EQ(*table.Apply(From("p0", Upsert(1, {1001}, "late of the old"), 1)), kStale);
    EXPECT_EQ(table.Text(), "1=new,- 2=new,- 3=new,- ");
  }
}

// A log that was made anew counts its records from the first on again.
TEST(Epoch, ALogThatWasMadeAnewBeginsInIt) {
  for (const bool restart : {false, true}) {
    StateFixture table;
    const auto step = [&](const TestChange& change, Outcome wanted) {
      EXPECT_EQ(*table.Apply(change), wanted);
      ASSERT_TRUE(table.Commit().ok());
      if (restart) table.Restart();
    };
    step(From("p0", Read(9, {2000}, "read"), 0), Outcome::kApplied);
    step(From("p0", Upsert(1, {3000}, "old"), 1), Outcome::kApplied);
    step(From("p0", Upsert(2, {3000}, "old"), 2), Outcome::kApplied);
    EXPECT_EQ(table.NextEpoch(), 1u);
    table.BeginLog("p0", 1);
    step(From("p0", NoCommit(Upsert(1, {5, 5}, "new")), 0), Outcome::kApplied);
    step(From("p0", Delete(2, {6}), 1), Outcome::kApplied);
    table.BeginLog("p0", 1);  // the same log goes on
    step(From("p0", NullValue(2), 2), kRepeat);
    step(From("p0", Upsert(2, {8}, "again"), 3), Outcome::kApplied);
    step(From("p0", Upsert(1, {5, 5}, "new"), 0), kRepeat);
    EXPECT_EQ(table.NextEpoch(), 2u);
    table.BeginLog("p0", 1);  // and into the next epoch, which it does not begin
    step(From("p0", Upsert(1, {7}, "of the first"), 3), Outcome::kApplied);
    step(From("p0", Upsert(1, {1}, "newest"), 4), Outcome::kApplied);
    EXPECT_EQ(table.Text(), "1=newest,- 2=again,- 9=read,- ");
  }
}

TEST(Epoch, FloorsOfAnOlderEpochRefuseNothingOfTheNext) {
  StateFixture table;
  ASSERT_TRUE(table.Apply(Upsert(1, {10}, "x")).ok());
  ASSERT_TRUE(table.Apply(Truncate({1000})).ok());
  ASSERT_TRUE(table.Commit().ok());
  table.NextEpoch();
  EXPECT_EQ(*table.Apply(Upsert(1, {5}, "new")), Outcome::kApplied);
}

TEST(UnpositionedReads, NeverConflictAndTheLaterOneStays) {
  EXPECT_TRUE(AlwaysGives({From("p0", Read(1, {0}, "one"), 0),
                           From("p0", Read(1, {0}, "two"), 1),
                           {From("p0", Read(1, {0}, "one"), 0), kStale},
                           {From("p0", Read(1, {0}, "two"), 1), kRepeat}},
                          "1=two,- "));
}

TEST(UnpositionedReads, AreBelowEveryStreamedChange) {
  EXPECT_TRUE(AlwaysGives({Delete(1, {1}),
                           Upsert(2, {1}, "s"),
                           {Read(1, {0}, "r"), kStale},
                           {Read(2, {0}, "r"), kStale},
                           Read(3, {0}, "r"),
                           Upsert(3, {1}, "s")},
                          "2=s,- 3=s,- "));
}

TestChange Arrives(TestChange change) {
  return WithFlags(std::move(change), kArrivalVersion);
}

TestChange UpdateBefore(int64_t key) {
  TestChange change = Delete(key, {0});
  change.flags = kArrivalVersion | kUpdateBefore;
  return change;
}

TEST(Changelog, ArrivalIsTheVersion) {
  EXPECT_TRUE(AlwaysGives(
      {Arrives(Upsert(1, {0}, "x")), Arrives(Upsert(1, {0}, "y")), Arrives(Delete(2, {0})),
       Arrives(Upsert(2, {0}, "z")), Arrives(Upsert(1, {0}, "x"))},
      "1=x,- 2=z,- "));
}

StateOptions Lone(LoneUpdateBefore lone) {
  StateOptions options;
  options.lone_update_before = lone;
  return options;
}

TEST(Changelog, UpdateBeforeIsSupersededByTheUpdateAfterOfItsKey) {
  for (const LoneUpdateBefore lone :
       {LoneUpdateBefore::kDelete, LoneUpdateBefore::kDrop, LoneUpdateBefore::kFail}) {
    EXPECT_TRUE(Gives(Lone(lone),
                      {Arrives(Upsert(1, {0}, "x")), UpdateBefore(1), Arrives(Upsert(2, {0}, "y")),
                       Arrives(Upsert(1, {0}, "x2"))},
                      "1=x2,- 2=y,- ", 0, true));
  }
}

TEST(Changelog, LoneUpdateBeforeByEachPolicy) {
  const std::vector<Step> script = {Arrives(Upsert(1, {0}, "x")), Arrives(Upsert(2, {0}, "y")),
                                    UpdateBefore(1)};
  for (const uint32_t cuts : {0u, 1u, 2u, 3u}) {
    EXPECT_TRUE(Gives(Lone(LoneUpdateBefore::kDelete), script, "2=y,- ", cuts, true));
    EXPECT_TRUE(Gives(Lone(LoneUpdateBefore::kDrop), script, "1=x,- 2=y,- ", cuts, true));
  }
  StateFixture table(Lone(LoneUpdateBefore::kFail));
  for (const Step& step : script) ASSERT_TRUE(table.Apply(step.record[0]).ok());
  const Status committed = table.Commit();
  ASSERT_FALSE(committed.ok());
  EXPECT_EQ(committed.error().kind, ErrorKind::kInvalidOperation);
}

}  // namespace
}  // namespace lastword
