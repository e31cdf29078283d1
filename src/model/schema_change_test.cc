#include "model/schema_change.h"

#include <gtest/gtest.h>

#include <set>

#include "model/canonical.h"
#include "model/row_chunk.h"
#include "model/value_rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

Type TypeOf(std::string_view text) {
  return *ParseType(text);
}

// Every pair of these; the wider ones of each are listed.
TEST(SchemaChange, WideningIsExactlyThis) {
  const std::pair<std::string_view, std::set<std::string_view>> wider[] = {
      {"bool", {}},
      {"int8", {"int16", "int32", "int64"}},
      {"int16", {"int32", "int64"}},
      {"int32", {"int64"}},
      {"int64", {}},
      {"uint8", {"uint16", "uint32", "uint64", "int16", "int32", "int64"}},
      {"uint16", {"uint32", "uint64", "int32", "int64"}},
      {"uint32", {"uint64", "int64"}},
      {"uint64", {}},
      {"float32", {"float64"}},
      {"float64", {}},
      {"decimal(6,2)", {"decimal(7,2)", "decimal(7,3)", "decimal(60,2)"}},
      {"decimal(7,2)", {"decimal(60,2)"}},
      {"decimal(7,3)", {}},
      {"decimal(60,2)", {}},
      {"string", {}},
      {"bytes", {}},
      {"json", {}},
      {"date", {}},
      {"time_us", {}},
      {"timestamp_us", {}},
      {"timestamptz_us", {}},
      {"uuid", {}},
      {"list<int8>", {"list<int16>"}},
      {"list<int16>", {}},
      {"vector(2)", {}},
      {"vector(3)", {}}};
  for (const auto& [from, to_types] : wider) {
    for (const auto& [to, unused] : wider) {
      const Status status = CanWiden(TypeOf(from), TypeOf(to));
      if (from == to || to_types.contains(to)) {
        EXPECT_THAT(status, IsOk()) << from << " to " << to;
      } else {
        EXPECT_THAT(status, IsError(ErrorKind::kSchemaIncompatible)) << from << " to " << to;
      }
    }
  }
}

// A value has the same canonical bytes before and after: keys and digests survive widening.
TEST(SchemaChange, WidenedValuesStayEqual) {
  const std::tuple<std::string_view, std::string_view, std::vector<Value>> cases[] = {
      {"int8", "int64", {Value(-128), Value(127), Value()}},
      {"uint8", "int16", {Value(0), Value(255), Value()}},
      {"uint32", "int64", {Value(4294967295), Value()}},
      {"uint32", "uint64", {Value(4294967295), Value()}},
      {"float32", "float64", {Value(0.1), Value(-1e30), Value()}},
      {"decimal(6,2)", "decimal(60,4)", {Value("-1234.56"), Value("0"), Value()}},
      {"list<uint8>", "list<uint32>", {Value(List{Value(255), Value()}), Value(List{}), Value()}}};
  for (const auto& [from, to, values] : cases) {
    ASSERT_THAT(CanWiden(TypeOf(from), TypeOf(to)), IsOk());
    ColumnData narrow(TypeOf(from)), wide(TypeOf(to));
    for (const Value& value : values) ASSERT_THAT(AppendValue(value, narrow), IsOk());
    for (uint64_t row = 0; row < values.size(); ++row) {
      AppendWidened(narrow, row, wide);
      std::string before, after;
      AppendCanonicalPart(narrow, row, before);
      AppendCanonicalPart(wide, row, after);
      EXPECT_EQ(before, after) << from << " to " << to << ", row " << row;
    }
  }
}

Schema SchemaOf(std::vector<std::pair<std::string, std::string>> columns) {
  Schema schema;
  for (const auto& [name, type] : columns) {
    schema.columns.push_back({.name = name, .type = TypeOf(type)});
  }
  schema.key = {0};
  return schema;
}

TEST(SchemaChange, SchemasGrowAtTheEndOrWiden) {
  const Schema from = SchemaOf({{"id", "int64"}, {"qty", "int32"}});
  EXPECT_THAT(CanEvolve(from, from), IsOk());
  EXPECT_THAT(CanEvolve(from, SchemaOf({{"id", "int64"}, {"qty", "int64"}, {"note", "string"}})),
              IsOk());
  EXPECT_THAT(CanEvolve(from, SchemaOf({{"id", "int64"}})),
              IsErrorIn(ErrorKind::kSchemaIncompatible, "qty"));
  EXPECT_THAT(CanEvolve(from, SchemaOf({{"id", "int64"}, {"note", "string"}, {"qty", "int32"}})),
              IsErrorIn(ErrorKind::kSchemaIncompatible, "note"));
  EXPECT_THAT(CanEvolve(from, SchemaOf({{"id", "int64"}, {"qty", "int16"}})),
              IsErrorIn(ErrorKind::kSchemaIncompatible, "qty"));
  Schema stricter = SchemaOf({{"id", "int64"}, {"qty", "int32"}, {"note", "string"}});
  stricter.columns[2].nullable = false;
  EXPECT_THAT(CanEvolve(from, stricter), IsErrorIn(ErrorKind::kSchemaIncompatible, "note"));
  Schema other_key = from;
  other_key.key = {0, 1};
  EXPECT_THAT(CanEvolve(from, other_key), IsError(ErrorKind::kSchemaIncompatible));
}

}  // namespace
}  // namespace lastword
