// JSON text as positions of its tokens, read strictly and in any order. A thin skin over simdjson's
// first stage, which finds the tokens and checks UTF-8 and control characters at memory speed; the
// only file that includes simdjson. Numbers stay text, so that 64-bit integers and decimals are
// exact. Never allocates a value, never converts a number, never prints.
//
// Reading is lazy and strict: nothing is checked before it is read or skipped, and whoever reads a
// record visits every token once through Members, Elements, a scalar or Skip.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace lastword::codec {

/// Levels of objects and lists in one record. Text columns that hold JSON are not counted.
inline constexpr uint32_t kNestingMax = 256;

/// One JSON text (a line) as a range of tokens. A view: text and tokens belong to a JsonIndex.
struct JsonDoc {
  const char* text = nullptr;
  const uint32_t* tokens = nullptr;  // positions in `text`, ascending
  uint32_t begin = 0, end = 0;       // the range of `tokens` that is this text
  uint32_t text_end = 0;             // position behind the last byte

  uint32_t Position(uint32_t token) const { return token < end ? tokens[token] : text_end; }
  /// The first byte of a token; 0 behind the last one, so that every comparison fails there.
  char At(uint32_t token) const { return token < end ? text[tokens[token]] : '\0'; }
  /// The bytes of a scalar token (of a string with its quotes) without blanks behind it.
  std::string_view Scalar(uint32_t token) const {
    const uint32_t from = tokens[token];
    uint32_t to = Position(token + 1);
    while (to > from && IsBlank(text[to - 1])) --to;
    return std::string_view(text + from, to - from);
  }
  /// For bytes between tokens and at the end of one: no other control character stands there.
  static bool IsBlank(char c) {
    return static_cast<uint8_t>(c) <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
  }
};

/// Finds the tokens of a text. Owns their positions; reused for one text after another.
class JsonIndex {
 public:
  JsonIndex();
  ~JsonIndex();
  JsonIndex(JsonIndex&&) noexcept;
  JsonIndex& operator=(JsonIndex&&) noexcept;

  /// Indexes `text` (below 4 GiB), which must outlive the use of doc(). False where a string is not
  /// closed, a control character stands in one, the bytes are no UTF-8 or there is no memory; why()
  /// says which. Blank text is true with no tokens.
  bool Index(std::string_view text);
  const JsonDoc& doc() const { return x_doc; }
  const char* why() const { return x_why; }

 private:
  struct Stage;
  std::unique_ptr<Stage> x_stage;
  JsonDoc x_doc;
  const char* x_why = "";
};

/// Why a text is no JSON; the first fault of a record stays.
struct JsonFault {
  const char* why = nullptr;  // static text
  bool Set(const char* reason) {
    if (why == nullptr) why = reason;
    return false;
  }
};

enum class JsonKind : uint8_t { kNull, kBool, kNumber, kString, kObject, kList, kInvalid };

/// What a value is by its first byte.
constexpr JsonKind KindOfByte(char c) {
  switch (c) {
    case '"':
      return JsonKind::kString;
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kList;
    case 'n':
      return JsonKind::kNull;
    case 't':
    case 'f':
      return JsonKind::kBool;
    case '-':
      return JsonKind::kNumber;
    default:
      return c >= '0' && c <= '9' ? JsonKind::kNumber : JsonKind::kInvalid;
  }
}
/// What the value at `token` is, by its first byte; kInvalid for what starts no value.
inline JsonKind KindOf(const JsonDoc& doc, uint32_t token) {
  return KindOfByte(doc.At(token));
}
/// "a text", "a number", …, for messages.
const char* NameOf(JsonKind kind);

/// The token behind the value at `token`, by counting brackets only: for a value that is read or
/// skipped strictly later.
uint32_t SkipUnchecked(const JsonDoc& doc, uint32_t token);

/// Checks the value at `token` and everything in it, and moves `token` behind it.
bool SkipChecked(const JsonDoc& doc, uint32_t& token, JsonFault& fault, uint32_t depth = 0);

/// Whether a text as written has an escape.
inline bool HasBackslash(std::string_view raw) {
  const char* at = raw.data();
  size_t left = raw.size();
  if (left > 64) return std::memchr(at, '\\', left) != nullptr;
  // Eight bytes at a time: a byte of `word` is 0 where the text has a backslash.
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    word ^= 0x5C5C5C5C5C5C5C5CULL;
    if (((word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL) != 0) return true;
  }
  for (; left != 0; ++at, --left) {
    if (*at == '\\') return true;
  }
  return false;
}

/// Checks that `raw` is a JSON number.
bool IsNumber(std::string_view raw);

/// Reads the string at `token`: a view of the text where it has no escapes, else of `scratch`.
bool ReadString(const JsonDoc& doc, uint32_t token, std::string& scratch, std::string_view& out,
                JsonFault& fault);

/// Checks the scalar at `token` where it is no string: null, true, false or a number.
bool ReadPlain(const JsonDoc& doc, uint32_t token, std::string_view& raw, JsonFault& fault);

/// The members of an object, in order:
///   Members members(doc, token, fault);
///   while (members.Next()) { read members.name() and the value at members.value();
///                            members.Done(token behind the value); }
///   if (!members.ok()) …   else members.end() is the token behind the object
/// Whoever does not ask for name() has compared raw_name() with a name that he knows.
class Members {
 public:
  /// The value at `token` must be an object (KindOf). Where it is the first value of its text, it
  /// must be the only one: what follows is a fault at its end.
  Members(const JsonDoc& doc, uint32_t token, JsonFault& fault)
      : x_doc(doc), x_fault(fault), x_token(token + 1), x_is_root(token == doc.begin) {}
  bool Next() {
    if (x_fault.why != nullptr || x_token >= x_doc.end) return Malformed();
    const uint32_t* at = x_doc.tokens + x_token;
    const char c = x_doc.text[*at];
    if (c == '}') {
      ++x_token;
      if (x_is_root && x_token != x_doc.end) x_fault.Set("something follows the value");
      return false;
    }
    if (!x_first) {
      if (c != ',') return Malformed();
      ++x_token;
      ++at;
    }
    // Name, colon, value: the token behind the last one is there to be read, if not to be used.
    if (x_token + 2 >= x_doc.end || x_doc.text[at[0]] != '"' || x_doc.text[at[1]] != ':') {
      return Malformed();
    }
    uint32_t end = at[1];
    while (JsonDoc::IsBlank(x_doc.text[end - 1])) --end;
    if (end < at[0] + 2 || x_doc.text[end - 1] != '"') return Malformed();
    x_name = std::string_view(x_doc.text + at[0] + 1, end - at[0] - 2);
    x_first = x_decoded = false;
    x_token += 2;
    return true;
  }
  /// As written, without the quotes: equal to a name without a backslash only where it is that
  /// name.
  std::string_view raw_name() const { return x_name; }
  /// Decoded; valid until the next call of Next. An escape that is none is a fault and gives "".
  std::string_view name() {
    if (!x_decoded && HasBackslash(x_name)) DecodeName();
    return x_name;
  }
  uint32_t value() const { return x_token; }
  void Done(uint32_t behind) { x_token = behind; }
  bool ok() const { return x_fault.why == nullptr; }
  uint32_t end() const { return x_token; }

 private:
  bool Malformed();
  void DecodeName();

  const JsonDoc& x_doc;
  JsonFault& x_fault;
  uint32_t x_token;
  const bool x_is_root;
  bool x_first = true, x_decoded = false;
  std::string_view x_name;
  std::string x_scratch;
};

/// The elements of a list, read as Members is.
class Elements {
 public:
  Elements(const JsonDoc& doc, uint32_t token, JsonFault& fault)
      : x_doc(doc), x_fault(fault), x_token(token + 1) {}
  bool Next();
  uint32_t value() const { return x_token; }
  void Done(uint32_t behind) { x_token = behind; }
  bool ok() const { return x_fault.why == nullptr; }
  uint32_t end() const { return x_token; }

 private:
  const JsonDoc& x_doc;
  JsonFault& x_fault;
  uint32_t x_token;
  bool x_first = true;
};

/// The text of the value at `token`, which ends in front of token `behind`.
std::string_view RawText(const JsonDoc& doc, uint32_t token, uint32_t behind);

}  // namespace lastword::codec
