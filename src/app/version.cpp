#include "app/version.h"

#include <fmt/format.h>

#include "app/version_data.h"
#include "backend/backend.h"
#include "model/architecture.h"

namespace kapitsa::app {

std::string version_text() {
  std::string out =
      fmt::format("kapitsa {}{}\n", KAPITSA_VERSION,
                  *KAPITSA_COMMIT == '\0' ? "" : fmt::format(" (commit {})", KAPITSA_COMMIT));
  if (const auto cpu = backend::make({.name = "cpu"}); cpu.ok()) {
    out += fmt::format("backends: cpu ({})\n", (*cpu)->limits().device);
  }
  std::string families;
  for (const model::Architecture* a : model::architectures()) {
    families += fmt::format("{}{}", families.empty() ? "" : ", ", a->name);
  }
  return out + fmt::format("architectures: {}\n", families);
}

}  // namespace kapitsa::app
