#include "text/dialect/dialect.h"

#include <algorithm>

namespace kapitsa::text {

const std::vector<const Dialect*>& dialects() {
  // A variation stands before what it varies: it has one sign more.
  static const std::vector<const Dialect*> all = {&nemotron(), &qwen_xml(), &flint(),
                                                  &hermes_json(), &plain()};
  return all;
}

const Dialect& dialect_for(std::string_view template_source) {
  const auto spoken = [&](const Dialect* dialect) {
    return std::all_of(dialect->signs.begin(), dialect->signs.end(), [&](std::string_view sign) {
      return template_source.find(sign) != template_source.npos;
    });
  };
  // plain() has no signs, so there is always one.
  return **std::find_if(dialects().begin(), dialects().end(), spoken);
}

}  // namespace kapitsa::text
