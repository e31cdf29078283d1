#include "cli/command.h"

#include <filesystem>
#include <iostream>

#include "base/format.h"
#include "cli/allocator.h"
#include "commit/lance_storage.h"
#include "pipeline/destination.h"

namespace lastword::cli {

Json ErrorJson(const Error& error) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  const Place& place = error.place;
  Json json;
  json["kind"] = std::string(NameOf(error.kind));
  json["message"] = error.message;
  json["input"] = text(place.input);
  json["offset"] = place.offset ? Json(*place.offset) : Json();
  json["line"] = place.line ? Json(*place.line) : Json();
  json["table"] = text(place.table);
  json["key"] = text(place.key);
  json["column"] = text(place.column);
  return json;
}

int Say(const Error& error, bool json) {
  std::cerr << "lastword: " << ToString(error) << std::endl;
  if (json) std::cout << DumpJson(Json{{"error", ErrorJson(error)}}) << std::endl;
  return ExitCodeOf(error.kind);
}

Result<OpenedTable> OpenExisting(const std::string& uri, const std::string& config,
                                 bool read_only) {
  TableOptions options;
  if (!config.empty()) {
    LW_ASSIGN_OR_RETURN(const PipelineConfig pipeline, LoadConfig(config));
    options = TableOptionsOf(pipeline);
    const std::string name = std::filesystem::path(uri).lexically_normal().filename().string();
    for (const TableConfig& table : pipeline.tables) {
      if (table.name + ".lance" == name) options.indexes = table.indexes;
    }
  }
  options.read_only = read_only;
  BoundFreedMemory(options.memory_bytes_max);
  OpenedTable opened;
  opened.storage = MakeLanceStorage(options);
  // Asked first, so that a wrong path leaves no lock file behind.
  LW_ASSIGN_OR_RETURN(const auto dataset, opened.storage->OpenDataset(uri));
  if (dataset == nullptr) {
    return Error{ErrorKind::kStorageUnavailable,
                 Message("there is no table at {}; name the folder of its Lance dataset, such as "
                         "lake/orders.lance",
                         uri)};
  }
  LW_ASSIGN_OR_RETURN(opened.table, TableImpl::Open(uri, options, *opened.storage));
  LW_ASSIGN_OR_RETURN(opened.status, opened->GetStatus());
  return opened;
}

std::shared_ptr<TableArguments> AddTableArguments(CLI::App& command) {
  auto arguments = std::make_shared<TableArguments>();
  command.add_option("TABLE", arguments->uri, "The table: path of its Lance dataset")->required();
  command.add_option("--config", arguments->config,
                     "Pipeline configuration whose memory and durability hold");
  command.add_flag("--json", arguments->json, "Print one JSON object, the last line of the output");
  return arguments;
}

std::string Footer(const std::string& examples) {
  return "Examples:\n" + examples +
         "\nExit codes: 0 done; 2 usage or configuration; 3 stopped at a record; 4 another writer; "
         "\n5 storage or source unavailable; 70 defect of lastword.\n";
}

}  // namespace lastword::cli
