#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/status_matchers.h"

namespace lastword {
namespace {

TEST(Json, MembersKeepTheirOrderAndIntegersTheirValue) {
  const std::string text = R"({"z":18446744073709551615,"a":-9223372036854775808,"m":[1.5,null]})";
  const Result<Json> json = ParseJson(text);
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ(DumpJson(*json), text);
  EXPECT_THAT(GetUint64(*json, "z"), IsOkAnd(UINT64_MAX));
  EXPECT_THAT(GetInt64(*json, "a"), IsOkAnd(INT64_MIN));
}

TEST(Json, WhatIsNotJsonIsAnErrorWithItsPlace) {
  for (const std::string_view text : {"", "{", "{\"a\":1,}", "[1] 2", "nul", "\"\xff\"", "'a'"}) {
    EXPECT_THAT(ParseJson(text), IsError(ErrorKind::kBadJson)) << text;
  }
  const Result<Json> json = ParseJson("{\"a\":x}");
  ASSERT_FALSE(json.ok());
  EXPECT_THAT(json.error().message, testing::HasSubstr("byte 6"));
}

TEST(Json, DumpTakesBytesThatAreNoUtf8) {
  EXPECT_EQ(DumpJson(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Json, GettersNameTheMember) {
  const Json json = *ParseJson(R"({"s":"x","n":3,"neg":-1,"f":1.0,"b":true,"null":null,
                                   "big":9223372036854775808})");
  EXPECT_THAT(GetString(json, "s"), IsOkAnd(std::string("x")));
  EXPECT_THAT(GetUint64(json, "n"), IsOkAnd(3u));
  EXPECT_THAT(GetInt64(json, "neg"), IsOkAnd(-1));
  EXPECT_THAT(GetBool(json, "b"), IsOkAnd(true));
  EXPECT_THAT(GetUint64(json, "neg"), IsError(ErrorKind::kBadJson));
  EXPECT_THAT(GetInt64(json, "big"), IsError(ErrorKind::kBadJson));
  EXPECT_THAT(GetInt64(json, "f"), IsError(ErrorKind::kBadJson));
  EXPECT_THAT(GetString(json, "null"), IsError(ErrorKind::kBadJson));
  const auto missing = GetString(json, "nothing");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, testing::HasSubstr("\"nothing\""));
  EXPECT_THAT(GetString(Json::array(), "s"), IsError(ErrorKind::kBadJson));
}

TEST(Json, AbsentMembersHaveADefaultAndWrongOnesDoNot) {
  const Json json = *ParseJson(R"({"n":"3","null":null})");
  EXPECT_THAT(GetUint64(json, "absent", 5), IsOkAnd(5u));
  EXPECT_THAT(GetUint64(json, "null", 5), IsOkAnd(5u));
  EXPECT_THAT(GetUint64(json, "n", 5), IsError(ErrorKind::kBadJson));
  EXPECT_THAT(GetString(json, "absent", "d"), IsOkAnd(std::string("d")));
  EXPECT_THAT(GetInt64(json, "absent", -1), IsOkAnd(-1));
  EXPECT_THAT(GetBool(json, "absent", true), IsOkAnd(true));
}

TEST(Json, DeepNestingIsNoCrash) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(ParseJson(deep), IsOk());
}

}  // namespace
}  // namespace lastword
