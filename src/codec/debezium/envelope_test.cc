// The rules of Debezium events, one test a rule: what changes an event becomes, what is skipped,
// and what stops decoding with which error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "codec/decoded_text.h"

namespace lastword::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSource =
    R"({"connector":"postgresql","db":"app","schema":"public","table":"t","sequence":"[\"90\",\"100\"]","lsn":100,"snapshot":"false"})";

/// An event without a wrapper; `rows` is "before":…,"after":….
std::string Event(std::string_view op, std::string_view rows, std::string_view source = kSource) {
  return Message("{{{},\"source\":{},\"op\":\"{}\",\"ts_ms\":5}}\n", rows, source, op);
}
std::string At(int commit, int event, std::string_view table = "t") {
  return Message(
      R"({{"connector":"postgresql","schema":"public","table":"{}","sequence":"[\"{}\",\"{}\"]","lsn":{}}})",
      table, commit, event, event);
}

TableSpec T() {
  return SpecOf("t", {{"id", "int64"}, {"v", "string"}}, {"id"});
}

DecodedText Decode(std::string_view text, TableSpec spec = T()) {
  return DecodeText(Format::kDebezium, {std::move(spec)}, text);
}

void ExpectStop(const DecodedText& decoded, ErrorKind kind, std::string_view message,
                std::string_view column = "") {
  ASSERT_TRUE(decoded.error.has_value()) << "no error";
  EXPECT_EQ(NameOf(decoded.error->kind), NameOf(kind)) << ToString(*decoded.error);
  EXPECT_THAT(decoded.error->message, HasSubstr(std::string(message)));
  EXPECT_EQ(decoded.error->place.column, column);
  EXPECT_EQ(decoded.error->place.input, "events.ndjson");
}

TEST(Debezium, OpsBecomeChanges) {
  const DecodedText decoded = Decode(
      Event("c", R"("before":null,"after":{"id":1,"v":"a"})", At(90, 100)) +
      Event("u", R"("before":null,"after":{"id":1,"v":"b"})", At(150, 200)) +
      Event("d", R"("before":{"id":1,"v":null},"after":null)", At(250, 300)) +
      Event(
          "r", R"("before":null,"after":{"id":2})",
          R"({"connector":"postgresql","table":"t","sequence":"[null,\"400\"]","snapshot":"last"})") +
      Event("t", R"("before":null,"after":null)", At(450, 500)));
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_EQ(decoded.records, 5u);
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"v":"a"})",
                          R"(+ t 150/200/2 key=1 {"id":1,"v":"b"})", R"(- t 250/300/1 key=1)",
                          R"(+ t 400/0/0 key=2 {"id":2} read end)", R"(truncate t 450/500/1)"));
}

TEST(Debezium, RecordsWithoutRowsAreSkippedAndCounted) {
  const DecodedText decoded = Decode(
      "{\"ts_ms\":1795976961408}\n"
      "{\"status\":\"BEGIN\",\"id\":\"917:49442312\",\"event_count\":null,\"data_collections\":"
      "null,"
      "\"ts_ms\":1}\n"
      "{\"status\":\"END\",\"id\":\"917:49442848\",\"event_count\":4,\"data_collections\":[{\"a\":"
      "1}],"
      "\"ts_ms\":1}\n"
      "{\"source\":{\"db\":\"x\"},\"ts_ms\":1,\"databaseName\":\"app\",\"schemaName\":null,\"ddl\":"
      "\"DROP TABLE a\",\"tableChanges\":[]}\n"
      "{\"op\":\"m\",\"ts_ms\":1,\"source\":{\"schema\":\"\",\"table\":\"\"},\"message\":{"
      "\"prefix\":"
      "\"x\",\"content\":\"\"}}\n"
      "\n   \r\n");
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_EQ(decoded.records, 5u);
  EXPECT_THAT(decoded.changes, IsEmpty());
}

TEST(Debezium, ARecordThatIsNoEnvelopeStops) {
  ExpectStop(Decode(R"({"op":null,"before":null,"after":{"id":2},"source":{"table":"t"}})"),
             ErrorKind::kBadEnvelope, "no op");
  ExpectStop(Decode(R"({"id":1,"v":"a"})"), ErrorKind::kBadEnvelope, "no op");
  ExpectStop(Decode(R"({})"), ErrorKind::kBadEnvelope, "no op");
  ExpectStop(Decode(R"([1])"), ErrorKind::kBadEnvelope, "a list");
  ExpectStop(Decode(R"("text")"), ErrorKind::kBadEnvelope, "a text");
  ExpectStop(Decode(R"({"op":"c","after":{"id":1}})"), ErrorKind::kBadEnvelope, "no source");
  ExpectStop(Decode(Event("c", R"("after":null)")), ErrorKind::kBadEnvelope, "no row in `after`");
  ExpectStop(Decode(Event("c", R"("after":[1])")), ErrorKind::kBadEnvelope, "a list where a row");
  ExpectStop(Decode(Event("u", R"("before":7,"after":{"id":1})")), ErrorKind::kBadEnvelope,
             "a number where a row");
  ExpectStop(Decode(R"({"op":7,"after":{"id":1},"source":{}})"), ErrorKind::kBadEnvelope, "no op");
}

TEST(Debezium, AnUnknownOpStops) {
  ExpectStop(Decode(Event("x", R"("after":{"id":1})")), ErrorKind::kUnsupportedOp, "op `x`");
}

TEST(Debezium, AnEventWithoutAVersionStops) {
  ExpectStop(Decode(Event("c", R"("after":{"id":1})", R"({"connector":"postgresql","table":"t"})")),
             ErrorKind::kNoVersion, "source.sequence or source.lsn");
  ExpectStop(
      Decode(Event("c", R"("after":{"id":1})", R"({"connector":"oracle","table":"t","scn":"5"})")),
      ErrorKind::kNoVersion, "sequence_columns");
}

TEST(Debezium, DuplicateMembersStop) {
  ExpectStop(Decode(Event("c", R"("after":{"id":1},"after":{"id":2})")), ErrorKind::kBadJson,
             "`after` is twice");
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"id":2})")), ErrorKind::kAmbiguousKey, "`id`",
             "id");
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"\u0069d":1})")), ErrorKind::kAmbiguousKey,
             "`id`", "id");
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"v":"a","v":"b"})")), ErrorKind::kBadJson, "`v`",
             "v");
  ExpectStop(Decode(Event("d", R"("before":{"id":1,"id":2})")), ErrorKind::kAmbiguousKey, "`id`",
             "id");
}

TEST(Debezium, KeysThatAreNoneStop) {
  ExpectStop(Decode(Event("c", R"("after":{"v":"a"})")), ErrorKind::kMissingKey, "`id`", "id");
  ExpectStop(Decode(Event("c", R"("after":{"id":null,"v":"a"})")), ErrorKind::kNullInKey, "NULL",
             "id");
  ExpectStop(Decode(Event("d", R"("before":{"v":"a"})")), ErrorKind::kMissingKey, "`id`", "id");
  ExpectStop(Decode(Event("d", R"("before":null)")), ErrorKind::kMissingKey, "`id`", "id");
  ExpectStop(Decode(Event("d", R"("before":{"id":null})")), ErrorKind::kNullInKey, "NULL", "id");
  ExpectStop(Decode(Event("u", R"("after":{"id":"__debezium_unavailable_value","v":"a"})"),
                    SpecOf("t", {{"id", "string"}, {"v", "string"}}, {"id"})),
             ErrorKind::kUnavailableKey, "REPLICA IDENTITY", "id");
  ExpectStop(Decode(Event("d", R"("before":{"id":"__debezium_unavailable_value"})"),
                    SpecOf("t", {{"id", "string"}}, {"id"})),
             ErrorKind::kUnavailableKey, "REPLICA IDENTITY", "id");
  TableSpec keyless = SpecOf("t", {{"id", "int64"}}, {});
  ExpectStop(Decode(Event("c", R"("after":{"id":1})"), keyless), ErrorKind::kMissingKey,
             "declare primary_key");
}

TEST(Debezium, NullIsAKeyWhereItIsDeclaredToBe) {
  TableSpec spec = SpecOf("t", {{"a", "int64"}, {"b", "string"}}, {"a", "b"});
  spec.nullable_key = {"b"};
  spec.schema.nullable_key = {false, true};
  spec.schema.columns[1].nullable = true;
  const DecodedText decoded =
      Decode(Event("c", R"("after":{"a":1,"b":null})") + Event("c", R"("after":{"a":1,"b":""})") +
                 Event("d", R"("before":{"a":1,"b":null})"),
             spec);
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes, ElementsAre(R"(+ t 90/100/2 key=[1,null] {"a":1})",
                                           R"(+ t 90/100/2 key=[1,""] {"a":1,"b":""})",
                                           R"(- t 90/100/1 key=[1,null])"));
}

TEST(Debezium, AKeyChangeIsTwoChangesAtOnePosition) {
  const DecodedText decoded =
      Decode(Event("u", R"("before":{"id":1,"v":null},"after":{"id":2,"v":"a"})") +
             Event("u", R"("before":{"id":2,"v":"a"},"after":{"id":2,"v":"b"})") +
             Event("u", R"("before":{"v":"a"},"after":{"id":3,"v":"b"})") +
             Event("u", R"("before":{"id":null,"v":"a"},"after":{"id":3,"v":"b"})"));
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes,
              ElementsAre("- t 90/100/1 key=1 moved_to other=2",
                          R"(+ t 90/100/2 key=2 {"id":2,"v":"a"} moved_from other=1)",
                          R"(+ t 90/100/2 key=2 {"id":2,"v":"b"})",
                          R"(+ t 90/100/2 key=3 {"id":3,"v":"b"})",
                          R"(+ t 90/100/2 key=3 {"id":3,"v":"b"})"));
}

TEST(Debezium, UnchangedColumnsAreMarkedAndNeverStored) {
  const DecodedText decoded = Decode(
      Event("u", R"("before":null,"after":{"id":1,"v":"__debezium_unavailable_value"})") +
      Event("u",
            R"("before":{"id":1,"v":"old"},"after":{"id":1,"v":"__debezium_unavailable_value"})") +
      Event("u",
            R"("before":{"id":1,"v":""},"after":{"id":1,"v":"__debezium_unavailable_value"})") +
      Event("u",
            R"("before":{"id":1,"v":null},"after":{"id":1,"v":"__debezium_unavailable_value"})") +
      Event(
          "u",
          R"("before":{"id":2,"v":"__debezium_unavailable_value"},"after":{"id":1,"v":"__debezium_unavailable_value"})"));
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ t 90/100/2 key=1 {"id":1} unavailable=v)",
                          R"(+ t 90/100/2 key=1 {"id":1} unavailable=v before={"v":"old"})",
                          R"(+ t 90/100/2 key=1 {"id":1} unavailable=v)",
                          R"(+ t 90/100/2 key=1 {"id":1} unavailable=v)",
                          "- t 90/100/1 key=2 moved_to other=1",
                          R"(+ t 90/100/2 key=1 {"id":1} moved_from other=2 unavailable=v)"));
}

TEST(Debezium, WrapperAndPlainGiveTheSameChanges) {
  const std::string wrapped = Message(
      R"({{"schema":{{"type":"struct","fields":[{{"type":"struct","fields":[{{"type":"int64","field":"id"}},{{"type":"string","optional":true,"field":"v"}}],"field":"after"}}]}},"payload":{{"before":null,"after":{{"id":1,"v":"a"}},"source":{},"op":"c"}}}})",
      kSource);
  EXPECT_EQ(Decode(wrapped).changes, Decode(Event("c", R"("after":{"id":1,"v":"a"})")).changes);
  const std::string null_schema =
      Message(R"({{"schema":null,"payload":{{"after":{{"id":1,"v":"a"}},"source":{},"op":"c"}}}})",
              kSource);
  EXPECT_EQ(Decode(null_schema).changes.size(), 1u);
}

TEST(Debezium, AWrapperThatIsCutOffIsNoJson) {
  const std::string whole = Message(
      R"({{"schema":{{"type":"struct","fields":[]}},"payload":{{"after":{{"id":1}},"source":{},"op":"c"}}}})",
      kSource);
  EXPECT_FALSE(Decode(whole).error);
  for (size_t size = 1; size < whole.size(); ++size) {
    const DecodedText decoded = Decode(whole.substr(0, size));
    ASSERT_TRUE(decoded.error) << whole.substr(0, size);
    EXPECT_EQ(decoded.error->kind, ErrorKind::kBadJson) << size;
    EXPECT_TRUE(decoded.changes.empty());
  }
}

TEST(Debezium, AWrapperThatDeclaresAnotherTypeStops) {
  const auto wrapped = [](std::string_view type) {
    return Message(
        R"({{"schema":{{"fields":[{{"type":"struct","fields":[{{"type":"int64","field":"id"}},{{"type":"{}","field":"n"}}],"field":"after"}}]}},"payload":{{"after":{{"id":1,"n":1}},"source":{},"op":"c"}}}})",
        type, kSource);
  };
  TableSpec spec = SpecOf("t", {{"id", "int64"}, {"n", "int32"}}, {"id"});
  EXPECT_FALSE(Decode(wrapped("int16"), spec).error);
  ExpectStop(Decode(wrapped("int64"), spec), ErrorKind::kSchemaIncompatible, "type_widening", "n");
  ExpectStop(Decode(wrapped("string"), spec), ErrorKind::kSchemaIncompatible, "declares string",
             "n");
  spec.type_widening = true;
  const DecodedText widened = Decode(wrapped("int64"), spec);
  EXPECT_FALSE(widened.error);
  EXPECT_EQ(widened.requests, 1u);
  EXPECT_EQ(ToString(widened.tables[0].schema.columns[1].type), "int64");
}

TEST(Debezium, UnknownColumnsFollowTheTablesPolicy) {
  const std::string text = Event("c", R"("after":{"id":1,"v":"a","extra":[1.5]})");
  ExpectStop(Decode(text), ErrorKind::kSchemaIncompatible, "`extra` (list<float64>)", "extra");
  EXPECT_FALSE(Decode(Event("c", R"("after":{"id":1,"v":"a","extra":null})")).error);
  TableSpec spec = T();
  spec.evolution = TableSpec::Evolution::kIgnore;
  EXPECT_THAT(Decode(text, spec).changes, ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"v":"a"})"));
  spec.evolution = TableSpec::Evolution::kEvolve;
  const DecodedText evolved = Decode(text, spec);
  EXPECT_EQ(evolved.requests, 1u);
  EXPECT_THAT(evolved.changes, ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"v":"a","extra":[1.5]})"));
  EXPECT_TRUE(evolved.tables[0].schema.columns[2].nullable);
}

TEST(Debezium, AnIgnoredColumnStillHasToBeJson) {
  TableSpec spec = T();
  spec.evolution = TableSpec::Evolution::kIgnore;
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"v":"a","extra":NaN})"), spec),
             ErrorKind::kBadJson, "NaN");
}

TEST(Debezium, ReservedNamesStopAndMetadataNamesDoNot) {
  TableSpec spec = DiscoveredSpec("t", {"id"});
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"_lw_hi":1})"), spec), ErrorKind::kReservedColumn,
             "_lw_", "_lw_hi");
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"a.b":1})"), spec), ErrorKind::kReservedColumn,
             "from", "a.b");
  const DecodedText decoded = Decode(
      Event("c",
            R"("after":{"id":1,"op":"d","ts_ms":5,"__deleted":"true","_version":9,"before":"x"})"),
      spec);
  EXPECT_THAT(
      decoded.changes,
      ElementsAre(
          R"(+ t 90/100/2 key=1 {"id":1,"op":"d","ts_ms":5,"__deleted":"true","_version":9,"before":"x"})"));
}

TEST(Debezium, WideningFollowsTheTablesSetting) {
  TableSpec spec = SpecOf("t", {{"id", "int64"}, {"n", "int32"}, {"l", "list<int8>"}}, {"id"});
  const std::string text = Event("c", R"("after":{"id":1,"n":3000000000,"l":[1,-200]})");
  ExpectStop(Decode(text, spec), ErrorKind::kOutOfRange, "type_widening", "n");
  spec.type_widening = true;
  const DecodedText widened = Decode(text, spec);
  EXPECT_FALSE(widened.error);
  EXPECT_EQ(ToString(widened.tables[0].schema.columns[1].type), "int64");
  EXPECT_EQ(ToString(widened.tables[0].schema.columns[2].type), "list<int16>");
  EXPECT_THAT(widened.changes,
              ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"n":3000000000,"l":[1,-200]})"));
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"n":9223372036854775808})"), spec),
             ErrorKind::kOutOfRange, "`n`", "n");
}

TEST(Debezium, TablesAreRoutedByTheNamesTheyDeclare) {
  TableSpec a = T(), b = T();
  a.name = "a";
  a.sources = {"t1"};
  b.name = "b";
  b.sources = {"public.t2"};
  const auto text = [](std::string_view table, std::string_view schema) {
    return Event("c", R"("after":{"id":1})",
                 Message(R"({{"connector":"postgresql","schema":"{}","table":"{}","lsn":5}})",
                         schema, table));
  };
  const DecodedText decoded = DecodeText(Format::kDebezium, {a, b},
                                         text("t1", "x") + text("t2", "public") + text("t2", "x"));
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ a 5/5/2 key=1 {"id":1})", R"(+ b 5/5/2 key=1 {"id":1})"));
  ExpectStop(decoded, ErrorKind::kUnroutedTable, "`x.t2`");
  EXPECT_EQ(decoded.error->place.line, 3u);
}

TEST(Debezium, ATruncateOfOneOfSeveralSourcesSaysWhichRows) {
  TableSpec spec = SpecOf("t", {{"id", "int64"}, {"src", "string"}}, {"src", "id"});
  spec.sources = {"t1", "t2"};
  spec.schema.columns[1].from = "source.table";
  const std::string text = Event("r", R"("after":{"id":1})",
                                 R"({"connector":"postgresql","schema":"public","table":"t1",)"
                                 R"("lsn":100,"snapshot":"last"})") +
                           Event("t", R"("after":null)", At(90, 102, "t2"));
  const DecodedText decoded = Decode(text, spec);
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ t 100/0/0 key=["t1",1] {"id":1,"src":"t1"} read end)",
                          "truncate t 90/102/1 origin=src=t2"));

  spec.schema.columns[1].from = "source.schema";
  EXPECT_THAT(Decode(text, spec).changes,
              ElementsAre(R"(+ t 100/0/0 key=["public",1] {"id":1,"src":"public"} read end)"
                          " shared_origin",
                          "truncate t 90/102/1 shared_origin origin=src=public"));

  spec.schema.columns[1].from = "source.db";
  ExpectStop(Decode(Event("t", R"("after":null)", At(90, 102, "t2")), spec), ErrorKind::kMissingKey,
             "source.db", "src");
}

TEST(Debezium, ATruncateOfOneOfSeveralSourcesWithoutOriginInTheKeyIsMarked) {
  TableSpec spec = T();
  spec.sources = {"t1", "t2"};
  const DecodedText decoded = Decode(Event("c", R"("after":{"id":1})", At(90, 100, "t1")) +
                                         Event("t", R"("after":null)", At(90, 102, "t2")),
                                     spec);
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ t 90/100/2 key=1 {"id":1})", "truncate t 90/102/1 shared_origin"));
}

TEST(Debezium, DefaultsFillAbsentColumnsOnly) {
  TableSpec spec = SpecOf("t", {{"id", "int64"}, {"qty", "int64"}}, {"id"});
  spec.schema.columns[1].default_value = Value(int64_t{7});
  const DecodedText decoded = Decode(
      Event("c", R"("after":{"id":1})") + Event("c", R"("after":{"id":1,"qty":null})"), spec);
  EXPECT_THAT(decoded.changes, ElementsAre(R"(+ t 90/100/2 key=1 {"id":1,"qty":7})",
                                           R"(+ t 90/100/2 key=1 {"id":1})"));
}

TEST(Debezium, SourceFieldsFillColumnsAndKeys) {
  TableSpec spec =
      SpecOf("t", {{"id", "int64"}, {"db", "string"}, {"at", "timestamp_us"}}, {"db", "id"});
  spec.schema.columns[1].from = "source.db";
  spec.schema.columns[2].from = "source.ts_ms";
  const std::string source =
      R"({"connector":"postgresql","db":"shop","table":"t","lsn":5,"ts_ms":1000})";
  const DecodedText decoded = Decode(
      Event("c", R"("after":{"id":1})", source) + Event("d", R"("before":{"id":1})", source) +
          Event("u", R"("before":{"id":1},"after":{"id":2})", source),
      spec);
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(
      decoded.changes,
      ElementsAre(
          R"(+ t 5/5/2 key=["shop",1] {"id":1,"db":"shop","at":1000000})",
          R"(- t 5/5/1 key=["shop",1])", R"(- t 5/5/1 key=["shop",1] moved_to other=["shop",2])",
          R"(+ t 5/5/2 key=["shop",2] {"id":2,"db":"shop","at":1000000} moved_from other=["shop",1])"));
}

TEST(Debezium, SequenceColumnsMakeTheVersion) {
  TableSpec spec = SpecOf("t", {{"id", "int64"}, {"seq", "int64"}, {"sub", "uint32"}}, {"id"});
  spec.sequence_columns = {"seq", "sub"};
  const DecodedText decoded =
      Decode(Event("c", R"("after":{"id":1,"seq":-1,"sub":3})", R"({"table":"t"})") +
                 Event("d", R"("before":{"id":1,"seq":5,"sub":4})", R"({"table":"t"})"),
             spec);
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ t 9223372036854775807/3/0 key=1 {"id":1,"seq":-1,"sub":3})",
                          "- t 9223372036854775813/4/1 key=1"));
  ExpectStop(Decode(Event("d", R"("before":{"id":1,"seq":null,"sub":4})"), spec),
             ErrorKind::kNoVersion, "`seq`", "seq");
  ExpectStop(Decode(Event("c", R"("after":{"id":1,"seq":2})"), spec), ErrorKind::kNoVersion,
             "`sub`", "sub");
  ExpectStop(Decode(Event("t", R"("after":null)"), spec), ErrorKind::kUnsupportedOp, "truncate");
}

TEST(Debezium, ColumnsAreDiscoveredWithTheirFirstTypedValue) {
  const DecodedText decoded = Decode(
      Event(
          "c",
          R"("after":{"id":1,"a":null,"b":true,"c":1.5,"d":"x","e":[null,2],"f":{"g":1},"h":18446744073709551615,"i":[]})") +
          Event("c", R"("after":{"id":2,"a":"late","j":123456789012345678901234567890})"),
      DiscoveredSpec("t", {"id"}));
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_EQ(decoded.requests, 2u);
  std::string columns;
  for (const Column& column : decoded.tables[0].schema.columns) {
    columns += column.name + " " + ToString(column.type) + (column.nullable ? "" : " key") + ", ";
  }
  EXPECT_EQ(columns,
            "id int64 key, b bool, c float64, d string, e list<int64>, f json, h uint64, i json, a "
            "string, j decimal(38,0), ");
  EXPECT_THAT(
      decoded.changes,
      ElementsAre(
          R"(+ t 90/100/2 key=1 {"id":1,"b":true,"c":1.5,"d":"x","e":[null,2],"f":"{\"g\":1}","h":18446744073709551615,"i":"[]"})",
          R"(+ t 90/100/2 key=2 {"id":2,"a":"late","j":"123456789012345678901234567890"})"));
}

TEST(Debezium, AKeyThatCannotBeDiscoveredStops) {
  ExpectStop(Decode(Event("c", R"("after":{"v":1})"), DiscoveredSpec("t", {"id"})),
             ErrorKind::kMissingKey, "`id`", "id");
  ExpectStop(Decode(Event("c", R"("after":{"id":null,"v":1})"), DiscoveredSpec("t", {"id"})),
             ErrorKind::kNullInKey, "`id`", "id");
  ExpectStop(Decode(Event("c", R"("after":{"v":1})"), DiscoveredSpec("t")), ErrorKind::kMissingKey,
             "declare primary_key");
}

TEST(Debezium, ADeleteDiscoversItsKey) {
  const DecodedText decoded = Decode(
      Event("d", R"("before":{"id":1,"v":null})") + Event("c", R"("after":{"id":1,"v":"a"})"),
      DiscoveredSpec("t", {"id"}));
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes,
              ElementsAre("- t 90/100/1 key=1", R"(+ t 90/100/2 key=1 {"id":1,"v":"a"})"));
}

TEST(Debezium, AnErrorNamesItsPlace) {
  const DecodedText decoded = Decode(Event("c", R"("after":{"id":1,"v":"a"})") + "\n" +
                                     Event("c", R"("after":{"id":2,"v":5})"));
  ExpectStop(decoded, ErrorKind::kTypeMismatch, "`v`: a number where string is expected", "v");
  EXPECT_EQ(decoded.changes.size(), 1u);
  EXPECT_EQ(decoded.error->place.line, 3u);
  EXPECT_EQ(decoded.error->place.offset, Event("c", R"("after":{"id":1,"v":"a"})").size() + 1);
  EXPECT_EQ(decoded.error->place.table, "t");
  EXPECT_EQ(decoded.error->place.key, "2");
  EXPECT_EQ(decoded.error->message.find('5'), std::string::npos);
}

}  // namespace
}  // namespace lastword::codec
