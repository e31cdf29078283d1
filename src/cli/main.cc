// The program `lastword`: parses the command line, runs one command, says what went wrong. Every
// decision is made below, in the pipeline and the table; exit codes come from ExitCodeOf alone.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <vector>

#include "base/format.h"
#include "cli/command.h"
#include "pipeline/config_text.h"

#ifndef LW_VERSION
#error "the build defines LW_VERSION"
#endif

namespace lastword::cli {
namespace {

constexpr void (*kCommands[])(CLI::App&, Chosen&) = {
    AddApply, AddShow, AddExplain, AddStatus, AddLog, AddGc, AddCompact, AddEpoch,
};

bool AsksForJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) return true;
  }
  return false;
}

// The parser would only say that a command is missing.
std::optional<Error> UnknownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return std::nullopt;
  const std::string_view nearest = NearestName(argv[1], names);
  return Error{ErrorKind::kUsage,
               nearest.empty()
                   ? Message("unknown command `{}`; commands are {}", argv[1], ListOfNames(names))
                   : Message("unknown command `{}`; did you mean `{}`?", argv[1], nearest)};
}

int Run(int argc, char** argv) {
  CLI::App app(
      "lastword applies change streams to Lance tables: a table always equals the newest state of "
      "its source.",
      "lastword");
  app.set_version_flag("--version", "lastword " LW_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Chosen chosen;
  for (const auto add : kCommands) add(app, chosen);
  if (const auto unknown = UnknownCommand(app, argc, argv)) {
    return Say(*unknown, AsksForJson(argc, argv));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    // Help and version are no errors to us; the parser reports them in the same way.
    if (problem.get_exit_code() == 0) return app.exit(problem, std::cout, std::cerr);
    return Say(Error{ErrorKind::kUsage,
                     std::string(problem.what()) + "; lastword COMMAND --help shows what it takes"},
               AsksForJson(argc, argv));
  }
  const CommandResult result = chosen.run();
  if (result.ok()) return *result;
  return Say(result.error(), chosen.json != nullptr && *chosen.json);
}

}  // namespace
}  // namespace lastword::cli

int main(int argc, char** argv) {
  // The parser and the YAML library allocate and throw; whatever passes them is a defect of ours.
  try {
    return lastword::cli::Run(argc, argv);
  } catch (const std::exception& problem) {
    return lastword::cli::Say({lastword::ErrorKind::kInternal, problem.what()},
                              lastword::cli::AsksForJson(argc, argv));
  }
}
