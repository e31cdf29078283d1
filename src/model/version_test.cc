#include "lastword/version.h"

#include <gtest/gtest.h>

#include "lastword/change.h"
#include "model/ordered.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

TEST(Version, ComparesFieldByField) {
  const Version ascending[] = {{0, 0, 0, 0},          {0, 0, 0, 1},          {0, 0, 0, UINT64_MAX},
                               {0, 0, 1, 0},          {0, 0, UINT64_MAX, 0}, {0, 1, 0, 0},
                               {0, UINT64_MAX, 0, 0}, {1, 0, 0, 0}};
  for (size_t i = 1; i < std::size(ascending); ++i) EXPECT_LT(ascending[i - 1], ascending[i]);
}

TEST(Version, TextComesBack) {
  for (const Version& version :
       {Version{}, Version{1, 2, 3, 4}, Version{UINT32_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}}) {
    EXPECT_THAT(ParseVersion(ToString(version)), IsOkAnd(version));
  }
  EXPECT_EQ(ToString(Version{1, 2, 3, 4}), "1/2/3/4");
}

TEST(Version, SourceForms) {
  // The highest version of that commit.
  EXPECT_THAT(ParseVersion("lsn:0/16B3748"),
              IsOkAnd(Version{0, 0x16B3748, UINT64_MAX, UINT64_MAX}));
  EXPECT_THAT(ParseVersion("lsn:ff/ffffffff"),
              IsOkAnd(Version{0, 0xffffffffff, UINT64_MAX, UINT64_MAX}));
  EXPECT_THAT(ParseVersion("offset:3:42"), IsOkAnd(Version{0, 42, 0, 0}));
  EXPECT_THAT(ParseVersion("seq:3"), IsOkAnd(Version{0, (uint64_t{1} << 63) + 3, 0, 0}));
  EXPECT_THAT(ParseVersion("seq:-9223372036854775808"), IsOkAnd(Version{0, 0, 0, 0}));
}

TEST(Version, WhatIsTypedWrongIsUsage) {
  for (const std::string_view text : {"",
                                      "1",
                                      "1/2/3",
                                      "1/2/3/4/5",
                                      "1/2/3/-4",
                                      "1/2/3/ 4",
                                      "4294967296/0/0/0",
                                      "0/18446744073709551616/0/0",
                                      "0/+1/0/0",
                                      "0x1/0/0/0",
                                      "//0/0",
                                      "lsn:",
                                      "lsn:16B3748",
                                      "lsn:0/100000000",
                                      "lsn:0/",
                                      "lsn:0/1/2",
                                      "offset:42",
                                      "offset:3:",
                                      "offset:-1:4",
                                      "offset:3:4:5",
                                      "seq:",
                                      "seq:1.5",
                                      "seq:9223372036854775808",
                                      "LSN:0/1",
                                      " 0/0/0/0"}) {
    EXPECT_THAT(ParseVersion(text), IsError(ErrorKind::kUsage)) << text;
  }
}

TEST(Ordered, KeepsTheOrderOfSignedNumbers) {
  const int64_t ascending[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
  for (size_t i = 0; i < std::size(ascending); ++i) {
    EXPECT_EQ(SignedFromOrdered(OrderedFromSigned(ascending[i])), ascending[i]);
    if (i > 0) {
      EXPECT_LT(OrderedFromSigned(ascending[i - 1]), OrderedFromSigned(ascending[i]));
    }
  }
}

TEST(Outcome, Names) {
  EXPECT_EQ(NameOf(Outcome::kApplied), "applied");
  EXPECT_EQ(NameOf(Outcome::kStale), "stale");
  EXPECT_EQ(NameOf(Outcome::kRepeat), "repeat");
  EXPECT_EQ(NameOf(Outcome::kConflict), "conflict");
}

}  // namespace
}  // namespace lastword
