// Single values in and out of columns: rows as callers of the library build them, defaults, keys
// and numbers as users type them. Exact or an error; never rounds (but a double into a float32
// column), never converts between text and number on its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lastword/schema.h"
#include "lastword/value.h"
#include "model/rows.h"

namespace lastword {

/// Appends one value as the type of `out`. Integers go into integer, float (where exact), decimal,
/// date, time and timestamp columns; text into string, json, uuid and decimal columns and, as ISO
/// 8601, into date, time and timestamp columns; 16 bytes into uuid columns; a list of numbers into
/// a vector column. Errors, with nothing appended: kTypeMismatch, kOutOfRange, kDecimalOverflow,
/// kNotFiniteDecimal.
Status AppendValue(const Value& value, ColumnData& out);

/// Appends `row` to `out`, which has the schema's columns. Columns that the row does not name get
/// their default, else NULL, and are listed in `absent` (ascending; may be null). Errors, with
/// nothing appended and the column in the place: those of AppendValue, kUsage for a name that the
/// schema lacks or the row has twice, kMissingKey for an absent key column, kTypeMismatch for NULL
/// in a column that is neither nullable nor of the key (NULL keys are AppendKey's).
Status AppendRow(const Schema& schema, const Row& row, Rows& out,
                 std::vector<uint32_t>* absent = nullptr);

/// Reads a value back: integers as int64_t (uint64_t where it needs that), float32 widened, date,
/// time and timestamps as days or microseconds, decimals as Decimal, uuid as text with dashes, a
/// vector as a list of doubles.
Value ReadValue(const ColumnData& column, uint64_t row);
/// All columns of the schema, NULLs included.
Row ReadRow(const Schema& schema, const Rows& rows, uint64_t row);

/// What a person types for a value of `type`, without quotes: "7", "true", "1.5", "2024-02-29",
/// "merchant-7"; bytes as base64. Lists and vectors have no such form. kTypeMismatch, kOutOfRange.
Result<Value> ParseValueText(const Type& type, std::string_view text);

}  // namespace lastword
