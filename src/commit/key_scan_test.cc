// The hash of a key read from storage is that of its canonical bytes, whatever way was taken to it.
#include "commit/key_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/random.h"
#include "model/key.h"
#include "model/version_columns.h"
#include "test/double/memory_dataset.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

Schema KeyOf(std::vector<TypeKind> kinds, bool nullable = false) {
  Schema schema;
  for (const TypeKind kind : kinds) {
    schema.key.push_back(static_cast<uint32_t>(schema.columns.size()));
    schema.nullable_key.push_back(nullable);
    schema.columns.push_back({"k" + std::to_string(schema.columns.size()), {kind}});
    schema.columns.back().type.precision = 10;
  }
  return schema;
}

void AppendRandom(ColumnData& column, Random& random) {
  if (FixedWidth(column.type()) == 0) {
    column.AppendBytes(std::string(random.Below(40), static_cast<char>('a' + random.Below(26))));
    return;
  }
  // Small and negative ones as well as any.
  uint64_t value[4] = {random.Next(), random.Next(), 0, 0};
  if (random.OneIn(3)) value[0] = random.Below(5) - 2;
  if (column.type().kind == TypeKind::kDecimal) value[1] = 0, value[0] %= 1'000'000;
  if (column.type().kind == TypeKind::kBool) value[0] %= 2;
  column.AppendFixedBytes(value);
}

void ExpectHashesOfKeys(const Schema& schema, const Rows& rows) {
  std::vector<KeyHash> hashes(3);
  ASSERT_THAT(KeyHasher(schema).Hash(rows, hashes), IsOk());
  ASSERT_EQ(hashes.size(), rows.size());
  for (uint64_t row = 0; row < rows.size(); ++row) {
    std::string key;
    ASSERT_THAT(AppendKey(schema, rows, row, key), IsOk());
    EXPECT_EQ(hashes[row], Hash128(key)) << row;
  }
}

TEST(KeyHasherTest, HashesTheBytesOfEveryKindOfKey) {
  Random random(3);
  for (int kind = 0; kind <= static_cast<int>(TypeKind::kVector); ++kind) {
    const auto type = static_cast<TypeKind>(kind);
    if (type == TypeKind::kList || type == TypeKind::kVector) continue;  // no keys
    SCOPED_TRACE(ToString(Type{type}));
    for (const auto& kinds : {std::vector{type}, std::vector{type, TypeKind::kInt64}}) {
      const Schema schema = KeyOf(kinds);
      Rows rows(schema);
      for (int i = 0; i < 600; ++i) {  // more than are hashed at a time
        for (ColumnData& column : rows.columns) AppendRandom(column, random);
      }
      ExpectHashesOfKeys(schema, rows);
    }
  }
}

TEST(KeyHasherTest, NullIsAKeyWhereItMayBe) {
  const Schema schema = KeyOf({TypeKind::kInt64}, true);
  Rows rows(schema);
  rows.columns[0].AppendFixed(std::numeric_limits<int64_t>::min());
  rows.columns[0].AppendNull();
  ExpectHashesOfKeys(schema, rows);
  std::vector<KeyHash> hashes;
  EXPECT_THAT(KeyHasher(KeyOf({TypeKind::kInt64})).Hash(rows, hashes),
              IsError(ErrorKind::kNullInKey));
}

TEST(ScanLiveEntriesTest, GivesEveryLiveRowOnceWithItsVersion) {
  MemoryStore store;
  const Schema schema = StoredSchema(KeyOf({TypeKind::kInt64}));
  const auto table = store.Create("t", schema, {});
  ASSERT_THAT(table, IsOk());
  Rows rows(schema);
  for (int64_t key = 0; key < 50; ++key) {
    const auto number = static_cast<uint64_t>(key);
    rows.columns[0].AppendFixed(key);
    rows.columns[1].AppendFixed(static_cast<uint32_t>(key + 1));
    for (size_t i = 2; i < 6; ++i) rows.columns[i].AppendFixed(number * 10 + i);
  }
  const std::vector<RowAddress> deleted = {7};
  ASSERT_THAT((*table)->Commit({.expected_version = 1, .new_rows = &rows}), IsOk());
  ASSERT_THAT((*table)->Commit({.expected_version = 2, .deleted = deleted}), IsOk());
  std::mutex mutex;
  std::vector<KeyEntry> found;
  const Status scanned = ScanLiveEntries(**table, [&](std::span<const KeyEntry> entries) -> Status {
    const std::lock_guard lock(mutex);
    found.insert(found.end(), entries.begin(), entries.end());
    return Ok{};
  });
  ASSERT_THAT(scanned, IsOk());
  std::sort(found.begin(), found.end(),
            [](const KeyEntry& a, const KeyEntry& b) { return a.address < b.address; });
  ASSERT_EQ(found.size(), 49u);
  for (const KeyEntry& entry : found) {
    const uint64_t number = entry.address & 0xffff'ffff;
    KeyEntry expected;
    std::string key;
    ASSERT_THAT(AppendKey(schema, rows, number, key), IsOk());
    expected.key = Hash128(key);
    expected.status = KeyStatus::kLive;
    expected.epoch = static_cast<uint32_t>(number + 1);
    expected.hi = number * 10 + 2, expected.mid = number * 10 + 3, expected.lo = number * 10 + 4;
    expected.digest = number * 10 + 5;
    expected.address = number;
    EXPECT_TRUE(entry == expected) << number;
  }
}

}  // namespace
}  // namespace lastword
