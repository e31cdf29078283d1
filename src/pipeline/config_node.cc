#include "pipeline/config_node.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "pipeline/config_text.h"

namespace lastword {
namespace {

std::string Where(const std::string& name, const YAML::Mark& mark) {
  if (mark.is_null()) return name;
  return Message("{}:{}:{}", name, mark.line + 1, mark.column + 1);
}

std::string_view KindOf(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Scalar:
      return "a value";
    default:
      return "nothing";
  }
}

}  // namespace

Result<ConfigNode> ConfigNode::Parse(std::string_view text, const ConfigText& shared) {
  // The library reports by exceptions; this is where they end.
  try {
    return ConfigNode(YAML::Load(std::string(text)), "", &shared);
  } catch (const YAML::Exception& problem) {
    return Error{ErrorKind::kUsage,
                 Message("{}: not YAML: {}", Where(shared.name, problem.mark), problem.msg)};
  }
}

Error ConfigNode::Wrong(std::string_view what) const {
  const std::string where = Where(x_text->name, x_node.Mark());
  if (x_path.empty()) return Error{ErrorKind::kUsage, Message("{}: {}", where, what)};
  return Error{ErrorKind::kUsage, Message("{}: {}: {}", where, x_path, what)};
}

Error ConfigNode::UnknownKey(std::string_view key, std::span<const std::string_view> known) const {
  const std::string_view nearest = NearestName(key, known);
  if (nearest.empty()) {
    return Wrong(Message("unknown key `{}`; known are {}", key, ListOfNames(known)));
  }
  return Wrong(Message("unknown key `{}`; did you mean `{}`?", key, nearest));
}

Result<std::vector<std::pair<std::string, ConfigNode>>> ConfigNode::Members() const {
  std::vector<std::pair<std::string, ConfigNode>> members;
  if (!x_node.IsMap()) return Wrong(Message("must be a mapping, is {}", KindOf(x_node)));
  for (const auto& member : x_node) {
    const std::string key = member.first.IsScalar() ? member.first.Scalar() : "";
    const ConfigNode at_key(member.first, x_path, x_text);
    if (key.empty()) return at_key.Wrong("a key must be a name");
    for (const auto& [known, value] : members) {
      if (known == key) return at_key.Wrong(Message("the key `{}` appears twice", key));
    }
    members.emplace_back(
        key, ConfigNode(member.second, x_path.empty() ? key : x_path + "." + key, x_text));
  }
  return members;
}

Result<std::vector<std::pair<std::string, ConfigNode>>> ConfigNode::Members(
    std::span<const std::string_view> known) const {
  LW_ASSIGN_OR_RETURN(auto members, Members());
  size_t i = 0;
  for (const auto& member : x_node) {
    const std::string& key = members[i++].first;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return ConfigNode(member.first, x_path, x_text).UnknownKey(key, known);
    }
  }
  return members;
}

Result<std::vector<ConfigNode>> ConfigNode::Items() const {
  if (x_node.IsScalar()) return std::vector<ConfigNode>{*this};
  if (!x_node.IsSequence()) return Wrong(Message("must be a list, is {}", KindOf(x_node)));
  std::vector<ConfigNode> items;
  for (const auto& item : x_node) {
    items.push_back(ConfigNode(item, Message("{}[{}]", x_path, items.size()), x_text));
  }
  return items;
}

Result<std::string> ConfigNode::Text() const {
  if (!x_node.IsScalar()) return Wrong(Message("must be a value, is {}", KindOf(x_node)));
  auto expanded = ExpandVariables(x_node.Scalar(), x_text->variables);
  if (!expanded.ok()) return At(expanded.error());
  return expanded;
}

Result<std::vector<std::string>> ConfigNode::Texts() const {
  LW_ASSIGN_OR_RETURN(const auto items, Items());
  std::vector<std::string> texts;
  for (const ConfigNode& item : items) {
    LW_ASSIGN_OR_RETURN(texts.emplace_back(), item.Text());
  }
  return texts;
}

Result<bool> ConfigNode::Bool() const {
  LW_ASSIGN_OR_RETURN(const std::string text, Text());
  if (text == "true") return true;
  if (text == "false") return false;
  return Wrong(Message("must be true or false, is `{}`", x_node.Scalar()));
}

Result<uint64_t> ConfigNode::Unsigned(uint64_t max) const {
  LW_ASSIGN_OR_RETURN(const std::string text, Text());
  uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size() ||
      value > max) {
    return Wrong(Message("must be a whole number from 0 to {}, is `{}`", max, x_node.Scalar()));
  }
  return value;
}

Result<uint64_t> ConfigNode::Size() const {
  LW_ASSIGN_OR_RETURN(const std::string text, Text());
  const auto size = ParseSize(text);
  if (!size.ok()) return At(size.error());
  return *size;
}

Result<size_t> ConfigNode::OneOf(std::span<const std::string_view> names) const {
  LW_ASSIGN_OR_RETURN(const std::string text, Text());
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return Wrong(Message("must be {}, is `{}`", ListOfNames(names), x_node.Scalar()));
}

}  // namespace lastword
