// Which bits each class of tensors gets.
#include "convert/recipe.h"

#include "tests/convert/support.h"

namespace kapitsa::convert {
namespace {

using Kind = model::GgufTensor::Kind;
using quant::Format;

model::GgufTensor tensor(const std::string& name, int64_t columns = 512, Kind kind = Kind::kMatrix) {
  model::GgufTensor out;
  out.name = name;
  out.kind = kind;
  out.shape = {64, columns};
  return out;
}

Format format(const PlanOptions& options, const model::GgufTensor& t, bool tied = false) {
  return gguf_format(options, t, class_of(t, tied), 32);
}

TEST(Recipe, ProtectedClassesKeepTheirBits) {
  for (const std::string& name : recipe_names()) {
    const PlanOptions p = plan(name);
    if (p.recipe.mlx) continue;
    const auto bits = [&](const char* of, bool tied = false) {
      const auto t = tensor(of, 512, std::string(of) == "token_embd.weight" ? Kind::kEmbedding : Kind::kMatrix);
      return quant::info(format(p, t, tied)).bits_per_weight();
    };
    for (const bool pure : {false, true}) {
      PlanOptions any = p;
      any.pure = pure;
      any.overrides.push_back({"blk", Format::q4_0, {}});
      EXPECT_EQ(format(any, tensor("blk.0.ffn_gate_inp.weight", 512, Kind::kExact)), Format::f32) << name;
      EXPECT_EQ(format(any, tensor("blk.0.attn_norm.weight", 512, Kind::kVector)), Format::f32) << name;
    }
    EXPECT_GE(bits("output.weight"), 6.5) << name;
    EXPECT_GE(bits("token_embd.weight", true), 6.5) << name;
    EXPECT_GE(bits("token_embd.weight"), 4.5) << name;
    EXPECT_GE(bits("blk.9.ffn_up_shexp.weight"), 8) << name;
    EXPECT_GE(bits("blk.9.ssm_alpha.weight"), 8) << name;
  }
}

TEST(Recipe, MixesGiveMoreToValuesAndSomeDownMatrices) {
  const PlanOptions p = plan("Q4_K_M");
  EXPECT_EQ(format(p, tensor("blk.9.attn_q.weight")), Format::q4_k);
  EXPECT_EQ(format(p, tensor("blk.9.attn_v.weight")), Format::q6_k);
  int more = 0;
  for (int i = 0; i < 32; ++i) more += format(p, tensor(fmt::format("blk.{}.ffn_down.weight", i))) == Format::q6_k;
  EXPECT_EQ(more, 16);
  EXPECT_EQ(format(p, tensor("blk.0.ffn_down_exps.weight")), Format::q6_k);
  EXPECT_EQ(format(plan("Q4_K"), tensor("blk.0.ffn_down.weight")), Format::q4_k);
}

TEST(Recipe, RowsThatBlocksDoNotDivideGetTheNearestFormat) {
  const auto of = [](const char* type, int64_t columns) { return format(plan(type), tensor("blk.9.attn_q.weight", columns)); };
  EXPECT_EQ(of("Q4_K", 256), Format::q4_k);
  EXPECT_EQ(of("Q2_K", 160), Format::iq4_nl);
  EXPECT_EQ(of("Q4_K", 160), Format::iq4_nl);
  EXPECT_EQ(of("IQ4_XS", 160), Format::iq4_nl);
  EXPECT_EQ(of("Q5_K", 160), Format::q5_0);
  EXPECT_EQ(of("Q6_K", 160), Format::q8_0);
  EXPECT_EQ(of("NVFP4", 64), Format::nvfp4);
  EXPECT_EQ(of("NVFP4", 96), Format::iq4_nl);
  EXPECT_EQ(of("Q4_0", 100), Format::f16);
}

// A factor beside these is read by nobody.
TEST(Recipe, Nvfp4IsForMatricesWhoseReadersKnowAFactor) {
  PlanOptions p = plan("NVFP4");
  p.pure = true;
  EXPECT_EQ(format(p, tensor("blk.3.ffn_down_exps.weight")), Format::nvfp4);
  EXPECT_EQ(format(p, tensor("output.weight")), Format::nvfp4);
  EXPECT_EQ(format(p, tensor("token_embd.weight", 512, Kind::kEmbedding)), Format::q4_k);
  EXPECT_EQ(format(p, tensor("blk.3.ffn_latent_down.weight")), Format::q4_k);
}

TEST(Recipe, TheFirstOverrideThatFitsCounts) {
  PlanOptions p = plan("Q4_K_M");
  p.overrides = {{"blk.1.ffn_down", Format::q8_0, {}}, {"ffn_down", Format::q2_k, {}}};
  EXPECT_EQ(format(p, tensor("blk.1.ffn_down.weight")), Format::q8_0);
  EXPECT_EQ(format(p, tensor("blk.2.ffn_down.weight")), Format::q2_k);
  EXPECT_EQ(format(p, tensor("blk.2.ffn_up.weight")), Format::q4_k);
}

TEST(Recipe, NamesAreFoundInAnyCaseAndUnknownOnesNameTheRest) {
  EXPECT_EQ(find_recipe("q4_k_m")->name, "Q4_K_M");
  const auto unknown = find_recipe("Q7");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.message().find("Q4_K_M"), std::string::npos);
  const auto read_only = find_recipe("IQ1_S");
  ASSERT_FALSE(read_only.ok());
  EXPECT_EQ(read_only.status().code(), Code::kUnsupported);
}

// Of a model whose matrices are most of it, and whose rows 256 divides.
TEST(Recipe, BitsAWeightAreThoseOfThePlan) {
  struct Plan {
    const char* type;
    double least, most;
  };
  const int64_t layers = 32;
  for (const Plan& want : {Plan{"F16", 16, 16}, Plan{"Q8_0", 8.5, 8.5}, Plan{"Q6_K", 6.56, 6.6}, Plan{"Q5_K_M", 5.6, 5.8}, Plan{"Q4_K_M", 4.8, 5.0},
                           Plan{"Q4_K", 4.5, 4.6}, Plan{"IQ4_XS_M", 4.5, 4.85}, Plan{"Q3_K_M", 3.7, 4.1}, Plan{"Q2_K_M", 2.9, 3.2}, Plan{"Q2_K", 2.6, 2.8}}) {
    double bits = 0, weights = 0;
    const auto add = [&](const std::string& name, double count) {
      const auto t = tensor(name, 4096, name == "token_embd.weight" ? Kind::kEmbedding : Kind::kMatrix);
      bits += quant::info(gguf_format(plan(want.type), t, class_of(t, false), layers)).bits_per_weight() * count;
      weights += count;
    };
    add("token_embd.weight", 32e3 * 4096);
    add("output.weight", 32e3 * 4096);
    for (int64_t i = 0; i < layers; ++i) {
      for (const auto& [part, rows] : {std::pair("attn_q", 4096), std::pair("attn_k", 1024), std::pair("attn_v", 1024), std::pair("attn_output", 4096),
                                       std::pair("ffn_gate", 14336), std::pair("ffn_up", 14336), std::pair("ffn_down", 14336)}) {
        add(fmt::format("blk.{}.{}.weight", i, part), 4096.0 * rows);
      }
    }
    EXPECT_GE(bits / weights, want.least) << want.type;
    EXPECT_LE(bits / weights, want.most) << want.type;
  }
}

}  // namespace
}  // namespace kapitsa::convert
