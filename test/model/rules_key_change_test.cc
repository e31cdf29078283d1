// Key changes, halves that come apart, swaps: docs/ordering.md, "Key changes".
#include <gtest/gtest.h>

#include "model/script.h"

namespace lastword {
namespace {

Check NothingKept() {
  return [](StateFixture& table) {
    for (const auto& [key, stored] : table.state().extras()) {
      EXPECT_TRUE(stored.extra.kept.empty()) << "a row is kept for nobody";
      EXPECT_FALSE(stored.extra.waiting) << "a change waits for nobody";
    }
  };
}

std::vector<Outcome> Both(Outcome outcome) {
  return {outcome, outcome};
}

Step OneRecord(int64_t old_key, int64_t new_key, At at, Text a, Text b,
               Outcome outcome = Outcome::kApplied) {
  return {{KeyDelete(old_key, at, new_key), KeyUpsert(new_key, at, old_key, a, b)}, Both(outcome)};
}

TEST(KeyChange, AsOneRecordCarriesUnavailableColumnsOver) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), OneRecord(1, 2, {20}, kHidden, "B2"),
                           OneRecord(1, 2, {20}, kHidden, "B2", Outcome::kRepeat)},
                          "2=A,B2 ", NothingKept()));
}

TEST(KeyChange, HalvesInOrderAndApart) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyDelete(1, {20}, 2),
                           Upsert(7, {21}, "other"), KeyUpsert(2, {20}, 1, kHidden, "B2")},
                          "2=A,B2 7=other,- ", NothingKept()));
}

TEST(KeyChange, UpsertHalfThatComesFirstWaits) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "A", "B"), KeyUpsert(2, {20}, 1, kHidden, "B2"), Upsert(7, {21}, "other")},
      "1=A,B 7=other,- ", [](StateFixture& table) {
        ASSERT_EQ(table.state().extras().size(), 1u);
        EXPECT_TRUE(table.state().extras().begin()->second.extra.waiting);
      }));
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           Upsert(7, {21}, "other"), KeyDelete(1, {20}, 2)},
                          "2=A,B2 7=other,- ", NothingKept()));
}

TEST(KeyChange, WaitingChangesAreRepeatsWhenTheyComeAgain) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           {KeyUpsert(2, {20}, 1, kHidden, "B2"), Outcome::kRepeat},
                           KeyDelete(1, {20}, 2),
                           {KeyUpsert(2, {20}, 1, kHidden, "B2"), Outcome::kRepeat},
                           {KeyDelete(1, {20}, 2), Outcome::kRepeat}},
                          "2=A,B2 ", NothingKept()));
}

TEST(KeyChange, TheWaitingHalfIsFoundByADeleteThatDoesNotNameIt) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           KeyDelete(1, {20}, kUnnamed)},
                          "2=A,B2 ", NothingKept()));
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyDelete(1, {20}, kUnnamed),
                           KeyUpsert(2, {20}, 1, kHidden, "B2")},
                          "2=A,B2 ", NothingKept()));
}

TEST(KeyChange, CompleteUpsertHalvesNeverWaitAndReleaseTheKeptRow) {
  const std::vector<Step> halves[] = {{KeyDelete(1, {20}, 2), KeyUpsert(2, {20}, 1, "A2", "B2")},
                                      {KeyUpsert(2, {20}, 1, "A2", "B2"), KeyDelete(1, {20}, 2)}};
  for (const std::vector<Step>& half : halves) {
    EXPECT_TRUE(
        AlwaysGives({Upsert(1, {10}, "A", "B"), half[0], half[1]}, "2=A2,B2 ", NothingKept()));
  }
}

TEST(KeyChange, NewerStatesOfTheNewKeyNeedNoRow) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           Upsert(2, {30}, "A3", "B3"),
                           KeyDelete(1, {20}, 2),
                           {KeyUpsert(2, {20}, 1, kHidden, "B2"), Outcome::kStale}},
                          "2=A3,B3 ", NothingKept()));
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           Delete(2, {30}), KeyDelete(1, {20}, 2)},
                          "", NothingKept()));
}

TEST(KeyChange, AStaleUpsertHalfReleasesTheKeptRow) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           KeyDelete(1, {20}, 2),
                           Upsert(2, {30}, "A3"),
                           {KeyUpsert(2, {20}, 1, kHidden, "B2"), Outcome::kStale}},
                          "2=A3,- ", NothingKept()));
}

TEST(KeyChange, WithoutARowOfTheOldKeyIsAnError) {
  const ErrorKind kNoBase = ErrorKind::kUnavailableWithoutBase;
  EXPECT_TRUE(
      AlwaysGives({KeyDelete(1, {20}, 2), {KeyUpsert(2, {20}, 1, kHidden, "B2"), kNoBase}}, ""));
  TestChange upsert = KeyUpsert(2, {20}, 1, kHidden, "B2");
  upsert.before_a = "A";
  EXPECT_TRUE(AlwaysGives({KeyDelete(1, {20}, 2), upsert}, "2=A,B2 "));
}

// A record is applied or not: its delete half does not stay without the upsert half.
TEST(KeyChange, ARecordWhoseUpsertHalfFailsLeavesNothing) {
  const std::vector<TestChange> record = {KeyDelete(3, {30, 1}, 2),
                                          KeyUpsert(2, {30, 1}, 3, kHidden, "B4")};
  Step fails(record, {});
  fails.error = ErrorKind::kPkOverlapInTransaction;
  const std::vector<Step> script = {Upsert(1, {10}, "A", "B"), Upsert(3, {11}, "A3", "B3"),
                                    KeyUpsert(2, {20}, 1, kHidden, "B2"), fails};
  EXPECT_TRUE(AlwaysGives(script, "1=A,B 3=A3,B3 "));
  std::vector<Step> again = script;
  again.insert(again.end(), {KeyDelete(1, {20}, 2), {record, Both(Outcome::kApplied)}});
  EXPECT_TRUE(AlwaysGives(again, "2=A3,B4 ", NothingKept()));
  // Nor does the upsert half of another record that waited for it.
  Step no_base({KeyDelete(5, {30}, 6), KeyUpsert(6, {30}, 5, kHidden, "B")}, {});
  no_base.error = ErrorKind::kUnavailableWithoutBase;
  EXPECT_TRUE(AlwaysGives(
      {no_base, Upsert(5, {10}, "late"), {no_base.record, Both(Outcome::kApplied)}}, "6=late,B "));
}

// The delete half brings no row for the change that waits: an error, and nothing of it is applied,
// so that it can be delivered again once the row is there.
TEST(KeyChange, AWaitingHalfWhoseOldKeyHasNoRowIsAnErrorWithoutEffect) {
  EXPECT_TRUE(AlwaysGives({KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           {KeyDelete(1, {20}, 2), ErrorKind::kUnavailableWithoutBase},
                           Upsert(1, {10}, "A", "B"),
                           KeyDelete(1, {20}, 2)},
                          "2=A,B2 ", NothingKept()));
}

// The columns of the new key come from the old key: its own row is another row.
TEST(KeyChange, AnUpsertHalfThatDoesNotNameItsOldKeyTakesNoOtherRow) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(2, {10}, "not mine", "B"),
       {KeyUpsert(2, {20}, kUnnamed, kHidden, "B2"), ErrorKind::kUnavailableWithoutBase}},
      "2=not mine,B "));
  TestChange upsert = KeyUpsert(2, {20}, kUnnamed, kHidden, "B2");
  upsert.before_a = "A";
  EXPECT_TRUE(AlwaysGives({Upsert(2, {10}, "not mine", "B"), upsert}, "2=A,B2 "));
}

TEST(KeyChange, LateImagesOfTheOldKeyDoNotFillTheNewOne) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           OneRecord(1, 2, {30}, kHidden, "B3"),
                           {Upsert(1, {20}, "A2", "B2"), Outcome::kStale}},
                          "2=A,B3 "));
}

TEST(KeyChange, ThereAndBackAgain) {
  EXPECT_TRUE(
      AlwaysGives({Upsert(1, {10}, "A", "B"), OneRecord(1, 2, {20}, kHidden, "B2"),
                   OneRecord(2, 1, {30}, kHidden, "B3"), OneRecord(1, 2, {40}, kHidden, "B4")},
                  "2=A,B4 ", NothingKept()));
}

TEST(WaitingChange, IsSupersededByANewerCompleteImage) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           Upsert(2, {30}, "A3", "B3"), KeyDelete(1, {20}, 2)},
                          "2=A3,B3 ", NothingKept()));
}

TEST(WaitingChange, TakesFurtherPartialImagesIn) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           Upsert(2, {30}, kHidden, "B3"), KeyDelete(1, {20}, 2)},
                          "2=A,B3 ", NothingKept()));
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           Upsert(2, {30}, "A3", kHidden), KeyDelete(1, {20}, 2)},
                          "2=A3,B2 ", NothingKept()));
}

// What F045 says of a row holds for a change that waits: images between the key change and the
// newest partial image tell what the columns really were.
TEST(WaitingChange, ColumnsOfMergedImagesAreFilledByLateOnes) {
  const Step base = Upsert(1, {10}, "A", "B");
  const Step half = KeyUpsert(2, {20}, 1, kHidden, "b20");
  const Step late = Upsert(2, {25}, "a25", "b25");
  EXPECT_TRUE(
      AlwaysGives({base, half, Upsert(2, {30}, "a30", kHidden), late, KeyDelete(1, {20}, 2)},
                  "2=a30,b25 ", NothingKept()));
  EXPECT_TRUE(
      AlwaysGives({base, half, Upsert(2, {30}, kHidden, "b30"), late, KeyDelete(1, {20}, 2)},
                  "2=a25,b30 ", NothingKept()));
  EXPECT_TRUE(
      AlwaysGives({base, half, Upsert(2, {30}, kHidden, kHidden), late, KeyDelete(1, {20}, 2)},
                  "2=a25,b25 ", NothingKept()));
  EXPECT_TRUE(
      AlwaysGives({base, half, Upsert(2, {30}, kHidden, kHidden), KeyDelete(1, {20}, 2), late},
                  "2=a25,b25 ", NothingKept()));
}

// What the old row of the key carried does not pass on to the row that replaces it.
TEST(WaitingChange, TakesNothingFromLateImagesOfTheOldRow) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           Upsert(2, {5}, "x", "y"),
                           Upsert(2, {11}, kHidden, "y2"),
                           KeyUpsert(2, {30}, 1, kHidden, "B2"),
                           {Upsert(2, {20}, "wrong", "wrong"), Outcome::kStale},
                           KeyDelete(1, {30}, 2),
                           {Upsert(2, {21}, "wrong"), Outcome::kStale}},
                          "2=A,B2 ", NothingKept()));
}

TEST(WaitingChange, ChangesBelowItAreStale) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           Upsert(2, {5}, "old", "old"),
                           KeyUpsert(2, {20}, 1, kHidden, "B2"),
                           {Upsert(2, {15}, "late"), Outcome::kStale},
                           {Delete(2, {16}), Outcome::kStale},
                           KeyDelete(1, {20}, 2)},
                          "2=A,B2 ", NothingKept()));
}

TEST(WaitingChange, ItsKeyCannotChangeAgain) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           KeyUpsert(2, {20, 1}, 1, kHidden, "B2"),
                           {KeyDelete(2, {20, 2}, 3), ErrorKind::kPkOverlapInTransaction},
                           KeyDelete(1, {20, 1}, 2),
                           KeyDelete(2, {20, 2}, 3),
                           KeyUpsert(3, {20, 2}, 2, kHidden, "B3")},
                          "3=A,B3 ", NothingKept()));
}

// A row moves to a key whose own row is still to come: the delete that follows would mean that one.
TEST(WaitingChange, NoOtherRowTakesItsPlace) {
  for (const Text& a : {Text(kHidden), Text("A3")}) {
    EXPECT_TRUE(
        AlwaysGives({Upsert(1, {10}, "A", "B"),
                     Upsert(3, {11}, "A3", "B3"),
                     KeyUpsert(2, {20}, 1, kHidden, "B2"),
                     KeyDelete(3, {30, 1}, 2),
                     {KeyUpsert(2, {30, 1}, 3, a, "B4"), ErrorKind::kPkOverlapInTransaction},
                     KeyDelete(1, {20}, 2),
                     KeyUpsert(2, {30, 1}, 3, a, "B4"),
                     KeyDelete(2, {30, 2}, 3),
                     KeyUpsert(3, {30, 2}, 2, kHidden, "B5")},
                    "2=A3,B4 3=A,B5 ", NothingKept()));
  }
}

// k1 -> k2 and k2 -> k1 in one transaction, each key's changes in their order.
struct Swap {
  Step delete1, upsert2, delete2, upsert1;
};

Swap SwapOf(Text a2, Text a1) {
  return {AnyOutcome(KeyDelete(1, {30, 1}, 2)), AnyOutcome(KeyUpsert(2, {30, 1}, 1, a2, "to 2")),
          AnyOutcome(KeyDelete(2, {30, 2}, 1)), AnyOutcome(KeyUpsert(1, {30, 2}, 2, a1, "to 1"))};
}

TEST(KeySwap, OfCompleteImagesInEveryDelivery) {
  const Swap swap = SwapOf("one", "two");
  for (std::vector<Step> script :
       Interleavings({{swap.delete1, swap.upsert1}, {swap.upsert2, swap.delete2}})) {
    script.insert(script.begin(), {Upsert(1, {10}, "one", "B"), Upsert(2, {11}, "two", "B")});
    ASSERT_TRUE(AlwaysGives(script, "1=two,to 1 2=one,to 2 ", NothingKept()));
  }
}

TEST(KeySwap, DeliveredTwice) {
  const Swap swap = SwapOf("one", "two");
  std::vector<Step> script = {Upsert(1, {10}, "one", "B"), Upsert(2, {11}, "two", "B")};
  for (int i = 0; i < 2; ++i) {
    script.insert(script.end(), {swap.delete1, swap.upsert2, swap.delete2, swap.upsert1});
  }
  EXPECT_TRUE(AlwaysGives(script, "1=two,to 1 2=one,to 2 ", NothingKept()));
}

// With unavailable columns some deliveries cannot be right: those stop, none is wrong.
TEST(KeySwap, WithUnavailableColumnsIsRightOrAnError) {
  const Swap swap = SwapOf(kHidden, kHidden);
  int right = 0, stopped = 0;
  for (std::vector<Step> script :
       Interleavings({{swap.delete1, swap.upsert1}, {swap.upsert2, swap.delete2}})) {
    script.insert(script.begin(), {Upsert(1, {10}, "one", "B"), Upsert(2, {11}, "two", "B")});
    for (uint32_t cuts = 0; cuts < 32; ++cuts) {
      for (const bool restart : {false, true}) {
        StateFixture table;
        std::optional<ErrorKind> error;
        for (size_t i = 0; i < script.size() && !error; ++i) {
          const auto outcomes = table.ApplyRecord(script[i].record);
          if (!outcomes.ok()) error = outcomes.error().kind;
          if (!error && cuts >> i & 1) {
            ASSERT_TRUE(table.Commit().ok());
            if (restart) table.Restart();
          }
        }
        ASSERT_TRUE(table.Commit().ok());
        ++(error ? stopped : right);
        if (error) {
          ASSERT_EQ(*error, ErrorKind::kPkOverlapInTransaction) << ToText(script);
        } else {
          ASSERT_EQ(table.Text(), "1=two,to 1 2=one,to 2 ") << ToText(script) << cuts;
        }
      }
    }
  }
  EXPECT_GT(right, stopped) << "only deliveries that overlap apart may stop";
}

TEST(KeySwap, InTheOrderOfTheLogNeedsNoSecondTry) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "one", "B"), Upsert(2, {11}, "two", "B"),
       OneRecord(1, 2, {30, 1}, kHidden, "to 2"), OneRecord(2, 1, {30, 2}, kHidden, "to 1")},
      "1=two,to 1 2=one,to 2 ", NothingKept()));
}

TEST(KeySwap, ThreeCyclesInEveryDelivery) {
  const auto del = [](int64_t from, int64_t to, uint64_t mid) {
    return AnyOutcome(KeyDelete(from, {30, mid}, to));
  };
  const auto set = [](int64_t from, int64_t to, uint64_t mid) {
    return AnyOutcome(KeyUpsert(to, {30, mid}, from, "was " + std::to_string(from), "x"));
  };
  const std::vector<std::vector<Step>> queues = {
      {del(1, 2, 1), set(3, 1, 3)}, {set(1, 2, 1), del(2, 3, 2)}, {set(2, 3, 2), del(3, 1, 3)}};
  for (std::vector<Step> script : Interleavings(queues)) {
    script.insert(script.begin(),
                  {Upsert(1, {10}, "1"), Upsert(2, {11}, "2"), Upsert(3, {12}, "3")});
    for (const uint32_t cuts : {0u, 0xffu, 0x55u, 0xaau, 0x10u, 0x30u}) {
      ASSERT_TRUE(Gives({}, script, "1=was 3,x 2=was 1,x 3=was 2,x ", cuts, true, NothingKept()));
    }
  }
}

TEST(KeySwap, ChainsInsideOneTransaction) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "one", "B"), Upsert(2, {11}, "two", "B"),
       OneRecord(2, 3, {30, 1}, kHidden, "to 3"), OneRecord(1, 2, {30, 2}, kHidden, "to 2")},
      "2=one,to 2 3=two,to 3 ", NothingKept()));
}

TEST(KeySwap, TwiceInOneTransaction) {
  std::vector<Step> script = {Upsert(1, {10}, "one", "B"), Upsert(2, {11}, "two", "B")};
  for (uint64_t mid = 1; mid <= 4; mid += 2) {
    script.push_back(OneRecord(1, 2, {30, mid}, kHidden, "to 2"));
    script.push_back(OneRecord(2, 1, {30, mid + 1}, kHidden, "to 1"));
  }
  EXPECT_TRUE(AlwaysGives(script, "1=one,to 1 2=two,to 2 ", NothingKept()));
}

// The mark belongs to its transaction: a later one that moves the key means the row that is there.
TEST(KeySwap, TheMarkEndsWithItsTransaction) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "one", "B"), Upsert(2, {11}, "two", "B"),
       OneRecord(1, 2, {30, 1}, kHidden, "to 2"), OneRecord(2, 3, {40, 1}, kHidden, "to 3")},
      "3=one,to 3 "));
}

// Nothing after the swap is lost: the next change of each key applies, and older ones do not.
TEST(KeySwap, LaterChangesGoOn) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "one", "B"),
                           Upsert(2, {11}, "two", "B"),
                           OneRecord(1, 2, {30, 1}, kHidden, "to 2"),
                           OneRecord(2, 1, {30, 2}, kHidden, "to 1"),
                           {Delete(2, {29}), Outcome::kStale},
                           Upsert(2, {30, 3}, kHidden, "later"),
                           Delete(1, {31})},
                          "2=one,later "));
}

// The first transaction behind a snapshot has no commit position: its events share none in hi, and
// are one transaction all the same.
TEST(KeySwap, InTheFirstTransactionBehindASnapshot) {
  const auto first = [](TestChange change) { return WithFlags(std::move(change), kNoCommitSeen); };
  EXPECT_TRUE(AlwaysGives(
      {Read(1, {100}, "one"),
       Read(2, {100}, "two"),
       {{first(KeyDelete(1, {110, 110}, 2)), first(KeyUpsert(2, {110, 110}, 1, "one", "to 2"))},
        Both(Outcome::kApplied)},
       {{first(KeyDelete(2, {120, 120}, 1)), first(KeyUpsert(1, {120, 120}, 2, "two", "to 1"))},
        Both(Outcome::kApplied)}},
      "1=two,to 1 2=one,to 2 ", NothingKept()));
}

}  // namespace
}  // namespace lastword
