#include "model/block/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kapitsa::model {
namespace {

// A number, or `otherwise` where there is none; what is no number becomes NaN, which no check lets pass.
double number(const Json& object, const char* key, double otherwise) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  return it->is_number() ? it->get<double>() : std::nan("");
}

std::string text(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

RopeScaling json_scaling(Loader& loader, const Json& rope, int context) {
  RopeScaling s;
  std::string type = text(rope, "rope_type");
  if (type.empty()) type = text(rope, "type");
  if (type.empty() || type == "default") return s;
  if (type == "linear") s.kind = RopeScaling::Kind::kLinear;
  else if (type == "llama3") s.kind = RopeScaling::Kind::kLlama3;
  else if (type == "yarn") s.kind = RopeScaling::Kind::kYarn;
  else loader.fail(error(Code::kUnsupported, "{}: RoPE scaling \"{}\" is not supported (linear, llama3 and yarn are)", loader.checkpoint().path, type));
  s.factor = number(rope, "factor", 1);
  s.original_context = number(rope, "original_max_position_embeddings", context);
  s.low_frequency_factor = number(rope, "low_freq_factor", s.low_frequency_factor);
  s.high_frequency_factor = number(rope, "high_freq_factor", s.high_frequency_factor);
  s.beta_fast = number(rope, "beta_fast", s.beta_fast);
  s.beta_slow = number(rope, "beta_slow", s.beta_slow);
  s.attention_factor = number(rope, "attention_factor", 0);
  const double mscale = number(rope, "mscale", 0), mscale_all = number(rope, "mscale_all_dim", 0);
  if (s.attention_factor == 0 && mscale > 0 && mscale_all > 0 && s.factor > 1) {
    s.attention_factor = (0.1 * mscale * std::log(s.factor) + 1) / (0.1 * mscale_all * std::log(s.factor) + 1);
  }
  return s;
}

RopeScaling gguf_scaling(Loader& loader, int context) {
  RopeScaling s;
  const std::string type = loader.maybe_text("", "{arch}.rope.scaling.type").value_or("none");
  s.factor = loader.maybe_number("", "{arch}.rope.scaling.factor").value_or(loader.maybe_number("", "{arch}.rope.scale_linear").value_or(1));
  s.original_context = loader.maybe_number("", "{arch}.rope.scaling.original_context_length").value_or(context);
  // A factor beside the one that YaRN takes from its scaling, not in its place.
  s.attention_factor = loader.maybe_number("", "{arch}.rope.scaling.attn_factor").value_or(0) *
                       (type == "yarn" && s.factor > 1 ? 0.1 * std::log(s.factor) + 1 : 1);
  s.beta_fast = loader.maybe_number("", "{arch}.rope.scaling.yarn_beta_fast").value_or(s.beta_fast);
  s.beta_slow = loader.maybe_number("", "{arch}.rope.scaling.yarn_beta_slow").value_or(s.beta_slow);
  if (type == "linear" || (type == "none" && s.factor != 1)) s.kind = RopeScaling::Kind::kLinear;
  else if (type == "yarn") s.kind = RopeScaling::Kind::kYarn;
  else if (type != "none") loader.fail(error(Code::kUnsupported, "{}: RoPE scaling \"{}\" is not supported (linear and yarn are)", loader.checkpoint().path, type));
  return s;
}

// YaRN's ramp: 0 where a channel turns often enough to be kept, 1 where its frequency is divided.
double yarn_ramp(double pair, double theta, int channels, const RopeScaling& s) {
  const auto correction = [&](double rotations) {
    return channels * std::log(s.original_context / (rotations * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  const double low = std::max(std::floor(correction(s.beta_fast)), 0.0);
  const double high = std::min(std::ceil(correction(s.beta_slow)), channels - 1.0);
  return std::clamp((pair - low) / (high == low ? 0.001 : high - low), 0.0, 1.0);
}

}  // namespace

backend::Rope make_rope(double theta, int channels, const RopeScaling& s, backend::RopePairs pairs) {
  backend::Rope rope;
  rope.pairs = pairs;
  for (int i = 0; i < channels / 2; ++i) {
    double f = std::pow(theta, -2.0 * i / channels);
    switch (s.kind) {
      case RopeScaling::Kind::kNone: break;
      case RopeScaling::Kind::kLinear: f /= s.factor; break;
      case RopeScaling::Kind::kLlama3: {
        const double wavelength = 2 * std::numbers::pi / f;
        const double low = s.original_context / s.low_frequency_factor, high = s.original_context / s.high_frequency_factor;
        if (wavelength > low) {
          f /= s.factor;
        } else if (wavelength > high) {
          const double smooth = (s.original_context / wavelength - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor);
          f = (1 - smooth) * f / s.factor + smooth * f;
        }
        break;
      }
      case RopeScaling::Kind::kYarn: {
        const double ramp = yarn_ramp(i, theta, channels, s);
        f = f / s.factor * ramp + f * (1 - ramp);
        break;
      }
    }
    rope.inverse_frequency.push_back(f);
  }
  if (s.kind == RopeScaling::Kind::kYarn) {
    const double magnitude = s.attention_factor > 0 ? s.attention_factor : s.factor > 1 ? 0.1 * std::log(s.factor) + 1 : 1;
    rope.magnitude = static_cast<float>(magnitude);
  }
  return rope;
}

namespace {

// What a GGUF says of the rotation.
void say_rope(Loader& loader, double theta, int channels, const RopeScaling& s) {
  loader.say("{arch}.rope.freq_base", theta);
  loader.say("{arch}.rope.dimension_count", int64_t{channels});
  if (s.kind == RopeScaling::Kind::kNone) return;
  if (s.kind == RopeScaling::Kind::kLlama3) {
    // Not a key but a tensor: what each frequency is divided by.
    const backend::Rope plain = make_rope(theta, channels, {}, backend::RopePairs::kHalves), scaled = make_rope(theta, channels, s, plain.pairs);
    std::vector<float> factors;
    for (size_t i = 0; i < plain.inverse_frequency.size(); ++i) {
      factors.push_back(static_cast<float>(plain.inverse_frequency[i] / scaled.inverse_frequency[i]));
    }
    return loader.say_values("rope_freqs.weight", std::move(factors));
  }
  const bool yarn = s.kind == RopeScaling::Kind::kYarn;
  loader.say("{arch}.rope.scaling.type", std::string(yarn ? "yarn" : "linear"));
  loader.say("{arch}.rope.scaling.factor", s.factor);
  if (!yarn) return;
  loader.say("{arch}.rope.scaling.original_context_length", static_cast<int64_t>(s.original_context));
  loader.say("{arch}.rope.scaling.yarn_beta_fast", s.beta_fast);
  loader.say("{arch}.rope.scaling.yarn_beta_slow", s.beta_slow);
  if (s.attention_factor > 0) {
    // Beside the factor that YaRN takes from its scaling, not in its place.
    loader.say("{arch}.rope.scaling.attn_factor", s.attention_factor / (s.factor > 1 ? 0.1 * std::log(s.factor) + 1 : 1));
  }
}

}  // namespace

backend::Rope load_rope(Loader& loader, int channels, int context, double default_theta, backend::RopePairs pairs) {
  double theta = default_theta;
  RopeScaling scaling;
  if (loader.gguf()) {
    theta = loader.maybe_number("", "{arch}.rope.freq_base").value_or(theta);
    scaling = gguf_scaling(loader, context);
  } else {
    const Json& config = loader.config();
    theta = number(config, "rope_theta", theta);
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
      const auto it = config.find(key);
      if (it == config.end() || !it->is_object()) continue;
      theta = number(*it, "rope_theta", theta);
      scaling = json_scaling(loader, *it, context);
    }
  }
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  if (!positive(scaling.beta_fast) || !positive(scaling.beta_slow) || !positive(scaling.low_frequency_factor) ||
      !positive(scaling.high_frequency_factor) || !std::isfinite(scaling.attention_factor) || scaling.attention_factor < 0) {
    loader.fail(error(Code::kCorrupt, "{}: RoPE scaling with beta {} and {}, frequency factors {} and {}, attention factor {}: positive numbers were expected",
                      loader.checkpoint().path, scaling.beta_fast, scaling.beta_slow, scaling.low_frequency_factor,
                      scaling.high_frequency_factor, scaling.attention_factor));
    return {};
  }
  if (!(theta > 1) || !std::isfinite(theta) || !(scaling.factor > 0) || !std::isfinite(scaling.factor) ||
      (scaling.kind != RopeScaling::Kind::kNone && !(scaling.original_context >= 1))) {
    loader.fail(error(Code::kCorrupt, "{}: RoPE base {}, factor {}, original context {} make no rotation", loader.checkpoint().path,
                      theta, scaling.factor, scaling.original_context));
    return {};
  }
  say_rope(loader, theta, channels, scaling);
  backend::Rope rope = make_rope(theta, channels, scaling, pairs);
  if (loader.gguf() && loader.has("rope_freqs.weight")) {
    const std::vector<float> factors = loader.values("rope_freqs.weight", channels / 2);
    for (size_t i = 0; i < rope.inverse_frequency.size(); ++i) rope.inverse_frequency[i] /= factors[i] != 0 ? factors[i] : 1;
  }
  for (double f : rope.inverse_frequency) {
    if (!std::isfinite(f)) {
      loader.fail(error(Code::kCorrupt, "{}: a RoPE frequency is no finite number", loader.checkpoint().path));
      return {};
    }
  }
  return rope;
}

}  // namespace kapitsa::model
