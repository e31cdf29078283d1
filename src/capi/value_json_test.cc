// What `lastword_table_explain` says, in the words of the command line.
#include "capi/value_json.h"

#include <gtest/gtest.h>

namespace lastword::capi {
namespace {

TEST(ExplanationJson, NamesStatesAsTheCommandLineDoes) {
  const auto named = [](Explanation::State state) {
    Explanation explanation;
    explanation.state = state;
    return ExplanationToJson(explanation)["state"].get<std::string>();
  };
  EXPECT_EQ(named(Explanation::State::kLive), "live");
  EXPECT_EQ(named(Explanation::State::kDeleted), "deleted");
  EXPECT_EQ(named(Explanation::State::kUnknown), "unknown");
  EXPECT_EQ(named(Explanation::State::kBelowFloor), "below floor");
}

}  // namespace
}  // namespace lastword::capi
