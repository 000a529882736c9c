#include "engine/executor.h"

#include <algorithm>

namespace kapitsa::engine {

Result<std::unique_ptr<Executor>> Executor::make(backend::Backend& backend, const model::Model& model, const Options& options) {
  auto executor = std::unique_ptr<Executor>(new Executor(backend, model, options));
  KAPITSA_ASSIGN(executor->cache_, backend.make_kv_cache(model.graph(), options.kv, options.pages));
  return executor;
}

Result<backend::Step*> Executor::step_for(int rows) {
  const int bucket = backend::bucket(rows);
  auto& step = steps_[bucket];
  if (!step) {
    // A decode step may want every row's logits, a prefill step only as many as the options say.
    const int outputs = bucket <= backend::kMaxDecodeRows ? bucket : std::min(bucket, options_.max_outputs);
    KAPITSA_ASSIGN(step, backend_.record(model_.graph(), *cache_, {bucket, outputs, options_.taps}));
  }
  return step.get();
}

Status Executor::prepare(int rows) {
  for (int b = backend::kPage; b <= rows; b += backend::kPage) KAPITSA_RETURN_IF_ERROR(step_for(b).status());
  for (int b = 1; b <= backend::kMaxDecodeRows; b *= 2) KAPITSA_RETURN_IF_ERROR(step_for(b).status());
  return {};
}

Status Executor::run(std::span<const Span> spans, const std::atomic<bool>* cancelled) {
  for (auto* v : {&tokens_, &positions_, &sequences_, &subtree_end_, &committed_, &page_table_, &output_rows_}) v->clear();
  size_t pages = 0;
  for (const Span& span : spans) {
    const int length = span.sequence->length + static_cast<int>(span.tokens.size());
    if (!span.sequence->reserve(length)) {
      return error(Code::kExhausted, "the KV cache of {} pages of {} tokens is full", pool_.total(), backend::kPage);
    }
    pages = std::max(pages, span.sequence->pages().size());
  }
  for (size_t s = 0; s < spans.size(); ++s) {
    const Span& span = spans[s];
    const auto first = static_cast<int>(tokens_.size()), count = static_cast<int>(span.tokens.size());
    for (int i = 0; i < count; ++i) {
      tokens_.push_back(span.tokens[static_cast<size_t>(i)]);
      positions_.push_back(span.sequence->length + i);
      sequences_.push_back(static_cast<int32_t>(s));
      subtree_end_.push_back(first + count - 1);
      if (i >= count - span.outputs) output_rows_.push_back(first + i);
    }
    committed_.push_back(span.sequence->length);
    page_table_.insert(page_table_.end(), span.sequence->pages().begin(), span.sequence->pages().end());
    page_table_.resize((s + 1) * pages, -1);
  }
  KAPITSA_ASSIGN(last_, step_for(static_cast<int>(tokens_.size())));
  const backend::Batch batch{.tokens = tokens_,
                             .positions = positions_,
                             .sequences = sequences_,
                             .subtree_end = subtree_end_,
                             .slots = positions_,
                             .committed = committed_,
                             .page_table = page_table_,
                             .pages_per_sequence = static_cast<int>(pages),
                             .output_rows = output_rows_};
  KAPITSA_RETURN_IF_ERROR(backend_.run(*last_, batch, cancelled));
  for (const Span& span : spans) span.sequence->length += static_cast<int>(span.tokens.size());
  return {};
}

}  // namespace kapitsa::engine
