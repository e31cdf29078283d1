// Seeds of the simulation. LASTWORD_SIM_SEED=N replays one and prints its trace;
// LASTWORD_SIM_SEEDS=N runs N fixed and N fresh ones. A failing seed leaves a replay file, and
// belongs into test/regress/sim_seeds.txt once it is understood.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/random.h"

namespace lastword::sim {
namespace {

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

uint64_t SeedsToRun() {
  return Setting("LASTWORD_SIM_SEEDS", LW_SIM_SEEDS);
}

struct Sums {
  uint64_t processes = 0, commits = 0, faults = 0;
};

void RunSeed(uint64_t seed, Sums& sums) {
  const SimResult result = Simulate(seed);
  sums.processes += result.processes;
  sums.commits += result.commits;
  sums.faults += result.faults;
  ASSERT_EQ(result.failure, "") << "seed " << seed << ", see " << SaveReplay(seed, result);
}

void Print(const char* what, uint64_t seeds, const Sums& sums) {
  std::printf(
      "%llu %s seeds: %llu processes, %llu commits, %llu faults\n",
      static_cast<unsigned long long>(seeds), what, static_cast<unsigned long long>(sums.processes),
      static_cast<unsigned long long>(sums.commits), static_cast<unsigned long long>(sums.faults));
}

TEST(Simulation, ASeedRepeatsItsRun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(Simulate(seed).trace_hash, Simulate(seed).trace_hash) << "seed " << seed;
  }
  EXPECT_NE(Simulate(1).trace_hash, Simulate(2).trace_hash);
}

TEST(Simulation, FixedSeeds) {
  Sums sums;
  const uint64_t seeds = SeedsToRun();
  for (uint64_t seed = 1; seed <= seeds && !HasFatalFailure(); ++seed) RunSeed(seed, sums);
  Print("fixed", seeds, sums);
  EXPECT_GT(sums.faults, seeds) << "the storage hardly ever failed";
}

TEST(Simulation, FreshSeeds) {
  Sums sums;
  const uint64_t seeds = SeedsToRun() / 4;
  const uint64_t first = RandomSeed() >> 1;
  std::printf("fresh seeds from %llu on\n", static_cast<unsigned long long>(first));
  for (uint64_t i = 0; i < seeds && !HasFatalFailure(); ++i) RunSeed(first + i, sums);
  Print("fresh", seeds, sums);
}

TEST(Simulation, SeedsThatOnceFailed) {
  std::ifstream seeds(LW_REGRESS_FOLDER "/sim_seeds.txt");
  ASSERT_TRUE(seeds.is_open());
  Sums sums;
  for (std::string line; std::getline(seeds, line) && !HasFatalFailure();) {
    if (line.empty() || line[0] == '#') continue;
    RunSeed(std::strtoull(line.c_str(), nullptr, 10), sums);
  }
}

TEST(Simulation, Replay) {
  const uint64_t seed = Setting("LASTWORD_SIM_SEED", 0);
  if (seed == 0) GTEST_SKIP() << "LASTWORD_SIM_SEED names no seed";
  const SimResult result = Simulate(seed);
  for (const std::string& line : result.trace) std::printf("%s\n", line.c_str());
  EXPECT_EQ(result.failure, "");
}

}  // namespace
}  // namespace lastword::sim
