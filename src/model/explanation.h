// The words of an explanation, the same for people, `--json` and hosts of the C interface.
#pragma once

#include <string_view>

#include "lastword/table.h"

namespace lastword {

/// "live", "deleted", "unknown", "below floor".
std::string_view NameOf(Explanation::State state);

}  // namespace lastword
