#include "model/civil_time.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

bool IsLeapYear(int64_t year) {
  if (year % 400 == 0) return true;
  return year % 4 == 0 && year % 100 != 0;
}

// Walks 1,200 years day by day, counting as a paper calendar does.
TEST(CivilTime, DaysFollowEachOther) {
  int64_t year = 1400;
  int month = 1, day = 1;
  int64_t days = DaysFromCivil(year, month, day);
  EXPECT_EQ(days, -208188);
  constexpr int kMonths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  while (year < 2600) {
    ASSERT_EQ(DaysFromCivil(year, month, day), days);
    const CivilDate date = CivilFromDays(days);
    ASSERT_EQ(date.year, year);
    ASSERT_EQ(date.month, month);
    ASSERT_EQ(date.day, day);
    const int in_month = kMonths[month - 1] + (month == 2 && IsLeapYear(year));
    if (++day > in_month) {
      day = 1;
      if (++month > 12) {
        month = 1;
        ++year;
      }
    }
    ++days;
  }
}

TEST(CivilTime, RandomDatesComeBack) {
  Random random(6);
  for (int round = 0; round < 200'000; ++round) {
    const auto days = static_cast<int32_t>(random.Next());
    ASSERT_THAT(ParseDate(DateToText(days)), IsOkAnd(days)) << days;
    const auto micros = static_cast<int64_t>(random.Next());
    ASSERT_THAT(ParseTimestamp(TimestampToText(micros, false)), IsOkAnd(micros)) << micros;
    ASSERT_THAT(ParseTimestamptz(TimestampToText(micros, true)), IsOkAnd(micros)) << micros;
    const auto time = static_cast<int64_t>(random.Below(kMicrosPerDay + 1));
    ASSERT_THAT(ParseTime(TimeToText(time)), IsOkAnd(time)) << time;
  }
}

TEST(CivilTime, Dates) {
  EXPECT_THAT(ParseDate("1970-01-01"), IsOkAnd(0));
  EXPECT_THAT(ParseDate("1969-12-31"), IsOkAnd(-1));
  EXPECT_THAT(ParseDate("2026-03-04Z"), IsOkAnd(20516));
  EXPECT_THAT(ParseDate("0001-01-01"), IsOkAnd(-719162));
  EXPECT_THAT(ParseDate("9999-12-31"), IsOkAnd(2932896));
  // PostgreSQL's range: 4714-11-24 BC to 5874897-12-31.
  EXPECT_THAT(ParseDate("4714-11-24 BC"), IsOkAnd(-2440588));
  EXPECT_THAT(ParseDate("5874897-12-31"), IsOkAnd(2145042905));
  EXPECT_THAT(ParseDate("0044-03-15 BC"), IsOkAnd(*ParseDate("-0043-03-15")));
  EXPECT_THAT(ParseDate("0001-12-31 BC"), IsOkAnd(*ParseDate("0000-12-31")));
  EXPECT_THAT(ParseDate("+20000-02-29"), IsOkAnd(*ParseDate("20000-02-29")));
  EXPECT_EQ(DateToText(*ParseDate("20000-02-29")), "+20000-02-29");
  EXPECT_EQ(DateToText(*ParseDate("0044-03-15 BC")), "-0043-03-15");
  EXPECT_EQ(DateToText(INT32_MAX), "+5881580-07-11");
  EXPECT_EQ(DateToText(INT32_MIN), "-5877641-06-23");
  EXPECT_THAT(ParseDate("+5881580-07-11"), IsOkAnd(INT32_MAX));
  EXPECT_THAT(ParseDate("+5881580-07-12"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseDate("-5877641-06-22"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseDate("99999999999999999999-01-01"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseDate("infinity"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseDate("-infinity"), IsError(ErrorKind::kOutOfRange));
}

TEST(CivilTime, DaysThatDoNotExist) {
  for (const std::string_view text : {"",
                                      "2024",
                                      "2024-02",
                                      "2024-2-1",
                                      "24-02-01",
                                      "2023-02-29",
                                      "1900-02-29",
                                      "2024-02-30",
                                      "2024-04-31",
                                      "2024-00-01",
                                      "2024-13-01",
                                      "2024-01-00",
                                      "2024-01-32",
                                      "2024/01/01",
                                      "2024-01-01 ",
                                      " 2024-01-01",
                                      "2024-01-01x",
                                      "0000-01-01 BC",
                                      "-0001-01-01 BC",
                                      "2024-01-01 AD",
                                      "today",
                                      "2024-01-01T00:00:00"}) {
    EXPECT_THAT(ParseDate(text), IsError(ErrorKind::kTypeMismatch)) << text;
  }
}

TEST(CivilTime, Times) {
  EXPECT_THAT(ParseTime("00:00:00"), IsOkAnd(0));
  EXPECT_THAT(ParseTime("12:34"), IsOkAnd(45'240'000'000));
  EXPECT_THAT(ParseTime("12:34:56.789012"), IsOkAnd(45'296'789'012));
  EXPECT_THAT(ParseTime("12:34:56.789Z"), IsOkAnd(45'296'789'000));
  EXPECT_THAT(ParseTime("12:34:56.7890120"), IsOkAnd(45'296'789'012));
  EXPECT_THAT(ParseTime("12:34:56.789012000"), IsOkAnd(45'296'789'012));
  EXPECT_THAT(ParseTime("12:34:56+00"), IsOkAnd(45'296'000'000));
  EXPECT_THAT(ParseTime("24:00:00"), IsOkAnd(86'400'000'000));
  EXPECT_EQ(TimeToText(86'400'000'000), "24:00:00");
  EXPECT_EQ(TimeToText(1), "00:00:00.000001");
  for (const std::string_view text :
       {"", "12", "1:00:00", "12:34:5", "12:60:00", "12:34:60", "24:00:00.000001", "24:00:01",
        "25:00:00", "12:34:56.", "12:34:56.1234560000", "12:34:56+01", "12:34:56 ", "-12:34:56"}) {
    EXPECT_THAT(ParseTime(text), IsError(ErrorKind::kTypeMismatch)) << text;
  }
}

TEST(CivilTime, TimestampForms) {
  const int64_t expected = 1'772'627'696'789'012;
  for (const std::string_view text :
       {"2026-03-04T12:34:56.789012", "2026-03-04 12:34:56.789012", "2026-03-04t12:34:56.789012Z",
        "2026-03-04T12:34:56.789012000z", "2026-03-04 12:34:56.789012+00",
        "2026-03-04 12:34:56.789012 +00:00", "2026-03-04 12:34:56.789012-00:00:00",
        "2026-03-04 12:34:56.789012+0000"}) {
    EXPECT_THAT(ParseTimestamp(text), IsOkAnd(expected)) << text;
    EXPECT_THAT(ParseTimestamptz(text), IsOkAnd(expected)) << text;
  }
  for (const std::string_view text :
       {"2026-03-04 13:34:56.789012+01", "2026-03-04T10:04:56.789012-0230",
        "2026-03-04T18:04:56.789012+05:30", "2026-03-05T00:34:56.789012+12:00:00",
        "2026-03-04 12:54:28.789012+00:19:32"}) {
    EXPECT_THAT(ParseTimestamptz(text), IsOkAnd(expected)) << text;
    // A wall clock cannot hold an instant of another zone.
    EXPECT_THAT(ParseTimestamp(text), IsError(ErrorKind::kTypeMismatch)) << text;
  }
  EXPECT_THAT(ParseTimestamptz("2026-03-04 24:00:00Z"),
              IsOkAnd(*ParseTimestamptz("2026-03-05T00:00Z")));
}

TEST(CivilTime, TimestampsFarAway) {
  const auto caesar = ParseTimestamptz("-0043-03-15T12:00:00.000000Z");
  ASSERT_THAT(caesar, IsOk());
  EXPECT_THAT(ParseTimestamptz("0044-03-15 12:00:00+00 BC"), IsOkAnd(*caesar));
  EXPECT_THAT(ParseTimestamptz("0044-03-15 12:00:00 BC"), IsOkAnd(*caesar));
  EXPECT_THAT(ParseTimestamp("+20000-01-01T00:00:00Z"), IsOkAnd(568'971'820'800'000'000));
  EXPECT_EQ(TimestampToText(INT64_MAX, true), "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(TimestampToText(INT64_MIN, false), "-290308-12-21T19:59:05.224192");
  EXPECT_THAT(ParseTimestamp("294247-01-10 04:00:54.775807"), IsOkAnd(INT64_MAX));
  EXPECT_THAT(ParseTimestamp("294247-01-10 04:00:54.775808"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseTimestamp("-290308-12-21T19:59:05.224191"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseTimestamptz("294247-01-10 04:00:54.775807-00:00:01"),
              IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseTimestamp("5874897-12-31 00:00:00"), IsError(ErrorKind::kOutOfRange));
  for (const std::string_view text : {"infinity", "-infinity"}) {
    EXPECT_THAT(ParseTimestamp(text), IsError(ErrorKind::kOutOfRange));
    EXPECT_THAT(ParseTimestamptz(text), IsError(ErrorKind::kOutOfRange));
  }
}

TEST(CivilTime, NanosecondsDoNotFit) {
  EXPECT_THAT(ParseTimestamp("2026-03-04T12:00:00.1234567"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseTimestamptz("2026-03-04T12:00:00.000000001Z"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseTime("12:00:00.1234561"), IsError(ErrorKind::kOutOfRange));
  EXPECT_THAT(ParseTime("12:00:00.123456000"), IsOkAnd(43'200'123'456));
}

TEST(CivilTime, WhatIsNoTimestamp) {
  for (const std::string_view text :
       {"", "2026-03-04", "2026-03-04T", "2026-03-04X12:00:00", "2026-02-29T12:00:00",
        "2026-03-04T12:00:00 ", "2026-03-04T12:00:00+", "2026-03-04T12:00:00+1",
        "2026-03-04T12:00:00+01:", "2026-03-04T12:00:00+01:0", "2026-03-04T12:00:00+19",
        "2026-03-04T12:00:00+01:60", "2026-03-04T12:00:00 UTC", "2026-03-04T12:00:00.1234567890",
        "2026-03-04T12:00:00ZZ", "-0001-03-04T12:00:00 BC", "2026-03-04T12:00:00 BC BC"}) {
    EXPECT_THAT(ParseTimestamp(text), IsError(ErrorKind::kTypeMismatch)) << text;
    EXPECT_THAT(ParseTimestamptz(text), IsError(ErrorKind::kTypeMismatch)) << text;
  }
}

TEST(CivilTime, TextsBeforeTheEpoch) {
  EXPECT_EQ(TimestampToText(-1, true), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(TimestampToText(0, false), "1970-01-01T00:00:00");
  EXPECT_EQ(TimestampToText(-kMicrosPerDay, false), "1969-12-31T00:00:00");
}

}  // namespace
}  // namespace lastword
