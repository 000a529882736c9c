"""`kapitsa run` with a prompt: what goes where, seeds, pipes, signals, exit codes."""

import json
import re
import signal
import subprocess
import time
import unittest

from kapitsa import BINARY, GOLDEN, STORIES, CliTest


class Stories(CliTest):
    """A model of 260 thousand parameters that goes on with a story."""

    def test_greedy_story_word_for_word(self):
        done = self.kapitsa("run", STORIES, "--raw", "--greedy", "--max-tokens", 199, "")
        self.assertEqual(done.stdout.rstrip("\n"), (STORIES / "greedy200.txt").read_text().rstrip("\n"))

    def test_statistics_go_to_stderr_unless_unwanted(self):
        args = ("run", STORIES, "--raw", "--greedy", "-n", 20, "Once upon")
        done = self.kapitsa(*args)
        self.assertRegex(done.stderr, r"^prompt \d+ tokens, .* tok/s; answer 20 tokens, .* tok/s; first token after "
                                      r"\d+\.\d\d s; cut off: the limit of tokens was reached\n$")
        self.assertNotIn("tok/s", done.stdout)
        self.assertEqual(self.kapitsa(*args, "--no-stats").stderr, "")
        self.assertEqual(self.kapitsa("-q", *args).stderr, "")
        self.assertEqual(self.kapitsa(*args, "-q").stdout, done.stdout)

    def test_same_seed_same_text(self):
        args = ("run", STORIES, "--raw", "-n", 60, "--temperature", 1, "Once upon")
        first = self.kapitsa(*args, "--seed", 7).stdout
        self.assertEqual(self.kapitsa(*args, "--seed", 7, "--threads", 1).stdout, first)
        self.assertNotEqual(self.kapitsa(*args, "--seed", 8).stdout, first)
        # A random one is told by -v, and gives the text again.
        told = self.kapitsa(*args, "-v")
        seed = re.search(r"^seed (\d+)", told.stderr, re.M)[1]
        self.assertEqual(self.kapitsa(*args, "--seed", seed).stdout, told.stdout)
        self.assertNotEqual(self.kapitsa(*args).stdout, self.kapitsa(*args).stdout)

    def test_prompt_comes_from_arguments_and_standard_input(self):
        args = ("run", STORIES, "--raw", "--greedy", "-n", 12, "--json")
        ask = lambda *more, **how: json.loads(self.kapitsa(*args, *more, **how).stdout)
        whole = ask("Once upon a time")
        self.assertEqual(ask("Once", "upon", "a", "time")["text"], whole["text"])
        self.assertEqual(ask(input="Once upon a time")["text"], whole["text"])
        self.assertEqual(ask("Once upon", input=" a time")["text"], whole["text"])
        self.assertEqual(whole["finish_reason"], "length")
        self.assertEqual(whole["statistics"]["completion_tokens"], 12)
        # Words that are commands, too, are words here.
        self.assertEqual(ask("list", "show")["statistics"]["completion_tokens"], 12)
        self.assertEqual(ask("--", "-5 degrees")["statistics"]["completion_tokens"], 12)

    def test_sampling_options_reach_the_engine(self):
        done = self.kapitsa("run", STORIES, "--raw", "-n", 1, "--json", "--temperature", 0.5, "--top-p", 0.9, "--top-k", 5,
                            "--min-p", 0.1, "--repetition-penalty", 1.1, "--presence-penalty", 0.25,
                            "--frequency-penalty", -0.5, "x")
        self.assertEqual(json.loads(done.stdout)["sampling"],
                         {"temperature": 0.5, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "repetition_penalty": 1.1,
                          "presence_penalty": 0.25, "frequency_penalty": -0.5})

    def test_closed_pipe_ends_quietly(self):
        # `yes`-like: the reader takes one line and goes.
        command = f"'{BINARY}' run '{STORIES}' --raw --greedy -n 400 '' | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=self.env, timeout=120,
                              stdin=subprocess.DEVNULL)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("Once upon a time"))
        self.assertEqual(lines[-1], "0")
        self.assertNotIn("kapitsa:", done.stderr)

    def test_full_disk_is_said(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, "run", STORIES, "--raw", "-n", "5", "x"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, env=self.env, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "kapitsa: the output cannot be written: No space left on device\n")

    def test_a_model_without_template_is_told_of_raw(self):
        self.assertIn("--raw", self.fails("run", STORIES, "Hello"))

    def test_context_limits(self):
        told = self.fails("run", STORIES, "--raw", "--ctx", 16, "one two three four five six seven eight nine ten eleven")
        self.assertIn("16", told)
        done = self.kapitsa("run", STORIES, "--raw", "--greedy", "--ctx", 32, "Once")
        self.assertIn("cut off", done.stderr)


class Failures(CliTest):
    def test_bad_models(self):
        missing = self.folder / "missing.gguf"
        self.assertIn("missing.gguf", self.fails("run", missing, "x"))
        self.assertIn("/nowhere/at/all", self.fails("run", "/nowhere/at/all", "x"))
        for name, data in {"empty.gguf": b"", "short.gguf": b"GGUF\x03\0\0\0", "text.gguf": b"not a model" * 99}.items():
            (self.folder / name).write_bytes(data)
            self.assertIn(name, self.fails("run", self.folder / name, "x"))
        folder = self.folder / "folder"
        folder.mkdir()
        self.assertIn("folder", self.fails("run", folder, "x"))
        (folder / "config.json").write_text("{")
        self.assertIn("config.json", self.fails("run", folder, "x"))
        self.assertIn("smollm2", self.fails("run", "smolm2", "x"))
        self.assertIn("kapitsa pull", self.fails("run", "smollm2", "x"))

    def test_truncated_model(self):
        whole = (STORIES / "model.safetensors").read_bytes()
        folder = self.folder / "cut"
        folder.mkdir()
        for name in ("config.json", "tokenizer.json"):
            (folder / name).write_bytes((STORIES / name).read_bytes())
        (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
        self.assertIn("model.safetensors", self.fails("run", folder, "--raw", "x"))

    def test_wrong_use(self):
        self.assertIn("did you mean 'run'", self.fails("rnu", "x", code=2))
        self.assertIn("did you mean 'tokenize'", self.fails("tokenise", code=2))
        self.assertIn("no command 'frobnicate'", self.fails("frobnicate", code=2))
        self.assertIn("model", self.fails("run", code=2))
        for option in (["--temperature", "warm"], ["--temperature", "nan"], ["--top-p", "1.5"], ["--ctx", "0"],
                       ["--max-tokens", "-1"], ["--frobnicate"], ["--greedy", "--temperature", "1"],
                       ["--raw", "--system", "x"], ["--think", "--no-think"]):
            self.assertIn(option[0].lstrip("-"), self.fails("run", STORIES, *option, "--", "x", code=2))
        self.assertIn("no prompt", self.fails("run", STORIES, code=2))
        done = self.kapitsa(code=2)
        self.assertIn("Usage", done.stderr)

    def test_invalid_utf8_has_its_position(self):
        self.assertIn("3", self.fails("run", STORIES, "--raw", input=b"abc\xffdef"))


class SmolLM2(CliTest):
    """A real model, small and quick."""

    def test_answers_and_stops_by_itself(self):
        done = self.kapitsa("run", self.model(), "--greedy", "What is the capital of France? Answer in one sentence.")
        self.assertIn("Paris", done.stdout)
        self.assertTrue(done.stdout.endswith("\n"))
        self.assertNotIn("<|im_end|>", done.stdout)
        self.assertNotIn("cut off", done.stderr)

    def test_system_text_is_heard(self):
        args = ("run", self.model(), "--greedy", "-n", 40, "--json", "Who are you?")
        plain = json.loads(self.kapitsa(*args).stdout)
        other = json.loads(self.kapitsa(*args, "--system", "You are a pirate called Redbeard. Always say Arrr.").stdout)
        self.assertNotEqual(plain["text"], other["text"])

    def test_special_tokens_are_text_in_a_question_and_tokens_in_raw(self):
        spelled = "<|im_start|>user\nhi<|im_end|>\n"
        count = lambda *args: json.loads(self.kapitsa("run", self.model(), "--json", "-n", 1, *args).stdout)[
            "statistics"]["prompt_tokens"]
        self.assertLess(count("--raw", spelled), 8)
        self.assertGreater(count(spelled) - count("hi"), 10)

    def test_a_thinking_switch_that_does_nothing_is_noted(self):
        done = self.kapitsa("run", self.model(), "--no-think", "-n", 1, "hi")
        self.assertIn("--no-think changes nothing", done.stderr)

    def test_interrupt_ends_with_130(self):
        process = subprocess.Popen([BINARY, "run", self.model(), "Write a very long story about a dragon."],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env, stdin=subprocess.DEVNULL)
        self.assertTrue(process.stdout.read(5))  # it is answering
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(b"stopped", errors)

    def test_first_token_is_reported(self):
        start = time.monotonic()
        process = subprocess.Popen([BINARY, "run", self.model(), "--greedy", "Hello"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=self.env, stdin=subprocess.DEVNULL)
        self.assertTrue(process.stdout.read(1))
        print(f"first text of SmolLM2 {time.monotonic() - start:.2f} s after the process began")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
