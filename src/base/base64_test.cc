#include "base/base64.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

using std::string_literals::operator""s;

TEST(Base64, KnownTexts) {
  // RFC 4648, section 10.
  const std::pair<std::string, std::string> pairs[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xff\xef\xbe"s, "/+++"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_THAT(DecodeBase64(text), IsOkAnd(bytes));
  }
}

TEST(Base64, EveryLengthComesBack) {
  Random random(1);
  for (size_t size = 0; size < 100; ++size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random.Next());
    EXPECT_THAT(DecodeBase64(EncodeBase64(bytes)), IsOkAnd(bytes));
  }
}

TEST(Base64, IsStrict) {
  for (const std::string_view text : {"Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9v\n", " Zm9v",
                                      "Zm-v", "Zm_v", "Zh==", "Zm9=", "Zg=a", "Z=Zg"}) {
    EXPECT_THAT(DecodeBase64(text), IsError(ErrorKind::kTypeMismatch)) << text;
  }
}

}  // namespace
}  // namespace lastword
