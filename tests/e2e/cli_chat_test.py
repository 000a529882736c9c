"""A chat, as a person at a terminal has it."""

import json
import os
import signal
import unittest

from kapitsa import STORIES, CliTest

PROMPT = r">>> "


class Chat(CliTest):
    def chat(self, *args, **env):
        terminal = self.terminal("run", self.model(), "--greedy", *args, **env)
        terminal.expect(PROMPT)
        return terminal

    def ask(self, terminal, text, answer=r"first token after [^\r\n]*\r\n"):
        terminal.line(text)
        found = terminal.expect(answer)
        terminal.expect(PROMPT)
        return found

    def test_conversation_goes_on_and_ctrl_d_leaves(self):
        chat = self.chat("-n", "30")
        self.ask(chat, "My name is Zebediah. Say hello.")
        file = self.folder / "talk.json"
        self.ask(chat, "Again, please.")
        self.ask(chat, f"/save {file}", "Saved")
        messages = json.loads(file.read_text())
        self.assertEqual([m["role"] for m in messages], ["user", "assistant", "user", "assistant"])
        self.assertEqual(messages[2]["content"], "Again, please.")
        self.ask(chat, "/stats", r"2 answers: \d+ prompt tokens")
        self.ask(chat, "/clear", "forgotten")
        text = self.folder / "talk.txt"
        self.ask(chat, f"/save {text}", "Saved")
        self.assertEqual(text.read_text(), "")
        self.ask(chat, f"/save {text}", "Saved")  # its own file it may replace
        other = self.folder / "other.txt"
        other.write_text("precious")
        self.ask(chat, f"/save {other}", "exists already")
        self.assertEqual(other.read_text(), "precious")
        chat.send("\x04")
        self.assertEqual(chat.wait(), 0)

    def test_ctrl_c_stops_the_answer_and_not_the_program(self):
        chat = self.chat()
        chat.line("Write a very long story about a dragon and a knight, with many chapters.")
        chat.expect(r"\n(?!Write a)[A-Za-z\"*#]\w+ \w+")  # not the echo of what was typed
        chat.interrupt()
        chat.expect("stopped")
        chat.expect(PROMPT)
        self.ask(chat, "/stats", "1 answer:")
        # A line that is typed is dropped, the next one is whole.
        chat.send("/nonsense that is")
        chat.expect("that is")
        chat.interrupt()
        chat.expect(r"\^C")
        chat.expect(PROMPT)
        self.ask(chat, "/system", "no system text")
        # Twice at an empty prompt: leave.
        chat.interrupt()
        chat.expect("again, or Ctrl-D, to leave")
        chat.expect(PROMPT)
        chat.interrupt()
        self.assertEqual(chat.wait(), 0)

    def test_messages_of_several_lines(self):
        chat = self.chat("-n", "4")
        chat.line('"""one')
        chat.expect(r"\.\.\. ")
        chat.line("  two")
        chat.expect(r"\.\.\. ")
        self.ask(chat, 'three"""')
        chat.line("four \\")
        chat.expect(r"\.\.\. ")
        self.ask(chat, "five")
        file = self.folder / "lines.json"
        self.ask(chat, f"/save {file}", "Saved")
        users = [m["content"] for m in json.loads(file.read_text()) if m["role"] == "user"]
        self.assertEqual(users, ["one\n  two\nthree", "four \nfive"])
        chat.line("/exit")
        self.assertEqual(chat.wait(), 0)

    def test_a_paste_is_one_message(self):
        chat = self.chat("-n", "4")
        chat.send("\x1b[200~one\r\ttwo ü\nthree\x1b[201~")
        self.ask(chat, " four")
        file = self.folder / "paste.json"
        self.ask(chat, f"/save {file}", "Saved")
        self.assertEqual(json.loads(file.read_text())[0]["content"], "one\n\ttwo ü\nthree four")
        chat.line("/exit")
        self.assertEqual(chat.wait(), 0)

    def test_commands(self):
        chat = self.chat("--system", "Be brief.")
        self.ask(chat, "/help", r"/save FILE.*\"\"\"")
        self.ask(chat, "/system", "Be brief")
        self.ask(chat, "/system Be very brief.", "is set")
        self.ask(chat, "/system", r"Be very brief\.")
        self.ask(chat, "/system -", "is removed")
        self.ask(chat, "/think on", "no thinking switch")
        self.ask(chat, "/save", "takes a file")
        self.ask(chat, "/frobnicate", "no command /frobnicate")
        self.ask(chat, "   ", "")  # nothing is asked
        self.ask(chat, "/stats", "0 answers")
        chat.line("/exit")
        self.assertEqual(chat.wait(), 0)

    def test_history_is_kept_for_the_next_chat(self):
        chat = self.chat("-n", "2")
        self.ask(chat, "Grüße aus Köln")
        chat.line("/exit")
        self.assertEqual(chat.wait(), 0)
        file = self.folder / ".local/state/kapitsa/history"
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        chat = self.chat("-n", "2")
        chat.send("\x1b[A\x1b[A")  # twice up
        chat.expect("Grüße aus Köln")
        self.ask(chat, "!")
        saved = self.folder / "talk.json"
        self.ask(chat, f"/save {saved}", "Saved")
        self.assertEqual(json.loads(saved.read_text())[0]["content"], "Grüße aus Köln!")
        chat.line("/exit")
        self.assertEqual(chat.wait(), 0)

    def test_history_goes_where_xdg_says(self):
        state = self.folder / "state"
        chat = self.chat(XDG_STATE_HOME=str(state))
        self.ask(chat, "/stats", "0 answers")
        chat.line("/exit")
        chat.wait()
        self.assertIn("stats", (state / "kapitsa/history").read_text())

    def test_colours_only_where_wanted(self):
        dim = "\x1b[2m"
        chat = self.chat("-n", "3")
        self.ask(chat, "Hi")
        self.assertIn(dim, chat.text)
        chat = self.chat("-n", "3", NO_COLOR="1")
        self.ask(chat, "Hi")
        self.assertNotIn(dim, chat.text)

    def test_termination_gives_the_terminal_back(self):
        chat = self.chat()
        os.kill(chat.pid, signal.SIGTERM)
        self.assertEqual(chat.wait(), -signal.SIGTERM)

    def test_a_model_without_template(self):
        chat = self.terminal("run", STORIES)
        chat.expect("--raw")
        self.assertEqual(chat.wait(), 1)
        chat = self.terminal("run", STORIES, "--raw", "--greedy", "-n", "12")
        chat.expect(PROMPT)
        chat.line("Once upon a time")
        chat.expect("there was a")
        chat.expect(PROMPT)
        chat.send("\x04")
        self.assertEqual(chat.wait(), 0)


if __name__ == "__main__":
    unittest.main()
