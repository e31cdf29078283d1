// One seed, one thread, one table: processes that run the production step loop over a scripted
// source and a storage that fails on demand, one after the other, until all of the history is
// applied. After each of them the table must be exactly what the committed positions say.
//
// Nothing here reads a clock or the operating system's randomness where the outcome could see it,
// so a seed repeats its run; the hash of the trace proves that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lastword::sim {

struct SimResult {
  std::string failure;  // empty: everything held
  uint64_t trace_hash = 0;
  std::vector<std::string> trace;  // a line an event
  uint64_t processes = 0, commits = 0, faults = 0, resent = 0;
};

SimResult Simulate(uint64_t seed);

/// Writes seed, failure and trace to "sim-failure-SEED.txt" in the working folder; returns its
/// name.
std::string SaveReplay(uint64_t seed, const SimResult& result);

}  // namespace lastword::sim
