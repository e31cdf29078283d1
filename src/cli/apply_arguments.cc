#include "cli/apply_arguments.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/format.h"
#include "model/schema_check.h"
#include "pipeline/destination.h"

namespace lastword::cli {
namespace {

Error Usage(std::string message) {
  return Error{ErrorKind::kUsage, std::move(message)};
}

// "lake/orders.lance/" -> "orders"
std::string StemOf(const std::string& uri) {
  std::filesystem::path path(uri);
  if (!path.has_filename()) path = path.parent_path();
  return path.stem().string();
}

Result<Column> ParseColumn(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) {
    return Usage(Message("--column takes name:type, such as qty:int64, and not `{}`", text));
  }
  Column column;
  column.name = text.substr(0, colon);
  LW_ASSIGN_OR_RETURN(column.type, ParseType(std::string_view(text).substr(colon + 1)));
  if (const Status name = CheckColumnName(column.name); !name.ok()) {
    return Usage(name.error().message);
  }
  return column;
}

Result<TableConfig> TableWithoutConfig(const ApplyArguments& arguments) {
  TableConfig table;
  table.name = StemOf(arguments.table);
  table.primary_key = arguments.keys;
  for (const std::string& text : arguments.columns) {
    LW_ASSIGN_OR_RETURN(table.columns.emplace_back(), ParseColumn(text));
  }
  Schema declared;
  declared.columns = table.columns;
  for (const std::string& key : table.primary_key) {
    if (!table.columns.empty() && !declared.Find(key)) {
      return Usage(
          Message("the key column `{}` is not among the columns of --column; with "
                  "--column every column is declared",
                  key));
    }
  }
  return table;
}

// `--table` beside a configuration names one of its tables, by name or by path; a path moves it.
Status MoveTable(const ApplyArguments& arguments, ApplyPlan& plan) {
  const std::string name = StemOf(arguments.table);
  PlannedTable* chosen = plan.tables.size() == 1 ? &plan.tables[0] : nullptr;
  for (PlannedTable& table : plan.tables) {
    if (table.config.name == name) chosen = &table;
  }
  if (chosen == nullptr) {
    return Usage(Message("--table {}: the configuration has no table `{}`", arguments.table, name));
  }
  const bool is_path = arguments.table != chosen->config.name;
  if (is_path) chosen->uri = arguments.table;
  if (!arguments.keys.empty()) chosen->config.primary_key = arguments.keys;
  return Ok{};
}

Status PlanWithConfig(const ApplyArguments& arguments, ApplyPlan& plan) {
  if (!arguments.columns.empty()) {
    return Usage("--column goes without --config; declare columns in the configuration");
  }
  LW_ASSIGN_OR_RETURN(plan.pipeline, LoadConfig(arguments.config));
  if (plan.pipeline.source.kind != SourceKind::kFile) {
    return Usage(
        "apply reads files; the configuration's source is of another kind: give one with "
        "`kind: file`");
  }
  for (TableConfig& table : plan.pipeline.tables) {
    const std::string uri = TableUri(plan.pipeline.sink.uri, table.name);
    plan.tables.push_back({std::move(table), uri});
  }
  plan.pipeline.tables.clear();
  if (!arguments.table.empty()) LW_RETURN_IF_ERROR(MoveTable(arguments, plan));
  if (arguments.table.empty() && !arguments.keys.empty()) {
    return Usage("--key goes with --table; with --config alone use primary_key of each table");
  }
  if (!arguments.events.empty()) plan.pipeline.source.paths = arguments.events;
  return Ok{};
}

// What is written must not be what is read.
Status CheckOutcomes(const ApplyArguments& arguments, const ApplyPlan& plan) {
  std::vector<std::string> read = plan.pipeline.source.paths;
  if (!arguments.config.empty()) read.push_back(arguments.config);
  for (const std::string& path : read) {
    std::error_code ignored;
    if (path == "-" || !std::filesystem::equivalent(arguments.outcomes, path, ignored)) continue;
    // A device such as /dev/null may be both.
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    return Usage(
        Message("--outcomes {} is a file that this run reads, and would be overwritten; "
                "name another one",
                arguments.outcomes));
  }
  return Ok{};
}

Status CheckInputs(const ApplyArguments& arguments, ApplyPlan& plan) {
  if (!arguments.outcomes.empty()) LW_RETURN_IF_ERROR(CheckOutcomes(arguments, plan));
  if (!arguments.dead_letter) {
    const std::vector<std::string>& paths = plan.pipeline.source.paths;
    if (paths.empty()) return Usage("which events? name files, or `-` for standard input");
    if (std::count(paths.begin(), paths.end(), "-") > 1) {
      return Usage("standard input (`-`) can be read once; name it once");
    }
    return Ok{};
  }
  if (!arguments.events.empty() || arguments.from_start || arguments.checkpoint_every ||
      !arguments.checkpoint_id.empty()) {
    return Usage(
        "--dead-letter applies the records that the tables have put aside, in one commit; "
        "it goes without EVENTS, --from-start, --checkpoint-every and --checkpoint-id");
  }
  // What still fails stays where it is.
  for (PlannedTable& table : plan.tables) table.config.on_bad_record = OnBadRecord::kDeadLetter;
  return Ok{};
}

}  // namespace

Result<ApplyPlan> PlanApply(const ApplyArguments& arguments) {
  ApplyPlan plan;
  if (!arguments.checkpoint_id.empty() && arguments.checkpoint_every) {
    return Usage(
        "--checkpoint-id makes the run one checkpoint; it goes without "
        "--checkpoint-every");
  }
  if (!arguments.config.empty()) {
    LW_RETURN_IF_ERROR(PlanWithConfig(arguments, plan));
  } else {
    if (arguments.table.empty()) {
      return Usage("which table? give --table PATH.lance (and --key), or --config FILE");
    }
    LW_ASSIGN_OR_RETURN(TableConfig table, TableWithoutConfig(arguments));
    plan.tables.push_back({std::move(table), arguments.table});
    plan.pipeline.source.paths = arguments.events;
  }
  LW_RETURN_IF_ERROR(CheckInputs(arguments, plan));
  std::string format = arguments.format;
  if (format.empty()) format = plan.pipeline.source.format;
  plan.format_given = !format.empty();
  if (!format.empty()) {
    LW_ASSIGN_OR_RETURN(plan.format, codec::ParseFormat(format));
  }
  return plan;
}

}  // namespace lastword::cli
