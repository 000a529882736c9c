// The one place that knows which backends exist.
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"

namespace kapitsa::backend {

Result<std::unique_ptr<Backend>> make(const Options& options) {
  if (options.name.empty() || options.name == "cpu") {
    return std::unique_ptr<Backend>(std::make_unique<cpu::CpuBackend>(options));
  }
  return error(Code::kInvalid, "there is no backend \"{}\" in this build; it has: cpu", options.name);
}

}  // namespace kapitsa::backend
