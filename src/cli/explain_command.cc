// `lastword explain`: why a key is what it is, and what a change of some version would get.
#include <iostream>

#include "base/format.h"
#include "cli/asked_version.h"
#include "cli/command.h"
#include "cli/option_checks.h"
#include "lastword/version.h"
#include "model/explanation.h"

namespace lastword::cli {
namespace {

void PrintText(const std::string& key, const Explanation& told,
               const std::optional<Version>& asked) {
  const auto line = [](std::string_view name, std::string_view value) {
    std::cout << Message("{:<14}{}\n", name, value);
  };
  line("key", key);
  line("state", NameOf(told.state));
  if (told.version) {
    line(told.state == Explanation::State::kBelowFloor ? "floor" : "version",
         ToString(*told.version));
  }
  if (told.lance_version) line("Lance version", std::to_string(*told.lance_version));
  if (!told.checkpoint.empty()) line("checkpoint", told.checkpoint);
  if (told.quarantined) line("quarantined", "yes: a change of the same version said otherwise");
  if (asked && told.would_be) {
    line("would be", Message("{} (version {})", NameOf(*told.would_be), ToString(*asked)));
  }
  line("why", told.why);
}

void PrintJson(const std::string& key, const Explanation& told,
               const std::optional<Version>& asked) {
  Json json;
  json["key"] = key;
  json["state"] = std::string(NameOf(told.state));
  json["version"] = told.version ? Json(ToString(*told.version)) : Json();
  json["lance_version"] = told.lance_version ? Json(*told.lance_version) : Json();
  json["checkpoint"] = told.checkpoint.empty() ? Json() : Json(told.checkpoint);
  json["quarantined"] = told.quarantined;
  json["asked_version"] = asked ? Json(ToString(*asked)) : Json();
  json["would_be"] = told.would_be ? Json(std::string(NameOf(*told.would_be))) : Json();
  json["why"] = told.why;
  std::cout << DumpJson(json) << '\n';
}

CommandResult Explain(const TableArguments& arguments, const std::string& key,
                      const std::string& version) {
  std::optional<Version> asked;
  if (!version.empty()) {
    LW_ASSIGN_OR_RETURN(asked, ParseVersion(version));
  }
  LW_ASSIGN_OR_RETURN(const OpenedTable table,
                      OpenExisting(arguments.uri, arguments.config, /*read_only=*/true));
  if (asked) asked = InPresentEpoch(version, *asked, table);
  LW_ASSIGN_OR_RETURN(const Explanation told, table->Explain(key, asked));
  if (arguments.json) {
    PrintJson(key, told, asked);
  } else {
    PrintText(key, told, asked);
  }
  return 0;
}

constexpr const char* kExamples =
    "  lastword explain lake/orders.lance 7\n"
    "  lastword explain lake/orders.lance '[1,\"a\"]' --version lsn:0/16B3748\n"
    "  lastword explain lake/orders.lance '{\"id\":1}' --json\n"
    "\n"
    "KEY is the value, or JSON for a key of several columns. VERSION is epoch/hi/mid/lo or the\n"
    "source's own form: lsn:0/16B3748, offset:3:42, seq:3.\n";

}  // namespace

void AddExplain(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("explain", "Say why a key is what it is");
  const auto arguments = AddTableArguments(*command);
  const auto key = std::make_shared<std::string>();
  const auto version = std::make_shared<std::string>();
  command->add_option("KEY", *key, "The key: its value, or JSON")->required();
  command->add_option("--version", *version, "Say what a change of this version would get")
      ->check(NotEmpty());
  command->footer(Footer(kExamples));
  command->callback([=, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [=] { return Explain(*arguments, *key, *version); };
  });
}

}  // namespace lastword::cli
