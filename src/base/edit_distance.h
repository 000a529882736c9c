// How far two words are apart, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace kapitsa {

// Letters to insert, delete, replace or swap with a neighbour to get from `a` to `b`. Takes the product of the lengths in
// time and memory: callers bound what a user typed.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace kapitsa
