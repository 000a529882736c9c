#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>

#include "base/plain_text.h"

namespace kapitsa {
namespace {

// The message itself, on one line: it quotes files and requests.
class Payload : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text = one_line({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override { return std::make_unique<Payload>(); }
};

}  // namespace

void init_logging(int verbosity) {
  auto logger = spdlog::stderr_color_mt("kapitsa");
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::err, spdlog::level::warn,
                                                   spdlog::level::info, spdlog::level::debug};
  logger->set_level(kLevels[std::clamp(verbosity + 1, 0, 3)]);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Payload>('*').set_pattern("%H:%M:%S.%e %^%l%$ %*");
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace kapitsa
