#include "model/explanation.h"

namespace lastword {

std::string_view NameOf(Explanation::State state) {
  switch (state) {
    case Explanation::State::kLive:
      return "live";
    case Explanation::State::kDeleted:
      return "deleted";
    case Explanation::State::kUnknown:
      return "unknown";
    case Explanation::State::kBelowFloor:
      return "below floor";
  }
  return "unknown";
}

}  // namespace lastword
