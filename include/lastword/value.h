// One value of a row, for callers that build or read rows one by one. Batches hold typed columns
// instead (model/rows.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lastword {

struct Value;

/// Exact decimal digits, "-12.50".
struct Decimal {
  std::string text;
};
/// Raw bytes, as opposed to text.
struct Bytes {
  std::string bytes;
};
using List = std::vector<Value>;

/// std::monostate is NULL. Integers fit any integer, date, time or timestamp column in whose range
/// they lie (days, microseconds); text fits string, json, uuid and decimal columns.
struct Value {
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Decimal, Bytes, List>
      held;

  Value() = default;
  Value(bool value) : held(value) {}                      // NOLINT(runtime/explicit)
  Value(int value) : held(int64_t{value}) {}              // NOLINT(runtime/explicit)
  Value(int64_t value) : held(value) {}                   // NOLINT(runtime/explicit)
  Value(uint64_t value) : held(value) {}                  // NOLINT(runtime/explicit)
  Value(double value) : held(value) {}                    // NOLINT(runtime/explicit)
  Value(const char* value) : held(std::string(value)) {}  // NOLINT(runtime/explicit)
  Value(std::string value) : held(std::move(value)) {}    // NOLINT(runtime/explicit)
  Value(Decimal value) : held(std::move(value)) {}        // NOLINT(runtime/explicit)
  Value(Bytes value) : held(std::move(value)) {}          // NOLINT(runtime/explicit)
  Value(List value) : held(std::move(value)) {}           // NOLINT(runtime/explicit)

  bool is_null() const { return held.index() == 0; }
};

/// Named values of one row; what is not named is NULL or the column's default.
using Row = std::vector<std::pair<std::string, Value>>;

}  // namespace lastword
