// The one door for errors of the Rust library: its classes become ours here and nowhere else.
#pragma once

#include <string_view>

#include "lance/shim/lastword_lance.h"
#include "lastword/status.h"

namespace lastword::lance {

/// Takes `error` over and frees it; null is success. `what` names the operation; `not_found` and
/// `invalid` are what a missing thing and a senseless call mean to it.
Status Check(lastword_lance_error* error, std::string_view what,
             ErrorKind not_found = ErrorKind::kStorageCorrupt,
             ErrorKind invalid = ErrorKind::kInternal);

}  // namespace lastword::lance
