// What the tests of the protocols share: an engine with one script, and ways to ask.
#pragma once

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/answer.h"
#include "api/service.h"
#include "tests/support/scripted_engine.h"

namespace kapitsa::api {

class ApiTest : public ::testing::Test {
 protected:
  using Endpoint = Outcome (*)(const Service&, const Json&, const Cancel&);

  ApiTest() {
    test::Script script;
    script.choices = {{"<think>", "hm", "</think>", "Hel", "lo"}};
    engine_ = std::make_unique<test::ScriptedEngine>(std::vector<test::Script>{script});
    service_ = std::make_unique<Service>(Service{*engine_, {}});
  }

  static Json parse(std::string_view text) { return Json::parse(text); }

  // The error of a request that must have one.
  Error error_of(Endpoint endpoint, std::string_view body) {
    Outcome outcome = endpoint(*service_, parse(body), Cancel());
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) ADD_FAILURE() << "no error: " << body;
    return error ? *error : Error{};
  }

  std::unique_ptr<Answer> answer_of(Endpoint endpoint, const Json& body) {
    Outcome outcome = endpoint(*service_, body, Cancel());
    if (const auto* error = std::get_if<Error>(&outcome)) {
      ADD_FAILURE() << error->message;
      return nullptr;
    }
    return std::move(std::get<std::unique_ptr<Answer>>(outcome));
  }

  // The prompt that a request becomes.
  std::string prompt_of(Endpoint endpoint, std::string_view body) {
    const auto answer = answer_of(endpoint, parse(body));
    return answer ? engine_->words().decode(answer->requests.at(0).prompt) : std::string();
  }

  // Runs the answer's requests; the messages of a stream.
  Messages run(Answer& answer) {
    Messages out;
    const auto add = [&](Messages messages) {
      for (Message& message : messages) out.push_back(std::move(message));
    };
    if (answer.streaming) add(answer.begin());
    for (size_t i = 0; i < answer.requests.size(); ++i) {
      auto stream = engine_->submit(answer.requests[i]);
      while (const auto event = (*stream)->next()) add(answer.on_event(i, *event));
    }
    if (answer.streaming) add(answer.end());
    return out;
  }

  std::unique_ptr<test::ScriptedEngine> engine_;
  std::unique_ptr<Service> service_;
};

}  // namespace kapitsa::api
