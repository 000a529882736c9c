// What the tests of kernels share: the scalar set, and a parameter that runs over the others.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "backend/cpu/kernels.h"

namespace kapitsa::cpu {

inline const Kernels& scalar() { return *find_kernels("scalar"); }

class KernelSet : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    kernels_ = find_kernels(GetParam());
    if (!kernels_) GTEST_SKIP() << "this machine has no " << GetParam();
  }
  const Kernels* kernels_ = nullptr;
};

inline auto all_sets() { return ::testing::Values("avx2", "avx512"); }
inline std::string set_name(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

}  // namespace kapitsa::cpu
