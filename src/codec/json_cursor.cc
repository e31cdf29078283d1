// Strict reading over the tokens of simdjson's first stage. Its string scanner guarantees that a
// token which starts with a quote ends with the next unescaped one, and that nothing but blanks
// lies between that and the next token: so the end of a string is found from the next token
// backwards.
#include "codec/json_cursor.h"

#include <simdjson.h>

#include <cstring>

namespace lastword::codec {
namespace {

constexpr const char* kNotClosed = "a text that is not closed";
constexpr const char* kBadEscape = "an escape that JSON does not have, or half of a surrogate pair";

}  // namespace

struct JsonIndex::Stage {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  size_t capacity = 0;
};

JsonIndex::JsonIndex() : x_stage(std::make_unique<Stage>()) {}
JsonIndex::~JsonIndex() = default;
JsonIndex::JsonIndex(JsonIndex&&) noexcept = default;
JsonIndex& JsonIndex::operator=(JsonIndex&&) noexcept = default;

bool JsonIndex::Index(std::string_view text) {
  x_doc = JsonDoc{};
  x_doc.text = text.data();
  x_doc.text_end = static_cast<uint32_t>(text.size());
  if (text.size() >= UINT32_MAX) {
    x_why = "a record of 4 GiB or more";
    return false;
  }
  if (!x_stage->parser || x_stage->capacity < text.size()) {
    // Doubled, so that a growing line length does not allocate each time.
    const size_t capacity =
        std::max<size_t>(text.size(), std::min<size_t>(2 * x_stage->capacity, 64u << 20));
    x_stage->parser.reset();
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            std::max<size_t>(capacity, 4096), 1, x_stage->parser) != simdjson::SUCCESS) {
      x_stage->capacity = 0;
      x_why = "no memory for the record";
      return false;
    }
    x_stage->capacity = std::max<size_t>(capacity, 4096);
  }
  const simdjson::error_code error = x_stage->parser->stage1(
      reinterpret_cast<const uint8_t*>(text.data()), text.size(), simdjson::stage1_mode::regular);
  switch (error) {
    case simdjson::SUCCESS:
      break;
    case simdjson::EMPTY:
      return true;
    case simdjson::UTF8_ERROR:
      x_why = "bytes that are no UTF-8";
      return false;
    case simdjson::UNCLOSED_STRING:
      x_why = "a text that is not closed";
      return false;
    case simdjson::UNESCAPED_CHARS:
      x_why = "a control character in a text";
      return false;
    default:
      x_why = "no JSON";
      return false;
  }
  x_doc.tokens = x_stage->parser->structural_indexes.get();
  x_doc.end = x_stage->parser->n_structural_indexes;
  return true;
}

const char* NameOf(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "a bool";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a text";
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kList:
      return "a list";
    case JsonKind::kInvalid:
      break;
  }
  return "no value";
}

namespace {

/// What a token adds to the depth, by its first byte.
struct DepthTable {
  int8_t of[256] = {};
  constexpr DepthTable() {
    of[static_cast<uint8_t>('{')] = of[static_cast<uint8_t>('[')] = 1;
    of[static_cast<uint8_t>('}')] = of[static_cast<uint8_t>(']')] = -1;
  }
};
constexpr DepthTable kDepth;

}  // namespace

uint32_t SkipUnchecked(const JsonDoc& doc, uint32_t token) {
  const char first = doc.At(token);
  if (first != '{' && first != '[') {
    const bool is_value =
        first != '\0' && first != '}' && first != ']' && first != ',' && first != ':';
    return token + is_value;
  }
  int32_t depth = 1;
  while (++token < doc.end) {
    depth += kDepth.of[static_cast<uint8_t>(doc.text[doc.tokens[token]])];
    if (depth == 0) return token + 1;
  }
  return doc.end;
}

namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Four hex digits at `from`, or -1.
int32_t Hex4(std::string_view raw, size_t from) {
  if (raw.size() < from + 4) return -1;
  int32_t value = 0;
  for (size_t i = from; i < from + 4; ++i) {
    const char c = raw[i];
    const int digit = IsDigit(c)             ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void AppendUtf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// Appends the \u escape at raw[at] ('u') and moves `at` behind it; a surrogate needs its other
/// half.
bool UnescapeUnicode(std::string_view raw, size_t& at, std::string& out) {
  int32_t code = Hex4(raw, at + 1);
  if (code < 0) return false;
  at += 5;
  if (code >= 0xDC00 && code <= 0xDFFF) return false;
  if (code >= 0xD800 && code <= 0xDBFF) {
    if (raw.substr(at, 2) != "\\u") return false;
    const int32_t low = Hex4(raw, at + 2);
    if (low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    at += 6;
  }
  AppendUtf8(static_cast<uint32_t>(code), out);
  return true;
}

// What stands behind a backslash, and what it means.
constexpr std::string_view kEscaped = "\"\\/bfnrt", kUnescaped = "\"\\/\b\f\n\r\t";

/// Decodes the inside of a string that has a backslash at `at`; appends to `out`.
bool Unescape(std::string_view raw, size_t at, std::string& out) {
  out.append(raw.substr(0, at));
  while (at < raw.size()) {
    if (raw[at] != '\\') {
      const size_t next = std::min(raw.find('\\', at), raw.size());
      out.append(raw.substr(at, next - at));
      at = next;
      continue;
    }
    if (++at >= raw.size()) return false;
    if (raw[at] == 'u') {
      if (!UnescapeUnicode(raw, at, out)) return false;
    } else if (const size_t which = kEscaped.find(raw[at]); which != std::string_view::npos) {
      out += kUnescaped[which];
      ++at;
    } else {
      return false;
    }
  }
  return true;
}

/// Whether Unescape would succeed.
bool EscapesAreSound(std::string_view raw) {
  for (size_t at = raw.find('\\'); at != std::string_view::npos; at = raw.find('\\', at)) {
    if (++at >= raw.size()) return false;
    if (raw[at] == 'u') {
      std::string unused;
      if (!UnescapeUnicode(raw, at, unused)) return false;
    } else if (kEscaped.find(raw[at]) != std::string_view::npos) {
      ++at;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool IsNumber(std::string_view raw) {
  size_t i = 0;
  const size_t size = raw.size();
  if (i < size && raw[i] == '-') ++i;
  if (i >= size) return false;
  if (raw[i] == '0') {
    ++i;
  } else {
    const size_t from = i;
    while (i < size && IsDigit(raw[i])) ++i;
    if (i == from) return false;
  }
  if (i < size && raw[i] == '.') {
    const size_t from = ++i;
    while (i < size && IsDigit(raw[i])) ++i;
    if (i == from) return false;
  }
  if (i < size && (raw[i] == 'e' || raw[i] == 'E')) {
    ++i;
    if (i < size && (raw[i] == '+' || raw[i] == '-')) ++i;
    const size_t from = i;
    while (i < size && IsDigit(raw[i])) ++i;
    if (i == from) return false;
  }
  return i == size;
}

bool ReadEscaped(const JsonDoc& doc, uint32_t token, std::string& scratch, std::string_view& out,
                 JsonFault& fault) {
  const std::string_view raw = doc.Scalar(token);
  if (raw.size() < 2 || raw.front() != '"' || raw.back() != '"') {
    return fault.Set(kNotClosed);
  }
  out = raw.substr(1, raw.size() - 2);
  if (!HasBackslash(out)) return true;
  scratch.clear();
  if (!Unescape(out, out.find('\\'), scratch)) {
    return fault.Set(kBadEscape);
  }
  out = scratch;
  return true;
}

bool ReadPlain(const JsonDoc& doc, uint32_t token, std::string_view& raw, JsonFault& fault) {
  if (token >= doc.end) return fault.Set("the record is cut off");
  raw = doc.Scalar(token);
  switch (KindOfByte(raw[0])) {
    case JsonKind::kNumber:
      if (IsNumber(raw)) return true;
      break;
    case JsonKind::kNull:
      if (raw == "null") return true;
      break;
    case JsonKind::kBool:
      if (raw == "true" || raw == "false") return true;
      break;
    default:
      break;
  }
  return fault.Set("a token that is no JSON value (NaN and Infinity must be quoted)");
}

bool SkipDeeply(const JsonDoc& doc, uint32_t& token, JsonFault& fault, uint32_t depth) {
  if (depth > kNestingMax) return fault.Set("more than 256 levels of objects and lists");
  switch (doc.At(token)) {
    case '{': {
      Members members(doc, token, fault);
      while (members.Next()) {
        uint32_t value = members.value();
        members.name();
        if (!SkipChecked(doc, value, fault, depth + 1)) return false;
        members.Done(value);
      }
      token = members.end();
      return members.ok();
    }
    case '[': {
      Elements elements(doc, token, fault);
      while (elements.Next()) {
        uint32_t value = elements.value();
        if (!SkipChecked(doc, value, fault, depth + 1)) return false;
        elements.Done(value);
      }
      token = elements.end();
      return elements.ok();
    }
    case '"': {
      const std::string_view raw = doc.Scalar(token);
      if (raw.size() < 2 || raw.back() != '"') return fault.Set(kNotClosed);
      if (!EscapesAreSound(raw.substr(1, raw.size() - 2))) return fault.Set(kBadEscape);
      ++token;
      return true;
    }
    default: {
      std::string_view raw;
      if (!ReadPlain(doc, token, raw, fault)) return false;
      ++token;
      return true;
    }
  }
}

bool Members::Malformed() {
  if (x_fault.why != nullptr) return false;
  const char c = x_doc.At(x_token);
  if (c == '\0' || x_token + 2 >= x_doc.end) return x_fault.Set("the record is cut off");
  if (!x_first && c != ',' && c != '"') return x_fault.Set("a comma is missing in an object");
  return x_fault.Set(c == '"' ? "a member of an object has no value"
                              : "a member of an object has no name");
}

void Members::DecodeName() {
  x_scratch.clear();
  if (!Unescape(x_name, x_name.find('\\'), x_scratch)) {
    x_fault.Set(kBadEscape);
    x_scratch.clear();
  }
  x_name = x_scratch;
  x_decoded = true;
}

bool Elements::Next() {
  if (x_fault.why != nullptr) return false;
  const char c = x_doc.At(x_token);
  if (c == ']') {
    ++x_token;
    return false;
  }
  if (x_first) {
    x_first = false;
  } else if (c == ',') {
    ++x_token;
  } else {
    return x_fault.Set(c == '\0' ? "the record is cut off" : "a comma is missing in a list");
  }
  // A comma in front of the closing bracket is caught by whoever reads the value.
  return true;
}

std::string_view RawText(const JsonDoc& doc, uint32_t token, uint32_t behind) {
  const uint32_t from = doc.Position(token);
  // Of an object or a list the last token is its closing bracket; a scalar may be longer.
  if (behind == token + 1 && doc.At(token) != '{' && doc.At(token) != '[') return doc.Scalar(token);
  return std::string_view(doc.text + from, doc.Position(behind - 1) + 1 - from);
}

}  // namespace lastword::codec
