#include "lance/arrow_schema.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.h"

namespace lastword::lance {
namespace {

constexpr std::string_view kOurType = "lastword:type";
constexpr std::string_view kOurKey = "lastword:key";
constexpr std::string_view kLanceKey = "lance-schema:unenforced-primary-key";
constexpr std::string_view kLanceKeyPosition = "lance-schema:unenforced-primary-key:position";

using Metadata = std::map<std::string, std::string, std::less<>>;

// Formats of types that have no parameter.
constexpr std::pair<TypeKind, const char*> kFormats[] = {
    {TypeKind::kBool, "b"},     {TypeKind::kInt8, "c"},
    {TypeKind::kInt16, "s"},    {TypeKind::kInt32, "i"},
    {TypeKind::kInt64, "l"},    {TypeKind::kUint8, "C"},
    {TypeKind::kUint16, "S"},   {TypeKind::kUint32, "I"},
    {TypeKind::kUint64, "L"},   {TypeKind::kFloat32, "f"},
    {TypeKind::kFloat64, "g"},  {TypeKind::kString, "u"},
    {TypeKind::kBytes, "z"},    {TypeKind::kDate, "tdD"},
    {TypeKind::kTimeUs, "ttu"}, {TypeKind::kTimestampUs, "tsu:"},
    {TypeKind::kUuid, "w:16"},  {TypeKind::kTimestamptzUs, "tsu:UTC"},
    {TypeKind::kJson, "u"},
};

std::string FormatOf(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDecimal:
      return type.precision > 38 ? Message("d:{},{},256", type.precision, type.scale)
                                 : Message("d:{},{}", type.precision, type.scale);
    case TypeKind::kList:
      return "+l";
    case TypeKind::kVector:
      return Message("+w:{}", type.dimension);
    default:
      break;
  }
  for (const auto& [kind, format] : kFormats) {
    if (kind == type.kind) return format;
  }
  return "n";
}

// What an exported schema owns.
struct SchemaNode {
  std::string format, name, metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
};

void ReleaseSchema(ArrowSchema* schema) {
  auto* node = static_cast<SchemaNode*>(schema->private_data);
  for (ArrowSchema& child : node->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete node;
  schema->release = nullptr;
}

void PutInt(std::string& out, size_t value) {
  const auto narrow = static_cast<int32_t>(value);
  out.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
}

std::string Encode(const Metadata& metadata) {
  std::string out;
  if (metadata.empty()) return out;
  PutInt(out, metadata.size());
  for (const auto& [key, value] : metadata) {
    PutInt(out, key.size());
    out += key;
    PutInt(out, value.size());
    out += value;
  }
  return out;
}

Metadata Decode(const char* bytes) {
  Metadata metadata;
  if (bytes == nullptr) return metadata;
  const auto take_int = [&bytes] {
    int32_t value;
    std::memcpy(&value, bytes, sizeof value);
    bytes += sizeof value;
    return value;
  };
  const auto take_text = [&] {
    const int32_t size = take_int();
    std::string text(bytes, static_cast<size_t>(std::max(size, 0)));
    bytes += text.size();
    return text;
  };
  for (int32_t left = take_int(); left > 0; --left) {
    std::string key = take_text();
    metadata[std::move(key)] = take_text();
  }
  return metadata;
}

void Fill(std::string_view name, std::string format, bool nullable, const Metadata& metadata,
          std::vector<ArrowSchema> children, ArrowSchema* out) {
  auto node = std::make_unique<SchemaNode>();
  node->format = std::move(format);
  node->name = name;
  node->metadata = Encode(metadata);
  node->children = std::move(children);
  for (ArrowSchema& child : node->children) node->child_pointers.push_back(&child);
  *out = ArrowSchema{};
  out->format = node->format.c_str();
  out->name = node->name.c_str();
  out->metadata = node->metadata.empty() ? nullptr : node->metadata.data();
  out->flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  out->n_children = static_cast<int64_t>(node->child_pointers.size());
  out->children = node->child_pointers.data();
  out->release = ReleaseSchema;
  out->private_data = node.release();
}

// What Arrow cannot say of a type: json is utf8 there, on its own and inside a list.
Metadata TypeMetadata(const Type& type) {
  if (type.kind != TypeKind::kJson) return {};
  return {{std::string(kOurType), ToString(type)}};
}

void FillColumn(std::string_view name, const Type& type, bool nullable, const Metadata& metadata,
                ArrowSchema* out) {
  std::vector<ArrowSchema> children;
  if (type.kind == TypeKind::kList) {
    FillColumn("item", *type.element, true, TypeMetadata(*type.element), &children.emplace_back());
  } else if (type.kind == TypeKind::kVector) {
    FillColumn("item", Type{.kind = TypeKind::kFloat32}, true, {}, &children.emplace_back());
  }
  Fill(name, FormatOf(type), nullable, metadata, std::move(children), out);
}

bool HasNullableKey(const Schema& schema) {
  return std::find(schema.nullable_key.begin(), schema.nullable_key.end(), true) !=
         schema.nullable_key.end();
}

Metadata MetadataOf(const Schema& schema, size_t column, bool with_key) {
  Metadata metadata = TypeMetadata(schema.columns[column].type);
  const auto at = std::find(schema.key.begin(), schema.key.end(), column);
  if (!with_key || at == schema.key.end()) return metadata;
  const std::string position = std::to_string(at - schema.key.begin() + 1);
  metadata.emplace(kOurKey, position);
  if (!HasNullableKey(schema)) {
    metadata.emplace(kLanceKey, "true");
    metadata.emplace(kLanceKeyPosition, position);
  }
  return metadata;
}

std::optional<int32_t> TakeNumber(std::string_view& text) {
  if (!text.empty() && (text.front() == ':' || text.front() == ',')) text.remove_prefix(1);
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<Type> ImportType(const ArrowSchema& field, const Metadata& metadata);

std::optional<Type> ImportDecimal(std::string_view format) {
  format.remove_prefix(1);  // "d:PRECISION,SCALE[,BITS]"
  const auto precision = TakeNumber(format);
  const auto scale = TakeNumber(format);
  if (!precision || !scale || *scale < 0 || *scale > *precision) return std::nullopt;
  const int32_t bits = format.empty() ? 128 : TakeNumber(format).value_or(0);
  // The width follows from the precision in our types; a narrow decimal256 would not round-trip.
  if (bits != (*precision > 38 ? 256 : 128)) return std::nullopt;
  return Type{.kind = TypeKind::kDecimal, .precision = *precision, .scale = *scale};
}

std::optional<Type> ImportNested(const ArrowSchema& field, std::string_view format) {
  if (field.n_children != 1) return std::nullopt;
  const ArrowSchema& child = *field.children[0];
  std::optional<Type> element = ImportType(child, Decode(child.metadata));
  if (!element) return std::nullopt;
  if (format == "+l" || format == "+L") {
    return Type{.kind = TypeKind::kList,
                .element = std::make_shared<const Type>(std::move(*element))};
  }
  if (!format.starts_with("+w:") || element->kind != TypeKind::kFloat32) return std::nullopt;
  format.remove_prefix(2);
  const auto dimension = TakeNumber(format);
  if (!dimension || *dimension < 1) return std::nullopt;
  return Type{.kind = TypeKind::kVector, .dimension = *dimension};
}

std::optional<Type> ImportType(const ArrowSchema& field, const Metadata& metadata) {
  const std::string_view format = field.format;
  if (field.dictionary != nullptr) return std::nullopt;
  if (format.starts_with("d:")) return ImportDecimal(format);
  if (format.starts_with("+")) return ImportNested(field, format);
  if (format == "U") return Type{.kind = TypeKind::kString};
  if (format == "Z") return Type{.kind = TypeKind::kBytes};
  // Any zone: the value counts from 1970 in UTC whatever zone it is shown in.
  if (format.starts_with("tsu:") && format.size() > 4) {
    return Type{.kind = TypeKind::kTimestamptzUs};
  }
  for (const auto& [kind, known] : kFormats) {
    if (format != known) continue;
    const auto ours = metadata.find(kOurType);
    if (kind == TypeKind::kString && ours != metadata.end()) {
      Result<Type> type = ParseType(ours->second);
      if (type.ok() && type->kind == TypeKind::kJson) return *type;
    }
    return Type{.kind = kind};
  }
  return std::nullopt;
}

std::optional<int32_t> KeyPosition(const Metadata& metadata) {
  for (const std::string_view name : {kOurKey, kLanceKeyPosition}) {
    const auto at = metadata.find(name);
    if (at == metadata.end()) continue;
    std::string_view text = at->second;
    return TakeNumber(text);
  }
  // The older form of Lance's mark has no position: schema order.
  const auto mark = metadata.find(kLanceKey);
  if (mark != metadata.end() && mark->second == "true") return 0;
  return std::nullopt;
}

}  // namespace

Status ExportSchema(const Schema& schema, bool with_key, ArrowSchema* out) {
  std::vector<ArrowSchema> children;
  children.reserve(schema.columns.size());
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (column.name.empty() || column.name.find('.') != std::string::npos) {
      for (ArrowSchema& child : children) child.release(&child);
      return Error{ErrorKind::kSchemaIncompatible,
                   Message("Lance takes no column named `{}`: declare one with another name and "
                           "`from: {}`",
                           column.name, column.name),
                   {.column = column.name}};
    }
    FillColumn(column.name, column.type, column.nullable, MetadataOf(schema, i, with_key),
               &children.emplace_back());
  }
  Fill("", "+s", false, {}, std::move(children), out);
  return Ok{};
}

Result<Schema> ImportSchema(const ArrowSchema& schema, std::string_view skip) {
  Schema result;
  std::vector<std::pair<int32_t, uint32_t>> key;  // position, column
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema& field = *schema.children[i];
    if (!skip.empty() && field.name == skip) continue;
    const Metadata metadata = Decode(field.metadata);
    std::optional<Type> type = ImportType(field, metadata);
    if (!type) {
      return Error{ErrorKind::kSchemaIncompatible,
                   Message("column {} has the Arrow type `{}`, which is none that Lastword knows",
                           field.name, field.format),
                   {.column = field.name}};
    }
    if (const auto position = KeyPosition(metadata)) {
      key.emplace_back(*position, static_cast<uint32_t>(result.columns.size()));
    }
    result.columns.push_back(Column{.name = field.name,
                                    .type = std::move(*type),
                                    .nullable = (field.flags & ARROW_FLAG_NULLABLE) != 0});
  }
  std::stable_sort(key.begin(), key.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [position, column] : key) {
    result.key.push_back(column);
    result.nullable_key.push_back(result.columns[column].nullable);
  }
  return result;
}

}  // namespace lastword::lance
