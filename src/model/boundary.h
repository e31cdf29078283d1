// The replay boundary as people write it.
#pragma once

#include <string_view>

#include "lastword/version.h"

namespace lastword {

/// As ParseVersion, but for `lsn:X`: a source that resumes from X may deliver events at X again, so
/// the boundary lies just below them.
Result<Version> ParseBoundary(std::string_view text);

}  // namespace lastword
