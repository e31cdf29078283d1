#include "model/boundary.h"

#include <cstdint>

namespace lastword {

Result<Version> ParseBoundary(std::string_view text) {
  LW_ASSIGN_OR_RETURN(Version version, ParseVersion(text));
  if (text.substr(0, 4) == "lsn:" && version.hi > 0) --version.hi;
  return version;
}

}  // namespace lastword
