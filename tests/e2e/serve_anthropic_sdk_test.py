"""The official Anthropic SDK against the server."""

import anthropic

from scripted import ServerTest


class AnthropicSdk(ServerTest):
    config = {"api_key": "sk-local", "aliases": ["*"], "heartbeat_ms": 100}

    def setUp(self):
        self.client = anthropic.Anthropic(base_url=self.server.url, api_key="sk-local", max_retries=0)
        self.addCleanup(self.client.close)

    def ask(self, text, **kwargs):
        kwargs = {"model": "scripted", "max_tokens": 100, "messages": [{"role": "user", "content": text}], **kwargs}
        return self.client.messages.create(**kwargs)

    def test_whole(self):
        answer = self.ask("greet", system="be kind", model="claude-sonnet-4-5")
        self.assertEqual([b.text for b in answer.content], ["Hello, wörld!"])
        self.assertEqual((answer.stop_reason, answer.stop_sequence), ("end_turn", None))
        self.assertEqual(answer.model, "claude-sonnet-4-5")
        self.assertEqual(answer.usage.output_tokens, 7)
        self.assertEqual(answer.usage.cache_read_input_tokens, 4)

    def test_event_order(self):
        types = [e.type for e in self.ask("greet", stream=True)]
        self.assertEqual(types[0], "message_start")
        # The SDK keeps pings to itself.
        self.assertEqual(types[1], "content_block_start")
        self.assertEqual(types[-3:], ["content_block_stop", "message_delta", "message_stop"])
        self.assertEqual(set(types[2:-3]), {"content_block_delta"})

    def test_stream_helper_with_thinking(self):
        with self.client.messages.stream(model="scripted", max_tokens=2000,
                                         thinking={"type": "enabled", "budget_tokens": 1024},
                                         messages=[{"role": "user", "content": "opened"}]) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        self.assertEqual(text, "42")
        self.assertEqual([b.type for b in final.content], ["thinking", "text"])
        self.assertEqual(final.content[0].thinking, "hmm")
        self.assertTrue(final.content[0].signature)
        self.assertEqual(final.stop_reason, "end_turn")
        self.assertEqual(final.usage.output_tokens, 5)

    def test_thoughts_come_back(self):
        first = self.ask("reason")
        self.assertEqual([b.type for b in first.content], ["thinking", "text"])
        replay = [{"role": "user", "content": "reason"},
                  {"role": "assistant", "content": [b.model_dump() for b in first.content]},
                  {"role": "user", "content": "go on"}]
        self.assertEqual(self.ask("", messages=replay).content[-1].text, "42")

    def test_stop_sequence_and_length(self):
        answer = self.ask("greet", stop_sequences=["wör"])
        self.assertEqual((answer.content[0].text, answer.stop_reason, answer.stop_sequence),
                         ("Hello, ", "stop_sequence", "wör"))
        self.assertEqual(self.ask("greet", max_tokens=1).stop_reason, "max_tokens")
        events = list(self.ask("greet", stop_sequences=["wör"], stream=True))
        self.assertEqual(events[-2].delta.stop_sequence, "wör")

    def test_tools_and_results_are_read(self):
        answer = self.ask("", tools=[{"name": "ls", "description": "list", "input_schema": {"type": "object"}}],
                          messages=[
            {"role": "user", "content": [{"type": "text", "text": "greet", "cache_control": {"type": "ephemeral"}}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {"p": "."}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a b", "is_error": False},
                                         {"type": "text", "text": "and now?"}]}])
        self.assertEqual(answer.content[0].text, "Hello, wörld!")

    def test_count_tokens(self):
        messages = [{"role": "user", "content": "greet"}]
        count = self.client.messages.count_tokens(model="scripted", messages=messages).input_tokens
        usage = self.ask("greet").usage
        self.assertEqual(count, usage.input_tokens + usage.cache_read_input_tokens)

    def test_models(self):
        models = self.client.models.list(limit=1000).data
        self.assertEqual([m.id for m in models], ["scripted"])
        self.assertEqual(models[0].display_name, "scripted")
        self.assertEqual(self.client.models.retrieve("scripted").type, "model")

    def test_errors(self):
        with self.assertRaises(anthropic.BadRequestError) as caught:
            self.ask("x" * 5000)
        self.assertRegex(caught.exception.body["error"]["message"],
                         r"^prompt is too long: 50\d\d tokens > 4096 maximum$")
        self.assertEqual(caught.exception.body["error"]["type"], "invalid_request_error")
        self.assertEqual(caught.exception.body["request_id"], caught.exception.request_id)
        with self.assertRaises(anthropic.APIStatusError) as caught:
            self.ask("full")
        self.assertEqual(caught.exception.status_code, 529)
        self.assertEqual(caught.exception.body["error"]["type"], "overloaded_error")
        self.assertEqual(caught.exception.response.headers["retry-after"], "2")
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
        with self.assertRaises(anthropic.BadRequestError) as caught:
            self.ask([image])
        self.assertIn("messages[0].content[0]", str(caught.exception))
        wrong = anthropic.Anthropic(base_url=self.server.url, api_key="wrong", max_retries=0)
        self.addCleanup(wrong.close)
        with self.assertRaises(anthropic.AuthenticationError):
            wrong.models.list()

    def test_failure_in_mid_stream(self):
        with self.assertRaises(anthropic.APIStatusError) as caught:
            for _ in self.ask("breaks", stream=True):
                pass
        self.assertEqual(caught.exception.body["error"]["type"], "api_error")
        self.assertIn("the device failed", str(caught.exception))

    def test_leaving_a_stream_ends_its_work(self):
        with self.client.messages.stream(model="scripted", max_tokens=4000,
                                         messages=[{"role": "user", "content": "endless"}]) as stream:
            for _, _text in zip(range(3), stream.text_stream):
                pass
        self.server.wait_for("cancel")


class ToolsOfMessages(ServerTest):
    config = {"dialect": "qwen_xml"}
    tools = [{"name": "weather", "input_schema": {"type": "object", "required": ["city"], "properties": {
                 "city": {"type": "string"}, "days": {"type": "integer"}}}},
             {"name": "now", "input_schema": {"type": "object", "properties": {}}}]

    def setUp(self):
        self.client = anthropic.Anthropic(base_url=self.server.url, api_key="none", max_retries=0)
        self.addCleanup(self.client.close)

    def arguments(self, text, **kwargs):
        return {"model": "scripted", "max_tokens": 100, "messages": [{"role": "user", "content": text}],
                "tools": self.tools, **kwargs}

    def ask(self, text, **kwargs):
        return self.client.messages.create(**self.arguments(text, **kwargs))

    def check(self, answer):
        self.assertEqual(answer.stop_reason, "tool_use")
        self.assertEqual([b.type for b in answer.content], ["thinking", "text", "tool_use", "tool_use"])
        thinking, text, first, second = answer.content
        self.assertEqual((thinking.thinking, text.text), ("I need both", "Let me look."))
        self.assertTrue(thinking.signature)
        self.assertEqual((first.name, first.input), ("weather", {"city": 'München "Süd"', "days": 3}))
        self.assertEqual((second.name, second.input), ("now", {}))
        self.assertNotEqual(first.id, second.id)

    def test_whole(self):
        self.check(self.ask("look around"))

    def test_streamed(self):
        with self.client.messages.stream(**self.arguments("look around")) as stream:
            partial = [e.partial_json for e in stream if e.type == "input_json"]
            self.check(stream.get_final_message())
        self.assertEqual("".join(partial), '{"city":"München \\"Süd\\"","days":3}{}')
        events = list(self.ask("look around", stream=True))
        starts = [e for e in events if e.type == "content_block_start"]
        self.assertEqual([(e.index, e.content_block.type) for e in starts],
                         [(0, "thinking"), (1, "text"), (2, "tool_use"), (3, "tool_use")])
        self.assertEqual([e.index for e in events if e.type == "content_block_stop"], [0, 1, 2, 3])

    def test_results_go_back(self):
        first = self.ask("look around")
        results = [{"type": "tool_result", "tool_use_id": b.id, "content": "rain"}
                   for b in first.content if b.type == "tool_use"]
        answer = self.ask("", messages=[{"role": "user", "content": "greet"},
                                        {"role": "assistant", "content": [b.model_dump() for b in first.content]},
                                        {"role": "user", "content": results}])
        self.assertEqual(answer.content[0].text, "Hello, wörld!")

    def test_tool_choice(self):
        answer = self.ask("look around", tool_choice={"type": "none"})
        self.assertEqual((answer.stop_reason, answer.content[-1].type), ("end_turn", "text"))
        answer = self.ask("look around", tool_choice={"type": "auto", "disable_parallel_tool_use": True})
        self.assertEqual([b.type for b in answer.content], ["thinking", "text", "tool_use"])
        for forced in ({"type": "any"}, {"type": "tool", "name": "now"}):
            with self.assertRaises(anthropic.BadRequestError) as caught:
                self.ask("look around", tool_choice=forced)
            self.assertIn("tool_choice.type", str(caught.exception))

    def test_a_call_that_is_cut_is_not_finished(self):
        answer = self.ask("only cut")
        self.assertEqual((answer.stop_reason, answer.content), ("end_turn", []))
        answer = self.ask("look around", max_tokens=17)
        self.assertEqual((answer.stop_reason, [b.type for b in answer.content]), ("max_tokens", ["thinking", "text"]))
        answer = self.ask("call and cut")
        self.assertEqual((answer.stop_reason, [b.name for b in answer.content]), ("tool_use", ["now"]))
