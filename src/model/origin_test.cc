#include "model/origin.h"

#include <gtest/gtest.h>

#include "model/key.h"
#include "model/rows.h"

namespace lastword {
namespace {

// Key (src, id, db): text, number, text.
Schema TestKey() {
  Schema schema;
  Column id, src, db;
  id.name = "id", id.type.kind = TypeKind::kInt64;
  src.name = "src", src.from = "source.table";
  db.name = "db", db.from = "source.db";
  schema.columns = {id, src, db};
  schema.key = {1, 0, 2};
  schema.nullable_key = {false, false, false};
  return schema;
}

std::string Key(int64_t id, std::string_view src, std::string_view db) {
  const Schema schema = TestKey();
  Rows rows(schema);
  rows.columns[0].AppendFixed(id);
  rows.columns[1].AppendBytes(src);
  rows.columns[2].AppendBytes(db);
  std::string key;
  EXPECT_TRUE(AppendKey(schema, rows, 0, key).ok());
  return key;
}

TEST(Origin, IsWhatTheKeySaysOfTheSource) {
  const Schema schema = TestKey();
  EXPECT_EQ(OriginColumns(schema), (std::vector<std::string>{"src", "db"}));
  const auto values = OriginValues(schema, {"src", "db"}, Key(7, "a", "x"));
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (std::vector<std::string>{"a", "x"}));
  EXPECT_EQ(ToText(Origin{{"src", "db"}, *values}), "src=a,db=x");

  const Origin origin{{"db"}, {"x"}};
  EXPECT_TRUE(Covers(origin, schema, Key(7, "a", "x")));
  EXPECT_TRUE(Covers(origin, schema, Key(8, "b", "x")));
  EXPECT_FALSE(Covers(origin, schema, Key(7, "a", "y")));
  EXPECT_TRUE(Covers(Origin(), schema, Key(7, "a", "y")));
}

TEST(Origin, OnlyTextColumnsOfTheKeyThatNameASource) {
  Schema schema = TestKey();
  schema.nullable_key = {true, false, false};
  EXPECT_EQ(OriginColumns(schema), (std::vector<std::string>{"db"})) << "NULL tells nothing";
  schema.columns[2].type.kind = TypeKind::kInt64;
  EXPECT_TRUE(OriginColumns(schema).empty());
  schema = TestKey();
  schema.columns[1].from = "header.source";
  schema.columns[2].from = "source.lsn";
  EXPECT_TRUE(OriginColumns(schema).empty());
  schema = TestKey();
  schema.key = {0};
  EXPECT_TRUE(OriginColumns(schema).empty());
}

TEST(Origin, BytesThatAreNoKeyAreNobodysRows) {
  const Schema schema = TestKey();
  const std::string key = Key(7, "a", "x");
  for (size_t size = 0; size < key.size(); ++size) {
    EXPECT_FALSE(Covers(Origin{{"db"}, {"x"}}, schema, std::string_view(key).substr(0, size)));
  }
  EXPECT_FALSE(OriginValues(schema, {"id"}, key)) << "not a text";
  EXPECT_FALSE(OriginValues(schema, {"other"}, key));
}

}  // namespace
}  // namespace lastword
