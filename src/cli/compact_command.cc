// `lastword compact`: compacts a table to the end and removes old versions; for tables that nothing
// writes to all day, or that are written with `compaction: false`.
#include <iostream>

#include "base/format.h"
#include "cli/command.h"

namespace lastword::cli {
namespace {

Json SizeJson(const TableImpl::CompactReport::Size& size) {
  Json json;
  json["fragments"] = size.fragments;
  json["deleted_rows"] = size.deleted_rows;
  json["data_bytes"] = size.data_bytes;
  json["ledger_fragments"] = size.ledger_fragments;
  json["versions"] = size.versions;
  return json;
}

std::string SizeText(const TableImpl::CompactReport::Size& size) {
  return Message(
      "{} fragments, {} deleted rows, {} bytes of data, {} fragments of the ledger, {} "
      "versions",
      size.fragments, size.deleted_rows, size.data_bytes, size.ledger_fragments, size.versions);
}

CommandResult Compact(const TableArguments& arguments,
                      const std::optional<uint64_t>& keep_versions) {
  LW_ASSIGN_OR_RETURN(const OpenedTable table,
                      OpenExisting(arguments.uri, arguments.config, /*read_only=*/false));
  LW_ASSIGN_OR_RETURN(const TableImpl::CompactReport report, table->Compact(keep_versions));
  if (arguments.json) {
    Json json;
    json["table"] = arguments.uri;
    json["before"] = SizeJson(report.before);
    json["after"] = SizeJson(report.after);
    json["rounds"] = report.rounds;
    json["bytes_written"] = report.bytes_written;
    json["bytes_freed"] = report.bytes_freed;
    json["lance_version"] = report.lance_version;
    std::cout << DumpJson(json) << '\n';
    return 0;
  }
  std::cout << Message(
      "{}\nbefore  {}\nafter   {}\n{} rounds wrote {} bytes; old versions freed {}\n",
      arguments.uri, SizeText(report.before), SizeText(report.after), report.rounds,
      report.bytes_written, report.bytes_freed);
  return 0;
}

constexpr const char* kExamples =
    "  lastword compact lake/orders.lance\n"
    "  lastword compact lake/orders.lance --keep-versions 1 --json\n"
    "\n"
    "Small fragments become large ones, deleted rows give their space back, declared indexes "
    "(with\n"
    "--config) take new rows in. Old versions go as the configuration says, or all but the newest\n"
    "with --keep-versions; tagged ones stay. What the table holds does not change.\n";

}  // namespace

void AddCompact(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("compact", "Compact a table and remove old versions");
  const auto arguments = AddTableArguments(*command);
  const auto keep = std::make_shared<std::optional<uint64_t>>();
  command->add_option("--keep-versions", *keep, "Remove all but so many newest versions")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  command->footer(Footer(kExamples));
  command->callback([=, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [=] { return Compact(*arguments, *keep); };
  });
}

}  // namespace lastword::cli
