#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace lastword {
namespace {

TEST(Random, ASeedRepeatsItsSequence) {
  Random a(42), b(42), c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t next = a.Next();
    EXPECT_EQ(next, b.Next());
    differs |= next != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, BelowReachesEveryValueAndNoOther) {
  Random random(7);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.Below(10));
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(*seen.rbegin(), 9u);
  EXPECT_EQ(random.Below(0), 0u);
}

TEST(Random, IdsAreHexAndDiffer) {
  const std::string id = RandomId();
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(id, RandomId());
}

}  // namespace
}  // namespace lastword
