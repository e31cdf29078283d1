#include "capi/options.h"

#include <gtest/gtest.h>

#include "test/status_matchers.h"

namespace lastword::capi {
namespace {

const std::string kSchema = R"("columns": [{"name": "id", "type": "int64"},
    {"name": "at", "type": "timestamp_us"}, {"name": "name", "type": "string"}], "key": ["id"])";

TEST(Options, Writer) {
  const auto plain = ParseWriterOptions("{" + kSchema + "}");
  ASSERT_THAT(plain, IsOk());
  EXPECT_FALSE(plain->declared.schema.columns[0].nullable);
  EXPECT_EQ(plain->declared.encoded_columns, 3u);
  EXPECT_EQ(plain->versions.source, VersionRule::Source::kArrival);
  const auto sequence =
      ParseWriterOptions("{" + kSchema + R"(, "versions": {"columns": ["at", "id"]}})");
  ASSERT_THAT(sequence, IsOk());
  EXPECT_EQ(sequence->versions.columns, (std::vector<uint32_t>{1, 0}));
}

TEST(Options, WriterErrorsNameTheColumn) {
  EXPECT_THAT(ParseWriterOptions("{" + kSchema + R"(, "versions": {"columns": ["name"]}})"),
              IsErrorIn(ErrorKind::kUsage, "name"));
  EXPECT_THAT(ParseWriterOptions("{" + kSchema + R"(, "versions": {"columns": ["no"]}})"),
              IsErrorIn(ErrorKind::kUsage, "no"));
  EXPECT_THAT(ParseWriterOptions(R"({"columns": [{"name": "a", "type": "int65"}], "key": ["a"]})"),
              IsErrorIn(ErrorKind::kUsage, "a"));
  EXPECT_THAT(ParseWriterOptions(R"({"columns": [{"name": "_lw_hi", "type": "int64"}],
                                     "key": ["_lw_hi"]})"),
              IsErrorIn(ErrorKind::kReservedColumn, "_lw_hi"));
}

TEST(Options, WhatIsMisspeltOrContradictsItselfIsRefused) {
  for (const std::string& text : std::initializer_list<std::string>{
           "[]", "{", std::string("{}"), "{" + kSchema + R"(, "version": "arrival"})",
           "{" + kSchema + R"(, "versions": "sometimes"})",
           "{" + kSchema + R"(, "append_key": "row"})",
           "{" + kSchema + R"(, "versions": {"columns": []}})",
           "{" + kSchema + R"(, "versions": {"columns": ["id", "at", "id"], "deletes": "row"}})",
           std::string(R"({"columns": [{"name": "a", "type": "int64", "nullabel": true}]})"),
           std::string(R"({"columns": [{"name": "a", "type": "int64"}]})")}) {
    EXPECT_THAT(ParseWriterOptions(text), IsError(ErrorKind::kUsage)) << text;
  }
}

TEST(Options, Table) {
  const auto empty = ParseTableOptions("");
  ASSERT_THAT(empty, IsOk());
  EXPECT_TRUE(empty->declared.schema.columns.empty());
  const auto full = ParseTableOptions("{" + kSchema + R"(, "on_conflict": "quarantine",
      "lone_update_before": "drop", "schema_evolution": "evolve", "durability": "process",
      "memory_bytes_max": 1000, "compaction": false, "compaction_fragments": 3,
      "keep_versions": 7, "keep_seconds": 60, "keep_ratio": 2, "input": "orders"})");
  ASSERT_THAT(full, IsOk());
  EXPECT_EQ(full->options.on_conflict, OnConflict::kQuarantine);
  EXPECT_EQ(full->options.lone_update_before, LoneUpdateBefore::kDrop);
  EXPECT_TRUE(full->evolve);
  EXPECT_FALSE(full->options.fsync);
  EXPECT_EQ(full->options.memory_bytes_max, 1000u);
  EXPECT_FALSE(full->options.compaction);
  EXPECT_EQ(full->options.compaction_fragments, 3u);
  EXPECT_EQ(full->options.keep_versions, 7u);
  EXPECT_EQ(full->options.keep_for, std::chrono::seconds(60));
  EXPECT_EQ(full->options.keep_ratio, 2);
  EXPECT_EQ(full->input, "orders");
  EXPECT_THAT(ParseTableOptions(R"({"on_conflict": "ignore"})"), IsError(ErrorKind::kUsage));
}

TEST(Options, SchemaComesBackFromItsJson) {
  const auto options = ParseWriterOptions("{" + kSchema + "}");
  const auto again = ParseDeclaredSchema(SchemaToJson(options->declared.schema));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(SchemaToJson(again->schema), SchemaToJson(options->declared.schema));
}

}  // namespace
}  // namespace lastword::capi
