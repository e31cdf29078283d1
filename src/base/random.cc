#include "base/random.h"

#include <bit>
#include <random>

#include "base/format.h"

namespace lastword {

Random::Random(uint64_t seed) {
  // SplitMix64 spreads the seed: a state of zeros would stay zero.
  for (uint64_t& word : x_state) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(x_state[1] * 5, 7) * 9;
  const uint64_t shifted = x_state[1] << 17;
  x_state[2] ^= x_state[0];
  x_state[3] ^= x_state[1];
  x_state[1] ^= x_state[2];
  x_state[0] ^= x_state[3];
  x_state[2] ^= shifted;
  x_state[3] = std::rotl(x_state[3], 45);
  return result;
}

uint64_t Random::Below(uint64_t bound) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(Next()) * bound >> 64);
}

uint64_t RandomSeed() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

std::string RandomId() {
  return Message("{:016x}{:016x}", RandomSeed(), RandomSeed());
}

}  // namespace lastword
