// The test of the test: each planted defect must be found by the simulation within 500 seeds, and
// without one the same library passes.
#include <gtest/gtest.h>

#include "base/planted_bug.h"
#include "sim/simulation.h"

namespace lastword::sim {
namespace {

constexpr uint64_t kSeedsMax = 500;

struct Plant {
  const char* name;
  PlantedBug bug;
};

constexpr Plant kPlants[] = {
    {"UnversionedDelete", PlantedBug::kUnversionedDelete},
    {"DroppedTombstone", PlantedBug::kDroppedTombstone},
    {"TieByArrival", PlantedBug::kTieByArrival},
    {"ForgottenFloor", PlantedBug::kForgottenFloor},
    {"FillAcrossKeyChange", PlantedBug::kFillAcrossKeyChange},
    {"NullValueReRead", PlantedBug::kNullValueReRead},
    {"ForgottenDelete", PlantedBug::kForgottenDelete},
    {"TruncateOnlyStored", PlantedBug::kTruncateOnlyStored},
    {"TruncateOnlyPending", PlantedBug::kTruncateOnlyPending},
    {"TruncateOfAllSources", PlantedBug::kTruncateOfAllSources},
    {"KeptRowDropped", PlantedBug::kKeptRowDropped},
    {"SwapUnmarked", PlantedBug::kSwapUnmarked},
    {"LedgerNotPinned", PlantedBug::kLedgerNotPinned},
    {"LedgerNotRolledBack", PlantedBug::kLedgerNotRolledBack},
    {"ConflictIgnored", PlantedBug::kConflictIgnored},
    {"PositionsBeforeRows", PlantedBug::kPositionsBeforeRows},
    {"CheckpointForgotten", PlantedBug::kCheckpointForgotten},
    {"CompactionLosesKey", PlantedBug::kCompactionLosesKey},
    {"CompactionUnpinned", PlantedBug::kCompactionUnpinned},
};

class PlantedBugs : public ::testing::TestWithParam<Plant> {
 protected:
  ~PlantedBugs() override { planted_bug = PlantedBug::kNone; }
};

TEST_P(PlantedBugs, IsFound) {
  planted_bug = GetParam().bug;
  for (uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    const SimResult result = Simulate(seed);
    if (result.failure.empty()) continue;
    std::printf("%s: found by seed %llu: %s\n", GetParam().name,
                static_cast<unsigned long long>(seed), result.failure.substr(0, 160).c_str());
    return;
  }
  FAIL() << "no seed up to " << kSeedsMax << " finds it";
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugs, ::testing::ValuesIn(kPlants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(NoPlantedBug, TheSameLibraryPasses) {
  planted_bug = PlantedBug::kNone;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    ASSERT_EQ(Simulate(seed).failure, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace lastword::sim
