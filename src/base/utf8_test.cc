#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace lastword {
namespace {

TEST(Utf8, TakesWellFormedText) {
  for (const std::string text :
       {"", "plain ascii of some length", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
        "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF", "12345678\xC3\xA9"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
}

TEST(Utf8, RefusesTheRest) {
  for (const std::string text :
       {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "\xE2\x28\xA1", "1234567\xC3",
        "12345678\x80"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

// Wherever it stands, beside as much ASCII as may be skipped at once.
TEST(Utf8, SeesOneByteAmongMany) {
  for (size_t size = 1; size < 80; ++size) {
    for (size_t i = 0; i < size; ++i) {
      std::string text(size, 'a');
      EXPECT_TRUE(IsUtf8(text));
      text[i] = '\x80';
      EXPECT_FALSE(IsUtf8(text)) << size << " " << i;
      text[i] = '\xC3';
      if (i + 1 < size) text[i + 1] = '\xA9';
      EXPECT_EQ(IsUtf8(text), i + 1 < size) << size << " " << i;
    }
  }
}

}  // namespace
}  // namespace lastword
