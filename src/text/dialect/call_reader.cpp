#include "text/dialect/call_reader.h"

#include "text/dialect/markers.h"

namespace kapitsa::text {

bool CallReader::set_name(std::string_view name, bool known) {
  name = trim(name, kAroundNames);
  if (name.empty() || name.size() > kMaxName || name.find_first_of(" \t\r\n<>{}\"") != name.npos)
    return false;
  name_ = name;
  if (known && !tools_.has(name_)) return false;
  arguments_ = ArgumentWriter(tools_.parameters(name_));
  return true;
}

}  // namespace kapitsa::text
