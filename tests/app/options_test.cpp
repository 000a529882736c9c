#include <gtest/gtest.h>

#include "app/model_facts.h"
#include "app/program.h"
#include "app/sampling_options.h"
#include "app/token_list.h"

namespace kapitsa::app {
namespace {

TEST(TokenList, WhatPeopleWrite) {
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(*parse_tokens("1,2,3", "x"), (Ids{1, 2, 3}));
  EXPECT_EQ(*parse_tokens("[1, 2,\n3]\n", "x"), (Ids{1, 2, 3}));
  EXPECT_EQ(*parse_tokens(" 7 ", "x"), (Ids{7}));
  for (const char* bad : {"", " , ", "1 -2", "1,2x", "1.5", "99999999999"})
    EXPECT_FALSE(parse_tokens(bad, "x").ok()) << bad;
  EXPECT_NE(parse_tokens("1, two", "ids.txt").message().find("ids.txt: 'two' at byte 3"),
            std::string::npos);
}

TEST(Sampling, GivenOptionsLieOverTheRecommended) {
  engine::Sampling recommended;
  recommended.temperature = 0.6f;
  recommended.top_k = 20;
  SamplingOptions options;
  options.top_k = 0;
  options.seed = 5;
  EXPECT_EQ(options.over(recommended).temperature, 0.6f);
  EXPECT_EQ(options.over(recommended).top_k, 0);
  EXPECT_EQ(options.over(recommended).seed, 5u);
  SamplingOptions greedy;
  greedy.greedy = true;
  EXPECT_EQ(to_text(greedy.over(recommended)), "greedy");
  EXPECT_NE(greedy.over(recommended).seed, greedy.over(recommended).seed);
}

TEST(Sampling, CatalogueJson) {
  EXPECT_FALSE(sampling_from_json(Json()));
  EXPECT_FALSE(sampling_from_json(Json::object()));
  EXPECT_FALSE(sampling_from_json({{"temperature", "hot"}}));
  const Json json = {{"temperature", 0.6}, {"top_p", 0.95}, {"top_k", 20}};
  EXPECT_EQ(to_json(*sampling_from_json(json)), json);
  EXPECT_EQ(to_text(*sampling_from_json(json)), "temperature 0.6, top-p 0.95, top-k 20");
}

TEST(ModelFacts, TensorClasses) {
  for (const auto& [name, of] : std::vector<std::pair<const char*, const char*>>{
           {"model.layers.0.self_attn.q_proj.weight", "attention"},
           {"blk.0.attn_q.weight", "attention"},
           {"blk.0.attn_norm.weight", "norms"},
           {"model.layers.3.self_attn.q_norm.weight", "norms"},
           {"output_norm.weight", "norms"},
           {"output.weight", "head"},
           {"lm_head.weight", "head"},
           {"token_embd.weight", "embedding"},
           {"model.embed_tokens.weight", "embedding"},
           {"blk.0.ffn_down_exps.weight", "mlp"},
           {"model.layers.1.mlp.experts.7.up_proj.weight", "mlp"},
           {"model.layers.1.linear_attn.in_proj.weight", "recurrent"},
           {"blk.2.attn_output.weight", "attention"},
           {"blk.1.ssm_a", "recurrent"},
           {"rope_freqs.weight", "other"}}) {
    EXPECT_EQ(tensor_class(name), of) << name;
  }
}

TEST(Program, NearestCommand) {
  const std::vector<std::string> commands = {"run", "serve", "pull", "list", "tokenize", "logits"};
  EXPECT_EQ(nearest("rnu", commands), "run");
  EXPECT_EQ(nearest("tokenise", commands), "tokenize");
  EXPECT_EQ(nearest("tok", commands), "tokenize");
  EXPECT_EQ(nearest("frobnicate", commands), "");
}

}  // namespace
}  // namespace kapitsa::app
