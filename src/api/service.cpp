#include "api/service.h"

#include <algorithm>

namespace kapitsa::api {

bool Service::serves(std::string_view name) const {
  return name == info().id || std::any_of(aliases.begin(), aliases.end(), [&](const auto& alias) {
           return alias == name || alias == "*";
         });
}

std::string Service::names() const {
  std::string out = info().id;
  for (const std::string& alias : aliases) out += ", " + alias;
  return out;
}

}  // namespace kapitsa::api
