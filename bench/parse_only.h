// One pass of simdjson over Debezium envelopes: every field of `before` and `after` and the version
// are read, nothing is kept. What any program that reads these bytes pays at least.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace lastword {

inline constexpr size_t kParsePadding = 64;

/// Reads a file with kParsePadding bytes behind it; false where that fails.
bool ReadPadded(const char* path, std::string& bytes);

/// `padded` has kParsePadding bytes behind `size`. Returns a sum over what it read, so that no
/// compiler leaves the work out. Ends the program where the text is no such stream.
uint64_t ParseOnly(std::string_view padded, size_t size);

struct ParsedEnvelope {
  int64_t id = 0;  // of `after`, or of `before` for a delete
  uint64_t lsn = 0;
  std::string_view after;  // its text; empty for a delete
};
void ParseEnvelopes(std::string_view padded, size_t size,
                    const std::function<void(const ParsedEnvelope&)>& take);

}  // namespace lastword
