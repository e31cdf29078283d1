#include "codec/source_names.h"

#include <gtest/gtest.h>

namespace lastword::codec {
namespace {

// A key of `id` and a column for each `from`.
Schema KeyWith(const std::vector<std::string>& from) {
  Schema schema;
  Column id;
  id.name = "id", id.type.kind = TypeKind::kInt64;
  schema.columns = {id};
  schema.key = {0};
  for (const std::string& name : from) {
    Column column;
    column.name = "c" + std::to_string(schema.columns.size());
    column.from = name;
    schema.key.push_back(static_cast<uint32_t>(schema.columns.size()));
    schema.columns.push_back(column);
  }
  schema.nullable_key.assign(schema.key.size(), false);
  return schema;
}

struct Expectation {
  std::vector<std::string> sources, from;
  bool with_schemas, without_schemas;
};

TEST(ToldApart, ByTheColumnsThatDiffer) {
  const Expectation kExpectations[] = {
      {{"orders"}, {}, true, true},
      {{"a", "b"}, {}, false, false},
      {{"a", "b"}, {"source.table"}, true, true},
      {{"a", "b"}, {"source.schema"}, false, false},
      {{"a", "b"}, {"header.origin"}, false, false},
      {{"x.t", "y.t"}, {"source.table"}, false, false},
      {{"x.t", "y.t"}, {"source.schema"}, true, false},
      {{"x.t", "y.t"}, {"source.db"}, false, true},
      {{"x.t", "y.t"}, {"topic"}, false, false},
      {{"x.t", "x.u"}, {"source.schema"}, false, false},
      {{"x.t", "x.u", "y.t"}, {"source.schema"}, false, false},
      {{"x.t", "x.u", "y.t"}, {"source.schema", "source.table"}, true, false},
      {{"t", "y.t"}, {"source.schema"}, true, false},
      {{"t", "y.u"}, {"source.schema"}, false, false},
      {{"t", "y.u"}, {"source.table"}, true, true},
      {{"s.x.t", "s.y.t"}, {"topic"}, true, true},
      {{"s.x.t", "s.y.t"}, {"source.table"}, false, false},
      {{"s.x.t", "t"}, {"topic", "source.table"}, false, false},
  };
  for (const Expectation& wanted : kExpectations) {
    const Schema schema = KeyWith(wanted.from);
    EXPECT_EQ(ToldApart(wanted.sources, schema, true), wanted.with_schemas)
        << ::testing::PrintToString(wanted.sources) << ::testing::PrintToString(wanted.from);
    EXPECT_EQ(ToldApart(wanted.sources, schema, false), wanted.without_schemas)
        << ::testing::PrintToString(wanted.sources) << ::testing::PrintToString(wanted.from);
  }
}

}  // namespace
}  // namespace lastword::codec
