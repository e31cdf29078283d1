// Random numbers that a seed repeats, for tests, simulation and sampling, and ids that nothing
// repeats, for transactions and checkpoints. Never for secrets.
#pragma once

#include <cstdint>
#include <string>

namespace lastword {

/// xoshiro256**: one seed, one sequence, on every machine. Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed);
  uint64_t Next();
  /// Uniform in [0, bound); 0 for bound 0.
  uint64_t Below(uint64_t bound);
  /// True once in `n` calls on average.
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  uint64_t x_state[4];
};

/// 32 lower-case hex digits from the operating system's generator. Any thread.
std::string RandomId();

/// A seed from the operating system's generator.
uint64_t RandomSeed();

}  // namespace lastword
