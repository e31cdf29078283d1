// What `lastword apply` was asked for: options, configuration and defaults put together into the
// tables and the source of one run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/decoder.h"
#include "pipeline/config.h"

namespace lastword::cli {

struct ApplyArguments {
  std::vector<std::string> events;
  std::string table;
  std::vector<std::string> keys;
  std::vector<std::string> columns;  // "name:type"
  std::string format;
  std::string config;
  std::string outcomes;
  std::string checkpoint_id;
  std::optional<uint64_t> checkpoint_every;
  bool from_start = false, dead_letter = false, strict = false, json = false;
};

/// One table of the run and where it lies.
struct PlannedTable {
  TableConfig config;
  std::string uri;
};

struct ApplyPlan {
  PipelineConfig pipeline;  // its tables are in `tables`
  std::vector<PlannedTable> tables;
  codec::Format format = codec::Format::kDebezium;
  bool format_given = false;
};

/// Checks the arguments against each other and reads the configuration. Every error is kUsage.
Result<ApplyPlan> PlanApply(const ApplyArguments& arguments);

}  // namespace lastword::cli
