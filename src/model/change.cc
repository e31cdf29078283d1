// Names of what the law decides.
#include "lastword/change.h"

namespace lastword {

std::string_view NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kApplied:
      return "applied";
    case Outcome::kStale:
      return "stale";
    case Outcome::kRepeat:
      return "repeat";
    case Outcome::kConflict:
      return "conflict";
    case Outcome::kHeld:
      return "held";
  }
  return "applied";
}

}  // namespace lastword
