// Canonical keys: one byte string a key value, so that keys compare by value whatever they looked
// like at the border.
//
//   key    := part*                      one part a key column, in key order
//   part   := 0x00                       NULL (only in a nullable key column)
//           | 0x01 tag payload
//   tag    := 'i' int64 | 'u' uint64 above 2^63-1 | 'b' bool | 'f' double | 'd' decimal | 's' text
//   | 'x' bytes
//           | 'D' date | 'T' time | 't' timestamp | 'z' timestamptz | 'U' uuid
//   payload of i, u, D, T, t, z: 8 bytes little-endian (every integer width alike; u only when i
//   cannot hold it); f: 8 bytes of the double, -0.0 as 0.0, every NaN as one NaN (float32 widened);
//   d: digits without leading or trailing zeros, as "[-]digits'e'exponent" with a length of 4
//   bytes; s, x, json: 4 bytes length, bytes.
// Persisted in the ledger: this grammar never changes. A list or vector cannot be a key (kUsage
// when declared).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "lastword/schema.h"
#include "model/rows.h"

namespace lastword {

/// Appends the canonical bytes of row `row`'s key to `out`. NULL in a column that is not nullable:
/// kNullInKey, with the column in the place.
Status AppendKey(const Schema& schema, const Rows& rows, uint64_t row, std::string& out);

/// Reads a key as a user types it for `explain`: the value itself for a single key column (bytes as
/// base64, dates and times as ISO 8601), else a JSON array in key order or an object by column
/// name; both JSON forms are taken for a single column too. Returns its canonical bytes; kUsage
/// otherwise.
Result<std::string> ParseKey(const Schema& schema, std::string_view text);

/// The key as `explain` takes it back: `7`, `merchant-7`, `[1,"a"]`; a single text that itself
/// begins like JSON is printed as an array of one. Never fails: bytes that are no key print as hex.
std::string KeyToText(std::string_view canonical);

/// Fails with kUsage where the schema's key columns cannot be a key.
Status CheckKeyTypes(const Schema& schema);

}  // namespace lastword
