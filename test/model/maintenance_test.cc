// Compaction, clean-up and indexes through the whole engine: a table that is compacted all the time
// beside one that never is, fed with the same changes. Nothing that a table knows may tell them
// apart. Over the double, and with LW_WITH_LANCE over real storage.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/random.h"
#include "commit/ledger.h"
#include "model/engine_fixture.h"
#include "status_matchers.h"
#include "test/double/double_storage.h"
#ifdef LW_WITH_LANCE
#include "commit/lance_storage.h"
#endif

namespace lastword {
namespace {

#ifdef LW_WITH_LANCE
constexpr int kRounds = 60;
#else
constexpr int kRounds = 400;
#endif
constexpr int64_t kKeys = 40;

TableOptions Busy() {
  TableOptions options;
  options.on_conflict = OnConflict::kQuarantine;
  options.fsync = false;
  options.compaction_fragments = 2;
  options.keep_versions = 3;
  options.keep_for = std::chrono::seconds(0);
  options.keep_ratio = 0;
  return options;
}

TableOptions Idle() {
  TableOptions options = Busy();
  options.compaction = false;
  options.keep_versions = 0;
  return options;
}

class Maintenance : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef LW_WITH_LANCE
    x_folder = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
    ASSERT_NE(mkdtemp(x_folder.data()), nullptr);
    x_storage = MakeLanceStorage(Busy());
#else
    x_folder = "mem://";
    x_storage = std::make_unique<DoubleStorage>(x_store);
#endif
  }
  void TearDown() override {
    x_storage.reset();
#ifdef LW_WITH_LANCE
    if (!HasFailure()) std::filesystem::remove_all(x_folder);
#endif
  }

  EngineFixture Make(const std::string& name, const TableOptions& options) {
    return EngineFixture(UriOf(name), options, *x_storage);
  }
  std::string UriOf(const std::string& name) const {
    return x_folder + "/" + name + ".lance";
  }
  std::unique_ptr<Dataset> Raw(const std::string& uri) {
    auto opened = x_storage->OpenDataset(uri);
    EXPECT_THAT(opened, IsOk());
    return std::move(*opened);
  }

  std::string x_folder;
  MemoryStore x_store;
  std::unique_ptr<Storage> x_storage;
};

TestChange Upsert(int64_t key, uint64_t hi, std::optional<std::string> a) {
  TestChange change;
  change.key = key;
  change.version.hi = hi;
  change.a = std::move(a);
  return change;
}

TestChange Delete(int64_t key, uint64_t hi) {
  TestChange change;
  change.kind = Kind::kDelete;
  change.key = key;
  change.version.hi = hi;
  return change;
}

// Old and new versions, deletes, truncates, carried columns, halves of key changes that come late.
std::vector<TestChange> Draw(Random& random, uint64_t now) {
  std::vector<TestChange> changes;
  for (uint64_t i = 0; i < 1 + random.Below(6); ++i) {
    const auto key = static_cast<int64_t>(random.Below(kKeys));
    const uint64_t hi =
        now * 10 + i > 60 && random.OneIn(4) ? now * 10 + i - random.Below(60) : now * 10 + i;
    const uint64_t pick = random.Below(100);
    if (pick < 25) {
      changes.push_back(Delete(key, hi));
    } else if (pick < 27) {
      TestChange truncate;
      truncate.kind = Kind::kTruncate;
      truncate.version.hi = hi;
      changes.push_back(truncate);
    } else if (pick < 40) {
      TestChange half = random.OneIn(2) ? Delete(key, hi) : Upsert(key, hi, std::nullopt);
      half.other_key = (key + 1 + static_cast<int64_t>(random.Below(kKeys - 1))) % kKeys;
      half.flags = half.kind == Kind::kDelete ? kKeyChangeDelete : kKeyChangeUpsert;
      if (half.kind == Kind::kUpsert) half.unavailable = {"a"};
      changes.push_back(half);
    } else {
      changes.push_back(Upsert(key, hi, "v" + std::to_string(hi)));
      changes.back().b = std::to_string(pick);
    }
  }
  return changes;
}

// What two tables know, as far as it must be the same.
void ExpectSame(EngineFixture& busy, EngineFixture& idle) {
  const auto rows = busy.Table(), wanted = idle.Table();
  ASSERT_THAT(rows, IsOk());
  ASSERT_THAT(wanted, IsOk());
  ASSERT_EQ(*rows, *wanted);
  const auto status = busy.table().GetStatus(), other = idle.table().GetStatus();
  ASSERT_THAT(status, IsOk());
  ASSERT_THAT(other, IsOk());
  EXPECT_EQ(status->rows, other->rows);
  EXPECT_EQ(status->tombstones, other->tombstones);
  EXPECT_EQ(status->kept_rows, other->kept_rows);
  EXPECT_EQ(status->waiting_changes, other->waiting_changes);
  EXPECT_EQ(status->checkpoints, other->checkpoints);
  EXPECT_EQ(status->quarantined_keys, other->quarantined_keys);
  EXPECT_EQ(status->floors, other->floors);
  EXPECT_EQ(status->positions, other->positions);
  EXPECT_EQ(status->totals.applied, other->totals.applied);
  EXPECT_TRUE(status->foreign_changes.empty());
}

TEST_F(Maintenance, ChangesNothingThatATableKnows) {
  const uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  EngineFixture busy = Make("busy", Busy()), idle = Make("idle", Idle());
  ASSERT_THAT(busy.Open(), IsOk());
  ASSERT_THAT(idle.Open(), IsOk());
  uint64_t compacted = 0;
  for (int round = 1; round <= kRounds && !HasFailure(); ++round) {
    // Rounds that go on beside the next commits, of the double; storage has some of its own.
    x_store.SetCompactionWaits(round + 20 < kRounds ? random.Below(5) : 0);
    for (const TestChange& change : Draw(random, static_cast<uint64_t>(round))) {
      const auto one = busy.Apply({change}), other = idle.Apply({change});
      ASSERT_EQ(one.ok(), other.ok()) << ToText(change);
      if (!one.ok()) continue;
      ASSERT_EQ(*one, *other) << ToText(change);
    }
    const std::string id = random.OneIn(3) ? "id-" + std::to_string(round) : "";
    const auto done = busy.Commit(id);
    ASSERT_THAT(done, IsOk());
    ASSERT_FALSE(done->maintenance_error) << ToString(*done->maintenance_error);
    compacted += done->rows_compacted;
    const auto other = idle.Commit(id);
    ASSERT_THAT(other, IsOk());
    EXPECT_EQ(other->rows_compacted, 0u);
    if (random.OneIn(5)) {
      ASSERT_THAT(busy.Open(), IsOk());
      ASSERT_THAT(idle.Open(), IsOk());
    }
    if (random.OneIn(3)) ExpectSame(busy, idle);
  }
  ASSERT_THAT(busy.Open(), IsOk());
  ASSERT_THAT(idle.Open(), IsOk());
  ExpectSame(busy, idle);
  EXPECT_GT(compacted, 0u);
  EXPECT_LE(busy.table().GetStatus()->fragments, 4u);
  EXPECT_LE(Raw(LedgerUri(UriOf("busy")))->fragments().size(), 10u);
  EXPECT_LE(Raw(UriOf("busy"))->Versions()->size(), 30u);
  EXPECT_GE(Raw(UriOf("idle"))->Versions()->size(), static_cast<size_t>(kRounds) / 2);
}

// Every version that clean-up leaves can be gone back to, with its ledger and its positions.
TEST_F(Maintenance, EveryVersionThatStaysCanBeRestored) {
  std::optional<EngineFixture> table(std::in_place, UriOf("t"), Busy(), *x_storage);
  ASSERT_THAT(table->Open(), IsOk());
  for (uint64_t i = 1; i <= 40; ++i) {
    ASSERT_THAT(table->Apply({Upsert(1, i, "v" + std::to_string(i)), Delete(2, i)}), IsOk());
    CheckpointRequest request;
    request.positions["in"] = std::to_string(i);
    ASSERT_THAT(table->table().Commit(request), IsOk());
  }
  const std::vector<uint64_t> versions = *Raw(UriOf("t"))->Versions();
  ASSERT_GE(versions.size(), 3u);
  ASSERT_LE(versions.size(), 30u);
  for (const uint64_t version : versions) {
    table.reset();
    const std::unique_ptr<Dataset> raw = Raw(UriOf("t"));
    ASSERT_THAT(raw->Restore(version, raw->version(), {}), IsOk());
    table.emplace(UriOf("t"), Idle(), *x_storage);
    ASSERT_THAT(table->Open(), IsOk()) << "version " << version;
    const std::string at = *table->table().PositionOf("in");
    EXPECT_EQ(table->Table()->at(1).first, "v" + at);
    EXPECT_EQ(table->table().GetStatus()->tombstones, 1u);
  }
}

#ifndef LW_WITH_LANCE
// A round that takes long is in nobody's way: what commits delete meanwhile is gone from its
// fragments, what they add stays beside them, and the process that ends sees it through.
TEST_F(Maintenance, ALongRoundGoesOnBesideCommits) {
  for (const bool ends : {false, true}) {
    const std::string name = ends ? "ends" : "goes on";
    EngineFixture table = Make(name, Busy());
    ASSERT_THAT(table.Open(), IsOk());
    x_store.SetCompactionWaits(3);
    uint64_t compacted = 0;
    for (uint64_t i = 1; i <= 9; ++i) {
      std::vector<TestChange> changes = {Upsert(1, i, "v" + std::to_string(i)),
                                         Upsert(static_cast<int64_t>(i) + 9, i, "w")};
      if (i == 4) changes.push_back(Delete(10, i));
      ASSERT_THAT(table.Apply(changes), IsOk());
      const auto done = table.Commit();
      ASSERT_THAT(done, IsOk());
      ASSERT_FALSE(done->maintenance_error) << ToString(*done->maintenance_error);
      compacted += done->rows_compacted;
    }
    EXPECT_GT(compacted, 0u);
    if (ends) {
      ASSERT_THAT(table.Apply({Upsert(50, 50, "a"), Upsert(51, 51, "b")}), IsOk());
      ASSERT_THAT(table.Commit(), IsOk());
      ASSERT_THAT(table.Apply({Upsert(51, 52, "c")}), IsOk());
      ASSERT_THAT(table.Commit(), IsOk());
      const uint64_t version = table.table().GetStatus()->lance_version;
      ASSERT_THAT(table.Open(), IsOk());
      EXPECT_EQ(table.table().GetStatus()->lance_version, version + 1);
    }
    const auto rows = table.Table();
    ASSERT_THAT(table.Open(), IsOk());
    EXPECT_EQ(*table.Table(), *rows);
    EXPECT_FALSE(rows->contains(10));
    EXPECT_EQ(rows->at(1).first, "v9");
  }
}

// Who ends after each checkpoint leaves few fragments as well; who goes on does not begin a round
// behind its last one.
TEST_F(Maintenance, ARoundIsSeenThroughAtTheEnd) {
  EngineFixture table = Make("short", Busy());
  for (uint64_t i = 1; i <= 20; ++i) {
    ASSERT_THAT(table.Open(), IsOk());
    ASSERT_THAT(table.Apply({Upsert(static_cast<int64_t>(i), i, "v")}), IsOk());
    ASSERT_THAT(table.Commit(), IsOk());
    ASSERT_THAT(table.table().Settle(), IsOk());
    EXPECT_LE(table.table().GetStatus()->fragments, 3u);
  }
  EXPECT_EQ(table.Table()->size(), 20u);

  EngineFixture longer = Make("longer", Busy());
  CheckpointRequest request;
  request.more_at_once = true;
  ASSERT_THAT(longer.Open(), IsOk());
  for (uint64_t i = 1; i <= 20; ++i) {
    ASSERT_THAT(longer.Apply({Upsert(static_cast<int64_t>(i), i, "v")}), IsOk());
    ASSERT_THAT(longer.table().Commit(request), IsOk());
  }
  ASSERT_THAT(longer.Apply({Upsert(1, 30, "w")}), IsOk());
  EXPECT_EQ(longer.table().Settle().error().kind, ErrorKind::kUsage) << "addresses are in use";
  ASSERT_THAT(longer.table().Commit(request), IsOk());
  const uint64_t version = longer.table().GetStatus()->lance_version;
  ASSERT_THAT(longer.table().Settle(), IsOk());
  EXPECT_EQ(longer.table().GetStatus()->lance_version, version);
  EXPECT_LE(longer.table().GetStatus()->fragments, 4u);
}

// One that can never be put in place is dropped.
TEST_F(Maintenance, ATruncateEndsALongRound) {
  EngineFixture table = Make("t", Busy());
  ASSERT_THAT(table.Open(), IsOk());
  x_store.SetCompactionWaits(2);
  for (uint64_t i = 1; i <= 8; ++i) {
    std::vector<TestChange> changes = {Upsert(static_cast<int64_t>(i), i, "v")};
    if (i == 3) {
      changes[0].kind = Kind::kTruncate;
      changes[0].a.reset();
    }
    ASSERT_THAT(table.Apply(changes), IsOk());
    const auto done = table.Commit();
    ASSERT_THAT(done, IsOk());
    EXPECT_FALSE(done->maintenance_error) << ToString(*done->maintenance_error);
  }
  EXPECT_EQ(table.Table()->size(), 5u);
  EXPECT_LE(table.table().GetStatus()->fragments, 5u);
}
#endif

TEST_F(Maintenance, TheCommandGoesToTheEnd) {
  EngineFixture table = Make("t", Idle());
  ASSERT_THAT(table.Open(), IsOk());
  EXPECT_THAT(table.table().Compact({}), IsError(ErrorKind::kUsage)) << "there is no table";
  for (uint64_t i = 1; i <= 12; ++i) {
    ASSERT_THAT(
        table.Apply({Upsert(static_cast<int64_t>(i), i, "a"), Upsert(100, i, "b"), Delete(200, i)}),
        IsOk());
    ASSERT_THAT(table.Commit("id-" + std::to_string(i)), IsOk());
  }
  ASSERT_THAT(table.Apply({Upsert(1, 99, "pending")}), IsOk());
  EXPECT_THAT(table.table().Compact({}), IsError(ErrorKind::kUsage));
  ASSERT_THAT(table.Commit(), IsOk());
  const auto rows = table.Table();
  const auto report = table.table().Compact(1);
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(report->before.fragments, 10u);
  EXPECT_GT(report->before.ledger_fragments, 10u);
  EXPECT_EQ(report->after.fragments, 1u);
  EXPECT_EQ(report->after.ledger_fragments, 1u);
  EXPECT_EQ(report->after.deleted_rows, 0u);
  EXPECT_EQ(report->after.versions, 1u);
  EXPECT_GT(report->bytes_freed, 0u);
  for (int open = 0; open < 2; ++open) {
    EXPECT_EQ(*table.Table(), *rows);
    EXPECT_TRUE(*table.table().KnowsCheckpoint("id-3"));
    ASSERT_THAT(table.Apply({Delete(200, 1), Upsert(200, 5, "late")}),
                IsOkAnd(testing::ElementsAre(Outcome::kStale, Outcome::kStale)));
    ASSERT_THAT(table.Open(), IsOk());
  }
  // Addresses are right: each of these supersedes a row that has moved.
  for (int64_t key = 1; key <= 12; ++key) {
    ASSERT_THAT(table.Apply({Upsert(key, 200, "c")}), IsOk());
  }
  ASSERT_THAT(table.Commit(), IsOk());
  EXPECT_EQ(table.Table()->size(), 13u);
}

// Even where a round is on its way at every commit.
TEST_F(Maintenance, IndexesComeWithTheRowsAndFollowThem) {
  for (const uint64_t waits : {0, 2}) {
    x_store.SetCompactionWaits(waits);
    TableOptions options = Busy();
    options.indexes = {{"a", "btree"}, {"not there yet", "btree"}};
    const std::string name = "t" + std::to_string(waits);
    EngineFixture table = Make(name, options);
    ASSERT_THAT(table.Open(), IsOk());
    const auto load = [&](int64_t first, int64_t count, uint64_t hi) {
      std::vector<TestChange> changes;
      for (int64_t key = first; key < first + count; ++key) changes.push_back(Upsert(key, hi, "x"));
      ASSERT_THAT(table.Apply(changes), IsOk());
      const auto committed = table.Commit();
      ASSERT_THAT(committed, IsOk());
      ASSERT_FALSE(committed->maintenance_error) << ToString(*committed->maintenance_error);
    };
    load(0, 10, 1);
    ASSERT_THAT(Raw(UriOf(name))->Indexes(), IsOkAnd(testing::SizeIs(1)));
    load(10, 10'000, 2);
    for (uint64_t i = 0; i < 30; ++i) load(static_cast<int64_t>(i * 300), 500, 3 + i);
    const auto indexes = Raw(UriOf(name))->Indexes();
    ASSERT_THAT(indexes, IsOkAnd(testing::SizeIs(1)));
    EXPECT_LT((*indexes)[0].unindexed_rows, 5000u) << "new rows are taken in";
    EXPECT_LE(table.table().GetStatus()->fragments, 8u);
    EXPECT_EQ(table.Table()->size(), 10'010u);
  }
}

#ifndef LW_WITH_LANCE
// Whatever call of maintenance fails, and however: the commit stands, and the table goes on.
TEST_F(Maintenance, FailsAlone) {
  for (const Fault fault :
       {Fault::kFailBefore, Fault::kDiskFull, Fault::kConflict, Fault::kUnknownAndCommitted,
        Fault::kUnknownAndLost, Fault::kCrashBefore, Fault::kCrashAfter}) {
    for (uint64_t target = 1; target <= 60; ++target) {
      const std::string name =
          "t" + std::to_string(static_cast<int>(fault)) + "-" + std::to_string(target);
      EngineFixture table = Make(name, Busy());
      ASSERT_THAT(table.Open(), IsOk());
      const uint64_t before = x_store.calls();
      x_store.SetFaults(FaultAt(before + target, fault));
      std::map<int64_t, EngineFixture::TableRow> wanted;
      for (uint64_t i = 1; i <= 12; ++i) {
        const std::string value = "v" + std::to_string(i);
        const auto key = static_cast<int64_t>(i % 5);
        bool committed = false;
        for (int attempt = 0; !committed; ++attempt) {
          ASSERT_LT(attempt, 4);
          const auto applied = table.Apply({Upsert(key, i, value), Delete(10 + key, i)});
          if (applied.ok()) committed = table.Commit("id" + std::to_string(i)).ok();
          if (committed) break;
          if (x_store.crashed()) x_store.Reboot();
          ASSERT_THAT(table.Open(), IsOk());
        }
        wanted[key] = {value, std::nullopt};
      }
      if (x_store.crashed()) x_store.Reboot();
      x_store.SetFaults({});
      for (int open = 0; open < 2; ++open) {
        ASSERT_THAT(table.Open(), IsOk());
        ASSERT_EQ(*table.Table(), wanted) << name;
        ASSERT_EQ(table.table().GetStatus()->tombstones, 5u) << name;
        for (uint64_t i = 1; i <= 12; ++i) {
          ASSERT_TRUE(*table.table().KnowsCheckpoint("id" + std::to_string(i))) << name;
        }
        std::vector<TestChange> all;
        for (int64_t key = 0; key < 5; ++key) {
          all.push_back(Upsert(key, 100 + static_cast<uint64_t>(open), "end"));
          all.push_back(Delete(10 + key, 100 + static_cast<uint64_t>(open)));
          wanted[key] = {"end", std::nullopt};
        }
        ASSERT_THAT(table.Apply(all), IsOk());
        ASSERT_THAT(table.Commit(), IsOk()) << name;
      }
    }
  }
}

// A full disk stops compaction, not what makes room; and compaction comes back by itself.
TEST_F(Maintenance, CleanUpGoesOnWhereCompactionFails) {
  EngineFixture table = Make("t", Busy());
  ASSERT_THAT(table.Open(), IsOk());
  x_store.SetFaults([](const StorageCall& call) {
    return call.kind == StorageCall::Kind::kCompact ? Fault::kDiskFull : Fault::kNone;
  });
  uint64_t hi = 0;
  int failed = 0;
  const auto commit = [&] {
    ++hi;
    ASSERT_THAT(table.Apply({Upsert(static_cast<int64_t>(hi), hi, "a"), Delete(1000, hi)}), IsOk());
    const auto done = table.Commit();
    ASSERT_THAT(done, IsOk());
    if (!done->maintenance_error) return;
    EXPECT_EQ(done->maintenance_error->kind, ErrorKind::kStorageFull);
    ++failed;
  };
  for (int i = 0; i < 60; ++i) commit();
  EXPECT_GT(failed, 1);
  EXPECT_LT(failed, 10) << "it rests between two tries";
  EXPECT_EQ(table.table().GetStatus()->fragments, 60u);
  EXPECT_LE(Raw(UriOf("t"))->Versions()->size(), 12u);
  x_store.SetFaults({});
  for (int i = 0; i < 20; ++i) commit();
  EXPECT_LE(table.table().GetStatus()->fragments, 20u);
  EXPECT_EQ(table.Table()->size(), 80u);
  ASSERT_THAT(table.Open(), IsOk());
  EXPECT_EQ(table.table().GetStatus()->tombstones, 1u);
}
#endif

}  // namespace
}  // namespace lastword
