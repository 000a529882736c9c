// Megabytes of text tokenised a second, on one thread: tokenizer_bench TOKENIZER.json TEXT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "text/token/tokenizer.h"

namespace {

std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

double seconds_of(auto run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: tokenizer_bench TOKENIZER.json TEXT\n");
    return 2;
  }
  const auto json = kapitsa::parse_json(read_file(argv[1]), argv[1]);
  if (!json.ok()) {
    fmt::print(stderr, "{}\n", json.message());
    return 1;
  }
  auto tokenizer = kapitsa::text::Tokenizer::from_json(*json, kapitsa::Json());
  if (!tokenizer.ok()) {
    fmt::print(stderr, "{}\n", tokenizer.message());
    return 1;
  }
  const std::string text = read_file(argv[2]);
  size_t tokens = 0;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    best = std::min(best, seconds_of([&] {
                      const auto ids = (*tokenizer)->encode(text, true);
                      tokens = ids.ok() ? ids->size() : 0;
                    }));
  }
  const double mb = static_cast<double>(text.size()) / 1e6;
  fmt::print("{:.2f} MB, {} tokens, best of 5: {:.1f} ms, {:.1f} MB/s\n", mb, tokens, best * 1e3,
             mb / best);
  for (const char c : {'a', ' ', '='}) {
    const std::string run(1 << 20, c);
    fmt::print("1 MiB of '{}': {:.1f} ms\n", c,
               1e3 * seconds_of([&] { (void)(*tokenizer)->encode(run, false); }));
  }
}
