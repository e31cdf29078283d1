#include "codec/json_cursor.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace lastword::codec {
namespace {

/// Checks all of `text` as one JSON value; "" or why it is none.
std::string Check(std::string_view text) {
  JsonIndex index;
  if (!index.Index(text)) return index.why();
  if (index.doc().end == 0) return "blank";
  JsonFault fault;
  uint32_t token = 0;
  if (!SkipChecked(index.doc(), token, fault)) return fault.why;
  return token == index.doc().end ? "" : "more follows";
}

TEST(JsonCursor, TakesWhatJsonHas) {
  for (const char* text :
       {"null", "true", "false", "0", "-0", "12", "-1.5e+10", "1E5", "\"\"", "\"a\\u00e9\\n\"",
        "[]", "{}", "[1,[2,{}],\"x\"]", " { \"a\" : [ ] , \"b\" : { \"c\" : null } } ",
        "\"\xC3\xA9\"", "\"\\ud83d\\ude00\""}) {
    EXPECT_EQ(Check(text), "") << text;
  }
}

TEST(JsonCursor, RefusesWhatJsonHasNot) {
  for (const char* text : {"NaN",         "Infinity",    "-",
                           "01",          "1.",          ".5",
                           "1e",          "+1",          "tru",
                           "truex",       "nullx",       "'a'",
                           "{a:1}",       "{\"a\" 1}",   "{\"a\":1,}",
                           "[1,]",        "[1 2]",       "[,1]",
                           "{,}",         "{\"a\":}",    "{\"a\":1",
                           "[1",          "\"a",         "1 2",
                           "{} {}",       "\"a\"b",      "\"a\"\"b\"",
                           "1\"a\"",      "\"\\x\"",     "\"\\u12\"",
                           "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"",
                           "\"\xFF\"",    "\"a\tb\"",    "{\"a\":1]",
                           "[1}",         "]",           "}",
                           ":",           ",",           "0x10",
                           "1_000",       "{\"a\":NaN}", "[\"a\"1]"}) {
    EXPECT_NE(Check(text), "") << text;
  }
}

TEST(JsonCursor, RefusesDeepNestingWithoutRecursingAway) {
  const std::string deep(100'000, '[');
  EXPECT_NE(Check(deep + std::string(100'000, ']')), "");
  const std::string fine(kNestingMax, '[');
  EXPECT_EQ(Check(fine + std::string(kNestingMax, ']')), "");
}

TEST(JsonCursor, ReadsStringsWithAndWithoutEscapes) {
  JsonIndex index;
  ASSERT_TRUE(index.Index(R"(["plain","tab\t\"q\"\\\/","\u00e9\ud83d\ude00",""])"));
  std::vector<std::string> read;
  JsonFault fault;
  std::string scratch;
  std::string_view text;
  Elements elements(index.doc(), 0, fault);
  while (elements.Next()) {
    ASSERT_TRUE(ReadString(index.doc(), elements.value(), scratch, text, fault));
    read.emplace_back(text);
    elements.Done(elements.value() + 1);
  }
  EXPECT_TRUE(elements.ok());
  EXPECT_EQ(read, (std::vector<std::string>{"plain", "tab\t\"q\"\\/", "é😀", ""}));
}

TEST(JsonCursor, MemberNamesAreDecoded) {
  JsonIndex index;
  ASSERT_TRUE(index.Index(R"({"\u0069d":1,"a b":2})"));
  JsonFault fault;
  std::vector<std::string> names;
  Members members(index.doc(), 0, fault);
  while (members.Next()) {
    names.emplace_back(members.name());
    members.Done(members.value() + 1);
  }
  EXPECT_TRUE(members.ok());
  EXPECT_EQ(names, (std::vector<std::string>{"id", "a b"}));
}

TEST(JsonCursor, RawTextIsTheValueWithoutBlanksAround) {
  JsonIndex index;
  ASSERT_TRUE(index.Index(R"({"a" : { "b" : [1, 2] } , "c":  12.50  })"));
  JsonFault fault;
  std::vector<std::string> raw;
  Members members(index.doc(), 0, fault);
  while (members.Next()) {
    const uint32_t behind = SkipUnchecked(index.doc(), members.value());
    raw.emplace_back(RawText(index.doc(), members.value(), behind));
    members.Done(behind);
  }
  EXPECT_EQ(raw, (std::vector<std::string>{R"({ "b" : [1, 2] })", "12.50"}));
}

TEST(JsonCursor, GuessesOnlyTheNameThatIsWritten) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string name(size, 'n');
    const WrittenName guess(name);
    EXPECT_EQ(guess.name(), name);
    const auto guessed = [&](const std::string& object) {
      JsonIndex index;
      EXPECT_TRUE(index.Index(object)) << object;
      JsonFault fault;
      Members members(index.doc(), 0, fault);
      const bool is = members.NextIs(guess);
      EXPECT_EQ(members.Next() && members.ok(), !is) << "what was refused is there still";
      return is;
    };
    EXPECT_TRUE(guessed("{\"" + name + "\":1}")) << size;
    EXPECT_FALSE(guessed("{\"" + name + "n\":1}")) << size;
    EXPECT_FALSE(guessed("{\"" + name + "\" :1}")) << size;
    for (size_t i = 0; i < size; ++i) {
      std::string other = name;
      other[i] = 'm';
      EXPECT_FALSE(guessed("{\"" + other + "\":1}")) << size << " " << i;
    }
  }
}

TEST(JsonCursor, ReadsAShortIntegerOrNothing) {
  const auto read = [](const std::string& text) -> std::optional<int64_t> {
    const std::string list = "[" + text + "]";
    JsonIndex index;
    EXPECT_TRUE(index.Index(list)) << text;
    int64_t value = 0;
    if (!ReadShortInteger(index.doc(), 1, value)) return std::nullopt;
    return value;
  };
  EXPECT_EQ(read("0"), 0);
  EXPECT_EQ(read("-0"), 0);
  EXPECT_EQ(read("-17"), -17);
  EXPECT_EQ(read("999999999999999999"), 999999999999999999);
  EXPECT_EQ(read("-999999999999999999"), -999999999999999999);
  for (const char* other :
       {"1000000000000000000", "9223372036854775808", "01", "-01", "00", "-", "1.0", "1e2", "1a",
        "1 ", "+1", "--1", "1-", "null", "\"1\"", "", "{}"}) {
    EXPECT_EQ(read(other), std::nullopt) << other;
  }
}

TEST(JsonCursor, SkipsNullOnlyWhereItIsOne) {
  for (const auto& [text, is_null] : std::vector<std::pair<std::string, bool>>{
           {"null", true}, {"nulL", false}, {"nul", false}, {"nulls", false}, {"none", false}}) {
    const std::string list = "[" + text + "]";
    JsonIndex index;
    ASSERT_TRUE(index.Index(list));
    JsonFault fault;
    uint32_t token = 1;
    EXPECT_EQ(SkipChecked(index.doc(), token, fault), is_null) << text;
    EXPECT_EQ(token, is_null ? 2 : 1) << text;
  }
}

TEST(JsonCursor, FindsABackslashAnywhere) {
  for (size_t size = 0; size < 100; ++size) {
    std::string text(size, '[');
    EXPECT_FALSE(HasBackslash(text)) << size;
    for (size_t i = 0; i < size; ++i) {
      text[i] = '\\';
      EXPECT_TRUE(HasBackslash(text)) << size << " " << i;
      text[i] = ']';
      EXPECT_FALSE(HasBackslash(text)) << size << " " << i;
    }
  }
}

TEST(JsonCursor, ABlankTextHasNoTokens) {
  JsonIndex index;
  for (const char* text : {"", "   ", "\r\n\t"}) {
    EXPECT_TRUE(index.Index(text)) << text;
    EXPECT_EQ(index.doc().end, 0u);
  }
}

TEST(JsonCursor, KeepsItsAnswersWhenReusedForLargerTexts) {
  JsonIndex index;
  for (size_t size : {10u, 10'000u, 3'000'000u, 5u}) {
    const std::string text = "\"" + std::string(size, 'x') + "\"";
    ASSERT_TRUE(index.Index(text));
    EXPECT_EQ(index.doc().Scalar(0).size(), size + 2);
  }
}

}  // namespace
}  // namespace lastword::codec
