// The few things about URLs that decide where a token may go.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace kapitsa::hub {

// "scheme://host:port" with the port written out; a token is sent only to the endpoint's own
// origin.
Result<std::string> origin(const std::string& url);

// The host, and the port where it is not the usual one: for messages.
std::string host_of(const std::string& url);

// Where `location` (absolute or relative) leads from `base`. Refuses anything but http and https,
// and a step down from https to http.
Result<std::string> redirect_target(const std::string& base, const std::string& location);

// Percent-encodes all but unreserved characters and '/'.
std::string escape_path(std::string_view path);

// Percent-encodes '/' too: a revision such as "refs/pr/1" is one step of a URL's path.
std::string escape_segment(std::string_view segment);

}  // namespace kapitsa::hub
