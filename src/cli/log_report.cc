#include "cli/log_report.h"

#include <ctime>
#include <optional>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "commit/commit_note.h"

namespace lastword::cli {
namespace {

std::string TimeText(int64_t timestamp_ms) {
  const std::time_t seconds = timestamp_ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// One version. Its counts are the changes decided since the next older version that has some.
struct LogLine {
  VersionInfo info;
  std::optional<CommitNote> ours;
  std::optional<Counts> counts;
};

Counts Minus(Counts a, const Counts& b) {
  a.applied -= b.applied;
  a.stale -= b.stale;
  a.below_floor -= b.below_floor;
  a.repeat -= b.repeat;
  a.conflict -= b.conflict;
  a.quarantined -= b.quarantined;
  return a;
}

Result<std::vector<LogLine>> ReadLog(TableImpl& table, uint64_t limit) {
  // One more than is shown: the oldest line's counts need its predecessor.
  LW_ASSIGN_OR_RETURN(std::vector<VersionInfo> versions,
                      table.Log(limit == UINT64_MAX ? limit : limit + 1));
  std::vector<LogLine> lines;
  for (VersionInfo& info : versions) {
    LogLine& line = lines.emplace_back();
    LW_ASSIGN_OR_RETURN(line.ours, ReadCommitNote(info.properties));
    line.info = std::move(info);
  }
  const Counts* older = nullptr;
  const bool from_first = !lines.empty() && lines.back().info.version == 1;
  const Counts none;
  if (from_first) older = &none;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->ours) continue;
    const Counts& totals = line->ours->totals;
    // A restored version has the totals of its time: they may be lower than those before it.
    if (older != nullptr && totals.applied >= older->applied && totals.stale >= older->stale &&
        totals.repeat >= older->repeat) {
      line->counts = Minus(totals, *older);
    }
    older = &totals;
  }
  if (lines.size() > limit) lines.resize(limit);
  return lines;
}

}  // namespace

Result<std::string> LogText(TableImpl& table, uint64_t limit) {
  LW_ASSIGN_OR_RETURN(const std::vector<LogLine> lines, ReadLog(table, limit));
  std::string text;
  for (const LogLine& line : lines) {
    text += Message("{:>8}  {}  {:<14}", line.info.version, TimeText(line.info.timestamp_ms),
                    line.info.operation.empty() ? "-" : line.info.operation);
    if (line.info.restored_version != 0) text += Message(" of {}", line.info.restored_version);
    if (!line.ours) text += "  not by lastword";
    if (line.ours && !line.ours->checkpoint.empty()) {
      text += Message("  checkpoint {}", line.ours->checkpoint);
    }
    if (line.counts) {
      text += Message("  applied {} stale {} repeat {} conflict {}", line.counts->applied,
                      line.counts->stale, line.counts->repeat, line.counts->conflict);
    }
    text += '\n';
  }
  return text;
}

Result<std::string> LogJson(TableImpl& table, const std::string& uri, uint64_t limit) {
  LW_ASSIGN_OR_RETURN(const std::vector<LogLine> lines, ReadLog(table, limit));
  Json json;
  json["table"] = uri;
  Json& versions = json["versions"] = Json::array();
  for (const LogLine& line : lines) {
    Json& entry = versions.emplace_back();
    entry["version"] = line.info.version;
    entry["time"] = TimeText(line.info.timestamp_ms);
    entry["operation"] = line.info.operation.empty() ? Json() : Json(line.info.operation);
    entry["restored_version"] =
        line.info.restored_version == 0 ? Json() : Json(line.info.restored_version);
    entry["ours"] = line.ours.has_value();
    entry["checkpoint"] =
        line.ours && !line.ours->checkpoint.empty() ? Json(line.ours->checkpoint) : Json();
    entry["writer_epoch"] = line.ours ? Json(line.ours->writer_epoch) : Json();
    entry["ledger_version"] = line.ours ? Json(line.ours->ledger_version) : Json();
    if (!line.counts) continue;
    entry["applied"] = line.counts->applied;
    entry["stale"] = line.counts->stale;
    entry["repeat"] = line.counts->repeat;
    entry["conflict"] = line.counts->conflict;
    entry["quarantined"] = line.counts->quarantined;
  }
  return DumpJson(json) + '\n';
}

}  // namespace lastword::cli
