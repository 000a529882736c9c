// Prefill and decode speed of a model, without sampling or text: model_bench MODEL [prompt tokens] [generated tokens] [threads]
// [runs]. Prints one line a run; compare with a peer's bench on the same file in pairs, on an idle machine.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/machine.h"
#include "engine/executor.h"
#include "engine/plan.h"

using namespace kapitsa;

namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int fail(const Status& status) {
  std::cerr << "model_bench: " << status.message() << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  if (argc < 2) {
    std::cerr << "usage: model_bench MODEL [prompt tokens] [generated tokens] [threads] [runs]\n";
    return 2;
  }
  const int prompt = argument(2, 512), generated = argument(3, 64), threads = argument(4, 0), runs = argument(5, 3);
  auto backend = backend::make({.name = "cpu", .threads = threads});
  if (!backend.ok()) return fail(backend.status());
  auto checkpoint = weights::Checkpoint::open(argv[1]);
  if (!checkpoint.ok()) return fail(checkpoint.status());
  std::unique_ptr<model::Model> model;
  const double load = seconds([&] {
    auto loaded = model::Model::load(std::make_shared<weights::Checkpoint>(*std::move(checkpoint)), **backend);
    if (!loaded.ok()) std::exit(fail(loaded.status()));
    model = *std::move(loaded);
  });
  std::cout << "# " << (*backend)->limits().device << "; loaded in " << load << " s\n";
  const int pages = (prompt + generated) / backend::kPage + 2;
  auto executor = engine::Executor::make(**backend, *model, {.cache = engine::shape_for(model->graph(), backend::KvType::kF16, 2 * pages * backend::kPage, 1), .max_outputs = 1});
  if (!executor.ok()) return fail(executor.status());

  std::vector<int32_t> tokens(static_cast<size_t>(std::max(prompt, 1)));
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>((i * 7919 + 13) % static_cast<size_t>(model->config().vocabulary));
  for (int run = 0; run < runs; ++run) {
    engine::Sequence sequence((*executor)->pools());
    double prefill = 0, decode = 0;
    Status status;
    for (size_t at = 0; at < tokens.size() && prompt > 0 && status.ok(); at += 512) {
      const engine::Span span{&sequence, std::span(tokens).subspan(at, std::min<size_t>(512, tokens.size() - at)), 1};
      prefill += seconds([&] { status = (*executor)->run(std::span(&span, 1)); });
    }
    sequence.clear();
    for (int i = 0; i < generated && status.ok(); ++i) {
      const engine::Span span{&sequence, std::span(tokens).subspan(static_cast<size_t>(i) % tokens.size(), 1), 1};
      decode += seconds([&] { status = (*executor)->run(std::span(&span, 1)); });
    }
    if (!status.ok()) return fail(status);
    std::cout << "prefill " << prompt << ": " << (prefill > 0 ? prompt / prefill : 0) << " tok/s   decode " << generated << ": "
              << (decode > 0 ? generated / decode : 0) << " tok/s\n";
  }
  std::cout << "# peak memory " << (peak_memory() >> 20) << " MB\n";
}
