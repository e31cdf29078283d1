#include "pipeline/config_source.h"

#include <algorithm>

#include "base/format.h"
#include "pipeline/config_text.h"

namespace lastword {
namespace {

struct Alias {
  std::string_view debezium;
  std::string_view ours;
};

constexpr uint64_t kDecodersMax = 256;

struct KindEntry {
  SourceKind kind;
  std::string_view name;
  std::vector<std::string_view> keys;
  std::vector<Alias> aliases;
  std::vector<std::string_view> prefixes;  // keys handed to the client library as they are
};

const std::vector<KindEntry>& Kinds() {
  static const std::vector<KindEntry> kinds = {
      {SourceKind::kFile, "file", {"kind", "path", "format", "decoders", "epochs"}, {}, {}},
      {SourceKind::kKafka,
       "kafka",
       {"kind", "bootstrap.servers", "topics", "format", "schema.registry.url", "group.id",
        "epochs"},
       {},
       {"sasl.", "security.", "ssl."}},
      {SourceKind::kPostgres,
       "postgres",
       {"kind", "url", "tables", "slot", "publication", "snapshot", "host", "port", "user",
        "password", "dbname", "epochs"},
       {{"slot.name", "slot"},
        {"publication.name", "publication"},
        {"table.include.list", "tables"},
        {"snapshot.mode", "snapshot"},
        {"database.hostname", "host"},
        {"database.port", "port"},
        {"database.user", "user"},
        {"database.password", "password"},
        {"database.dbname", "dbname"}},
       {}},
  };
  return kinds;
}

Result<std::vector<EpochRule>> ReadEpochs(const ConfigNode& node) {
  static constexpr std::string_view kKnown[] = {"partition", "from_offset", "epoch"};
  LW_ASSIGN_OR_RETURN(const auto items, node.Items());
  std::vector<EpochRule> rules;
  for (const ConfigNode& item : items) {
    LW_ASSIGN_OR_RETURN(const auto members, item.Members(kKnown));
    EpochRule& rule = rules.emplace_back();
    bool has_epoch = false;
    for (const auto& [key, value] : members) {
      if (key == "partition") {
        LW_ASSIGN_OR_RETURN(const uint64_t partition, value.Unsigned(INT32_MAX));
        rule.partition = static_cast<int32_t>(partition);
      } else if (key == "from_offset") {
        LW_ASSIGN_OR_RETURN(rule.from_offset, value.Unsigned());
      } else {
        LW_ASSIGN_OR_RETURN(const uint64_t epoch, value.Unsigned(UINT32_MAX));
        rule.epoch = static_cast<uint32_t>(epoch);
        has_epoch = true;
      }
    }
    if (!has_epoch) return item.Wrong("an epoch rule needs its `epoch`");
  }
  return rules;
}

// `a, b` and [a, b] alike: Debezium writes lists with commas.
Result<std::vector<std::string>> ReadNames(const ConfigNode& node) {
  LW_ASSIGN_OR_RETURN(const auto texts, node.Texts());
  std::vector<std::string> names;
  for (std::string_view text : texts) {
    while (true) {
      const size_t comma = text.find(',');
      std::string_view name = text.substr(0, comma);
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      if (!name.empty()) names.emplace_back(name);
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 1);
    }
  }
  if (names.empty()) return node.Wrong("must name something");
  return names;
}

std::string_view OurName(const KindEntry& kind, std::string_view key) {
  for (const Alias& alias : kind.aliases) {
    if (alias.debezium == key) return alias.ours;
  }
  return key;
}

Status ReadMember(const KindEntry& kind, const std::string& key, const ConfigNode& value,
                  SourceConfig& source) {
  if (key == "path") {
    LW_ASSIGN_OR_RETURN(source.paths, value.Texts());
  } else if (key == "format") {
    LW_ASSIGN_OR_RETURN(source.format, value.Text());
  } else if (key == "epochs") {
    LW_ASSIGN_OR_RETURN(source.epochs, ReadEpochs(value));
  } else if (key == "decoders") {
    LW_ASSIGN_OR_RETURN(source.decoders, value.Unsigned(kDecodersMax));
    if (*source.decoders == 0) return value.Wrong("must be at least 1");
  } else if (key == "topics") {
    LW_ASSIGN_OR_RETURN(source.topics, ReadNames(value));
  } else if (key == "tables") {
    LW_ASSIGN_OR_RETURN(source.tables, ReadNames(value));
  } else {
    const bool known = std::find(kind.keys.begin(), kind.keys.end(), key) != kind.keys.end() ||
                       std::any_of(kind.prefixes.begin(), kind.prefixes.end(),
                                   [&](std::string_view p) { return key.starts_with(p); });
    if (!known) {
      std::vector<std::string_view> names = kind.keys;
      for (const Alias& alias : kind.aliases) names.push_back(alias.debezium);
      return value.UnknownKey(key, names);
    }
    LW_ASSIGN_OR_RETURN(source.settings[key], value.Text());
  }
  return Ok{};
}

}  // namespace

Result<SourceConfig> ReadSource(const ConfigNode& node) {
  static constexpr std::string_view kNames[] = {"file", "kafka", "postgres"};
  LW_ASSIGN_OR_RETURN(const auto members, node.Members());
  const KindEntry* kind = nullptr;
  for (const auto& [key, value] : members) {
    if (key != "kind") continue;
    LW_ASSIGN_OR_RETURN(const size_t index, value.OneOf(kNames));
    kind = &Kinds()[index];
  }
  if (kind == nullptr) {
    return node.Wrong(Message("`kind` is missing: it is {}", ListOfNames(kNames)));
  }
  SourceConfig source;
  source.kind = kind->kind;
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : members) {
    const std::string_view ours = OurName(*kind, key);
    if (std::find(seen.begin(), seen.end(), ours) != seen.end()) {
      return value.Wrong(Message("the setting `{}` is given twice", ours));
    }
    seen.push_back(ours);
    if (ours == "kind") continue;
    const auto listed = std::find(kind->keys.begin(), kind->keys.end(), ours);
    const bool of_kind = listed != kind->keys.end();
    if (!of_kind && (ours == "path" || ours == "format" || ours == "decoders" || ours == "topics" ||
                     ours == "tables")) {
      return node.Wrong(Message("a {} source has no `{}`", kind->name, key));
    }
    LW_RETURN_IF_ERROR(ReadMember(*kind, std::string(ours), value, source));
  }
  return source;
}

}  // namespace lastword
