// What words of options may not be. A word that was never meant is an error before anything is
// read.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace lastword::cli {

/// Refuses an empty word: most often an unset variable of a script, and never what was meant.
CLI::Validator NotEmpty();
/// Refuses what is no whole number of at least `min`, and says so.
CLI::Validator AtLeast(uint64_t min);

}  // namespace lastword::cli
