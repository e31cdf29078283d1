// Types as text, the way users declare them.
//
//   type := name | 'decimal(' precision ',' scale ')' | 'list<' type '>' | 'vector(' dimension ')'
// Blanks are allowed between the parts; names are lower case.
#include <charconv>
#include <utility>

#include "base/format.h"
#include "lastword/schema.h"

namespace lastword {
namespace {

constexpr int32_t kPrecisionMax = 76;       // digits of decimal256
constexpr int32_t kDimensionMax = 1 << 20;  // floats of a vector
constexpr int kNestingMax = 8;              // lists in lists

constexpr std::pair<std::string_view, TypeKind> kPlainTypes[] = {
    {"bool", TypeKind::kBool},
    {"int8", TypeKind::kInt8},
    {"int16", TypeKind::kInt16},
    {"int32", TypeKind::kInt32},
    {"int64", TypeKind::kInt64},
    {"uint8", TypeKind::kUint8},
    {"uint16", TypeKind::kUint16},
    {"uint32", TypeKind::kUint32},
    {"uint64", TypeKind::kUint64},
    {"float32", TypeKind::kFloat32},
    {"float64", TypeKind::kFloat64},
    {"string", TypeKind::kString},
    {"bytes", TypeKind::kBytes},
    {"date", TypeKind::kDate},
    {"time_us", TypeKind::kTimeUs},
    {"timestamp_us", TypeKind::kTimestampUs},
    {"timestamptz_us", TypeKind::kTimestamptzUs},
    {"uuid", TypeKind::kUuid},
    {"json", TypeKind::kJson},
};

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

bool Take(std::string_view& text, char c) {
  SkipBlanks(text);
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::string_view TakeName(std::string_view& text) {
  SkipBlanks(text);
  size_t size = 0;
  while (size < text.size() && ((text[size] >= 'a' && text[size] <= 'z') || text[size] == '_' ||
                                (text[size] >= '0' && text[size] <= '9'))) {
    ++size;
  }
  const std::string_view name = text.substr(0, size);
  text.remove_prefix(size);
  return name;
}

std::optional<int32_t> TakeNumber(std::string_view& text) {
  SkipBlanks(text);
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<Type> TakeDecimal(std::string_view& text) {
  Type type{.kind = TypeKind::kDecimal};
  if (!Take(text, '(')) return std::nullopt;
  const auto precision = TakeNumber(text);
  if (!precision || !Take(text, ',')) return std::nullopt;
  const auto scale = TakeNumber(text);
  if (!scale || !Take(text, ')')) return std::nullopt;
  if (*precision < 1 || *precision > kPrecisionMax || *scale < 0 || *scale > *precision) {
    return std::nullopt;
  }
  type.precision = *precision;
  type.scale = *scale;
  return type;
}

std::optional<Type> TakeVector(std::string_view& text) {
  Type type{.kind = TypeKind::kVector};
  if (!Take(text, '(')) return std::nullopt;
  const auto dimension = TakeNumber(text);
  if (!dimension || !Take(text, ')')) return std::nullopt;
  if (*dimension < 1 || *dimension > kDimensionMax) return std::nullopt;
  type.dimension = *dimension;
  return type;
}

std::optional<Type> TakeType(std::string_view& text, int nesting) {
  if (nesting > kNestingMax) return std::nullopt;
  const std::string_view name = TakeName(text);
  if (name == "decimal") return TakeDecimal(text);
  if (name == "vector") return TakeVector(text);
  if (name == "list") {
    if (!Take(text, '<')) return std::nullopt;
    std::optional<Type> element = TakeType(text, nesting + 1);
    if (!element || !Take(text, '>')) return std::nullopt;
    return Type{.kind = TypeKind::kList,
                .element = std::make_shared<const Type>(std::move(*element))};
  }
  for (const auto& [plain, kind] : kPlainTypes) {
    if (plain == name) return Type{.kind = kind};
  }
  return std::nullopt;
}

}  // namespace

std::string ToString(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDecimal:
      return Message("decimal({},{})", type.precision, type.scale);
    case TypeKind::kVector:
      return Message("vector({})", type.dimension);
    case TypeKind::kList:
      return Message("list<{}>", type.element ? ToString(*type.element) : "?");
    default:
      break;
  }
  for (const auto& [name, kind] : kPlainTypes) {
    if (kind == type.kind) return std::string(name);
  }
  return "?";
}

Result<Type> ParseType(std::string_view text) {
  std::string_view rest = text;
  std::optional<Type> type = TakeType(rest, 0);
  SkipBlanks(rest);
  if (type && rest.empty()) return std::move(*type);
  std::string names;
  for (const auto& [name, kind] : kPlainTypes) {
    names += name;
    names += ' ';
  }
  return Error{ErrorKind::kUsage,
               Message("`{}` is no type; types are {}decimal(P,S) with P up to {} and S up to P, "
                       "list<TYPE> and vector(N)",
                       text, names, kPrecisionMax)};
}

std::optional<uint32_t> Schema::Find(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

}  // namespace lastword
