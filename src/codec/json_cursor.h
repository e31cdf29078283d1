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

/// Whether a byte of `word` is a backslash.
inline bool HasBackslashByte(uint64_t word) {
  word ^= 0x5C5C5C5C5C5C5C5CULL;
  return ((word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL) != 0;
}

/// Whether a text as written has an escape.
inline bool HasBackslash(std::string_view raw) {
  const char* const at = raw.data();
  const size_t size = raw.size();
  if (size > 64) return std::memchr(at, '\\', size) != nullptr;
  uint64_t word = 0;
  if (size >= 8) {
    // Eight bytes at a time; the last eight overlap the ones before them.
    for (size_t i = 0; i + 8 < size; i += 8) {
      std::memcpy(&word, at + i, 8);
      if (HasBackslashByte(word)) return true;
    }
    std::memcpy(&word, at + size - 8, 8);
    return HasBackslashByte(word);
  }
  if (size >= 4) {
    uint32_t low = 0, high = 0;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + size - 4, 4);
    return HasBackslashByte(uint64_t{high} << 32 | low);
  }
  for (size_t i = 0; i < size; ++i) {
    if (at[i] == '\\') return true;
  }
  return false;
}

/// A name as most writers put it into an object: quoted, with its colon, without blanks and
/// escapes. Compared with what is written before anything else is known of a member.
class WrittenName {
 public:
  WrittenName() = default;  // written nowhere
  /// `name` has no escape.
  explicit WrittenName(std::string_view name) : x_text("\"") { x_text.append(name).append("\":"); }

  size_t size() const { return x_text.size(); }
  std::string_view name() const { return std::string_view(x_text).substr(1, x_text.size() - 3); }
  /// Whether `at`, of which size() bytes are readable, is written so.
  bool Is(const char* at) const {
    const char* const text = x_text.data();
    const size_t size = x_text.size();
    if (size > 16) return std::memcmp(at, text, size) == 0;
    if (size >= 8) return Same<uint64_t>(at, text, size);
    return size >= 4 ? Same<uint32_t>(at, text, size) : std::memcmp(at, text, size) == 0;
  }

 private:
  /// The first and the last sizeof(Word) bytes, which overlap.
  template <typename Word>
  static bool Same(const char* a, const char* b, size_t size) {
    Word first[2], last[2];
    std::memcpy(&first[0], a, sizeof(Word));
    std::memcpy(&first[1], b, sizeof(Word));
    std::memcpy(&last[0], a + size - sizeof(Word), sizeof(Word));
    std::memcpy(&last[1], b + size - sizeof(Word), sizeof(Word));
    return ((first[0] ^ first[1]) | (last[0] ^ last[1])) == 0;
  }

  std::string x_text;
};

/// Checks that `raw` is a JSON number.
bool IsNumber(std::string_view raw);

/// ReadString where the text has escapes or is not closed.
bool ReadEscaped(const JsonDoc& doc, uint32_t token, std::string& scratch, std::string_view& out,
                 JsonFault& fault);

/// Checks the scalar at `token` where it is no string: null, true, false or a number.
bool ReadPlain(const JsonDoc& doc, uint32_t token, std::string_view& raw, JsonFault& fault);

/// Reads the whole number at `token`, if that is a token of at most 18 digits with no blank behind
/// it. False where it is anything else, right or wrong.
inline bool ReadShortInteger(const JsonDoc& doc, uint32_t token, int64_t& value) {
  if (token >= doc.end) return false;
  const char* at = doc.text + doc.tokens[token];
  const char* const end = doc.text + doc.Position(token + 1);
  const bool negative = *at == '-';
  at += negative;
  if (static_cast<size_t>(end - at) - 1 >= 18 || (*at == '0' && end - at > 1)) return false;
  int64_t magnitude = 0;
  for (; at != end; ++at) {
    const auto digit = static_cast<uint8_t>(*at - '0');
    if (digit > 9) return false;
    magnitude = magnitude * 10 + digit;
  }
  value = negative ? -magnitude : magnitude;
  return true;
}

/// Whether null stands at `token`, with no blank behind it.
inline bool IsPlainNull(const JsonDoc& doc, uint32_t token) {
  if (token >= doc.end) return false;
  const uint32_t from = doc.tokens[token];
  return doc.Position(token + 1) - from == 4 && std::memcmp(doc.text + from, "null", 4) == 0;
}

/// Reads the text at `token`, if that is one without escapes. False where it is anything else,
/// right or wrong.
inline bool ReadPlainText(const JsonDoc& doc, uint32_t token, std::string_view& out) {
  if (doc.At(token) != '"') return false;
  const std::string_view raw = doc.Scalar(token);
  if (raw.size() < 2 || raw.back() != '"' || HasBackslash(raw)) return false;
  out = raw.substr(1, raw.size() - 2);
  return true;
}

/// SkipChecked of what is no short scalar.
bool SkipDeeply(const JsonDoc& doc, uint32_t& token, JsonFault& fault, uint32_t depth);

/// Checks the value at `token` and everything in it, and moves `token` behind it.
inline bool SkipChecked(const JsonDoc& doc, uint32_t& token, JsonFault& fault, uint32_t depth = 0) {
  std::string_view text;
  int64_t number = 0;
  const bool sound = ReadPlainText(doc, token, text) || ReadShortInteger(doc, token, number) ||
                     IsPlainNull(doc, token);
  if (!sound || depth > kNestingMax) return SkipDeeply(doc, token, fault, depth);
  ++token;
  return true;
}

/// Reads the string at `token`: a view of the text where it has no escapes, else of `scratch`.
inline bool ReadString(const JsonDoc& doc, uint32_t token, std::string& scratch,
                       std::string_view& out, JsonFault& fault) {
  return ReadPlainText(doc, token, out) || ReadEscaped(doc, token, scratch, out, fault);
}

/// The members of an object, in order:
///   Members members(doc, token, fault);
///   while (members.Next()) { read members.name() and the value at members.value();
///                            members.Done(token behind the value); }
///   if (!members.ok()) …   else members.end() is the token behind the object
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
  /// Does what Next does where the next member has the name `guess`, written so; else nothing.
  bool NextIs(const WrittenName& guess) {
    uint32_t token = x_token;
    if (!x_first) {
      if (x_doc.At(token) != ',') return false;
      ++token;
    }
    if (token + 2 >= x_doc.end || x_fault.why != nullptr) return false;
    const uint32_t from = x_doc.tokens[token];
    if (x_doc.tokens[token + 1] + 1 - from != guess.size() || !guess.Is(x_doc.text + from)) {
      return false;
    }
    x_name = std::string_view(x_doc.text + from + 1, guess.size() - 3);
    x_first = x_decoded = false;
    x_token = token + 2;
    return true;
  }
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
