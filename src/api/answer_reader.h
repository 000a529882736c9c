// Reads what the model writes into what an answer says: text, thoughts and tool calls.
#pragma once

#include <memory>
#include <string>

#include "api/params.h"
#include "api/service.h"
#include "text/dialect/parser.h"

namespace kapitsa::api {

// How the answers to a request are to be read.
struct AnswerForm {
  const text::Dialect* dialect = nullptr;
  std::shared_ptr<const text::ToolSet> tools;  // empty: no calls
  bool opens_reasoning = false;
  bool one_call = false;  // further calls of an answer are left out
};

// The form of answers of the served model, where `tools` (OpenAI's array, or null) are offered.
AnswerForm form_of(const Service& service, const Json& tools);

// Makes `request` show the special tokens that the reader needs.
void show_markers(const AnswerForm& form, const Service& service, engine::Request& request);

// The refusal of a `tool_choice` that demands a call: nothing makes the model write one yet.
std::string no_forced_calls(std::string_view path, const Json& asked);

class AnswerReader {
 public:
  explicit AnswerReader(const AnswerForm& form);

  // What an event of the engine adds.
  text::DialectEvents read(const engine::Event& event);
  // Of the calls so far: whether one is whole, so that a client has something to run.
  bool has_call() const { return has_call_; }

 private:
  text::DialectParser parser_;
  bool one_call_;
  bool has_call_ = false;
};

}  // namespace kapitsa::api
