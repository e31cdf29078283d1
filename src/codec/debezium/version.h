// Versions of Debezium events out of their source block, as docs/ordering.md lays them out. Numbers
// compare as numbers; no clock and no text is ever part of a version. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lastword/version.h"

namespace lastword::codec {

/// The rank of changes at one log position.
enum class Rank : uint8_t { kSnapshotRead = 0, kDelete = 1, kUpsert = 2 };

/// What a source block says of an event's place in the log. Empty or absent = not said. Views of
/// the record.
struct SourcePosition {
  std::string_view connector;
  std::string_view snapshot;  // "true", "first", "last", …
  // PostgreSQL
  std::string_view sequence;  // `["90","100"]`, with or without backslashes before the quotes
  std::optional<uint64_t> lsn;
  // MySQL, MariaDB
  std::string_view file;
  std::optional<uint64_t> pos, row;
  // SQL Server
  std::string_view commit_lsn, change_lsn;
  std::optional<uint64_t> event_serial_no;
};

struct EventVersion {
  Version version;
  uint16_t flags = 0;             // ChangeFlag
  const char* missing = nullptr;  // what the source block lacks; then there is no version
};

/// The version of an event of rank `rank`; for kSnapshotRead that of a read (op r).
EventVersion VersionOf(const SourcePosition& source, Rank rank);

/// `version` with another rank: the other half of a key change.
Version WithRank(const Version& version, Rank rank);

}  // namespace lastword::codec
