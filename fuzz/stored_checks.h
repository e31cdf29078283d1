// What must hold for any bytes that pretend to be something we stored: an error or a value that
// survives a round trip, never a crash. The first byte says what the rest pretends to be: 's' the
// state in the properties, 'p' the positions, 'x' an extra of the ledger, 'r' a row of the ledger.
#pragma once

#include <string_view>

namespace lastword {

/// Aborts when something does not hold.
void CheckStored(std::string_view bytes);

}  // namespace lastword
