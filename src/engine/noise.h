// The randomness of sampling: a function of (seed, choice, position, token), not of a call counter, so that a text can be
// had again alone, in a batch, drafted or replayed.
#pragma once

#include <cmath>
#include <cstdint>

namespace kapitsa::engine {

// splitmix64's finaliser (Steele et al. 2014).
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// What one position of one answer draws from.
class Noise {
 public:
  Noise(uint64_t seed, int choice, int position)
      : state_(mix(mix(mix(seed) + static_cast<uint64_t>(choice)) + static_cast<uint64_t>(position))) {}

  // Standard Gumbel noise of `token`: the largest logit + noise is a draw from the softmax (Gumbel 1954).
  double gumbel(int32_t token) const {
    const uint64_t bits = mix(state_ + static_cast<uint64_t>(token)) >> 11;
    const double uniform = (static_cast<double>(bits) + 0.5) * 0x1p-53;
    return -std::log(-std::log(uniform));
  }

 private:
  uint64_t state_;
};

}  // namespace kapitsa::engine
