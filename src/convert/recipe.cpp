#include "convert/recipe.h"

#include <algorithm>

namespace kapitsa::convert {
namespace {

using quant::Format;

// Beside the plain formats: more bits for the values of attention and for some layers' down matrices, whose errors add to
// the residual stream directly.
struct Mix {
  const char* name;
  Format base, better;
};
constexpr Mix kMixes[] = {
    {"Q2_K_M", Format::q2_k, Format::q4_k}, {"Q3_K_M", Format::q3_k, Format::q5_k},     {"Q4_K_M", Format::q4_k, Format::q6_k},
    {"Q5_K_M", Format::q5_k, Format::q6_k}, {"IQ4_XS_M", Format::iq4_xs, Format::q6_k},
};
constexpr int kMlxBits[] = {2, 3, 4, 5, 6, 8};

bool is_float(Format f) { return f == Format::f32 || f == Format::f16 || f == Format::bf16; }
double bits(Format f) { return quant::info(f).bits_per_weight(); }

// What the tensor can be. NVFP4 without a factor has coarse scales: Q4_K has as many bits. Then the nearest format of blocks
// of 32 for rows that the blocks do not divide; F16 where 32 does not either.
Format fitting(Format wanted, const model::GgufTensor& tensor) {
  const int64_t columns = tensor.shape.back();
  if (wanted == Format::nvfp4 && !takes_factor(tensor.name)) wanted = Format::q4_k;
  const auto divides = [&](Format f) { return columns % quant::info(f).block_elements == 0; };
  if (divides(wanted)) return wanted;
  const double b = bits(wanted);
  const Format small = b < 4.6 ? Format::iq4_nl : b < 5.6 ? Format::q5_0 : Format::q8_0;
  return divides(small) ? small : Format::f16;
}

// The layers at both ends and every third between them.
bool wants_more(int layer, int layers) {
  return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
#define KAPITSA_FORMAT(id, name, gguf) \
  if (quant::info(Format::id).encode) names.push_back(name);
#include "quant/formats.def"
#undef KAPITSA_FORMAT
  for (const Mix& mix : kMixes) names.push_back(mix.name);
  for (const int b : kMlxBits) names.push_back(fmt::format("mlx-{}", b));
  return names;
}

Result<Recipe> find_recipe(std::string_view asked) {
  std::string name(asked);
  const bool mlx = name.starts_with("mlx");
  if (!mlx) std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const Mix& mix : kMixes) {
    if (mix.name == name) return Recipe{name, false, mix.base, mix.better, 0};
  }
  for (const int b : kMlxBits) {
    if (name == fmt::format("mlx-{}", b)) return Recipe{name, true, Format::bf16, Format::bf16, b};
  }
  if (const auto format = quant::from_name(name)) {
    if (quant::info(*format).encode) return Recipe{name, false, *format, *format, 0};
    return error(Code::kUnsupported, "{} is only read, not written", name);
  }
  std::string known;
  for (const std::string& one : recipe_names()) known += (known.empty() ? "" : ", ") + one;
  return error(Code::kInvalid, "there is no type \"{}\"; there are: {}", asked, known);
}

Format gguf_format(const PlanOptions& options, const model::GgufTensor& tensor, TensorClass kind, int layers) {
  const Recipe& r = options.recipe;
  // What reads them wants them so.
  if (kind == TensorClass::kVector || kind == TensorClass::kRouter) return Format::f32;
  for (const Override& o : options.overrides) {
    if (o.format && tensor.name.find(o.part) != std::string::npos) return fitting(*o.format, tensor);
  }
  if (is_float(r.base) || options.pure) return fitting(r.base, tensor);
  const auto at_least = [&](Format f) { return fitting(bits(r.base) > bits(f) ? r.base : f, tensor); };
  switch (kind) {
    case TensorClass::kHead: return at_least(Format::q6_k);
    case TensorClass::kSharedExpert:
    case TensorClass::kGate: return at_least(Format::q8_0);
    case TensorClass::kEmbedding: return at_least(Format::q4_k);
    case TensorClass::kAttentionValue: return at_least(r.better);
    case TensorClass::kDown: return wants_more(layer_of(tensor.name), layers) ? at_least(r.better) : fitting(r.base, tensor);
    default: return fitting(r.base, tensor);
  }
}

MlxBits mlx_bits(const PlanOptions& options, const model::GgufTensor& tensor, TensorClass kind) {
  const int64_t columns = tensor.shape.back();
  if (kind == TensorClass::kVector) return {0, options.group};
  int bits = options.recipe.bits;
  int group = options.group;
  if (kind == TensorClass::kRouter) bits = 0;
  if (!options.pure) {
    if (kind == TensorClass::kHead) bits = std::max(bits, 6);
    if (kind == TensorClass::kSharedExpert || kind == TensorClass::kGate) bits = 8;
  }
  for (const Override& o : options.overrides) {
    if (o.bits && tensor.name.find(o.part) != std::string::npos) bits = *o.bits;
  }
  while (group > 32 && columns % group != 0) group /= 2;
  if (columns % group != 0) bits = 0;  // as MLX does with such rows
  return {bits, group};
}

}  // namespace kapitsa::convert
