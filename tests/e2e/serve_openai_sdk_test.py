"""The official OpenAI SDK against the server."""

import json

import openai

from scripted import ServerTest


def user(text):
    return [{"role": "user", "content": text}]


class OpenAiSdk(ServerTest):
    config = {"api_key": "sk-local", "aliases": ["gpt-4o"]}

    def setUp(self):
        self.client = openai.OpenAI(base_url=self.server.url + "/v1", api_key="sk-local", max_retries=0)
        self.addCleanup(self.client.close)

    def chat(self, text, **kwargs):
        return self.client.chat.completions.create(model="scripted", messages=user(text), **kwargs)

    def test_whole_chat(self):
        answer = self.chat("greet")
        self.assertEqual(answer.choices[0].message.content, "Hello, wörld!")
        self.assertEqual(answer.choices[0].message.role, "assistant")
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertEqual(answer.usage.completion_tokens, 7)
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + 7)
        self.assertEqual(answer.usage.prompt_tokens_details.cached_tokens, 4)
        self.assertTrue(answer.id.startswith("chatcmpl-"))

    def test_streamed_chat(self):
        chunks = list(self.chat("greet", stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), "Hello, wörld!")
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual([c.choices[0].finish_reason for c in chunks if c.choices][-1], "stop")
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(chunks[-1].usage.completion_tokens, 7)
        self.assertTrue(all(c.usage is None for c in chunks[:-1]))
        self.assertEqual(len({c.id for c in chunks}), 1)

    def test_stream_helper(self):
        with self.client.chat.completions.stream(model="gpt-4o", messages=user("greet")) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        self.assertEqual(final.choices[0].message.content, "Hello, wörld!")
        self.assertEqual(final.model, "gpt-4o")

    def test_reasoning_is_apart(self):
        answer = self.chat("reason").choices[0].message
        self.assertEqual((answer.reasoning_content, answer.content), ("hmm", "42"))
        chunks = [c.choices[0].delta for c in self.chat("reason", stream=True) if c.choices]
        self.assertEqual("".join(getattr(d, "reasoning_content", None) or "" for d in chunks), "hmm")
        self.assertEqual("".join(d.content or "" for d in chunks), "42")

    def test_reasoning_opened_by_the_template(self):
        answer = self.chat("opened", reasoning_effort="high").choices[0].message
        self.assertEqual((answer.reasoning_content, answer.content), ("hmm", "42"))

    def test_several_choices(self):
        answer = self.chat("several", n=3)
        self.assertEqual([(c.index, c.message.content) for c in answer.choices], [(0, "one"), (1, "two"), (2, "three")])
        self.assertEqual(answer.usage.completion_tokens, 6)
        texts = {}
        for chunk in self.chat("several", n=3, stream=True):
            for choice in chunk.choices:
                texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
        self.assertEqual(texts, {0: "one", 1: "two", 2: "three"})

    def test_logprobs(self):
        answer = self.chat("greet", logprobs=True, top_logprobs=2)
        content = answer.choices[0].logprobs.content
        self.assertEqual("".join(t.token for t in content), "Hello, wörld!")
        self.assertEqual(bytes(b for t in content for b in t.bytes).decode(), "Hello, wörld!")
        self.assertEqual([len(t.top_logprobs) for t in content], [2] * 6)
        self.assertEqual(content[0].logprob, -0.25)
        streamed = [t.token for c in self.chat("greet", logprobs=True, stream=True)
                    if c.choices and c.choices[0].logprobs for t in c.choices[0].logprobs.content]
        self.assertEqual("".join(streamed), "Hello, wörld!")

    def test_stop_and_length(self):
        answer = self.chat("greet", stop=[", w"]).choices[0]
        self.assertEqual((answer.message.content, answer.finish_reason), ("Hello", "stop"))
        answer = self.chat("greet", max_tokens=2).choices[0]
        self.assertEqual((answer.message.content, answer.finish_reason), ("Hello", "length"))
        answer = self.chat("greet", max_completion_tokens=1, max_tokens=3).choices[0]
        self.assertEqual(answer.message.content, "Hel")

    def test_completions(self):
        answer = self.client.completions.create(model="scripted", prompt="greet", max_tokens=100, logprobs=2)
        self.assertEqual(answer.choices[0].text, "Hello, wörld!")
        logprobs = answer.choices[0].logprobs
        self.assertEqual("".join(logprobs.tokens), "Hello, wörld!")
        self.assertEqual(logprobs.text_offset, [0, 3, 5, 7, 10, 12])
        stream = self.client.completions.create(model="scripted", prompt="greet", max_tokens=3, stream=True)
        chunks = list(stream)
        self.assertEqual("".join(c.choices[0].text for c in chunks), "Hello, ")
        self.assertEqual(chunks[-1].choices[0].finish_reason, "length")

    def test_completions_of_several_prompts(self):
        answer = self.client.completions.create(model="scripted", prompt=["greet", "several"], n=2, max_tokens=50)
        self.assertEqual([(c.index, c.text) for c in answer.choices],
                         [(0, "Hello, wörld!"), (1, "Hello, wörld!"), (2, "one"), (3, "two")])
        ids = list(b"greet")
        for prompt in (ids, [ids]):
            answer = self.client.completions.create(model="scripted", prompt=prompt, echo=True, max_tokens=1)
            self.assertEqual(answer.choices[0].text, "greetHel")

    def test_models(self):
        models = {m.id: m for m in self.client.models.list()}
        self.assertEqual(set(models), {"scripted", "gpt-4o"})
        self.assertEqual(models["scripted"].context_length, 4096)
        self.assertEqual(self.client.models.retrieve("gpt-4o").id, "gpt-4o")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("other")

    def test_wrong_fields_are_named(self):
        for kwargs, param in (({"temperature": -1}, "temperature"), ({"n": 0}, "n"), ({"top_p": 2}, "top_p"),
                              ({"max_tokens": "many"}, "max_tokens"), ({"stop": [1]}, "stop"),
                              ({"logit_bias": {"x": 1}}, "logit_bias"), ({"top_logprobs": 3}, "top_logprobs"),
                              ({"response_format": {"type": "json_object"}}, "response_format.type")):
            with self.assertRaises(openai.BadRequestError) as caught:
                self.chat("greet", **kwargs)
            self.assertEqual(caught.exception.param, param)
            self.assertEqual(caught.exception.type, "invalid_request_error")
            self.assertIn(param, str(caught.exception))

    def test_images_are_refused_by_name(self):
        content = [{"type": "text", "text": "what is it?"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
        with self.assertRaises(openai.BadRequestError) as caught:
            self.client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": content}])
        self.assertIn("messages[0].content[1]", str(caught.exception))
        self.assertIn("text only", str(caught.exception))

    def test_errors(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.client.chat.completions.create(model="other", messages=user("greet"))
        self.assertEqual(caught.exception.code, "model_not_found")
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat("x" * 5000)
        self.assertEqual(caught.exception.code, "context_length_exceeded")
        self.assertRegex(str(caught.exception), r"maximum context length is 4096 tokens.* 50\d\d tokens")
        with self.assertRaises(openai.InternalServerError) as caught:
            self.chat("full")
        self.assertEqual(caught.exception.status_code, 503)
        self.assertEqual(caught.exception.response.headers["retry-after"], "2")
        wrong = openai.OpenAI(base_url=self.server.url + "/v1", api_key="wrong", max_retries=0)
        self.addCleanup(wrong.close)
        with self.assertRaises(openai.AuthenticationError):
            wrong.models.list()

    def test_failure_while_it_runs(self):
        with self.assertRaises(openai.InternalServerError) as caught:
            self.chat("breaks")
        self.assertIn("the device failed", str(caught.exception))
        text = ""
        with self.assertRaises(openai.APIError) as caught:
            for chunk in self.chat("breaks", stream=True):
                text += chunk.choices[0].delta.content or ""
        self.assertEqual(text, "so far")
        self.assertIn("the device failed", str(caught.exception))

    def test_leaving_a_stream_ends_its_work(self):
        stream = self.chat("endless", stream=True)
        for _, _chunk in zip(range(5), stream):
            pass
        stream.close()
        self.server.wait_for("cancel")


WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}


class ToolsOfChat(ServerTest):
    config = {"dialect": "qwen_xml"}

    def setUp(self):
        self.client = openai.OpenAI(base_url=self.server.url + "/v1", api_key="none", max_retries=0)
        self.addCleanup(self.client.close)

    def chat(self, text, **kwargs):
        kwargs = {"model": "scripted", "messages": user(text), "tools": [WEATHER, NOW], **kwargs}
        return self.client.chat.completions.create(**kwargs)

    def check(self, choice):
        self.assertEqual(choice.finish_reason, "tool_calls")
        self.assertEqual(choice.message.content, "Let me look.")
        self.assertEqual(choice.message.reasoning_content, "I need both")
        calls = choice.message.tool_calls
        self.assertEqual([(c.type, c.function.name) for c in calls], [("function", "weather"), ("function", "now")])
        self.assertEqual([json.loads(c.function.arguments) for c in calls],
                         [{"city": 'München "Süd"', "days": 3}, {}])
        self.assertEqual(len({c.id for c in calls}), 2)

    def test_whole(self):
        self.check(self.chat("look around").choices[0])

    def test_streamed(self):
        chunks = [c.choices[0] for c in self.chat("look around", stream=True)]
        calls = {}
        for chunk in chunks:
            for delta in chunk.delta.tool_calls or []:
                if delta.id:
                    self.assertNotIn(delta.index, calls)
                    calls[delta.index] = [delta.function.name, ""]
                calls[delta.index][1] += delta.function.arguments
        self.assertEqual({i: (name, json.loads(text)) for i, (name, text) in calls.items()},
                         {0: ("weather", {"city": 'München "Süd"', "days": 3}), 1: ("now", {})})
        self.assertEqual("".join(c.delta.content or "" for c in chunks), "Let me look.")
        self.assertEqual(chunks[-1].finish_reason, "tool_calls")

    def test_stream_helper(self):
        with self.client.chat.completions.stream(model="scripted", messages=user("look around"),
                                                 tools=[WEATHER, NOW]) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        calls = final.choices[0].message.tool_calls
        self.assertEqual([json.loads(c.function.arguments) for c in calls],
                         [{"city": 'München "Süd"', "days": 3}, {}])

    def test_results_go_back(self):
        first = self.chat("look around").choices[0].message
        messages = [*user("greet"), first.model_dump(exclude_none=True)]
        messages += [{"role": "tool", "tool_call_id": c.id, "content": "rain"} for c in first.tool_calls]
        self.assertEqual(self.chat("", messages=messages).choices[0].message.content, "Hello, wörld!")

    def test_one_call_at_most(self):
        message = self.chat("look around", parallel_tool_calls=False).choices[0].message
        self.assertEqual([c.function.name for c in message.tool_calls], ["weather"])

    def test_a_call_that_is_cut_is_not_finished(self):
        choice = self.chat("only cut").choices[0]
        self.assertEqual((choice.finish_reason, choice.message.content), ("stop", None))
        self.assertEqual(choice.message.tool_calls[0].function.arguments, '{"city":"Mün')
        choice = self.chat("look around", max_tokens=17).choices[0]
        self.assertEqual(choice.finish_reason, "length")
        self.assertEqual(choice.message.tool_calls[0].function.name, "weather")
        self.assertEqual(self.chat("call and cut").choices[0].finish_reason, "tool_calls")

    def test_tool_choice(self):
        choice = self.chat("look around", tool_choice="none").choices[0]
        self.assertEqual((choice.finish_reason, choice.message.tool_calls), ("stop", None))
        self.assertIn("<tool_call>", choice.message.content)
        self.check(self.chat("look around", tool_choice="auto").choices[0])
        for forced in ("required", {"type": "function", "function": {"name": "weather"}}):
            with self.assertRaises(openai.BadRequestError) as caught:
                self.chat("look around", tool_choice=forced)
            self.assertEqual(caught.exception.param, "tool_choice")
            self.assertIn("cannot be forced", str(caught.exception))

    def test_without_tools_markers_are_text(self):
        choice = self.chat("look around", tools=[]).choices[0]
        self.assertEqual(choice.finish_reason, "stop")
        self.assertTrue(choice.message.content.startswith("Let me look.\n\n<tool_call>\n<function=weather>"))


class HeartbeatOfChat(ServerTest):
    config = {"heartbeat_ms": 100}

    def test_silence_is_filled(self):
        client = openai.OpenAI(base_url=self.server.url + "/v1", api_key="none", max_retries=0)
        self.addCleanup(client.close)
        chunks = list(client.chat.completions.create(model="scripted", messages=user("quiet"), stream=True))
        empty = [c for c in chunks if c.choices and not c.choices[0].delta.content and not c.choices[0].finish_reason]
        self.assertGreater(len(empty), 2)
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), "there")
