#include "model/row_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json.h"
#include "model/rows.h"
#include "model/value_rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Printed {
  std::string_view type;
  Value value;
  std::string_view text, json, csv;
};

const Printed kPrinted[] = {
    {"int64", INT64_MIN, "-9223372036854775808", "-9223372036854775808", "-9223372036854775808"},
    {"uint64", UINT64_MAX, "18446744073709551615", "18446744073709551615", "18446744073709551615"},
    {"bool", true, "true", "true", "true"},
    {"float64", 0.1, "0.1", "0.1", "0.1"},
    {"float64", 1.0, "1.0", "1.0", "1.0"},
    {"float64", 1e300, "1e+300", "1e+300", "1e+300"},
    {"float64", -0.0, "-0.0", "-0.0", "-0.0"},
    {"float32", 0.1, "0.1", "0.1", "0.1"},
    {"float64", std::nan(""), "NaN", "\"NaN\"", "NaN"},
    {"float32", kInfinity, "Infinity", "\"Infinity\"", "Infinity"},
    {"float64", -kInfinity, "-Infinity", "\"-Infinity\"", "-Infinity"},
    {"decimal(12,2)", "-12.5", "-12.50", "\"-12.50\"", "-12.50"},
    {"string", "plain", "plain", "\"plain\"", "plain"},
    {"string", "", "", "\"\"", "\"\""},
    {"string", "NULL", "NULL", "\"NULL\"", "NULL"},
    {"string", "a,\"b\"\n\x01", "a,\"b\"\\n\\x01", R"("a,\"b\"\n\u0001")", "\"a,\"\"b\"\"\n\x01\""},
    {"string", "\xc3\xa9", "\xc3\xa9", "\"\xc3\xa9\"", "\xc3\xa9"},
    {"json", "{\"a\": 1}", "{\"a\": 1}", R"("{\"a\": 1}")", "\"{\"\"a\"\": 1}\""},
    {"bytes", Bytes{"a\xff"}, "Yf8=", "\"Yf8=\"", "Yf8="},
    {"date", "2024-02-29", "2024-02-29", "\"2024-02-29\"", "2024-02-29"},
    {"time_us", "24:00:00", "24:00:00", "\"24:00:00\"", "24:00:00"},
    {"timestamp_us", 1, "1970-01-01T00:00:00.000001", "\"1970-01-01T00:00:00.000001\"",
     "1970-01-01T00:00:00.000001"},
    {"timestamptz_us", "1970-01-01T01:00:00+01", "1970-01-01T00:00:00Z", "\"1970-01-01T00:00:00Z\"",
     "1970-01-01T00:00:00Z"},
    {"uuid", "0f8fad5bd9cb469fa16570867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e",
     "\"0f8fad5b-d9cb-469f-a165-70867728950e\"", "0f8fad5b-d9cb-469f-a165-70867728950e"},
    {"list<string>", List{Value("a"), Value()}, R"(["a",null])", R"(["a",null])",
     R"("[""a"",null]")"},
    {"list<date>", List{Value(0)}, R"(["1970-01-01"])", R"(["1970-01-01"])",
     R"("[""1970-01-01""]")"},
    {"list<list<int64>>", List{Value(List{}), Value()}, "[[],null]", "[[],null]", "\"[[],null]\""},
    {"vector(2)", List{Value(0.1), Value(2)}, "[0.1,2.0]", "[0.1,2.0]", "\"[0.1,2.0]\""},
    {"int64", Value(), "NULL", "null", ""},
};

TEST(RowText, EveryTypeInEveryForm) {
  for (const Printed& printed : kPrinted) {
    const Type type = *ParseType(printed.type);
    ColumnData column(type);
    ASSERT_THAT(AppendValue(printed.value, column), IsOk());
    const Value value = ReadValue(column, 0);
    EXPECT_EQ(ValueToText(value, type), printed.text) << printed.type;
    EXPECT_EQ(ValueToJson(value, type), printed.json) << printed.type;
    EXPECT_EQ(ValueToCsv(value, type), printed.csv) << printed.type;
    EXPECT_THAT(ParseJson(ValueToJson(value, type)), IsOk()) << printed.type;
  }
}

TEST(RowText, ADateBeyondItsRangeIsItsNumber) {
  EXPECT_EQ(ValueToText(Value(INT64_MAX), *ParseType("date")), "9223372036854775807");
}

Schema TwoColumns() {
  Schema schema;
  schema.columns = {{.name = "id", .type = *ParseType("int64")}, {.name = "a \"name\", long"}};
  return schema;
}

TEST(RowText, RowsFollowTheSchema) {
  const Schema schema = TwoColumns();
  EXPECT_EQ(RowToJson(schema, {{"id", 7}, {"a \"name\", long", "x"}}),
            R"({"id":7,"a \"name\", long":"x"})");
  EXPECT_EQ(RowToJson(schema, {{"a \"name\", long", "x"}, {"id", 7}}),
            R"({"id":7,"a \"name\", long":"x"})");
  EXPECT_EQ(RowToJson(schema, {{"other", 1}}), R"({"id":null,"a \"name\", long":null})");
  EXPECT_EQ(RowToCsv(schema, {{"id", 7}, {"a \"name\", long", ""}}), "7,\"\"");
  EXPECT_EQ(RowToCsv(schema, {{"id", 7}}), "7,");
  EXPECT_EQ(CsvHeader(schema), R"(id,"a ""name"", long")");
}

TEST(RowText, BytesThatAreNoUtf8StillGiveJson) {
  EXPECT_THAT(ParseJson(ValueToJson(Value("a\xff"), *ParseType("string"))), IsOk());
}

}  // namespace
}  // namespace lastword
