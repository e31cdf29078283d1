#include "commit/properties.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/json.h"

namespace lastword {
namespace {

constexpr const char* kFormat = "lastword.format";
constexpr const char* kCheckpoint = "lastword.checkpoint";
constexpr const char* kWriterEpoch = "lastword.writer_epoch";
constexpr const char* kLedger = "lastword.ledger";
constexpr const char* kState = "lastword.state";
constexpr const char* kPositions = "lastword.positions";
constexpr const char* kFormatNow = "1";
constexpr size_t kCounts = 7;

// state    := {"epoch", "highest_hi", "tombstones", "dead_letter_from"?, "floor"?, "floors"?,
//              "snapshot_ends"?, "counts", "inputs"}
// floors, snapshot_ends := [{"origin"?, "version", "shared"?}]
// origin   := [[column, value], …]      of a source table; absent = of every row
// inputs   := [{"name", "origin"?, "offset"?, "highest"?, "snapshots"?, "epochs"?}]
//             in the order of their numbers
// version  := "epoch/hi/mid/lo"; snapshots, epochs := [[offset, value], …]
// counts   := [applied, stale, below_floor, repeat, conflict, quarantined, held]
// Older ones have "snapshot_end": a version, for the only source table.

Json OriginToJson(const Origin& origin) {
  Json json = Json::array();
  for (size_t i = 0; i < origin.columns.size(); ++i) {
    json.push_back(Json::array({origin.columns[i], origin.values[i]}));
  }
  return json;
}

Json VersionOfToJson(const Origin& origin, const Version& version) {
  Json json = Json::object();
  if (!origin.all_rows()) json["origin"] = OriginToJson(origin);
  json["version"] = ToString(version);
  return json;
}

Json StepsToJson(const std::vector<InputState::From>& steps) {
  Json json = Json::array();
  for (const InputState::From& step : steps) json.push_back(Json::array({step.offset, step.value}));
  return json;
}

Json InputToJson(const InputState& input) {
  Json json = Json::object();
  json["name"] = input.name;
  if (!input.origin.all_rows()) json["origin"] = OriginToJson(input.origin);
  if (input.applied_offset) json["offset"] = *input.applied_offset;
  if (input.highest) json["highest"] = ToString(*input.highest);
  if (!input.snapshot_lsns.empty()) json["snapshots"] = StepsToJson(input.snapshot_lsns);
  if (!input.epochs.empty()) json["epochs"] = StepsToJson(input.epochs);
  return json;
}

Json StateToJson(const StateHead& head) {
  Json json = Json::object();
  json["epoch"] = head.epoch;
  json["highest_hi"] = head.highest_hi;
  json["tombstones"] = head.tombstones;
  if (head.dead_letter_from != 0) json["dead_letter_from"] = head.dead_letter_from;
  if (const auto& floor = head.floors.of_all_rows()) json["floor"] = ToString(*floor);
  for (const auto& [origin, floor] : head.floors.of_origins()) {
    json["floors"].push_back(VersionOfToJson(origin, floor));
  }
  for (const SnapshotEnd& end : head.snapshot_ends) {
    Json member = VersionOfToJson(end.origin, end.version);
    if (end.shared) member["shared"] = true;
    json["snapshot_ends"].push_back(std::move(member));
  }
  const Counts& c = head.totals;
  json["counts"] =
      Json::array({c.applied, c.stale, c.below_floor, c.repeat, c.conflict, c.quarantined, c.held});
  json["inputs"] = Json::array();
  for (const InputState& input : head.inputs.states()) json["inputs"].push_back(InputToJson(input));
  return json;
}

Error Corrupt(const std::string& what) {
  return Error{
      ErrorKind::kStorageCorrupt, Message("the table's properties cannot be read: {}", what), {}};
}

Result<std::optional<Version>> VersionMember(const Json& json, const char* name) {
  const Json* member = FindMember(json, name);
  if (member == nullptr) return std::optional<Version>{};
  if (!member->is_string()) return Corrupt(name);
  LW_ASSIGN_OR_RETURN(const std::string text, GetString(json, name));
  auto version = ParseVersion(text);
  if (!version.ok()) return Corrupt(name);
  return std::optional<Version>(*version);
}

Result<std::vector<InputState::From>> StepsMember(const Json& json, const char* name) {
  std::vector<InputState::From> steps;
  const Json* member = FindMember(json, name);
  if (member == nullptr) return steps;
  if (!member->is_array()) return Corrupt(name);
  for (const Json& pair : *member) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() ||
        !pair[1].is_number_integer()) {
      return Corrupt(name);
    }
    steps.push_back({pair[0].get<uint64_t>(), pair[1].get<uint64_t>()});
  }
  return steps;
}

Result<Origin> OriginMember(const Json& json) {
  Origin origin;
  const Json* member = FindMember(json, "origin");
  if (member == nullptr) return origin;
  if (!member->is_array()) return Corrupt("origin");
  for (const Json& pair : *member) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      return Corrupt("origin");
    }
    origin.columns.push_back(*pair[0].get_ptr<const std::string*>());
    origin.values.push_back(*pair[1].get_ptr<const std::string*>());
  }
  return origin;
}

// The members of a list of versions of source tables; none where it is absent.
Result<std::vector<SnapshotEnd>> VersionsMember(const Json& json, const char* name) {
  std::vector<SnapshotEnd> versions;
  const Json* member = FindMember(json, name);
  if (member == nullptr) return versions;
  if (!member->is_array()) return Corrupt(name);
  for (const Json& entry : *member) {
    SnapshotEnd& end = versions.emplace_back();
    LW_ASSIGN_OR_RETURN(end.origin, OriginMember(entry));
    LW_ASSIGN_OR_RETURN(const std::optional<Version> version, VersionMember(entry, "version"));
    if (!version) return Corrupt(name);
    end.version = *version;
    const Json* shared = FindMember(entry, "shared");
    end.shared = shared != nullptr && *shared == Json(true);
  }
  return versions;
}

Status FloorsFromJson(const Json& json, Floors& floors) {
  LW_ASSIGN_OR_RETURN(const std::optional<Version> floor, VersionMember(json, "floor"));
  if (floor) floors.Raise({}, *floor);
  LW_ASSIGN_OR_RETURN(const std::vector<SnapshotEnd> others, VersionsMember(json, "floors"));
  for (const SnapshotEnd& other : others) floors.Raise(other.origin, other.version);
  return Ok{};
}

Result<InputState> InputFromJson(const Json& json) {
  InputState input;
  LW_ASSIGN_OR_RETURN(input.name, GetString(json, "name"));
  LW_ASSIGN_OR_RETURN(input.origin, OriginMember(json));
  if (FindMember(json, "offset") != nullptr) {
    LW_ASSIGN_OR_RETURN(input.applied_offset, GetUint64(json, "offset"));
  }
  LW_ASSIGN_OR_RETURN(input.highest, VersionMember(json, "highest"));
  LW_ASSIGN_OR_RETURN(input.snapshot_lsns, StepsMember(json, "snapshots"));
  LW_ASSIGN_OR_RETURN(input.epochs, StepsMember(json, "epochs"));
  return input;
}

Result<Counts> CountsFromJson(const Json& json) {
  Counts counts;
  const Json* member = FindMember(json, "counts");
  if (member == nullptr || !member->is_array() || member->size() != kCounts)
    return Corrupt("counts");
  uint64_t* const fields[kCounts] = {&counts.applied, &counts.stale,    &counts.below_floor,
                                     &counts.repeat,  &counts.conflict, &counts.quarantined,
                                     &counts.held};
  for (size_t i = 0; i < kCounts; ++i) {
    if (!(*member)[i].is_number_integer()) return Corrupt("counts");
    *fields[i] = (*member)[i].get<uint64_t>();
  }
  return counts;
}

Result<StateHead> StateFromJson(const std::string& text) {
  auto parsed = ParseJson(text);
  if (!parsed.ok()) return Corrupt(parsed.error().message);
  StateHead head;
  LW_ASSIGN_OR_RETURN(const uint64_t epoch, GetUint64(*parsed, "epoch"));
  head.epoch = static_cast<uint32_t>(epoch);
  LW_ASSIGN_OR_RETURN(head.highest_hi, GetUint64(*parsed, "highest_hi"));
  LW_ASSIGN_OR_RETURN(head.tombstones, GetUint64(*parsed, "tombstones"));
  LW_ASSIGN_OR_RETURN(head.dead_letter_from, GetUint64(*parsed, "dead_letter_from", 0));
  LW_RETURN_IF_ERROR(FloorsFromJson(*parsed, head.floors));
  LW_ASSIGN_OR_RETURN(head.snapshot_ends, VersionsMember(*parsed, "snapshot_ends"));
  LW_ASSIGN_OR_RETURN(const std::optional<Version> end, VersionMember(*parsed, "snapshot_end"));
  if (end) head.snapshot_ends.push_back({{}, *end});
  LW_ASSIGN_OR_RETURN(head.totals, CountsFromJson(*parsed));
  const Json* inputs = FindMember(*parsed, "inputs");
  if (inputs == nullptr || !inputs->is_array()) return Corrupt("inputs");
  for (const Json& input : *inputs) {
    LW_ASSIGN_OR_RETURN(InputState state, InputFromJson(input));
    head.inputs.states().push_back(std::move(state));
  }
  return head;
}

Result<uint64_t> NumberOf(const Properties& properties, const char* name) {
  const auto found = properties.find(name);
  if (found == properties.end() || found->second.empty() || found->second.size() > 20 ||
      !std::all_of(found->second.begin(), found->second.end(),
                   [](char c) { return c >= '0' && c <= '9'; })) {
    return Corrupt(name);
  }
  uint64_t value = 0;
  for (const char digit : found->second) value = value * 10 + static_cast<uint64_t>(digit - '0');
  return value;
}

}  // namespace

Properties EncodeProperties(const TableProperties& properties) {
  Json positions = Json::object();
  for (const auto& [input, position] : properties.positions) positions[input] = position;
  return {{kFormat, kFormatNow},
          {kCheckpoint, properties.checkpoint},
          {kWriterEpoch, std::to_string(properties.writer_epoch)},
          {kLedger, std::to_string(properties.ledger_version)},
          {kState, DumpJson(StateToJson(properties.head))},
          {kPositions, DumpJson(positions)}};
}

Result<std::optional<TableProperties>> DecodeProperties(const Properties& properties) {
  const auto format = properties.find(kFormat);
  if (format == properties.end()) return std::optional<TableProperties>{};
  if (format->second != kFormatNow) {
    return Error{ErrorKind::kUnsupportedFormat,
                 Message("the table was written in format {}, this program reads format {}; use a "
                         "newer lastword",
                         format->second, kFormatNow),
                 {}};
  }
  TableProperties decoded;
  if (const auto id = properties.find(kCheckpoint); id != properties.end())
    decoded.checkpoint = id->second;
  LW_ASSIGN_OR_RETURN(decoded.writer_epoch, NumberOf(properties, kWriterEpoch));
  LW_ASSIGN_OR_RETURN(decoded.ledger_version, NumberOf(properties, kLedger));
  const auto state = properties.find(kState);
  const auto positions = properties.find(kPositions);
  if (state == properties.end() || positions == properties.end())
    return Corrupt("state or positions missing");
  auto head = StateFromJson(state->second);
  if (!head.ok()) return Corrupt(head.error().message);
  decoded.head = std::move(*head);
  auto parsed = ParseJson(positions->second);
  if (!parsed.ok() || !parsed->is_object()) return Corrupt(kPositions);
  for (const auto& [input, position] : parsed->items()) {
    if (!position.is_string()) return Corrupt(kPositions);
    decoded.positions[input] = position.get<std::string>();
  }
  return std::optional<TableProperties>(std::move(decoded));
}

namespace {

// Commits that move rows about without changing any: they inherit in silence.
bool KeepsRows(const std::string& operation) {
  static const std::set<std::string> kHarmless = {"ReserveFragments", "Rewrite", "CreateIndex",
                                                  "UpdateConfig",     "Merge",   "Project",
                                                  "UpdateMemWalState"};
  return kHarmless.count(operation) != 0;
}

}  // namespace

Result<TableProperties> EffectiveProperties(Dataset& table, uint64_t version,
                                            std::vector<std::string>* foreign) {
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, table.Versions());
  uint64_t at = version;
  while (true) {
    LW_ASSIGN_OR_RETURN(const VersionInfo info, table.Describe(at));
    LW_ASSIGN_OR_RETURN(std::optional<TableProperties> own, DecodeProperties(info.properties));
    if (own) {
      own->version = at;
      return std::move(*own);
    }
    if (info.restored_version != 0 && info.restored_version < at) {
      at = info.restored_version;
      continue;
    }
    if (foreign != nullptr && !KeepsRows(info.operation)) {
      foreign->push_back(
          Message("version {}: {}", at, info.operation.empty() ? "unknown" : info.operation));
    }
    const auto next = std::lower_bound(versions.begin(), versions.end(), at);
    if (next == versions.begin()) break;
    at = *(next - 1);
  }
  return Error{ErrorKind::kPositionsLost,
               Message("no kept version of {} up to {} carries positions: old versions were "
                       "cleaned up by another "
                       "program after foreign commits. Restore a version that `lastword log` shows "
                       "with a checkpoint, "
                       "or load the table anew",
                       table.uri(), version),
               {}};
}

}  // namespace lastword
