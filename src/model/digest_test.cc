#include "model/digest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/value_rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

Type TypeOf(std::string_view text) {
  return *ParseType(text);
}

Schema SchemaOf(std::vector<std::pair<std::string, std::string>> columns) {
  Schema schema;
  for (const auto& [name, type] : columns) {
    schema.columns.push_back({.name = name, .type = TypeOf(type)});
  }
  return schema;
}

uint64_t DigestOf(const Schema& schema, const Row& row,
                  const std::vector<uint32_t>& unavailable = {}) {
  Rows rows(schema);
  std::vector<uint32_t> absent;
  EXPECT_THAT(AppendRow(schema, row, rows, &absent), IsOk());
  return Digester(schema).Digest(rows, 0, absent, unavailable);
}

TEST(Digest, TheOrderOfColumnsIsNoPartOfIt) {
  std::vector<std::pair<std::string, std::string>> columns = {
      {"id", "int64"}, {"a", "string"}, {"ab", "float64"}, {"z", "list<int8>"}, {"b", "bool"}};
  const Row row = {{"id", 7}, {"a", "x"}, {"ab", 1.5}, {"z", List{Value(1)}}, {"b", true}};
  const uint64_t digest = DigestOf(SchemaOf(columns), row);
  while (std::next_permutation(columns.begin(), columns.end())) {
    ASSERT_EQ(DigestOf(SchemaOf(columns), row), digest);
  }
}

TEST(Digest, NullIsAbsentAndUnavailableIsNot) {
  const Schema schema = SchemaOf({{"id", "int64"}, {"note", "string"}});
  const uint64_t absent = DigestOf(schema, {{"id", 7}});
  EXPECT_EQ(DigestOf(schema, {{"id", 7}, {"note", Value()}}), absent);
  EXPECT_EQ(DigestOf(SchemaOf({{"id", "int64"}}), {{"id", 7}}), absent);
  const uint64_t unavailable = DigestOf(schema, {{"id", 7}, {"note", Value()}}, {1});
  EXPECT_NE(unavailable, absent);
  EXPECT_NE(DigestOf(schema, {{"id", 7}, {"note", "U"}}), unavailable);
  EXPECT_NE(DigestOf(schema, {{"id", 7}, {"note", ""}}), absent);
  EXPECT_NE(absent, kDeleteDigest);
}

TEST(Digest, OnlyWhatWasSentCounts) {
  Schema schema = SchemaOf({{"id", "int64"}, {"qty", "int32"}, {"offset", "int64"}});
  schema.columns[1].default_value = Value(1);
  schema.columns[2].from = "offset";
  const uint64_t sent = DigestOf(schema, {{"id", 7}, {"offset", 1}});
  EXPECT_EQ(DigestOf(schema, {{"id", 7}, {"offset", 2}}), sent);
  EXPECT_EQ(DigestOf(SchemaOf({{"id", "int64"}}), {{"id", 7}}), sent);
  EXPECT_NE(DigestOf(schema, {{"id", 7}, {"qty", 1}}), sent);
}

TEST(Digest, AMappedFieldCountsUnderItsNameInTheImage) {
  Schema mapped = SchemaOf({{"id", "int64"}, {"a_b", "string"}});
  mapped.columns[1].from = "a.b";
  const uint64_t sent = DigestOf(mapped, {{"id", 7}, {"a_b", "x"}});
  EXPECT_EQ(sent,
            DigestOf(SchemaOf({{"id", "int64"}, {"a.b", "string"}}), {{"id", 7}, {"a.b", "x"}}));
  EXPECT_NE(sent, DigestOf(mapped, {{"id", 7}, {"a_b", "y"}}));
}

TEST(Digest, NoMetadataOfTheRecordCounts) {
  for (const std::string from : {"source.db", "header.trace", "topic", "partition", "offset"}) {
    Schema schema = SchemaOf({{"id", "int64"}, {"meta", "string"}});
    schema.columns[1].from = from;
    EXPECT_EQ(DigestOf(schema, {{"id", 7}, {"meta", "x"}}),
              DigestOf(schema, {{"id", 7}, {"meta", "y"}}))
        << from;
  }
}

TEST(Digest, SurvivesWidening) {
  EXPECT_EQ(DigestOf(SchemaOf({{"a", "int8"}}), {{"a", 7}}),
            DigestOf(SchemaOf({{"a", "int64"}}), {{"a", 7}}));
  EXPECT_EQ(DigestOf(SchemaOf({{"a", "decimal(4,1)"}}), {{"a", "1.5"}}),
            DigestOf(SchemaOf({{"a", "decimal(40,9)"}}), {{"a", "1.5"}}));
  EXPECT_EQ(DigestOf(SchemaOf({{"a", "float32"}}), {{"a", 1.5}}),
            DigestOf(SchemaOf({{"a", "float64"}}), {{"a", 1.5}}));
}

TEST(Digest, NamesAndValuesDoNotRunIntoEachOther) {
  const Schema schema = SchemaOf({{"a", "string"}, {"b", "string"}});
  EXPECT_NE(DigestOf(schema, {{"a", "x"}}), DigestOf(schema, {{"b", "x"}}));
  EXPECT_NE(DigestOf(schema, {{"a", "x"}, {"b", ""}}), DigestOf(schema, {{"a", ""}, {"b", "x"}}));
  const Schema list = SchemaOf({{"a", "list<string>"}});
  EXPECT_NE(DigestOf(list, {{"a", List{}}}), DigestOf(list, {}));
  EXPECT_NE(DigestOf(list, {{"a", List{Value()}}}), DigestOf(list, {{"a", List{}}}));
  EXPECT_NE(DigestOf(list, {{"a", List{Value("a"), Value("b")}}}),
            DigestOf(list, {{"a", List{Value("ab")}}}));
  const Schema nested = SchemaOf({{"a", "list<list<int8>>"}});
  EXPECT_NE(DigestOf(nested, {{"a", List{Value(List{Value(1)}), Value(List{Value(2)})}}}),
            DigestOf(nested, {{"a", List{Value(List{Value(1), Value(2)}), Value(List{})}}}));
}

TEST(Digest, EveryColumnCounts) {
  const Schema schema = SchemaOf({{"a", "int64"},
                                  {"b", "string"},
                                  {"c", "decimal(9,3)"},
                                  {"d", "timestamp_us"},
                                  {"e", "vector(2)"},
                                  {"f", "uuid"}});
  const Row base = {{"a", 1},
                    {"b", "x"},
                    {"c", "1.5"},
                    {"d", 1},
                    {"e", List{Value(1.0), Value(2.0)}},
                    {"f", "0f8fad5b-d9cb-469f-a165-70867728950e"}};
  const Row other = {{"a", 2},
                     {"b", "y"},
                     {"c", "1.501"},
                     {"d", 2},
                     {"e", List{Value(1.0), Value(2.5)}},
                     {"f", "0f8fad5b-d9cb-469f-a165-70867728950f"}};
  for (size_t i = 0; i < base.size(); ++i) {
    Row changed = base;
    changed[i] = other[i];
    EXPECT_NE(DigestOf(schema, changed), DigestOf(schema, base)) << base[i].first;
  }
}

TEST(Digest, OneDigesterServesManyRows) {
  const Schema schema = SchemaOf({{"a", "int64"}});
  Rows rows(schema);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(AppendRow(schema, {{"a", i % 2}}, rows), IsOk());
  Digester digester(schema);
  EXPECT_EQ(digester.Digest(rows, 0, {}, {}), digester.Digest(rows, 2, {}, {}));
  EXPECT_NE(digester.Digest(rows, 0, {}, {}), digester.Digest(rows, 1, {}, {}));
}

}  // namespace
}  // namespace lastword
