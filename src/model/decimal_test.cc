// The oracle of this file computes with texts of digits only.
#include "model/decimal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "model/rows.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

Type DecimalType(int precision, int scale) {
  return {.kind = TypeKind::kDecimal, .precision = precision, .scale = scale};
}

// "-12.50" through a type and back, or the kind of the error.
std::string Through(std::string_view text, const Type& type) {
  char bytes[kDecimalBytesMax];
  const Status status = DecimalFromText(text, type, bytes);
  if (!status.ok()) return std::string(NameOf(status.error().kind));
  return DecimalToText({bytes, FixedWidth(type)}, type.scale);
}

std::string Canonical(std::string_view text, const Type& type) {
  char bytes[kDecimalBytesMax];
  if (!DecimalFromText(text, type, bytes).ok()) return "error";
  std::string canonical;
  AppendCanonicalDecimal({bytes, FixedWidth(type)}, type.scale, canonical);
  return canonical;
}

std::string RandomDigits(Random& random, size_t count) {
  std::string digits;
  for (size_t i = 0; i < count; ++i) digits += static_cast<char>('0' + random.Below(10));
  return digits;
}

// Big-endian two's complement of a number in decimal digits, by long division.
std::string BigEndian(std::string digits, bool negative, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = size; i-- > 0;) {
    int remainder = 0;
    for (char& digit : digits) {
      const int value = remainder * 10 + (digit - '0');
      digit = static_cast<char>('0' + value / 256);
      remainder = value % 256;
    }
    bytes[i] = static_cast<char>(remainder);
  }
  if (negative) {
    for (char& byte : bytes) byte = static_cast<char>(~byte);
    for (size_t i = size; i-- > 0;) {
      if (++bytes[i] != 0) break;
    }
  }
  return bytes;
}

TEST(Decimal, TextForms) {
  const Type type = DecimalType(12, 2);
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"-12.50", "-12.50"},
      {"-12.5", "-12.50"},
      {"+1", "1.00"},
      {".5", "0.50"},
      {"5.", "5.00"},
      {"1e3", "1000.00"},
      {"1E+3", "1000.00"},
      {"1.2E-1", "0.12"},
      {"120e-3", "0.12"},
      {"0", "0.00"},
      {"-0", "0.00"},
      {"-0.00", "0.00"},
      {"0e999999999999", "0.00"},
      {"000123.4500000", "123.45"},
      {"9999999999.99", "9999999999.99"},
      {"-9999999999.99", "-9999999999.99"},
      {"1234567890120e-3", "1234567890.12"},
      {"10000000000", "decimal_overflow"},
      {"1e10", "decimal_overflow"},
      {"0.001", "decimal_overflow"},
      {"12.345", "decimal_overflow"},
      {"1e-3", "decimal_overflow"},
      {"1e99999999999999999999", "decimal_overflow"},
      {"1e-99999999999999999999", "decimal_overflow"},
      {"NaN", "not_finite_decimal"},
      {"nan", "not_finite_decimal"},
      {"Infinity", "not_finite_decimal"},
      {"-Infinity", "not_finite_decimal"},
      {"inf", "not_finite_decimal"},
      {"", "type_mismatch"},
      {"-", "type_mismatch"},
      {".", "type_mismatch"},
      {"1.2.3", "type_mismatch"},
      {"1,2", "type_mismatch"},
      {" 1", "type_mismatch"},
      {"1 ", "type_mismatch"},
      {"--1", "type_mismatch"},
      {"1e", "type_mismatch"},
      {"1e+", "type_mismatch"},
      {"e3", "type_mismatch"},
      {"1e3e3", "type_mismatch"},
      {"0x10", "type_mismatch"},
      {"infinit", "type_mismatch"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(Through(text, type), expected) << text;
}

TEST(Decimal, BoundariesOfEveryPrecision) {
  for (int precision = 1; precision <= 76; ++precision) {
    for (const int scale : {0, 1, precision / 2, precision}) {
      if (scale > precision) continue;
      const Type type = DecimalType(precision, scale);
      std::string nines(static_cast<size_t>(precision), '9');
      std::string text = nines;
      if (scale != 0) text.insert(static_cast<size_t>(precision - scale), 1, '.');
      const std::string printed = text[0] == '.' ? "0" + text : text;
      EXPECT_EQ(Through(text, type), printed);
      EXPECT_EQ(Through("-" + text, type), "-" + printed);
      EXPECT_EQ(Through("1e" + std::to_string(precision - scale), type), "decimal_overflow");
      EXPECT_EQ(Through("1e-" + std::to_string(scale + 1), type), "decimal_overflow");
    }
  }
}

TEST(Decimal, RandomTextsComeBack) {
  Random random(4);
  for (int round = 0; round < 20000; ++round) {
    const int precision = 1 + static_cast<int>(random.Below(76));
    const int scale = static_cast<int>(random.Below(static_cast<uint64_t>(precision) + 1));
    std::string digits = RandomDigits(random, static_cast<size_t>(precision));
    std::string text = digits.substr(0, static_cast<size_t>(precision - scale));
    text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
    if (text.empty()) text = "0";
    if (scale != 0) text += "." + digits.substr(static_cast<size_t>(precision - scale));
    if (random.OneIn(2) && text.find_first_not_of("0.") != std::string::npos) text = "-" + text;
    ASSERT_EQ(Through(text, DecimalType(precision, scale)), text);
  }
}

TEST(Decimal, BigEndianBytes) {
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    const size_t count = 1 + random.Below(76);
    std::string digits = RandomDigits(random, count);
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    const bool negative = digits != "0" && random.OneIn(2);
    // From just enough bytes to many with sign extension.
    const size_t size = digits.size() / 2 + 1 + random.Below(40);
    const Type type = DecimalType(static_cast<int>(count), 0);
    char bytes[kDecimalBytesMax];
    ASSERT_THAT(DecimalFromBigEndian(BigEndian(digits, negative, size), 0, type, bytes), IsOk());
    ASSERT_EQ(DecimalToText({bytes, FixedWidth(type)}, 0), (negative ? "-" : "") + digits);
  }
}

TEST(Decimal, BigEndianRescales) {
  const Type type = DecimalType(6, 2);
  auto read = [&type](std::string_view bytes, int32_t scale) {
    char out[kDecimalBytesMax];
    const Status status = DecimalFromBigEndian(bytes, scale, type, out);
    return status.ok() ? DecimalToText({out, FixedWidth(type)}, type.scale)
                       : std::string(NameOf(status.error().kind));
  };
  EXPECT_EQ(read("\x04\xd2", 2), "12.34");   // 1234
  EXPECT_EQ(read("\xfb\x2e", 2), "-12.34");  // -1234
  EXPECT_EQ(read("\x04\xd2", 1), "123.40");
  EXPECT_EQ(read("\x04\xd2", 0), "1234.00");
  EXPECT_EQ(read("\x04\xd2", -1), "decimal_overflow");
  EXPECT_EQ(read("\x04\xd2", 3), "decimal_overflow");
  EXPECT_EQ(read("\x30\x34", 3), "12.34");  // 12340: the last zero is not needed
  EXPECT_EQ(read("", 2), "type_mismatch");
  EXPECT_EQ(read(std::string_view("\0", 1), 100), "0.00");
  EXPECT_EQ(read("\xff", 2), "-0.01");
  EXPECT_EQ(read(std::string(70'000, '\1'), 2), "decimal_overflow");
  EXPECT_EQ(read(std::string(60'000, '\1'), 2), "decimal_overflow");
  // 999999 is the largest of six digits, whatever way it comes in.
  EXPECT_EQ(read("\x0f\x42\x3f", 2), "9999.99");
  EXPECT_EQ(read("\x0f\x42\x40", 2), "decimal_overflow");
}

TEST(Decimal, WholeNumbers) {
  const Type type = DecimalType(38, 2);
  char out[kDecimalBytesMax];
  ASSERT_THAT(DecimalFromInt64(INT64_MIN, type, out), IsOk());
  EXPECT_EQ(DecimalToText({out, 16}, 2), "-9223372036854775808.00");
  ASSERT_THAT(DecimalFromUint64(UINT64_MAX, type, out), IsOk());
  EXPECT_EQ(DecimalToText({out, 16}, 2), "18446744073709551615.00");
  EXPECT_THAT(DecimalFromInt64(100, DecimalType(4, 2), out), IsError(ErrorKind::kDecimalOverflow));
  EXPECT_THAT(DecimalFromInt64(-99, DecimalType(4, 2), out), IsOk());
}

TEST(Decimal, RescaleIsExact) {
  char small[kDecimalBytesMax], large[kDecimalBytesMax];
  const Type from = DecimalType(6, 3), to = DecimalType(50, 10);
  ASSERT_THAT(DecimalFromText("-123.450", from, small), IsOk());
  ASSERT_THAT(DecimalRescale({small, 16}, from, to, large), IsOk());
  EXPECT_EQ(DecimalToText({large, 32}, 10), "-123.4500000000");
  ASSERT_THAT(DecimalRescale({large, 32}, to, DecimalType(5, 2), small), IsOk());
  EXPECT_EQ(DecimalToText({small, 16}, 2), "-123.45");
  EXPECT_THAT(DecimalRescale({large, 32}, to, DecimalType(5, 1), small),
              IsError(ErrorKind::kDecimalOverflow));
}

TEST(Decimal, StoredAsLittleEndianTwosComplement) {
  char bytes[kDecimalBytesMax];
  ASSERT_THAT(DecimalFromText("-1", DecimalType(39, 0), bytes), IsOk());
  EXPECT_EQ(std::string_view(bytes, 32), std::string(32, '\xff'));
  ASSERT_THAT(DecimalFromText("2.58", DecimalType(5, 2), bytes), IsOk());
  EXPECT_EQ(std::string_view(bytes, 16), std::string("\x02\x01", 2) + std::string(14, '\0'));
}

TEST(Decimal, CanonicalFormHasNoZerosAtItsEnds) {
  EXPECT_EQ(Canonical("1.50", DecimalType(5, 2)), "15e-1");
  EXPECT_EQ(Canonical("1.5", DecimalType(60, 30)), "15e-1");
  EXPECT_EQ(Canonical("-0.001", DecimalType(5, 3)), "-1e-3");
  EXPECT_EQ(Canonical("100", DecimalType(5, 0)), "1e2");
  EXPECT_EQ(Canonical("1e40", DecimalType(50, 5)), "1e40");
  EXPECT_EQ(Canonical("0", DecimalType(5, 2)), "0e0");
  EXPECT_EQ(Canonical("-0.0", DecimalType(50, 2)), "0e0");
}

}  // namespace
}  // namespace lastword
