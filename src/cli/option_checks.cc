#include "cli/option_checks.h"

#include <charconv>

#include "base/format.h"

namespace lastword::cli {

CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](std::string& word) { return word.empty() ? std::string("must not be empty") : ""; }, "");
}

CLI::Validator AtLeast(uint64_t min) {
  return CLI::Validator(
      [min](std::string& word) {
        uint64_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        const bool good = error == std::errc() && end == word.data() + word.size() && number >= min;
        return good ? std::string() : Message("`{}` is no whole number of at least {}", word, min);
      },
      "");
}

}  // namespace lastword::cli
