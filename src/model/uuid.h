// UUIDs as 16 bytes in the order of their text (RFC 9562): how sources print them and how they are
// stored.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "lastword/status.h"

namespace lastword {

using Uuid = std::array<uint8_t, 16>;

/// Reads "0f8fad5b-d9cb-469f-a165-70867728950e" or the same 32 digits without dashes, in either
/// case. Anything else is kTypeMismatch.
Result<Uuid> ParseUuid(std::string_view text);

/// Prints 16 bytes with dashes, in lower case.
std::string UuidToText(std::string_view bytes);

}  // namespace lastword
