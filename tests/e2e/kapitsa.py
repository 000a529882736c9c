"""Drives the built program for the tests beside this file."""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
STORIES = GOLDEN / "stories260k"
SMOLLM2 = ROOT / "fixtures" / "smollm2.gguf"
BINARY = os.environ["KAPITSA_BINARY"]


class CliTest(unittest.TestCase):
    """Each test has an empty home; nothing goes to the network."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "HF_HUB_OFFLINE": "1",
            "TERM": "xterm",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def kapitsa(self, *args, input=b"", code=0, **more):
        """Runs it to its end; its output as text."""
        if isinstance(input, str):
            input = input.encode()
        done = subprocess.run([BINARY, *map(str, args)], input=input, capture_output=True, env=self.env,
                              timeout=300, **more)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}{done.stderr}")
        return done

    def fails(self, *args, code=1, input=b""):
        """Runs it to a failure: nothing on stdout, and one sentence on stderr, which is returned."""
        done = self.kapitsa(*args, code=code, input=input)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertTrue(lines[0].startswith("kapitsa: "), done.stderr)
        self.assertEqual(len(lines), 2 if code == 2 and lines[-1].startswith("Try ") else 1, done.stderr)
        return lines[0]

    def model(self):
        self.assertTrue(SMOLLM2.exists(), f"{SMOLLM2} is missing: run scripts/fixtures")
        return SMOLLM2

    def terminal(self, *args, **env):
        terminal = Terminal([BINARY, *map(str, args)], {**self.env, **env})
        self.addCleanup(terminal.kill)
        return terminal


class Terminal:
    """The program on a terminal of its own, as a person has it."""

    def __init__(self, command, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, env)
        self.text = ""
        self._bytes = b""
        self._seen = 0
        self._code = None

    def send(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        self.send(text + "\r")

    def expect(self, pattern, timeout=120):
        """Waits for a regular expression in what has come since the last one that was found."""
        end = time.monotonic() + timeout
        while True:
            found = re.compile(pattern, re.S).search(self.text, self._seen)
            if found:
                self._seen = found.end()
                return found
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{pattern!r} did not come; the terminal shows:\n{self.text}")

    def _read(self, timeout):
        if timeout <= 0 or not select.select([self.fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the program is gone
            data = b""
        self._bytes += data
        self.text = self._bytes.decode(errors="ignore")
        return bool(data)

    def interrupt(self):
        self.send("\x03")

    def wait(self, timeout=60):
        """The exit code, negative for a signal."""
        end = time.monotonic() + timeout
        while self._code is None:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                raise AssertionError(f"it did not end; the terminal shows:\n{self.text}")
        return self._code

    def kill(self):
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
