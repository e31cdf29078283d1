// The configuration of a pipeline as it is written: which source, which tables, what to do about
// what goes wrong (docs/configuration.md). Read and checked here; what it names is opened
// elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/decoder.h"
#include "lastword/schema.h"
#include "lastword/status.h"
#include "lastword/table.h"

namespace lastword {

enum class SourceKind : uint8_t { kFile, kKafka, kPostgres };
enum class OnBadRecord : uint8_t { kFail, kDeadLetter };

/// From `from_offset` of a partition on, versions belong to `epoch`.
struct EpochRule {
  int32_t partition = 0;
  uint64_t from_offset = 0;
  uint32_t epoch = 0;
};

struct SourceConfig {
  SourceKind kind = SourceKind::kFile;
  std::vector<std::string> paths;   // file
  std::vector<std::string> topics;  // kafka
  std::vector<std::string> tables;  // postgres
  std::string format;               // as written; empty = the default of the caller
  std::vector<EpochRule> epochs;
  std::optional<uint64_t> decoders;  // file: threads that decode; empty = one a core
  /// Every other key of its kind under our name, expanded: "url", "bootstrap.servers", "slot". May
  /// hold secrets: never printed.
  std::map<std::string, std::string> settings;
};

struct TableConfig {
  std::string name;
  std::vector<std::string> sources;  // never empty after reading
  std::vector<std::string> primary_key, nullable_key, sequence_columns;
  std::vector<Column> columns;  // empty = discovered
  codec::TableSpec::DecimalEncoding decimal_encoding = codec::TableSpec::DecimalEncoding::kBase64;
  codec::TableSpec::Evolution schema_evolution = codec::TableSpec::Evolution::kException;
  bool type_widening = false;
  OnResnapshot on_resnapshot = OnResnapshot::kUnset;
  OnConflict on_conflict = OnConflict::kFail;
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  LoneUpdateBefore lone_update_before = LoneUpdateBefore::kDelete;
  std::vector<IndexOptions> indexes;
};

struct SinkConfig {
  std::string uri;
  std::string storage_version = "2.2";
  bool fsync = true;
  /// What happens to its tables between checkpoints; the meanings and defaults of TableOptions.
  bool compaction = TableOptions().compaction;
  uint32_t compaction_fragments = TableOptions().compaction_fragments;
  uint64_t keep_versions = TableOptions().keep_versions;
  std::chrono::seconds keep_for = TableOptions().keep_for;
  double keep_ratio = TableOptions().keep_ratio;
};

struct CheckpointConfig {
  std::chrono::milliseconds interval{1000};  // of a running pipeline; `apply` has no clock
  std::optional<uint64_t> max_changes;
  uint64_t max_bytes = 256ull << 20;
};

struct PipelineConfig {
  std::string name;
  SourceConfig source;
  SinkConfig sink;
  CheckpointConfig checkpoint;
  uint64_t memory_bytes = 2ull << 30;
  std::string http;  // address; empty = no server
  std::vector<TableConfig> tables;
};

/// Looks up a variable of the environment.
using VariableLookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads YAML (JSON is YAML). `name` stands for the text in messages, as "name:line:column". Errors
/// are kUsage and name the key, what it may be, and for an unknown one the nearest known name;
/// values of source settings are never shown.
Result<PipelineConfig> ParseConfig(std::string_view text, const std::string& name,
                                   const VariableLookup& variables);

/// Reads a file with the variables of this process. kUsage also for a file that cannot be read.
Result<PipelineConfig> LoadConfig(const std::string& path);

}  // namespace lastword
