#include "api/openai_messages.h"

#include <fmt/format.h>

#include "api/answer_reader.h"

namespace kapitsa::api {
namespace {

// The text of a `content`: a string, or parts of which all are text.
std::string read_content(Params& message) {
  const Json* content = message.find("content");
  if (!content || message.failed()) return {};
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) {
    message.fail("content", fmt::format("'{}' must be a string or an array of parts, not {}",
                                        message.path_of("content"), brief(*content)));
    return {};
  }
  std::string out;
  for (size_t i = 0; i < content->size(); ++i) {
    Params part((*content)[i], fmt::format("{}[{}]", message.path_of("content"), i));
    const std::string type = part.text("type").value_or("text");
    if (type == "image_url" || type == "input_audio" || type == "file" || type == "video_url") {
      part.fail("", fmt::format("'{}' is of type '{}': this model reads text only",
                                part.path_of(""), type));
    } else if (type != "text" && type != "refusal" && type != "input_text") {
      part.fail("type", fmt::format("'{}' is '{}'; the types that can be read are: text",
                                    part.path_of("type"), brief(Json(type))));
    }
    const auto text = part.text(type == "refusal" ? "refusal" : "text");
    if (!text) part.fail("text", fmt::format("'{}' is missing", part.path_of("text")));
    message.adopt(part.error());
    if (message.failed()) return {};
    if (!out.empty()) out += "\n";
    out += *text;
  }
  return out;
}

Json read_tool_calls(Params& message) {
  Json out = Json::array();
  const Json* calls = message.array("tool_calls");
  if (!calls) return out;
  for (size_t i = 0; i < calls->size(); ++i) {
    Params call((*calls)[i], fmt::format("{}[{}]", message.path_of("tool_calls"), i));
    const Json* function = call.object("function");
    if (!function) call.fail("function", fmt::format("'{}' is missing", call.path_of("function")));
    message.adopt(call.error());
    if (message.failed()) return out;
    Params fields(*function, call.path_of("function"));
    const auto name = fields.text("name");
    if (!name) fields.fail("name", fmt::format("'{}' is missing", fields.path_of("name")));
    message.adopt(fields.error());
    if (message.failed()) return out;
    // Templates take arguments as an object; on the wire they are its JSON text.
    Json arguments = Json::object();
    if (const Json* given = fields.find("arguments")) {
      arguments = *given;
      if (given->is_string()) {
        auto parsed = parse_json(given->get_ref<const std::string&>(), "arguments");
        if (parsed.ok() && parsed->is_object()) arguments = *std::move(parsed);
      }
    }
    Json entry = {{"type", "function"}, {"function", {{"name", *name}, {"arguments", arguments}}}};
    if (const auto id = call.text("id")) entry["id"] = *id;
    out.push_back(std::move(entry));
  }
  return out;
}

Json read_message(Params& fields) {
  const auto role =
      fields.choice("role", {"system", "developer", "user", "assistant", "tool", "function"});
  if (!role) {
    fields.fail("role", fmt::format("'{}' is missing", fields.path_of("role")));
    return {};
  }
  Json out;
  out["role"] = *role == "developer" ? "system" : *role == "function" ? "tool" : *role;
  out["content"] = read_content(fields);
  if (*role == "assistant") {
    auto reasoning = fields.text("reasoning_content");
    if (!reasoning) reasoning = fields.text("reasoning");
    if (reasoning && !reasoning->empty()) out["reasoning_content"] = *reasoning;
    if (Json calls = read_tool_calls(fields); !calls.empty()) out["tool_calls"] = std::move(calls);
  }
  for (const char* extra : {"name", "tool_call_id"}) {
    if (const auto value = fields.text(extra)) out[extra] = *value;
  }
  return out;
}

}  // namespace

Json read_openai_messages(Params& params) {
  Json out = Json::array();
  const Json* messages = params.array("messages");
  if (!messages || messages->empty()) {
    params.fail("messages", "'messages' must be an array of at least one message");
    return out;
  }
  for (size_t i = 0; i < messages->size(); ++i) {
    Params fields((*messages)[i], fmt::format("messages[{}]", i));
    Json message = fields.failed() ? Json() : read_message(fields);
    params.adopt(fields.error());
    if (params.failed()) return out;
    out.push_back(std::move(message));
  }
  return out;
}

Json read_openai_tools(Params& params) {
  const Json* tools = params.array("tools");
  if (!tools || tools->empty()) return nullptr;
  for (size_t i = 0; i < tools->size(); ++i) {
    Params tool((*tools)[i], fmt::format("tools[{}]", i));
    if (tool.text("type").value_or("function") != "function") {
      tool.fail("type", fmt::format("'{}' must be 'function'", tool.path_of("type")));
    }
    const Json* function = tool.object("function");
    if (!function) tool.fail("function", fmt::format("'{}' is missing", tool.path_of("function")));
    if (function) {
      Params fields(*function, tool.path_of("function"));
      if (!fields.text("name")) {
        fields.fail("name", fmt::format("'{}' is missing", fields.path_of("name")));
      }
      fields.object("parameters");
      tool.adopt(fields.error());
    }
    params.adopt(tool.error());
  }
  return params.failed() ? Json(nullptr) : *tools;
}

bool read_openai_tool_choice(Params& params) {
  const Json* choice = params.find("tool_choice");
  if (!choice || params.failed()) return true;
  if (choice->is_string()) {
    const auto word = params.choice("tool_choice", {"auto", "none", "required"});
    if (word != "required") return word != "none";
  } else if (!choice->is_object()) {
    params.fail(
        "tool_choice",
        fmt::format("'tool_choice' must be 'auto', 'none' or an object, not {}", brief(*choice)));
  }
  params.fail("tool_choice", no_forced_calls("tool_choice", *choice));
  return true;
}

}  // namespace kapitsa::api
