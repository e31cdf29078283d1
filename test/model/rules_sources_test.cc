// Several source tables in one table: docs/ordering.md.
#include <gtest/gtest.h>

#include "model/script.h"

namespace lastword {
namespace {

constexpr Outcome kStale = Outcome::kStale;
constexpr Outcome kRepeat = Outcome::kRepeat;

TestChange End(TestChange read) {
  return WithFlags(std::move(read), kSnapshotEnd);
}

TestChange Shared(TestChange change) {
  return WithFlags(std::move(change), kSharedOrigin);
}

StateOptions On(OnResnapshot on) {
  StateOptions options;
  options.on_resnapshot = on;
  return options;
}

TEST(Sources, ATruncateRemovesRowsOfItsSourceOnly) {
  EXPECT_TRUE(AlwaysGives(
      {Of("a", Upsert(1, {10}, "x")), Of("b", Upsert(1, {10}, "y")), Of("a", Upsert(2, {30}, "x2")),
       Of("a", Truncate({20})), Of("b", Upsert(2, {40}, "y2")), Of("a", Upsert(1, {50}, "x3"))},
      "a.1=x3,- a.2=x2,- b.1=y,- b.2=y2,- "));
}

TEST(Sources, ATruncateRefusesLateChangesOfItsSourceOnly) {
  EXPECT_TRUE(AlwaysGives({Of("a", Upsert(1, {10}, "x")),
                           Of("a", Truncate({20})),
                           {Of("a", Upsert(1, {15}, "late")), kStale},
                           {Of("a", Upsert(7, {20}, "late")), kStale},
                           Of("b", Upsert(1, {15}, "in time")),
                           Of("b", Delete(2, {12})),
                           {Of("b", Upsert(2, {11}, "late")), kStale}},
                          "b.1=in time,- ", [](StateFixture& table) {
                            EXPECT_EQ(table.state().head().totals.below_floor, 2u);
                            EXPECT_EQ(table.tombstones(), 1u);
                          }));
}

TEST(Sources, TruncatesOfTwoSourcesAreOfTheirOwn) {
  EXPECT_TRUE(AlwaysGives({Of("a", Upsert(1, {10}, "x")),
                           Of("b", Upsert(1, {10}, "y")),
                           Of("b", Truncate({5})),
                           Of("a", Truncate({20})),
                           {Of("a", Truncate({20})), kRepeat},
                           {Of("a", Truncate({15})), kStale},
                           Of("b", Truncate({20}))},
                          ""));
}

TEST(Sources, ATruncateMakesTombstonesOfItsSourceRedundant) {
  EXPECT_TRUE(AlwaysGives({Of("a", Delete(1, {5})), Of("b", Delete(1, {5})),
                           Of("a", Delete(2, {30})), Of("a", Truncate({20}))},
                          "", [](StateFixture& table) { EXPECT_EQ(table.tombstones(), 2u); }));
}

TEST(Sources, ATruncateLeavesWhatWaitsAndIsKeptOfOthers) {
  EXPECT_TRUE(AlwaysGives({Of("a", Upsert(1, {10}, "A", "B")), Of("b", Upsert(1, {10}, "A", "B")),
                           Of("a", KeyDelete(1, {12}, 2)), Of("b", KeyDelete(1, {12}, 2)),
                           Of("a", Truncate({20})), Of("b", KeyUpsert(2, {12}, 1, kHidden, "B2"))},
                          "b.2=A,B2 ", [](StateFixture& table) {
                            for (const auto& [key, stored] : table.state().extras()) {
                              EXPECT_TRUE(stored.extra.kept.empty());
                            }
                          }));
}

// The memory of a delete whose null-value record may come outlives the tombstone.
TEST(Sources, ATruncateKeepsTheMemoryOfDeletes) {
  EXPECT_TRUE(AlwaysGives({From("p0", Of("a", Upsert(1, {5}, "x"))),
                           From("p0", Of("a", Delete(1, {10}))),
                           From("p1", Of("a", Truncate({20}))),
                           From("p0", Of("a", Upsert(9, {50}, "other"))),
                           From("p1", Of("a", Upsert(1, {30}, "again"))),
                           {From("p0", Of("a", NullValue(1))), kRepeat}},
                          "a.1=again,- a.9=other,- "));
}

// A null-value record stands for a delete at the highest version of its source table.
TEST(Sources, ANullValueTakesTheVersionOfItsOwnSource) {
  EXPECT_TRUE(AlwaysGives(
      {From("p0", Of("a", Upsert(1, {10}, "x"))), From("p0", Of("b", Upsert(1, {90}, "y"))),
       From("p0", Of("a", NullValue(1))), From("p0", Of("a", Upsert(1, {20}, "again")))},
      "a.1=again,- b.1=y,- "));
}

// The snapshot of one database says nothing of the positions of another in the same partition.
TEST(Sources, ASnapshotLiftsTheFirstTransactionOfItsOwnSource) {
  TestChange first = Of("b", Upsert(1, {20}, "first"));
  first.flags |= kNoCommitSeen;
  EXPECT_TRUE(AlwaysGives({From("p0", Of("a", Read(1, {1000}))), From("p0", first),
                           From("p0", Of("b", Upsert(1, {30}, "second")))},
                          "a.1=r,- b.1=second,- "));
}

TEST(Sources, ReplaceRemovesRowsOfTheSnapshotsSourceOnly) {
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kReplace),
                          {Of("a", Upsert(1, {10}, "x")),
                           Of("b", Upsert(1, {10}, "y")),
                           Of("a", End(Read(2, {100}, "z"))),
                           {Of("a", Upsert(3, {50}, "late")), kStale},
                           Of("b", Upsert(3, {50}, "in time"))},
                          "a.2=z,- b.1=y,- b.3=in time,- "));
}

TEST(Sources, ASnapshotEndWaitsForTheInputsOfItsSourceOnly) {
  EXPECT_TRUE(AlwaysGives(
      On(OnResnapshot::kReplace),
      {From("p0", Of("a", Upsert(1, {10}, "x"))), From("p1", Of("b", Upsert(1, {10}, "y"))),
       From("p0", Of("a", End(Read(2, {100}, "z"))))},
      "a.2=z,- b.1=y,- "));
  EXPECT_TRUE(AlwaysGives(
      On(OnResnapshot::kReplace),
      {From("p0", Of("a", Upsert(1, {10}, "x"))), From("p1", Of("a", Upsert(3, {10}, "y"))),
       From("p0", Of("a", End(Read(2, {100}, "z"))))},
      "a.1=x,- a.2=z,- a.3=y,- "));
}

TEST(Sources, TwoSnapshotsEndEachForItself) {
  for (const bool restart : {false, true}) {
    StateFixture table(On(OnResnapshot::kReplace), true);
    const auto step = [&](TestChange change) {
      ASSERT_TRUE(table.Apply(change).ok());
      if (!restart) return;
      ASSERT_TRUE(table.Commit().ok());
      table.Restart();
    };
    step(From("p0", Of("a", Upsert(1, {10}, "x"))));
    step(From("p1", Of("a", Upsert(2, {10}, "x"))));
    step(From("p0", Of("b", Upsert(1, {10}, "y"))));
    step(From("p1", Of("b", Upsert(2, {10}, "y"))));
    step(From("p0", Of("a", End(Read(3, {100}, "z")))));
    step(From("p0", Of("b", End(Read(3, {200}, "z")))));
    EXPECT_EQ(table.state().head().snapshot_ends.size(), 2u);
    step(From("p1", Of("a", Read(4, {100}, "z"))));
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "a.3=z,- a.4=z,- b.1=y,- b.2=y,- b.3=z,- ");
    ASSERT_TRUE(table.EndOfInputs().ok());
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "a.3=z,- a.4=z,- b.3=z,- ");
  }
}

TEST(Sources, UnsetIsASourceGapWhereRowsOfThatSourceAreLeft) {
  EXPECT_TRUE(AlwaysGives({Of("b", Upsert(1, {10}, "y")), Of("a", End(Read(2, {100}, "z")))},
                          "a.2=z,- b.1=y,- "));
  EXPECT_TRUE(AlwaysGives(
      {Of("a", Upsert(1, {10}, "x")), {Of("a", End(Read(2, {100}, "z"))), ErrorKind::kSourceGap}},
      "a.1=x,- "));
}

TEST(Sources, CleanUpRaisesTheFloorOfAll) {
  for (const bool restart : {false, true}) {
    StateFixture table({}, true);
    ASSERT_TRUE(table.Apply(Of("a", Upsert(1, {10}, "x"))).ok());
    ASSERT_TRUE(table.Apply(Of("a", Truncate({20}))).ok());
    ASSERT_TRUE(table.Apply(Of("b", Delete(1, {25}))).ok());
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    EXPECT_EQ(table.Collect({0, 30, 0, 0}), 1u);
    if (restart) table.Restart();
    EXPECT_EQ(*table.Apply(Of("a", Upsert(1, {25}, "late"))), kStale);
    EXPECT_EQ(*table.Apply(Of("b", Upsert(1, {25}, "late"))), kStale);
    EXPECT_EQ(*table.Apply(Of("b", Upsert(1, {31}, "new"))), Outcome::kApplied);
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "b.1=new,- ");
  }
}

TEST(Sources, WhatCannotBeToldApartIsUnsupported) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "x"), {Shared(Truncate({20})), ErrorKind::kUnsupportedOp}}, "1=x,- "));
  EXPECT_TRUE(AlwaysGives(
      On(OnResnapshot::kReplace),
      {Upsert(1, {10}, "x"), {Shared(End(Read(3, {100}, "z"))), ErrorKind::kUnsupportedOp}},
      "1=x,- "));
  EXPECT_TRUE(AlwaysGives(On(OnResnapshot::kMerge),
                          {Upsert(1, {10}, "x"), Shared(End(Read(3, {100}, "z")))},
                          "1=x,- 3=z,- "));
}

TEST(Sources, WhatCannotBeToldApartIsUnsupportedAtTheEndOfInputsToo) {
  for (const bool restart : {false, true}) {
    StateFixture table(On(OnResnapshot::kReplace));
    ASSERT_TRUE(table.Apply(From("p0", Upsert(1, {10}, "x"))).ok());
    ASSERT_TRUE(table.Apply(From("p1", Upsert(2, {11}, "y"))).ok());
    ASSERT_TRUE(table.Apply(From("p0", Shared(End(Read(3, {100}, "z"))))).ok());
    ASSERT_TRUE(table.Commit().ok());
    if (restart) table.Restart();
    const Status ended = table.EndOfInputs();
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().kind, ErrorKind::kUnsupportedOp);
    ASSERT_TRUE(table.Commit().ok());
    EXPECT_EQ(table.Text(), "1=x,- 2=y,- 3=z,- ");
  }
}

}  // namespace
}  // namespace lastword
