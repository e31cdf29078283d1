#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/decoded_text.h"

namespace lastword::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TableSpec T() {
  return SpecOf("t", {{"id", "int64"}, {"v", "string"}}, {"id"});
}
DecodedText Decode(std::string_view text, TableSpec spec = T()) {
  return DecodeText(Format::kChangelog, {std::move(spec)}, text);
}
void ExpectStop(const DecodedText& decoded, ErrorKind kind, std::string_view message) {
  ASSERT_TRUE(decoded.error.has_value()) << "no error";
  EXPECT_EQ(NameOf(decoded.error->kind), NameOf(kind)) << ToString(*decoded.error);
  EXPECT_THAT(decoded.error->message, HasSubstr(std::string(message)));
}

TEST(Changelog, KindsBecomeChangesWithoutVersions) {
  const DecodedText decoded = Decode(R"({"kind":"+I","row":{"id":1,"v":"a"}}
{"kind":"-U","row":{"id":1,"v":"a"}}
{"kind":"+U","row":{"id":1,"v":"b"}}
{"row":{"id":1},"kind":"-D"}
)");
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes, ElementsAre(R"(+ t 0/0/0 key=1 {"id":1,"v":"a"} arrival)",
                                           "- t 0/0/0 key=1 update_before arrival",
                                           R"(+ t 0/0/0 key=1 {"id":1,"v":"b"} arrival)",
                                           "- t 0/0/0 key=1 arrival"));
}

TEST(Changelog, SequenceColumnsGiveVersions) {
  TableSpec spec = SpecOf("t", {{"id", "int64"}, {"n", "uint64"}}, {"id"});
  spec.sequence_columns = {"n"};
  EXPECT_THAT(Decode(R"({"kind":"+I","row":{"id":1,"n":5}}
{"kind":"-U","row":{"id":1,"n":5}}
{"kind":"-D","row":{"id":1,"n":6}})",
                     spec)
                  .changes,
              ElementsAre(R"(+ t 5/0/0 key=1 {"id":1,"n":5})", "- t 5/0/0 key=1 update_before",
                          "- t 6/0/1 key=1"));
  ExpectStop(Decode(R"({"kind":"-D","row":{"id":1}})", spec), ErrorKind::kNoVersion, "`n`");
}

TEST(Changelog, DecimalsAreDigits) {
  EXPECT_THAT(Decode(R"({"kind":"+I","row":{"id":1,"v":"1234"}})",
                     SpecOf("t", {{"id", "int64"}, {"v", "decimal(10,2)"}}, {"id"}))
                  .changes,
              ElementsAre(R"(+ t 0/0/0 key=1 {"id":1,"v":"1234.00"} arrival)"));
}

TEST(Changelog, ColumnsAreDiscovered) {
  const DecodedText decoded =
      Decode(R"({"kind":"+I","row":{"id":1,"v":1.5}})", DiscoveredSpec("t", {"id"}));
  EXPECT_THAT(decoded.changes, ElementsAre(R"(+ t 0/0/0 key=1 {"id":1,"v":1.5} arrival)"));
}

TEST(Changelog, WhatIsNoEntryStops) {
  ExpectStop(Decode(R"({"kind":"I","row":{"id":1}})"), ErrorKind::kUnsupportedOp, "`I`");
  ExpectStop(Decode(R"({"row":{"id":1}})"), ErrorKind::kBadEnvelope, "`kind`");
  ExpectStop(Decode(R"({"kind":"+I"})"), ErrorKind::kBadEnvelope, "`row`");
  ExpectStop(Decode(R"({"kind":"+I","row":[1]})"), ErrorKind::kBadEnvelope, "`row`");
  ExpectStop(Decode("[]"), ErrorKind::kBadEnvelope, "`kind`");
  ExpectStop(Decode(R"({"kind":"+I","row":{"id":1},"row":{"id":2}})"), ErrorKind::kBadJson,
             "twice");
  ExpectStop(Decode(R"({"kind":"I","row":{"id":NaN}})"), ErrorKind::kBadJson, "NaN");
  ExpectStop(Decode(R"({"kind":"+I","row":{"v":"a"}})"), ErrorKind::kMissingKey, "`id`");
  ExpectStop(Decode(R"({"kind":"-D","row":{"id":null}})"), ErrorKind::kNullInKey, "NULL");
  ExpectStop(DecodeText(Format::kChangelog, {T(), T()}, R"({"kind":"+I","row":{"id":1}})"),
             ErrorKind::kUnroutedTable, "several are declared");
}

}  // namespace
}  // namespace lastword::codec
