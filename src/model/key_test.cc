#include "model/key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "model/value_rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

Type TypeOf(std::string_view text) {
  return *ParseType(text);
}

Schema KeySchema(const std::vector<std::string_view>& types, bool nullable = false) {
  Schema schema;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string name = "k";
    name += std::to_string(i);
    schema.columns.push_back({.name = name, .type = TypeOf(types[i]), .nullable = nullable});
    schema.key.push_back(static_cast<uint32_t>(i));
    schema.nullable_key.push_back(nullable);
  }
  return schema;
}

std::string KeyOf(const std::vector<std::string_view>& types, const std::vector<Value>& values) {
  const Schema schema = KeySchema(types, true);
  Rows rows(schema);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_THAT(AppendValue(values[i], rows.columns[i]), IsOk());
  }
  std::string key;
  EXPECT_THAT(AppendKey(schema, rows, 0, key), IsOk());
  return key;
}

TEST(Key, EqualByValueWhateverTheType) {
  EXPECT_EQ(KeyOf({"int8"}, {7}), KeyOf({"int64"}, {7}));
  EXPECT_EQ(KeyOf({"uint64"}, {7}), KeyOf({"int16"}, {7}));
  EXPECT_EQ(KeyOf({"uint64"}, {INT64_MAX}), KeyOf({"int64"}, {INT64_MAX}));
  EXPECT_NE(KeyOf({"uint64"}, {UINT64_MAX}), KeyOf({"int64"}, {-1}));
  EXPECT_EQ(KeyOf({"decimal(5,2)"}, {"1.50"}), KeyOf({"decimal(60,1)"}, {"1.5"}));
  EXPECT_EQ(KeyOf({"float64"}, {-0.0}), KeyOf({"float64"}, {0.0}));
  EXPECT_EQ(KeyOf({"float32"}, {0.5}), KeyOf({"float64"}, {0.5}));
  EXPECT_EQ(KeyOf({"float64"}, {std::nan("1")}), KeyOf({"float32"}, {-std::nan("")}));
  EXPECT_EQ(KeyOf({"uuid"}, {"0F8FAD5B-D9CB-469F-A165-70867728950E"}),
            KeyOf({"uuid"}, {"0f8fad5bd9cb469fa16570867728950e"}));
}

TEST(Key, DifferentValuesStayApart) {
  EXPECT_NE(KeyOf({"string"}, {"a"}), KeyOf({"bytes"}, {Bytes{"a"}}));
  EXPECT_NE(KeyOf({"string"}, {"a"}), KeyOf({"string"}, {"A"}));
  EXPECT_NE(KeyOf({"string"}, {"a"}), KeyOf({"string"}, {"a "}));
  EXPECT_NE(KeyOf({"string"}, {""}), KeyOf({"string"}, {Value()}));
  EXPECT_NE(KeyOf({"string", "string"}, {"ab", "c"}), KeyOf({"string", "string"}, {"a", "bc"}));
  EXPECT_NE(KeyOf({"string", "string"}, {Value(), "a"}),
            KeyOf({"string", "string"}, {"a", Value()}));
  EXPECT_NE(KeyOf({"int64"}, {1}), KeyOf({"bool"}, {true}));
  EXPECT_NE(KeyOf({"timestamp_us"}, {1}), KeyOf({"timestamptz_us"}, {1}));
}

// What a value means, computed without the code under test.
struct Meaning {
  char family;
  std::string text;
  auto operator<=>(const Meaning&) const = default;
};

struct Drawn {
  std::string_view type;
  Value value;
  Meaning meaning;
};

// Draws from a domain so small that equal meanings in different clothes are common.
Drawn Draw(Random& random) {
  const auto small = static_cast<int64_t>(random.Below(7)) - 3;
  const std::string number = std::to_string(small);
  switch (random.Below(9)) {
    case 0: {
      constexpr std::string_view kTypes[] = {"int8", "int16", "int32", "int64"};
      return {kTypes[random.Below(4)], Value(small), {'i', number}};
    }
    case 1: {
      constexpr std::string_view kTypes[] = {"uint8", "uint16", "uint32", "uint64"};
      const int64_t positive = std::abs(small);
      return {kTypes[random.Below(4)], Value(positive), {'i', std::to_string(positive)}};
    }
    case 2: {
      const uint64_t large = UINT64_MAX - random.Below(3);
      return {"uint64", Value(large), {'i', std::to_string(large)}};
    }
    case 3: {
      // n/2 has one digit behind the point, which the types print with more or less zeros.
      constexpr std::string_view kTypes[] = {"decimal(3,1)", "decimal(9,4)", "decimal(50,20)"};
      const std::string half = (small < 0 ? "-" : "") + std::to_string(std::abs(small) / 2) +
                               (small % 2 == 0 ? ".0" : ".5");
      return {kTypes[random.Below(3)], Value(Decimal{half}), {'d', std::to_string(small * 5)}};
    }
    case 4: {
      const double real = small == 3 ? std::nan("") : static_cast<double>(small) / 2;
      const bool minus_zero = small == 0 && random.OneIn(2);
      return {random.OneIn(2) ? "float32" : "float64",
              Value(minus_zero ? -0.0 : real),
              {'f', small == 3 ? "NaN" : number}};
    }
    case 5:
      return {"string", Value(std::string(random.Below(3), 'a')), {'s', ""}};
    case 6:
      return {"bytes", Value(Bytes{std::string(random.Below(3), 'a')}), {'x', ""}};
    case 7:
      return {"date", Value(small), {'D', number}};
    default:
      return {"bool", Value(small > 0), {'b', small > 0 ? "1" : "0"}};
  }
}

TEST(Key, EqualExactlyWhereMeaningsAreEqual) {
  Random random(8);
  std::map<std::vector<Meaning>, std::string> key_of;
  std::map<std::string, std::vector<Meaning>> meaning_of;
  for (int round = 0; round < 50'000; ++round) {
    std::vector<std::string_view> types;
    std::vector<Value> values;
    std::vector<Meaning> meanings;
    const uint64_t parts = 1 + random.Below(2);
    for (uint64_t i = 0; i < parts; ++i) {
      Drawn drawn = Draw(random);
      if (const auto* text = std::get_if<std::string>(&drawn.value.held)) {
        drawn.meaning.text = *text;
      } else if (const auto* bytes = std::get_if<Bytes>(&drawn.value.held)) {
        drawn.meaning.text = bytes->bytes;
      }
      if (random.OneIn(10)) {
        drawn.value = Value();
        drawn.meaning = {'0', ""};
      }
      types.push_back(drawn.type);
      values.push_back(drawn.value);
      meanings.push_back(drawn.meaning);
    }
    const std::string key = KeyOf(types, values);
    ASSERT_EQ(key_of.try_emplace(meanings, key).first->second, key);
    ASSERT_EQ(meaning_of.try_emplace(key, meanings).first->second, meanings);
  }
  EXPECT_GT(key_of.size(), 1000u);
}

TEST(Key, NullNeedsANullableKeyColumn) {
  Schema schema = KeySchema({"int64", "string"});
  schema.nullable_key = {false, true};
  Rows rows(schema);
  rows.AppendNulls();
  std::string key = "before";
  EXPECT_THAT(AppendKey(schema, rows, 0, key), IsErrorIn(ErrorKind::kNullInKey, "k0"));
  EXPECT_EQ(key, "before");
  rows.Truncate(0);
  ASSERT_THAT(AppendRow(schema, {{"k0", 1}, {"k1", Value()}}, rows), IsOk());
  EXPECT_THAT(AppendKey(schema, rows, 0, key), IsOk());
  EXPECT_TRUE(key.starts_with("before"));
  EXPECT_EQ(key.back(), '\0');
}

TEST(Key, TypesThatCannotBeAKey) {
  EXPECT_THAT(CheckKeyTypes(KeySchema({"int64", "string", "float64", "decimal(3,1)"})), IsOk());
  EXPECT_THAT(CheckKeyTypes(KeySchema({})), IsError(ErrorKind::kUsage));
  EXPECT_THAT(CheckKeyTypes(KeySchema({"list<int8>"})), IsErrorIn(ErrorKind::kUsage, "k0"));
  EXPECT_THAT(CheckKeyTypes(KeySchema({"int8", "vector(2)"})), IsErrorIn(ErrorKind::kUsage, "k1"));
  Schema schema = KeySchema({"int8"});
  schema.key = {0, 0};
  EXPECT_THAT(CheckKeyTypes(schema), IsErrorIn(ErrorKind::kUsage, "k0"));
  schema.key = {1};
  EXPECT_THAT(CheckKeyTypes(schema), IsError(ErrorKind::kUsage));
}

// ---- as people type and read them

TEST(KeyText, SingleValues) {
  const std::tuple<std::string_view, Value, std::string_view> cases[] = {
      {"int64", INT64_MIN, "-9223372036854775808"},
      {"uint64", UINT64_MAX, "18446744073709551615"},
      {"bool", true, "true"},
      {"float64", 0.1, "0.1"},
      {"float64", std::nan(""), "NaN"},
      {"float64", std::numeric_limits<double>::infinity(), "inf"},
      {"float64", -std::numeric_limits<double>::infinity(), "-inf"},
      {"decimal(6,2)", "-12.50", "-12.5"},
      {"decimal(6,2)", "0.05", "0.05"},
      {"decimal(6,2)", "1200", "1200"},
      {"decimal(6,2)", "0", "0"},
      {"string", "merchant-7", "merchant-7"},
      {"string", "7", "7"},
      {"string", "", ""},
      {"string", "null", "null"},
      {"string", "a b\"c\n", "a b\"c\n"},
      {"string", "[1]", "[\"[1]\"]"},
      {"string", "{\"k0\":\"x\"}", "[\"{\\\"k0\\\":\\\"x\\\"}\"]"},
      {"json", "{}", "[\"{}\"]"},
      {"bytes", Bytes{"a\xff"}, "Yf8="},
      {"date", "2024-02-29", "2024-02-29"},
      {"time_us", "24:00:00", "24:00:00"},
      {"timestamp_us", "2024-02-29 12:00:00", "2024-02-29T12:00:00"},
      {"timestamptz_us", "2024-02-29T12:00:00.000001Z", "2024-02-29T12:00:00.000001Z"},
      {"uuid", "0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e"}};
  for (const auto& [type, value, text] : cases) {
    const std::string key = KeyOf({type}, {value});
    EXPECT_EQ(KeyToText(key), text) << type;
    EXPECT_THAT(ParseKey(KeySchema({type}), text), IsOkAnd(key)) << type << " " << text;
  }
}

TEST(KeyText, CompositeValues) {
  const Schema schema = KeySchema({"int64", "string", "decimal(6,2)"});
  const std::string key = KeyOf({"int64", "string", "decimal(6,2)"}, {1, "a", "1.50"});
  EXPECT_EQ(KeyToText(key), R"([1,"a","1.5"])");
  for (const std::string_view text : {R"([1,"a","1.5"])", R"([1,"a",1.50])",
                                      R"( {"k2":"1.500","k1":"a","k0":1})", R"(["1","a",1.5])"}) {
    const std::string_view trimmed = text.substr(text.find_first_not_of(' '));
    EXPECT_THAT(ParseKey(schema, trimmed), IsOkAnd(key)) << text;
  }
  for (const std::string_view text :
       {"", "1", "[1,\"a\"]", "[1,\"a\",1,2]", "{\"k0\":1,\"k1\":\"a\"}", "[1,\"a\",null]",
        "[1,2,3]", "[1,\"a\",1.555]", "{\"k0\":1,\"k1\":\"a\",\"k3\":1}", "[1,\"a\",[1]]", "[1,"}) {
    EXPECT_THAT(ParseKey(schema, text), IsError(ErrorKind::kUsage)) << text;
  }
}

TEST(KeyText, SingleValuesAsJson) {
  EXPECT_THAT(ParseKey(KeySchema({"int64"}), "[7]"), IsOkAnd(KeyOf({"int64"}, {7})));
  EXPECT_THAT(ParseKey(KeySchema({"int64"}), R"({"k0":7})"), IsOkAnd(KeyOf({"int64"}, {7})));
  EXPECT_THAT(ParseKey(KeySchema({"string"}), R"({"k0":"7"})"), IsOkAnd(KeyOf({"string"}, {"7"})));
  // A text that only looks like JSON is that text.
  EXPECT_THAT(ParseKey(KeySchema({"string"}), R"({"other":"7"})"),
              IsOkAnd(KeyOf({"string"}, {R"({"other":"7"})"})));
  EXPECT_THAT(ParseKey(KeySchema({"string"}), "[1]"), IsOkAnd(KeyOf({"string"}, {"[1]"})));
  EXPECT_THAT(ParseKey(KeySchema({"string"}), "[half"), IsOkAnd(KeyOf({"string"}, {"[half"})));
  for (const std::string_view text :
       {"", "x", "7.0", "[7,8]", "{}", "[\"x\"]", "9999999999999999999"}) {
    EXPECT_THAT(ParseKey(KeySchema({"int64"}), text), IsError(ErrorKind::kUsage)) << text;
  }
}

TEST(KeyText, NullKeys) {
  const Schema schema = KeySchema({"string"}, true);
  const std::string key = KeyOf({"string"}, {Value()});
  EXPECT_EQ(KeyToText(key), "[null]");
  EXPECT_THAT(ParseKey(schema, "[null]"), IsOkAnd(key));
  EXPECT_THAT(ParseKey(KeySchema({"string"}), "[null]"), IsError(ErrorKind::kUsage));
}

TEST(KeyText, NeverFailsOnBytesThatAreNoKey) {
  EXPECT_EQ(KeyToText("\x05"), "0x05");
  EXPECT_EQ(KeyToText(std::string_view("\x01\x00", 2)), "0x0100");
  const std::string key =
      KeyOf({"int64", "string", "uuid", "decimal(3,1)", "date", "time_us", "timestamp_us"},
            {7, "text", "0f8fad5bd9cb469fa16570867728950e", "1.5", -1, 1, -1});
  for (size_t size = 1; size < key.size(); ++size) KeyToText(key.substr(0, size));
  Random random(9);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = key;
    bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    KeyToText(bytes);
  }
}

TEST(KeyText, WhatIsPrintedReadsBack) {
  Random random(10);
  for (int round = 0; round < 5000; ++round) {
    const Drawn drawn = Draw(random);
    const std::string key = KeyOf({drawn.type}, {drawn.value});
    ASSERT_THAT(ParseKey(KeySchema({drawn.type}), KeyToText(key)), IsOkAnd(key))
        << drawn.type << " " << KeyToText(key);
  }
}

}  // namespace
}  // namespace lastword
