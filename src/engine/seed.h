// The seed of a request that names none.
#pragma once

#include <cstdint>

namespace kapitsa::engine {

// Different each time, from the system's randomness. Any thread.
uint64_t random_seed();

}  // namespace kapitsa::engine
