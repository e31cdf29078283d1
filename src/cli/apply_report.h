// The last words of `apply`: what became of the changes, a line a table or one JSON object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lastword/table.h"
#include "pipeline/apply_run.h"

namespace lastword::cli {

struct TableReport {
  std::string name, uri;
  Counts counts;  // of this run
  uint64_t rows = 0, tombstones = 0, dead_letters = 0, quarantined_keys = 0;
  uint64_t lance_version = 0;  // 0: the table does not exist
  bool already_committed = false;
};

struct ApplyReport {
  std::vector<TableReport> tables;
  uint64_t changes = 0;
  double seconds = 0;
};

/// Asks the tables where they stand at the end of a run.
Result<ApplyReport> MakeApplyReport(const ApplyRun& run, double seconds);

/// "orders: applied 3 stale 1 repeat 0 conflict 0 quarantined 0 rows 2 tombstones 1, version 4,
/// 1200 changes/s"
std::string ReportLine(const TableReport& table, const ApplyReport& report);

/// The object of `--json`: sums on top, each table under `tables`.
std::string ReportJson(const ApplyReport& report);

}  // namespace lastword::cli
