#include "source/packing.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace lastword {
namespace {

std::string Noise(size_t size) {
  Random random(7);
  std::string noise;
  while (noise.size() < size) noise += static_cast<char>(random.Below(256));
  return noise;
}

TEST(Packing, GivesTheBytesBack) {
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string(5 << 20, 'x'), Noise(1 << 20)}) {
    const auto packed = Pack(bytes);
    ASSERT_TRUE(packed.ok());
    const auto unpacked = Unpack(*packed, bytes.size());
    ASSERT_TRUE(unpacked.has_value()) << bytes.size();
    EXPECT_EQ(unpacked->view(), bytes);
  }
}

TEST(Packing, WhatRepeatsGetsSmall) {
  const std::string once = Noise(1000);
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += once;
  EXPECT_LT(Pack(bytes)->size(), 2 * once.size());
}

TEST(Packing, AnotherSizeOrACutFrameIsNone) {
  const std::string bytes(1000, 'x');
  const std::string packed = *Pack(bytes);
  EXPECT_FALSE(Unpack(packed, 999).has_value());
  EXPECT_FALSE(Unpack(packed, 1001).has_value());
  EXPECT_FALSE(Unpack(packed, UINT64_MAX).has_value());
  EXPECT_FALSE(Unpack(packed.substr(0, packed.size() - 1), 1000).has_value());
  EXPECT_FALSE(Unpack(bytes, 1000).has_value());
}

}  // namespace
}  // namespace lastword
