"""`logits`, `tokenize`, `show`, `completion`, `--version`, `--help`."""

import json
import shutil
import subprocess
import unittest

import numpy
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from kapitsa import GOLDEN, ROOT, STORIES, CliTest


class Logits(CliTest):
    def logits(self, model, *args):
        out = self.folder / "out.safetensors"
        self.kapitsa("logits", model, "--out", out, *args)
        return load_file(out)

    def test_agree_with_the_reference(self):
        for family in ("llama", "qwen2", "qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_moe", "nemotron_h", "flint"):
            with self.subTest(family):
                folder = GOLDEN / family
                want = load_file(folder / "reference.safetensors")
                got = self.logits(folder, "--tokens", folder / "reference.safetensors", "--hidden", "--compute", "f32",
                                  "--kv", "f32")
                self.assertEqual(got["logits"].shape, want["logits"].shape)
                self.assertLessEqual(numpy.abs(got["logits"] - want["logits"]).max(), 2e-3)
                hidden = [name for name in want if name.startswith("hidden.")]
                self.assertEqual(sorted(hidden), sorted(name for name in got if name.startswith("hidden.")))
                for name in hidden:
                    self.assertLessEqual(numpy.abs(got[name][-16:] - want[name]).max(), 2e-3, name)

    def test_bits_do_not_depend_on_chunks_or_threads(self):
        for family in ("llama", "qwen2", "qwen3"):
            folder = GOLDEN / family
            args = ("--tokens", folder / "reference.safetensors")
            whole = self.logits(folder, *args, "--chunk", 512)["logits"].tobytes()
            for more in (["--chunk", 1], ["--chunk", 7], ["--chunk", 64], ["--threads", 1], ["--threads", 3]):
                self.assertEqual(self.logits(folder, *args, *more)["logits"].tobytes(), whole, (family, more))

    def test_a_model_beside_a_vision_tower_and_a_draft_head(self):
        """The layout of ForConditionalGeneration: a nested config, another prefix, parts that are kept for later."""
        for family in ("qwen3_5", "qwen3_5_moe"):
            folder = self.folder / family
            folder.mkdir()
            config = json.loads((GOLDEN / family / "config.json").read_text())
            nested = {"model_type": family, "architectures": ["ForConditionalGeneration"], "text_config": config,
                      "vision_config": {"depth": 1}, "tie_word_embeddings": config["tie_word_embeddings"]}
            (folder / "config.json").write_text(json.dumps(nested))
            data = (GOLDEN / family / "model.safetensors").read_bytes()
            size = int.from_bytes(data[:8], "little")
            header, body = json.loads(data[8:8 + size]), data[8 + size:]
            renamed = {name.replace("model.", "model.language_model.", 1) if name.startswith("model.") else name: value
                       for name, value in header.items()}
            for name in ("model.visual.blocks.0.norm1.weight", "mtp.fc.weight", "mtp.layers.0.mlp.gate.weight"):
                renamed[name] = {"dtype": "F32", "shape": [2], "data_offsets": [len(body), len(body) + 8]}
                body += bytes(8)
            text = json.dumps(renamed).encode()
            (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + body)
            args = ("--tokens", GOLDEN / family / "reference.safetensors")
            self.assertEqual(self.logits(folder, *args)["logits"].tobytes(), self.logits(GOLDEN / family, *args)["logits"].tobytes())

    def test_ways_to_give_tokens(self):
        ids = [1, 5, 300]
        want = self.logits(STORIES, "--tokens", "1,5,300")["logits"].tobytes()
        text, tensors = self.folder / "ids.txt", self.folder / "ids.safetensors"
        text.write_text("[1, 5,\n 300]\n")
        save_file({"tokens": numpy.array(ids, dtype=numpy.int32)}, tensors)
        for source in (text, tensors, "[1, 5, 300]"):
            self.assertEqual(self.logits(STORIES, "--tokens", source)["logits"].tobytes(), want)

    def test_failures_leave_no_file(self):
        out = self.folder / "out.safetensors"
        short, floats = self.folder / "bad.txt", self.folder / "floats.safetensors"
        short.write_text("1 2 x 4")
        save_file({"tokens": numpy.zeros(3, dtype=numpy.float32)}, floats)
        for tokens, word in (("1,512", "512"), (short, "'x'"), (floats, "I32"), (self.folder / "none", "no such file"),
                             (",", "no token ids"), ("1,,2", "missing"), (",".join(["1"] * 600), "512")):
            self.assertIn(word, self.fails("logits", STORIES, "--tokens", tokens, "--out", out))
        for odd, word in (([], "empty"), ([-5, 1], "token -5"), ([1, 512], "token 512")):
            save_file({"tokens": numpy.array(odd, dtype=numpy.int32)}, floats)
            self.assertIn(word, self.fails("logits", STORIES, "--tokens", floats, "--out", out))
        self.assertIn("tpu", self.fails("logits", STORIES, "--tokens", "1", "--out", out, "--backend", "tpu"))
        self.assertIn("nowhere", self.fails("logits", STORIES, "--tokens", "1", "--out", self.folder / "nowhere/o"))
        self.assertIn("kv", self.fails("logits", STORIES, "--tokens", "1", "--out", out, "--kv", "f64", code=2))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["bad.txt", "floats.safetensors"])

    def test_the_input_is_not_overwritten(self):
        model, tokens = self.folder / "m", self.folder / "tokens.safetensors"
        shutil.copytree(STORIES, model)
        save_file({"tokens": numpy.array([1, 2], dtype=numpy.int32)}, tokens)
        before = (model / "model.safetensors").read_bytes()
        link = self.folder / "link"
        link.symlink_to(model / "model.safetensors")
        for out in (model / "model.safetensors", link, tokens):
            self.assertIn("would be lost", self.fails("logits", model, "--tokens", tokens, "--out", out))
        self.assertEqual((model / "model.safetensors").read_bytes(), before)
        target = self.folder / "target"
        target.write_text("old")
        link.unlink()
        link.symlink_to(target)
        self.kapitsa("logits", model, "--tokens", "1,2", "--out", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(load_file(target)["logits"].shape, (2, 512))

    def test_damaged_weights_are_said(self):
        broken = self.folder / "model"
        shutil.copytree(STORIES, broken)
        tensors = load_file(broken / "model.safetensors")
        tensors["model.norm.weight"][:] = numpy.nan
        save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
        error = self.fails("logits", broken, "--tokens", "1,2", "--out", self.folder / "out.safetensors")
        self.assertIn("1024 of the logits are not finite", error)
        self.assertIn("no number", self.fails("run", broken, "--raw", "Once"))


class Tokenize(CliTest):
    TEXT = "Hello wörld,  <|im_end|> 12 🙂\n"

    def test_ids_and_pieces(self):
        oracle = Tokenizer.from_file(str(STORIES / "tokenizer.json"))
        text = "Once upon a time, Lily said \"ü\""
        want = oracle.encode(text, add_special_tokens=False)
        got = json.loads(self.kapitsa("tokenize", STORIES, "--json", text).stdout)
        self.assertEqual(got, {"ids": want.ids, "pieces": want.tokens})
        self.assertEqual(self.kapitsa("tokenize", STORIES, "--ids", text).stdout, ",".join(map(str, want.ids)) + "\n")
        self.assertEqual(self.kapitsa("tokenize", STORIES, "--ids", input=text).stdout, ",".join(map(str, want.ids)) + "\n")
        table = self.kapitsa("tokenize", STORIES, text).stdout.splitlines()
        self.assertEqual([int(line.split()[0]) for line in table], want.ids)

    def test_special_tokens_only_where_they_are_meant(self):
        ids = lambda *args: json.loads(self.kapitsa("tokenize", self.model(), "--json", *args).stdout)["ids"]
        end = ids("--trusted", "<|im_end|>")
        self.assertEqual(len(end), 1)
        self.assertNotIn(end[0], ids(self.TEXT))
        self.assertIn(end[0], ids("--trusted", self.TEXT))
        shown = ids("--template", self.TEXT)
        self.assertGreaterEqual(shown.count(end[0]), 1)
        self.assertLess(shown.count(end[0]), ids("--template", "--system", "x", self.TEXT).count(end[0]) + 1)

    def test_failures(self):
        self.assertIn("4", self.fails("tokenize", STORIES, input=b"abcd\xc3("))
        self.assertIn("template", self.fails("tokenize", STORIES, "--template", "x"))
        self.assertIn("tokenizer.json", self.fails("tokenize", GOLDEN / "llama", "x"))


class Show(CliTest):
    def test_facts_of_a_real_model(self):
        facts = json.loads(self.kapitsa("show", self.model(), "--json", "--ctx", 2048).stdout)
        self.assertEqual((facts["architecture"], facts["layers"], facts["context"]), ("llama", 30, 8192))
        self.assertAlmostEqual(facts["parameters"] / 134.5e6, 1, delta=0.01)
        self.assertEqual({c["class"] for c in facts["tensors"]}, {"attention", "mlp", "embedding", "norms"})
        self.assertEqual(sum(c["bytes"] for c in facts["tensors"]), facts["memory"][0]["weights"])
        self.assertEqual(facts["memory"][0]["cache"], 2048 * 30 * 3 * 64 * 2 * 2)
        self.assertTrue(facts["template"]["present"])
        # This file recommends nothing, and a path has no row in the catalogue.
        self.assertIn("default", facts["sampling_from"])
        text = self.kapitsa("show", self.model()).stdout
        for word in ("llama", "8192 tokens", "Q4_1", "memory at", "tokenizer", "template", "sampling"):
            self.assertIn(word, text)

    def test_every_family_and_one_that_does_not_run(self):
        for family in ("llama", "qwen2", "qwen3", "stories260k", "qwen3_moe", "qwen3_5", "qwen3_5_moe", "nemotron_h", "flint"):
            self.assertIn("memory at", self.kapitsa("show", GOLDEN / family).stdout)
        self.assertIn("4 attention, 5 attention in a window of 17", self.kapitsa("show", GOLDEN / "flint").stdout)
        self.assertIn("1 attention, 4 recurrent", self.kapitsa("show", GOLDEN / "nemotron_h").stdout)
        self.assertIn("8 experts, 2 of them a token", self.kapitsa("show", GOLDEN / "qwen3_5_moe").stdout)
        other = self.folder / "mamba"
        other.mkdir()
        save_file({"backbone.layers.0.mixer.A_log": numpy.zeros(4, dtype=numpy.float32)}, other / "model.safetensors")
        (other / "config.json").write_text(json.dumps({"model_type": "mamba9", "num_hidden_layers": 3}))
        text = self.kapitsa("show", other).stdout
        self.assertIn("mamba9: this build cannot run it", text)
        self.assertFalse(json.loads(self.kapitsa("show", other, "--json").stdout)["runs_in_this_build"])
        self.assertIn("mamba9", self.fails("run", other, "--raw", "x"))

    def test_recommended_sampling_is_the_files(self):
        folder = self.folder / "model"
        folder.mkdir()
        for file in STORIES.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        (folder / "generation_config.json").write_text('{"temperature": 0.6, "top_k": 20, "top_p": 0.95}')
        facts = json.loads(self.kapitsa("show", folder, "--json").stdout)
        want = {"temperature": 0.6, "top_p": 0.95, "top_k": 20}
        self.assertEqual(facts["sampling"], want)
        ran = json.loads(self.kapitsa("run", folder, "--raw", "--json", "-n", 1, "x").stdout)
        self.assertEqual(ran["sampling"], want)
        ran = json.loads(self.kapitsa("run", folder, "--raw", "--json", "-n", 1, "--top-k", 3, "x").stdout)
        self.assertEqual(ran["sampling"], {**want, "top_k": 3})

    def test_the_catalogue_speaks_where_the_files_do_not(self):
        repo = self.folder / ".cache/huggingface/hub/models--tiny--stories"
        snapshot = repo / "snapshots" / ("0" * 40)
        snapshot.mkdir(parents=True)
        (repo / "refs").mkdir()
        (repo / "refs/main").write_text("0" * 40)
        for file in STORIES.iterdir():
            (snapshot / file.name).write_bytes(file.read_bytes())
        catalogue = self.folder / ".config/kapitsa/models.json"
        catalogue.parent.mkdir(parents=True)
        variant = {"name": "f32", "repo": "tiny/stories", "revision": "main", "format": "safetensors", "part": "",
                   "files": None, "size": 1000000, "bits": 32, "min_memory": None}
        entry = {"aliases": ["stories"], "title": "Stories", "architecture": "llama", "parameters": 260000,
                 "context": 512, "licence": "mit", "sampling": {"temperature": 0.3}, "verified": False, "note": None,
                 "variants": [variant]}
        version = json.loads((ROOT / "src/hub/models.json").read_text())["version"]
        catalogue.write_text(json.dumps({"version": version, "models": [entry]}))

        def check(temperature, source):
            facts = json.loads(self.kapitsa("show", "stories", "--json").stdout)
            self.assertEqual(facts["sampling"], {"temperature": temperature})
            self.assertTrue(facts["sampling_from"].startswith(source), facts["sampling_from"])
            ran = json.loads(self.kapitsa("run", "stories", "--raw", "--json", "-n", 1, "x").stdout)
            self.assertEqual(ran["sampling"], {"temperature": temperature})
        check(0.3, "the catalogue")
        (snapshot / "generation_config.json").write_text('{"temperature": 0.6}')
        check(0.6, "the model's files")


class Program(CliTest):
    def test_version_and_help(self):
        version = self.kapitsa("--version").stdout
        self.assertRegex(version, r"^kapitsa \d+\.\d+\.\d+.*\nbackends: cpu \(.*\)\narchitectures: .*qwen3")
        text = self.kapitsa("--help").stdout
        for command in ("run", "serve", "pull", "list", "show", "rm", "tokenize", "logits", "completion"):
            self.assertIn(command, text)
            self.assertIn("Usage", self.kapitsa(command, "--help").stdout)
        # -m names the model as well, so the positional one is not asked for.
        self.assertNotIn("REQUIRED", self.kapitsa("serve", "--help").stdout)
        self.assertIn("no model was named", self.fails("serve", code=2))
        self.assertIn("--api-key is empty", self.fails("serve", STORIES, "--api-key", "", code=2))
        self.assertIn("--ctx has no value", self.fails("run", "--ctx=", STORIES, "--raw", "x", code=2))
        for seed in ("-1", "18446744073709551616", "1.5"):
            self.assertIn("whole number", self.fails("run", STORIES, "--raw", "x", "--seed", seed, code=2))

    def test_no_command(self):
        self.assertIn("no command was given", self.fails("-v", code=2))

    def test_completion(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.kapitsa("completion", shell).stdout
            for word in ("tokenize", "max-tokens", "list --names"):
                self.assertIn(word, script)
        self.assertIn("csh", self.fails("completion", "csh", code=2))
        script = self.kapitsa("completion", "bash").stdout
        ask = script + "\nCOMP_WORDS=(kapitsa tok); COMP_CWORD=1; _kapitsa; echo ${COMPREPLY[@]}" \
            + "\nCOMP_WORDS=(kapitsa run --top); COMP_CWORD=2; _kapitsa; echo ${COMPREPLY[@]}"
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, env=self.env)
        self.assertEqual(done.stdout, "tokenize\n--top-p --top-k\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
