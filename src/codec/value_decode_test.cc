// Each type of docs/types.md: what it takes, what it refuses, and with which kind.
#include "codec/value_decode.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/base64.h"
#include "base/json.h"
#include "codec/decoded_text.h"

namespace lastword::codec {
namespace {

using Encoding = TableSpec::DecimalEncoding;

/// Decodes `json` as `type`; the value as text, or "kind", "unavailable", "null".
std::string Decoded(std::string_view type, std::string_view json, ValueForm form = {},
                    Encoding encoding = Encoding::kBase64) {
  JsonIndex index;
  if (!index.Index(json)) return "no JSON";
  Schema schema;
  schema.columns.push_back(Column{"v", *ParseType(type)});
  Rows rows(schema);
  ValueDecoder decoder;
  JsonFault fault;
  ValueError error;
  uint32_t token = 0;
  switch (decoder.Decode(index.doc(), token, form, encoding, rows.columns[0], fault, error)) {
    case ValueRead::kNull:
      EXPECT_TRUE(rows.columns[0].IsNull(0));
      EXPECT_EQ(token, index.doc().end);
      return "null";
    case ValueRead::kUnavailable:
      EXPECT_EQ(rows.size(), 0u);
      EXPECT_EQ(token, index.doc().end);
      return "unavailable";
    case ValueRead::kError:
      EXPECT_FALSE(error.what.empty());
      rows.Truncate(0);
      EXPECT_EQ(rows.size(), 0u);
      return std::string(NameOf(error.kind));
    case ValueRead::kValue:
      break;
  }
  EXPECT_EQ(token, index.doc().end) << json;
  EXPECT_EQ(rows.size(), 1u);
  const std::string row = RowToText(schema, rows, 0);
  return row.substr(5, row.size() - 6);  // {"v":…}
}

TEST(ValueDecode, NullIsNullInEveryType) {
  for (const char* type :
       {"bool", "int8", "uint64", "float32", "decimal(5,2)", "string", "bytes", "date", "time_us",
        "timestamp_us", "timestamptz_us", "uuid", "json", "list<int32>", "vector(3)"}) {
    EXPECT_EQ(Decoded(type, "null"), "null") << type;
  }
}

TEST(ValueDecode, IntegersAreExactToTheirLimits) {
  EXPECT_EQ(Decoded("int8", "-128"), "-128");
  EXPECT_EQ(Decoded("int8", "128"), "out_of_range");
  EXPECT_EQ(Decoded("int16", "32767"), "32767");
  EXPECT_EQ(Decoded("int16", "-32769"), "out_of_range");
  EXPECT_EQ(Decoded("int32", "-2147483648"), "-2147483648");
  EXPECT_EQ(Decoded("int32", "2147483648"), "out_of_range");
  EXPECT_EQ(Decoded("int64", "9007199254740993"), "9007199254740993");
  EXPECT_EQ(Decoded("int64", "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Decoded("int64", "9223372036854775808"), "out_of_range");
  EXPECT_EQ(Decoded("int64", "-9223372036854775809"), "out_of_range");
  EXPECT_EQ(Decoded("int64", "18446744073709551616"), "out_of_range");
  EXPECT_EQ(Decoded("int64", "-0"), "0");
  EXPECT_EQ(Decoded("uint8", "255"), "255");
  EXPECT_EQ(Decoded("uint16", "65536"), "out_of_range");
  EXPECT_EQ(Decoded("uint32", "4294967295"), "4294967295");
  EXPECT_EQ(Decoded("uint64", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Decoded("uint64", "-1"), "out_of_range");
  EXPECT_EQ(Decoded("uint64", "-0"), "0");
}

TEST(ValueDecode, AnIntegerColumnTakesNothingElse) {
  for (const char* json : {"1.0", "1e3", "\"1\"", "true", "[1]", "{\"a\":1}"}) {
    EXPECT_EQ(Decoded("int64", json), "type_mismatch") << json;
  }
  for (const char* json : {"01", "-", "1.", "1x", "NaN"}) {
    EXPECT_EQ(Decoded("int64", json), "bad_json") << json;
  }
}

TEST(ValueDecode, AnIntegerOutOfRangeSaysWhichItWas) {
  JsonIndex index;
  ASSERT_TRUE(index.Index("-3000000000"));
  ColumnData column(Type{TypeKind::kInt32});
  ValueDecoder decoder;
  JsonFault fault;
  ValueError error;
  uint32_t token = 0;
  ASSERT_EQ(decoder.Decode(index.doc(), token, {}, Encoding::kBase64, column, fault, error),
            ValueRead::kError);
  EXPECT_TRUE(error.is_integer);
  EXPECT_TRUE(error.is_negative);
  EXPECT_EQ(error.magnitude, 3000000000u);
}

TEST(ValueDecode, FloatsAndTheirSpecials) {
  EXPECT_EQ(Decoded("float64", "1.5e308"), "1.5e+308");
  EXPECT_EQ(Decoded("float64", "-0.0"), "-0.0");
  EXPECT_EQ(Decoded("float64", "7"), "7.0");
  EXPECT_EQ(Decoded("float64", "1e400"), "out_of_range");
  EXPECT_EQ(Decoded("float64", "1e-400"), "0.0");
  EXPECT_EQ(Decoded("float32", "3.4E38"), DumpJson(Json(static_cast<double>(3.4E38f))));
  EXPECT_EQ(Decoded("float32", "3.5e38"), "out_of_range");
  EXPECT_EQ(Decoded("float64", "\"NaN\""), "\"NaN\"");
  EXPECT_EQ(Decoded("float64", "\"Infinity\""), "\"Infinity\"");
  EXPECT_EQ(Decoded("float32", "\"-Infinity\""), "\"-Infinity\"");
  EXPECT_EQ(Decoded("float64", "\"POSITIVE_INFINITY\""), "\"Infinity\"");
  EXPECT_EQ(Decoded("float64", "\"NEGATIVE_INFINITY\""), "\"-Infinity\"");
  EXPECT_EQ(Decoded("float64", "\"NAN\""), "\"NaN\"");
  EXPECT_EQ(Decoded("float64", "NaN"), "bad_json");
  EXPECT_EQ(Decoded("float64", "\"1.5\""), "type_mismatch");
  EXPECT_EQ(Decoded("float64", "true"), "type_mismatch");
}

TEST(ValueDecode, DecimalsInAllTheirEncodings) {
  // -150 with scale 2, as base64 of its bytes.
  EXPECT_EQ(Decoded("decimal(12,2)", "\"/2o=\""), "\"-1.50\"");
  EXPECT_EQ(Decoded("decimal(9,4)", "\"BAg=\""), "\"0.1032\"");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"AP8=\""), "\"2.55\"");
  EXPECT_EQ(Decoded("decimal(4,1)", "\"/2o=\"", {Form::kDecimalBytes, 2}), "\"-1.5\"");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"-1.50\"", {}, Encoding::kString), "\"-1.50\"");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"-1.50\"", {}, Encoding::kNumber), "\"-1.50\"");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"-1.50\"", {Form::kDecimalText}), "\"-1.50\"");
  EXPECT_EQ(Decoded("decimal(12,2)", "-1.5"), "\"-1.50\"");
  EXPECT_EQ(Decoded("decimal(38,18)", "-1.0E-18"), "\"-0.000000000000000001\"");
  EXPECT_EQ(Decoded("decimal(12,2)", R"({"scale":3,"value":"AeJA"})"), "decimal_overflow");
  EXPECT_EQ(Decoded("decimal(12,3)", R"({"scale":3,"value":"AeJA"})"), "\"123.456\"");
  EXPECT_EQ(Decoded("decimal(12,3)", R"({"value":"AeJA","scale":3})"), "\"123.456\"");
}

TEST(ValueDecode, DecimalsThatDoNotFit) {
  EXPECT_EQ(Decoded("decimal(3,2)", "12.34"), "decimal_overflow");
  EXPECT_EQ(Decoded("decimal(5,1)", "1.25"), "decimal_overflow");
  EXPECT_EQ(Decoded("decimal(5,2)", std::string(10'000, '9')), "decimal_overflow");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"NaN\"", {}, Encoding::kString), "not_finite_decimal");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"POSITIVE_INFINITY\"", {}, Encoding::kString),
            "not_finite_decimal");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"-Infinity\"", {}, Encoding::kNumber), "not_finite_decimal");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"12.50\""), "type_mismatch");  // not base64
  EXPECT_EQ(Decoded("decimal(12,2)", "\"\""), "type_mismatch");
  EXPECT_EQ(Decoded("decimal(12,2)", "\"abc\"", {}, Encoding::kString), "type_mismatch");
  EXPECT_EQ(Decoded("decimal(12,2)", "true"), "type_mismatch");
  EXPECT_EQ(Decoded("decimal(12,2)", "{\"scale\":1}"), "type_mismatch");
  EXPECT_EQ(Decoded("decimal(12,2)", R"({"scale":99999999,"value":"AQ=="})"), "type_mismatch");
}

TEST(ValueDecode, DecimalsAsTextKeepEveryDigit) {
  EXPECT_EQ(Decoded("string", R"({"scale":3,"value":"AeJA"})", {Form::kVariableScale}),
            "\"123.456\"");
  EXPECT_EQ(Decoded("string", "\"EtaH\"", {Form::kDecimalBytes, 2}), "\"12345.67\"");
  EXPECT_EQ(Decoded("string", R"({"scale":3,"value":"AeJA"})"), "type_mismatch");
}

TEST(ValueDecode, TextBytesUuidAndJson) {
  EXPECT_EQ(Decoded("string", "\"a\\n\\u00e9\""), "\"a\\né\"");
  EXPECT_EQ(Decoded("string", "\"\""), "\"\"");
  EXPECT_EQ(Decoded("string", "\"null\""), "\"null\"");
  EXPECT_EQ(Decoded("string", "1"), "type_mismatch");
  EXPECT_EQ(Decoded("string", "{}"), "type_mismatch");
  EXPECT_EQ(Decoded("bytes", "\"AAEK/w==\""), "\"AAEK/w==\"");
  EXPECT_EQ(Decoded("bytes", "\"\""), "\"\"");
  EXPECT_EQ(Decoded("bytes", "\"AAEK/w\""), "type_mismatch");
  EXPECT_EQ(Decoded("uuid", "\"550E8400-E29B-41D4-A716-446655440000\""),
            "\"550e8400-e29b-41d4-a716-446655440000\"");
  EXPECT_EQ(Decoded("uuid", "\"550e8400\""), "type_mismatch");
  EXPECT_EQ(Decoded("json", "\"{\\\"on\\\":false}\""), R"("{\"on\":false}")");
  EXPECT_EQ(Decoded("json", "\"null\""), "\"null\"");
  EXPECT_EQ(Decoded("json", "{ \"b\": 1.50, \"a\":[1, 2] }"), R"("{ \"b\": 1.50, \"a\":[1, 2] }")");
  EXPECT_EQ(Decoded("json", "12.50"), "\"12.50\"");
  EXPECT_EQ(Decoded("json", "true"), "\"true\"");
  EXPECT_EQ(Decoded("json", "{\"a\":NaN}"), "bad_json");
  EXPECT_EQ(Decoded("bool", "true"), "true");
  EXPECT_EQ(Decoded("bool", "1"), "type_mismatch");
  EXPECT_EQ(Decoded("bool", "tru"), "bad_json");
}

TEST(ValueDecode, DatesAndTimesWithoutAWrapper) {
  EXPECT_EQ(Decoded("date", "-719162"), "-719162");
  EXPECT_EQ(Decoded("date", "\"0001-01-01\""), "-719162");
  EXPECT_EQ(Decoded("date", "\"2026-03-04Z\""), "20516");
  EXPECT_EQ(Decoded("date", "2147483648"), "out_of_range");
  EXPECT_EQ(Decoded("date", "1.5"), "type_mismatch");
  EXPECT_EQ(Decoded("date", "\"yesterday\""), "type_mismatch");
  EXPECT_EQ(Decoded("time_us", "86400000000"), "86400000000");
  EXPECT_EQ(Decoded("time_us", "86400000001"), "out_of_range");
  EXPECT_EQ(Decoded("time_us", "-1"), "out_of_range");
  EXPECT_EQ(Decoded("time_us", "\"24:00:00\""), "86400000000");
  EXPECT_EQ(Decoded("timestamp_us", "-62135597972000000"), "-62135597972000000");
  EXPECT_EQ(Decoded("timestamp_us", "\"2026-03-04T12:34:56.789012\""), "1772627696789012");
  EXPECT_EQ(Decoded("timestamptz_us", "\"2023-01-11 17:30:00.5+05\""), "1673440200500000");
  EXPECT_EQ(Decoded("timestamptz_us", "1673440200500000"), "1673440200500000");
  EXPECT_EQ(Decoded("timestamptz_us", "\"infinity\""), "out_of_range");
  EXPECT_EQ(Decoded("timestamptz_us", "9223372036854775808"), "out_of_range");
  EXPECT_EQ(Decoded("timestamptz_us", "true"), "type_mismatch");
}

TEST(ValueDecode, DatesAndTimesInAWrappersUnits) {
  EXPECT_EQ(Decoded("time_us", "45296789", {Form::kMillis}), "45296789000");
  EXPECT_EQ(Decoded("time_us", "45296789012", {Form::kMicros}), "45296789012");
  EXPECT_EQ(Decoded("time_us", "45296789012000", {Form::kNanos}), "45296789012");
  EXPECT_EQ(Decoded("timestamp_us", "1772627696789", {Form::kMillis}), "1772627696789000");
  EXPECT_EQ(Decoded("timestamp_us", "1772627696789012000", {Form::kNanos}), "1772627696789012");
  EXPECT_EQ(Decoded("timestamp_us", "1772627696789012345", {Form::kNanos}), "out_of_range");
  EXPECT_EQ(Decoded("timestamp_us", "9223372036854775807", {Form::kMillis}), "out_of_range");
  EXPECT_EQ(Decoded("date", "20516", {Form::kMillis}), "20516");
}

TEST(ValueDecode, ListsAndVectors) {
  EXPECT_EQ(Decoded("list<int32>", "[1,2,null,4]"), "[1,2,null,4]");
  EXPECT_EQ(Decoded("list<string>", "[]"), "[]");
  EXPECT_EQ(Decoded("list<list<int64>>", "[[1],[],null]"), "[[1],[],null]");
  EXPECT_EQ(Decoded("list<decimal(5,1)>", R"([{"scale":1,"value":"Dw=="},null])"),
            "[\"1.5\",null]");
  EXPECT_EQ(Decoded("list<timestamp_us>", "[1]", {Form::kMillis}), "[1000]");
  EXPECT_EQ(Decoded("list<string>", "{\"a\":1}"), "type_mismatch");
  EXPECT_EQ(Decoded("list<string>", "\"a\""), "type_mismatch");
  EXPECT_EQ(Decoded("list<int32>", "[1,\"a\"]"), "type_mismatch");
  EXPECT_EQ(Decoded("list<int8>", "[1,300]"), "out_of_range");
  EXPECT_EQ(Decoded("list<int32>", "[1,]"), "bad_json");
  EXPECT_EQ(Decoded("vector(3)", "[1,2.5,-3]"), "[1.0,2.5,-3.0]");
  EXPECT_EQ(Decoded("vector(2)", "[\"NaN\",1]"), "[\"NaN\",1.0]");
  EXPECT_EQ(Decoded("vector(3)", "[1,2]"), "type_mismatch");
  EXPECT_EQ(Decoded("vector(2)", "[1,null]"), "type_mismatch");
  EXPECT_EQ(Decoded("vector(1)", "[1e60]"), "out_of_range");
}

TEST(ValueDecode, EveryFormOfThePlaceholderIsUnavailable) {
  const std::string text = "\"__debezium_unavailable_value\"";
  const std::string base64 = "\"" + EncodeBase64(kUnavailableText) + "\"";
  const std::string hex = "\"5f5f646562657a69756d5f756e617661696c61626c655f76616c7565\"";
  std::string bytes = "[", doubles = "[";
  for (const char c : kUnavailableText) {
    bytes += (bytes.size() > 1 ? ", " : "") + std::to_string(static_cast<int>(c));
    doubles += (doubles.size() > 1 ? "," : "") + std::to_string(static_cast<int>(c)) + ".0";
  }
  bytes += "]";
  doubles += "]";
  for (const char* type : {"string", "json", "uuid", "bytes", "decimal(5,2)", "int64", "date",
                           "list<string>", "list<int32>", "vector(28)"}) {
    EXPECT_EQ(Decoded(type, text), "unavailable") << type;
    EXPECT_EQ(Decoded(type, base64), "unavailable") << type;
    EXPECT_EQ(Decoded(type, hex), "unavailable") << type;
  }
  for (const char* type :
       {"list<string>", "list<bytes>", "list<int32>", "list<float64>", "vector(28)", "json"}) {
    EXPECT_EQ(Decoded(type, "[" + text + "]"), "unavailable") << type;
    EXPECT_EQ(Decoded(type, "[" + base64 + "]"), "unavailable") << type;
    EXPECT_EQ(Decoded(type, bytes), "unavailable") << type;
    EXPECT_EQ(Decoded(type, doubles), "unavailable") << type;
  }
  EXPECT_EQ(Decoded("json", "{" + text + ":" + text + "}"), "unavailable");
  EXPECT_EQ(Decoded("list<string>", "[" + text + ",\"b\"]"), "type_mismatch");
  EXPECT_NE(Decoded("string", "\"__debezium_unavailable_value \""), "unavailable");
  bytes.replace(1, 2, "96");
  EXPECT_NE(Decoded("list<int32>", bytes), "unavailable");
}

}  // namespace
}  // namespace lastword::codec
