#include "capi/batch_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "capi/test_rows.h"
#include "test/status_matchers.h"

namespace lastword::capi {
namespace {

constexpr const char* kArrivalOptions = R"({"columns": [
    {"name": "k", "type": "int64"}, {"name": "v", "type": "string"}], "key": ["k"]})";

std::string SequenceOptions(const std::string& deletes) {
  return R"({"columns": [{"name": "k", "type": "int64"}, {"name": "v", "type": "string"},
      {"name": "seq", "type": "int64"}], "key": ["k"],
      "versions": {"columns": ["seq"], "deletes": ")" +
         deletes + "\"}}";
}

struct OneState {
  Kind kind;
  bool lone;
  Version version;
  std::string value;
  friend bool operator==(const OneState&, const OneState&) = default;
};

using States = std::map<std::string, std::vector<OneState>>;  // by canonical key, in order

States Decoded(const std::string& bytes) {
  States states;
  SealedChanges sealed;
  const Status decoded = SealedDecoder().Decode(bytes, sealed);
  EXPECT_THAT(decoded, IsOk());
  if (!decoded.ok()) return states;
  for (const ChangeHead& head : sealed.changes.heads) {
    OneState state{head.kind, (head.flags & kUpdateBefore) != 0, head.version, ""};
    if (head.row != kNone) state.value = sealed.changes.rows.columns[1].Bytes(head.row);
    states[std::string(sealed.changes.KeyOf(head))].push_back(state);
  }
  return states;
}

std::vector<OneState> OnlyKey(BatchWriter& writer) {
  const auto bytes = writer.Seal();
  EXPECT_THAT(bytes, IsOk());
  const States states = Decoded(*bytes);
  EXPECT_EQ(states.size(), 1u);
  return states.begin()->second;
}

std::vector<OneState> Collapse(const std::string& options, const std::vector<std::string>& rows) {
  BatchWriter writer(*ParseWriterOptions(options));
  std::string all;
  for (const std::string& row : rows) all += row;
  EXPECT_THAT(writer.Add(all, rows.size()), IsOk());
  return OnlyKey(writer);
}

OneState Upsert(const std::string& value) {
  return {Kind::kUpsert, false, {}, value};
}
OneState Removal(bool lone) {
  return {Kind::kDelete, lone, {}, ""};
}

TEST(BatchWriter, ArrivalLastRowWins) {
  const auto collapse = [](const std::string& kinds) {
    std::vector<std::string> rows;
    for (size_t i = 0; i < kinds.size(); ++i)
      rows.push_back(KvRow(kinds[i], 1, "v" + std::to_string(i)));
    return Collapse(kArrivalOptions, rows);
  };
  using List = std::vector<OneState>;
  EXPECT_EQ(collapse({kI}), List{Upsert("v0")});
  EXPECT_EQ(collapse({kI, kD}), List{Removal(false)});
  EXPECT_EQ(collapse({kD, kI}), List{Upsert("v1")});
  EXPECT_EQ(collapse({kUa, kD}), List{Removal(false)});
  EXPECT_EQ(collapse({kUa, kUa}), List{Upsert("v1")});
  EXPECT_EQ(collapse({kD, kUa}), List{Upsert("v1")});
  EXPECT_EQ(collapse({kI, kUb, kUa}), List{Upsert("v2")});
  // What a -U alone means is the table's to decide: both it and what it follows are kept.
  EXPECT_EQ(collapse({kUb}), List{Removal(true)});
  EXPECT_EQ(collapse({kI, kUb}), (List{Upsert("v0"), Removal(true)}));
  EXPECT_EQ(collapse({kD, kUb}), (List{Removal(false), Removal(true)}));
}

TEST(BatchWriter, NothingAddedNothingSealed) {
  BatchWriter writer(*ParseWriterOptions(kArrivalOptions));
  EXPECT_THAT(writer.Seal(), IsOkAnd(std::string()));
  ASSERT_THAT(writer.Add(KvRow(kI, 1, "a"), 1), IsOk());
  EXPECT_THAT(writer.Seal(), IsOkAnd(testing::Not(std::string())));
  EXPECT_THAT(writer.Seal(), IsOkAnd(std::string()));
}

TEST(BatchWriter, AnyOrderOfVersionedChangesIsOneState) {
  std::vector<std::string> rows = {KvSeqRow(kI, 1, "a", -5), KvSeqRow(kUb, 1, "a", 3),
                                   KvSeqRow(kUa, 1, "b", 3), KvSeqRow(kD, 1, "b", 9),
                                   KvSeqRow(kI, 1, "a", -5)};
  std::sort(rows.begin(), rows.end());
  int orders = 0;
  do {
    const std::vector<OneState> states = Collapse(SequenceOptions("own"), rows);
    ASSERT_EQ(states.size(), 1u);
    EXPECT_EQ(states[0].kind, Kind::kDelete);
    EXPECT_FALSE(states[0].lone);
    EXPECT_EQ(states[0].version.hi, (uint64_t{1} << 63) + 9);
    ++orders;
  } while (std::next_permutation(rows.begin(), rows.end()));
  EXPECT_EQ(orders, 60);
}

TEST(BatchWriter, RemovalsThatCarryTheRowsSequenceRankAboveIt) {
  const std::string insert = KvSeqRow(kI, 1, "a", 5);
  const std::string removal = KvSeqRow(kD, 1, "a", 5);
  for (const auto& rows : {std::vector{insert, removal}, std::vector{removal, insert}}) {
    const std::vector<OneState> states = Collapse(SequenceOptions("row"), rows);
    ASSERT_EQ(states.size(), 1u);
    EXPECT_EQ(states[0].kind, Kind::kDelete);
    EXPECT_EQ(states[0].version.lo, 1u);
  }
  const std::vector<OneState> again =
      Collapse(SequenceOptions("row"), {removal, KvSeqRow(kI, 1, "b", 6), insert});
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].value, "b");
}

TEST(BatchWriter, ContradictionsAreKeptForTheTable) {
  const std::string a = KvSeqRow(kI, 1, "a", 5);
  const std::string b = KvSeqRow(kUa, 1, "b", 5);
  const std::vector<OneState> states = Collapse(SequenceOptions("own"), {a, a, b, a, b});
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].value, "a");  // The first one first: it is the one that stays.
  EXPECT_EQ(states[1].value, "b");
  EXPECT_EQ(states[0].version, states[1].version);
  // A later version does not make it unsaid, a delete at the same version is one as well.
  const std::string gone = KvSeqRow(kD, 1, "b", 5);
  EXPECT_EQ(Collapse(SequenceOptions("own"), {a, gone, KvSeqRow(kUa, 1, "c", 6)}).size(), 3u);
}

TEST(BatchWriter, LoneUpdateBeforeOfAVersion) {
  const auto states =
      Collapse(SequenceOptions("own"), {KvSeqRow(kI, 1, "a", 5), KvSeqRow(kUb, 1, "a", 7)});
  ASSERT_EQ(states.size(), 2u);
  EXPECT_TRUE(states[1].lone);
  // At or below the state it was superseded, also when it comes late.
  EXPECT_EQ(
      Collapse(SequenceOptions("own"), {KvSeqRow(kUa, 1, "b", 7), KvSeqRow(kUb, 1, "a", 7)}).size(),
      1u);
}

TEST(BatchWriter, NullSequenceIsNoVersion) {
  BatchWriter writer(*ParseWriterOptions(SequenceOptions("own")));
  const std::string row = std::string(1, kD) + '\6' + Raw(int64_t{1});
  EXPECT_THAT(writer.Add(row, 1), IsErrorIn(ErrorKind::kNoVersion, "seq"));
  EXPECT_THAT(writer.Seal(), IsError(ErrorKind::kUsage));  // An incomplete batch is never sealed.
}

TEST(BatchWriter, SuspectedInversions) {
  BatchWriter writer(*ParseWriterOptions(kArrivalOptions));
  ASSERT_THAT(writer.Add(KvRow(kI, 1, "a") + KvRow(kUb, 1, "a") + KvRow(kUa, 1, "b") +
                             KvRow(kD, 1, "b") + KvRow(kI, 1, "c"),
                         5),
              IsOk());
  EXPECT_EQ(writer.counts().suspected_inversions, 0u);
  ASSERT_THAT(writer.Add(KvRow(kI, 1, "d") + KvRow(kD, 1, "d") + KvRow(kD, 1, "d"), 3), IsOk());
  EXPECT_EQ(writer.counts().suspected_inversions, 2u);
}

TEST(BatchWriter, SuspectedInversionsBetweenBatches) {
  BatchWriter writer(*ParseWriterOptions(kArrivalOptions));
  const auto batch = [&writer](const std::vector<std::string>& rows) {
    std::string all;
    for (const std::string& row : rows) all += row;
    EXPECT_THAT(writer.Add(all, rows.size()), IsOk());
    EXPECT_THAT(writer.Seal(), IsOkAnd(testing::Not(std::string())));
    return writer.counts().suspected_inversions;
  };
  EXPECT_EQ(batch({KvRow(kI, 1, "a"), KvRow(kI, 2, "a"), KvRow(kI, 3, "a"), KvRow(kUb, 3, "a")}),
            0u);
  // As a changelog goes on, in the next batch and in one behind batches of other keys.
  EXPECT_EQ(batch({KvRow(kUb, 1, "a"), KvRow(kUa, 1, "b"), KvRow(kUa, 3, "b")}), 0u);
  EXPECT_EQ(batch({KvRow(kD, 2, "a"), KvRow(kI, 4, "a")}), 0u);
  EXPECT_EQ(batch({KvRow(kI, 2, "b"), KvRow(kD, 1, "b")}), 0u);
  // Inverted: +I on rows that live, removals of one that is gone.
  EXPECT_EQ(batch({KvRow(kI, 2, "c"), KvRow(kI, 3, "c")}), 2u);
  EXPECT_EQ(batch({KvRow(kD, 1, "b")}), 3u);
  EXPECT_EQ(batch({KvRow(kUb, 1, "b")}), 4u);
}

TEST(BatchWriter, UpdatesWithVersionsAreNoInversions) {
  BatchWriter writer(*ParseWriterOptions(SequenceOptions("own")));
  std::string all = KvSeqRow(kI, 1, "a", 1);
  for (int64_t i = 2; i < 6; ++i) all += KvSeqRow(kUb, 1, "a", i) + KvSeqRow(kUa, 1, "a", i);
  ASSERT_THAT(writer.Add(all, 9), IsOk());
  EXPECT_EQ(writer.counts().suspected_inversions, 0u);
}

// Against a map, with far more superseded rows than rows.
TEST(BatchWriter, RandomChangelogEqualsAMap) {
  Random random(3);
  BatchWriter writer(*ParseWriterOptions(kArrivalOptions));
  for (int batch = 0; batch < 2; ++batch) {
    std::map<int64_t, std::optional<std::string>> expected;
    for (int i = 0; i < 200; ++i) {
      std::string rows;
      for (int j = 0; j < 1000; ++j) {
        const int64_t key = static_cast<int64_t>(random.Below(500));
        if (random.OneIn(4)) {
          rows += KvRow(kD, key, {});
          expected[key] = std::nullopt;
        } else {
          const std::string value = std::to_string(random.Next());
          rows += KvRow(kUa, key, value);
          expected[key] = value;
        }
      }
      ASSERT_THAT(writer.Add(rows, 1000), IsOk());
      ASSERT_LT(writer.bytes_held(), 500u * 200);
    }
    const States states = Decoded(*writer.Seal());
    ASSERT_EQ(states.size(), expected.size());
    for (const auto& [key, value] : expected) {
      std::string canonical = "\1i" + Raw(key);
      const auto& held = states.at(canonical);
      ASSERT_EQ(held.size(), 1u);
      EXPECT_EQ(held[0], value ? Upsert(*value) : Removal(false));
    }
  }
}

TEST(BatchWriter, RowsWithoutAKeyEachGetAnIdentity) {
  BatchWriter writer(*ParseWriterOptions(R"({"columns": [
      {"name": "k", "type": "int64"}, {"name": "v", "type": "string"}], "append_key": "id"})"));
  ASSERT_THAT(writer.Add(KvRow(kI, 1, "a") + KvRow(kI, 1, "a"), 2), IsOk());
  const std::string first = *writer.Seal();
  EXPECT_EQ(Decoded(first).size(), 2u);
  ASSERT_THAT(writer.Add(KvRow(kI, 1, "a"), 1), IsOk());
  for (const auto& [key, states] : Decoded(*writer.Seal()))
    EXPECT_EQ(Decoded(first).count(key), 0u);
  EXPECT_THAT(writer.Add(KvRow(kUa, 1, "a"), 1), IsError(ErrorKind::kInvalidOperation));
}

TEST(BatchWriter, CutsWhatItSealsWithoutSplittingAKey) {
  std::string options = kArrivalOptions;
  options.insert(1, R"("sealed_bytes_max": 4000, )");
  BatchWriter writer(*ParseWriterOptions(options));
  constexpr int64_t kKeys = 500;
  std::string all;
  for (int64_t key = 0; key < kKeys; ++key) all += KvRow(kI, key, "first");
  for (int64_t key = 0; key < kKeys; ++key) all += KvRow(key % 5 == 0 ? kD : kUa, key, "second");
  ASSERT_THAT(writer.Add(all, 2 * kKeys), IsOk());
  States states;
  size_t parts = 0;
  for (;; ++parts) {
    const auto part = writer.Seal();
    ASSERT_THAT(part, IsOk());
    if (part->empty()) break;
    EXPECT_LT(part->size(), 6000u);
    const States some = Decoded(*part);
    states.insert(some.begin(), some.end());
    if (parts == 0) {
      // What comes meanwhile is part of the next batch.
      ASSERT_THAT(writer.Add(KvRow(kI, kKeys, "next"), 1), IsOk());
    }
  }
  EXPECT_GT(parts, 5u);
  ASSERT_EQ(states.size(), static_cast<size_t>(kKeys + 1));
  size_t removed = 0;
  for (const auto& [key, list] : states) {
    ASSERT_EQ(list.size(), 1u);
    removed += list[0].kind == Kind::kDelete ? 1 : 0;
  }
  EXPECT_EQ(removed, static_cast<size_t>(kKeys / 5));
}

TEST(BatchWriter, APartHoldsAKeyWhereNothingFits) {
  std::string options = kArrivalOptions;
  options.insert(1, R"("sealed_bytes_max": 0, )");
  BatchWriter writer(*ParseWriterOptions(options));
  ASSERT_THAT(writer.Add(KvRow(kI, 1, "a") + KvRow(kI, 2, "b"), 2), IsOk());
  EXPECT_EQ(Decoded(*writer.Seal()).size(), 1u);
  EXPECT_EQ(writer.keys_held(), 1u);
  EXPECT_EQ(Decoded(*writer.Seal()).size(), 1u);
  EXPECT_EQ(*writer.Seal(), "");
  EXPECT_EQ(writer.keys_held(), 0u);
}

}  // namespace
}  // namespace lastword::capi
