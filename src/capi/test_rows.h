// Encoded rows for tests of this folder, put together byte by byte and independently of the code
// under test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lastword::capi {

template <typename T>
std::string Raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// One row of (k int64, v string?), the kind as in the grammar.
inline std::string KvRow(char kind, int64_t k, const std::optional<std::string>& v) {
  std::string row(1, kind);
  row += v ? '\0' : '\2';
  row += Raw(k);
  if (v) row += Raw(static_cast<uint32_t>(v->size())) + *v;
  return row;
}

/// One row of (k int64, v string, seq int64).
inline std::string KvSeqRow(char kind, int64_t k, const std::string& v, int64_t seq) {
  return std::string(1, kind) + '\0' + Raw(k) + Raw(static_cast<uint32_t>(v.size())) + v + Raw(seq);
}

inline constexpr char kI = 0, kUb = 1, kUa = 2, kD = 3;

}  // namespace lastword::capi
