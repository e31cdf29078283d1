// Configurations as users write them, and the exact message for each way to get one wrong.
#include "pipeline/config.h"

#include <gtest/gtest.h>

namespace lastword {
namespace {

Result<PipelineConfig> Parse(std::string_view text) {
  return ParseConfig(text, "p.yaml", [](const std::string& name) -> std::optional<std::string> {
    if (name == "PGURL") return "postgresql://u:secret@db/shop";
    return std::nullopt;
  });
}

// A configuration that differs from a good one by `more`, lines of the only table.
std::string WithTable(std::string_view more) {
  return "source: {kind: file}\nsink: {uri: lake}\ntables:\n  - name: orders\n" + std::string(more);
}

std::string MessageOf(const std::string& text) {
  const auto config = Parse(text);
  if (config.ok()) return "no error";
  EXPECT_EQ(config.error().kind, ErrorKind::kUsage);
  return config.error().message;
}

TEST(Config, ReadsEverything) {
  const auto config = Parse(R"yaml(
pipeline: shop
source:
  kind: postgres
  url: ${PGURL}
  tables: [public.orders, public.customers]
sink:
  {uri: ./lake, storage_version: "2.2", durability: process, compaction: false,
   compaction_fragments: 3, keep_versions: 5, keep_for: 2h, keep_ratio: 4}
checkpoint: {interval: 500ms, max_changes: 1000, max_bytes: 8MiB}
memory: 1GiB
http: 127.0.0.1:8321
tables:
  - name: orders
    source: [orders_2026_01, orders_2026_02]
    primary_key: [id]
    nullable_key: []
    columns:
      - {name: id, type: int64}
      - {name: src_db, type: string, from: source.db}
      - {name: qty, type: int64, default: 1}
      - {name: amount, type: "decimal(12,2)", default: "0.50"}
      - {name: tags, type: list<string>, default: [a, b]}
    decimal_encoding: string
    schema_evolution: evolve
    type_widening: true
    on_resnapshot: replace
    on_conflict: quarantine
    on_bad_record: dead_letter
    lone_update_before: drop
    sequence_columns: [id]
    indexes: [{column: embedding, type: ivf_pq}]
  - name: customers
)yaml");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->name, "shop");
  EXPECT_EQ(config->source.kind, SourceKind::kPostgres);
  EXPECT_EQ(config->source.settings.at("url"), "postgresql://u:secret@db/shop");
  EXPECT_EQ(config->source.tables.size(), 2u);
  EXPECT_FALSE(config->sink.fsync);
  EXPECT_FALSE(config->sink.compaction);
  EXPECT_EQ(config->sink.compaction_fragments, 3u);
  EXPECT_EQ(config->sink.keep_versions, 5u);
  EXPECT_EQ(config->sink.keep_for, std::chrono::hours(2));
  EXPECT_EQ(config->sink.keep_ratio, 4);
  EXPECT_EQ(config->checkpoint.interval.count(), 500);
  EXPECT_EQ(config->checkpoint.max_changes, 1000u);
  EXPECT_EQ(config->checkpoint.max_bytes, 8ull << 20);
  EXPECT_EQ(config->memory_bytes, 1ull << 30);
  ASSERT_EQ(config->tables.size(), 2u);
  const TableConfig& orders = config->tables[0];
  EXPECT_EQ(orders.sources.size(), 2u);
  ASSERT_EQ(orders.columns.size(), 5u);
  EXPECT_EQ(orders.columns[1].from, "source.db");
  EXPECT_EQ(std::get<int64_t>(orders.columns[2].default_value->held), 1);
  EXPECT_EQ(ToString(orders.columns[3].type), "decimal(12,2)");
  EXPECT_EQ(std::get<List>(orders.columns[4].default_value->held).size(), 2u);
  EXPECT_EQ(orders.decimal_encoding, codec::TableSpec::DecimalEncoding::kString);
  EXPECT_EQ(orders.schema_evolution, codec::TableSpec::Evolution::kEvolve);
  EXPECT_TRUE(orders.type_widening);
  EXPECT_EQ(orders.on_resnapshot, OnResnapshot::kReplace);
  EXPECT_EQ(orders.on_conflict, OnConflict::kQuarantine);
  EXPECT_EQ(orders.on_bad_record, OnBadRecord::kDeadLetter);
  EXPECT_EQ(orders.lone_update_before, LoneUpdateBefore::kDrop);
  EXPECT_EQ(config->tables[1].sources, (std::vector<std::string>{"customers"}));
  EXPECT_TRUE(config->tables[1].columns.empty());
}

TEST(Config, ReadsJson) {
  const auto config = Parse(
      R"({"pipeline":"case","source":{"kind":"file","format":"records","path":["a","b"],)"
      R"("epochs":[{"partition":0,"from_offset":1,"epoch":1}]},"sink":{"uri":"/x"},)"
      R"("tables":[{"name":"t","columns":[{"name":"id","type":"int64"}],"primary_key":["id"]}]})");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->source.paths.size(), 2u);
  EXPECT_EQ(config->source.format, "records");
  ASSERT_EQ(config->source.epochs.size(), 1u);
  EXPECT_EQ(config->source.epochs[0].from_offset, 1u);
}

TEST(Config, TakesDebeziumNames) {
  const auto config = Parse(
      "source: {kind: postgres, slot.name: s, table.include.list: 'public.a, public.b'}\n"
      "sink: {uri: lake}\ntables: [{name: a}]\n");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->source.settings.at("slot"), "s");
  EXPECT_EQ(config->source.tables, (std::vector<std::string>{"public.a", "public.b"}));
}

TEST(Config, NamesTheNearestKey) {
  EXPECT_EQ(MessageOf(WithTable("    primery_key: [id]\n")),
            "p.yaml:5:5: tables[0]: unknown key `primery_key`; did you mean `primary_key`?");
  EXPECT_EQ(MessageOf("sauce: {}\n"), "p.yaml:1:1: unknown key `sauce`; did you mean `source`?");
  EXPECT_EQ(MessageOf("source: {kind: file, watermark: 1}\n"),
            "p.yaml:1:33: source.watermark: unknown key `watermark`; known are kind, path, format, "
            "decoders or epochs");
}

TEST(Config, SaysWhereAValueIsWrong) {
  EXPECT_EQ(MessageOf("source: {kind: file, decoders: 0}\n"),
            "p.yaml:1:32: source.decoders: must be at least 1");
  EXPECT_EQ(MessageOf(WithTable("    type_widening: maybe\n")),
            "p.yaml:5:20: tables[0].type_widening: must be true or false, is `maybe`");
  EXPECT_EQ(MessageOf(WithTable("    on_conflict: ignore\n")),
            "p.yaml:5:18: tables[0].on_conflict: must be fail or quarantine, is `ignore`");
  EXPECT_EQ(MessageOf(WithTable("    columns: [{name: id}]\n")),
            "p.yaml:5:15: tables[0].columns[0]: the column `id` needs a `type`");
  EXPECT_EQ(MessageOf(WithTable("    columns: {id: int64}\n")),
            "p.yaml:5:14: tables[0].columns: must be a list, is a mapping");
  EXPECT_EQ(MessageOf("source: {kind: file}\nsink: {uri: a}\nmemory: lots\ntables: [{name: a}]\n"),
            "p.yaml:3:9: memory: `lots` is not a size such as 256MiB");
  EXPECT_EQ(MessageOf("source: {kind: file}\nsink: {uri: a, compaction_fragments: 1}\n"),
            "p.yaml:2:38: sink.compaction_fragments: must be at least 2");
  EXPECT_EQ(MessageOf(WithTable("    indexes: [{column: a, type: hash}]\n")),
            "p.yaml:5:33: tables[0].indexes[0].type: must be btree or ivf_pq, is `hash`");
  EXPECT_EQ(MessageOf("source: {kind: file}\nsource: {kind: file}\n"),
            "p.yaml:2:1: the key `source` appears twice");
  EXPECT_EQ(MessageOf("source: {kind: file}\ntables: [{name: a}]\n"),
            "p.yaml:1:1: `sink` is missing: say where tables are kept");
  EXPECT_EQ(MessageOf(WithTable("  - name: orders\n")),
            "p.yaml:5:5: tables[1]: the table `orders` appears twice; several sources of one table "
            "are listed under its `source`");
}

TEST(Config, ChecksTypesAndDefaults) {
  EXPECT_EQ(MessageOf(WithTable("    columns: [{name: id, type: int63}]\n")).substr(0, 47),
            "p.yaml:5:32: tables[0].columns[0].type: `int63`");
  EXPECT_NE(MessageOf(WithTable("    columns: [{name: n, type: int8, default: 300}]\n"))
                .find("tables[0].columns[0].default"),
            std::string::npos);
  EXPECT_NE(MessageOf(WithTable("    columns: [{name: _lw_hi, type: int64}]\n")).find("reserved"),
            std::string::npos);
}

TEST(Config, ChecksKeysAgainstColumns) {
  EXPECT_EQ(
      MessageOf(WithTable("    primary_key: [di]\n    columns: [{name: id, type: int64}]\n")),
      "p.yaml:4:5: tables[0]: the key column `di` of table `orders` is not among its columns");
}

TEST(Config, NamesMissingVariablesAndNeverShowsSecrets) {
  EXPECT_EQ(MessageOf("source: {kind: postgres, url: \"${NO_URL}\"}\n"),
            "p.yaml:1:31: source.url: the variable NO_URL is not set; set it, or give a default "
            "with ${NO_URL:-default}");
  const std::string message =
      MessageOf("source: {kind: postgres, url: \"${PGURL}\", tabels: x}\nsink: {uri: a}\n");
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
}

TEST(Config, RefusesWhatIsNoYaml) {
  EXPECT_EQ(MessageOf("source: [\n").substr(0, 8), "p.yaml:2");
  EXPECT_EQ(MessageOf("just text\n"), "p.yaml:1:1: must be a mapping, is a value");
  EXPECT_EQ(LoadConfig("/nonexistent/p.yaml").error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace lastword
