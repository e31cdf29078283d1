#include "base/base64.h"

#include <array>
#include <cstdint>

#include "base/format.h"

namespace lastword {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 0xff;

constexpr std::array<uint8_t, 256> MakeDigits() {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (uint8_t i = 0; i < 64; ++i) digits[static_cast<uint8_t>(kAlphabet[i])] = i;
  return digits;
}
constexpr std::array<uint8_t, 256> kDigits = MakeDigits();

Error NoBase64(std::string_view why) {
  return Error{ErrorKind::kTypeMismatch, Message("text is not base64: {}", why)};
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    uint32_t group = static_cast<uint8_t>(bytes[i]) << 16;
    if (left > 1) group |= static_cast<uint8_t>(bytes[i + 1]) << 8;
    if (left > 2) group |= static_cast<uint8_t>(bytes[i + 2]);
    text += kAlphabet[group >> 18];
    text += kAlphabet[group >> 12 & 63];
    text += left > 1 ? kAlphabet[group >> 6 & 63] : '=';
    text += left > 2 ? kAlphabet[group & 63] : '=';
  }
  return text;
}

Result<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return NoBase64("its length is no multiple of 4");
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const int padding = !last ? 0 : text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    uint32_t group = 0;
    for (int j = 0; j < 4; ++j) {
      uint8_t digit = 0;
      if (j < 4 - padding) {
        digit = kDigits[static_cast<uint8_t>(text[i + j])];
        if (digit == kNoDigit) return NoBase64("a character outside the alphabet");
      }
      group = group << 6 | digit;
    }
    if ((padding == 1 && (group & 0xff) != 0) || (padding == 2 && (group & 0xffff) != 0)) {
      return NoBase64("unused bits are set");
    }
    bytes += static_cast<char>(group >> 16);
    if (padding < 2) bytes += static_cast<char>(group >> 8);
    if (padding < 1) bytes += static_cast<char>(group);
  }
  return bytes;
}

}  // namespace lastword
