#include "api/ids.h"

#include <random>

namespace kapitsa::api {
namespace {

std::mt19937_64& generator() {
  thread_local std::mt19937_64 engine = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return engine;
}

}  // namespace

std::string make_id(std::string_view prefix) {
  constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uniform_int_distribution<size_t> letter(0, kLetters.size() - 1);
  std::string out(prefix);
  for (int i = 0; i < 24; ++i) out += kLetters[letter(generator())];
  return out;
}

}  // namespace kapitsa::api
