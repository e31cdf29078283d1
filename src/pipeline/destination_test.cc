// A configuration beside what is stored: what the schema becomes, and what is refused.
#include "pipeline/destination.h"

#include <gtest/gtest.h>

#include "test/status_matchers.h"

namespace lastword {
namespace {

Column Named(const std::string& name, TypeKind kind) {
  Column column;
  column.name = name;
  column.type.kind = kind;
  return column;
}

Schema Stored() {
  Schema schema;
  schema.columns = {Named("id", TypeKind::kInt64), Named("qty", TypeKind::kInt32)};
  schema.columns[0].nullable = false;
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

TEST(ReconcileSchema, TakesTheDeclarationWhereNothingIsStored) {
  TableConfig config;
  config.columns = {Named("id", TypeKind::kInt64), Named("b", TypeKind::kString)};
  config.primary_key = {"id", "b"};
  config.nullable_key = {"b"};
  const Schema schema = *ReconcileSchema(config, {});
  EXPECT_EQ(schema.key, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(schema.nullable_key, (std::vector<bool>{false, true}));
  EXPECT_FALSE(schema.columns[0].nullable);
  EXPECT_TRUE(schema.columns[1].nullable);
}

TEST(ReconcileSchema, KeepsStoredColumnsAndTakesDefaults) {
  TableConfig config;
  config.columns = {Named("qty", TypeKind::kInt32)};
  config.columns[0].default_value = Value(1);
  config.columns[0].from = "source.qty";
  const Schema schema = *ReconcileSchema(config, Stored());
  ASSERT_EQ(schema.columns.size(), 2u);
  EXPECT_EQ(schema.columns[1].from, "source.qty");
  EXPECT_TRUE(schema.columns[1].default_value.has_value());
}

TEST(ReconcileSchema, WidensOnlyWhereAllowed) {
  TableConfig config;
  config.columns = {Named("qty", TypeKind::kInt64)};
  EXPECT_THAT(ReconcileSchema(config, Stored()), IsErrorIn(ErrorKind::kSchemaIncompatible, "qty"));
  config.type_widening = true;
  EXPECT_EQ(ReconcileSchema(config, Stored())->columns[1].type.kind, TypeKind::kInt64);
  // Declared narrower: an earlier run widened it.
  config.columns = {Named("qty", TypeKind::kInt16)};
  EXPECT_EQ(ReconcileSchema(config, Stored())->columns[1].type.kind, TypeKind::kInt32);
}

TEST(ReconcileSchema, AddsColumnsOnlyWhereAllowed) {
  TableConfig config;
  config.columns = {Named("note", TypeKind::kString)};
  EXPECT_THAT(ReconcileSchema(config, Stored()), IsErrorIn(ErrorKind::kSchemaIncompatible, "note"));
  config.schema_evolution = codec::TableSpec::Evolution::kEvolve;
  EXPECT_EQ(ReconcileSchema(config, Stored())->columns.size(), 3u);
}

TEST(ReconcileSchema, RefusesAnotherKey) {
  TableConfig config;
  config.primary_key = {"qty"};
  EXPECT_THAT(ReconcileSchema(config, Stored()), IsError(ErrorKind::kSchemaIncompatible));
}

}  // namespace
}  // namespace lastword
