// How amounts of bytes are written for people.
#pragma once

#include <cstdint>
#include <string>

namespace kapitsa::hub {

// "145 MB", "25.1 GB": decimal units, three digits.
std::string human_bytes(uint64_t bytes);

}  // namespace kapitsa::hub
