// Partial images (unchanged out-of-line values): docs/ordering.md, "Partial images".
#include <gtest/gtest.h>

#include "model/script.h"

namespace lastword {
namespace {

TEST(PartialImage, TakesItsColumnsFromTheNewestRow) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"), Upsert(1, {20}, kHidden, "B2"),
                           Upsert(1, {30}, "A3", kHidden), Upsert(1, {40}, kHidden, kHidden)},
                          "1=A3,B2 "));
}

TEST(PartialImage, IsARepeatWhenItComesAgain) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A", "B"),
                           Upsert(1, {20}, kHidden, "B2"),
                           {Upsert(1, {20}, kHidden, "B2"), Outcome::kRepeat},
                           {Upsert(1, {10}, "A", "B"), Outcome::kStale}},
                          "1=A,B2 "));
}

// The digest is of the image as sent: what was filled in does not count.
TEST(PartialImage, AndACompleteOneOfTheSameVersionAreAConflict) {
  StateOptions options;
  options.on_conflict = OnConflict::kQuarantine;
  EXPECT_TRUE(AlwaysGives(options,
                          {Upsert(1, {10}, "A", "B"),
                           Upsert(1, {20}, kHidden, "B2"),
                           {Upsert(1, {20}, "A", "B2"), Outcome::kConflict}},
                          "1=A,B2 "));
}

TEST(PartialImage, StaleOnesNeedNoBase) {
  EXPECT_TRUE(AlwaysGives({Delete(1, {30}), {Upsert(1, {20}, kHidden, "B"), Outcome::kStale}}, ""));
}

TEST(PartialImage, NullInTheBaseStaysNull) {
  EXPECT_TRUE(
      AlwaysGives({Upsert(1, {10}, kNull, "B"), Upsert(1, {20}, kHidden, "B2")}, "1=-,B2 "));
}

TEST(PartialImage, WithoutABaseIsAnErrorWithoutEffect) {
  const ErrorKind kNoBase = ErrorKind::kUnavailableWithoutBase;
  EXPECT_TRUE(AlwaysGives({{Upsert(1, {20}, kHidden, "B"), kNoBase},
                           {Upsert(1, {20}, kHidden, "B"), kNoBase},
                           Upsert(1, {10}, "A", "B"),
                           Upsert(1, {20}, kHidden, "B2")},
                          "1=A,B2 "));
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "A"),
                           Delete(1, {15}),
                           {Upsert(1, {20}, kHidden, "B"), kNoBase},
                           {Upsert(1, {12}, "late"), Outcome::kStale}},
                          ""));
}

TEST(PartialImage, TakesValuesOfBeforeWhereThereIsNoRow) {
  TestChange change = Upsert(1, {20}, kHidden, "B");
  change.before_a = "old";
  EXPECT_TRUE(AlwaysGives({change}, "1=old,B "));
  EXPECT_TRUE(AlwaysGives({Delete(1, {10}), change}, "1=old,B "));
  // `before` is exact: an older image says nothing new.
  EXPECT_TRUE(AlwaysGives({change, {Upsert(1, {10}, "older", "x"), Outcome::kStale}}, "1=old,B "));
}

TEST(PartialImage, BeforeMustHaveAllUnavailableColumns) {
  TestChange change = Upsert(1, {20}, kHidden, kHidden);
  change.before_a = "old";
  EXPECT_TRUE(AlwaysGives({{change, ErrorKind::kUnavailableWithoutBase}}, ""));
}

// F045: what a column was while it was marked as unchanged may arrive late.
TEST(CarriedColumn, IsFilledByALateCompleteImage) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "old", "B"), Upsert(1, {30}, kHidden, "B3"), Upsert(1, {20}, "new", "B2")},
      "1=new,B3 "));
  // The row keeps its version: it is still the newest change.
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "old", "B"),
                           Upsert(1, {30}, kHidden, "B3"),
                           Upsert(1, {20}, "new", "B2"),
                           {Upsert(1, {30}, kHidden, "B3"), Outcome::kRepeat},
                           {Delete(1, {29}), Outcome::kStale}},
                          "1=new,B3 "));
}

TEST(CarriedColumn, TakesTheNewestOfSeveralLateImagesInAnyOrder) {
  const Step base = Upsert(1, {10}, "a10", "b10");
  const Step row = Upsert(1, {40}, kHidden, "b40");
  EXPECT_TRUE(
      AlwaysGives({base, row, Upsert(1, {20}, "a20"), Upsert(1, {30}, "a30")}, "1=a30,b40 "));
  EXPECT_TRUE(
      AlwaysGives({base, row, Upsert(1, {30}, "a30"), {Upsert(1, {20}, "a20"), Outcome::kStale}},
                  "1=a30,b40 "));
}

TEST(CarriedColumn, OnlyColumnsThatTheLateImageHasAreFilled) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "a10", "b10"), Upsert(1, {40}, kHidden, kHidden),
                           Upsert(1, {30}, kHidden, "b30"), Upsert(1, {20}, "a20", "b20")},
                          "1=a20,b30 "));
}

TEST(CarriedColumn, TheSameLateImageTwiceIsStale) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "old"),
                           Upsert(1, {30}, kHidden, "B3"),
                           Upsert(1, {20}, "new"),
                           {Upsert(1, {20}, "new"), Outcome::kStale},
                           {Upsert(1, {10}, "old"), Outcome::kStale}},
                          "1=new,B3 "));
}

TEST(CarriedColumn, GoesOnBeingCarriedByFurtherPartialImages) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "a10", "b10"), Upsert(1, {30}, kHidden, "b30"),
                           Upsert(1, {40}, kHidden, "b40"), Upsert(1, {20}, "a20", "b20")},
                          "1=a20,b40 "));
}

TEST(CarriedColumn, ALateImageMayFillNull) {
  EXPECT_TRUE(AlwaysGives(
      {Upsert(1, {10}, "old"), Upsert(1, {30}, kHidden, "B3"), Upsert(1, {20}, kNull, "B2")},
      "1=-,B3 "));
}

TEST(CarriedColumn, EndsWithTheNextCompleteImageAndWithADelete) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "old"),
                           Upsert(1, {30}, kHidden, "B3"),
                           Upsert(1, {40}, "a40", "b40"),
                           {Upsert(1, {20}, "new"), Outcome::kStale}},
                          "1=a40,b40 ",
                          [](StateFixture& table) { EXPECT_EQ(table.ledger_rows(), 0u); }));
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "old"),
                           Upsert(1, {30}, kHidden, "B3"),
                           Delete(1, {40}),
                           {Upsert(1, {20}, "new"), Outcome::kStale}},
                          ""));
}

TEST(CarriedColumn, ALateDeleteChangesNothing) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "old"),
                           Upsert(1, {40}, kHidden, "B4"),
                           {Delete(1, {20}), Outcome::kStale},
                           Upsert(1, {30}, "new")},
                          "1=new,B4 "));
}

// Whatever order: base, two images between, and the partial row end as in the order of versions, as
// long as the base comes before what needs it.
TEST(CarriedColumn, EveryOrderThatBeginsWithTheBaseGivesOneTable) {
  const std::vector<std::vector<Step>> queues = {{AnyOutcome(Upsert(1, {20}, "a20", kHidden))},
                                                 {AnyOutcome(Upsert(1, {30}, kHidden, "b30"))},
                                                 {AnyOutcome(Upsert(1, {40}, kHidden, kHidden))},
                                                 {AnyOutcome(Upsert(1, {25}, "a25", "b25"))}};
  for (std::vector<Step> script : Interleavings(queues)) {
    script.insert(script.begin(), Upsert(1, {10}, "a10", "b10"));
    ASSERT_TRUE(AlwaysGives(script, "1=a25,b30 "));
  }
}

// A row above a truncate may carry a value that stems from below it; the insert that lies between
// comes late and tells.
TEST(CarriedColumn, SurvivesATruncateBelowTheRow) {
  EXPECT_TRUE(AlwaysGives({Upsert(1, {10}, "old", "B"), Upsert(1, {40}, kHidden, "B4"),
                           Truncate({20}), Upsert(1, {30}, "new", "B3")},
                          "1=new,B4 "));
}

}  // namespace
}  // namespace lastword
