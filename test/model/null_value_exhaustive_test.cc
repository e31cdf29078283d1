// Every pair of short partition logs out of {upsert, delete, null value} of one key and an upsert
// of another, in every interleaving, then read again from every offset after a restart: the outcome
// of each first reading is the one of an oracle, and a second reading changes nothing.
#include <gtest/gtest.h>

#include "model/script.h"

namespace lastword {
namespace {

constexpr int kForms = 4;
enum Form { kSet, kRemove, kNothing, kOther };

using Log = std::vector<Form>;

std::vector<Log> LogsUpTo(int length_max) {
  std::vector<Log> logs = {{}};
  for (size_t from = 0, length = 1; static_cast<int>(length) <= length_max; ++length) {
    const size_t to = logs.size();
    for (size_t i = from; i < to; ++i) {
      for (int form = 0; form < kForms; ++form) {
        Log log = logs[i];
        log.push_back(static_cast<Form>(form));
        logs.push_back(std::move(log));
      }
    }
    from = to;
  }
  return logs;
}

// Partition p's record i stands at log position 20 i + 10 p: the two interleave at the source.
TestChange ChangeOf(int partition, size_t i, Form form) {
  const At at{20 * i + 10 * static_cast<uint64_t>(partition) + 10};
  const std::string text = "p" + std::to_string(partition) + std::to_string(i);
  const std::string input = std::to_string(partition);
  switch (form) {
    case kSet:
      return From(input, Upsert(1, at, text), i);
    case kRemove:
      return From(input, Delete(1, at), i);
    case kNothing:
      return From(input, NullValue(1), i);
    case kOther:
      return From(input, Upsert(100 + 10 * partition + static_cast<int64_t>(i), at, text), i);
  }
  return {};
}

struct Oracle {
  long highest[2] = {0, 0};  // position * 4 + rank
  bool last_was_delete[2] = {false, false};
  long order = -1;
  std::string text;  // empty = no row
  std::string others;

  Outcome Arrive(int partition, size_t i, Form form) {
    const long position = (20 * static_cast<long>(i) + 10 * partition + 10) * 4;
    long at = position + 2;
    if (form == kRemove) at = position + 1;
    if (form == kNothing) {
      if (last_was_delete[partition]) return Outcome::kRepeat;
      at = highest[partition] / 4 * 4 + 3;
    } else {
      highest[partition] = at;
    }
    if (form == kOther) return Outcome::kApplied;
    last_was_delete[partition] = form != kSet;
    if (at < order) return Outcome::kStale;
    if (at == order) return Outcome::kRepeat;
    order = at;
    text = form == kSet ? "p" + std::to_string(partition) + std::to_string(i) : "";
    return Outcome::kApplied;
  }
};

TEST(Exhaustive, NullValuesOfTwoPartitionsReadAgainFromAnywhere) {
  uint64_t scripts = 0, runs = 0;
  const std::vector<Log> first_logs = LogsUpTo(3), second_logs = LogsUpTo(2);
  for (const Log& first : first_logs) {
    for (const Log& second : second_logs) {
      std::vector<std::vector<Step>> queues(2);
      for (size_t i = 0; i < first.size(); ++i) queues[0].push_back(ChangeOf(0, i, first[i]));
      for (size_t i = 0; i < second.size(); ++i) queues[1].push_back(ChangeOf(1, i, second[i]));
      if (first.empty() && second.empty()) continue;
      for (std::vector<Step> script : Interleavings(queues)) {
        ++scripts;
        Oracle oracle;
        std::string text;
        for (Step& step : script) {
          const TestChange& change = step.record[0];
          const int partition = change.input == "0" ? 0 : 1;
          const size_t offset = *change.offset;
          step.outcomes = {
              oracle.Arrive(partition, offset, (partition == 0 ? first : second)[offset])};
        }
        if (!oracle.text.empty()) text = "1=" + oracle.text + ",- ";
        for (size_t p = 0; p < 2; ++p) {
          for (const Step& step : queues[p]) {
            const TestChange& change = step.record[0];
            if (change.key >= 100) {
              text += std::to_string(change.key) + "=" + *change.a + ",- ";
            }
          }
        }
        for (size_t p = 0; p < 2; ++p) {
          for (size_t from = 0; from < queues[p].size(); ++from) {
            std::vector<Step> again = script;
            for (size_t i = from; i < queues[p].size(); ++i) {
              again.push_back(AnyOutcome(queues[p][i].record[0]));
            }
            const uint32_t all = ~0u;
            const uint32_t once = 1u << (script.size() - 1);
            for (const uint32_t cuts : {0u, once, all}) {
              ASSERT_TRUE(Gives({}, again, text, cuts, true));
              ++runs;
            }
          }
        }
      }
    }
  }
  std::printf("%llu deliveries with null-value records, %llu runs, 0 differences\n",
              static_cast<unsigned long long>(scripts), static_cast<unsigned long long>(runs));
}

}  // namespace
}  // namespace lastword
