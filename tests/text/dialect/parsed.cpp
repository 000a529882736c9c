#include "tests/text/dialect/parsed.h"

namespace kapitsa::text {
namespace {

class Merged {
 public:
  void add(const DialectEvent& event) {
    using Kind = DialectEvent::Kind;
    switch (event.kind) {
      case Kind::kText:
        return prose("text", event.text);
      case Kind::kReasoning:
        return prose("reasoning", event.text);
      case Kind::kCallBegin:
        if (open_ || event.call != calls_) wrong("begin", event);
        open_ = true;
        name_ = event.text;
        arguments_.clear();
        return;
      case Kind::kArguments:
        if (!open_ || event.call != calls_ || event.text.empty()) wrong("arguments", event);
        arguments_ += event.text;
        return;
      default:
        if (!open_ || event.call != calls_ || !event.text.empty()) wrong("end", event);
        open_ = false;
        ++calls_;
        if (event.kind == Kind::kCallCut) return out.push_back({"cut", name_, arguments_});
        const Json parsed = Json::parse(arguments_, nullptr, /*allow_exceptions=*/false);
        if (!parsed.is_object()) wrong("arguments " + arguments_, event);
        out.push_back({"call", name_, parsed});
    }
  }

  Json out = Json::array();

 private:
  void prose(const char* kind, const std::string& text) {
    if (open_ || text.empty()) out.push_back({"wrong", kind, text});
    if (out.empty() || out.back()[0] != kind) return out.push_back({kind, text});
    out.back()[1] = out.back()[1].get<std::string>() + text;
  }
  void wrong(const std::string& what, const DialectEvent& event) {
    out.push_back({"wrong", what, event.text, event.call});
  }

  bool open_ = false;
  int calls_ = 0;
  std::string name_, arguments_;
};

}  // namespace

Json parse_all(DialectParser parser, const std::vector<std::string>& pieces) {
  Merged merged;
  for (const std::string& piece : pieces) {
    for (const DialectEvent& event : parser.push(piece)) merged.add(event);
  }
  for (const DialectEvent& event : parser.finish()) merged.add(event);
  return merged.out;
}

}  // namespace kapitsa::text
