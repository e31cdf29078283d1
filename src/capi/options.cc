#include "capi/options.h"

#include <algorithm>

#include "base/format.h"
#include "model/key.h"
#include "model/schema_check.h"

namespace lastword::capi {
namespace {

constexpr size_t kSequenceColumnsMax = 3;

Error Usage(std::string message, std::string column = {}) {
  Error error{ErrorKind::kUsage, std::move(message), {}};
  error.place.column = std::move(column);
  return error;
}

Status CheckMembers(const Json& json, std::string_view what,
                    std::initializer_list<std::string_view> known) {
  if (!json.is_object()) return Usage(Message("{} must be a JSON object", what));
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const std::string_view each : known)
      names += (names.empty() ? "" : ", ") + std::string(each);
    return Usage(Message("{} has no member \"{}\"; it has {}", what, name, names));
  }
  return Ok{};
}

template <typename T>
struct Choice {
  std::string_view name;
  T value;
};

// Reads an optional member that is one of a few words.
template <typename T>
Status ReadChoice(const Json& json, std::string_view member,
                  std::initializer_list<Choice<T>> choices, T& out) {
  if (FindMember(json, member) == nullptr) return Ok{};
  LW_ASSIGN_OR_RETURN(const std::string word, GetString(json, member));
  std::string names;
  for (const Choice<T>& choice : choices) {
    if (choice.name == word) {
      out = choice.value;
      return Ok{};
    }
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  return Usage(Message("\"{}\" is \"{}\"; it is one of {}", member, word, names));
}

Result<std::vector<std::string>> ReadNames(const Json& json, std::string_view member) {
  const Json* names = FindMember(json, member);
  std::vector<std::string> read;
  if (names == nullptr) return read;
  if (!names->is_array()) return Usage(Message("\"{}\" must be an array of column names", member));
  for (const Json& name : *names) {
    const std::string* text = name.get_ptr<const std::string*>();
    if (text == nullptr) return Usage(Message("\"{}\" must be an array of column names", member));
    read.push_back(*text);
  }
  return read;
}

Result<Column> ReadColumn(const Json& json) {
  LW_RETURN_IF_ERROR(CheckMembers(json, "a column", {"name", "type", "nullable"}));
  Column column;
  LW_ASSIGN_OR_RETURN(column.name, GetString(json, "name"));
  LW_ASSIGN_OR_RETURN(const std::string type, GetString(json, "type"));
  auto parsed = ParseType(type);
  if (!parsed.ok()) {
    parsed.error().place.column = column.name;
    return std::move(parsed.error());
  }
  column.type = std::move(*parsed);
  LW_ASSIGN_OR_RETURN(column.nullable, GetBool(json, "nullable", true));
  return column;
}

Status AddAppendKey(const std::string& name, DeclaredSchema& declared) {
  if (!declared.schema.key.empty()) return Usage("\"key\" and \"append_key\" exclude each other");
  Column column;
  column.name = name;
  column.type.kind = TypeKind::kUuid;
  column.nullable = false;
  declared.schema.key.push_back(static_cast<uint32_t>(declared.schema.columns.size()));
  declared.schema.columns.push_back(std::move(column));
  declared.appends = true;
  return Ok{};
}

bool OrdersVersions(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kUint8:
    case TypeKind::kUint16:
    case TypeKind::kUint32:
    case TypeKind::kUint64:
    case TypeKind::kDate:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return true;
    default:
      return false;
  }
}

Result<VersionRule> ReadSequence(const Json& json, const Schema& schema) {
  LW_RETURN_IF_ERROR(CheckMembers(json, "\"versions\"", {"columns", "deletes"}));
  VersionRule rule;
  rule.source = VersionRule::Source::kColumns;
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> names, ReadNames(json, "columns"));
  for (const std::string& name : names) {
    const std::optional<uint32_t> column = schema.Find(name);
    if (!column) return Usage(Message("sequence column `{}` is not among the columns", name), name);
    const Type& type = schema.columns[*column].type;
    if (!OrdersVersions(type.kind)) {
      return Usage(Message("sequence column `{}` is {}; a version needs an integer, date, time or "
                           "timestamp",
                           name, ToString(type)),
                   name);
    }
    rule.columns.push_back(*column);
  }
  LW_RETURN_IF_ERROR(
      ReadChoice<bool>(json, "deletes", {{"own", false}, {"row", true}}, rule.removals_rank_above));
  const size_t most = kSequenceColumnsMax - (rule.removals_rank_above ? 1 : 0);
  if (names.empty() || names.size() > most) {
    return Usage(
        Message("{} sequence columns; from 1 to {} are possible here", names.size(), most));
  }
  return rule;
}

Result<VersionRule> ReadVersions(const Json& json, const Schema& schema) {
  VersionRule rule;
  const Json* versions = FindMember(json, "versions");
  if (versions == nullptr) return rule;
  if (versions->is_object()) return ReadSequence(*versions, schema);
  LW_RETURN_IF_ERROR(ReadChoice<VersionRule::Source>(
      json, "versions",
      {{"arrival", VersionRule::Source::kArrival}, {"given", VersionRule::Source::kGiven}},
      rule.source));
  return rule;
}

Result<Json> ParseOptions(std::string_view text) {
  auto json = ParseJson(text.empty() ? "{}" : text);
  if (json.ok()) return json;
  return Usage("the options are no JSON: " + json.error().message);
}

}  // namespace

Result<DeclaredSchema> ParseDeclaredSchema(const Json& json) {
  DeclaredSchema declared;
  const Json* columns = FindMember(json, "columns");
  if (columns == nullptr) return declared;
  if (!columns->is_array()) return Usage("\"columns\" must be an array of objects");
  for (const Json& each : *columns) {
    LW_ASSIGN_OR_RETURN(Column column, ReadColumn(each));
    declared.schema.columns.push_back(std::move(column));
  }
  declared.encoded_columns = declared.schema.columns.size();
  if (declared.encoded_columns == 0) return Usage("\"columns\" is empty");
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> key, ReadNames(json, "key"));
  for (const std::string& name : key) {
    const std::optional<uint32_t> column = declared.schema.Find(name);
    if (!column) return Usage(Message("key column `{}` is not among the columns", name), name);
    declared.schema.key.push_back(*column);
    declared.schema.columns[*column].nullable = false;
  }
  LW_ASSIGN_OR_RETURN(const std::string append_key, GetString(json, "append_key", ""));
  if (!append_key.empty()) LW_RETURN_IF_ERROR(AddAppendKey(append_key, declared));
  LW_RETURN_IF_ERROR(CheckColumnNames(declared.schema));
  LW_RETURN_IF_ERROR(CheckKeyTypes(declared.schema));
  return declared;
}

Result<WriterOptions> ParseWriterOptions(std::string_view text) {
  LW_ASSIGN_OR_RETURN(const Json json, ParseOptions(text));
  LW_RETURN_IF_ERROR(
      CheckMembers(json, "a writer's options",
                   {"columns", "key", "append_key", "versions", "sealed_bytes_max"}));
  WriterOptions options;
  LW_ASSIGN_OR_RETURN(options.declared, ParseDeclaredSchema(json));
  if (options.declared.schema.columns.empty()) return Usage("a writer needs \"columns\"");
  LW_ASSIGN_OR_RETURN(options.versions, ReadVersions(json, options.declared.schema));
  LW_ASSIGN_OR_RETURN(options.sealed_bytes_max,
                      GetUint64(json, "sealed_bytes_max", options.sealed_bytes_max));
  if (options.declared.appends && options.versions.source != VersionRule::Source::kArrival) {
    return Usage("rows without a key have no versions: leave \"versions\" out");
  }
  return options;
}

namespace {

Status ReadMaintenance(const Json& json, TableOptions& options) {
  LW_ASSIGN_OR_RETURN(options.compaction, GetBool(json, "compaction", options.compaction));
  LW_ASSIGN_OR_RETURN(const uint64_t fragments,
                      GetUint64(json, "compaction_fragments", options.compaction_fragments));
  if (fragments < 2 || fragments > 1000) {
    return Usage("\"compaction_fragments\" must be 2 to 1000");
  }
  options.compaction_fragments = static_cast<uint32_t>(fragments);
  LW_ASSIGN_OR_RETURN(options.keep_versions,
                      GetUint64(json, "keep_versions", options.keep_versions));
  const auto keep_seconds = static_cast<uint64_t>(options.keep_for.count());
  LW_ASSIGN_OR_RETURN(const uint64_t seconds, GetUint64(json, "keep_seconds", keep_seconds));
  // Ten years: what is longer would overflow where it becomes milliseconds.
  options.keep_for = std::chrono::seconds(std::min<uint64_t>(seconds, 315'360'000));
  const auto keep_ratio = static_cast<uint64_t>(options.keep_ratio);
  LW_ASSIGN_OR_RETURN(const uint64_t ratio, GetUint64(json, "keep_ratio", keep_ratio));
  options.keep_ratio = static_cast<double>(ratio);
  return Ok{};
}

}  // namespace

Result<TableOpening> ParseTableOptions(std::string_view text) {
  LW_ASSIGN_OR_RETURN(const Json json, ParseOptions(text));
  LW_RETURN_IF_ERROR(CheckMembers(
      json, "a table's options",
      {"columns", "key", "append_key", "on_conflict", "lone_update_before", "schema_evolution",
       "durability", "storage_version", "memory_bytes_max", "compaction", "compaction_fragments",
       "keep_versions", "keep_seconds", "keep_ratio", "read_only", "input"}));
  TableOpening opening;
  TableOptions& options = opening.options;
  LW_ASSIGN_OR_RETURN(opening.declared, ParseDeclaredSchema(json));
  LW_RETURN_IF_ERROR(ReadChoice<OnConflict>(
      json, "on_conflict", {{"fail", OnConflict::kFail}, {"quarantine", OnConflict::kQuarantine}},
      options.on_conflict));
  LW_RETURN_IF_ERROR(ReadChoice<LoneUpdateBefore>(json, "lone_update_before",
                                                  {{"delete", LoneUpdateBefore::kDelete},
                                                   {"drop", LoneUpdateBefore::kDrop},
                                                   {"fail", LoneUpdateBefore::kFail}},
                                                  options.lone_update_before));
  LW_RETURN_IF_ERROR(ReadChoice<bool>(json, "schema_evolution",
                                      {{"exception", false}, {"evolve", true}}, opening.evolve));
  LW_RETURN_IF_ERROR(
      ReadChoice<bool>(json, "durability", {{"fsync", true}, {"process", false}}, options.fsync));
  LW_ASSIGN_OR_RETURN(options.storage_version,
                      GetString(json, "storage_version", options.storage_version));
  LW_ASSIGN_OR_RETURN(options.memory_bytes_max,
                      GetUint64(json, "memory_bytes_max", options.memory_bytes_max));
  LW_RETURN_IF_ERROR(ReadMaintenance(json, options));
  LW_ASSIGN_OR_RETURN(options.read_only, GetBool(json, "read_only", options.read_only));
  LW_ASSIGN_OR_RETURN(opening.input, GetString(json, "input", opening.input));
  return opening;
}

Json SchemaToJson(const Schema& schema) {
  Json json = Json::object();
  json["columns"] = Json::array();
  for (const Column& column : schema.columns) {
    json["columns"].push_back(Json{
        {"name", column.name}, {"type", ToString(column.type)}, {"nullable", column.nullable}});
  }
  json["key"] = Json::array();
  for (const uint32_t key : schema.key) json["key"].push_back(schema.columns[key].name);
  return json;
}

}  // namespace lastword::capi
