// The fast decoder against the plain one: on real streams, on the cases, and on both with bytes
// changed at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "base/json.h"
#include "base/random.h"
#include "codec/decoded_text.h"
#include "codec/plain_decoder.h"
#include "codec/test_streams.h"

namespace lastword::codec {
namespace {

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
