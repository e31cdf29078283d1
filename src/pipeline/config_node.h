// One place in a YAML text: reads members with their types and says where something is wrong. The
// only file that knows the YAML library; nothing throws past it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lastword/status.h"
#include "pipeline/config.h"

namespace lastword {

/// What a whole text shares.
struct ConfigText {
  std::string name;
  VariableLookup variables;
};

/// A value and the keys that lead to it ("tables[0].columns[2].type"). Cheap to copy; the
/// ConfigText outlives it. Errors are kUsage with "name:line:column: path: …".
class ConfigNode {
 public:
  /// kUsage where `text` is no YAML.
  static Result<ConfigNode> Parse(std::string_view text, const ConfigText& shared);

  /// Members in order of the text. Fails where this is no mapping, a key appears twice, or it is
  /// not one of `known`; the error has the nearest known one.
  Result<std::vector<std::pair<std::string, ConfigNode>>> Members(
      std::span<const std::string_view> known) const;
  /// The same without a list of known keys: the caller refuses what it does not know.
  Result<std::vector<std::pair<std::string, ConfigNode>>> Members() const;
  Error UnknownKey(std::string_view key, std::span<const std::string_view> known) const;

  /// The items of a list; a single scalar counts as a list of one.
  Result<std::vector<ConfigNode>> Items() const;
  bool is_map() const { return x_node.IsMap(); }

  bool is_null() const { return x_node.IsNull(); }
  /// A scalar with its variables expanded.
  Result<std::string> Text() const;
  Result<std::vector<std::string>> Texts() const;
  Result<bool> Bool() const;
  Result<uint64_t> Unsigned(uint64_t max = UINT64_MAX) const;
  Result<uint64_t> Size() const;
  /// One of `names`; gives its place in them.
  Result<size_t> OneOf(std::span<const std::string_view> names) const;

  /// An error at this place.
  Error Wrong(std::string_view what) const;
  /// The error of a value's own parser, at this place.
  Error At(const Error& error) const { return Wrong(error.message); }

 private:
  ConfigNode(YAML::Node node, std::string path, const ConfigText* text)
      : x_node(std::move(node)), x_path(std::move(path)), x_text(text) {}

  YAML::Node x_node;
  std::string x_path;
  const ConfigText* x_text = nullptr;
};

}  // namespace lastword
