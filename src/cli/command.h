// What the commands share: their place in the program, how errors are said, how a table is named.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "commit/table_impl.h"
#include "lastword/status.h"
#include "lastword/table.h"

namespace lastword::cli {

/// What a command says to `main`: the exit code of a run that failed nowhere, or its error.
using CommandResult = Result<int>;

/// The chosen command, set by the parser. `json`: an error is printed as JSON, last on standard
/// output.
struct Chosen {
  std::function<CommandResult()> run;
  const bool* json = nullptr;
};

// One row a command: adds itself to `app` and, when chosen, sets `chosen`.
void AddApply(CLI::App& app, Chosen& chosen);
void AddShow(CLI::App& app, Chosen& chosen);
void AddExplain(CLI::App& app, Chosen& chosen);
void AddStatus(CLI::App& app, Chosen& chosen);
void AddLog(CLI::App& app, Chosen& chosen);
void AddGc(CLI::App& app, Chosen& chosen);
void AddCompact(CLI::App& app, Chosen& chosen);
void AddEpoch(CLI::App& app, Chosen& chosen);

/// Says an error: "lastword: bad_json: …" on standard error and, with `json`, as an object on
/// standard output. Returns its exit code.
int Say(const Error& error, bool json);

/// The error as users of `--json` read it; what is not known is null.
Json ErrorJson(const Error& error);

/// A table that a command works on, by the path of its dataset.
struct OpenedTable {
  std::unique_ptr<Storage> storage;
  std::unique_ptr<TableImpl> table;
  TableStatus status;
  TableImpl* operator->() const { return table.get(); }
};

/// Opens an existing table. `config`: the file whose sink and memory settings hold for it; empty =
/// defaults. kStorageUnavailable where there is no table.
Result<OpenedTable> OpenExisting(const std::string& uri, const std::string& config, bool read_only);

/// Adds the options that commands on one table share.
struct TableArguments {
  std::string uri;
  std::string config;
  bool json = false;
};
std::shared_ptr<TableArguments> AddTableArguments(CLI::App& command);

/// The text behind the options in `--help`.
std::string Footer(const std::string& examples);

}  // namespace lastword::cli
