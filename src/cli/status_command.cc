// `lastword status`: what a table holds and where it stands.
#include <iostream>

#include "base/format.h"
#include "cli/command.h"
#include "lastword/version.h"

namespace lastword::cli {
namespace {

// A list in one line, or a dash.
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "-" : text;
}

void PrintText(const std::string& uri, const TableStatus& status) {
  const auto line = [](std::string_view name, const std::string& value) {
    std::cout << Message("{:<18}{}\n", name, value);
  };
  const auto number = [&](std::string_view name, uint64_t value) {
    line(name, std::to_string(value));
  };
  line("table", uri);
  number("Lance version", status.lance_version);
  number("ledger version", status.ledger_version);
  number("rows", status.rows);
  number("tombstones", status.tombstones);
  number("fragments", status.fragments);
  number("deleted rows", status.deleted_rows);
  line("key index", Message("{}, {} keys, {} bytes in memory", status.index,
                            status.rows + status.tombstones, status.index_bytes));
  number("kept rows", status.kept_rows);
  number("waiting changes", status.waiting_changes);
  number("dead letters", status.dead_letters);
  line("quarantined keys", Listed(status.quarantined_keys));
  line("held keys", Listed(status.held_keys));
  number("epoch", status.epoch);
  number("writer epoch", status.writer_epoch);
  if (status.floors.empty()) line("floor", "-");
  for (const auto& [source, floor] : status.floors) {
    line(source.empty() ? "floor" : "floor " + source, ToString(floor));
  }
  const Counts& totals = status.totals;
  line("since creation",
       Message("applied {} stale {} (below floor {}) repeat {} conflict {} quarantined {}",
               totals.applied, totals.stale, totals.below_floor, totals.repeat, totals.conflict,
               totals.quarantined));
  for (const auto& [input, position] : status.positions) {
    line("position", Message("{}: {}", input, position));
  }
  for (const std::string& change : status.foreign_changes) line("foreign change", change);
}

void PrintJson(const std::string& uri, const TableStatus& status) {
  Json json;
  json["table"] = uri;
  json["lance_version"] = status.lance_version;
  json["ledger_version"] = status.ledger_version;
  json["rows"] = status.rows;
  json["tombstones"] = status.tombstones;
  json["fragments"] = status.fragments;
  json["deleted_rows"] = status.deleted_rows;
  json["index"] = {{"kind", status.index},
                   {"keys", status.rows + status.tombstones},
                   {"bytes", status.index_bytes}};
  json["kept_rows"] = status.kept_rows;
  json["waiting_changes"] = status.waiting_changes;
  json["dead_letters"] = status.dead_letters;
  json["checkpoints"] = status.checkpoints;
  json["quarantined_keys"] = status.quarantined_keys;
  json["held_keys"] = status.held_keys;
  json["epoch"] = status.epoch;
  json["writer_epoch"] = status.writer_epoch;
  json["floors"] = Json::object();
  for (const auto& [source, floor] : status.floors) json["floors"][source] = ToString(floor);
  json["positions"] = Json::object();
  for (const auto& [input, position] : status.positions) {
    auto parsed = ParseJson(position);
    json["positions"][input] = parsed.ok() ? std::move(*parsed) : Json(position);
  }
  json["foreign_changes"] = status.foreign_changes;
  const Counts& totals = status.totals;
  json["totals"] = {{"applied", totals.applied},         {"stale", totals.stale},
                    {"below_floor", totals.below_floor}, {"repeat", totals.repeat},
                    {"conflict", totals.conflict},       {"quarantined", totals.quarantined}};
  std::cout << DumpJson(json) << '\n';
}

CommandResult Status(const TableArguments& arguments) {
  LW_ASSIGN_OR_RETURN(const OpenedTable table,
                      OpenExisting(arguments.uri, arguments.config, /*read_only=*/true));
  if (arguments.json) {
    PrintJson(arguments.uri, table.status);
  } else {
    PrintText(arguments.uri, table.status);
  }
  return 0;
}

constexpr const char* kExamples =
    "  lastword status lake/orders.lance\n"
    "  lastword status lake/orders.lance --json\n";

}  // namespace

void AddStatus(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("status", "Say what a table holds and where its inputs stand");
  const auto arguments = AddTableArguments(*command);
  command->footer(Footer(kExamples));
  command->callback([=, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [=] { return Status(*arguments); };
  });
}

}  // namespace lastword::cli
