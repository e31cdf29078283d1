#include "model/row_chunk.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "model/value_rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

Schema WideSchema() {
  Schema schema;
  for (const std::string_view type :
       {"bool", "int8", "uint64", "float64", "decimal(50,2)", "string", "bytes", "uuid",
        "list<list<string>>", "vector(2)"}) {
    schema.columns.push_back({.name = std::string(type), .type = *ParseType(type)});
  }
  return schema;
}

Row FullRow() {
  return {{"bool", true},
          {"int8", -1},
          {"uint64", UINT64_MAX},
          {"float64", 0.1},
          {"decimal(50,2)", "-1.25"},
          {"string", ""},
          {"bytes", Bytes{std::string("\0\xff", 2)}},
          {"uuid", "0f8fad5b-d9cb-469f-a165-70867728950e"},
          {"list<list<string>>", List{Value(List{Value("a"), Value()}), Value(), Value(List{})}},
          {"vector(2)", List{Value(1.5), Value(-2.0)}}};
}

TEST(RowChunk, BytesComeBack) {
  const Schema schema = WideSchema();
  Rows rows(schema);
  ASSERT_THAT(AppendRow(schema, FullRow(), rows), IsOk());
  rows.AppendNulls();
  for (uint64_t row = 0; row < 2; ++row) {
    const std::string bytes = RowToBytes(schema, rows, row);
    const Result<RowChunk> chunk = RowFromBytes(bytes);
    ASSERT_THAT(chunk, IsOk());
    ASSERT_EQ(chunk->schema->columns.size(), schema.columns.size());
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      EXPECT_EQ(chunk->schema->columns[i].name, schema.columns[i].name);
      EXPECT_EQ(chunk->schema->columns[i].type, schema.columns[i].type);
    }
    EXPECT_EQ(RowToBytes(*chunk->schema, chunk->rows, 0), bytes);
  }
}

TEST(RowChunk, BytesThatAreNoRowAreAnErrorAndNoCrash) {
  const Schema schema = WideSchema();
  Rows rows(schema);
  ASSERT_THAT(AppendRow(schema, FullRow(), rows), IsOk());
  const std::string bytes = RowToBytes(schema, rows, 0);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(RowFromBytes(bytes.substr(0, size)), IsError(ErrorKind::kStorageCorrupt)) << size;
  }
  EXPECT_THAT(RowFromBytes(bytes + "x"), IsError(ErrorKind::kStorageCorrupt));
  Random random(12);
  for (int round = 0; round < 20'000; ++round) {
    std::string wrong = bytes;
    wrong[random.Below(wrong.size())] = static_cast<char>(random.Next());
    (void)RowFromBytes(wrong).ok();
  }
}

TEST(RowChunk, AdaptsColumnsByName) {
  Schema from, to;
  from.columns = {{.name = "a", .type = *ParseType("int8")}, {.name = "gone"}};
  to.columns = {{.name = "new"}, {.name = "a", .type = *ParseType("int64")}};
  Rows old_rows(from), new_rows(to);
  ASSERT_THAT(AppendRow(from, {{"a", -5}, {"gone", "x"}}, old_rows), IsOk());
  RowAdapter(from, to).Append(old_rows, 0, new_rows);
  EXPECT_TRUE(new_rows.columns[0].IsNull(0));
  EXPECT_EQ(new_rows.columns[1].Fixed<int64_t>(0), -5);
}

}  // namespace
}  // namespace lastword
