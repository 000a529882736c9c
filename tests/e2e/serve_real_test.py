"""`kapitsa serve` with a real model, as the official SDKs drive it."""

import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import anthropic
import openai

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "fixtures" / "smollm2.gguf"
PAGE = 64  # tokens of keys and values that are kept together
KV_BYTES = 30 * 3 * 64 * 2 * 2  # of a token: layers, heads, head size, keys and values, two bytes each


class RealServer:
    def __init__(self, *args):
        assert MODEL.exists(), f"{MODEL} is missing: run scripts/fixtures"
        self._home = tempfile.TemporaryDirectory()
        env = {"PATH": os.environ["PATH"], "HOME": self._home.name, "HF_HUB_OFFLINE": "1"}
        env.update({name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
                    if name in os.environ})
        self.process = subprocess.Popen(
            [os.environ["KAPITSA_BINARY"], "serve", "--model", MODEL, "--port", "0", *args],
            stdout=subprocess.PIPE, env=env, text=True)
        lines = queue.Queue()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        self.url = re.search(r"http://127\.0\.0\.1:\d+", lines.get(timeout=120)).group()

    def _read(self, lines):
        for line in self.process.stdout:
            lines.put(line)
        lines.put("the server ended")

    def health(self):
        with urllib.request.urlopen(self.url + "/health", timeout=60) as answer:
            return json.load(answer)

    def peak_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+) kB", status).group(1)) * 1024

    def end(self):
        """The exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stdout.close()
        self._home.cleanup()
        return code


def user(text):
    return [{"role": "user", "content": text}]


class RealModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = RealServer("--alias", "*")
        cls.openai = openai.OpenAI(base_url=cls.server.url + "/v1", api_key="none", max_retries=0)
        cls.anthropic = anthropic.Anthropic(base_url=cls.server.url, api_key="none", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.openai.close()
        cls.anthropic.close()
        code = cls.server.end()
        assert code == 0, f"the server ended with {code}"

    def chat(self, text, **fields):
        return self.openai.chat.completions.create(model="any", messages=user(text), **fields)

    def message(self, text, **fields):
        return self.anthropic.messages.create(model="any", messages=user(text), **fields)

    def test_openai_whole_and_streamed_are_the_same_text(self):
        ask = dict(text="Name three colours.", seed=7, temperature=0.8, max_tokens=24)
        whole = self.chat(**ask)
        text = whole.choices[0].message.content
        self.assertTrue(text.strip())
        chunks = list(self.chat(**ask, stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), text)
        self.assertGreater(sum(bool(c.choices and c.choices[0].delta.content) for c in chunks), 1)
        finish = [c.choices[0].finish_reason for c in chunks if c.choices][-1]
        self.assertEqual(finish, whole.choices[0].finish_reason)
        for usage in (whole.usage, chunks[-1].usage):
            self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
            self.assertEqual(usage.prompt_tokens, whole.usage.prompt_tokens)
            self.assertEqual(usage.completion_tokens, whole.usage.completion_tokens)
            self.assertLessEqual(usage.completion_tokens, 24)
        self.assertNotEqual(self.chat(**{**ask, "seed": 8}).choices[0].message.content, text)

    def test_two_choices(self):
        ask = dict(text="Tell me of the sea.", seed=3, temperature=1, max_tokens=12)
        both = self.chat(**ask, n=2)
        self.assertEqual([c.index for c in both.choices], [0, 1])
        texts = [c.message.content for c in both.choices]
        self.assertNotEqual(*texts)
        # What is computed beside it changes nothing in an answer.
        self.assertEqual(self.chat(**ask).choices[0].message.content, texts[0])
        streamed = {0: "", 1: ""}
        for chunk in self.chat(**ask, n=2, stream=True):
            for choice in chunk.choices:
                streamed[choice.index] += choice.delta.content or ""
        self.assertEqual([streamed[0], streamed[1]], texts)

    def test_stop(self):
        ask = dict(text="Count from 1 to 9 with commas: 1, 2,", temperature=0, max_tokens=40)
        text = self.chat(**ask).choices[0].message.content
        stop = text[len(text) // 2:][:3]
        answer = self.chat(**ask, stop=[stop]).choices[0]
        self.assertEqual((answer.message.content, answer.finish_reason), (text[:text.index(stop)], "stop"))
        message = self.message(**ask, stop_sequences=[stop])
        self.assertEqual((message.content[0].text, message.stop_reason, message.stop_sequence),
                         (text[:text.index(stop)], "stop_sequence", stop))

    def test_anthropic_whole_and_streamed_are_the_same_text(self):
        ask = dict(text="Name three colours.", temperature=0, max_tokens=16)
        whole = self.message(**ask)
        text = whole.content[0].text
        self.assertTrue(text.strip())
        with self.anthropic.messages.stream(model="any", messages=user(ask["text"]), temperature=0,
                                            max_tokens=16) as stream:
            self.assertEqual("".join(stream.text_stream), text)
            last = stream.get_final_message()
        self.assertEqual((last.stop_reason, last.usage.output_tokens),
                         (whole.stop_reason, whole.usage.output_tokens))
        self.assertLessEqual(whole.usage.output_tokens, 16)
        count = self.anthropic.messages.count_tokens(model="any", messages=user(ask["text"]))
        self.assertEqual(whole.usage.input_tokens, count.input_tokens)
        self.assertEqual(self.chat(**ask).choices[0].message.content, text)

    def test_who_leaves_frees_the_slot(self):
        # Without its end token the model would go on until the context is full, minutes from now.
        endless = {str(token): -100 for token in (0, 2)}
        stream = self.chat("Write a long story.", stream=True, logit_bias=endless, max_tokens=8000)
        for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                break
        self.assertEqual(self.server.health()["running"], 1)
        stream.close()
        end = time.monotonic() + 60
        while self.server.health()["running"] > 0:
            self.assertLess(time.monotonic(), end, "the request is still running")
            time.sleep(0.05)
        self.assertTrue(self.chat("Hi", max_tokens=4).choices[0].message.content)


class Memory(unittest.TestCase):
    @unittest.skipIf(os.environ.get("KAPITSA_SANITIZE"), "sanitizers keep memory of their own")
    def test_one_copy_of_the_weights(self):
        server = RealServer()
        with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
            usage = client.chat.completions.create(model="smollm2.gguf", messages=user("Hello"), max_tokens=16).usage
        peak = server.peak_bytes()
        self.assertEqual(server.end(), 0)
        pages = -(-usage.total_tokens // PAGE)
        limit = MODEL.stat().st_size + pages * PAGE * KV_BYTES + (64 << 20)
        print(f"peak {peak}, limit {limit}")
        self.assertLess(peak, limit)
