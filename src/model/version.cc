// Versions as text. Strict: a version that is typed wrong must not silently become another one.
//
//   version := epoch '/' hi '/' mid '/' lo                          decimal numbers
//            | 'lsn:' hex '/' hex           epoch 0, hi = the LSN, mid = lo = 2^64-1: the highest
//                                           version of that commit
//            | 'offset:' partition ':' n    epoch 0, hi = n, mid = lo = 0; the partition only says
//                                           where the offset is from
//            | 'seq:' n                     epoch 0, hi = n order-preserving (OrderedFromSigned),
//                                           mid = lo = 0
#include "lastword/version.h"

#include <charconv>
#include <limits>
#include <optional>

#include "base/format.h"
#include "model/ordered.h"

namespace lastword {
namespace {

constexpr uint64_t kHighest = std::numeric_limits<uint64_t>::max();

template <typename T>
std::optional<T> WholeNumber(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Version> FromLsn(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto high = WholeNumber<uint32_t>(text.substr(0, slash), 16);
  const auto low = WholeNumber<uint32_t>(text.substr(slash + 1), 16);
  if (!high || !low) return std::nullopt;
  return Version{0, uint64_t{*high} << 32 | *low, kHighest, kHighest};
}

std::optional<Version> FromOffset(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto partition = WholeNumber<uint32_t>(text.substr(0, colon));
  const auto offset = WholeNumber<uint64_t>(text.substr(colon + 1));
  if (!partition || !offset) return std::nullopt;
  return Version{0, *offset, 0, 0};
}

std::optional<Version> FromSequence(std::string_view text) {
  const auto sequence = WholeNumber<int64_t>(text);
  if (!sequence) return std::nullopt;
  return Version{0, OrderedFromSigned(*sequence), 0, 0};
}

std::optional<Version> FromParts(std::string_view text) {
  Version version;
  uint64_t* const parts[] = {&version.hi, &version.mid, &version.lo};
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto epoch = WholeNumber<uint32_t>(text.substr(0, slash));
  if (!epoch) return std::nullopt;
  version.epoch = *epoch;
  for (int i = 0; i < 3; ++i) {
    text.remove_prefix(slash + 1);
    slash = i < 2 ? text.find('/') : text.size();
    if (slash == std::string_view::npos) return std::nullopt;
    const auto part = WholeNumber<uint64_t>(text.substr(0, slash));
    if (!part) return std::nullopt;
    *parts[i] = *part;
  }
  return version;
}

}  // namespace

std::string ToString(const Version& version) {
  return Message("{}/{}/{}/{}", version.epoch, version.hi, version.mid, version.lo);
}

Result<Version> ParseVersion(std::string_view text) {
  std::string_view rest = text;
  std::optional<Version> version;
  if (TakePrefix(rest, "lsn:")) {
    version = FromLsn(rest);
  } else if (TakePrefix(rest, "offset:")) {
    version = FromOffset(rest);
  } else if (TakePrefix(rest, "seq:")) {
    version = FromSequence(rest);
  } else {
    version = FromParts(rest);
  }
  if (version) return *version;
  return Error{ErrorKind::kUsage,
               Message("`{}` is no version; write epoch/hi/mid/lo such as 0/42/0/0, lsn:0/16B3748, "
                       "offset:PARTITION:OFFSET or seq:NUMBER",
                       text)};
}

}  // namespace lastword
