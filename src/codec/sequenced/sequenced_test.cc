#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/decoded_text.h"

namespace lastword::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DecodedText Decode(std::string_view text, TableSpec spec = DiscoveredSpec("t")) {
  return DecodeText(Format::kSequenced, {std::move(spec)}, text);
}
void ExpectStop(const DecodedText& decoded, ErrorKind kind, std::string_view message) {
  ASSERT_TRUE(decoded.error.has_value()) << "no error";
  EXPECT_EQ(NameOf(decoded.error->kind), NameOf(kind)) << ToString(*decoded.error);
  EXPECT_THAT(decoded.error->message, HasSubstr(std::string(message)));
  EXPECT_TRUE(decoded.changes.empty());
}

TEST(Sequenced, TheSequenceNumberIsTheVersion) {
  const DecodedText decoded = Decode(R"({"seq":1,"key":"merchant-7","op":"upsert","value":10}
{"op":"delete","key":"merchant-7","seq":3}
{"seq":-2,"key":"merchant-7","op":"upsert","value":20,"note":"ignored"}
{"seq":4,"key":"merchant-7","op":"delete","value":null}
{"seq":5,"key":"merchant-8","op":"upsert","value":null}
)");
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(
      decoded.changes,
      ElementsAre(R"(+ t 9223372036854775809/0/0 key=merchant-7 {"key":"merchant-7","value":10})",
                  "- t 9223372036854775811/0/0 key=merchant-7",
                  R"(+ t 9223372036854775806/0/0 key=merchant-7 {"key":"merchant-7","value":20})",
                  "- t 9223372036854775812/0/0 key=merchant-7",
                  R"(+ t 9223372036854775813/0/0 key=merchant-8 {"key":"merchant-8"})"));
}

TEST(Sequenced, AnObjectGivesAColumnAField) {
  const DecodedText decoded = Decode(R"({"seq":1,"key":7,"op":"upsert","value":{"a":1,"b":"x"}}
{"seq":2,"key":7,"op":"upsert","value":{}}
{"seq":3,"key":7,"op":"upsert","value":{ "c" : [1] }})");
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ t 9223372036854775809/0/0 key=7 {"key":7,"a":1,"b":"x"})",
                          R"(+ t 9223372036854775810/0/0 key=7 {"key":7})",
                          R"(+ t 9223372036854775811/0/0 key=7 {"key":7,"c":[1]})"));
}

TEST(Sequenced, ADeclaredJsonColumnTakesTheWholeObject) {
  const DecodedText decoded = Decode(R"({"seq":1,"key":7,"op":"upsert","value":{"a": 1}})",
                                     SpecOf("t", {{"key", "int64"}, {"value", "json"}}, {"key"}));
  EXPECT_THAT(decoded.changes,
              ElementsAre(R"(+ t 9223372036854775809/0/0 key=7 {"key":7,"value":"{\"a\": 1}"})"));
}

TEST(Sequenced, ADeleteFirstDiscoversTheKey) {
  const DecodedText decoded = Decode(R"({"seq":3,"key":"k","op":"delete"}
{"seq":2,"key":"k","op":"upsert","value":1})");
  EXPECT_FALSE(decoded.error) << ToString(*decoded.error);
  EXPECT_EQ(decoded.changes.size(), 2u);
}

TEST(Sequenced, AnOperationThatIsNoneStops) {
  ExpectStop(Decode(R"({"seq":1,"key":"k","op":"insert","value":1})"), ErrorKind::kInvalidOperation,
             "`insert`");
  ExpectStop(Decode(R"({"seq":1,"key":"k","value":1})"), ErrorKind::kInvalidOperation, "op");
  ExpectStop(Decode(R"({"seq":1,"key":"k","op":"delete","value":1})"), ErrorKind::kInvalidOperation,
             "carries a value");
  ExpectStop(Decode(R"({"seq":1,"key":"k","op":"delete","value":false})"),
             ErrorKind::kInvalidOperation, "carries a value");
}

TEST(Sequenced, WhatHasNoSequenceNumberStops) {
  ExpectStop(Decode(R"({"key":"k","op":"upsert","value":1})"), ErrorKind::kNoVersion, "`seq`");
  ExpectStop(Decode(R"({"seq":null,"key":"k","op":"upsert","value":1})"), ErrorKind::kNoVersion,
             "`seq`");
  ExpectStop(Decode(R"({"seq":"1","key":"k","op":"upsert"})"), ErrorKind::kTypeMismatch, "a text");
  ExpectStop(Decode(R"({"seq":1.5,"key":"k","op":"upsert"})"), ErrorKind::kTypeMismatch, "whole");
  ExpectStop(Decode(R"({"seq":9223372036854775808,"key":"k","op":"upsert"})"),
             ErrorKind::kOutOfRange, "64-bit");
}

TEST(Sequenced, WhatHasNoKeyStops) {
  ExpectStop(Decode(R"({"seq":1,"op":"upsert","value":1})"), ErrorKind::kMissingKey, "`key`");
  ExpectStop(Decode(R"({"seq":1,"key":null,"op":"upsert","value":1})"), ErrorKind::kNullInKey,
             "`key`");
  ExpectStop(Decode(R"({"seq":1,"key":{"a":1},"op":"upsert","value":1})"), ErrorKind::kTypeMismatch,
             "an object");
  ExpectStop(Decode(R"({"seq":1,"key":"a","key":"b","op":"upsert"})"), ErrorKind::kAmbiguousKey,
             "`key`");
  ExpectStop(Decode(R"({"seq":1,"key":"a","op":"upsert","value":{"key":"b"}})"),
             ErrorKind::kAmbiguousKey, "`key`");
}

TEST(Sequenced, WhatIsNoRecordStops) {
  ExpectStop(Decode("[1]"), ErrorKind::kBadEnvelope, "a list");
  ExpectStop(Decode(R"({"seq":1,"seq":2,"key":"k","op":"upsert"})"), ErrorKind::kBadJson, "`seq`");
  ExpectStop(Decode(R"({"seq":1,"key":"k","op":"upsert","value":{"a":NaN}})"), ErrorKind::kBadJson,
             "NaN");
}

}  // namespace
}  // namespace lastword::codec
