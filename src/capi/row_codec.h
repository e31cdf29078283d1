// Encoded rows (include/lastword/c.h has their grammar) to and from columns. Trusts no byte: a row
// that ends early, a flag that is none or text that is no UTF-8 is an error, never a crash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "lastword/schema.h"
#include "lastword/version.h"
#include "model/rows.h"

namespace lastword::capi {

/// The row kinds of a changelog, with the values of the encoding.
enum class RowKind : uint8_t { kInsert = 0, kUpdateBefore = 1, kUpdateAfter = 2, kDelete = 3 };

constexpr bool IsRemoval(RowKind kind) {
  return kind == RowKind::kUpdateBefore || kind == RowKind::kDelete;
}

class RowReader {
 public:
  /// Reads rows of the first `columns` columns of `schema`, which outlives the reader.
  RowReader(const Schema& schema, size_t columns, bool with_version);

  /// Takes the next row off `encoded` and appends its values to `rows`. Errors, with nothing
  /// appended: kUsage (the bytes are no row), kTypeMismatch (NULL in a column that takes none, of a
  /// row that is kept; text that is no UTF-8), kOutOfRange, kDecimalOverflow.
  Status Read(std::string_view& encoded, Rows& rows, RowKind& kind, Version& version);
  /// The same, with the same errors, but appends the values of the key alone, to rows of
  /// KeySchema().
  Status ReadKey(std::string_view& encoded, Rows& keys, RowKind& kind, Version& version);

  /// The key's columns, in the key's order. Those that are not encoded are the caller's to append.
  const Schema& KeySchema() const { return x_key_schema; }

 private:
  // What reading a column needs to know of it.
  struct Field {
    bool takes_null;        // key columns too: a NULL key has an error of its own
    uint32_t key_part;      // kNoPart outside of the key
    uint32_t simple_width;  // where any bytes of this width are a value, else 0
    bool is_text, is_bytes;
  };
  static constexpr uint32_t kNoPart = UINT32_MAX;

  static bool ReadSimple(const Field& field, ByteReader& in, ColumnData* to);
  Status ReadRow(std::string_view& encoded, bool key_only, Rows& rows, RowKind& kind,
                 Version& version);
  Status ReadColumns(std::string_view nulls, std::string_view& encoded, RowKind kind, bool key_only,
                     Rows& rows);

  const Schema& x_schema;
  Schema x_key_schema;
  bool x_with_version;
  std::vector<Field> x_fields;
};

/// Appends row `row` of `rows` as +I, without a version.
void AppendEncodedRow(const Rows& rows, uint64_t row, std::string& out);

}  // namespace lastword::capi
