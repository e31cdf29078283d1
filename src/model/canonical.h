// The canonical bytes of one value: what keys (model/key.h) and digests (model/digest.h) are made
// of. Equal values give equal bytes whatever type, width or scale they are held in. Persisted:
// never changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_buffer.h"
#include "model/rows.h"

namespace lastword {

/// Appends the part of model/key.h for row `row` of `column`: 0x00 for NULL, else 0x01 tag payload.
/// Lists and vectors, which only digests have: 0x01 'L' count(4) part*, 0x01 'V' raw floats.
void AppendCanonicalPart(const ColumnData& column, uint64_t row, std::string& out);
void AppendCanonicalPart(const ColumnData& column, uint64_t row, ByteBuffer& out);
/// The same of `count` rows from `row` on, none of them NULL, one part behind the other.
void AppendCanonicalParts(const ColumnData& column, uint64_t row, uint64_t count, ByteBuffer& out);
/// Bytes of the part of any value of `type` but NULL; 0 where they differ from value to value.
uint32_t CanonicalWidth(const Type& type);

/// One part of a canonical key.
struct CanonicalPart {
  char tag = 0;  // of model/key.h; 0 = NULL
  std::string_view payload;
};
/// Takes the first part off `rest`; empty where the bytes do not begin with one.
std::optional<CanonicalPart> TakeCanonicalPart(std::string_view& rest);

/// Appends 4 bytes of `value`, little-endian.
void AppendUint32(uint32_t value, std::string& out);

}  // namespace lastword
