// How much memory this machine has, and how amounts of bytes are written for people.
#pragma once

#include <cstdint>
#include <string>

namespace kapitsa::hub {

// Physical memory in bytes, or the control group's limit where that is lower; 0 if the OS won't
// say.
uint64_t physical_memory();

// "145 MB", "25.1 GB": decimal units, three digits.
std::string human_bytes(uint64_t bytes);

}  // namespace kapitsa::hub
