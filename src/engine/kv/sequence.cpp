#include "engine/kv/sequence.h"

namespace kapitsa::engine {

bool Sequence::reserve(int tokens) {
  if (state_ < 0 && pools_->stateful()) {
    state_ = pools_->states().take();
    if (state_ < 0) return false;
  }
  for (int g = 0; g < pools_->groups(); ++g) {
    auto& pages = pages_[static_cast<size_t>(g)];
    while (static_cast<int>(pages.size()) < pages_for(tokens)) {
      const int32_t page = pools_->pages(g).take();
      if (page < 0) return false;
      pages.push_back(page);
    }
  }
  return true;
}

void Sequence::drop_behind_window() {
  for (int g = 0; g < pools_->groups(); ++g) {
    if (pools_->window(g) == 0) continue;
    // The next token sees itself and window - 1 positions before it.
    const int seen = length - pools_->window(g) + 1;
    auto& pages = pages_[static_cast<size_t>(g)];
    for (int p = seen / backend::kPage - 1; p >= 0 && pages[static_cast<size_t>(p)] >= 0; --p) {
      pools_->pages(g).release(pages[static_cast<size_t>(p)]);
      pages[static_cast<size_t>(p)] = -1;
    }
  }
}

void Sequence::clear() {
  for (int g = 0; g < static_cast<int>(pages_.size()); ++g) {
    for (const int32_t page : pages_[static_cast<size_t>(g)]) {
      if (page >= 0) pools_->pages(g).release(page);
    }
    pages_[static_cast<size_t>(g)].clear();
  }
  if (state_ >= 0) pools_->states().release(state_);
  state_ = -1;
  length = 0;
}

bool Sequence::share(const Sequence& other) {
  clear();
  const int whole = other.length / backend::kPage;
  for (int g = 0; g < pools_->groups(); ++g) {
    const auto& theirs = other.pages(g);
    for (int p = 0; p < whole; ++p) {
      const int32_t page = theirs[static_cast<size_t>(p)];
      if (page >= 0) pools_->pages(g).share(page);
      pages_[static_cast<size_t>(g)].push_back(page);
    }
  }
  if (!reserve(other.length)) {
    clear();
    return false;
  }
  length = other.length;
  return true;
}

}  // namespace kapitsa::engine
