#include "engine/executor.h"

#include <algorithm>

namespace kapitsa::engine {

Result<std::unique_ptr<Executor>> Executor::make(backend::Backend& backend, const model::Model& model, const Options& options) {
  auto executor = std::unique_ptr<Executor>(new Executor(backend, model, options));
  KAPITSA_ASSIGN(executor->cache_, backend.make_cache(model.graph(), options.cache));
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

Status Executor::reserve(std::span<const Span> spans) {
  for (const Span& span : spans) {
    const int length = span.sequence->length + static_cast<int>(span.tokens.size());
    if (span.sequence->reserve(length)) continue;
    std::string free;
    for (int g = 0; g < pools_.groups(); ++g) free += fmt::format("{}{} of {}", g > 0 ? ", " : "", pools_.pages(g).free(), pools_.pages(g).total());
    if (pools_.stateful()) free += fmt::format("; states free: {} of {}", pools_.states().free(), pools_.states().total());
    return error(Code::kExhausted, "the cache is full: {} tokens do not fit; pages of {} tokens free: {}", length, backend::kPage, free);
  }
  return {};
}

Status Executor::run(std::span<const Span> spans, const std::atomic<bool>* cancelled) {
  for (auto* v : {&tokens_, &positions_, &sequences_, &subtree_end_, &committed_, &page_table_, &states_, &output_rows_}) v->clear();
  KAPITSA_RETURN_IF_ERROR(reserve(spans));
  size_t width = 0;
  for (const Span& span : spans) width = std::max(width, static_cast<size_t>(pages_for(span.sequence->length + static_cast<int>(span.tokens.size()))));
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
    states_.push_back(span.sequence->state());
  }
  for (int g = 0; g < pools_.groups(); ++g) {
    for (const Span& span : spans) {
      const auto& pages = span.sequence->pages(g);
      const size_t end = page_table_.size() + width;
      page_table_.insert(page_table_.end(), pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(std::min(width, pages.size())));
      page_table_.resize(end, -1);
    }
  }
  KAPITSA_ASSIGN(last_, step_for(static_cast<int>(tokens_.size())));
  const backend::Batch batch{.tokens = tokens_,
                             .positions = positions_,
                             .sequences = sequences_,
                             .subtree_end = subtree_end_,
                             .slots = positions_,
                             .committed = committed_,
                             .page_table = page_table_,
                             .pages_per_sequence = static_cast<int>(width),
                             .states = states_,
                             .output_rows = output_rows_};
  const Status status = backend_.run(*last_, batch, cancelled);
  if (!status.ok()) {
    if (pools_.stateful()) {
      for (const Span& span : spans) span.sequence->clear();
    }
    return status;
  }
  for (const Span& span : spans) {
    span.sequence->length += static_cast<int>(span.tokens.size());
    span.sequence->drop_behind_window();
  }
  return {};
}

Status Executor::fork(const Sequence& sequence, Sequence& copy) {
  if (!copy.share(sequence)) return error(Code::kExhausted, "there is no room for a copy of {} tokens", sequence.length);
  const int tail = sequence.length / backend::kPage;
  if (sequence.length % backend::kPage != 0) {
    for (int g = 0; g < pools_.groups(); ++g) {
      cache_->copy_page(g, sequence.pages(g)[static_cast<size_t>(tail)], copy.pages(g)[static_cast<size_t>(tail)]);
    }
  }
  if (sequence.state() >= 0) cache_->copy_state(sequence.state(), copy.state());
  return {};
}

}  // namespace kapitsa::engine
