// The digest of a change as sent: what tells a repeat from a conflict.
//
//   digest  := XXH3-64 of payload           (upsert)   | kDeleteDigest (delete)
//   payload := column*                      in ascending byte order of their names
//   column  := length(4) name value         NULL = absent: no column at all
//   value   := 'U'                          unavailable (unchanged out-of-line value)
//            | part                         of model/key.h (0x01 tag payload), and for digests only
//   tag     := 'L' count(4) part*           list; its NULL elements are 0x00
//            | 'V' raw little-endian floats vector
// `name` is that of the image: a column whose `from:` maps a field goes under the field's name.
// Metadata of the record (model/column_origin.h) and filled or defaulted values are not part of it:
// a redelivery under another offset has the same digest. Persisted with each row: never changes.
#pragma once

#include <cstdint>
#include <vector>

#include "model/rows.h"

namespace lastword {

/// A delete says nothing but that the key is gone.
inline constexpr uint64_t kDeleteDigest = 0x64656c657465ULL;

/// Digests the rows of one schema; holds the column order by name. Not thread-safe (it owns a
/// scratch buffer).
class Digester {
 public:
  explicit Digester(const Schema& schema);
  /// `absent` and `unavailable`: ascending column indexes of row `row` that the image lacked or
  /// marked as unchanged; both may be empty. A column that is absent from the image may hold a
  /// default in `rows`.
  uint64_t Digest(const Rows& rows, uint64_t row, const std::vector<uint32_t>& absent,
                  const std::vector<uint32_t>& unavailable);

 private:
  std::vector<uint32_t> x_order;     // columns of the image by name
  std::vector<std::string> x_names;  // length-prefixed
  ByteBuffer x_scratch;
};

}  // namespace lastword
