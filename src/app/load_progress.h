// Shows how far the loading of a model (or other work) is, on a terminal, where it takes long enough
// to be wondered at.
#pragma once

#include <chrono>
#include <string>

namespace kapitsa::app {

class LoadProgress {
 public:
  // On stderr, behind `title` ("loading smollm2"); `show` false: never says anything.
  LoadProgress(std::string title, bool show);
  ~LoadProgress() { finish(); }

  void update(double share);
  // Takes the bar away again.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  bool show_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace kapitsa::app
