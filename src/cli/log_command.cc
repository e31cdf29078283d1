// `lastword log`: the versions of a table, as log_report.h tells them.
#include <iostream>

#include "cli/command.h"
#include "cli/log_report.h"
#include "cli/option_checks.h"

namespace lastword::cli {
namespace {

CommandResult Log(const TableArguments& arguments, uint64_t limit) {
  LW_ASSIGN_OR_RETURN(const OpenedTable table,
                      OpenExisting(arguments.uri, arguments.config, /*read_only=*/true));
  LW_ASSIGN_OR_RETURN(const std::string report, arguments.json
                                                    ? LogJson(*table.table, arguments.uri, limit)
                                                    : LogText(*table.table, limit));
  std::cout << report;
  return 0;
}

constexpr const char* kExamples =
    "  lastword log lake/orders.lance\n"
    "  lastword log lake/orders.lance --limit 5 --json\n";

}  // namespace

void AddLog(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("log", "List the versions of a table, newest first");
  const auto arguments = AddTableArguments(*command);
  const auto limit = std::make_shared<uint64_t>(UINT64_MAX);
  command->add_option("--limit", *limit, "At most this many versions; default: all")
      ->check(AtLeast(0));
  command->footer(Footer(kExamples));
  command->callback([=, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [=] { return Log(*arguments, *limit); };
  });
}

}  // namespace lastword::cli
