#include "engine/seed.h"

#include <random>

namespace kapitsa::engine {

uint64_t random_seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace kapitsa::engine
