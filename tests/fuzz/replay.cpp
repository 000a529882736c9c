// Runs a fuzz target over its seeds, every prefix of them, and seeded alterations, under any
// compiler.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

std::vector<Bytes> seeds() {
  std::vector<Bytes> all;
  for (const auto& entry : std::filesystem::directory_iterator(KAPITSA_SEEDS)) {
    std::ifstream in(entry.path(), std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return all;
}

// The input in memory of exactly its size, so that the address sanitizer sees a byte too many.
void feed(const Bytes& bytes, size_t size) {
  const Bytes exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

TEST(Replay, SeedsAndTheirPrefixes) {
  const auto all = seeds();
  ASSERT_FALSE(all.empty()) << "no seeds in " << KAPITSA_SEEDS;
  for (const Bytes& seed : all) {
    const size_t step = 1 + seed.size() / 2000;
    for (size_t size = 0; size < seed.size(); size += step) feed(seed, size);
    feed(seed, seed.size());
  }
}

TEST(Replay, AlteredSeeds) {
  const auto all = seeds();
  ASSERT_FALSE(all.empty()) << "no seeds in " << KAPITSA_SEEDS;
  std::mt19937 random(11);
  constexpr uint8_t kTelling[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '[', '\\'};
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = all[random() % all.size()];
    for (uint32_t changes = 1 + random() % 4; changes-- > 0 && !bytes.empty();) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
          break;
        case 1:
          bytes[at] = kTelling[random() % std::size(kTelling)];
          break;
        case 2:
          bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        default:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       bytes[random() % bytes.size()]);
      }
    }
    feed(bytes, bytes.size());
  }
}

}  // namespace
