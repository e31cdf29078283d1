#include "cli/apply_report.h"

#include "base/format.h"
#include "base/json.h"

namespace lastword::cli {
namespace {

uint64_t PerSecond(const ApplyReport& report) {
  if (report.seconds <= 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(report.changes) / report.seconds);
}

void AddCounts(const TableReport& table, Json& json) {
  const Counts& counts = table.counts;
  json["applied"] = counts.applied;
  json["stale"] = counts.stale;
  json["below_floor"] = counts.below_floor;
  json["repeat"] = counts.repeat;
  json["conflict"] = counts.conflict;
  json["quarantined"] = counts.quarantined;
  json["held"] = counts.held;
  json["dead_letters"] = table.dead_letters;
  json["rows"] = table.rows;
  json["tombstones"] = table.tombstones;
}

TableReport Sum(const ApplyReport& report) {
  TableReport sum;
  sum.already_committed = !report.tables.empty();
  for (const TableReport& table : report.tables) {
    sum.counts += table.counts;
    sum.rows += table.rows;
    sum.tombstones += table.tombstones;
    sum.dead_letters += table.dead_letters;
    sum.already_committed = sum.already_committed && table.already_committed;
  }
  return sum;
}

}  // namespace

Result<ApplyReport> MakeApplyReport(const ApplyRun& run, double seconds) {
  ApplyReport report;
  report.changes = run.changes();
  report.seconds = seconds;
  for (size_t i = 0; i < run.destinations().size(); ++i) {
    TableImpl& table = run.destinations()[i].table();
    TableReport& line = report.tables.emplace_back();
    line.name = run.destinations()[i].config().name;
    line.uri = table.uri();
    line.counts = table.counts();
    line.already_committed = run.results()[i].already_committed;
    const auto status = table.GetStatus();
    if (!status.ok()) {
      // A table that no change has made yet.
      if (status.error().kind == ErrorKind::kUsage) continue;
      return status.error();
    }
    line.rows = status->rows;
    line.tombstones = status->tombstones;
    line.dead_letters = status->dead_letters;
    line.quarantined_keys = status->quarantined_keys.size();
    line.lance_version = status->lance_version;
  }
  return report;
}

std::string ReportLine(const TableReport& table, const ApplyReport& report) {
  const Counts& counts = table.counts;
  std::string line =
      Message("{}: applied {} stale {} repeat {} conflict {} quarantined {} rows {} tombstones {}",
              table.name, counts.applied, counts.stale, counts.repeat, counts.conflict,
              counts.quarantined, table.rows, table.tombstones);
  if (counts.below_floor != 0) line += Message(" (below floor {})", counts.below_floor);
  if (table.dead_letters != 0) line += Message(" (dead letters {})", table.dead_letters);
  line += table.lance_version == 0 ? ", no table yet"
                                   : Message(", Lance version {}", table.lance_version);
  if (table.already_committed) return line + ", already committed";
  return line + Message(", {} changes/s", PerSecond(report));
}

std::string ReportJson(const ApplyReport& report) {
  const TableReport sum = Sum(report);
  Json json;
  AddCounts(sum, json);
  json["changes"] = report.changes;
  json["seconds"] = report.seconds;
  json["changes_per_second"] = PerSecond(report);
  json["already_committed"] = sum.already_committed;
  if (report.tables.size() == 1) json["lance_version"] = report.tables[0].lance_version;
  Json& tables = json["tables"] = Json::object();
  for (const TableReport& table : report.tables) {
    Json& entry = tables[table.name] = Json::object();
    AddCounts(table, entry);
    entry["lance_version"] = table.lance_version;
    entry["already_committed"] = table.already_committed;
    entry["uri"] = table.uri;
  }
  return DumpJson(json);
}

}  // namespace lastword::cli
