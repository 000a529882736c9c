#include "api/sampling.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "engine/seed.h"

namespace kapitsa::api {
namespace {

void read_bias(Params& params, size_t vocabulary, std::map<engine::TokenId, float>& out) {
  const Json* bias = params.object("logit_bias");
  if (!bias) return;
  for (const auto& [key, value] : bias->items()) {
    engine::TokenId id = -1;
    const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (fault != std::errc() || end != key.data() + key.size() || id < 0 ||
        static_cast<size_t>(id) >= vocabulary) {
      return params.fail("logit_bias", fmt::format("'logit_bias' has the key {}; keys must be token "
                                                   "ids from 0 to {}",
                                                   brief(Json(key)), vocabulary - 1));
    }
    if (!value.is_number() || !(value.get<double>() >= -100 && value.get<double>() <= 100)) {
      return params.fail("logit_bias",
                         fmt::format("'logit_bias' of token {} is {}; it must be a number between "
                                     "-100 and 100",
                                     id, brief(value)));
    }
    out[id] = value.get<float>();
  }
}

}  // namespace

engine::Sampling read_sampling(Params& params, const engine::Engine& engine) {
  engine::Sampling out = engine.info().sampling;
  const auto set = [&](std::string_view name, double low, double high, float& field) {
    if (const auto value = params.number(name, low, high)) field = static_cast<float>(*value);
  };
  set("temperature", 0, 100, out.temperature);
  set("top_p", 0, 1, out.top_p);
  set("min_p", 0, 1, out.min_p);
  set("presence_penalty", -2, 2, out.presence_penalty);
  set("frequency_penalty", -2, 2, out.frequency_penalty);
  set("repetition_penalty", 0.01, 100, out.repetition_penalty);
  // -1 is how several clients say "off".
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (const auto top_k = params.integer("top_k", -1, kMost)) {
    out.top_k = static_cast<int>(std::max<int64_t>(*top_k, 0));
  }
  read_bias(params, engine.tokenizer().vocab_size(), out.logit_bias);
  // Any 64 bits, as `kapitsa run --json` states them; negative ones are taken as they lie in memory.
  const Json* seed = params.find("seed");
  if (seed && seed->is_number_unsigned()) {
    out.seed = seed->get<uint64_t>();
  } else {
    const auto number = params.integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
    out.seed = number ? static_cast<uint64_t>(*number) : engine::random_seed();
  }
  return out;
}

}  // namespace kapitsa::api
