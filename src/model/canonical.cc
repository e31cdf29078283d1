#include "model/canonical.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/short_copy.h"
#include "model/decimal.h"

namespace lastword {
namespace {

constexpr char kNullPart = 0x00;
constexpr char kValuePart = 0x01;
// Every NaN is this one: quiet, positive, no payload.
constexpr uint64_t kOneNan = 0x7ff8000000000000;

// Where the bytes go: both are written through a pointer, so that a part costs one growth check.
char* Extend(std::string& out, size_t size) {
  out.resize(out.size() + size);
  return out.data() + out.size() - size;
}
char* Extend(ByteBuffer& out, size_t size) {
  return out.Extend(size);
}

// Little-endian whatever the machine is; one store where the machine is too.
template <typename T>
char* Put(char* to, T value) {
  for (size_t i = 0; i < sizeof value; ++i) to[i] = static_cast<char>(value >> 8 * i);
  return to + sizeof value;
}

char* PutTag(char* to, char tag) {
  to[0] = kValuePart;
  to[1] = tag;
  return to + 2;
}

template <typename Out>
void AppendNumber(char tag, uint64_t value, Out& out) {
  Put(PutTag(Extend(out, 10), tag), value);
}

template <typename Out>
void AppendSigned(char tag, int64_t value, Out& out) {
  AppendNumber(tag, static_cast<uint64_t>(value), out);
}

template <typename Out>
void AppendUnsigned(uint64_t value, Out& out) {
  const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  AppendNumber(fits ? 'i' : 'u', value, out);
}

template <typename Out>
void AppendFloat(double value, Out& out) {
  uint64_t bits = kOneNan;
  if (value == 0) value = 0;  // -0.0 too
  if (!std::isnan(value)) std::memcpy(&bits, &value, sizeof bits);
  AppendNumber('f', bits, out);
}

template <typename Out>
void AppendRaw(char tag, std::string_view bytes, Out& out) {
  char* const to = PutTag(Extend(out, 2 + bytes.size()), tag);
  CopyShort(to, bytes.data(), bytes.size());
}

template <typename Out>
void AppendSized(char tag, std::string_view bytes, Out& out) {
  char* const to =
      Put(PutTag(Extend(out, 6 + bytes.size()), tag), static_cast<uint32_t>(bytes.size()));
  CopyShort(to, bytes.data(), bytes.size());
}

template <typename Out>
void AppendPart(const ColumnData& column, uint64_t row, Out& out);

template <typename Out>
void AppendList(const ColumnData& column, uint64_t row, Out& out) {
  const auto [begin, count] = column.ListRange(row);
  Put(PutTag(Extend(out, 6), 'L'), static_cast<uint32_t>(count));
  for (uint64_t i = 0; i < count; ++i) AppendPart(column.child(), begin + i, out);
}

template <typename Out>
void AppendDecimal(const ColumnData& column, uint64_t row, Out& out) {
  std::string digits;  // nearly always short enough to need no memory
  AppendCanonicalDecimal(column.FixedBytes(row), column.type().scale, digits);
  AppendSized('d', digits, out);
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

namespace {

// Parts of the rows that `each` calls what it is given with; none of them is NULL. What a type
// means is asked once for all of them.
template <typename Each, typename Out>
void AppendValues(const ColumnData& column, const Each& each, Out& out) {
  switch (column.type().kind) {
    case TypeKind::kBool:
      return each([&](uint64_t row) {
        PutTag(Extend(out, 3), 'b')[0] = column.Fixed<uint8_t>(row) != 0 ? '\1' : '\0';
      });
    case TypeKind::kInt8:
      return each([&](uint64_t row) { AppendSigned('i', column.Fixed<int8_t>(row), out); });
    case TypeKind::kInt16:
      return each([&](uint64_t row) { AppendSigned('i', column.Fixed<int16_t>(row), out); });
    case TypeKind::kInt32:
      return each([&](uint64_t row) { AppendSigned('i', column.Fixed<int32_t>(row), out); });
    case TypeKind::kInt64:
      return each([&](uint64_t row) { AppendSigned('i', column.Fixed<int64_t>(row), out); });
    case TypeKind::kUint8:
      return each([&](uint64_t row) { AppendUnsigned(column.Fixed<uint8_t>(row), out); });
    case TypeKind::kUint16:
      return each([&](uint64_t row) { AppendUnsigned(column.Fixed<uint16_t>(row), out); });
    case TypeKind::kUint32:
      return each([&](uint64_t row) { AppendUnsigned(column.Fixed<uint32_t>(row), out); });
    case TypeKind::kUint64:
      return each([&](uint64_t row) { AppendUnsigned(column.Fixed<uint64_t>(row), out); });
    case TypeKind::kFloat32:
      return each([&](uint64_t row) { AppendFloat(column.Fixed<float>(row), out); });
    case TypeKind::kFloat64:
      return each([&](uint64_t row) { AppendFloat(column.Fixed<double>(row), out); });
    case TypeKind::kDecimal:
      return each([&](uint64_t row) { AppendDecimal(column, row, out); });
    case TypeKind::kString:
    case TypeKind::kJson:
      return each([&](uint64_t row) { AppendSized('s', column.Bytes(row), out); });
    case TypeKind::kBytes:
      return each([&](uint64_t row) { AppendSized('x', column.Bytes(row), out); });
    case TypeKind::kDate:
      return each([&](uint64_t row) { AppendSigned('D', column.Fixed<int32_t>(row), out); });
    case TypeKind::kTimeUs:
      return each([&](uint64_t row) { AppendSigned('T', column.Fixed<int64_t>(row), out); });
    case TypeKind::kTimestampUs:
      return each([&](uint64_t row) { AppendSigned('t', column.Fixed<int64_t>(row), out); });
    case TypeKind::kTimestamptzUs:
      return each([&](uint64_t row) { AppendSigned('z', column.Fixed<int64_t>(row), out); });
    case TypeKind::kUuid:
      return each([&](uint64_t row) { AppendRaw('U', column.FixedBytes(row), out); });
    case TypeKind::kList:
      return each([&](uint64_t row) { AppendList(column, row, out); });
    case TypeKind::kVector:
      return each([&](uint64_t row) { AppendRaw('V', column.FixedBytes(row), out); });
  }
}

template <typename Out>
void AppendPart(const ColumnData& column, uint64_t row, Out& out) {
  if (column.IsNull(row)) {
    *Extend(out, 1) = kNullPart;
    return;
  }
  AppendValues(
      column, [row](const auto& append) { append(row); }, out);
}

}  // namespace

void AppendCanonicalPart(const ColumnData& column, uint64_t row, std::string& out) {
  AppendPart(column, row, out);
}

void AppendCanonicalPart(const ColumnData& column, uint64_t row, ByteBuffer& out) {
  AppendPart(column, row, out);
}

void AppendCanonicalParts(const ColumnData& column, uint64_t row, uint64_t count, ByteBuffer& out) {
  const auto each = [row, count](const auto& append) {
    for (uint64_t i = 0; i < count; ++i) append(row + i);
  };
  AppendValues(column, each, out);
}

uint32_t CanonicalWidth(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBool:
      return 3;
    case TypeKind::kUuid:
      return 18;
    case TypeKind::kDecimal:
    case TypeKind::kString:
    case TypeKind::kJson:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kVector:
      return 0;
    default:
      return 10;
  }
}

}  // namespace lastword
