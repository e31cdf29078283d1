// What a table must be, said twice as simply and without a line of src/state: the tests' own idea
// of the law.
//
// A key's state is the change with the highest version among those that arrived; of several with
// that version the first one. The outcome of a change compares it with the highest version that
// arrived before it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lastword::oracle {

struct Event {
  int key = 0;
  int version = 0;
  int row = 0;  // 0 = delete, else the payload
  friend bool operator==(const Event&, const Event&) = default;
};

enum class Said { kApplied, kStale, kRepeat, kConflict };

/// Outcome of each event of `script`, in order.
std::vector<Said> Outcomes(const std::vector<Event>& script);

/// Visible rows: key -> payload. Sorts, then applies one by one.
std::map<int, int> Table(std::vector<Event> script);

std::string ToText(const std::vector<Event>& script);

}  // namespace lastword::oracle
