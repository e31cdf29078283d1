#include "pipeline/config.h"

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/format.h"
#include "model/schema_check.h"
#include "model/value_rows.h"
#include "pipeline/config_node.h"
#include "pipeline/config_source.h"
#include "pipeline/config_text.h"

namespace lastword {
namespace {

Result<Value> ReadDefault(const ConfigNode& node, const Type& type) {
  if (node.is_null()) return Value();
  if (type.kind == TypeKind::kList || type.kind == TypeKind::kVector) {
    const Type element =
        type.kind == TypeKind::kVector ? Type{.kind = TypeKind::kFloat32} : *type.element;
    LW_ASSIGN_OR_RETURN(const auto items, node.Items());
    List list;
    for (const ConfigNode& item : items) {
      LW_ASSIGN_OR_RETURN(list.emplace_back(), ReadDefault(item, element));
    }
    return Value(std::move(list));
  }
  LW_ASSIGN_OR_RETURN(const std::string text, node.Text());
  auto value = ParseValueText(type, text);
  if (!value.ok()) return node.At(value.error());
  ColumnData probe(type);  // finds a value that the column cannot hold
  if (const Status fits = AppendValue(*value, probe); !fits.ok()) return node.At(fits.error());
  return value;
}

// A column is filled from metadata of the record or, by any other name, from a field of the image.
Status CheckFrom(const ConfigNode& node, const std::string& from) {
  if (!from.empty() && from != "source." && from != "header.") return Ok{};
  return node.Wrong(
      "must be source.FIELD, header.NAME, topic, partition, offset, or a field of the row");
}

Result<Column> ReadColumn(const ConfigNode& node) {
  static constexpr std::string_view kKnown[] = {"name", "type", "from", "default"};
  LW_ASSIGN_OR_RETURN(const auto members, node.Members(kKnown));
  Column column;
  bool typed = false;
  const ConfigNode* default_node = nullptr;
  for (const auto& [key, value] : members) {
    if (key == "name") {
      LW_ASSIGN_OR_RETURN(column.name, value.Text());
      if (const Status name = CheckColumnName(column.name); !name.ok()) {
        return value.At(name.error());
      }
    } else if (key == "type") {
      LW_ASSIGN_OR_RETURN(const std::string text, value.Text());
      auto type = ParseType(text);
      if (!type.ok()) return value.At(type.error());
      column.type = *type;
      typed = true;
    } else if (key == "from") {
      LW_ASSIGN_OR_RETURN(column.from, value.Text());
      LW_RETURN_IF_ERROR(CheckFrom(value, column.from));
    } else {
      default_node = &value;
    }
  }
  if (column.name.empty()) return node.Wrong("a column needs a `name`");
  if (!typed) return node.Wrong(Message("the column `{}` needs a `type`", column.name));
  if (default_node != nullptr) {
    LW_ASSIGN_OR_RETURN(column.default_value, ReadDefault(*default_node, column.type));
  }
  return column;
}

Result<std::vector<Column>> ReadColumns(const ConfigNode& node) {
  LW_ASSIGN_OR_RETURN(const auto items, node.Items());
  std::vector<Column> columns;
  for (const ConfigNode& item : items) {
    LW_ASSIGN_OR_RETURN(Column column, ReadColumn(item));
    for (const Column& known : columns) {
      if (known.name == column.name) {
        return item.Wrong(Message("the column `{}` appears twice", column.name));
      }
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

Result<std::vector<IndexOptions>> ReadIndexes(const ConfigNode& node) {
  static constexpr std::string_view kKnown[] = {"column", "type"};
  static constexpr std::string_view kTypes[] = {"btree", "ivf_pq"};
  LW_ASSIGN_OR_RETURN(const auto items, node.Items());
  std::vector<IndexOptions> indexes;
  for (const ConfigNode& item : items) {
    LW_ASSIGN_OR_RETURN(const auto members, item.Members(kKnown));
    IndexOptions& index = indexes.emplace_back();
    for (const auto& [key, value] : members) {
      if (key == "column") {
        LW_ASSIGN_OR_RETURN(index.column, value.Text());
      } else {
        LW_ASSIGN_OR_RETURN(const size_t type, value.OneOf(kTypes));
        index.type = kTypes[type];
      }
    }
    if (index.column.empty() || index.type.empty()) {
      return item.Wrong("an index needs a `column` and a `type`");
    }
  }
  return indexes;
}

// Reads one of a few names into an enum whose values are in the order of the names.
template <typename Enum>
Status ReadEnum(const ConfigNode& node, std::span<const std::string_view> names, Enum& out) {
  LW_ASSIGN_OR_RETURN(const size_t index, node.OneOf(names));
  out = static_cast<Enum>(index);
  return Ok{};
}

// What happens to changes that do not fit; false = `key` is none of these.
Result<bool> ReadPolicy(const std::string& key, const ConfigNode& value, TableConfig& table) {
  static constexpr std::string_view kEncodings[] = {"base64", "string", "number"};
  static constexpr std::string_view kEvolutions[] = {"exception", "evolve", "ignore"};
  static constexpr std::string_view kResnapshots[] = {"replace", "merge"};
  static constexpr std::string_view kConflicts[] = {"fail", "quarantine"};
  static constexpr std::string_view kBadRecords[] = {"fail", "dead_letter"};
  static constexpr std::string_view kLoneUpdates[] = {"delete", "drop", "fail"};
  if (key == "decimal_encoding") {
    LW_RETURN_IF_ERROR(ReadEnum(value, kEncodings, table.decimal_encoding));
  } else if (key == "schema_evolution") {
    LW_RETURN_IF_ERROR(ReadEnum(value, kEvolutions, table.schema_evolution));
  } else if (key == "type_widening") {
    LW_ASSIGN_OR_RETURN(table.type_widening, value.Bool());
  } else if (key == "on_resnapshot") {
    LW_ASSIGN_OR_RETURN(const size_t index, value.OneOf(kResnapshots));
    table.on_resnapshot = index == 0 ? OnResnapshot::kReplace : OnResnapshot::kMerge;
  } else if (key == "on_conflict") {
    LW_RETURN_IF_ERROR(ReadEnum(value, kConflicts, table.on_conflict));
  } else if (key == "on_bad_record") {
    LW_RETURN_IF_ERROR(ReadEnum(value, kBadRecords, table.on_bad_record));
  } else if (key == "lone_update_before") {
    LW_RETURN_IF_ERROR(ReadEnum(value, kLoneUpdates, table.lone_update_before));
  } else {
    return false;
  }
  return true;
}

Status CheckTable(const ConfigNode& node, const TableConfig& table) {
  if (table.name.empty()) return node.Wrong("a table needs a `name`");
  if (table.name.find('/') != std::string::npos || table.name.starts_with('.')) {
    return node.Wrong(
        Message("the table name `{}` must be usable as a file name, without `/` and not starting "
                "with `.`",
                table.name));
  }
  const auto declared = [&](const std::string& name) {
    return table.columns.empty() || std::any_of(table.columns.begin(), table.columns.end(),
                                                [&](const Column& c) { return c.name == name; });
  };
  for (const std::string& name : table.primary_key) {
    if (!declared(name)) {
      return node.Wrong(
          Message("the key column `{}` of table `{}` is not among its columns", name, table.name));
    }
  }
  for (const std::string& name : table.sequence_columns) {
    if (name != "offset" && !declared(name)) {
      return node.Wrong(Message("the sequence column `{}` of table `{}` is not among its columns",
                                name, table.name));
    }
  }
  for (const std::string& name : table.nullable_key) {
    const auto& key = table.primary_key;
    if (!key.empty() && std::find(key.begin(), key.end(), name) == key.end()) {
      return node.Wrong(Message("`{}` is in nullable_key but not in the primary_key of table `{}`",
                                name, table.name));
    }
  }
  return Ok{};
}

Result<TableConfig> ReadTable(const ConfigNode& node) {
  static constexpr std::string_view kKnown[] = {"name",
                                                "source",
                                                "primary_key",
                                                "nullable_key",
                                                "columns",
                                                "indexes",
                                                "sequence_columns",
                                                "decimal_encoding",
                                                "type_widening",
                                                "schema_evolution",
                                                "on_resnapshot",
                                                "on_conflict",
                                                "on_bad_record",
                                                "lone_update_before"};
  LW_ASSIGN_OR_RETURN(const auto members, node.Members(kKnown));
  TableConfig table;
  for (const auto& [key, value] : members) {
    if (key == "name") {
      LW_ASSIGN_OR_RETURN(table.name, value.Text());
    } else if (key == "source") {
      LW_ASSIGN_OR_RETURN(table.sources, value.Texts());
      if (table.sources.empty()) return value.Wrong("must name at least one source table");
    } else if (key == "primary_key") {
      LW_ASSIGN_OR_RETURN(table.primary_key, value.Texts());
    } else if (key == "nullable_key") {
      LW_ASSIGN_OR_RETURN(table.nullable_key, value.Texts());
    } else if (key == "sequence_columns") {
      LW_ASSIGN_OR_RETURN(table.sequence_columns, value.Texts());
      if (table.sequence_columns.size() > 3) {
        return value.Wrong("at most three columns make a version");
      }
    } else if (key == "columns") {
      LW_ASSIGN_OR_RETURN(table.columns, ReadColumns(value));
    } else if (key == "indexes") {
      LW_ASSIGN_OR_RETURN(table.indexes, ReadIndexes(value));
    } else {
      LW_RETURN_IF_ERROR(ReadPolicy(key, value, table));
    }
  }
  LW_RETURN_IF_ERROR(CheckTable(node, table));
  if (table.sources.empty()) table.sources = {table.name};
  return table;
}

// Compaction and clean-up of a sink's tables; false = `key` is none of these.
Result<bool> ReadMaintenance(const std::string& key, const ConfigNode& value, SinkConfig& sink) {
  if (key == "compaction") {
    LW_ASSIGN_OR_RETURN(sink.compaction, value.Bool());
  } else if (key == "compaction_fragments") {
    LW_ASSIGN_OR_RETURN(const uint64_t fragments, value.Unsigned(1000));
    if (fragments < 2) return value.Wrong("must be at least 2");
    sink.compaction_fragments = static_cast<uint32_t>(fragments);
  } else if (key == "keep_versions") {
    LW_ASSIGN_OR_RETURN(sink.keep_versions, value.Unsigned());
  } else if (key == "keep_for") {
    LW_ASSIGN_OR_RETURN(const std::string text, value.Text());
    const auto duration = ParseDuration(text);
    if (!duration.ok()) return value.At(duration.error());
    sink.keep_for = std::chrono::ceil<std::chrono::seconds>(*duration);
  } else if (key == "keep_ratio") {
    LW_ASSIGN_OR_RETURN(const uint64_t ratio, value.Unsigned(1'000'000));
    sink.keep_ratio = static_cast<double>(ratio);
  } else {
    return false;
  }
  return true;
}

Result<SinkConfig> ReadSink(const ConfigNode& node) {
  static constexpr std::string_view kKnown[] = {
      "uri",           "storage_version", "durability", "compaction", "compaction_fragments",
      "keep_versions", "keep_for",        "keep_ratio"};
  static constexpr std::string_view kVersions[] = {"2.0", "2.1", "2.2"};
  static constexpr std::string_view kDurabilities[] = {"process", "fsync"};
  LW_ASSIGN_OR_RETURN(const auto members, node.Members(kKnown));
  SinkConfig sink;
  for (const auto& [key, value] : members) {
    if (key == "uri") {
      LW_ASSIGN_OR_RETURN(sink.uri, value.Text());
    } else if (key == "storage_version") {
      LW_ASSIGN_OR_RETURN(const size_t index, value.OneOf(kVersions));
      sink.storage_version = kVersions[index];
    } else if (key == "durability") {
      LW_ASSIGN_OR_RETURN(const size_t index, value.OneOf(kDurabilities));
      sink.fsync = index == 1;
    } else {
      LW_RETURN_IF_ERROR(ReadMaintenance(key, value, sink));
    }
  }
  if (sink.uri.empty()) return node.Wrong("the sink needs a `uri`: the folder of its tables");
  return sink;
}

Result<CheckpointConfig> ReadCheckpoint(const ConfigNode& node) {
  static constexpr std::string_view kKnown[] = {"interval", "max_changes", "max_bytes"};
  LW_ASSIGN_OR_RETURN(const auto members, node.Members(kKnown));
  CheckpointConfig checkpoint;
  for (const auto& [key, value] : members) {
    if (key == "interval") {
      LW_ASSIGN_OR_RETURN(const std::string text, value.Text());
      const auto interval = ParseDuration(text);
      if (!interval.ok()) return value.At(interval.error());
      checkpoint.interval = *interval;
    } else if (key == "max_changes") {
      LW_ASSIGN_OR_RETURN(checkpoint.max_changes, value.Unsigned());
      if (*checkpoint.max_changes == 0) return value.Wrong("must be at least 1");
    } else {
      LW_ASSIGN_OR_RETURN(checkpoint.max_bytes, value.Size());
    }
  }
  return checkpoint;
}

Result<std::vector<TableConfig>> ReadTables(const ConfigNode& node) {
  LW_ASSIGN_OR_RETURN(const auto items, node.Items());
  std::vector<TableConfig> tables;
  for (const ConfigNode& item : items) {
    LW_ASSIGN_OR_RETURN(TableConfig table, ReadTable(item));
    for (const TableConfig& known : tables) {
      if (known.name == table.name) {
        return item.Wrong(
            Message("the table `{}` appears twice; several sources of one table are "
                    "listed under its `source`",
                    table.name));
      }
    }
    tables.push_back(std::move(table));
  }
  if (tables.empty()) return node.Wrong("must name at least one table");
  return tables;
}

}  // namespace

Result<PipelineConfig> ParseConfig(std::string_view text, const std::string& name,
                                   const VariableLookup& variables) {
  static constexpr std::string_view kKnown[] = {"pipeline",   "source", "sink", "tables",
                                                "checkpoint", "memory", "http"};
  const ConfigText shared{name, variables};
  LW_ASSIGN_OR_RETURN(const ConfigNode root, ConfigNode::Parse(text, shared));
  LW_ASSIGN_OR_RETURN(const auto members, root.Members(kKnown));
  PipelineConfig config;
  bool has_source = false, has_sink = false;
  for (const auto& [key, value] : members) {
    if (key == "pipeline") {
      LW_ASSIGN_OR_RETURN(config.name, value.Text());
    } else if (key == "source") {
      LW_ASSIGN_OR_RETURN(config.source, ReadSource(value));
      has_source = true;
    } else if (key == "sink") {
      LW_ASSIGN_OR_RETURN(config.sink, ReadSink(value));
      has_sink = true;
    } else if (key == "tables") {
      LW_ASSIGN_OR_RETURN(config.tables, ReadTables(value));
    } else if (key == "checkpoint") {
      LW_ASSIGN_OR_RETURN(config.checkpoint, ReadCheckpoint(value));
    } else if (key == "memory") {
      LW_ASSIGN_OR_RETURN(config.memory_bytes, value.Size());
    } else {
      LW_ASSIGN_OR_RETURN(config.http, value.Text());
    }
  }
  if (!has_source) return root.Wrong("`source` is missing: say where changes come from");
  if (!has_sink) return root.Wrong("`sink` is missing: say where tables are kept");
  if (config.tables.empty()) return root.Wrong("`tables` is missing: name at least one table");
  return config;
}

Result<PipelineConfig> LoadConfig(const std::string& path) {
  auto text = ReadWholeFile(path);
  if (!text.ok()) return Error{ErrorKind::kUsage, std::move(text.error().message)};
  return ParseConfig(*text, path, [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

}  // namespace lastword
