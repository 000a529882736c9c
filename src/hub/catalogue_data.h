// models.json as it was when this program was built.
#pragma once

#include <string_view>

namespace kapitsa::hub {

extern const std::string_view kCatalogueJson;

}  // namespace kapitsa::hub
