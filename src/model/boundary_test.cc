#include "model/boundary.h"

#include <gtest/gtest.h>

namespace lastword {
namespace {

TEST(ParseBoundary, AnLsnExcludesTheEventsAtIt) {
  EXPECT_EQ(*ParseBoundary("lsn:0/64"), (Version{0, 99, UINT64_MAX, UINT64_MAX}));
  EXPECT_EQ(*ParseBoundary("lsn:0/0"), (Version{0, 0, UINT64_MAX, UINT64_MAX}));
}

TEST(ParseBoundary, OtherFormsAreThatVersion) {
  EXPECT_EQ(*ParseBoundary("1/2/3/4"), (Version{1, 2, 3, 4}));
  EXPECT_EQ(*ParseBoundary("seq:3"), *ParseVersion("seq:3"));
  EXPECT_FALSE(ParseBoundary("yesterday").ok());
}

}  // namespace
}  // namespace lastword
