#include "pipeline/config_text.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/format.h"

namespace lastword {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

// Splits "250ms" into a whole number and the factor of its unit.
Result<uint64_t> ParseWithUnit(std::string_view text, std::span<const Unit> units,
                               std::string_view wanted) {
  const auto wrong = [&] {
    return Error{ErrorKind::kUsage, Message("`{}` is not {}", text, wanted)};
  };
  uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc()) return wrong();
  std::string_view unit = text.substr(static_cast<size_t>(end.ptr - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (unit != known.name) continue;
    if (number > UINT64_MAX / known.factor) return wrong();
    return number * known.factor;
  }
  return wrong();
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<uint64_t> ParseSize(std::string_view text) {
  static constexpr Unit kUnits[] = {
      {"", 1},
      {"B", 1},
      {"kB", 1000},
      {"KB", 1000},
      {"MB", 1000'000},
      {"GB", 1000'000'000},
      {"TB", 1000'000'000'000},
      {"KiB", 1ull << 10},
      {"MiB", 1ull << 20},
      {"GiB", 1ull << 30},
      {"TiB", 1ull << 40},
  };
  return ParseWithUnit(text, kUnits, "a size such as 256MiB");
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  static constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  LW_ASSIGN_OR_RETURN(const uint64_t value,
                      ParseWithUnit(text, kUnits, "a duration such as 250ms or 1s"));
  return std::chrono::milliseconds(value);
}

Result<std::string> ExpandVariables(std::string_view text, const VariableLookup& variables) {
  std::string out;
  while (true) {
    const size_t start = text.find("${");
    out += text.substr(0, start);
    if (start == std::string_view::npos) return out;
    text.remove_prefix(start + 2);
    const size_t end = text.find('}');
    if (end == std::string_view::npos) {
      return Error{ErrorKind::kUsage, "`${` without its `}`"};
    }
    const std::string_view inside = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t split = inside.find(":-");
    const std::string name(inside.substr(0, split));
    const auto value = variables(name);
    if (value && (split == std::string_view::npos || !value->empty())) {
      out += *value;
    } else if (split != std::string_view::npos) {
      out += inside.substr(split + 2);
    } else {
      return Error{ErrorKind::kUsage,
                   Message("the variable {0} is not set; set it, or give a default with "
                           "${{{0}:-default}}",
                           name)};
    }
  }
}

std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  size_t distance_min = SIZE_MAX;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < distance_min) {
      distance_min = distance;
      nearest = candidate;
    }
  }
  if (nearest.empty() || distance_min > std::max<size_t>(1, nearest.size() / 3)) return {};
  return nearest;
}

std::string ListOfNames(std::span<const std::string_view> names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace lastword
