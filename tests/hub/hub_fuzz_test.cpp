#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "hub/catalogue_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace kapitsa::hub {
namespace {

void feed(int kind, const std::string& text) {
  const std::string bytes = static_cast<char>(kind) + text;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

TEST(HubFuzz, SeedsAndTheirMutations) {
  const std::string commit(40, 'a');
  const std::string seeds[] = {
      R"({"sha": ")" + commit + R"(", "siblings": [{"rfilename": "m-Q4_K_M.gguf", "size": 5, "lfs": {"sha256": "x"}}, {"rfilename": "config.json"}]})",
      std::string(kCatalogueJson.substr(0, 2000)), "0 10\n20 30\n5 6\n999 1000\n", "org/name@main:Q4_K_M",
      "https://b.example:443/x?y#z"};
  std::mt19937 random(1);
  for (int kind = 0; kind < 5; ++kind) {
    feed(kind, "");
    for (const std::string& seed : seeds) {
      feed(kind, seed);
      for (int round = 0; round < 100; ++round) {
        std::string mutated = seed;
        for (int i = 0; i < 3; ++i) mutated[random() % mutated.size()] = static_cast<char>(random());
        if (random() % 4 == 0) mutated.resize(random() % mutated.size());
        feed(kind, mutated);
      }
    }
  }
}

}  // namespace
}  // namespace kapitsa::hub
