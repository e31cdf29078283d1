#include "capi/row_store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"

namespace lastword::capi {
namespace {

std::string Row(Random& random, uint64_t size) {
  return std::string(size, static_cast<char>('a' + random.Below(26)));
}

TEST(RowStore, HoldsWhatWasPutLast) {
  Random random(7);
  RowStore store;
  for (int round = 0; round < 3; ++round) {
    std::map<uint64_t, std::pair<StoredRow, std::string>> rows;
    for (int i = 0; i < 20000; ++i) {
      auto& [place, held] = rows[random.Below(300)];
      if (random.OneIn(5)) {
        store.Drop(place);
        held.clear();
      } else {
        // Small ones mostly, at times one that takes a place of its own.
        held = Row(random, 1 + random.Below(random.OneIn(50) ? 300'000 : 300));
        store.Put(held, place);
      }
    }
    for (const auto& [key, row] : rows) {
      EXPECT_EQ(row.first.empty(), row.second.empty());
      if (!row.second.empty()) {
        EXPECT_EQ(row.first.bytes(), row.second);
      }
    }
    store.Clear();
    EXPECT_EQ(store.bytes_used(), 0u);
  }
}

TEST(RowStore, ARowThatFitsTakesNothing) {
  RowStore store;
  StoredRow row;
  store.Put(std::string(100, 'a'), row);
  const uint64_t used = store.bytes_used();
  for (size_t size = 1; size <= 112; ++size) store.Put(std::string(size, 'b'), row);
  EXPECT_EQ(store.bytes_used(), used);
  EXPECT_EQ(row.bytes(), std::string(112, 'b'));
}

TEST(RowStore, WhatIsGivenBackIsUsedAgain) {
  RowStore store;
  StoredRow dropped, next;
  for (const size_t size : {1u, 128u, 129u, 1000u, 100'000u, 3'000'000u}) {
    store.Put(std::string(size, 'a'), dropped);
    const uint64_t used = store.bytes_used();
    store.Drop(dropped);
    store.Put(std::string(size, 'b'), next);
    EXPECT_EQ(store.bytes_used(), used) << size;
    EXPECT_EQ(next.bytes(), std::string(size, 'b'));
    next = StoredRow();
  }
}

}  // namespace
}  // namespace lastword::capi
