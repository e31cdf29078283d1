// Every way in ends in significant digits and an exponent, without zeros at either end: whether a
// value fits is then a question of two numbers, and only values that fit are ever computed.
#include "model/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/format.h"
#include "model/rows.h"

namespace lastword {
namespace {

using Uint128 = unsigned __int128;

constexpr uint64_t kTen19 = 10'000'000'000'000'000'000u;
constexpr int kChunkDigits = 19;  // the most that a uint64 holds in full
// An exponent beyond any real value: keeps sums of exponents inside int64.
constexpr int64_t kExponentMax = 1'000'000'000;
// PostgreSQL's widest numeric (147,455 digits) has 61,235 bytes: longer input is no value.
constexpr size_t kBigEndianBytesMax = 64 * 1024;

constexpr std::array<uint64_t, 20> MakePowers() {
  std::array<uint64_t, 20> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<uint64_t, 20> kPowers = MakePowers();

// 256 bits, little-endian limbs. A magnitude: below 10^76 < 2^255.
using Limbs = std::array<uint64_t, 4>;

void MultiplyAdd(Limbs& limbs, uint64_t factor, uint64_t addend) {
  Uint128 carry = addend;
  for (uint64_t& limb : limbs) {
    carry += static_cast<Uint128>(limb) * factor;
    limb = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
}

void Negate(Limbs& limbs) {
  uint64_t carry = 1;
  for (uint64_t& limb : limbs) {
    limb = ~limb + carry;
    carry = carry != 0 && limb == 0;
  }
}

void Store(Limbs limbs, bool negative, const Type& type, void* out) {
  if (negative) Negate(limbs);
  std::memcpy(out, limbs.data(), FixedWidth(type));
}

struct Loaded {
  Limbs magnitude{};
  bool negative = false;
};

Loaded Load(std::string_view stored) {
  Loaded loaded;
  loaded.negative = !stored.empty() && static_cast<int8_t>(stored.back()) < 0;
  if (loaded.negative) loaded.magnitude.fill(~uint64_t{0});
  std::memcpy(loaded.magnitude.data(), stored.data(), std::min(stored.size(), kDecimalBytesMax));
  if (loaded.negative) Negate(loaded.magnitude);
  return loaded;
}

template <typename T>
void AppendInteger(T value, std::string& out) {
  char text[24];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, static_cast<size_t>(end - text));
}

// Appends the decimal digits of a magnitude of little-endian limbs, which it uses up. No leading
// zeros; nothing for 0.
template <typename LimbsType>
void AppendDigits(LimbsType& limbs, std::string& out) {
  if (std::all_of(limbs.begin() + 1, limbs.end(), [](uint64_t limb) { return limb == 0; })) {
    // Nearly every value: no division of several limbs, no allocation.
    if (limbs[0] != 0) AppendInteger(limbs[0], out);
    return;
  }
  std::vector<uint64_t> chunks;  // base 10^19, lowest first
  size_t size = limbs.size();
  while (true) {
    while (size != 0 && limbs[size - 1] == 0) --size;
    if (size == 0) break;
    Uint128 remainder = 0;
    for (size_t i = size; i-- > 0;) {
      const Uint128 value = remainder << 64 | limbs[i];
      limbs[i] = static_cast<uint64_t>(value / kTen19);
      remainder = value % kTen19;
    }
    chunks.push_back(static_cast<uint64_t>(remainder));
  }
  for (size_t i = chunks.size(); i-- > 0;) {
    char digits[kChunkDigits];
    for (int j = kChunkDigits; j-- > 0; chunks[i] /= 10) {
      digits[j] = static_cast<char>('0' + chunks[i] % 10);
    }
    const bool first = i + 1 == chunks.size();
    const char* const begin =
        first ? std::find_if(digits, digits + kChunkDigits, [](char c) { return c != '0'; })
              : digits;
    out.append(begin, static_cast<size_t>(digits + kChunkDigits - begin));
  }
}

Error Overflow(const Type& type) {
  return Error{ErrorKind::kDecimalOverflow,
               Message("value needs more digits than {} holds; declare a larger decimal type",
                       ToString(type))};
}

// A number as its significant digits (first and last one are not 0; a point may lie between them)
// and the exponent of the last one. No digits: zero.
struct Significant {
  std::string_view digits;
  int64_t count = 0;  // digits without the point
  int64_t exponent = 0;
  bool negative = false;
};

Status Compute(const Significant& number, const Type& type, void* out) {
  Limbs limbs{};
  if (number.count != 0) {
    const int64_t zeros = number.exponent + type.scale;
    if (zeros < 0 || number.count + zeros > type.precision) return Overflow(type);
    uint64_t chunk = 0;
    int in_chunk = 0;
    auto flush = [&] {
      MultiplyAdd(limbs, kPowers[in_chunk], chunk);
      chunk = 0;
      in_chunk = 0;
    };
    for (const char c : number.digits) {
      if (c == '.') continue;
      chunk = chunk * 10 + static_cast<uint64_t>(c - '0');
      if (++in_chunk == kChunkDigits) flush();
    }
    flush();
    for (int64_t left = zeros; left > 0; left -= kChunkDigits) {
      MultiplyAdd(limbs, kPowers[std::min<int64_t>(left, kChunkDigits)], 0);
    }
  }
  Store(limbs, number.negative, type, out);
  return Ok{};
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
         });
}

Error NoNumber(std::string_view unsigned_text) {
  for (const std::string_view name : {"nan", "inf", "infinity"}) {
    if (EqualsIgnoringCase(unsigned_text, name)) {
      return Error{ErrorKind::kNotFiniteDecimal,
                   "value is NaN or infinite, which no decimal holds; map the column to float64 or "
                   "string, or correct the value at its source"};
    }
  }
  return Error{ErrorKind::kTypeMismatch, "text is no decimal number"};
}

// Reads what follows the 'e'; saturates. Returns false where it is no exponent.
bool ReadExponent(std::string_view text, int64_t& exponent) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  exponent = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    exponent = std::min(exponent * 10 + (c - '0'), kExponentMax);
  }
  if (negative) exponent = -exponent;
  return true;
}

// Fills digits, count and exponent from "12.50" and what stands behind its 'e'.
bool ReadSignificant(std::string_view mantissa, int64_t exponent, Significant& number) {
  size_t point = mantissa.size();
  size_t first = mantissa.size(), last = 0;
  size_t digits = 0;
  for (size_t i = 0; i < mantissa.size(); ++i) {
    const char c = mantissa[i];
    if (c == '.' && point == mantissa.size()) {
      point = i;
      continue;
    }
    if (c < '0' || c > '9') return false;
    ++digits;
    if (c != '0') {
      if (first == mantissa.size()) first = i;
      last = i;
    }
  }
  if (digits == 0) return false;
  if (first == mantissa.size()) return true;  // only zeros
  number.digits = mantissa.substr(first, last + 1 - first);
  number.count = static_cast<int64_t>(last + 1 - first) - (first < point && point < last);
  // Places between the last significant digit and the point.
  number.exponent = exponent + (last < point ? static_cast<int64_t>(point - last) - 1
                                             : -static_cast<int64_t>(last - point));
  return true;
}

Status FromDigits(std::string_view digits, int64_t exponent, bool negative, const Type& type,
                  void* out) {
  Significant number{.negative = negative};
  if (!digits.empty()) ReadSignificant(digits, exponent, number);
  return Compute(number, type, out);
}

Status FromMagnitude(Limbs limbs, bool negative, int32_t scale, const Type& type, void* out) {
  const bool one_limb = limbs[1] == 0 && limbs[2] == 0 && limbs[3] == 0;
  if (scale == type.scale && one_limb &&
      (type.precision > kChunkDigits || limbs[0] < kPowers[type.precision])) {
    Store(limbs, negative, type, out);
    return Ok{};
  }
  std::string digits;
  AppendDigits(limbs, digits);
  return FromDigits(digits, -int64_t{scale}, negative, type, out);
}

// "-1234.50" as most values are: no exponent, not more digits than one word and `type` hold. False
// where it is anything else, right or wrong.
bool FromShortText(std::string_view text, const Type& type, void* out) {
  if (text.size() > kChunkDigits - 1) return false;
  const bool negative = !text.empty() && text[0] == '-';
  uint64_t value = 0;
  size_t digits = 0, point = 0;  // point: digits in front of it, plus one
  for (const char c : text.substr(negative)) {
    if (c == '.' && point == 0) {
      point = digits + 1;
      continue;
    }
    const auto digit = static_cast<uint8_t>(c - '0');
    if (digit > 9) return false;
    value = value * 10 + digit;
    ++digits;
  }
  if (digits == 0) return false;
  const auto places = static_cast<int64_t>(point == 0 ? 0 : digits + 1 - point);
  const int64_t zeros = type.scale - places;
  if (zeros < 0 || static_cast<int64_t>(digits) + zeros > kChunkDigits - 1) return false;
  value *= kPowers[static_cast<size_t>(zeros)];
  if (type.precision < kChunkDigits && value >= kPowers[type.precision]) return false;
  Store({value}, negative, type, out);
  return true;
}

}  // namespace

Status DecimalFromText(std::string_view text, const Type& type, void* out) {
  if (FromShortText(text, type, out)) return Ok{};
  Significant number;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const size_t e = text.find_first_of("eE");
  int64_t exponent = 0;
  if (e != std::string_view::npos && !ReadExponent(text.substr(e + 1), exponent)) {
    return NoNumber(text);
  }
  if (!ReadSignificant(text.substr(0, e), exponent, number)) return NoNumber(text);
  return Compute(number, type, out);
}

Status DecimalFromBigEndian(std::string_view bytes, int32_t scale, const Type& type, void* out) {
  if (bytes.empty()) return Error{ErrorKind::kTypeMismatch, "decimal has no bytes"};
  if (bytes.size() > kBigEndianBytesMax) return Overflow(type);
  const bool negative = static_cast<int8_t>(bytes.front()) < 0;
  if (bytes.size() <= kDecimalBytesMax) {
    Limbs limbs{};
    if (negative) limbs.fill(~uint64_t{0});
    auto* place = reinterpret_cast<char*>(limbs.data());
    std::reverse_copy(bytes.begin(), bytes.end(), place);
    if (negative) Negate(limbs);
    return FromMagnitude(limbs, negative, scale, type, out);
  }
  std::vector<uint64_t> limbs((bytes.size() + 7) / 8, negative ? ~uint64_t{0} : 0);
  std::reverse_copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(limbs.data()));
  if (negative) {
    uint64_t carry = 1;
    for (uint64_t& limb : limbs) {
      limb = ~limb + carry;
      carry = carry != 0 && limb == 0;
    }
  }
  std::string digits;
  AppendDigits(limbs, digits);
  return FromDigits(digits, -int64_t{scale}, negative, type, out);
}

Status DecimalFromInt64(int64_t value, const Type& type, void* out) {
  const bool negative = value < 0;
  const auto bits = static_cast<uint64_t>(value);
  return FromMagnitude({negative ? 0 - bits : bits}, negative, 0, type, out);
}

Status DecimalFromUint64(uint64_t value, const Type& type, void* out) {
  return FromMagnitude({value}, false, 0, type, out);
}

Status DecimalRescale(std::string_view stored, const Type& from, const Type& to, void* out) {
  const Loaded loaded = Load(stored);
  return FromMagnitude(loaded.magnitude, loaded.negative, from.scale, to, out);
}

std::string DecimalToText(std::string_view stored, int32_t scale) {
  Loaded loaded = Load(stored);
  std::string digits;
  AppendDigits(loaded.magnitude, digits);
  const auto places = static_cast<size_t>(std::max(scale, 0));
  // At least one digit stands in front of the point.
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  if (places != 0) digits.insert(digits.size() - places, 1, '.');
  if (loaded.negative) digits.insert(0, 1, '-');
  return digits;
}

void AppendCanonicalDecimal(std::string_view stored, int32_t scale, std::string& out) {
  int64_t low = 0, high = 0;
  if (stored.size() == 2 * sizeof low) {
    std::memcpy(&low, stored.data(), sizeof low);
    std::memcpy(&high, stored.data() + sizeof low, sizeof high);
  }
  if (low != 0 && high == low >> 63) {
    // Nearly every value: a number of one word.
    int64_t zeros = 0;
    for (; low % 10 == 0; low /= 10) ++zeros;
    AppendInteger(low, out);
    out += 'e';
    AppendInteger(zeros - scale, out);
    return;
  }
  Loaded loaded = Load(stored);
  const size_t begin = out.size();
  if (loaded.negative) out += '-';
  const size_t digits_begin = out.size();
  AppendDigits(loaded.magnitude, out);
  if (out.size() == digits_begin) {
    out.resize(begin);
    out += "0e0";
    return;
  }
  const size_t last = out.find_last_not_of('0');
  const auto zeros = static_cast<int64_t>(out.size() - last - 1);
  out.resize(last + 1);
  out += 'e';
  AppendInteger(zeros - scale, out);
}

}  // namespace lastword
