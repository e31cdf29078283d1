#include "model/oracle.h"

#include <algorithm>

namespace lastword::oracle {

std::vector<Said> Outcomes(const std::vector<Event>& script) {
  std::vector<Said> said;
  for (size_t i = 0; i < script.size(); ++i) {
    int highest = -1;
    int payload = 0;  // of the first event with that version
    for (size_t j = 0; j < i; ++j) {
      if (script[j].key != script[i].key || script[j].version <= highest) continue;
      highest = script[j].version;
      payload = script[j].row;
    }
    if (highest == -1 || script[i].version > highest) {
      said.push_back(Said::kApplied);
    } else if (script[i].version < highest) {
      said.push_back(Said::kStale);
    } else {
      said.push_back(script[i].row == payload ? Said::kRepeat : Said::kConflict);
    }
  }
  return said;
}

std::map<int, int> Table(std::vector<Event> script) {
  // Stable and descending, so that of equal versions the first to arrive is applied last and stays.
  std::reverse(script.begin(), script.end());
  std::stable_sort(script.begin(), script.end(),
                   [](const Event& a, const Event& b) { return a.version < b.version; });
  std::map<int, int> table;
  for (const Event& event : script) {
    if (event.row == 0) {
      table.erase(event.key);
    } else {
      table[event.key] = event.row;
    }
  }
  return table;
}

std::string ToText(const std::vector<Event>& script) {
  std::string text;
  for (const Event& event : script) {
    text += "k" + std::to_string(event.key) + "@" + std::to_string(event.version) +
            (event.row == 0 ? "-" : "=" + std::to_string(event.row)) + " ";
  }
  return text;
}

}  // namespace lastword::oracle
