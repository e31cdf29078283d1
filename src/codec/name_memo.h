// The members of objects that come again and again in one order: what a name meant at its position
// last time is tried first, by comparing the bytes as written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_cursor.h"

namespace lastword::codec {

class NameMemo {
 public:
  /// What the member at `position` is: `lookup(name)` of its decoded name, remembered.
  template <typename Lookup>
  uint32_t Find(size_t position, Members& members, const Lookup& lookup) {
    if (position < x_entries.size() && x_entries[position].name == members.raw_name()) {
      return x_entries[position].meaning;
    }
    const std::string_view name = members.name();
    const uint32_t meaning = lookup(name);
    // A name with a backslash is written in another way than it reads: it is looked up each time.
    if (position < kPositionsMax && members.ok() && !HasBackslash(name)) {
      if (position >= x_entries.size()) x_entries.resize(position + 1);
      x_entries[position] = Entry{std::string(name), meaning};
    }
    return meaning;
  }

 private:
  static constexpr size_t kPositionsMax = 64;
  struct Entry {
    std::string name = "\"";  // no name is written so
    uint32_t meaning = 0;
  };
  std::vector<Entry> x_entries;
};

}  // namespace lastword::codec
