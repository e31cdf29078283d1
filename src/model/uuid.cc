#include "model/uuid.h"

#include "base/format.h"

namespace lastword {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool DashBefore(size_t byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

}  // namespace

Result<Uuid> ParseUuid(std::string_view text) {
  const Error wrong{ErrorKind::kTypeMismatch,
                    "text is no UUID; write 32 hex digits, as 8-4-4-4-12 or without dashes"};
  const bool dashes = text.size() == 36;
  if (!dashes && text.size() != 32) return wrong;
  Uuid uuid{};
  size_t at = 0;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (dashes && DashBefore(i) && text[at++] != '-') return wrong;
    const int high = HexDigit(text[at]);
    const int low = HexDigit(text[at + 1]);
    if (high < 0 || low < 0) return wrong;
    uuid[i] = static_cast<uint8_t>(high << 4 | low);
    at += 2;
  }
  return uuid;
}

std::string UuidToText(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size() && i < 16; ++i) {
    if (DashBefore(i)) text += '-';
    constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<uint8_t>(bytes[i]);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace lastword
