#include <gtest/gtest.h>

#include "lastword/schema.h"
#include "model/rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

TEST(Types, TextComesBack) {
  for (const std::string_view text : {"bool",
                                      "int8",
                                      "int16",
                                      "int32",
                                      "int64",
                                      "uint8",
                                      "uint16",
                                      "uint32",
                                      "uint64",
                                      "float32",
                                      "float64",
                                      "decimal(1,0)",
                                      "decimal(12,2)",
                                      "decimal(38,38)",
                                      "decimal(76,10)",
                                      "string",
                                      "bytes",
                                      "date",
                                      "time_us",
                                      "timestamp_us",
                                      "timestamptz_us",
                                      "uuid",
                                      "json",
                                      "list<string>",
                                      "list<list<decimal(4,1)>>",
                                      "vector(384)"}) {
    const Result<Type> type = ParseType(text);
    ASSERT_THAT(type, IsOk());
    EXPECT_EQ(ToString(*type), text);
    EXPECT_THAT(ParseType(ToString(*type)), IsOkAnd(*type));
  }
  EXPECT_THAT(ParseType(" decimal ( 12 , 2 ) "),
              IsOkAnd(Type{.kind = TypeKind::kDecimal, .precision = 12, .scale = 2}));
}

TEST(Types, WhatIsNoTypeIsUsage) {
  for (const std::string_view text :
       {"",
        "int",
        "INT64",
        "int64 x",
        "decimal",
        "decimal(12)",
        "decimal(0,0)",
        "decimal(77,2)",
        "decimal(4,5)",
        "decimal(4,-1)",
        "decimal(4,2",
        "list",
        "list<>",
        "list<int64",
        "list<x>",
        "vector",
        "vector(0)",
        "vector(-1)",
        "vector(9999999999)",
        "string(10)",
        "list<list<list<list<list<list<list<list<list<list<int8>>>>>>>>>>"}) {
    EXPECT_THAT(ParseType(text), IsError(ErrorKind::kUsage)) << text;
  }
}

TEST(Types, WidthsAreArrows) {
  const std::pair<std::string_view, uint32_t> widths[] = {
      {"bool", 1},           {"int8", 1},       {"uint8", 1},        {"int16", 2},
      {"uint16", 2},         {"int32", 4},      {"uint32", 4},       {"int64", 8},
      {"uint64", 8},         {"float32", 4},    {"float64", 8},      {"decimal(38,0)", 16},
      {"decimal(39,0)", 32}, {"string", 0},     {"bytes", 0},        {"json", 0},
      {"date", 4},           {"time_us", 8},    {"timestamp_us", 8}, {"timestamptz_us", 8},
      {"uuid", 16},          {"list<int8>", 0}, {"vector(3)", 12}};
  for (const auto& [text, width] : widths) EXPECT_EQ(FixedWidth(*ParseType(text)), width) << text;
}

TEST(Types, ListsCompareByTheirElement) {
  EXPECT_EQ(*ParseType("list<int8>"), *ParseType("list<int8>"));
  EXPECT_FALSE(*ParseType("list<int8>") == *ParseType("list<int16>"));
  EXPECT_FALSE(*ParseType("decimal(4,1)") == *ParseType("decimal(4,2)"));
  EXPECT_FALSE(*ParseType("vector(4)") == *ParseType("vector(5)"));
}

TEST(Schema, FindsColumnsByName) {
  Schema schema;
  schema.columns = {{.name = "id"}, {.name = "Id"}, {.name = ""}};
  EXPECT_EQ(schema.Find("Id"), 1u);
  EXPECT_EQ(schema.Find(""), 2u);
  EXPECT_EQ(schema.Find("ID"), std::nullopt);
}

}  // namespace
}  // namespace lastword
