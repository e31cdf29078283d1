// Dumps of Kafka records: their shapes, keys, headers and null values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/json.h"
#include "codec/decoded_text.h"

namespace lastword::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kCreate =
    R"({"after":{"id":1,"v":"a"},"source":{"connector":"postgresql","schema":"public","table":"t","sequence":"[\"90\",\"100\"]"},"op":"c"})";
constexpr const char* kDelete =
    R"({"before":{"id":1,"v":null},"after":null,"source":{"connector":"postgresql","schema":"public","table":"t","sequence":"[\"150\",\"200\"]"},"op":"d"})";

TableSpec T() {
  return SpecOf("t", {{"id", "int64"}, {"v", "string"}}, {"id"});
}

DecodedText Decode(std::string_view text, std::vector<TableSpec> specs = {T()}) {
  return DecodeText(Format::kRecords, std::move(specs), text);
}
std::string Line(std::string_view key, std::string_view value, int offset = 0,
                 std::string_view more = "") {
  return Message("{{\"partition\":0,\"offset\":{},\"key\":{},\"value\":{}{}}}\n", offset, key,
                 value, more);
}
std::string Quoted(std::string_view text) {
  return DumpJson(Json(std::string(text)));
}

void ExpectStop(const DecodedText& decoded, ErrorKind kind, std::string_view message) {
  ASSERT_TRUE(decoded.error.has_value()) << "no error";
  EXPECT_EQ(NameOf(decoded.error->kind), NameOf(kind)) << ToString(*decoded.error);
  EXPECT_THAT(decoded.error->message, HasSubstr(std::string(message)));
}

TEST(Records, EveryShapeOfADumpIsTheSame) {
  const std::vector<std::string> expected = {R"(+ t 90/100/2 key=1 {"id":1,"v":"a"})"};
  EXPECT_EQ(Decode(Line(R"({"id":1})", kCreate)).changes, expected);
  EXPECT_EQ(Decode(Line(Quoted(R"({"id":1})"), Quoted(kCreate))).changes, expected);
  EXPECT_EQ(
      Decode(
          Message(
              R"({{"topic":"t","partition":0,"offset":5,"tstype":"create","ts":1,"broker":0,"headers":["a","b"],"key":{},"payload":{}}})",
              Quoted(R"({"id":1})"), Quoted(kCreate)))
          .changes,
      expected);
  EXPECT_EQ(
      Decode(Message(
                 R"({{"headers":[],"value":{},"key":null,"offset":5,"partition":0,"timestamp":1}})",
                 kCreate))
          .changes,
      expected);
}

TEST(Records, ALineWithoutItsPartsStops) {
  ExpectStop(Decode(Message("{{\"offset\":0,\"value\":{}}}", kCreate)), ErrorKind::kBadEnvelope,
             "`partition`");
  ExpectStop(Decode(Message("{{\"partition\":0,\"value\":{}}}", kCreate)), ErrorKind::kBadEnvelope,
             "`offset`");
  ExpectStop(Decode(R"({"partition":0,"offset":0,"key":{"id":1}})"), ErrorKind::kBadEnvelope,
             "`value`");
  ExpectStop(Decode(kCreate), ErrorKind::kBadEnvelope, "`partition`");
  ExpectStop(Decode("[1]"), ErrorKind::kBadEnvelope, "a list");
  ExpectStop(Decode(Message("{{\"partition\":-1,\"offset\":0,\"value\":{}}}", kCreate)),
             ErrorKind::kBadEnvelope, "whole number");
  ExpectStop(Decode(Message("{{\"partition\":0,\"offset\":1.5,\"value\":{}}}", kCreate)),
             ErrorKind::kBadEnvelope, "whole number");
  ExpectStop(Decode(Line("null", "7")), ErrorKind::kBadEnvelope, "a number");
  ExpectStop(Decode(Line("null", "\"\"")), ErrorKind::kBadJson, "empty text");
  ExpectStop(Decode(Line("null", "\"{\"")), ErrorKind::kBadJson, "");
  ExpectStop(Decode(Line("null", "\"{} x\"")), ErrorKind::kBadJson, "follows");
  ExpectStop(Decode(Line("null", "{}", 0, ",\"payload\":{}")), ErrorKind::kBadJson, "twice");
  ExpectStop(Decode(Line("null", kCreate, 0, ",\"offset\":7")), ErrorKind::kBadJson, "twice");
}

TEST(Records, InputsAreTopicAndPartition) {
  const std::unique_ptr<Decoder> decoder = MakeDecoder(Format::kRecords, {T()});
  Decoded out;
  const std::string text =
      Message("{{\"partition\":0,\"offset\":3,\"value\":{}}}\n", kCreate) +
      Message("{{\"topic\":\"a.t\",\"partition\":1,\"offset\":4,\"value\":{}}}\n", kCreate) +
      Message("{{\"topic\":\"\",\"partition\":1,\"offset\":4,\"value\":{}}}\n", kCreate) +
      Message("{{\"partition\":0,\"offset\":5,\"value\":{}}}\n", kCreate);
  decoder->DecodeLines(text, {"x.ndjson", 0, 1}, true, out);
  ASSERT_FALSE(out.error);
  ASSERT_EQ(out.tables[0].heads.size(), 4u);
  EXPECT_THAT(out.tables[0].inputs, ElementsAre("0", "a.t:1", ":1"));
  EXPECT_TRUE(out.tables[0].null_values);
  std::vector<uint64_t> places;
  for (const ChangeHead& head : out.tables[0].heads) {
    places.insert(places.end(), {head.input, head.offset, head.line});
  }
  EXPECT_THAT(places, ElementsAre(0, 3, 1, 1, 4, 2, 2, 4, 3, 0, 5, 4));
}

TEST(Records, ANullValueIsADeleteByTheRecordKey) {
  const DecodedText decoded =
      Decode(Line(R"({"id":1})", "null") + Line("7", "null") + Line("\"8\"", "null") +
             Line(Quoted(R"({"id":9})"), "null") +
             Line(R"({"schema":{"type":"struct","fields":[]},"payload":{"id":10}})", "null") +
             Line(R"({"id":11})", R"({"schema":null,"payload":null})"));
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  std::vector<std::string> expected;
  for (const char* key : {"1", "7", "8", "9", "10", "11"}) {
    expected.push_back(Message("- t 0/0/0 key={} null_value", key));
  }
  EXPECT_EQ(decoded.changes, expected);
}

TEST(Records, TextKeysAreTexts) {
  TableSpec spec = SpecOf("t", {{"k", "string"}}, {"k"});
  const DecodedText decoded = Decode(
      Line("\"merchant-7\"", "null") + Line(Quoted("\"quoted\""), "null") + Line("\"12\"", "null"),
      {spec});
  EXPECT_THAT(decoded.changes,
              ElementsAre("- t 0/0/0 key=merchant-7 null_value", "- t 0/0/0 key=quoted null_value",
                          "- t 0/0/0 key=12 null_value"));
}

TEST(Records, ANullValueWithoutAKeyStopsUnlessItsDeleteIsThere) {
  ExpectStop(Decode(Line(R"({"id":1})", kCreate) + Line("null", "null", 1)), ErrorKind::kMissingKey,
             "`id`");
  // A topic keyed by something else: what follows each delete is only for compaction.
  const DecodedText after_delete =
      Decode(Line(R"({"region":"eu"})", kDelete) + Line(R"({"region":"eu"})", "null", 1));
  EXPECT_FALSE(after_delete.error);
  EXPECT_EQ(after_delete.records, 2u);
  EXPECT_THAT(after_delete.changes, ElementsAre("- t 150/200/1 key=1"));
  ExpectStop(Decode(Line(R"({"region":"eu"})", kDelete) + Line(R"({"region":"us"})", "null", 1)),
             ErrorKind::kMissingKey, "`id`");
  // At the start of a call nobody knows what was in front of it.
  EXPECT_FALSE(Decode(Line("null", "null")).error);
}

TEST(Records, NullValuesAreRoutedByTopic) {
  TableSpec a = T(), b = T();
  a.name = "a";
  a.sources = {"t1"};
  b.name = "b";
  b.sources = {"audit.t2", "srv.x.y.t3"};
  const auto line = [](std::string_view topic) {
    return Message(R"({{"topic":"{}","partition":0,"offset":0,"key":{{"id":1}},"value":null}})",
                   topic) +
           "\n";
  };
  const DecodedText decoded = Decode(
      line("srv.public.t1") + line("t1") + line("srv.audit.t2") + line("srv.x.y.t3"), {a, b});
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes,
              ElementsAre("- a 0/0/0 key=1 null_value", "- a 0/0/0 key=1 null_value",
                          "- b 0/0/0 key=1 null_value", "- b 0/0/0 key=1 null_value"));
  ExpectStop(Decode(line("srv.public.t2"), {a, b}), ErrorKind::kUnroutedTable, "srv.public.t2");
  ExpectStop(Decode(Line(R"({"id":1})", "null"), {a, b}), ErrorKind::kUnroutedTable, "no topic");
}

TEST(Records, HeadersLinkTheHalvesOfAKeyChange) {
  for (const char* headers :
       {R"({"x":1,"__debezium.newkey":{"id":2}})", R"({"__debezium.newkey":"{\"id\":2}"})",
        R"([["x","y"],["__debezium.newkey","{\"id\":2}"]])", R"([["__debezium.newkey",{"id":2}]])",
        R"(["x","y","__debezium.newkey","{\"id\":2}"])", R"([{"__debezium.newkey":"{\"id\":2}"}])",
        R"([{"key":"__debezium.newkey","value":"{\"id\":2}"}])",
        R"(["__debezium.newkey","{\"schema\":{},\"payload\":{\"id\":2}}"])",
        R"(["__debezium.newkey","2"])"}) {
    const DecodedText decoded =
        Decode(Line(R"({"id":1})", kDelete, 0, Message(",\"headers\":{}", headers)));
    EXPECT_THAT(decoded.changes, ElementsAre("- t 150/200/1 key=1 moved_to other=2")) << headers;
  }
  EXPECT_THAT(
      Decode(Line(R"({"id":1})", kCreate, 0, R"(,"headers":{"__debezium.oldkey":{"id":3}})"))
          .changes,
      ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"v":"a"} moved_from other=3)"));
  // A key that cannot be read still says that this is half of a key change.
  EXPECT_THAT(
      Decode(Line(R"({"id":1})", kDelete, 0, R"(,"headers":["__debezium.newkey","{"])")).changes,
      ElementsAre("- t 150/200/1 key=1 moved_to"));
}

TEST(Records, ADeleteIsCompletedAndCheckedByTheRecordKey) {
  const auto with = [](std::string_view before) {
    return Message(
        R"({{"before":{},"source":{{"connector":"postgresql","table":"t","lsn":5}},"op":"d"}})",
        before);
  };
  EXPECT_THAT(Decode(Line(R"({"id":1})", with("null")) + Line(R"({"id":2})", with("{}")) +
                     Line(R"({"id":3})", with(R"({"id":null})")) +
                     Line(R"({"id":4})", with(R"({"id":4})")) + Line("null", with(R"({"id":5})")))
                  .changes,
              ElementsAre("- t 5/5/1 key=1", "- t 5/5/1 key=2", "- t 5/5/1 key=3",
                          "- t 5/5/1 key=4", "- t 5/5/1 key=5"));
  ExpectStop(Decode(Line(R"({"id":1})", with(R"({"id":0})"))), ErrorKind::kAmbiguousKey,
             "replica identity");
  ExpectStop(Decode(Line(R"({"id":"x"})", with(R"({"id":0})"))), ErrorKind::kTypeMismatch, "`id`");
}

TEST(Records, AnImageNamesTheKeyWhateverTheRecordKeyIs) {
  EXPECT_THAT(Decode(Line(R"({"region":"eu"})", kCreate) + Line("\"x\"", kCreate, 1)).changes,
              ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"v":"a"})",
                          R"(+ t 90/100/2 key=1 {"id":1,"v":"a"})"));
}

TEST(Records, TheRecordKeyNamesTheColumnsOfAnUndeclaredKey) {
  const DecodedText decoded =
      Decode(Line(R"({"v":"a","id":1})", kCreate) + Line(R"({"v":"a","id":1})", kDelete, 1),
             {DiscoveredSpec("t")});
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes, ElementsAre(R"(+ t 90/100/2 key=["a",1] {"id":1,"v":"a"})",
                                           R"(- t 150/200/1 key=["a",1])"));
  ExpectStop(Decode(Line("null", kCreate), {DiscoveredSpec("t")}), ErrorKind::kMissingKey,
             "no primary key");
  ExpectStop(Decode(Line(R"({"x":1})", kCreate), {DiscoveredSpec("t")}), ErrorKind::kMissingKey,
             "`x`");
}

TEST(Records, MetadataFillsColumnsOutsideTheDigest) {
  TableSpec spec = SpecOf("t",
                          {{"id", "int64"},
                           {"v", "string"},
                           {"o", "int64"},
                           {"p", "int32"},
                           {"topic", "string"},
                           {"h", "int64"}},
                          {"id"});
  spec.schema.columns[2].from = "offset";
  spec.schema.columns[3].from = "partition";
  spec.schema.columns[4].from = "topic";
  spec.schema.columns[5].from = "header.h";
  const std::unique_ptr<Decoder> decoder = MakeDecoder(Format::kRecords, {spec});
  Decoded out;
  const auto line = [](int offset, std::string_view headers) {
    return Message(
        "{{\"topic\":\"x\",\"partition\":3,\"offset\":{},\"value\":{},\"headers\":{}}}\n", offset,
        kCreate, headers);
  };
  decoder->DecodeLines(line(7, R"({"h":"12"})") + line(8, "[]"), {"x", 0, 1}, true, out);
  ASSERT_FALSE(out.error) << ToString(*out.error);
  const ChangeBatch& batch = out.tables[0];
  ASSERT_EQ(batch.heads.size(), 2u);
  EXPECT_EQ(RowToText(spec.schema, batch.rows, 0),
            R"({"id":1,"v":"a","o":7,"p":3,"topic":"x","h":12})");
  EXPECT_EQ(RowToText(spec.schema, batch.rows, 1), R"({"id":1,"v":"a","o":8,"p":3,"topic":"x"})");
  EXPECT_EQ(batch.heads[0].digest, batch.heads[1].digest);
}

TEST(Records, TheOffsetCanBeTheVersion) {
  TableSpec spec = T();
  spec.sequence_columns = {"offset"};
  EXPECT_THAT(
      Decode(Line(R"({"id":1})", kCreate, 5) + Line(R"({"id":1})", kDelete, 6) +
                 Line(R"({"id":1})", "null", 7),
             {spec})
          .changes,
      ElementsAre(R"(+ t 5/0/0 key=1 {"id":1,"v":"a"})", "- t 6/0/0 key=1", "- t 7/0/0 key=1"));
}

TEST(Records, AnErrorNamesTopicPartitionAndOffset) {
  const DecodedText decoded = Decode(Message(
      "{{\"topic\":\"s.t\",\"partition\":2,\"offset\":9,\"key\":{{\"id\":1}},\"value\":{}}}",
      R"({"after":{"id":4,"v":1},"source":{"connector":"postgresql","table":"t","lsn":1},"op":"c"})"));
  ExpectStop(decoded, ErrorKind::kTypeMismatch, "`v`");
  EXPECT_EQ(decoded.error->place.input, "s.t:2");
  EXPECT_EQ(decoded.error->place.offset, 9u);
  EXPECT_EQ(decoded.error->place.line, 1u);
}

TEST(Records, RecordsOfASourceDecodeLikeADump) {
  const std::unique_ptr<Decoder> decoder = MakeDecoder(Format::kRecords, {T()});
  const std::string create = kCreate, remove = kDelete, key = R"({"id":1})";
  std::vector<RawRecord> records(4);
  records[0] = RawRecord{create, false, key, "s.t", {}, 0, 3, 10};
  records[1] =
      RawRecord{remove, false, key, "s.t", {{"__debezium.newkey", R"({"id":2})"}}, 0, 3, 11};
  records[2] = RawRecord{{}, true, key, "s.t", {}, 0, 3, 12};
  records[3] = RawRecord{"{", false, key, "s.t", {}, 0, 3, 13};
  Decoded out;
  decoder->DecodeRecords(records, {"s.t:3"}, out);
  EXPECT_EQ(out.records, 3u);
  std::vector<std::string> changes;
  for (const ChangeHead& head : out.tables[0].heads) {
    changes.push_back(ChangeToText(T(), out.tables[0], head));
  }
  EXPECT_THAT(changes,
              ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"v":"a"})",
                          "- t 150/200/1 key=1 moved_to other=2", "- t 0/0/0 key=1 null_value"));
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->kind, ErrorKind::kBadJson);
  EXPECT_EQ(out.error->place.input, "s.t:3");
  EXPECT_EQ(out.error->place.offset, 13u);
  EXPECT_FALSE(out.error->place.line);
}

}  // namespace
}  // namespace lastword::codec
