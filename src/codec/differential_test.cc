// The fast decoder against the plain one: on real streams, on the cases, and on both with bytes
// changed at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/json.h"
#include "base/random.h"
#include "codec/decoded_text.h"
#include "codec/plain_decoder.h"

namespace lastword::codec {
namespace {

std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Compares both decoders on `text`. With `exact` the kinds of errors too: where a record has two
/// faults, each decoder may meet another one first.
void Compare(Format format, const std::vector<TableSpec>& tables, const std::string& text,
             bool exact, const std::string& name) {
  const DecodedText fast = DecodeText(format, tables, text);
  const PlainResult plain = DecodePlainly(format, tables, text);
  ASSERT_EQ(fast.error.has_value(), !plain.error.empty())
      << name << ": fast " << (fast.error ? ToString(*fast.error) : "ok") << ", plain "
      << plain.error << "\n"
      << (text.size() < 5000 ? text : "");
  ASSERT_EQ(fast.changes, plain.changes) << name << "\n" << (text.size() < 5000 ? text : "");
  ASSERT_EQ(fast.records, plain.records) << name;
  if (exact && fast.error) {
    ASSERT_EQ(NameOf(fast.error->kind), plain.error) << name << " " << ToString(*fast.error);
  }
}

struct Stream {
  std::string name, text;
  std::vector<TableSpec> tables;
};

std::vector<TableSpec> CaptureTables(TableSpec::DecimalEncoding encoding) {
  const std::vector<std::pair<std::string, std::string>> item = {
      {"id", "int32"},    {"name", "string"}, {"qty", "int32"},     {"price", "decimal(10,2)"},
      {"note", "string"}, {"tag", "string"},  {"quantity", "int64"}};
  std::vector<TableSpec> specs = {
      SpecOf("item", item, {"id"}),
      SpecOf("item_full", item, {"id"}),
      SpecOf("stock", {{"site", "string"}, {"item_id", "int32"}, {"qty", "int32"}},
             {"site", "item_id"}),
      SpecOf("toast_d", {{"id", "int32"}, {"n", "int32"}, {"big", "string"}}, {"id"}),
      SpecOf("toast_f", {{"id", "int32"}, {"n", "int32"}, {"big", "string"}}, {"id"}),
      SpecOf("toast_types",
             {{"id", "int32"},
              {"n", "int32"},
              {"t", "string"},
              {"b", "bytes"},
              {"j", "json"},
              {"js", "json"},
              {"ta", "list<string>"},
              {"ia", "list<int32>"}},
             {"id"}),
      SpecOf("nokey", {{"a", "int32"}, {"b", "string"}}, {"a"}),
      SpecOf("wide",
             {{"id", "int32"},
              {"c_int2", "int16"},
              {"c_int4", "int32"},
              {"c_int8", "int64"},
              {"c_num", "decimal(10,2)"},
              {"c_f4", "float32"},
              {"c_f8", "float64"},
              {"c_bool", "bool"},
              {"c_text", "string"},
              {"c_varchar", "string"},
              {"c_char", "string"},
              {"c_bytea", "bytes"},
              {"c_uuid", "uuid"},
              {"c_json", "json"},
              {"c_jsonb", "json"},
              {"c_date", "date"},
              {"c_time", "time_us"},
              {"c_timetz", "time_us"},
              {"c_ts", "timestamp_us"},
              {"c_tstz", "timestamptz_us"},
              {"c_ints", "list<int32>"},
              {"c_texts", "list<string>"},
              {"c_enum", "string"},
              {"c_inet", "string"}},
             {"id"}),
      SpecOf("exotic",
             {{"id", "int32"},
              {"c_nums", "list<decimal(20,5)>"},
              {"c_uuids", "list<uuid>"},
              {"c_point", "json"},
              {"c_num38", "decimal(38,10)"}},
             {"id"}),
      SpecOf("numspecial", {{"id", "int32"}, {"f4", "float32"}, {"f8", "float64"}}, {"id"}),
      SpecOf("inftime", {{"id", "int32"}, {"d", "date"}, {"ts", "timestamp_us"}}, {"id"}),
      SpecOf("ord", {{"id", "int32"}, {"status", "string"}, {"total", "decimal(10,2)"}}, {"id"}),
      SpecOf("ord_line", {{"ord_id", "int32"}, {"line", "int32"}, {"sku", "string"}},
             {"ord_id", "line"}),
      SpecOf("acct", {{"id", "int32"}, {"v", "int32"}, {"who", "string"}}, {"id"}),
      SpecOf("other", {{"id", "int32"}}, {"id"})};
  for (TableSpec& spec : specs) {
    spec.sources = {spec.name};
    spec.evolution = TableSpec::Evolution::kIgnore;
    spec.decimal_encoding = encoding;
  }
  return specs;
}

std::vector<Stream> Captures() {
  using Encoding = TableSpec::DecimalEncoding;
  std::vector<Stream> streams;
  for (const auto& [name, encoding] : std::initializer_list<std::pair<const char*, Encoding>>{
           {"basic", Encoding::kBase64},
           {"typesprecise", Encoding::kBase64},
           {"typesstring", Encoding::kString},
           {"typesdouble", Encoding::kNumber},
           {"specialnumprecise", Encoding::kBase64},
           {"specialinfadaptive", Encoding::kBase64},
           {"txn", Encoding::kBase64},
           {"hdr", Encoding::kBase64},
           {"snapjoinfirst", Encoding::kBase64}}) {
    streams.push_back({name,
                       FileText(std::filesystem::path(LW_TESTDATA) / "captures" /
                                (std::string(name) + ".ndjson")),
                       CaptureTables(encoding)});
  }
  return streams;
}

/// Cases whose tables need nothing that the plain decoder lacks, with all columns declared.
std::vector<Stream> Cases() {
  std::vector<Stream> streams;
  for (const auto& entry : std::filesystem::directory_iterator(LW_CASES)) {
    if (!std::filesystem::exists(entry.path() / "table.json")) continue;
    const Result<Json> table = ParseJson(FileText(entry.path() / "table.json"));
    const Result<Json> expected = ParseJson(FileText(entry.path() / "expected.json"));
    if (!table.ok() || !expected.ok()) continue;
    const Json& options = (*table)["options"];
    if (options.contains("table") || options.contains("format") || options.contains("routes") ||
        options.contains("nullable_key") || options.contains("allow_widening") ||
        options.contains("column_defaults") || options.contains("key_from_source") ||
        (*expected)["primary_key"].empty()) {
      continue;
    }
    std::vector<std::pair<std::string, std::string>> columns;
    for (const Json& column : (*table)["columns"]) {
      columns.emplace_back(*GetString(column, "name"), *GetString(column, "type"));
    }
    std::vector<std::string> key;
    for (const Json& name : (*expected)["primary_key"]) {
      key.push_back(name.get_ref<const std::string&>());
    }
    std::string text = FileText(entry.path() / "events.ndjson");
    // It knows no schema wrappers.
    if (text.find("\"payload\"") != std::string::npos) continue;
    streams.push_back({entry.path().filename(), std::move(text), {SpecOf("t", columns, key)}});
  }
  std::sort(streams.begin(), streams.end(),
            [](const Stream& a, const Stream& b) { return a.name < b.name; });
  return streams;
}

/// The plain decoder reads positions of PostgreSQL only.
bool IsPostgres(const Stream& stream) {
  return stream.text.find("\"mysql\"") == std::string::npos &&
         stream.text.find("\"sqlserver\"") == std::string::npos;
}

TEST(Differential, RealStreamsAgree) {
  for (const Stream& stream : Captures()) {
    Compare(Format::kRecords, stream.tables, stream.text, true, stream.name);
  }
}

TEST(Differential, CasesAgree) {
  size_t compared = 0;
  for (const Stream& stream : Cases()) {
    if (!IsPostgres(stream)) continue;
    Compare(Format::kRecords, stream.tables, stream.text, true, stream.name);
    ++compared;
  }
  EXPECT_GE(compared, 35u);
}

constexpr uint64_t kSeed = 20'260'304;
constexpr int kTimes = 25;  // a line

/// Changes one line a little: a byte, a token, or a piece cut out or doubled.
std::string Mutated(std::string line, Random& random) {
  static constexpr const char* kTokens[] = {"null",
                                            "true",
                                            "0",
                                            "-1",
                                            "1.5",
                                            "\"\"",
                                            "{}",
                                            "[]",
                                            "NaN",
                                            "\"x\"",
                                            "9223372036854775808",
                                            "\"__debezium_unavailable_value\"",
                                            ",",
                                            ":",
                                            "}",
                                            "]",
                                            "\"id\":1,",
                                            "\\u0041",
                                            "\\",
                                            "\"",
                                            "\xFF"};
  const uint64_t times = 1 + random.Below(3);
  for (uint64_t i = 0; i < times && !line.empty(); ++i) {
    const size_t at = random.Below(line.size());
    switch (random.Below(5)) {
      case 0:
        line[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        line.insert(at, kTokens[random.Below(std::size(kTokens))]);
        break;
      case 2:
        line.erase(at, 1 + random.Below(8));
        break;
      case 3:
        line.insert(at, line.substr(random.Below(line.size()), random.Below(30)));
        break;
      default: {
        // A whole value, so that most results stay JSON.
        const size_t colon = line.find(':', at);
        if (colon == std::string::npos) break;
        const size_t end = line.find_first_of(",}", colon);
        if (end == std::string::npos) break;
        line.replace(colon + 1, end - colon - 1, kTokens[random.Below(12)]);
      }
    }
  }
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// A number beyond a double is JSON, and the general library refuses it.
bool HasHugeExponent(const std::string& text) {
  static const std::regex kHuge("[0-9][eE][+-]?[0-9]{3}");
  return std::regex_search(text, kHuge);
}

TEST(Differential, ChangedBytesAgree) {
  std::vector<Stream> streams = Cases();
  for (Stream& stream : Captures()) streams.push_back(std::move(stream));
  const uint64_t seed = kSeed;
  Random random(seed);
  uint64_t good = 0, bad = 0;
  for (const Stream& stream : streams) {
    if (!IsPostgres(stream)) continue;
    std::istringstream lines(stream.text);
    for (std::string line; std::getline(lines, line);) {
      if (line.size() > 20'000) continue;
      for (int i = 0; i < kTimes; ++i) {
        const std::string text = Mutated(line, random);
        if (HasHugeExponent(text)) continue;
        Compare(Format::kRecords, stream.tables, text, false, stream.name);
        if (HasFatalFailure()) return;
        (DecodePlainly(Format::kRecords, stream.tables, text).error.empty() ? good : bad) += 1;
      }
    }
  }
  EXPECT_GT(good, 1000u);
  EXPECT_GT(bad, 1000u);
}

}  // namespace
}  // namespace lastword::codec
