// The members of objects that come again and again in one order: what a name meant at its position
// last time is tried first, by comparing the bytes as written.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "codec/json_cursor.h"

namespace lastword::codec {

class NameMemo {
 public:
  /// Moves `members` to its next member, which is the `position`-th one, and says what it means:
  /// `lookup(name)` of its decoded name, remembered. False where Members::Next is.
  template <typename Lookup>
  bool Next(size_t position, Members& members, const Lookup& lookup, uint32_t& meaning) {
    if (position < x_entries.size()) {
      const Entry& entry = x_entries[position];
      if (members.NextIs(entry.name)) {
        meaning = entry.meaning;
        return true;
      }
    }
    if (!members.Next()) return false;
    const std::string_view name = members.name();
    meaning = lookup(name);
    // A name that JSON escapes is written in another way than it reads: it is looked up each time.
    if (position < kPositionsMax && members.ok() && !HasBackslash(name)) {
      if (position >= x_entries.size()) x_entries.resize(position + 1);
      x_entries[position] = Entry{WrittenName(name), meaning};
    }
    return true;
  }

 private:
  static constexpr size_t kPositionsMax = 4096;
  struct Entry {
    WrittenName name;
    uint32_t meaning = 0;
  };
  std::vector<Entry> x_entries;
};

}  // namespace lastword::codec
