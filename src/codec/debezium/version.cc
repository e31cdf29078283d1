#include "codec/debezium/version.h"

#include <algorithm>
#include <charconv>

#include "model/change_batch.h"

namespace lastword::codec {
namespace {

constexpr uint64_t kRankMask = 3;

std::optional<uint64_t> Number(std::string_view text, int base = 10) {
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || status != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// Moves `at` behind `what`; false where something else stands there.
bool Take(const char*& at, const char* end, std::string_view what) {
  if (static_cast<size_t>(end - at) < what.size()) return false;
  for (size_t i = 0; i < what.size(); ++i) {
    if (at[i] != what[i]) return false;
  }
  at += what.size();
  return true;
}

void TakeBlanks(const char*& at, const char* end) {
  while (at != end && *at == ' ') ++at;
}

/// Reads a whole number of one word.
bool TakeDigits(const char*& at, const char* end, uint64_t& value) {
  // No number of eighteen digits is too large.
  const char* const short_end = at + std::min<ptrdiff_t>(end - at, 18);
  const char* behind = at;
  for (; behind != short_end && *behind >= '0' && *behind <= '9'; ++behind) {
    value = value * 10 + static_cast<uint64_t>(*behind - '0');
  }
  if (behind == at) return false;
  if (behind == short_end && behind != end) {
    const auto [far, status] = std::from_chars(at, end, value);
    if (status != std::errc()) return false;
    behind = far;
  }
  at = behind;
  return true;
}

/// Reads null, a number or a quoted number, whose quotes may be escaped.
bool TakePosition(const char*& at, const char* end, std::optional<uint64_t>& out) {
  TakeBlanks(at, end);
  if (!Take(at, end, "null")) {
    const bool escaped = Take(at, end, "\\\"");
    const bool quoted = escaped || Take(at, end, "\"");
    uint64_t value = 0;
    if (!TakeDigits(at, end, value)) return false;
    out = value;
    if (quoted && !Take(at, end, escaped ? "\\\"" : "\"")) return false;
  }
  TakeBlanks(at, end);
  return true;
}

/// Reads `[x,y]` where each is a position; false for anything else.
bool ParseSequence(std::string_view text, std::optional<uint64_t>& commit,
                   std::optional<uint64_t>& event) {
  const char* at = text.data();
  const char* const end = at + text.size();
  return Take(at, end, "[") && TakePosition(at, end, commit) && Take(at, end, ",") &&
         TakePosition(at, end, event) && Take(at, end, "]") && at == end;
}

bool IsSnapshotEnd(std::string_view snapshot) {
  return snapshot == "last" || snapshot == "last_in_data_collection";
}

uint16_t ReadFlags(const SourcePosition& source) {
  return kSnapshotRead | (IsSnapshotEnd(source.snapshot) ? kSnapshotEnd : 0);
}

EventVersion Postgres(const SourcePosition& source, Rank rank) {
  EventVersion out;
  out.version.lo = static_cast<uint64_t>(rank);
  std::optional<uint64_t> commit, event;
  if (!source.sequence.empty() && !ParseSequence(source.sequence, commit, event)) {
    out.missing = "a sequence of two positions (source.sequence is not understood)";
    return out;
  }
  if (!event) event = source.lsn;
  if (rank == Rank::kSnapshotRead) {
    out.flags = ReadFlags(source);
    out.version.hi = event.value_or(0);
    if (out.version.hi == 0) out.flags |= kUnpositioned;
    return out;
  }
  if (!event) {
    out.missing = "source.sequence or source.lsn";
    return out;
  }
  out.version.mid = *event;
  if (commit) {
    out.version.hi = *commit;
  } else {
    out.version.hi = *event;
    // Connectors that send a sequence leave its first part null only before the first commit that
    // they see; those that send none never tell, and then the event's own place has to do.
    if (!source.sequence.empty()) out.flags = kNoCommitSeen;
  }
  return out;
}

EventVersion MySql(const SourcePosition& source, Rank rank) {
  EventVersion out;
  if (rank == Rank::kSnapshotRead) out.flags = ReadFlags(source);
  const size_t dot = source.file.rfind('.');
  const std::optional<uint64_t> file =
      dot == std::string_view::npos ? std::nullopt : Number(source.file.substr(dot + 1));
  if (!file || !source.pos) {
    if (rank == Rank::kSnapshotRead && source.file.empty()) {
      out.flags |= kUnpositioned;
    } else {
      out.missing = "source.file with a number and source.pos";
    }
    return out;
  }
  const uint64_t row = source.row.value_or(0);
  if (row > UINT64_MAX >> 2) {
    out.missing = "a row number below 2^62";
    return out;
  }
  out.version.hi = *file;
  out.version.mid = *source.pos;
  out.version.lo = row << 2 | static_cast<uint64_t>(rank);
  return out;
}

struct Lsn80 {
  uint64_t high = 0;  // upper 64 bits
  uint64_t low = 0;   // lower 16
};

/// Reads "00000025:00000d98:00a2".
bool ParseLsn80(std::string_view text, Lsn80& out) {
  if (text.size() != 22 || text[8] != ':' || text[17] != ':') return false;
  const auto a = Number(text.substr(0, 8), 16), b = Number(text.substr(9, 8), 16),
             c = Number(text.substr(18, 4), 16);
  if (!a || !b || !c) return false;
  out.high = *a << 32 | *b;
  out.low = *c;
  return true;
}

EventVersion SqlServer(const SourcePosition& source, Rank rank) {
  EventVersion out;
  const bool is_read = rank == Rank::kSnapshotRead;
  if (is_read) out.flags = ReadFlags(source);
  if (is_read && source.commit_lsn.empty()) {
    out.flags |= kUnpositioned;
    return out;
  }
  Lsn80 commit, change;
  if (!ParseLsn80(source.commit_lsn, commit)) {
    out.missing = "source.commit_lsn";
    return out;
  }
  out.version.hi = commit.high;
  out.version.mid = commit.low << 48;
  if (is_read) return out;
  // All rows of a transaction share the commit LSN, so it alone orders nothing.
  if (!ParseLsn80(source.change_lsn, change)) {
    out.missing = "source.change_lsn";
    return out;
  }
  const uint64_t serial = source.event_serial_no.value_or(0);
  if (serial >= uint64_t{1} << 30) {
    out.missing = "an event_serial_no below 2^30";
    return out;
  }
  out.version.mid |= change.high >> 16;
  out.version.lo =
      (change.high & 0xFFFF) << 48 | change.low << 32 | serial << 2 | static_cast<uint64_t>(rank);
  return out;
}

}  // namespace

EventVersion VersionOf(const SourcePosition& source, Rank rank) {
  const std::string_view connector = source.connector;
  if (connector == "postgresql") return Postgres(source, rank);
  if (connector == "mysql" || connector == "mariadb") return MySql(source, rank);
  if (connector == "sqlserver") return SqlServer(source, rank);
  EventVersion out;
  if (!connector.empty()) {
    out.missing =
        "a position that is understood (connectors: postgresql, mysql, mariadb, sqlserver)";
    return out;
  }
  // Without a name, the fields tell whose block it is.
  if (!source.file.empty()) return MySql(source, rank);
  if (!source.commit_lsn.empty()) return SqlServer(source, rank);
  if (!source.sequence.empty() || source.lsn || rank == Rank::kSnapshotRead) {
    return Postgres(source, rank);
  }
  out.missing = "a position (sequence, lsn, file and pos, or commit_lsn)";
  return out;
}

Version WithRank(const Version& version, Rank rank) {
  Version out = version;
  out.lo = (version.lo & ~kRankMask) | static_cast<uint64_t>(rank);
  return out;
}

}  // namespace lastword::codec
