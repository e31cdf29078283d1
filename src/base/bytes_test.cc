#include "base/bytes.h"

#include <gtest/gtest.h>

namespace lastword {
namespace {

TEST(Bytes, WhatIsWrittenIsRead) {
  std::string bytes;
  ByteWriter out(bytes);
  out.Put(uint8_t{7});
  out.Put(uint64_t{1} << 40);
  out.PutBytes("key");
  out.PutRaw("xy");
  ByteReader in(bytes);
  EXPECT_EQ(in.Get<uint8_t>(), 7);
  EXPECT_EQ(in.Get<uint64_t>(), uint64_t{1} << 40);
  EXPECT_EQ(in.GetBytes(), "key");
  EXPECT_EQ(in.left(), 2u);
  EXPECT_EQ(in.GetRaw(2), "xy");
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(in.at_end());
}

TEST(Bytes, EveryCutIsNoticed) {
  std::string bytes;
  ByteWriter out(bytes);
  out.Put(uint32_t{1});
  out.PutBytes("value");
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(std::string_view(bytes).substr(0, size));
    in.Get<uint32_t>();
    in.GetBytes();
    EXPECT_FALSE(in.ok()) << size;
    EXPECT_EQ(in.Get<uint8_t>(), 0);
  }
}

}  // namespace
}  // namespace lastword
