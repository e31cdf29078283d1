#include "lance/arrow_import.h"

#include <string_view>

#include "base/format.h"

namespace lastword::lance {
namespace {

// A range of one array, with the offsets of what it lies in added up.
struct Slice {
  const ArrowSchema& schema;
  const ArrowArray& array;
  int64_t begin;
  int64_t count;

  template <typename T>
  const T* Values(int buffer) const {
    return static_cast<const T*>(array.buffers[buffer]);
  }
  bool HasNoNulls() const { return array.null_count == 0 || array.buffers[0] == nullptr; }
  bool IsNull(int64_t row) const {
    const auto* valid = Values<uint8_t>(0);
    const int64_t bit = begin + row;
    return valid != nullptr && !(valid[bit >> 3] >> (bit & 7) & 1);
  }
};

Error Mismatch(const ArrowSchema& schema, const Type& type) {
  return Error{ErrorKind::kStorageCorrupt,
               Message("column {}: Arrow type `{}` where {} was expected", schema.name,
                       schema.format, ToString(type)),
               {.column = schema.name}};
}

Status ImportColumn(const Slice& slice, ColumnData& column);

void ImportFixed(const Slice& slice, ColumnData& column) {
  const uint32_t width = FixedWidth(column.type());
  const char* values = slice.Values<char>(1) + slice.begin * width;
  if (slice.HasNoNulls()) return column.AppendFixedRun(values, static_cast<uint64_t>(slice.count));
  for (int64_t i = 0; i < slice.count; ++i) {
    if (slice.IsNull(i)) {
      column.AppendNull();
    } else {
      column.AppendFixedBytes(values + i * width);
    }
  }
}

void ImportBool(const Slice& slice, ColumnData& column) {
  const auto* bits = slice.Values<uint8_t>(1);
  for (int64_t i = 0; i < slice.count; ++i) {
    const int64_t bit = slice.begin + i;
    if (slice.IsNull(i)) {
      column.AppendNull();
    } else {
      column.AppendFixed(static_cast<uint8_t>(bits[bit >> 3] >> (bit & 7) & 1));
    }
  }
}

template <typename Offset>
void ImportBytes(const Slice& slice, ColumnData& column) {
  const Offset* offsets = slice.Values<Offset>(1) + slice.begin;
  const char* bytes = slice.Values<char>(2);
  for (int64_t i = 0; i < slice.count; ++i) {
    if (slice.IsNull(i)) {
      column.AppendNull();
    } else {
      const auto size = static_cast<size_t>(offsets[i + 1] - offsets[i]);
      column.AppendBytes(size == 0 ? std::string_view()
                                   : std::string_view(bytes + offsets[i], size));
    }
  }
}

template <typename Offset>
Status ImportList(const Slice& slice, ColumnData& column) {
  const Offset* offsets = slice.Values<Offset>(1) + slice.begin;
  const ArrowSchema& child_schema = *slice.schema.children[0];
  const ArrowArray& child = *slice.array.children[0];
  for (int64_t i = 0; i < slice.count; ++i) {
    if (slice.IsNull(i)) {
      column.AppendNull();
      continue;
    }
    const auto size = static_cast<int64_t>(offsets[i + 1] - offsets[i]);
    LW_RETURN_IF_ERROR(ImportColumn(
        Slice{child_schema, child, child.offset + static_cast<int64_t>(offsets[i]), size},
        column.child()));
    column.AppendList(static_cast<uint64_t>(size));
  }
  return Ok{};
}

void ImportVectors(const Slice& slice, ColumnData& column) {
  const int64_t dimension = column.type().dimension;
  const ArrowArray& child = *slice.array.children[0];
  const auto* floats =
      static_cast<const float*>(child.buffers[1]) + child.offset + slice.begin * dimension;
  for (int64_t i = 0; i < slice.count; ++i) {
    if (slice.IsNull(i)) {
      column.AppendNull();
    } else {
      column.AppendFixedBytes(floats + i * dimension);
    }
  }
}

// Arrow's formats of fixed-width values name their width in the type; everything else that ours can
// be must be said.
bool IsFixedFormatOf(std::string_view format, const Type& type) {
  switch (type.kind) {
    case TypeKind::kInt8:
      return format == "c";
    case TypeKind::kInt16:
      return format == "s";
    case TypeKind::kInt32:
      return format == "i";
    case TypeKind::kInt64:
      return format == "l";
    case TypeKind::kUint8:
      return format == "C";
    case TypeKind::kUint16:
      return format == "S";
    case TypeKind::kUint32:
      return format == "I";
    case TypeKind::kUint64:
      return format == "L";
    case TypeKind::kFloat32:
      return format == "f";
    case TypeKind::kFloat64:
      return format == "g";
    case TypeKind::kDate:
      return format == "tdD";
    case TypeKind::kTimeUs:
      return format == "ttu";
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return format.starts_with("tsu:");
    case TypeKind::kUuid:
      return format == "w:16";
    case TypeKind::kDecimal:
      return format.starts_with("d:") && (format.ends_with(",256") == (type.precision > 38));
    default:
      return false;
  }
}

Status ImportColumn(const Slice& slice, ColumnData& column) {
  const std::string_view format = slice.schema.format;
  const Type& type = column.type();
  switch (type.kind) {
    case TypeKind::kBool:
      if (format != "b") return Mismatch(slice.schema, type);
      ImportBool(slice, column);
      return Ok{};
    case TypeKind::kString:
    case TypeKind::kJson:
    case TypeKind::kBytes: {
      const bool is_text = type.kind != TypeKind::kBytes;
      if (format == (is_text ? "u" : "z")) {
        ImportBytes<int32_t>(slice, column);
      } else if (format == (is_text ? "U" : "Z")) {
        ImportBytes<int64_t>(slice, column);
      } else {
        return Mismatch(slice.schema, type);
      }
      return Ok{};
    }
    case TypeKind::kList:
      if (format == "+l") return ImportList<int32_t>(slice, column);
      if (format == "+L") return ImportList<int64_t>(slice, column);
      return Mismatch(slice.schema, type);
    case TypeKind::kVector:
      if (format != Message("+w:{}", type.dimension)) return Mismatch(slice.schema, type);
      ImportVectors(slice, column);
      return Ok{};
    default:
      if (!IsFixedFormatOf(format, type)) return Mismatch(slice.schema, type);
      ImportFixed(slice, column);
      return Ok{};
  }
}

}  // namespace

Status ImportRows(const ArrowSchema& schema, const ArrowArray& array, Rows& rows) {
  if (array.n_children < static_cast<int64_t>(rows.columns.size())) {
    return Error{ErrorKind::kStorageCorrupt,
                 Message("{} columns read, {} expected", array.n_children, rows.columns.size())};
  }
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    const ArrowArray& child = *array.children[i];
    LW_RETURN_IF_ERROR(
        ImportColumn(Slice{*schema.children[i], child, child.offset + array.offset, array.length},
                     rows.columns[i]));
  }
  return Ok{};
}

Result<const void*> LentValues(const ArrowSchema& schema, const ArrowArray& array, size_t column,
                               const Type& type) {
  const ArrowSchema& child_schema = *schema.children[column];
  if (!IsFixedFormatOf(child_schema.format, type)) return Mismatch(child_schema, type);
  const ArrowArray& child = *array.children[column];
  const Slice slice{child_schema, child, child.offset + array.offset, array.length};
  for (int64_t row = 0; child.null_count != 0 && row < slice.count; ++row) {
    if (!slice.IsNull(row)) continue;
    return Error{ErrorKind::kStorageCorrupt,
                 Message("column {}: NULL where there must be a value", child_schema.name),
                 {.column = child_schema.name}};
  }
  return slice.Values<char>(1) + slice.begin * FixedWidth(type);
}

const uint64_t* Uint64Values(const ArrowSchema& schema, const ArrowArray& array, int64_t column) {
  if (column < 0 || column >= array.n_children) return nullptr;
  if (std::string_view(schema.children[column]->format) != "L") return nullptr;
  const ArrowArray& child = *array.children[column];
  return static_cast<const uint64_t*>(child.buffers[1]) + child.offset + array.offset;
}

}  // namespace lastword::lance
