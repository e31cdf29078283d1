// Small texts of a configuration: sizes, durations, variables and the nearest known name. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lastword/status.h"
#include "pipeline/config.h"

namespace lastword {

/// "256MiB", "64kB", "4096": bytes. Units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB. kUsage.
Result<uint64_t> ParseSize(std::string_view text);
/// "250ms", "1s", "5m", "2h". kUsage.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

/// Replaces `${NAME}` and `${NAME:-default}`. kUsage names a variable that is not set, or the brace
/// that is missing.
Result<std::string> ExpandVariables(std::string_view text, const VariableLookup& variables);

/// The candidate that is at most a third of its letters away from `name`; empty = none.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates);

/// "a, b or c".
std::string ListOfNames(std::span<const std::string_view> names);

}  // namespace lastword
