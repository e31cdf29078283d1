#include "model/schema_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/status_matchers.h"

namespace lastword {
namespace {

TEST(SchemaCheck, ReservedNamesAreRefusedWithTheRemedy) {
  for (const std::string_view name : {"_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version",
                                      "_row_last_updated_at_version", "_lw_epoch", "_lw_hi",
                                      "_lw_anything", "a.b", ".", "a`b", "*"}) {
    const Status status = CheckColumnName(name);
    ASSERT_THAT(status, IsErrorIn(ErrorKind::kReservedColumn, name));
    EXPECT_THAT(status.error().message, testing::HasSubstr("from:")) << name;
  }
  EXPECT_THAT(CheckColumnName(""), IsError(ErrorKind::kReservedColumn));
  EXPECT_THAT(CheckColumnName({"a\0b", 3}), IsError(ErrorKind::kReservedColumn));
}

TEST(SchemaCheck, NamesThatOnlyLookLikeMetadataArePlainData) {
  for (const std::string_view name :
       {"op", "ts_ms", "__deleted", "_version", "before", "_row", "_lw", "lw_epoch", "_ROWID",
        "source", "name with blanks", "\xc3\xa9t\xc3\xa9", "a*", "'", "\"", "a[0]", "a/b\\c"}) {
    EXPECT_THAT(CheckColumnName(name), IsOk()) << name;
  }
}

TEST(SchemaCheck, DuplicatesAreUsageAndTenThousandColumnsAreFine) {
  Schema schema;
  for (int i = 0; i < 10'001; ++i) {
    std::string name = "c";
    name += std::to_string(i);
    schema.columns.push_back({.name = name});
  }
  EXPECT_THAT(CheckColumnNames(schema), IsOk());
  schema.columns.back().name = "c17";
  EXPECT_THAT(CheckColumnNames(schema), IsErrorIn(ErrorKind::kUsage, "c17"));
  schema.columns.back().name = "_rowid";
  EXPECT_THAT(CheckColumnNames(schema), IsErrorIn(ErrorKind::kReservedColumn, "_rowid"));
}

}  // namespace
}  // namespace lastword
