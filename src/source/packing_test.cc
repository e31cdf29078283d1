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

std::string Packed(Packer& packer, std::string_view bytes) {
  ByteBuffer out;
  EXPECT_TRUE(packer.Pack(bytes, out).ok());
  return std::string(out.view());
}

TEST(Packing, GivesTheBytesBack) {
  Packer packer;
  ByteBuffer unpacked;
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string(5 << 20, 'x'), Noise(1 << 20)}) {
    ASSERT_TRUE(Unpack(Packed(packer, bytes), bytes.size(), unpacked)) << bytes.size();
    EXPECT_EQ(unpacked.view(), bytes);
  }
}

TEST(Packing, AppendsToWhatIsThere) {
  Packer packer;
  ByteBuffer out;
  out.Append("head");
  EXPECT_TRUE(packer.Pack("bytes", out).ok());
  EXPECT_EQ(out.view().substr(0, 4), "head");
  EXPECT_EQ(out.view().substr(4), Packed(packer, "bytes"));
}

TEST(Packing, WhatRepeatsGetsSmall) {
  const std::string once = Noise(1000);
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += once;
  Packer packer;
  EXPECT_LT(Packed(packer, bytes).size(), 2 * once.size());
}

TEST(Packing, AnotherSizeOrACutFrameIsNone) {
  const std::string bytes(1000, 'x');
  Packer packer;
  const std::string packed = Packed(packer, bytes);
  ByteBuffer unpacked;
  EXPECT_TRUE(Unpack(packed, 1000, unpacked));
  EXPECT_FALSE(Unpack(packed, 999, unpacked));
  EXPECT_FALSE(Unpack(packed, 1001, unpacked));
  EXPECT_FALSE(Unpack(packed, UINT64_MAX, unpacked));
  EXPECT_FALSE(Unpack(packed.substr(0, packed.size() - 1), 1000, unpacked));
  EXPECT_FALSE(Unpack(bytes, 1000, unpacked));
}

}  // namespace
}  // namespace lastword
