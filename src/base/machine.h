// Facts of the machine that the process runs on.
#pragma once

#include <cstddef>
#include <string>

namespace kapitsa {

// What the processor calls itself.
std::string cpu_name();

// Bytes of memory that this process may use: physical memory, or its control group's limit where that is less.
size_t memory_limit();

// The largest resident size of this process so far, in bytes.
size_t peak_memory();

}  // namespace kapitsa
