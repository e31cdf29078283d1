#include "model/value_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/status_matchers.h"

namespace lastword {
namespace {

Type TypeOf(std::string_view text) {
  return *ParseType(text);
}

// A value through a column of a type, printed; or the kind of the error.
std::string Print(const Value& value) {
  struct Printer {
    std::string operator()(std::monostate) const { return "NULL"; }
    std::string operator()(bool held) const { return held ? "true" : "false"; }
    std::string operator()(int64_t held) const { return std::to_string(held); }
    std::string operator()(uint64_t held) const { return std::to_string(held) + "u"; }
    std::string operator()(double held) const { return "f" + std::to_string(held); }
    std::string operator()(const std::string& held) const { return "'" + held + "'"; }
    std::string operator()(const Decimal& held) const { return "d" + held.text; }
    std::string operator()(const Bytes& held) const { return "x" + held.bytes; }
    std::string operator()(const List& held) const {
      std::string text = "[";
      for (const Value& element : held) text += Print(element) + ";";
      return text + "]";
    }
  };
  return std::visit(Printer{}, value.held);
}

std::string Through(std::string_view type, const Value& value) {
  ColumnData column(TypeOf(type));
  const Status status = AppendValue(value, column);
  if (!status.ok()) {
    EXPECT_EQ(column.size(), 0u) << "nothing may be appended";
    return std::string(NameOf(status.error().kind));
  }
  return Print(ReadValue(column, 0));
}

TEST(ValueRows, IntegerBoundaries) {
  const std::tuple<std::string_view, int64_t, uint64_t> ranges[] = {
      {"int8", INT8_MIN, INT8_MAX},
      {"int16", INT16_MIN, INT16_MAX},
      {"int32", INT32_MIN, INT32_MAX},
      {"int64", INT64_MIN, INT64_MAX},
      {"uint8", 0, UINT8_MAX},
      {"uint16", 0, UINT16_MAX},
      {"uint32", 0, UINT32_MAX},
      {"uint64", 0, UINT64_MAX},
      {"date", INT32_MIN, INT32_MAX},
      {"time_us", 0, 86'400'000'000},
      {"timestamp_us", INT64_MIN, INT64_MAX},
      {"timestamptz_us", INT64_MIN, INT64_MAX}};
  for (const auto& [type, least, most] : ranges) {
    EXPECT_EQ(Through(type, Value(least)), std::to_string(least)) << type;
    EXPECT_EQ(Through(type, Value(most)), std::to_string(most) + (most > INT64_MAX ? "u" : ""))
        << type;
    if (least > INT64_MIN) {
      EXPECT_EQ(Through(type, Value(least - 1)), "out_of_range") << type;
    }
    if (most < UINT64_MAX) {
      EXPECT_EQ(Through(type, Value(most + 1)), "out_of_range") << type;
    }
    for (const Value& wrong : {Value(1.0), Value(true), Value(Bytes{"1"}), Value(List{})}) {
      EXPECT_EQ(Through(type, wrong), "type_mismatch") << type;
    }
    EXPECT_EQ(Through(type, Value("1")), "type_mismatch") << type;
    EXPECT_EQ(Through(type, Value()), "NULL");
  }
}

TEST(ValueRows, Floats) {
  EXPECT_EQ(Through("float64", Value(1.5)), "f1.500000");
  EXPECT_EQ(Through("float32", Value(1.5)), "f1.500000");
  EXPECT_EQ(Through("float64", Value(int64_t{1} << 53)), "f9007199254740992.000000");
  EXPECT_EQ(Through("float64", Value((int64_t{1} << 53) + 1)), "out_of_range");
  EXPECT_EQ(Through("float64", Value(INT64_MAX)), "out_of_range");
  EXPECT_EQ(Through("float64", Value(INT64_MIN)), "f-9223372036854775808.000000");
  EXPECT_EQ(Through("float64", Value(UINT64_MAX)), "out_of_range");
  EXPECT_EQ(Through("float64", Value(uint64_t{1} << 63)), "f9223372036854775808.000000");
  EXPECT_EQ(Through("float32", Value((1 << 24) + 1)), "out_of_range");
  EXPECT_EQ(Through("float32", Value(1e39)), "out_of_range");
  EXPECT_EQ(Through("float32", Value(-std::numeric_limits<double>::infinity())), "f-inf");
  EXPECT_EQ(Through("float64", Value("1.5")), "type_mismatch");
  ColumnData column(TypeOf("float32"));
  ASSERT_THAT(AppendValue(Value(std::nan("")), column), IsOk());
  EXPECT_TRUE(std::isnan(column.Fixed<float>(0)));
}

TEST(ValueRows, TextBytesAndTheirLikes) {
  EXPECT_EQ(Through("bool", Value(true)), "true");
  EXPECT_EQ(Through("bool", Value(1)), "type_mismatch");
  EXPECT_EQ(Through("string", Value("a")), "'a'");
  EXPECT_EQ(Through("string", Value(Bytes{"a"})), "type_mismatch");
  EXPECT_EQ(Through("json", Value("{\"a\": 1}")), "'{\"a\": 1}'");
  EXPECT_EQ(Through("bytes", Value(Bytes{"a"})), "xa");
  EXPECT_EQ(Through("bytes", Value("a")), "type_mismatch");
  EXPECT_EQ(Through("uuid", Value("0F8FAD5B-d9cb-469f-a165-70867728950e")),
            "'0f8fad5b-d9cb-469f-a165-70867728950e'");
  EXPECT_EQ(Through("uuid", Value(Bytes{"0123456789abcdef"})),
            "'30313233-3435-3637-3839-616263646566'");
  EXPECT_EQ(Through("uuid", Value(Bytes{"0123456789abcde"})), "type_mismatch");
  EXPECT_EQ(Through("uuid", Value("x")), "type_mismatch");
}

TEST(ValueRows, DecimalsAreNeverRounded) {
  EXPECT_EQ(Through("decimal(5,2)", Value(Decimal{"1.5"})), "d1.50");
  EXPECT_EQ(Through("decimal(5,2)", Value("-1.5")), "d-1.50");
  EXPECT_EQ(Through("decimal(5,2)", Value(7)), "d7.00");
  EXPECT_EQ(Through("decimal(20,0)", Value(UINT64_MAX)), "d18446744073709551615");
  EXPECT_EQ(Through("decimal(5,2)", Value(1000)), "decimal_overflow");
  EXPECT_EQ(Through("decimal(5,2)", Value(Decimal{"1.505"})), "decimal_overflow");
  EXPECT_EQ(Through("decimal(5,2)", Value(Decimal{"NaN"})), "not_finite_decimal");
  EXPECT_EQ(Through("decimal(5,2)", Value(1.5)), "type_mismatch");
}

TEST(ValueRows, DatesAndTimesAsText) {
  EXPECT_EQ(Through("date", Value("1970-01-02")), "1");
  EXPECT_EQ(Through("time_us", Value("00:00:01")), "1000000");
  EXPECT_EQ(Through("timestamp_us", Value("1970-01-01 00:00:01")), "1000000");
  EXPECT_EQ(Through("timestamptz_us", Value("1970-01-01T01:00:01+01")), "1000000");
  EXPECT_EQ(Through("timestamptz_us", Value("infinity")), "out_of_range");
}

TEST(ValueRows, ListsAndVectors) {
  EXPECT_EQ(Through("list<int8>", Value(List{Value(1), Value(), Value(-1)})), "[1;NULL;-1;]");
  EXPECT_EQ(Through("list<list<string>>", Value(List{Value(List{Value("a")}), Value()})),
            "[['a';];NULL;]");
  EXPECT_EQ(Through("list<int8>", Value(List{Value(1), Value(128)})), "out_of_range");
  EXPECT_EQ(Through("vector(2)", Value(List{Value(1.5), Value(2)})), "[f1.500000;f2.000000;]");
  EXPECT_EQ(Through("vector(2)", Value(List{Value(1.5)})), "type_mismatch");
  EXPECT_EQ(Through("vector(2)", Value(List{Value(1.5), Value()})), "type_mismatch");
  // Elements before the wrong one leave no trace.
  ColumnData column(TypeOf("list<int8>"));
  EXPECT_FALSE(AppendValue(Value(List{Value(1), Value(128)}), column).ok());
  EXPECT_EQ(column.child().size(), 0u);
}

Schema OrderSchema() {
  Schema schema;
  schema.columns = {{.name = "id", .type = TypeOf("int64"), .nullable = false},
                    {.name = "qty", .type = TypeOf("int32"), .default_value = Value(1)},
                    {.name = "note"},
                    {.name = "kind", .nullable = false}};
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

TEST(ValueRows, AbsentColumnsGetTheirDefault) {
  const Schema schema = OrderSchema();
  Rows rows(schema);
  std::vector<uint32_t> absent;
  ASSERT_THAT(AppendRow(schema, {{"kind", "a"}, {"id", 7}}, rows, &absent), IsOk());
  EXPECT_THAT(absent, testing::ElementsAre(1, 2));
  const Row row = ReadRow(schema, rows, 0);
  ASSERT_EQ(row.size(), 4u);
  EXPECT_EQ(row[0].first, "id");
  EXPECT_EQ(Print(row[0].second), "7");
  EXPECT_EQ(Print(row[1].second), "1");
  EXPECT_EQ(Print(row[2].second), "NULL");
  // An explicit NULL is not absent.
  ASSERT_THAT(AppendRow(schema, {{"kind", "a"}, {"id", 7}, {"qty", Value()}}, rows, &absent),
              IsOk());
  EXPECT_THAT(absent, testing::ElementsAre(2));
  EXPECT_TRUE(rows.columns[1].IsNull(1));
}

TEST(ValueRows, AFailedRowLeavesNothing) {
  const Schema schema = OrderSchema();
  Rows rows(schema);
  const std::tuple<Row, ErrorKind, std::string> cases[] = {
      {{{"kind", "a"}}, ErrorKind::kMissingKey, "id"},
      {{{"id", 1}}, ErrorKind::kTypeMismatch, "kind"},
      {{{"id", 1}, {"kind", Value()}}, ErrorKind::kTypeMismatch, "kind"},
      {{{"id", 1}, {"kind", 5}}, ErrorKind::kTypeMismatch, "kind"},
      {{{"id", 1}, {"kind", "a"}, {"qty", int64_t{1} << 31}}, ErrorKind::kOutOfRange, "qty"},
      {{{"id", 1}, {"kind", "a"}, {"colour", 1}}, ErrorKind::kUsage, "colour"},
      {{{"id", 1}, {"kind", "a"}, {"id", 1}}, ErrorKind::kUsage, "id"}};
  for (const auto& [row, kind, column] : cases) {
    EXPECT_THAT(AppendRow(schema, row, rows), IsErrorIn(kind, column));
    for (const ColumnData& data : rows.columns) ASSERT_EQ(data.size(), 0u);
  }
  // Whether NULL may be a key is decided where keys are made.
  EXPECT_THAT(AppendRow(schema, {{"id", Value()}, {"kind", "a"}}, rows), IsOk());
}

TEST(ValueRows, ValuesAsPeopleTypeThem) {
  auto parsed = [](std::string_view type, std::string_view text) {
    const Result<Value> value = ParseValueText(TypeOf(type), text);
    return value.ok() ? Through(type, *value) : std::string(NameOf(value.error().kind));
  };
  EXPECT_EQ(parsed("int64", "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(parsed("int64", "9223372036854775808"), "out_of_range");
  EXPECT_EQ(parsed("uint64", "18446744073709551615"), "18446744073709551615u");
  EXPECT_EQ(parsed("uint64", "-1"), "type_mismatch");
  EXPECT_EQ(parsed("int8", "+7"), "7");
  EXPECT_EQ(parsed("int8", "200"), "out_of_range");
  EXPECT_EQ(parsed("int8", "7x"), "type_mismatch");
  EXPECT_EQ(parsed("int8", ""), "type_mismatch");
  EXPECT_EQ(parsed("float64", "1.5e2"), "f150.000000");
  EXPECT_EQ(parsed("float64", "inf"), "finf");
  EXPECT_EQ(parsed("float64", "x"), "type_mismatch");
  EXPECT_EQ(parsed("bool", "true"), "true");
  EXPECT_EQ(parsed("bool", "TRUE"), "type_mismatch");
  EXPECT_EQ(parsed("decimal(5,2)", "1.5"), "d1.50");
  EXPECT_EQ(parsed("string", "7"), "'7'");
  EXPECT_EQ(parsed("bytes", "YQ=="), "xa");
  EXPECT_EQ(parsed("date", "1970-01-02"), "1");
  EXPECT_EQ(parsed("list<int8>", "[1]"), "type_mismatch");
}

}  // namespace
}  // namespace lastword
