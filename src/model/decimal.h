// Exact decimals: from text, from the bytes of a source, and back to text. Never through a double,
// never rounded: a value that needs more digits than its type holds is kDecimalOverflow.
//
// Stored form (as Arrow's): the digits as an integer, value = integer / 10^scale, little-endian
// two's complement in 16 bytes (32 above 38 digits).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lastword/schema.h"
#include "lastword/status.h"

namespace lastword {

/// Room for every decimal.
inline constexpr size_t kDecimalBytesMax = 32;

/// Reads "-12.50", "+1", ".5", "5.", "1e3", "1.2E-3" into `out` (FixedWidth(type) bytes). Errors:
/// kDecimalOverflow (non-zero digits behind the scale, or more than precision), kNotFiniteDecimal
/// (NaN, Infinity, in any case and sign), kTypeMismatch (no number).
Status DecimalFromText(std::string_view text, const Type& type, void* out);

/// Reads the big-endian two's complement of value * 10^scale, of any length from 1 byte; `scale`
/// may be negative. kDecimalOverflow as above, kTypeMismatch for no bytes.
Status DecimalFromBigEndian(std::string_view bytes, int32_t scale, const Type& type, void* out);

Status DecimalFromInt64(int64_t value, const Type& type, void* out);
Status DecimalFromUint64(uint64_t value, const Type& type, void* out);

/// Converts a stored decimal of type `from` to type `to`; kDecimalOverflow where it does not fit.
Status DecimalRescale(std::string_view stored, const Type& from, const Type& to, void* out);

/// Prints a stored decimal with exactly `scale` digits behind the point: "-12.50", "7".
std::string DecimalToText(std::string_view stored, int32_t scale);

/// Appends the one form that equal numbers share whatever their scale: "[-]digits'e'exponent", no
/// zeros at either end of the digits, zero as "0e0".
void AppendCanonicalDecimal(std::string_view stored, int32_t scale, std::string& out);

}  // namespace lastword
