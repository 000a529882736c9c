// Converts checkpoints and computes with the results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convert/gguf_out.h"
#include "engine/executor.h"
#include "engine/plan.h"
#include "tests/weights/temporary_folder.h"
#include "weights/safetensors.h"

namespace kapitsa::convert {

using weights::TemporaryFolder;

inline std::string golden(const std::string& family) { return KAPITSA_SOURCE_DIR "/tests/golden/" + family; }

inline weights::Checkpoint open(const std::string& path) {
  auto checkpoint = weights::Checkpoint::open(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.message();
  return *std::move(checkpoint);
}

inline PlanOptions plan(const std::string& type) {
  PlanOptions out;
  out.recipe = *find_recipe(type);
  return out;
}

// Writes `from` as `to` with what most options are by default.
inline Report convert(const std::string& from, const std::string& to, const std::string& type, const Work& work = {.threads = 2}) {
  const auto checkpoint = open(from);
  auto report = write_gguf(checkpoint, to, {.plan = plan(type)}, work);
  EXPECT_TRUE(report.ok()) << report.message();
  return report.ok() ? *std::move(report) : Report{};
}

template <class T>
std::vector<T> reference(const std::string& family, const std::string& name) {
  const auto file = weights::SafetensorsFile::open(golden(family) + "/reference.safetensors");
  const weights::StoredTensor* t = file.ok() ? file->find(name) : nullptr;
  if (!t) {
    ADD_FAILURE() << family << " has no reference " << name;
    return {};
  }
  std::vector<T> out(t->bytes.size() / sizeof(T));
  std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
  return out;
}

// Of every token, in float32: [tokens][vocabulary].
inline std::vector<float> logits(const std::string& path, std::span<const int32_t> tokens) {
  auto backend = *backend::make({.name = "cpu", .threads = 2, .compute = backend::Compute::kFloat32});
  auto model = model::Model::load(std::make_shared<weights::Checkpoint>(open(path)), *backend);
  if (!model.ok()) {
    ADD_FAILURE() << model.message();
    return {};
  }
  const auto executor = *engine::Executor::make(
      *backend, **model, {.cache = engine::shape_for((*model)->graph(), backend::KvType::kF32, 800, 1), .max_outputs = 512});
  engine::Sequence sequence(executor->pools());
  const engine::Span span{&sequence, tokens, static_cast<int>(tokens.size())};
  const Status status = executor->run(std::span(&span, 1));
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<float> out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto row = executor->logits(static_cast<int>(i));
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

inline double largest_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::fabs(double{a[i]} - b[i]));
  return largest;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace kapitsa::convert
