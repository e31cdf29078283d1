// Text from values: the one way messages are made. The format string is checked by the compiler, so
// formatting cannot fail at run time. Never prints.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace lastword {

/// "column {} holds {}" with the values in place. Values that came from a record are limited to
/// keys and names: never row contents.
template <typename... Args>
std::string Message(fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format(format, std::forward<Args>(args)...);
}

}  // namespace lastword
