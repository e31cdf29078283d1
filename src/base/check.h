// LW_CHECK guards the laws of the program. It stays on in release and ends the call with kInternal
// instead of the process: a host such as a JVM survives, and the caller's class kDefect means that
// nothing more is committed.
#pragma once

#include <string_view>

#include "lastword/status.h"

namespace lastword {

/// The error of a broken law. `file` is shortened to its last part.
Error CheckFailed(std::string_view condition, std::string_view file, int line,
                  std::string_view what);

}  // namespace lastword

/// Returns a kInternal error from the enclosing function (of Result or Status) unless `condition`
/// holds. `what` says which law it is.
#define LW_CHECK(condition, what)                                           \
  do {                                                                      \
    if (!(condition)) [[unlikely]] {                                        \
      return ::lastword::CheckFailed(#condition, __FILE__, __LINE__, what); \
    }                                                                       \
  } while (false)
