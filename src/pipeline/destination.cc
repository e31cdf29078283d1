#include "pipeline/destination.h"

#include <algorithm>

#include "base/format.h"
#include "model/schema_change.h"

namespace lastword {
namespace {

Error Incompatible(const TableConfig& config, std::string message, std::string column = {}) {
  return Error{ErrorKind::kSchemaIncompatible, std::move(message),
               Place{.table = config.name, .column = std::move(column)}};
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A schema of declared columns alone. Without a declared key it has none yet: the source tells it.
Schema DeclaredSchema(const TableConfig& config) {
  Schema schema;
  schema.columns = config.columns;
  if (schema.columns.empty()) return schema;
  for (const std::string& name : config.primary_key) {
    const auto index = schema.Find(name);
    if (!index) continue;  // the configuration was checked
    const bool nullable = Contains(config.nullable_key, name);
    schema.key.push_back(*index);
    schema.nullable_key.push_back(nullable);
    schema.columns[*index].nullable = nullable;
  }
  return schema;
}

// Makes a stored column what the configuration declares, where that loses nothing.
Status MergeColumn(const TableConfig& config, const Column& declared, Column& stored) {
  stored.from = declared.from;
  stored.default_value = declared.default_value;
  if (stored.type == declared.type) return Ok{};
  // The table may be wider than declared: an earlier run widened it.
  if (config.type_widening && CanWiden(declared.type, stored.type).ok()) return Ok{};
  if (config.type_widening && CanWiden(stored.type, declared.type).ok()) {
    stored.type = declared.type;
    return Ok{};
  }
  return Incompatible(
      config,
      Message("column {} is {} in the table and declared {}; declare it as it is stored, or set "
              "type_widening: true where the declared type is wider",
              stored.name, ToString(stored.type), ToString(declared.type)),
      stored.name);
}

Status CheckKey(const TableConfig& config, const Schema& stored) {
  if (config.primary_key.empty()) return Ok{};
  std::vector<std::string> names;
  for (const uint32_t index : stored.key) names.push_back(stored.columns[index].name);
  if (names == config.primary_key) return Ok{};
  std::string have, want;
  for (const std::string& name : names) have += (have.empty() ? "" : ", ") + name;
  for (const std::string& name : config.primary_key) want += (want.empty() ? "" : ", ") + name;
  return Incompatible(config,
                      Message("the primary key of the table is ({}), declared is ({}); a key never "
                              "changes: declare it as it is stored, or load a new table",
                              have, want));
}

}  // namespace

Result<Schema> ReconcileSchema(const TableConfig& config, const Schema& stored) {
  if (stored.columns.empty()) return DeclaredSchema(config);
  LW_RETURN_IF_ERROR(CheckKey(config, stored));
  Schema schema = stored;
  for (const Column& declared : config.columns) {
    if (const auto index = schema.Find(declared.name)) {
      LW_RETURN_IF_ERROR(MergeColumn(config, declared, schema.columns[*index]));
      continue;
    }
    if (config.schema_evolution != codec::TableSpec::Evolution::kEvolve) {
      return Incompatible(config,
                          Message("column {} is declared but the table lacks it; set "
                                  "schema_evolution: evolve to add it",
                                  declared.name),
                          declared.name);
    }
    schema.columns.push_back(declared);
    schema.columns.back().nullable = true;
  }
  return schema;
}

Result<Destination> Destination::Open(TableConfig config, const std::string& uri,
                                      TableOptions options, Storage& storage) {
  options.schema = Schema();
  options.on_conflict = config.on_conflict;
  options.on_resnapshot = config.on_resnapshot;
  options.lone_update_before = config.lone_update_before;
  options.indexes = config.indexes;

  Destination destination;
  LW_ASSIGN_OR_RETURN(destination.x_table, TableImpl::Open(uri, options, storage));
  codec::TableSpec& spec = destination.x_spec;
  spec.name = config.name;
  spec.sources = config.sources;
  spec.discover = config.columns.empty();
  spec.primary_key = config.primary_key;
  spec.nullable_key = config.nullable_key;
  spec.sequence_columns = config.sequence_columns;
  spec.decimal_encoding = config.decimal_encoding;
  spec.evolution = config.schema_evolution;
  spec.type_widening = config.type_widening;
  const Schema stored = destination.x_table->schema();
  LW_ASSIGN_OR_RETURN(spec.schema, ReconcileSchema(config, stored));
  destination.x_config = std::move(config);
  // Without a key there is no table yet: the first record names it and asks for the schema.
  if (!spec.schema.key.empty()) LW_RETURN_IF_ERROR(destination.x_table->SetSchema(spec.schema));
  return destination;
}

Status Destination::Grant(const Schema& schema) {
  LW_RETURN_IF_ERROR(x_table->SetSchema(schema));
  x_spec.schema = schema;
  return Ok{};
}

TableOptions TableOptionsOf(const PipelineConfig& config) {
  TableOptions options;
  options.fsync = config.sink.fsync;
  options.storage_version = config.sink.storage_version;
  options.memory_bytes_max = config.memory_bytes / std::max<size_t>(config.tables.size(), 1);
  options.compaction = config.sink.compaction;
  options.compaction_fragments = config.sink.compaction_fragments;
  options.keep_versions = config.sink.keep_versions;
  options.keep_for = config.sink.keep_for;
  options.keep_ratio = config.sink.keep_ratio;
  return options;
}

std::string TableUri(const std::string& sink_uri, const std::string& name) {
  return sink_uri + (sink_uri.ends_with('/') ? "" : "/") + name + ".lance";
}

}  // namespace lastword
