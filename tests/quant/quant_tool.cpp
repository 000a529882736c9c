// quant_tool decode|encode FORMAT: blocks on stdin to float32 on stdout, or the other way.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "quant/format.h"

int main(int argc, char** argv) {
  namespace quant = kapitsa::quant;
  const auto format = argc == 3 ? quant::from_name(argv[2]) : std::nullopt;
  if (!format) return std::fputs("usage: quant_tool decode|encode FORMAT\n", stderr), 2;
  const bool decode = std::string(argv[1]) == "decode";

  std::vector<std::byte> in;
  std::byte chunk[65536];
  for (size_t n; (n = std::fread(chunk, 1, sizeof(chunk), stdin)) > 0;) {
    in.insert(in.end(), chunk, chunk + n);
  }
  const quant::FormatInfo& info = quant::info(*format);
  const auto elements = static_cast<size_t>(info.block_elements);
  const auto bytes = static_cast<size_t>(info.block_bytes);
  const size_t count = in.size() / (decode ? bytes : elements * sizeof(float));
  std::vector<float> floats(count * elements);
  std::vector<std::byte> blocks(count * bytes);
  if (decode) {
    info.decode(in.data(), count, floats.data());
    std::fwrite(floats.data(), sizeof(float), floats.size(), stdout);
  } else {
    std::memcpy(floats.data(), in.data(), floats.size() * sizeof(float));
    info.encode(floats.data(), nullptr, count, blocks.data());
    std::fwrite(blocks.data(), 1, blocks.size(), stdout);
  }
  return 0;
}
