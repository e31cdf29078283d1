#include "model/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/random.h"
#include "model/value_rows.h"

namespace lastword {
namespace {

Type TypeOf(std::string_view text) {
  return *ParseType(text);
}

TEST(ColumnData, FixedValuesAndNulls) {
  ColumnData column(TypeOf("int32"));
  column.AppendFixed(int32_t{7});
  EXPECT_FALSE(column.IsNull(0));
  column.AppendNull();
  column.AppendFixed(INT32_MIN);
  EXPECT_EQ(column.size(), 3u);
  EXPECT_EQ(column.null_count(), 1u);
  EXPECT_FALSE(column.IsNull(0));
  EXPECT_TRUE(column.IsNull(1));
  EXPECT_EQ(column.Fixed<int32_t>(0), 7);
  EXPECT_EQ(column.Fixed<int32_t>(2), INT32_MIN);
  EXPECT_EQ(column.FixedBytes(0), std::string_view("\7\0\0\0", 4));
  EXPECT_GT(column.bytes_held(), 12u);
}

TEST(ColumnData, ARunOfValuesFollowsValuesAndNulls) {
  const int32_t run[] = {1, -2, 3, 4, 5, 6, 7, 8, 9};
  ColumnData column(TypeOf("int32"));
  column.AppendFixedRun(run, 2);
  column.AppendFixedRun(nullptr, 0);
  EXPECT_EQ(column.null_count(), 0u);
  column.AppendNull();
  column.AppendFixedRun(run, 9);
  column.AppendNull();
  ASSERT_EQ(column.size(), 13u);
  EXPECT_EQ(column.null_count(), 2u);
  EXPECT_EQ(column.Fixed<int32_t>(1), -2);
  for (uint64_t row = 0; row < column.size(); ++row) {
    EXPECT_EQ(column.IsNull(row), row == 2 || row == 12) << row;
    if (row > 2 && row < 12) {
      EXPECT_EQ(column.Fixed<int32_t>(row), run[row - 3]);
    }
  }
}

TEST(ColumnData, TextKeepsEmptyApartFromNull) {
  ColumnData column(TypeOf("string"));
  column.AppendBytes("");
  column.AppendNull();
  column.AppendBytes(std::string_view("a\0b", 3));
  EXPECT_FALSE(column.IsNull(0));
  EXPECT_EQ(column.Bytes(0), "");
  EXPECT_TRUE(column.IsNull(1));
  EXPECT_EQ(column.Bytes(2), std::string_view("a\0b", 3));
  EXPECT_THAT(column.offsets(), testing::ElementsAre(0, 0, 0, 3));
}

TEST(ColumnData, ListsOfLists) {
  ColumnData column(TypeOf("list<list<int8>>"));
  column.child().child().AppendFixed(int8_t{1});
  column.child().child().AppendNull();
  column.child().AppendList(2);
  column.child().AppendList(0);
  column.AppendList(2);
  column.AppendNull();
  EXPECT_EQ(column.ListRange(0), (std::pair<uint64_t, uint64_t>(0, 2)));
  EXPECT_EQ(column.child().ListRange(1).second, 0u);
  ColumnData copy(column.type());
  copy.AppendFrom(column, 1);
  copy.AppendFrom(column, 0);
  EXPECT_TRUE(copy.IsNull(0));
  EXPECT_EQ(copy.ListRange(1).second, 2u);
  EXPECT_TRUE(copy.child().child().IsNull(1));
}

TEST(ColumnData, SeveralRowsAreOneAfterTheOther) {
  Random random(5);
  for (const char* type : {"bool", "int16", "int32", "int64", "uuid", "decimal(40,2)", "string",
                           "list<int32>", "vector(3)"}) {
    for (const uint64_t nulls : {0, 20}) {  // in a hundred
      ColumnData from(TypeOf(type));
      std::string bytes;
      for (int i = 0; i < 200; ++i) {
        bytes.assign(
            from.type().kind == TypeKind::kString ? random.Below(70) : FixedWidth(from.type()),
            static_cast<char>('a' + i % 26));
        if (random.Below(100) < nulls) {
          from.AppendNull();
        } else if (from.type().kind == TypeKind::kList) {
          from.child().AppendFixed(int32_t{i});
          from.AppendList(1);
        } else if (FixedWidth(from.type()) != 0) {
          from.AppendFixedBytes(bytes.data());
        } else {
          from.AppendBytes(bytes);
        }
      }
      ColumnData together(from.type()), single(from.type());
      for (int round = 0; round < 20; ++round) {
        std::vector<uint64_t> rows(random.Below(30));
        for (uint64_t& row : rows) row = random.Below(from.size());
        together.AppendRows(from, rows);
        for (const uint64_t row : rows) single.AppendFrom(from, row);
      }
      EXPECT_EQ(together.size(), single.size());
      EXPECT_EQ(together.null_count(), single.null_count());
      EXPECT_EQ(together.raw_bytes(), single.raw_bytes()) << type;
      EXPECT_EQ(together.offsets(), single.offsets()) << type;
      for (uint64_t row = 0; row < single.size(); ++row) {
        EXPECT_EQ(together.IsNull(row), single.IsNull(row)) << type;
      }
    }
  }
}

TEST(ColumnData, AppendsFromItself) {
  ColumnData column(TypeOf("string"));
  column.AppendBytes("a text that is longer than what a string holds in place");
  for (int i = 0; i < 10; ++i) column.AppendFrom(column, 0);
  EXPECT_EQ(column.Bytes(10), column.Bytes(0));
}

TEST(ColumnData, TruncateDropsElementsOfAListThatNeverEnded) {
  ColumnData column(TypeOf("list<string>"));
  column.child().AppendBytes("kept");
  column.AppendList(1);
  column.child().AppendBytes("lost");
  column.Truncate(1);
  EXPECT_EQ(column.child().size(), 1u);
  column.AppendList(0);
  EXPECT_EQ(column.size(), 2u);
}

TEST(ColumnData, VectorsAreFixed) {
  ColumnData column(TypeOf("vector(2)"));
  const float floats[] = {1.5f, -2.0f};
  column.AppendNull();
  column.AppendFixedBytes(floats);
  EXPECT_TRUE(column.IsNull(0));
  EXPECT_EQ(column.FixedBytes(1),
            std::string_view(reinterpret_cast<const char*>(floats), sizeof floats));
}

// Appends and truncates at random beside a plain vector of values.
TEST(ColumnData, TruncateAtRandomLeavesWhatAModelHolds) {
  Random random(3);
  for (const std::string_view type : {"int16", "string", "list<int16>"}) {
    ColumnData column(TypeOf(type));
    std::vector<std::optional<int64_t>> model;
    for (int step = 0; step < 3000; ++step) {
      if (random.OneIn(10)) {
        const uint64_t size = random.Below(model.size() + 2);
        column.Truncate(size);
        if (size < model.size()) model.resize(size);
      } else if (random.OneIn(4)) {
        column.AppendNull();
        model.emplace_back();
      } else {
        const auto number = static_cast<int64_t>(random.Below(30000));
        Value value(number);
        if (type == "string") value = Value(std::to_string(number));
        if (type == "list<int16>") value = Value(List{Value(number), Value()});
        ASSERT_TRUE(AppendValue(value, column).ok());
        model.emplace_back(number);
      }
      ASSERT_EQ(column.size(), model.size());
    }
    uint64_t nulls = 0;
    for (uint64_t row = 0; row < model.size(); ++row) {
      nulls += !model[row];
      ASSERT_EQ(column.IsNull(row), !model[row]);
      if (!model[row]) continue;
      if (type == "int16") {
        ASSERT_EQ(column.Fixed<int16_t>(row), *model[row]);
      } else if (type == "string") {
        ASSERT_EQ(column.Bytes(row), std::to_string(*model[row]));
      } else {
        const auto [begin, count] = column.ListRange(row);
        ASSERT_EQ(count, 2u);
        ASSERT_EQ(column.child().Fixed<int16_t>(begin), *model[row]);
        ASSERT_TRUE(column.child().IsNull(begin + 1));
      }
    }
    EXPECT_EQ(column.null_count(), nulls);
  }
}

TEST(Rows, CopyAndTruncateWholeRows) {
  Schema schema;
  schema.columns = {{.name = "id", .type = TypeOf("int64")}, {.name = "name"}};
  Rows rows(schema), copy(schema);
  EXPECT_EQ(Rows().size(), 0u);
  ASSERT_TRUE(AppendRow(schema, {{"id", 1}, {"name", "a"}}, rows).ok());
  rows.AppendNulls();
  copy.AppendFrom(rows, 1);
  copy.AppendFrom(rows, 0);
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_TRUE(copy.columns[0].IsNull(0));
  EXPECT_EQ(copy.columns[1].Bytes(1), "a");
  copy.Truncate(1);
  EXPECT_EQ(copy.size(), 1u);
  EXPECT_EQ(copy.columns[0].null_count(), 1u);
  EXPECT_GT(copy.bytes_held(), 0u);
}

}  // namespace
}  // namespace lastword
