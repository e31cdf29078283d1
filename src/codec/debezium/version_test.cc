// The version table of docs/ordering.md, source by source.
#include "codec/debezium/version.h"

#include <gtest/gtest.h>

#include "model/change_batch.h"

namespace lastword::codec {
namespace {

SourcePosition Postgres(std::string_view sequence, std::optional<uint64_t> lsn = std::nullopt,
                        std::string_view snapshot = "false") {
  SourcePosition source;
  source.connector = "postgresql";
  source.sequence = sequence;
  source.lsn = lsn;
  source.snapshot = snapshot;
  return source;
}

TEST(VersionOf, PostgresOrdersByCommitThenEvent) {
  const EventVersion event = VersionOf(Postgres(R"([\"90\",\"100\"])", 100), Rank::kUpsert);
  EXPECT_EQ(event.version, (Version{0, 90, 100, 2}));
  EXPECT_EQ(event.flags, 0);
  EXPECT_EQ(event.missing, nullptr);
  EXPECT_EQ(VersionOf(Postgres(R"(["90","100"])"), Rank::kDelete).version,
            (Version{0, 90, 100, 1}));
  EXPECT_EQ(VersionOf(Postgres("[90, 100]"), Rank::kUpsert).version, (Version{0, 90, 100, 2}));
}

TEST(VersionOf, PostgresNumbersCompareAsNumbers) {
  EXPECT_LT(VersionOf(Postgres(R"(["990","998"])"), Rank::kUpsert).version,
            VersionOf(Postgres(R"(["1000","1002"])"), Rank::kUpsert).version);
  EXPECT_EQ(VersionOf(Postgres(R"(["18446744073709551615","0"])"), Rank::kUpsert).version.hi,
            UINT64_MAX);
}

TEST(VersionOf, PostgresWithoutACommitSeenWaitsForItsInput) {
  const EventVersion event = VersionOf(Postgres(R"([null,"980"])", 980), Rank::kUpsert);
  EXPECT_EQ(event.version, (Version{0, 980, 980, 2}));
  EXPECT_EQ(event.flags, kNoCommitSeen);
}

TEST(VersionOf, PostgresWithoutASequenceTakesTheLsn) {
  const EventVersion event = VersionOf(Postgres("", 7), Rank::kUpsert);
  EXPECT_EQ(event.version, (Version{0, 7, 7, 2}));
  EXPECT_EQ(event.flags, 0);
  EXPECT_EQ(VersionOf(Postgres(R"(["5",null])", 7), Rank::kUpsert).version, (Version{0, 5, 7, 2}));
}

TEST(VersionOf, PostgresSnapshotReadsStandBelowTheirPosition) {
  const EventVersion read =
      VersionOf(Postgres(R"([null,"1000"])", 1000, "true"), Rank::kSnapshotRead);
  EXPECT_EQ(read.version, (Version{0, 1000, 0, 0}));
  EXPECT_EQ(read.flags, kSnapshotRead);
  EXPECT_EQ(VersionOf(Postgres("", 1000, "last"), Rank::kSnapshotRead).flags,
            kSnapshotRead | kSnapshotEnd);
  EXPECT_EQ(VersionOf(Postgres("", 1000, "last_in_data_collection"), Rank::kSnapshotRead).flags,
            kSnapshotRead | kSnapshotEnd);
  EXPECT_EQ(VersionOf(Postgres("", 1000, "first"), Rank::kSnapshotRead).flags, kSnapshotRead);
}

TEST(VersionOf, ReadsWithoutAPositionNeverConflict) {
  for (const auto& source :
       {Postgres(""), Postgres("", 0), Postgres("[null,null]"), SourcePosition{}}) {
    const EventVersion read = VersionOf(source, Rank::kSnapshotRead);
    EXPECT_EQ(read.version, Version{});
    EXPECT_EQ(read.flags, kSnapshotRead | kUnpositioned);
    EXPECT_EQ(read.missing, nullptr);
  }
}

TEST(VersionOf, WhatPostgresLacksIsSaid) {
  EXPECT_NE(VersionOf(Postgres(""), Rank::kUpsert).missing, nullptr);
  EXPECT_NE(VersionOf(Postgres("[null,null]"), Rank::kDelete).missing, nullptr);
  for (const char* sequence : {"x", "[]", "[1]", "[1,2,3]", R"(["a","b"])", R"(["1","2")", "[1,2]]",
                               R"(["1,2])", R"([18446744073709551616,1])"}) {
    EXPECT_NE(VersionOf(Postgres(sequence, 5), Rank::kUpsert).missing, nullptr) << sequence;
  }
}

SourcePosition MySql(std::string_view file, std::optional<uint64_t> pos,
                     std::optional<uint64_t> row = 0) {
  SourcePosition source;
  source.connector = "mysql";
  source.file = file;
  source.pos = pos;
  source.row = row;
  return source;
}

TEST(VersionOf, MySqlOrdersByFileNumberPositionAndRow) {
  EXPECT_EQ(VersionOf(MySql("mysql-bin.000003", 154, 2), Rank::kUpsert).version,
            (Version{0, 3, 154, 2 << 2 | 2}));
  EXPECT_LT(VersionOf(MySql("mysql-bin.999999", 1900), Rank::kUpsert).version,
            VersionOf(MySql("mysql-bin.1000000", 157), Rank::kUpsert).version);
  EXPECT_LT(VersionOf(MySql("b.1", 5, 0), Rank::kUpsert).version,
            VersionOf(MySql("b.1", 5, 1), Rank::kDelete).version);
  EXPECT_LT(VersionOf(MySql("b.1", 5), Rank::kSnapshotRead).version,
            VersionOf(MySql("b.1", 5), Rank::kDelete).version);
}

TEST(VersionOf, WhatMySqlLacksIsSaid) {
  EXPECT_NE(VersionOf(MySql("", 5), Rank::kUpsert).missing, nullptr);
  EXPECT_NE(VersionOf(MySql("binlog", 5), Rank::kUpsert).missing, nullptr);
  EXPECT_NE(VersionOf(MySql("binlog.x1", 5), Rank::kUpsert).missing, nullptr);
  EXPECT_NE(VersionOf(MySql("binlog.1", std::nullopt), Rank::kUpsert).missing, nullptr);
  EXPECT_NE(VersionOf(MySql("binlog.1", 5, UINT64_MAX), Rank::kUpsert).missing, nullptr);
  const EventVersion read = VersionOf(MySql("", std::nullopt), Rank::kSnapshotRead);
  EXPECT_EQ(read.flags, kSnapshotRead | kUnpositioned);
  EXPECT_EQ(read.missing, nullptr);
}

SourcePosition SqlServer(std::string_view commit, std::string_view change, uint64_t serial) {
  SourcePosition source;
  source.connector = "sqlserver";
  source.commit_lsn = commit;
  source.change_lsn = change;
  source.event_serial_no = serial;
  return source;
}

TEST(VersionOf, SqlServerOrdersByAllThreeNumbers) {
  const auto version = [](std::string_view commit, std::string_view change, uint64_t serial,
                          Rank rank = Rank::kUpsert) {
    return VersionOf(SqlServer(commit, change, serial), rank).version;
  };
  EXPECT_EQ(version("00000025:00000d98:00a2", "00000026:00000d99:0002", 1),
            (Version{0, 0x2500000d98, uint64_t{0xa2} << 48 | uint64_t{0x26} << 16,
                     uint64_t{0x0d99} << 48 | uint64_t{2} << 32 | 1 << 2 | 2}));
  EXPECT_LT(version("00000025:00000d98:00a2", "00000025:00000d98:0009", 2),
            version("00000025:00000d98:00a2", "00000025:00000d98:000f", 1));
  EXPECT_LT(version("00000025:00000d98:00a2", "00000025:00000d98:0009", 1),
            version("00000025:00000d98:00a2", "00000025:00000d98:0009", 2, Rank::kDelete));
  EXPECT_LT(version("00000025:00000d98:00a2", "ffffffff:ffffffff:ffff", 9),
            version("00000025:00000d98:00a3", "00000000:00000000:0001", 0));
}

TEST(VersionOf, SqlServerNeedsMoreThanTheCommit) {
  EXPECT_NE(VersionOf(SqlServer("00000025:00000d98:00a2", "", 1), Rank::kUpsert).missing, nullptr);
  EXPECT_NE(VersionOf(SqlServer("", "00000025:00000d98:00a2", 1), Rank::kUpsert).missing, nullptr);
  EXPECT_NE(VersionOf(SqlServer("25:d98:a2", "00000025:00000d98:00a2", 1), Rank::kUpsert).missing,
            nullptr);
  EXPECT_NE(
      VersionOf(SqlServer("0000002g:00000d98:00a2", "00000025:00000d98:00a2", 1), Rank::kUpsert)
          .missing,
      nullptr);
  EXPECT_EQ(VersionOf(SqlServer("00000025:00000d98:00a2", "", 0), Rank::kSnapshotRead).missing,
            nullptr);
}

TEST(VersionOf, AnUnknownConnectorHasNoVersion) {
  SourcePosition source;
  source.connector = "oracle";
  source.lsn = 5;
  EXPECT_NE(VersionOf(source, Rank::kUpsert).missing, nullptr);
  source.connector = "";
  EXPECT_EQ(VersionOf(source, Rank::kUpsert).version.hi, 5u);
}

TEST(VersionOf, TheHalvesOfAKeyChangeDifferInRankOnly) {
  const Version upsert = VersionOf(MySql("b.1", 5, 3), Rank::kUpsert).version;
  EXPECT_EQ(WithRank(upsert, Rank::kDelete), (Version{0, 1, 5, 3 << 2 | 1}));
  EXPECT_LT(WithRank(upsert, Rank::kDelete), upsert);
}

}  // namespace
}  // namespace lastword::codec
