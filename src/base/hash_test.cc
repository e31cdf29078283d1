// The hashes are persisted: these values never change.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace lastword {
namespace {

TEST(Hash, PinnedValues) {
  // XXH3 of nothing, as its specification's reference gives it.
  EXPECT_EQ(Hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(Hash128(""), (KeyHash{0x99aa06d3014798d8, 0x6001c324468d497f}));
}

TEST(Hash, PiecesHashLikeTheWhole) {
  Random random(2);
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(random.Next());
  for (int round = 0; round < 50; ++round) {
    Hasher128 hasher;
    for (size_t at = 0; at < bytes.size();) {
      const size_t piece = 1 + random.Below(700);
      hasher.Update(std::string_view(bytes).substr(at, piece));
      at += piece;
    }
    EXPECT_EQ(hasher.Digest(), Hash128(bytes));
  }
}

TEST(Hash, ManyAtOnceHashLikeOneByOne) {
  Random random(3);
  for (const size_t size : {0, 1, 3, 8, 10, 18, 129, 300}) {
    std::string bytes;
    while (bytes.size() < size * 7) bytes += static_cast<char>(random.Next());
    KeyHash hashes[7];
    Hash128Each(bytes, 7, hashes);
    for (size_t i = 0; i < 7; ++i) EXPECT_EQ(hashes[i], Hash128(bytes.substr(i * size, size)));
  }
  Hash128Each("", 0, nullptr);
}

TEST(Hash, ACopyGoesItsOwnWay) {
  Hasher128 hasher;
  hasher.Update("ab");
  Hasher128 copy = hasher;
  copy.Update("c");
  EXPECT_EQ(copy.Digest(), Hash128("abc"));
  EXPECT_EQ(hasher.Digest(), Hash128("ab"));
}

}  // namespace
}  // namespace lastword
