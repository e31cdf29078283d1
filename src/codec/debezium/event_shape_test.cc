// The short way against the general one: whatever a decoder has learned, a line gives the changes,
// the error and the place that it gives a decoder that has learned nothing.
#include "codec/debezium/event_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/format.h"
#include "codec/decoded_text.h"
#include "codec/test_streams.h"

namespace lastword::codec {
namespace {

/// All that a call of a decoder says, as text.
std::string Said(const std::vector<TableSpec>& tables, const Decoded& decoded) {
  std::string out = Message("{} records, {} bytes\n", decoded.records, decoded.bytes);
  std::vector<size_t> next(tables.size(), 0);
  for (const uint32_t table : decoded.order) {
    const ChangeBatch& batch = decoded.tables[table];
    const ChangeHead& head = batch.heads[next[table]++];
    out += Message("{} digest {} input {} offset {} line {}\n",
                   ChangeToText(tables[table], batch, head), head.digest, batch.inputs[head.input],
                   head.offset, head.line);
  }
  if (decoded.error) {
    const Place& place = decoded.error->place;
    out += Message("{} at {} {} {} {} {} {}\n", ToString(*decoded.error), place.input,
                   place.offset.value_or(0), place.line.value_or(0), place.table, place.key,
                   place.column);
  }
  if (decoded.schema_request) {
    out += Message("request of {}:", decoded.schema_request->table);
    for (const Column& column : decoded.schema_request->schema.columns) {
      out += Message(" {} {}", column.name, ToString(column.type));
    }
  }
  return out;
}

constexpr uint64_t kOffset = 1000, kLine = 7;

/// A decoder that has learned from what it was given, beside one that has not.
class Pair {
 public:
  explicit Pair(std::vector<TableSpec> tables)
      : x_tables(std::move(tables)), x_learned(MakeDecoder(Format::kDebezium, x_tables)) {}

  void Compare(const std::string& line) {
    const ChunkPlace place{"events.ndjson", kOffset, kLine};
    x_learned->DecodeLines(line, place, true, x_out);
    const std::string said = Said(x_tables, x_out);
    alike += x_out.alike;
    good += !x_out.error && !x_out.schema_request;
    ++lines;
    MakeDecoder(Format::kDebezium, x_tables)->DecodeLines(line, place, true, x_out);
    ASSERT_EQ(x_out.alike, 0u);
    ASSERT_EQ(said, Said(x_tables, x_out)) << line;
  }

  uint64_t lines = 0, alike = 0, good = 0;

 private:
  const std::vector<TableSpec> x_tables;
  std::unique_ptr<Decoder> x_learned;
  Decoded x_out;
};

std::string Event(const std::string& before, const std::string& after, const std::string& op,
                  uint64_t lsn = 100) {
  return Message(
      R"({{"before":{},"after":{},"source":{{"connector":"postgresql","ts_ms":5,"db":"d",)"
      R"("snapshot":"false","sequence":"[\"90\",\"{}\"]","schema":"public","table":"t","lsn":{},)"
      R"("xmin":null}},"transaction":null,"op":"{}","ts_ms":7}})",
      before, after, lsn, lsn, op);
}

std::vector<TableSpec> Tables() {
  TableSpec spec = SpecOf(
      "t", {{"id", "int64"}, {"v", "string"}, {"n", "int8"}, {"amount", "decimal(9,2)"}}, {"id"});
  spec.decimal_encoding = TableSpec::DecimalEncoding::kString;
  return {spec};
}

const char* const kRow = R"({"id":1,"v":"a","n":2,"amount":"1.50"})";

/// Decodes `first` and then `second` with one decoder; whether the second one took the short way.
bool Follows(const std::string& first, const std::string& second,
             std::vector<TableSpec> tables = Tables()) {
  Pair pair(std::move(tables));
  pair.Compare(first);
  pair.Compare(second);
  return pair.alike == 1;
}

TEST(EventShape, AnEventLikeTheLastOneTakesTheShortWay) {
  const std::string event = Event("null", kRow, "c");
  EXPECT_TRUE(Follows(event, event));
  EXPECT_TRUE(Follows(event, Event("null", kRow, "u", 123456789)));
  EXPECT_TRUE(Follows(event, event + "\n"));
  EXPECT_TRUE(Follows(event, Event("null", R"({"id":-7,"v":null,"n":null,"amount":null})", "r")));
  EXPECT_TRUE(
      Follows(event, Event("null", R"({"id":7,"v":"\"\n/ é 日本","n":0,"amount":"-7"})", "u")));
  EXPECT_TRUE(Follows(Event(kRow, "null", "d"), Event(kRow, "null", "d", 101)));
  EXPECT_TRUE(
      Follows(Event(kRow, kRow, "u"), Event(R"({"id":2,"v":"b","n":0,"amount":"0"})", kRow, "u")));
}

TEST(EventShape, AnUnchangedValueAndAKeyChangeTakeItToo) {
  EXPECT_TRUE(Follows(
      Event(kRow, kRow, "u"),
      Event(kRow, R"({"id":1,"v":"__debezium_unavailable_value","n":2,"amount":"1.50"})", "u")));
  EXPECT_TRUE(Follows(
      Event("null", kRow, "u"),
      Event("null", R"({"id":1,"v":"__debezium_unavailable_value","n":2,"amount":"1"})", "u")));
}

TEST(EventShape, WhatIsNotAlikeGoesTheGeneralWay) {
  const std::string event = Event("null", kRow, "c");
  for (const char* row :
       {R"({"id":1,"v":"a","n":2})", R"({"id":1,"n":2,"v":"a","amount":"1.50"})",
        R"({"id":1,"v":"a","n":200,"amount":"1.50"})", R"({"id":1,"v":"a","n":2,"amount":"1.555"})",
        R"({"id":"1","v":"a","n":2,"amount":"1.50"})",
        R"({"id":null,"v":"a","n":2,"amount":"1.50"})",
        R"({"id":01,"v":"a","n":2,"amount":"1.50"})",
        R"({"id":1,"v":"\u0041","n":2,"amount":"1.50"})",
        R"({"id":1,"v":"\x","n":2,"amount":"1.50"})", R"({"id":1,"v":["a"],"n":2,"amount":"1.50"})",
        "{\"id\":1,\"v\":\"\xFF\",\"n\":2,\"amount\":\"1.50\"}",
        "{\"id\":1,\"v\":\"\t\",\"n\":2,\"amount\":\"1.50\"}"}) {
    EXPECT_FALSE(Follows(event, Event("null", row, "c"))) << row;
  }
  for (const char* op : {"d", "t", "m", "x", "cc", "", "\\u0063"}) {
    EXPECT_FALSE(Follows(event, Event("null", kRow, op))) << op;
  }
  EXPECT_FALSE(Follows(event, event + " "));
  EXPECT_FALSE(Follows(event, event + "}"));
  EXPECT_FALSE(Follows(event, event + "\r"));
  EXPECT_FALSE(Follows(event, event.substr(0, event.size() - 1)));
}

TEST(EventShape, EveryFormOfASequenceMeansWhatItMeansAlone) {
  const std::vector<std::string> forms = {R"("[\"90\",\"100\"]")",
                                          R"("[\"91\",\"101\"]")",
                                          R"("[null,\"100\"]")",
                                          R"("[90, 100]")",
                                          R"(["90","100"])",
                                          R"(["91","101"])",
                                          R"([90,100])",
                                          R"([90,101])",
                                          R"({"a":1})",
                                          "null",
                                          "7",
                                          "8",
                                          R"("")",
                                          R"("x")",
                                          R"("[\"\",\"1\"]")",
                                          R"("[\"1\"]")",
                                          R"("[\"99999999999999999999\",\"1\"]")"};
  const std::string sequence = R"("[\"90\",\"100\"]")";
  Pair pair(Tables());
  for (const std::string& first : forms) {
    for (const std::string& second : forms) {
      for (const std::string& form : {first, second}) {
        std::string event = Event("null", kRow, "c");
        pair.Compare(event.replace(event.find(sequence), sequence.size(), form));
      }
    }
  }
  EXPECT_GT(pair.alike, forms.size());
}

TEST(EventShape, PositionsOfEveryConnectorAreRead) {
  const auto event = [](const char* connector, const std::string& place) {
    return Message(R"({{"before":null,"after":{},"source":{{"connector":"{}","table":"t",{}}},)"
                   R"("op":"c"}})",
                   kRow, connector, place);
  };
  for (const auto& [connector, first, second] :
       {std::tuple{"mysql", R"("file":"b.000001","pos":5,"row":0)",
                   R"("file":"b.000002","pos":77,"row":3)"},
        std::tuple{
            "sqlserver",
            R"("commit_lsn":"00000025:00000d98:00a2","change_lsn":"00000025:00000d98:0003")",
            R"("commit_lsn":"00000026:00000d98:00a2","change_lsn":"00000026:00000d98:0004")"},
        std::tuple{"postgresql", R"("lsn":5)", R"("lsn":"18446744073709551615")"}}) {
    EXPECT_TRUE(Follows(event(connector, first), event(connector, second))) << connector;
  }
}

TEST(EventShape, ATableFilledFromTheSourceHasNone) {
  std::vector<TableSpec> tables = Tables();
  Column column{"db", *ParseType("string")};
  column.from = "source.db";
  tables[0].schema.columns.push_back(column);
  const std::string event = Event("null", kRow, "c");
  EXPECT_FALSE(Follows(event, event, tables));
}

TEST(EventShape, AColumnThatTheTableLacksIsIgnoredOnlyWhereThatIsAllowed) {
  const auto with = [](const char* value) {
    return Event("null", Message(R"({{"id":1,"more":{},"v":"a","n":2,"amount":"1"}})", value), "c");
  };
  EXPECT_TRUE(Follows(with("null"), with("null")));
  EXPECT_FALSE(Follows(with("null"), with("5")));
  std::vector<TableSpec> tables = Tables();
  tables[0].evolution = TableSpec::Evolution::kIgnore;
  EXPECT_TRUE(Follows(with("4"), with("5"), tables));
  // A delete asks nothing of the other image; an upsert of the same look does.
  Pair pair(Tables());
  const char* row = R"({"id":1,"v":"a","n":2,"amount":"1","more":5})";
  pair.Compare(Event(kRow, row, "d"));
  pair.Compare(Event(kRow, row, "u"));
  pair.Compare(Event(kRow, row, "d"));
  EXPECT_EQ(pair.alike, 1u);
}

/// The values of a dump's records, as lines of Debezium.
std::vector<std::string> ValuesOf(const Stream& stream) {
  std::vector<std::string> values;
  std::istringstream lines(stream.text);
  JsonIndex index;
  for (std::string line; std::getline(lines, line);) {
    if (!index.Index(line)) continue;
    const JsonRef value = FindMember(JsonRef{&index.doc(), 0}, "value");
    if (value.kind() != JsonKind::kObject) continue;
    values.emplace_back(RawText(index.doc(), value.token, SkipUnchecked(index.doc(), value.token)));
  }
  return values;
}

constexpr int kTimes = 12;  // a line

TEST(EventShape, RealStreamsAndChangedOnesAgree) {
  std::vector<Stream> streams = Captures();
  for (Stream& stream : WrappedCaptures()) streams.push_back(std::move(stream));
  streams.push_back({"made", "", Tables()});
  Random random(20'261'130);
  uint64_t alike = 0, good = 0, lines = 0;
  for (const Stream& stream : streams) {
    std::vector<std::string> values = ValuesOf(stream);
    if (stream.name == "made") {
      for (uint64_t i = 0; i < 60; ++i) {
        values.push_back(Event(i % 3 == 0 ? kRow : "null", i % 4 == 0 ? "null" : kRow,
                               std::string(1, "cdu"[i % 3]), 100 + i));
      }
    }
    Pair plain(stream.tables), changed(stream.tables);
    for (const std::string& value : values) {
      plain.Compare(value);
      for (int i = 0; i < kTimes; ++i) {
        if (value.size() > 20'000) continue;
        changed.Compare(value);
        changed.Compare(i % 3 == 0 ? WithOtherMembers(value, random) : Mutated(value, random));
        if (HasFatalFailure()) return;
      }
    }
    for (const Pair* pair : {&plain, &changed}) {
      alike += pair->alike;
      good += pair->good;
      lines += pair->lines;
    }
  }
  EXPECT_GT(lines, 4000u);
  EXPECT_GT(alike, 2000u);
  EXPECT_GT(good, alike);  // some took the general way
  EXPECT_LT(good, lines);  // and some were wrong
}

}  // namespace
}  // namespace lastword::codec
