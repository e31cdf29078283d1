// `lastword gc`: removes tombstones that no input can need any more, and nothing by age.
#include <iostream>

#include "base/format.h"
#include "cli/asked_version.h"
#include "cli/command.h"
#include "cli/option_checks.h"
#include "model/boundary.h"

namespace lastword::cli {
namespace {

CommandResult Gc(const TableArguments& arguments, const std::string& boundary_text) {
  std::optional<Version> boundary;
  if (!boundary_text.empty()) {
    LW_ASSIGN_OR_RETURN(boundary, ParseBoundary(boundary_text));
  }
  LW_ASSIGN_OR_RETURN(const OpenedTable table,
                      OpenExisting(arguments.uri, arguments.config, /*read_only=*/false));
  if (boundary) boundary = InPresentEpoch(boundary_text, *boundary, table);
  LW_ASSIGN_OR_RETURN(const TableImpl::GcReport report, table->CollectTombstones(boundary));
  if (arguments.json) {
    Json json;
    json["table"] = arguments.uri;
    json["removed"] = report.removed;
    json["kept"] = report.kept;
    json["why"] = report.why;
    json["boundary"] = boundary ? Json(ToString(*boundary)) : Json();
    json["lance_version"] = report.lance_version;
    std::cout << DumpJson(json) << '\n';
    return 0;
  }
  std::cout << Message("{}: removed {} tombstones, kept {}", arguments.uri, report.removed,
                       report.kept);
  if (!report.why.empty()) std::cout << ": " << report.why;
  std::cout << '\n';
  return 0;
}

constexpr const char* kExamples =
    "  lastword gc lake/orders.lance\n"
    "  lastword gc lake/orders.lance --boundary lsn:0/16B3748\n"
    "\n"
    "The boundary is a version at or below which no input can deliver anything again. Whatever "
    "still\n"
    "arrives there is refused and counted as below the floor. Without one every tombstone is "
    "kept.\n";

}  // namespace

void AddGc(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("gc", "Remove tombstones below a replay boundary");
  const auto arguments = AddTableArguments(*command);
  const auto boundary = std::make_shared<std::string>();
  command
      ->add_option("--boundary", *boundary,
                   "Version at or below which no input can deliver anything again")
      ->check(NotEmpty());
  command->footer(Footer(kExamples));
  command->callback([=, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [=] { return Gc(*arguments, *boundary); };
  });
}

}  // namespace lastword::cli
