// `lastword epoch`: the operator's word that the positions of the source start again.
#include <iostream>

#include "base/format.h"
#include "cli/command.h"

namespace lastword::cli {
namespace {

CommandResult Epoch(const TableArguments& arguments) {
  LW_ASSIGN_OR_RETURN(const OpenedTable table,
                      OpenExisting(arguments.uri, arguments.config, /*read_only=*/false));
  LW_ASSIGN_OR_RETURN(const uint32_t epoch, table->NextEpoch());
  LW_ASSIGN_OR_RETURN(const TableStatus status, table->GetStatus());
  if (arguments.json) {
    Json json;
    json["table"] = arguments.uri;
    json["epoch"] = epoch;
    json["lance_version"] = status.lance_version;
    std::cout << DumpJson(json) << '\n';
  } else {
    std::cout << Message(
        "{}: epoch {} begins; every change from now on outranks all that came before\n",
        arguments.uri, epoch);
  }
  return 0;
}

constexpr const char* kExamples =
    "  lastword epoch lake/orders.lance\n"
    "\n"
    "For a source whose positions start again lower: a failover, a new slot or topic, a restored\n"
    "database, a file that was replaced. It cannot be taken back.\n";

}  // namespace

void AddEpoch(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("epoch", "Declare that the source starts again");
  const auto arguments = AddTableArguments(*command);
  command->footer(Footer(kExamples));
  command->callback([=, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [=] { return Epoch(*arguments); };
  });
}

}  // namespace lastword::cli
