// Names from foreign files, made safe for an error message.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa::weights {

// `text` with bytes that are not printable ASCII as \xNN, cut after 100 bytes.
std::string printable(std::string_view text);

}  // namespace kapitsa::weights
