// Bytes and hashes that are persisted with every row and key. A failure here means that tables
// written before can no longer be read as what they are: change the code back, never the values.
#include <gtest/gtest.h>

#include <cmath>

#include "base/format.h"
#include "base/hash.h"
#include "model/digest.h"
#include "model/key.h"
#include "model/ordered.h"
#include "model/row_chunk.h"
#include "model/value_rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

struct Golden {
  std::string_view type;
  Value value;
  std::string_view key_hex;
  std::string_view hash_hex;  // of the key
};

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += Message("{:02x}", static_cast<uint8_t>(c));
  return text;
}

const Golden kKeys[] = {
    {"int32", 7, "01690700000000000000", "068503bf3f0771d8e0e05e35371924cf"},
    {"int64", -1, "0169ffffffffffffffff", "93056ff99b4e24fd2f253c2356fcb422"},
    {"uint64", UINT64_MAX, "0175ffffffffffffffff", "9c77949fd7acf4e99135018131ecbcd0"},
    {"bool", true, "016201", "1e9940e403c8245017ea168c8999a406"},
    {"float64", 1.5, "0166000000000000f83f", "fde0f8d3e4b72aed185a36a82ac41a01"},
    {"float64", -0.0, "01660000000000000000", "7fd086725c0c517a5c48819577a86b2d"},
    {"float32", -std::nan("7"), "0166000000000000f87f", "5f76d6119610e745ea6f2f009b7bc91d"},
    {"decimal(12,2)", "-12.50", "0164070000002d313235652d31", "c99c0d7b3a333a5f899cdcb5c336e147"},
    {"decimal(60,0)", "0", "016403000000306530", "637aeed82bc48dac9cfff71f0921a4e9"},
    {"string", "merchant-7", "01730a0000006d65726368616e742d37",
     "d7be0efaf84e76f0be1feb00ad490478"},
    {"json", "{}", "0173020000007b7d", "c84faefa0453a08eb3499aaa1bc12906"},
    {"bytes", Bytes{"\xff"}, "017801000000ff", "beb746ac38ab43e842965d92cb47edf7"},
    {"date", "2024-02-29", "0144464d000000000000", "a976bf1ebcb73dcb8e7577874daac9f5"},
    {"time_us", "24:00:00", "01540060d71d14000000", "9a206d2d0f3e1b1443bccf2ff4f667e4"},
    {"timestamp_us", "1969-12-31T23:59:59.999999", "0174ffffffffffffffff",
     "8451587d2b98cc95fd18c6842ff25674"},
    {"timestamptz_us", "1970-01-01T00:00:01Z", "017a40420f0000000000",
     "577f0a18f24223a07c8139e75b5813d2"},
    {"uuid", "0f8fad5b-d9cb-469f-a165-70867728950e", "01550f8fad5bd9cb469fa16570867728950e",
     "6c58213f7607a6725d308a5da9d6fc91"},
    {"string", Value(), "00", "a6cd5e9392000f6ac44bdff4074eecdb"},
};

TEST(Golden, KeysAndTheirHashes) {
  for (const Golden& golden : kKeys) {
    Schema schema;
    schema.columns = {{.name = "k", .type = *ParseType(golden.type)}};
    schema.key = {0};
    schema.nullable_key = {true};
    Rows rows(schema);
    ASSERT_THAT(AppendRow(schema, {{"k", golden.value}}, rows), IsOk());
    std::string key;
    ASSERT_THAT(AppendKey(schema, rows, 0, key), IsOk());
    EXPECT_EQ(Hex(key), golden.key_hex) << golden.type;
    const KeyHash hash = Hash128(key);
    EXPECT_EQ(Message("{:016x}{:016x}", hash.high, hash.low), golden.hash_hex) << golden.type;
  }
}

Schema GoldenSchema() {
  Schema schema;
  for (const std::string_view type :
       {"int64", "string", "decimal(12,2)", "float32", "list<string>", "vector(2)", "uuid"}) {
    schema.columns.push_back({.name = std::string(type), .type = *ParseType(type)});
  }
  return schema;
}

Row GoldenRow() {
  return {{"int64", 7},
          {"string", "text"},
          {"decimal(12,2)", "-12.50"},
          {"float32", 1.5},
          {"list<string>", List{Value("a"), Value()}},
          {"vector(2)", List{Value(1.0), Value(-2.0)}},
          {"uuid", "0f8fad5b-d9cb-469f-a165-70867728950e"}};
}

TEST(Golden, Digests) {
  const Schema schema = GoldenSchema();
  Rows rows(schema);
  ASSERT_THAT(AppendRow(schema, GoldenRow(), rows), IsOk());
  rows.AppendNulls();
  Digester digester(schema);
  EXPECT_EQ(digester.Digest(rows, 0, {}, {}), 0xd5f85d019cbb1474u);
  EXPECT_EQ(digester.Digest(rows, 0, {}, {1}), 0xb5c611f7822b696bu);
  EXPECT_EQ(digester.Digest(rows, 0, {0, 2}, {}), 0x5d118ca102e89135u);
  EXPECT_EQ(digester.Digest(rows, 1, {}, {}), Hash64(""));
  EXPECT_EQ(kDeleteDigest, 0x64656c657465u);
}

// Hashes the grammar of model/digest.h written out by hand.
TEST(Golden, ADigestIsTheHashOfItsGrammar) {
  Schema schema;
  schema.columns = {{.name = "b", .type = *ParseType("list<int8>")},
                    {.name = "a", .type = *ParseType("bool")},
                    {.name = "u"}};
  Rows rows(schema);
  ASSERT_THAT(AppendRow(schema, {{"a", true}, {"b", List{Value(2), Value()}}}, rows), IsOk());
  const std::string payload = std::string("\1\0\0\0a\1b\1", 8) +
                              std::string("\1\0\0\0b\1L\2\0\0\0\1i\2\0\0\0\0\0\0\0\0", 22) +
                              std::string("\1\0\0\0uU", 6);
  EXPECT_EQ(Digester(schema).Digest(rows, 0, {2}, {2}), Hash64(payload));
}

TEST(Golden, RowBytes) {
  const Schema schema = GoldenSchema();
  Rows rows(schema);
  ASSERT_THAT(AppendRow(schema, GoldenRow(), rows), IsOk());
  EXPECT_EQ(Hex(RowToBytes(schema, rows, 0)),
            "0700000005000000696e74363405000000696e74363401070000000000000006000000737472696e"
            "6706000000737472696e670104000000746578740d000000646563696d616c2831322c32290d0000"
            "00646563696d616c2831322c3229011efbffffffffffffffffffffffffffff07000000666c6f6174"
            "333207000000666c6f61743332010000c03f0c0000006c6973743c737472696e673e0c0000006c69"
            "73743c737472696e673e01020000000101000000610009000000766563746f722832290900000076"
            "6563746f72283229010000803f000000c004000000757569640400000075756964010f8fad5bd9cb"
            "469fa16570867728950e");
}

TEST(Golden, OrderedNumbers) {
  EXPECT_EQ(OrderedFromSigned(3), 0x8000000000000003u);
  EXPECT_EQ(OrderedFromSigned(-1), 0x7fffffffffffffffu);
}

}  // namespace
}  // namespace lastword
