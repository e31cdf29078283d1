#include "model/script.h"

namespace lastword {
namespace {

// Ranks at one log position (docs/ordering.md).
constexpr uint64_t kRankRead = 0;
constexpr uint64_t kRankDelete = 1;
constexpr uint64_t kRankUpsert = 2;

Version VersionAt(const At& at, uint64_t rank) {
  return {at.epoch, at.hi, at.mid, rank};
}

void SetColumn(const char* name, Text value, std::optional<std::string>& column,
               TestChange& change) {
  if (value == kHidden) {
    change.unavailable.push_back(name);
  } else {
    column = std::move(value);
  }
}

TestChange Image(int64_t key, const Version& version, Text a, Text b) {
  TestChange change;
  change.key = key;
  change.version = version;
  SetColumn("a", std::move(a), change.a, change);
  SetColumn("b", std::move(b), change.b, change);
  return change;
}

}  // namespace

TestChange Read(int64_t key, At at, Text a, Text b) {
  TestChange change = Image(key, VersionAt(at, kRankRead), std::move(a), std::move(b));
  change.flags = kSnapshotRead;
  if (at.hi == 0) change.flags |= kUnpositioned;
  return change;
}

TestChange Upsert(int64_t key, At at, Text a, Text b) {
  return Image(key, VersionAt(at, kRankUpsert), std::move(a), std::move(b));
}

TestChange Delete(int64_t key, At at) {
  TestChange change;
  change.kind = Kind::kDelete;
  change.key = key;
  change.version = VersionAt(at, kRankDelete);
  return change;
}

TestChange Truncate(At at) {
  TestChange change;
  change.kind = Kind::kTruncate;
  change.version = VersionAt(at, kRankUpsert);
  return change;
}

TestChange NullValue(int64_t key) {
  TestChange change;
  change.kind = Kind::kDelete;
  change.key = key;
  change.flags = kNullValue;
  return change;
}

TestChange KeyDelete(int64_t old_key, At at, int64_t new_key) {
  TestChange change = Delete(old_key, at);
  change.flags = kKeyChangeDelete;
  if (new_key != kUnnamed) change.other_key = new_key;
  return change;
}

TestChange KeyUpsert(int64_t new_key, At at, int64_t old_key, Text a, Text b) {
  TestChange change = Upsert(new_key, at, std::move(a), std::move(b));
  change.flags = kKeyChangeUpsert;
  if (old_key != kUnnamed) change.other_key = old_key;
  return change;
}

TestChange From(const std::string& input, TestChange change, std::optional<uint64_t> offset) {
  change.input = input;
  change.offset = offset;
  return change;
}

TestChange Of(const std::string& source, TestChange change) {
  change.source = source;
  return change;
}

TestChange WithFlags(TestChange change, uint16_t flags) {
  change.flags |= flags;
  return change;
}

Step AnyOutcome(TestChange change) {
  Step step(std::move(change));
  step.outcomes.clear();
  return step;
}

std::string ToText(const Step& step) {
  std::string text;
  for (const TestChange& change : step.record) text += (text.empty() ? "" : "+") + ToText(change);
  return text;
}

std::string ToText(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += ToText(step) + "  ";
  return text;
}

namespace {

::testing::AssertionResult Apply(const Step& step, StateFixture& table) {
  const auto outcomes = table.ApplyRecord(step.record);
  if (step.error) {
    if (outcomes.ok()) return ::testing::AssertionFailure() << "no error at " << ToText(step);
    if (outcomes.error().kind == *step.error) return ::testing::AssertionSuccess();
  }
  if (!outcomes.ok()) {
    return ::testing::AssertionFailure() << ToString(outcomes.error()) << " at " << ToText(step);
  }
  if (step.outcomes.empty() || *outcomes == step.outcomes) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << ToText(step) << " is";
  for (const Outcome outcome : *outcomes) failure << " " << NameOf(outcome);
  return failure;
}

}  // namespace

::testing::AssertionResult Gives(const StateOptions& options, const std::vector<Step>& steps,
                                 const std::string& text, uint32_t cuts, bool restart,
                                 const Check& check) {
  StateFixture table(options, !steps.empty() && !steps[0].record[0].source.empty());
  const auto where = [&] {
    return "\n  script " + ToText(steps) + "\n  cuts " + std::to_string(cuts) +
           (restart ? " with restarts" : "");
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    if (auto applied = Apply(steps[i], table); !applied) return applied << where();
    if ((cuts >> i & 1) == 0 && i + 1 != steps.size()) continue;
    const Status committed = table.Commit();
    if (!committed.ok()) {
      return ::testing::AssertionFailure() << ToString(committed.error()) << where();
    }
    if (restart) table.Restart();
  }
  if (table.Text() != text) {
    return ::testing::AssertionFailure()
           << "the table is " << table.Text() << "and not " << text << where();
  }
  if (!check) return ::testing::AssertionSuccess();
  const bool failed_before = ::testing::Test::HasFailure();
  check(table);
  if (!failed_before && ::testing::Test::HasFailure()) {
    return ::testing::AssertionFailure() << where();
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult AlwaysGives(const StateOptions& options, const std::vector<Step>& steps,
                                       const std::string& text, const Check& check) {
  const uint32_t cuts = steps.size() > 1 ? 1u << (steps.size() - 1) : 1;
  for (uint32_t cut = 0; cut < cuts; ++cut) {
    for (const bool restart : {false, true}) {
      if (auto given = Gives(options, steps, text, cut, restart, check); !given) return given;
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult AlwaysGives(const std::vector<Step>& steps, const std::string& text,
                                       const Check& check) {
  return AlwaysGives(StateOptions{}, steps, text, check);
}

std::vector<std::vector<Step>> Interleavings(const std::vector<std::vector<Step>>& queues) {
  std::vector<std::vector<Step>> merged;
  std::vector<size_t> next(queues.size(), 0);
  std::vector<Step> script;
  const std::function<void()> extend = [&] {
    bool ended = true;
    for (size_t i = 0; i < queues.size(); ++i) {
      if (next[i] == queues[i].size()) continue;
      ended = false;
      script.push_back(queues[i][next[i]++]);
      extend();
      --next[i];
      script.pop_back();
    }
    if (ended) merged.push_back(script);
  };
  extend();
  return merged;
}

}  // namespace lastword
