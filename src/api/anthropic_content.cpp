#include "api/anthropic_content.h"

#include <fmt/format.h>

#include <map>

namespace kapitsa::api {
namespace {

void add_line(std::string& to, const std::string& text) {
  if (!to.empty() && !text.empty()) to += "\n";
  to += text;
}

class Reader {
 public:
  explicit Reader(Params& params) : params_(params) {}

  AnthropicConversation read() {
    system();
    const Json* messages = params_.array("messages");
    if (!messages || messages->empty()) {
      params_.fail("messages", "'messages' must be an array of at least one message");
      return {};
    }
    for (size_t i = 0; i < messages->size() && !params_.failed(); ++i) {
      Params fields((*messages)[i], fmt::format("messages[{}]", i));
      message(fields);
      params_.adopt(fields.error());
    }
    tools();
    take_prefill();
    return std::move(out_);
  }

 private:
  void system() {
    const std::string text = texts(params_, "system");
    if (!text.empty()) out_.messages.push_back({{"role", "system"}, {"content", text}});
  }

  // A string, or blocks of which all are text.
  std::string texts(Params& owner, std::string_view name) {
    const Json* value = owner.find(name);
    if (!value || owner.failed()) return {};
    if (value->is_string()) return value->get<std::string>();
    if (!value->is_array()) {
      owner.fail(name, fmt::format("'{}' must be a string or an array of blocks, not {}",
                                   owner.path_of(name), brief(*value)));
      return {};
    }
    std::string out;
    for (size_t i = 0; i < value->size() && !owner.failed(); ++i) {
      Params block((*value)[i], fmt::format("{}[{}]", owner.path_of(name), i));
      add_line(out, text_block(block));
      owner.adopt(block.error());
    }
    return out;
  }

  // The text of a block inside system text or a tool's result.
  std::string text_block(Params& block) {
    const std::string type = type_of(block);
    if (type == "tool_reference") {
      const std::string name = block.text("tool_name").value_or("");
      referenced_.push_back(name);
      return fmt::format("The tool {} is now available.", name);
    }
    if (type != "text") refuse(block, type, "text, tool_reference");
    return required(block, "text", "x-anthropic-billing-header:");
  }

  std::string type_of(Params& block) {
    return block.failed() ? std::string() : required(block, "type", {});
  }

  std::string required(Params& block, std::string_view name, std::string_view dropped_prefix) {
    const auto value = block.text(name);
    if (!value) {
      block.fail(name, fmt::format("'{}' is missing", block.path_of(name)));
      return {};
    }
    const bool dropped =
        !dropped_prefix.empty() && value->compare(0, dropped_prefix.size(), dropped_prefix) == 0;
    return dropped ? std::string() : *value;
  }

  void refuse(Params& block, const std::string& type, std::string_view allowed) {
    if (type == "image" || type == "document") {
      block.fail("", fmt::format("'{}' is of type '{}': this model reads text only",
                                 block.path_of(""), type));
    } else {
      block.fail("type", fmt::format("'{}' is {}; the types that can be read here are: {}",
                                     block.path_of("type"), brief(Json(type)), allowed));
    }
  }

  void message(Params& fields) {
    const auto role = fields.choice("role", {"user", "assistant", "system"});
    if (!role) return fields.fail("role", fmt::format("'{}' is missing", fields.path_of("role")));
    const Json* content = fields.find("content");
    if (!content) {
      return fields.fail("content", fmt::format("'{}' is missing", fields.path_of("content")));
    }
    if (*role == "system") {
      out_.messages.push_back({{"role", "system"}, {"content", texts(fields, "content")}});
    } else if (content->is_string()) {
      out_.messages.push_back({{"role", *role}, {"content", *content}});
    } else if (content->is_array()) {
      for_blocks(fields, *content, *role == "assistant");
    } else {
      fields.fail("content", fmt::format("'{}' must be a string or an array of blocks, not {}",
                                         fields.path_of("content"), brief(*content)));
    }
  }

  void for_blocks(Params& fields, const Json& blocks, bool assistant) {
    Json turn = {{"role", assistant ? "assistant" : "user"}, {"content", ""}};
    bool any = assistant;
    std::string text, thinking;
    for (size_t i = 0; i < blocks.size() && !fields.failed(); ++i) {
      Params block(blocks[i], fmt::format("{}[{}]", fields.path_of("content"), i));
      const std::string type = type_of(block);
      if (block.failed()) {
        // reported below
      } else if (type == "text") {
        any = true;
        add_line(text, required(block, "text", {}));
      } else if (assistant && type == "thinking") {
        add_line(thinking, required(block, "thinking", {}));
      } else if (assistant && type == "redacted_thinking") {
        // Another server's secret: nothing in it can be read.
      } else if (assistant && type == "tool_use") {
        tool_use(block, turn);
      } else if (!assistant && type == "tool_result") {
        tool_result(block);
      } else {
        refuse(block, type, assistant ? "text, thinking, tool_use" : "text, tool_result");
      }
      fields.adopt(block.error());
    }
    turn["content"] = text;
    if (!thinking.empty()) turn["reasoning_content"] = thinking;
    // A user message of results only has become tool messages.
    if (any) out_.messages.push_back(std::move(turn));
  }

  void tool_use(Params& block, Json& turn) {
    const std::string id = required(block, "id", {});
    const std::string name = required(block, "name", {});
    const Json* input = block.object("input");
    names_[id] = name;
    Json call = {{"id", id}, {"type", "function"}};
    call["function"] = {{"name", name}, {"arguments", input ? *input : Json::object()}};
    turn["tool_calls"].push_back(std::move(call));
  }

  void tool_result(Params& block) {
    const std::string id = required(block, "tool_use_id", {});
    (void)block.boolean("is_error");
    Json result = {{"role", "tool"}, {"tool_call_id", id}};
    if (const auto name = names_.find(id); name != names_.end()) result["name"] = name->second;
    result["content"] = texts(block, "content");
    out_.messages.push_back(std::move(result));
  }

  void tools() {
    const Json* tools = params_.array("tools");
    if (!tools) return;
    std::map<std::string, Json> deferred;
    Json list = Json::array();
    for (size_t i = 0; i < tools->size() && !params_.failed(); ++i) {
      Params tool((*tools)[i], fmt::format("tools[{}]", i));
      const std::string type = tool.text("type").value_or("custom");
      const std::string name = required(tool, "name", {});
      const Json* schema = tool.object("input_schema");
      Json function = {{"name", name}, {"description", tool.text("description").value_or("")}};
      function["parameters"] = schema ? *schema : Json{{"type", "object"}};
      Json entry = {{"type", "function"}, {"function", std::move(function)}};
      const bool later = tool.boolean("defer_loading").value_or(false);
      params_.adopt(tool.error());
      // Tools that run on the vendor's servers are not here.
      if (type != "custom") continue;
      if (later) {
        deferred[name] = std::move(entry);
      } else {
        list.push_back(std::move(entry));
      }
    }
    // A deferred tool joins behind the others, in the order of reference, so that the prompt so far
    // keeps its prefix.
    for (const std::string& name : referenced_) {
      if (const auto tool = deferred.find(name); tool != deferred.end()) {
        list.push_back(std::move(tool->second));
        deferred.erase(tool);
      }
    }
    if (!list.empty()) out_.tools = std::move(list);
  }

  void take_prefill() {
    if (params_.failed() || out_.messages.empty()) return;
    const Json& last = out_.messages.back();
    if (last["role"] != "assistant" || last.contains("tool_calls")) return;
    out_.prefill = last["content"].get<std::string>();
    out_.messages.erase(out_.messages.size() - 1);
    if (out_.messages.empty()) params_.fail("messages", "'messages' needs a message of the user");
  }

  Params& params_;
  AnthropicConversation out_;
  std::map<std::string, std::string> names_;  // of tools, by the id of their call
  std::vector<std::string> referenced_;
};

}  // namespace

AnthropicConversation read_anthropic_conversation(Params& params) { return Reader(params).read(); }

}  // namespace kapitsa::api
