#include "model/canonical.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "model/decimal.h"

namespace lastword {
namespace {

constexpr char kNullPart = 0x00;
constexpr char kValuePart = 0x01;
// Every NaN is this one: quiet, positive, no payload.
constexpr uint64_t kOneNan = 0x7ff8000000000000;

void AppendTag(char tag, std::string& out) {
  out += kValuePart;
  out += tag;
}

void AppendNumber(char tag, int64_t value, std::string& out) {
  AppendTag(tag, out);
  AppendUint64(static_cast<uint64_t>(value), out);
}

void AppendUnsigned(uint64_t value, std::string& out) {
  const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  AppendTag(fits ? 'i' : 'u', out);
  AppendUint64(value, out);
}

void AppendFloat(double value, std::string& out) {
  uint64_t bits = kOneNan;
  if (value == 0) value = 0;  // -0.0 too
  if (!std::isnan(value)) std::memcpy(&bits, &value, sizeof bits);
  AppendTag('f', out);
  AppendUint64(bits, out);
}

void AppendSized(char tag, std::string_view bytes, std::string& out) {
  AppendTag(tag, out);
  AppendUint32(static_cast<uint32_t>(bytes.size()), out);
  out += bytes;
}

void AppendDecimal(const ColumnData& column, uint64_t row, std::string& out) {
  AppendTag('d', out);
  const size_t begin = out.size();
  AppendUint32(0, out);
  AppendCanonicalDecimal(column.FixedBytes(row), column.type().scale, out);
  std::string size;
  AppendUint32(static_cast<uint32_t>(out.size() - begin - 4), size);
  out.replace(begin, 4, size);
}

void AppendList(const ColumnData& column, uint64_t row, std::string& out) {
  const auto [begin, count] = column.ListRange(row);
  AppendTag('L', out);
  AppendUint32(static_cast<uint32_t>(count), out);
  for (uint64_t i = 0; i < count; ++i) AppendCanonicalPart(column.child(), begin + i, out);
}

}  // namespace

std::optional<CanonicalPart> TakeCanonicalPart(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const char marker = rest[0];
  rest.remove_prefix(1);
  if (marker == kNullPart) return CanonicalPart{};
  if (marker != kValuePart || rest.empty()) return std::nullopt;
  const char tag = rest[0];
  if (tag == 0) return std::nullopt;
  rest.remove_prefix(1);
  size_t size = 8;
  if (tag == 'b') size = 1;
  if (tag == 'U') size = 16;
  if (tag == 's' || tag == 'x' || tag == 'd') {
    if (rest.size() < 4) return std::nullopt;
    size = 0;
    for (int i = 4; i-- > 0;) size = size << 8 | static_cast<uint8_t>(rest[i]);
    rest.remove_prefix(4);
  }
  if (rest.size() < size) return std::nullopt;
  const std::string_view payload = rest.substr(0, size);
  rest.remove_prefix(size);
  return CanonicalPart{tag, payload};
}

void AppendUint32(uint32_t value, std::string& out) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> 8 * i);
}

void AppendUint64(uint64_t value, std::string& out) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> 8 * i);
  out.append(bytes, sizeof bytes);
}

void AppendCanonicalPart(const ColumnData& column, uint64_t row, std::string& out) {
  if (column.IsNull(row)) {
    out += kNullPart;
    return;
  }
  switch (column.type().kind) {
    case TypeKind::kBool:
      AppendTag('b', out);
      out += column.Fixed<uint8_t>(row) != 0 ? '\1' : '\0';
      return;
    case TypeKind::kInt8:
      return AppendNumber('i', column.Fixed<int8_t>(row), out);
    case TypeKind::kInt16:
      return AppendNumber('i', column.Fixed<int16_t>(row), out);
    case TypeKind::kInt32:
      return AppendNumber('i', column.Fixed<int32_t>(row), out);
    case TypeKind::kInt64:
      return AppendNumber('i', column.Fixed<int64_t>(row), out);
    case TypeKind::kUint8:
      return AppendUnsigned(column.Fixed<uint8_t>(row), out);
    case TypeKind::kUint16:
      return AppendUnsigned(column.Fixed<uint16_t>(row), out);
    case TypeKind::kUint32:
      return AppendUnsigned(column.Fixed<uint32_t>(row), out);
    case TypeKind::kUint64:
      return AppendUnsigned(column.Fixed<uint64_t>(row), out);
    case TypeKind::kFloat32:
      return AppendFloat(column.Fixed<float>(row), out);
    case TypeKind::kFloat64:
      return AppendFloat(column.Fixed<double>(row), out);
    case TypeKind::kDecimal:
      return AppendDecimal(column, row, out);
    case TypeKind::kString:
    case TypeKind::kJson:
      return AppendSized('s', column.Bytes(row), out);
    case TypeKind::kBytes:
      return AppendSized('x', column.Bytes(row), out);
    case TypeKind::kDate:
      return AppendNumber('D', column.Fixed<int32_t>(row), out);
    case TypeKind::kTimeUs:
      return AppendNumber('T', column.Fixed<int64_t>(row), out);
    case TypeKind::kTimestampUs:
      return AppendNumber('t', column.Fixed<int64_t>(row), out);
    case TypeKind::kTimestamptzUs:
      return AppendNumber('z', column.Fixed<int64_t>(row), out);
    case TypeKind::kUuid:
      AppendTag('U', out);
      out += column.FixedBytes(row);
      return;
    case TypeKind::kList:
      return AppendList(column, row, out);
    case TypeKind::kVector:
      AppendTag('V', out);
      out += column.FixedBytes(row);
      return;
  }
}

}  // namespace lastword
