// Scripts for tests of the law: changes written as people say them, each with the outcome that
// docs/ordering.md promises, run with every cut into checkpoints and with restarts. A rule that
// holds only for one cut is no rule.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "model/state_fixture.h"

namespace lastword {

/// An unavailable column (unchanged out-of-line value).
inline const std::string kHidden = "\x01hidden";
using Text = std::optional<std::string>;
inline constexpr std::nullopt_t kNull = std::nullopt;

/// A log position: hi orders transactions, mid the changes inside one.
struct At {
  uint64_t hi = 0, mid = 0;
  uint32_t epoch = 0;
};

TestChange Read(int64_t key, At at, Text a = "r", Text b = kNull);
TestChange Upsert(int64_t key, At at, Text a, Text b = kNull);
TestChange Delete(int64_t key, At at);
TestChange Truncate(At at);
TestChange NullValue(int64_t key);
/// The halves of a key change; `kUnnamed` as the other key: the half does not name it.
inline constexpr int64_t kUnnamed = INT64_MIN;
TestChange KeyDelete(int64_t old_key, At at, int64_t new_key);
TestChange KeyUpsert(int64_t new_key, At at, int64_t old_key, Text a, Text b = kNull);
/// `change` out of input `input`, at `offset` or behind the last one of that input.
TestChange From(const std::string& input, TestChange change, std::optional<uint64_t> offset = {});
/// `change` of source table `source`; a script has one for all its changes, or for none.
TestChange Of(const std::string& source, TestChange change);
TestChange WithFlags(TestChange change, uint16_t flags);

/// One record and what must become of it: an outcome a change, or an error, or any of several.
struct Step {
  Step(TestChange change, Outcome outcome = Outcome::kApplied)
      : record({std::move(change)}), outcomes({outcome}) {}
  Step(TestChange change, ErrorKind kind) : record({std::move(change)}), error(kind) {}
  Step(std::vector<TestChange> changes, std::vector<Outcome> wanted)
      : record(std::move(changes)), outcomes(std::move(wanted)) {}

  std::vector<TestChange> record;
  std::vector<Outcome> outcomes;  // empty = any
  std::optional<ErrorKind> error;
};
Step AnyOutcome(TestChange change);

std::string ToText(const Step& step);
std::string ToText(const std::vector<Step>& steps);

/// What else a run may check, called with the table at its end.
using Check = std::function<void(StateFixture& table)>;

/// Runs `steps` once, committing behind step i where bit i of `cuts` is set and at the end, with a
/// restart behind each commit if asked. `text`: the table as StateFixture::Text prints it.
::testing::AssertionResult Gives(const StateOptions& options, const std::vector<Step>& steps,
                                 const std::string& text, uint32_t cuts, bool restart,
                                 const Check& check = {});
/// Every cut, each with and without restarts. Returns the number of runs through `runs`.
::testing::AssertionResult AlwaysGives(const StateOptions& options, const std::vector<Step>& steps,
                                       const std::string& text, const Check& check = {});
::testing::AssertionResult AlwaysGives(const std::vector<Step>& steps, const std::string& text,
                                       const Check& check = {});

/// All merges of `queues` that keep the order of each.
std::vector<std::vector<Step>> Interleavings(const std::vector<std::vector<Step>>& queues);

}  // namespace lastword
