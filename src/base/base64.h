// Base64 with the standard alphabet and padding (RFC 4648, section 4): how JSON carries bytes.
#pragma once

#include <string>
#include <string_view>

#include "lastword/status.h"

namespace lastword {

std::string EncodeBase64(std::string_view bytes);

/// Strict: padding is required, unused bits are zero, no blanks or line ends. Otherwise
/// kTypeMismatch.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace lastword
