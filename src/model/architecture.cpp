#include "model/architecture.h"

namespace kapitsa::model {

#include "model/registry.inc"

std::vector<const Architecture*> architectures() { return {std::begin(kArchitectures), std::end(kArchitectures)}; }

}  // namespace kapitsa::model
