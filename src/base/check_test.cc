#include "base/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/status_matchers.h"

namespace lastword {
namespace {

Status Halve(int number) {
  LW_CHECK(number % 2 == 0, "only even numbers have a half");
  return Ok{};
}

TEST(Check, ABrokenLawIsADefectAndTheProcessLives) {
  EXPECT_THAT(Halve(4), IsOk());
  const Status broken = Halve(3);
  ASSERT_THAT(broken, IsError(ErrorKind::kInternal));
  EXPECT_THAT(broken.error().message, testing::StartsWith("only even numbers have a half"));
  EXPECT_THAT(broken.error().message, testing::HasSubstr("number % 2 == 0"));
  // A path of the machine that built the program is nobody's business.
  EXPECT_THAT(broken.error().message, testing::HasSubstr("at check_test.cc:"));
}

}  // namespace
}  // namespace lastword
