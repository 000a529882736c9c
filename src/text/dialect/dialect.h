// How a family of models writes thoughts and tool calls. A dialect is data: one streaming parser
// (parser.h) works from it, and a grammar can be written from it, so no syntax stands anywhere
// else.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace kapitsa::text {

// One marker in all its spellings: first the one that models are trained on, then drifts that are
// read too.
using Spellings = std::vector<std::string_view>;

// A call in tags:
//   name_open NAME name_close { key_open KEY key_close value_open VALUE value_close } close
// A VALUE whose schema says string is the raw text; every other one is JSON text.
struct TaggedForm {
  Spellings
      name_open;  // empty: the name stands bare behind the wrapper, up to white space or a marker
  Spellings name_close;  // empty with name_open
  Spellings key_open;
  Spellings key_close;
  Spellings value_open;  // empty: the value follows the key at once
  Spellings value_close;
  Spellings close;           // of the call; empty: the wrapper's end closes it
  std::string_view padding;  // written once on each side of a value, and no part of it
};

// A call as one JSON object {NAME_KEY: NAME, ARGUMENTS_KEY: {...}}.
struct JsonForm {
  Spellings name_keys;
  Spellings arguments_keys;
};

struct CallForm {
  std::variant<TaggedForm, JsonForm> body;
  // Read without the wrapper's opener too, where the tool's name is one that was offered and what
  // follows it is a call: tagged forms anywhere, JSON at the start of an answer.
  bool without_open = false;
};

struct CallSyntax {
  Spellings open;  // the wrapper
  Spellings close;
  std::string_view gap;  // the white space that the template writes between markers; any is read
  std::vector<CallForm> forms;  // first the one that models are trained on
};

struct ThinkingSyntax {
  Spellings open;
  Spellings close;
  std::string_view
      after_open;  // the white space that the template writes inside and behind the tags;
  std::string_view before_close;  // line breaks there belong to the tags, however many come
  std::string_view after_close;
};

struct Dialect {
  std::string_view name;
  // It is spoken by the models whose chat template holds all of these.
  std::vector<std::string_view> signs;
  ThinkingSyntax thinking;
  std::optional<CallSyntax> calls;
};

// One file each.
const Dialect& plain();
const Dialect& hermes_json();
const Dialect& qwen_xml();
const Dialect& nemotron();
const Dialect& flint();

// The calls of three of them, which others read as drifts.
CallForm json_call();  // hermes_json.cpp
CallForm xml_call();   // qwen_xml.cpp
CallForm pair_call();  // flint.cpp

// All dialects, in the order in which dialect_for() asks them.
const std::vector<const Dialect*>& dialects();

// The dialect of the models that `template_source`, a chat template, is written for; plain() for an
// unknown one.
const Dialect& dialect_for(std::string_view template_source);

}  // namespace kapitsa::text
