// Types, columns and schemas of a table, as users declare them and as sources are understood.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lastword/status.h"
#include "lastword/value.h"

namespace lastword {

/// How a value is held. The Arrow type of each is fixed (docs/types.md).
enum class TypeKind : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat32,
  kFloat64,
  kDecimal,  // decimal128; decimal256 above 38 digits
  kString,
  kBytes,
  kDate,
  kTimeUs,
  kTimestampUs,
  kTimestamptzUs,
  kUuid,
  kJson,
  kList,    // list<element>
  kVector,  // fixed-size list of float32: "vector(n)"
};

/// The declared type of a column.
struct Type {
  TypeKind kind = TypeKind::kString;
  int32_t precision = 0;                // kDecimal: digits, 1..76
  int32_t scale = 0;                    // kDecimal
  int32_t dimension = 0;                // kVector: floats a value
  std::shared_ptr<const Type> element;  // kList

  friend bool operator==(const Type& a, const Type& b) {
    return a.kind == b.kind && a.precision == b.precision && a.scale == b.scale &&
           a.dimension == b.dimension &&
           (a.element == b.element || (a.element && b.element && *a.element == *b.element));
  }
};

/// "int64", "decimal(12,2)", "list<string>", "vector(384)": the form that ParseType reads back.
std::string ToString(const Type& type);
Result<Type> ParseType(std::string_view text);

/// One declared column, and where its value comes from.
struct Column {
  std::string name;
  Type type;
  bool nullable = true;  // in storage; key columns are not, unless NULL is a value there
  std::string
      from;  // "source.db", "header.NAME", "topic", "partition", "offset", or empty: the image
  std::optional<Value> default_value;  // for a column that a complete image lacks
};

/// The columns of one table, in storage order, and its primary key.
struct Schema {
  std::vector<Column> columns;
  std::vector<uint32_t> key;       // indexes into columns, in key order
  std::vector<bool> nullable_key;  // one a key column: NULL is a value there

  /// The index of the column with exactly this name.
  std::optional<uint32_t> Find(std::string_view name) const;
};

}  // namespace lastword
