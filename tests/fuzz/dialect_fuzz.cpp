// Any bytes as what a model writes, the first two saying which dialect and how it is cut: the
// events are the same however it is cut, the arguments of every whole call are a JSON object, and
// no marker of a call is in a text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/text/dialect/parsed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kapitsa::text;
  using kapitsa::Json;
  static const auto tools = std::make_shared<const ToolSet>(Json::parse(R"([
    {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {
      "path": {"type": "string"}, "n": {"type": "integer"}, "ok": {"type": "boolean"}, "x": {"type": "number"},
      "o": {"type": "object", "properties": {"i": {"$ref": "#/properties/n"}}}, "a": {"type": "array"},
      "note": {"type": ["string", "null"]}, "free": {}, "loop": {"$ref": "#/properties/loop"}}}}},
    {"type": "function", "function": {"name": "now"}}])"));
  if (size < 2) return 0;
  const Dialect& dialect = *dialects()[data[0] % dialects().size()];
  const bool opened = data[0] & 0x80, offered = !(data[0] & 0x40);
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto parser = [&] { return DialectParser(dialect, offered ? tools : nullptr, opened); };

  const Json events = parse_all(parser(), {text});
  std::vector<std::string> pieces;
  const size_t step = 1 + data[1] % 16;
  for (size_t i = 0; i < text.size(); i += step) pieces.push_back(text.substr(i, step));
  if (parse_all(parser(), pieces) != events) std::abort();
  for (const Json& event : events) {
    if (event[0] == "wrong") std::abort();
    if (event[0] != "text" && event[0] != "reasoning") continue;
    if (!offered || !dialect.calls) continue;
    const auto& said = event[1].get_ref<const std::string&>();
    for (const Spellings* markers : {&dialect.calls->open, &dialect.calls->close}) {
      for (const std::string_view marker : *markers) {
        if (said.find(marker) != said.npos) std::abort();
      }
    }
  }
  return 0;
}
