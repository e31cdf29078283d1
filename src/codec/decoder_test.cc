// What all formats share: lines, chunks, memory, and that a record is taken whole or not at all.
#include "codec/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/utf8.h"
#include "codec/decoded_text.h"
#include "test/status_matchers.h"

namespace lastword::codec {
namespace {

using testing::HasSubstr;

TableSpec T() {
  return SpecOf("t", {{"id", "int64"}, {"v", "string"}}, {"id"});
}
std::string Line(int id, std::string_view v = "\"a\"") {
  return Message(R"({{"kind":"+I","row":{{"id":{},"v":{}}}}})", id, v);
}
DecodedText Decode(std::string_view text, size_t chunk = 0) {
  return DecodeText(Format::kChangelog, {T()}, text, chunk);
}

TEST(Decoder, FormatsHaveNames) {
  EXPECT_THAT(ParseFormat("records"), IsOkAnd(Format::kRecords));
  EXPECT_THAT(ParseFormat("avro"), IsError(ErrorKind::kUsage));
}

TEST(Decoder, LinesMayBeBlankCarryReturnsAndLackTheLastNewline) {
  const DecodedText decoded =
      Decode("\xEF\xBB\xBF\n" + Line(1) + "\r\n\n  \t\n" + Line(2) + "   \n" + Line(3));
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_EQ(decoded.changes.size(), 3u);
  EXPECT_EQ(decoded.records, 3u);
}

TEST(Decoder, AHalfLineWaitsForItsRest) {
  const std::unique_ptr<Decoder> decoder = MakeDecoder(Format::kChangelog, {T()});
  Decoded out;
  const std::string text = Line(1) + "\n" + Line(2);
  decoder->DecodeLines(text, {"a", 0, 1}, false, out);
  EXPECT_FALSE(out.error);
  EXPECT_EQ(out.records, 1u);
  EXPECT_EQ(out.bytes, Line(1).size() + 1);
  decoder->DecodeLines(std::string_view(text).substr(out.bytes), {"a", out.bytes, 2}, true, out);
  EXPECT_FALSE(out.error);
  EXPECT_EQ(out.records, 1u);
  EXPECT_EQ(out.tables[0].heads[0].line, 2u);
  EXPECT_EQ(out.tables[0].heads[0].offset, Line(1).size() + 1);
}

TEST(Decoder, ACutOffLastLineIsNoJson) {
  const std::string line = Line(2);
  for (size_t size = 1; size < line.size(); ++size) {
    const DecodedText decoded = Decode(Line(1) + "\n" + line.substr(0, size));
    ASSERT_TRUE(decoded.error) << size;
    EXPECT_EQ(decoded.error->kind, ErrorKind::kBadJson) << size;
    EXPECT_EQ(decoded.error->place.line, 2u);
    EXPECT_EQ(decoded.changes.size(), 1u);
  }
}

TEST(Decoder, ALineIsARecord) {
  for (const char* text :
       {"{\"kind\":\"+I\",\n\"row\":{\"id\":1}}\n", "{\"kind\":\"+I\",\"row\":{\"id\":1}} {}",
        "{\"kind\":\"+I\",\"row\":{\"id\":1}}}", "{\"kind\":\"+I\n\",\"row\":{\"id\":1}}",
        "{\"kind\":\"+I\",\"row\":{\"id\":1}},", "x", "\xFF", "{\"a\":\"\x01\"}"}) {
    const DecodedText decoded = Decode(text);
    ASSERT_TRUE(decoded.error) << text;
    EXPECT_EQ(decoded.error->kind, ErrorKind::kBadJson) << text;
    EXPECT_EQ(decoded.error->place.line, 1u) << text;
    EXPECT_EQ(decoded.records, 0u);
  }
}

TEST(Decoder, ABadLineDoesNotHideThoseInFrontOfIt) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += Line(i) + "\n";
  const std::string good = text;
  text += "{\"kind\":\"\xC3\x28\"}\n" + Line(9) + "\n";
  const DecodedText decoded = Decode(text);
  EXPECT_EQ(decoded.changes.size(), 5000u);
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->kind, ErrorKind::kBadJson);
  EXPECT_THAT(decoded.error->message, HasSubstr("UTF-8"));
  EXPECT_EQ(decoded.error->place.line, 5001u);
  EXPECT_EQ(decoded.error->place.offset, good.size());
}

TEST(Decoder, TheCutIntoChunksDoesNotMatter) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += Line(i, "\"" + std::string(i % 97, 'x') + "\"") + (i % 7 == 0 ? "\n\n" : "\n");
  }
  const DecodedText whole = Decode(text);
  EXPECT_EQ(whole.changes.size(), 3000u);
  for (const size_t chunk : {1u, 100u, 4097u, 70'000u}) {
    EXPECT_EQ(Decode(text, chunk).changes, whole.changes) << chunk;
  }
}

TEST(Decoder, ARecordInErrorLeavesNothing) {
  const std::unique_ptr<Decoder> decoder =
      MakeDecoder(Format::kChangelog,
                  {SpecOf("t", {{"id", "int64"}, {"l", "list<int64>"}, {"n", "int8"}}, {"id"})});
  Decoded out;
  for (const char* bad :
       {R"({"kind":"+I","row":{"id":2,"l":[1,2,"x"],"n":1}})",
        R"({"kind":"+I","row":{"id":2,"l":[1],"n":1000}})",
        R"({"kind":"+I","row":{"l":[1,2],"n":1}})", R"({"kind":"+I","row":{"id":2,"l":[1,2],"n":1)",
        R"({"kind":"-D","row":{"n":1}})", R"({"kind":"+I","row":{"id":null,"l":[1]}})"}) {
    const std::string text =
        std::string(R"({"kind":"+I","row":{"id":1,"l":[7],"n":1}})") + "\n" + bad;
    decoder->DecodeLines(text, {"a", 0, 1}, true, out);
    ASSERT_TRUE(out.error) << bad;
    EXPECT_EQ(out.records, 1u);
    EXPECT_EQ(out.order.size(), 1u);
    const ChangeBatch& batch = out.tables[0];
    EXPECT_EQ(batch.heads.size(), 1u);
    EXPECT_EQ(batch.details.size(), 0u);
    EXPECT_EQ(batch.key_bytes.size(), batch.heads[0].key_size);
    for (const ColumnData& column : batch.rows.columns) EXPECT_EQ(column.size(), 1u) << bad;
    EXPECT_EQ(batch.rows.columns[1].child().size(), 1u) << bad;
  }
}

TEST(Decoder, AnOutputIsReusedByAnotherSchema) {
  const std::unique_ptr<Decoder> decoder = MakeDecoder(Format::kChangelog, {T()});
  Decoded out;
  decoder->DecodeLines(Line(1), {"a", 0, 1}, true, out);
  EXPECT_EQ(out.tables[0].rows.columns.size(), 2u);
  decoder->SetTables({SpecOf("t", {{"id", "string"}}, {"id"})});
  decoder->DecodeLines(R"({"kind":"+I","row":{"id":"x"}})", {"a", 0, 1}, true, out);
  EXPECT_FALSE(out.error);
  EXPECT_EQ(out.tables[0].rows.columns.size(), 1u);
  EXPECT_EQ(out.tables[0].rows.columns[0].Bytes(0), "x");
}

TEST(Decoder, ALineOfAHundredMegabytesIsALine) {
  const size_t size = 100u << 20;
  const std::string text =
      Line(1) + "\n" + Line(2, "\"" + std::string(size, 'x') + "\"") + "\n" + Line(3);
  const std::unique_ptr<Decoder> decoder = MakeDecoder(Format::kChangelog, {T()});
  Decoded out;
  decoder->DecodeLines(text, {"a", 0, 1}, true, out);
  EXPECT_FALSE(out.error);
  ASSERT_EQ(out.tables[0].heads.size(), 3u);
  EXPECT_EQ(out.tables[0].rows.columns[1].Bytes(1).size(), size);
}

TEST(Decoder, HostileLinesAreErrors) {
  const std::string bomb = std::string(1u << 20, '[');
  for (const std::string& value :
       {bomb, bomb + std::string(1u << 20, ']'), std::string(1u << 20, '{'),
        std::string(10'000, '9'), "\"" + std::string(1000, '\\') + "\""}) {
    const DecodedText decoded =
        DecodeText(Format::kChangelog, {SpecOf("t", {{"id", "int64"}, {"v", "int64"}}, {"id"})},
                   Line(1, value));
    ASSERT_TRUE(decoded.error) << value.substr(0, 10);
    EXPECT_TRUE(decoded.changes.empty());
  }
}

// A name may be as long as a record: what is said of it is not.
TEST(Decoder, LongNamesAreShortenedInErrors) {
  TableSpec spec = SpecOf("t", {{"key", "string"}, {"value", "string"}}, {"key"});
  std::string name;
  for (int i = 0; i < 5000; ++i) name += "ü";
  const DecodedText decoded =
      DecodeText(Format::kSequenced, {spec},
                 R"({"seq":1,"key":"k","op":"upsert","value":{")" + name + R"(":1}})" + "\n");
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->kind, ErrorKind::kSchemaIncompatible);
  EXPECT_LE(decoded.error->message.size(), 2003u);
  EXPECT_LE(decoded.error->place.column.size(), 2003u);
  EXPECT_TRUE(IsUtf8(decoded.error->message));
  EXPECT_TRUE(IsUtf8(decoded.error->place.column));
}

}  // namespace
}  // namespace lastword::codec
