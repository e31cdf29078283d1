// Truncates, ends of snapshots, floors and the collection of tombstones: docs/ordering.md.
#include <gtest/gtest.h>

#include "model/script.h"

namespace lastword {
namespace {

constexpr Outcome kStale = Outcome::kStale;
constexpr Outcome kRepeat = Outcome::kRepeat;

TEST(Truncate, RemovesWhatIsAtOrBelowItAndNothingElse) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "x"), Upsert(2, {30}, "y"), Truncate({20}), Upsert(3, {40}, "z")},
      "2=y,- 3=z,- "));
}

TEST(Truncate, ARowAtItsVersionGoes) {
  TestChange row = Upsert(1, {20}, "x");
  EXPECT_TRUE(AlwaysGives({row, Truncate({20})}, ""));
}

TEST(Truncate, LateChangesBelowItAreRefusedAndCounted) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "x"),
       Truncate({20}),
       {Upsert(1, {15}, "late"), kStale},
       {Delete(2, {15}), kStale},
       {Upsert(3, {20}, "at it"), kStale}},
      "", [](StateFixture& table) { EXPECT_EQ(table.state().head().totals.below_floor, 3u); }));
}

TEST(Truncate, ComesLate) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"), Upsert(2, {30}, "y"), Delete(3, {15}),
                           Truncate({20}), Upsert(1, {25}, "again")},
                          "1=again,- 2=y,- "));
}

TEST(Truncate, TwiceIsARepeatAndAnOlderOneIsStale) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"),
                           Truncate({20}),
                           Upsert(2, {30}, "y"),
                           {Truncate({20}), kRepeat},
                           {Truncate({5}), kStale}},
                          "2=y,- "));
}

TEST(Truncate, MakesTombstonesRedundant) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {5}, "x"),
                           Delete(1, {10}),
                           Delete(2, {30}),
                           Truncate({20}),
                           {Upsert(1, {7}, "late"), kStale}},
                          "", [](StateFixture& table) { EXPECT_EQ(table.tombstones(), 1u); }));
}

TEST(Truncate, TakesCarriedKeptAndWaitingAlong) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "A", "B"), Upsert(1, {11}, kHidden, "B2"), Upsert(2, {10}, "A", "B"),
       KeyDelete(2, {12}, 3), KeyUpsert(5, {13}, 4, kHidden, "B"), Truncate({20})},
      "", [](StateFixture& table) {
        EXPECT_EQ(table.ledger_rows(), 1u) << "the memory of a delete";
        EXPECT_EQ(table.tombstones(), 0u);
      }));
}

TEST(Truncate, LeavesWhatWaitsAboveIt) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {25}, "A", "B"),
                           KeyUpsert(2, {30}, 1, kHidden, "B2"),
                           {Upsert(2, {10}, "old"), kStale},
                           Truncate({20}),
                           KeyDelete(1, {30}, 2)},
                          "2=A,B2 "));
}

TEST(Truncate, LeavesRowsKeptAboveIt) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {25}, "A", "B"), KeyDelete(1, {30}, 2), Truncate({20}),
                           KeyUpsert(2, {30}, 1, kHidden, "B2")},
                          "2=A,B2 "));
}

// The memory of a delete belongs to its partition and outlives the tombstone: the null-value record
// behind it says nothing of the table.
TEST(Truncate, KeepsTheMemoryOfDeletes) {
  EXPECT_TRUE(AlwaysGives({From("p0", Upsert(1, {5}, "x")),
                           From("p0", Delete(1, {10})),
                           From("p1", Truncate({20})),
                           From("p0", Upsert(9, {50}, "other")),
                           From("p1", Upsert(1, {30}, "again")),
                           {From("p0", NullValue(1)), kRepeat}},
                          "1=again,- 9=other,- "));
}

// A floor may stand higher than any truncate (gc): rows that live below it are still there to go.
TEST(Truncate, BelowAFloorStillRemovesRows) {
  StateFixture table;
  ASSERT_TRUE(table.Apply(Upsert(1, {10}, "x")).ok());
  ASSERT_TRUE(table.Commit().ok());
  (void)table.Collect({0, 50, 0, 0});
  const auto outcome = table.Apply(Truncate({40}));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(*outcome, Outcome::kApplied);
  ASSERT_TRUE(table.Commit().ok());
  EXPECT_EQ(table.Text(), "");
}

TestChange End(TestChange read) {
  return WithFlags(std::move(read), kSnapshotEnd);
}

StateOptions On(OnResnapshot on) {
  StateOptions options;
  options.on_resnapshot = on;
  return options;
}

TEST(SnapshotEnd, ReplaceRemovesRowsThatItDidNotSee) {
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kReplace),
                          {Upsert(1, {10}, "x"), Upsert(2, {20}, "y"), Read(2, {100}, "y2"),
                           End(Read(3, {100}, "z")), Upsert(4, {110}, "new")},
                          "2=y2,- 3=z,- 4=new,- "));
}

TEST(SnapshotEnd, ReplaceRefusesLateChangesBelowTheReads) {
  EXPECT_TRUE(AlwaysGives(
      On(OnResnapshot::kReplace),
      {Upsert(1, {10}, "x"), End(Read(3, {100}, "z")), {Upsert(1, {50}, "late"), kStale}},
      "3=z,- "));
}

TEST(SnapshotEnd, MergeKeepsThem) {
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kMerge),
                          {Upsert(1, {10}, "x"), Read(2, {100}, "y"), End(Read(3, {100}, "z"))},
                          "1=x,- 2=y,- 3=z,- "));
}

TEST(SnapshotEnd, UnsetIsASourceGapWithoutEffect) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"),
                           Read(2, {100}, "y"),
                           {End(Read(3, {100}, "z")), ErrorKind::kSourceGap},
                           {End(Read(3, {100}, "z")), ErrorKind::kSourceGap}},
                          "1=x,- 2=y,- "));
}

TEST(SnapshotEnd, UnsetIsNoGapWhereEveryRowWasSeen) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "x"), Upsert(2, {10}, "y"), Delete(2, {20}),
                           Read(3, {100}, "z"), End(Read(1, {100}, "x2"))},
                          "1=x2,- 3=z,- "));
}

// Standard input has no positions: what another process read of it was something else.
TEST(SnapshotEnd, OfAStreamIsNewInEachProcess) {
  for (const std::string input : {"-", "-2", "orders.ndjson", "-orders:0"}) {
    StateFixture table;
    ASSERT_TRUE(table.Apply(From(input, Upsert(1, {10}, "x"), 900)).ok());
    ASSERT_TRUE(table.Commit().ok());
    table.Restart();
    const auto ended = table.Apply(From(input, End(Read(2, {100}, "y")), 7));
    const bool is_stream = input == "-" || input == "-2";
    EXPECT_EQ(ended.ok() ? ErrorKind::kInternal : ended.error().kind,
              is_stream ? ErrorKind::kSourceGap : ErrorKind::kInternal)
        << input;
  }
}

TEST(SnapshotEnd, FirstSnapshotIsNoGap) {
  EXPECT_TRUE(AlwaysGives({Read(1, {100}), End(Read(2, {100}))}, "1=r,- 2=r,- "));
}

// All reads of a MySQL snapshot stand at one place inside a binlog file.
TEST(SnapshotEnd, ReplaceReachesUpToTheReadsThemselves) {
  EXPECT_TRUE(
      AlwaysGives(On(OnResnapshot::kReplace),
                  {Upsert(1, {3, 100}, "x"), Read(2, {3, 500}, "y"), End(Read(3, {3, 500}, "z"))},
                  "2=y,- 3=z,- "));
}

TEST(SnapshotEnd, WaitsUntilEveryInputIsPastIt) {
  const std::vector<Step> begin = {From("p0", Upsert(1, {10}, "x")),
                                   From("p1", Upsert(2, {11}, "y")),
                                   From("p0", End(Read(3, {100}, "z")))};
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kReplace), begin, "1=x,- 2=y,- 3=z,- "));
  std::vector<Step> more = begin;
  more.push_back(From("p1", Read(2, {100}, "y2")));
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kReplace), more, "2=y2,- 3=z,- "));
  more.back() = From("p1", Upsert(2, {120}, "y3"));
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kReplace), more, "2=y3,- 3=z,- "));
}

TEST(SnapshotEnd, TheEndOfAllInputsCompletesIt) {
  for (const bool restart : {false, true}) {
    StateFixture table(On(OnResnapshot::kReplace));
    ASSERT_TRUE(table.Apply(From("p0", Upsert(1, {10}, "x"))).ok());
    ASSERT_TRUE(table.Apply(From("p1", Upsert(2, {11}, "y"))).ok());
    ASSERT_TRUE(table.Apply(From("p0", End(Read(3, {100}, "z")))).ok());
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    ASSERT_TRUE(table.EndOfInputs().ok());
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "3=z,- ");
  }
}

TEST(SnapshotEnd, TheEndOfAllInputsIsAGapWhereNothingIsDeclared) {
  StateFixture table;
  ASSERT_TRUE(table.Apply(From("p0", Upsert(1, {10}, "x"))).ok());
  ASSERT_TRUE(table.Apply(From("p1", Upsert(2, {11}, "y"))).ok());
  ASSERT_TRUE(table.Apply(From("p0", End(Read(3, {100}, "z")))).ok());
  const Status ended = table.EndOfInputs();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().kind, ErrorKind::kSourceGap);
}

TEST(SnapshotEnd, AReReadEndMeansNothing) {
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kReplace),
                          {From("p0", Read(1, {100}, "x"), 0),
                           From("p0", End(Read(2, {100}, "y")), 1),
                           {From("p1", Upsert(5, {90}, "gone when it was taken"), 0), kStale},
                           {From("p0", End(Read(2, {100}, "y")), 1), kRepeat}},
                          "1=x,- 2=y,- "));
  EXPECT_TRUE(AlwaysGives({From("p0", Read(1, {100}, "x"), 0),
                           From("p0", End(Read(2, {100}, "y")), 1),
                           From("p1", Upsert(5, {90}, "late"), 0),
                           {From("p0", End(Read(2, {100}, "y")), 1), kRepeat}},
                          "1=x,- 2=y,- 5=late,- "));
}

TEST(Floor, RefusesWhereThereIsNoRow) {
  for (const bool restart : {false, true}) {
    StateFixture table;
    ASSERT_TRUE(table.Apply(Upsert(1, {10}, "x")).ok());
    ASSERT_TRUE(table.Apply(Delete(1, {20})).ok());
    ASSERT_TRUE(table.Apply(Upsert(2, {15}, "y")).ok());
    ASSERT_TRUE(table.Apply(Delete(3, {40})).ok());
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    EXPECT_EQ(table.Collect({0, 30, 0, 0}), 1u);
    EXPECT_EQ(table.tombstones(), 1u);
    if (restart) table.Restart();
    const auto outcome = [&](const TestChange& change) { return *table.Apply(change); };
    EXPECT_EQ(outcome(Upsert(1, {15}, "back")), kStale);
    EXPECT_EQ(outcome(Upsert(1, {25}, "back")), kStale);
    EXPECT_EQ(outcome(Delete(1, {20})), kStale);
    EXPECT_EQ(outcome(Upsert(7, {30}, "never seen")), Outcome::kApplied) << "above: rank counts";
    EXPECT_EQ(outcome(Upsert(3, {35}, "back")), kStale);
    EXPECT_EQ(table.state().head().totals.below_floor, 3u);
    EXPECT_EQ(outcome(Upsert(2, {17}, "y2")), Outcome::kApplied) << "a live row goes on";
    EXPECT_EQ(outcome(Upsert(1, {31}, "new")), Outcome::kApplied);
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "1=new,- 2=y2,- 7=never seen,- ");
  }
}

TEST(Floor, ALiveRowBelowItCanBeDeletedAndThenNotComeBack) {
  for (const bool restart : {false, true}) {
    StateFixture table;
    ASSERT_TRUE(table.Apply(Upsert(1, {10}, "x")).ok());
    (void)table.Collect({0, 30, 0, 0});
    EXPECT_EQ(*table.Apply(Delete(1, {20})), Outcome::kApplied);
    if (restart) {
      ASSERT_TRUE(table.Commit().ok());
      table.Restart();
    }
    EXPECT_EQ(*table.Apply(Upsert(1, {25}, "back")), kStale);
    EXPECT_EQ(*table.Apply(Upsert(1, {31}, "new")), Outcome::kApplied);
  }
}

// Between a delete and its null-value record nobody can say that nothing below is to come: the
// record has no version.
TEST(Floor, CollectionKeepsTheMemoryOfDeletesWhoseNullValueMayCome) {
  for (const bool restart : {false, true}) {
    StateFixture table;
    const auto step = [&](const TestChange& change, Outcome wanted) {
      const auto outcome = table.Apply(change);
      ASSERT_TRUE(outcome.ok());
      EXPECT_EQ(*outcome, wanted);
      ASSERT_TRUE(table.Commit().ok());
      if (restart) table.Restart();
    };
    step(From("p0", Upsert(8, {4}, "x")), Outcome::kApplied);
    step(From("p0", Delete(8, {5})), Outcome::kApplied);
    step(From("p0", NullValue(8)), kRepeat);
    step(From("p0", Upsert(1, {6}, "x")), Outcome::kApplied);
    step(From("p0", Delete(1, {10})), Outcome::kApplied);
    EXPECT_EQ(table.Collect({0, 20, 0, 0}), 2u);
    EXPECT_EQ(table.tombstones(), 0u);
    EXPECT_EQ(table.ledger_rows(), 1u) << "one delete waits for its null-value record";
    if (restart) table.Restart();
    step(From("p0", Upsert(9, {50}, "other")), Outcome::kApplied);
    step(From("p1", Upsert(1, {30}, "again")), Outcome::kApplied);
    step(From("p0", NullValue(1)), kRepeat);
    EXPECT_EQ(table.Text(), "1=again,- 9=other,- ");
  }
}

// Looking at a key does not keep its tombstone.
TEST(Floor, CollectionTakesKeysThatWereLookedAt) {
  StateFixture table;
  ASSERT_TRUE(table.Apply(Delete(1, {10})).ok());
  ASSERT_TRUE(table.Commit().ok());
  ASSERT_EQ(table.state().extras().size(), 0u);
  (void)table.state().View(table.HashOf(1), {});
  EXPECT_EQ(table.Collect({0, 20, 0, 0}), 1u);
  EXPECT_EQ(table.tombstones(), 0u);
}

// The other half of a waiting change lies at or below the boundary: whoever declares it says that
// it never comes. If it does, it may not make the key visible again.
TEST(Floor, NoWaitingChangeBringsADeletedKeyBack) {
  for (const bool restart : {false, true}) {
    StateFixture table;
    ASSERT_TRUE(table.Apply(Upsert(1, {5}, "A", "B")).ok());
    ASSERT_TRUE(table.Apply(Upsert(2, {5}, "old")).ok());
    ASSERT_TRUE(table.Apply(Delete(2, {10})).ok());
    ASSERT_TRUE(table.Apply(KeyUpsert(2, {20}, 1, kHidden, "B2")).ok());
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    (void)table.Collect({0, 30, 0, 0});
    if (restart) table.Restart();
    EXPECT_EQ(*table.Apply(Upsert(2, {25}, "between")), kStale);
    ASSERT_TRUE(table.Apply(KeyDelete(1, {20}, 2)).ok());
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "");
    EXPECT_EQ(*table.Apply(Upsert(2, {31}, "new")), Outcome::kApplied);
  }
}

TEST(Floor, AKeptRowDoesNotBringADeletedKeyBack) {
  StateFixture table;
  ASSERT_TRUE(table.Apply(Upsert(1, {5}, "A", "B")).ok());
  ASSERT_TRUE(table.Apply(Upsert(2, {5}, "old")).ok());
  ASSERT_TRUE(table.Apply(Delete(2, {10})).ok());
  ASSERT_TRUE(table.Apply(KeyDelete(1, {20}, 2)).ok());
  ASSERT_TRUE(table.Commit().ok());
  (void)table.Collect({0, 30, 0, 0});
  EXPECT_EQ(*table.Apply(KeyUpsert(2, {20}, 1, kHidden, "B2")), kStale);
  ASSERT_TRUE(table.Commit().ok());
  EXPECT_EQ(table.Text(), "");
}

TEST(Conflict, QuarantineKeepsTheStateUntilAHigherVersion) {
  StateOptions options;
  options.on_conflict = OnConflict::kQuarantine;
  const std::vector<Step> script = {Upsert(1, {10}, "first"),
                                    {Upsert(1, {10}, "second"), Outcome::kConflict},
                                    {Upsert(1, {10}, "first"), kRepeat}};
  EXPECT_TRUE(AlwaysGives(options, script, "1=first,- ", [](StateFixture& table) {
    ASSERT_EQ(table.state().extras().size(), 1u);
    EXPECT_TRUE(table.state().extras().begin()->second.extra.quarantined);
    EXPECT_EQ(table.state().head().totals.quarantined, 1u);
  }));
  std::vector<Step> ended = script;
  ended.push_back(Upsert(1, {11}, "third"));
  EXPECT_TRUE(AlwaysGives(options, ended, "1=third,- ",
                          [](StateFixture& table) { EXPECT_EQ(table.ledger_rows(), 0u); }));
}

TEST(Conflict, FailStopsWithoutEffect) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "first"),
                           {Upsert(1, {10}, "second"), ErrorKind::kVersionConflict},
                           {Upsert(1, {10}, "second"), ErrorKind::kVersionConflict},
                           {Upsert(1, {10}, "first"), kRepeat}},
                          "1=first,- "));
}

TEST(Conflict, ADeleteAndAnUpsertOfOneVersion) {
  StateOptions options;
  options.on_conflict = OnConflict::kQuarantine;
  TestChange remove = Delete(1, {10});
  remove.version = Upsert(1, {10}, "x").version;
  EXPECT_TRUE(AlwaysGives(options, {Upsert(1, {10}, "x"), {remove, Outcome::kConflict}}, "1=x,- "));
  EXPECT_TRUE(AlwaysGives(options, {remove, {Upsert(1, {10}, "x"), Outcome::kConflict}}, ""));
}

}  // namespace
}  // namespace lastword
