#include "base/check.h"

#include "base/format.h"

namespace lastword {

Error CheckFailed(std::string_view condition, std::string_view file, int line,
                  std::string_view what) {
  const size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return Error{ErrorKind::kInternal,
               Message("{} (check `{}` failed at {}:{}); this is a defect of lastword, please "
                       "report it",
                       what, condition, file, line)};
}

}  // namespace lastword
