// Finds stop strings in a stream of text, holding back what could still become one.
#pragma once

#include <string>
#include <vector>

namespace kapitsa::engine {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);

  // Takes more text; gives what can be shown for certain. Once found() is set, nothing more comes.
  std::string push(const std::string& text);
  // The end of the stream: what was held back.
  std::string finish();
  // The stop string that ended the text, empty while none did.
  const std::string& found() const { return found_; }

 private:
  std::vector<std::string> stops_;
  std::string held_, found_;
};

}  // namespace kapitsa::engine
