#include "app/sampling_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "engine/seed.h"

namespace kapitsa::app {
namespace {

// CLI::Range lets NaN through.
CLI::Validator between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        double value = std::nan("");
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return {};
        return fmt::format("{} is not a number from {:g} to {:g}", text, low, high);
      },
      fmt::format("{:g} to {:g}", low, high));
}

// CLI11 would cut what does not fit, and take "-1".
CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        uint64_t value = 0;
        const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (fault == std::errc() && stop == text.data() + text.size()) return {};
        return fmt::format("{} is not a whole number from 0 to {}", text,
                           std::numeric_limits<uint64_t>::max());
      },
      "0 and up");
}

}  // namespace

void SamplingOptions::add_to(CLI::App& command) {
  const std::string group = "Sampling (default: what the model's files or the catalogue recommend)";
  const auto add = [&](const char* name, auto& field, const char* text, double low, double high) {
    return command.add_option(name, field, text)->check(between(low, high))->group(group);
  };
  auto* temperature_option = add("--temperature,--temp", temperature,
                                 "How freely it chooses; 0: always the likeliest token", 0, 100);
  add("--top-p", top_p, "Keep the likeliest tokens that hold this share; 1: off", 0, 1);
  add("--top-k", top_k, "Keep this many of the likeliest tokens; 0: off", 0,
      std::numeric_limits<int>::max());
  add("--min-p", min_p, "Drop tokens below this share of the likeliest; 0: off", 0, 1);
  add("--repetition-penalty", repetition_penalty, "Divide the logits of tokens seen; 1: off", 0.01,
      100);
  add("--presence-penalty", presence_penalty, "Subtract from tokens that were generated; 0: off",
      -2, 2);
  add("--frequency-penalty", frequency_penalty, "Subtract for each time it was generated; 0: off",
      -2, 2);
  command.add_option("--seed", seed, "The same seed gives the same text; default: a random one")
      ->check(whole_number())
      ->group(group);
  command.add_flag("--greedy", greedy, "Always the likeliest token: temperature 0, no penalties")
      ->group(group)
      ->excludes(temperature_option);
}

engine::Sampling SamplingOptions::over(engine::Sampling out) const {
  if (greedy) {
    out = {};
    out.temperature = 0;
  }
  if (temperature) out.temperature = *temperature;
  if (top_p) out.top_p = *top_p;
  if (top_k) out.top_k = *top_k;
  if (min_p) out.min_p = *min_p;
  if (repetition_penalty) out.repetition_penalty = *repetition_penalty;
  if (presence_penalty) out.presence_penalty = *presence_penalty;
  if (frequency_penalty) out.frequency_penalty = *frequency_penalty;
  out.seed = seed ? *seed : engine::random_seed();
  return out;
}

std::optional<engine::Sampling> sampling_from_json(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  engine::Sampling out;
  bool any = false;
  const auto set = [&](const char* name, auto& field) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number() || std::fabs(at->get<double>()) > 1e6) return;
    field = at->get<std::decay_t<decltype(field)>>();
    any = true;
  };
  set("temperature", out.temperature);
  set("top_p", out.top_p);
  set("top_k", out.top_k);
  set("min_p", out.min_p);
  set("repetition_penalty", out.repetition_penalty);
  set("presence_penalty", out.presence_penalty);
  set("frequency_penalty", out.frequency_penalty);
  if (!any) return std::nullopt;
  return out;
}

namespace {

// A float as people wrote it: 0.6, not 0.60000002.
double shortest(float value) {
  return std::stod(fmt::format("{}", value));
}

}  // namespace

Json to_json(const engine::Sampling& s) {
  Json json = Json::object();
  json["temperature"] = shortest(s.temperature);
  if (s.top_p != 1) json["top_p"] = shortest(s.top_p);
  if (s.top_k != 0) json["top_k"] = s.top_k;
  if (s.min_p != 0) json["min_p"] = shortest(s.min_p);
  if (s.repetition_penalty != 1) json["repetition_penalty"] = shortest(s.repetition_penalty);
  if (s.presence_penalty != 0) json["presence_penalty"] = shortest(s.presence_penalty);
  if (s.frequency_penalty != 0) json["frequency_penalty"] = shortest(s.frequency_penalty);
  return json;
}

std::string to_text(const engine::Sampling& s) {
  std::string text = s.temperature == 0 ? "greedy" : fmt::format("temperature {}", s.temperature);
  if (s.top_p != 1) text += fmt::format(", top-p {}", s.top_p);
  if (s.top_k != 0) text += fmt::format(", top-k {}", s.top_k);
  if (s.min_p != 0) text += fmt::format(", min-p {}", s.min_p);
  if (s.repetition_penalty != 1)
    text += fmt::format(", repetition penalty {}", s.repetition_penalty);
  if (s.presence_penalty != 0) text += fmt::format(", presence penalty {}", s.presence_penalty);
  if (s.frequency_penalty != 0) text += fmt::format(", frequency penalty {}", s.frequency_penalty);
  return text;
}

}  // namespace kapitsa::app
