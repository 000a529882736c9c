// The scalar functions of gates and time steps, in double: a handful a row, and the same on every instruction set.
#pragma once

#include <cmath>

namespace kapitsa::cpu {

inline double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace kapitsa::cpu
