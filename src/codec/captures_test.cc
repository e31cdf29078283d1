// Real streams of Debezium 3.6 and PostgreSQL 15 (test/testdata/captures): every file decodes, and
// what the connector's settings say in different forms comes out as the same values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/format.h"
#include "codec/decoded_text.h"
#include "codec/test_streams.h"

namespace lastword::codec {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;

std::string Capture(std::string_view name) {
  return FileText(std::string(LW_TESTDATA) + "/captures/" + std::string(name) + ".ndjson");
}

/// Tables of all captures, discovered; the one without a primary key gets one declared.
std::vector<TableSpec> Discovered() {
  std::vector<TableSpec> specs;
  for (const char* name :
       {"item", "item_full", "stock", "toast_d", "toast_f", "toast_types", "nokey", "wide",
        "exotic", "numspecial", "inftime", "ord", "ord_line", "acct", "other", "audit"}) {
    specs.push_back(DiscoveredSpec(name));
    specs.back().sources = {name};
    specs.back().type_widening = true;
  }
  specs[6].primary_key = {"a"};
  // A float column whose first value is "NaN" looks like text: it has to be declared.
  TableSpec& special = specs[9] =
      SpecOf("numspecial", {{"id", "int32"}, {"f4", "float32"}, {"f8", "float64"}}, {"id"});
  special.sources = {"numspecial"};
  special.evolution = TableSpec::Evolution::kIgnore;
  return specs;
}

DecodedText Decode(std::string_view name, std::vector<TableSpec> specs) {
  return DecodeText(Format::kRecords, std::move(specs), Capture(name));
}

/// Changes without table positions: runs differ in those.
std::vector<std::string> WithoutVersions(std::vector<std::string> changes) {
  for (std::string& change : changes) {
    const size_t table = change.find(' ') + 1;
    const size_t version = change.find(' ', table) + 1;
    const size_t end = std::min(change.find(' ', version), change.size());
    change.erase(version, end - version);
  }
  return changes;
}

TEST(Captures, EveryFileDecodes) {
  const std::map<std::string, uint64_t> records = {{"basic", 95},
                                                   {"basicschema", 95},
                                                   {"typesprecise", 18},
                                                   {"typesstring", 18},
                                                   {"typesdouble", 18},
                                                   {"typespreciseschema", 18},
                                                   {"typestimeus", 18},
                                                   {"typestimeconnect", 18},
                                                   {"typestimeiso", 18},
                                                   {"specialnumprecise", 8},
                                                   {"specialnumstring", 8},
                                                   {"specialnumdouble", 8},
                                                   {"specialinfadaptive", 8},
                                                   {"specialinfus", 8},
                                                   {"specialinfconnect", 8},
                                                   {"specialinfiso", 8},
                                                   {"txn", 50},
                                                   {"hdr", 7},
                                                   {"snapjoinfirst", 10}};
  for (const auto& [name, count] : records) {
    const DecodedText decoded = Decode(name, Discovered());
    EXPECT_FALSE(decoded.error) << name << ": " << ToString(*decoded.error);
    EXPECT_EQ(decoded.records, count) << name;
    EXPECT_FALSE(decoded.changes.empty()) << name;
  }
}

TEST(Captures, NoPlaceholderIsEverAValue) {
  for (const char* name : {"basic", "basicschema"}) {
    const DecodedText decoded = Decode(name, Discovered());
    for (const std::string& change : decoded.changes) {
      EXPECT_EQ(change.find("__debezium_unavailable_value"), std::string::npos) << change;
      EXPECT_EQ(change.find("X19kZWJleml1bV91bmF2"), std::string::npos) << change;
      EXPECT_EQ(change.find("[95,95,"), std::string::npos) << change;
    }
    EXPECT_THAT(decoded.changes,
                Contains(HasSubstr("unavailable=t unavailable=b unavailable=j unavailable=js "
                                   "unavailable=ta unavailable=ia")));
  }
}

/// Those of all captures; nothing about them may be unknown.
std::vector<TableSpec> StrictTables() {
  std::vector<TableSpec> specs = CaptureTables(TableSpec::DecimalEncoding::kBase64);
  for (TableSpec& spec : specs) {
    spec.sources = {"public." + spec.name};
    spec.evolution = TableSpec::Evolution::kException;
  }
  return specs;
}

TEST(Captures, WrapperAndPlainGiveTheSameChanges) {
  const DecodedText plain = Decode("basic", StrictTables());
  const DecodedText wrapped = Decode("basicschema", StrictTables());
  ASSERT_FALSE(plain.error) << ToString(*plain.error);
  ASSERT_FALSE(wrapped.error) << ToString(*wrapped.error);
  EXPECT_EQ(plain.changes.size(), 94u);  // one null-value record has no key
  // The order between topics is only approximate in a dump.
  auto a = WithoutVersions(plain.changes), b = WithoutVersions(wrapped.changes);
  std::stable_sort(a.begin(), a.end());
  std::stable_sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
}

/// Rows of one table by key and position in the stream.
std::vector<std::string> RowsOf(std::string_view name, std::string_view table,
                                const std::vector<std::pair<std::string, std::string>>& columns,
                                TableSpec::DecimalEncoding encoding) {
  TableSpec spec = SpecOf(std::string(table), columns, {"id"});
  spec.sources = {std::string(table)};
  spec.evolution = TableSpec::Evolution::kIgnore;
  spec.decimal_encoding = encoding;
  std::string text;
  std::istringstream lines(Capture(name));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("public." + std::string(table) + "\"") != std::string::npos) text += line + "\n";
  }
  const DecodedText decoded = DecodeText(Format::kRecords, {spec}, text);
  EXPECT_FALSE(decoded.error) << name << ": " << ToString(*decoded.error);
  EXPECT_GE(decoded.changes.size(), 4u) << name;
  auto rows = WithoutVersions(decoded.changes);
  std::sort(rows.begin(), rows.end());
  return rows;
}

using Encoding = TableSpec::DecimalEncoding;

TEST(Captures, DecimalModesGiveTheSameNumbers) {
  const std::vector<std::pair<std::string, std::string>> columns = {{"id", "int32"},
                                                                    {"c_num", "decimal(10,2)"},
                                                                    {"c_int8", "int64"},
                                                                    {"c_numu", "decimal(60,20)"}};
  const auto precise = RowsOf("typesprecise", "wide", columns, Encoding::kBase64);
  EXPECT_THAT(precise,
              Contains(HasSubstr(R"("c_num":"-99999999.99","c_int8":-9223372036854775808)")));
  EXPECT_THAT(precise, Contains(HasSubstr("12345678901234567890.12345678901234500000")));
  EXPECT_EQ(RowsOf("typesstring", "wide", columns, Encoding::kString), precise);
  EXPECT_EQ(RowsOf("typespreciseschema", "wide", columns, Encoding::kString), precise);
  // Doubles have lost digits of the unconstrained column at the source.
  const std::vector<std::pair<std::string, std::string>> fixed(columns.begin(),
                                                               columns.begin() + 3);
  EXPECT_EQ(RowsOf("typesdouble", "wide", fixed, Encoding::kNumber),
            RowsOf("typesprecise", "wide", fixed, Encoding::kBase64));
  const std::vector<std::pair<std::string, std::string>> exotic = {
      {"id", "int32"},
      {"c_money", "decimal(10,2)"},
      {"c_nums", "list<decimal(10,3)>"},
      {"c_num20", "decimal(20,0)"},
      {"c_num38", "decimal(38,10)"}};
  EXPECT_EQ(RowsOf("typesstring", "exotic", exotic, Encoding::kString),
            RowsOf("typesprecise", "exotic", exotic, Encoding::kBase64));
}

TEST(Captures, TimeModesGiveTheSameTimes) {
  const std::vector<std::pair<std::string, std::string>> columns = {
      {"id", "int32"},           {"c_date", "date"},           {"c_time3", "time_us"},
      {"c_ts3", "timestamp_us"}, {"c_tstz", "timestamptz_us"}, {"c_timetz", "time_us"},
      {"c_ts", "timestamp_us"}};
  const auto adaptive = RowsOf("typespreciseschema", "wide", columns, Encoding::kBase64);
  EXPECT_THAT(adaptive,
              Contains(HasSubstr(R"("c_date":-719162,"c_time3":0,"c_ts3":-62135596800000000)")));
  EXPECT_EQ(RowsOf("typestimeus", "wide", columns, Encoding::kBase64), adaptive);
  EXPECT_EQ(RowsOf("typestimeiso", "wide", columns, Encoding::kBase64), adaptive);
  // `connect` has milliseconds only: the microseconds of c_ts and c_time are gone at the source.
  const std::vector<std::pair<std::string, std::string>> millis(columns.begin(), columns.end() - 1);
  EXPECT_EQ(RowsOf("typestimeconnect", "wide", millis, Encoding::kBase64),
            RowsOf("typespreciseschema", "wide", millis, Encoding::kBase64));
}

TEST(Captures, BytesAndTextsAreWhatTheyWere) {
  const std::vector<std::pair<std::string, std::string>> columns = {
      {"id", "int32"},     {"c_bytea", "bytes"},        {"c_uuid", "uuid"},
      {"c_json", "json"},  {"c_texts", "list<string>"}, {"c_ints", "list<int32>"},
      {"c_f4", "float32"}, {"c_f8", "float64"},         {"c_bool", "bool"}};
  const auto plain = RowsOf("typesprecise", "wide", columns, Encoding::kBase64);
  EXPECT_EQ(RowsOf("typespreciseschema", "wide", columns, Encoding::kBase64), plain);
  EXPECT_THAT(
      plain,
      Contains(HasSubstr(
          R"({"id":1,"c_bytea":"AAEK/w==","c_uuid":"11111111-2222-3333-4444-555555555555","c_json":"{\"a\": 1, \"b\":[1,2]}","c_texts":["a","b c",null,"q\"uote"],"c_ints":[1,2,null,4],"c_f4":1.5,"c_f8":2.25,"c_bool":true})")));
}

TEST(Captures, SpecialNumbersAreValuesOrErrors) {
  const std::vector<std::pair<std::string, std::string>> floats = {
      {"id", "int32"}, {"f4", "float32"}, {"f8", "float64"}};
  const auto precise = RowsOf("specialnumprecise", "numspecial", floats, Encoding::kBase64);
  EXPECT_THAT(precise,
              IsSupersetOf({R"(+ numspecial  key=11 {"id":11,"f4":"NaN","f8":"NaN"} no_commit)",
                            R"(+ numspecial  key=14 {"id":14,"f4":-0.0,"f8":-0.0})"}));
  EXPECT_EQ(RowsOf("specialnumstring", "numspecial", floats, Encoding::kString), precise);
  EXPECT_EQ(RowsOf("specialnumdouble", "numspecial", floats, Encoding::kNumber), precise);
  for (const char* name : {"specialnumstring", "specialnumdouble"}) {
    TableSpec spec = SpecOf("numspecial", {{"id", "int32"}, {"n", "decimal(10,2)"}}, {"id"});
    spec.evolution = TableSpec::Evolution::kIgnore;
    spec.decimal_encoding = Encoding::kString;
    const DecodedText decoded = Decode(name, {spec});
    ASSERT_TRUE(decoded.error);
    EXPECT_EQ(decoded.error->kind, ErrorKind::kNotFiniteDecimal);
    EXPECT_EQ(decoded.error->place.column, "n");
    EXPECT_EQ(decoded.error->place.key, "1");
  }
}

TEST(Captures, InfiniteTimesStopAndTheRestIsExact) {
  for (const char* name : {"specialinfadaptive", "specialinfiso"}) {
    TableSpec spec = SpecOf("inftime", {{"id", "int32"}, {"tstz", "timestamptz_us"}}, {"id"});
    spec.evolution = TableSpec::Evolution::kIgnore;
    const DecodedText decoded = Decode(name, {spec});
    ASSERT_TRUE(decoded.error) << name;
    EXPECT_EQ(decoded.error->kind, ErrorKind::kOutOfRange);
    EXPECT_EQ(decoded.error->place.column, "tstz");
  }
  TableSpec spec = SpecOf("inftime", {{"id", "int32"}, {"ts", "timestamp_us"}}, {"id"});
  spec.evolution = TableSpec::Evolution::kIgnore;
  const DecodedText decoded = Decode("specialinfadaptive", {spec});
  ASSERT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes, Contains(HasSubstr(R"({"id":14,"ts":568971820800000000})")));
  EXPECT_THAT(decoded.changes, Contains(HasSubstr(R"({"id":13,"ts":-63517780800000000})")));
}

TEST(Captures, TheFirstTransactionAfterASnapshotWaitsForItsInput) {
  const DecodedText decoded = Decode("snapjoinfirst", Discovered());
  EXPECT_THAT(decoded.changes,
              Contains(R"(+ acct 62736720/0/0 key=3 {"id":3,"v":0,"who":"init"} read)"));
  EXPECT_THAT(decoded.changes,
              Contains(HasSubstr(
                  R"(+ acct 62736312/62736312/2 key=3 {"id":3,"v":3,"who":"C"} no_commit)")));
}

}  // namespace
}  // namespace lastword::codec
