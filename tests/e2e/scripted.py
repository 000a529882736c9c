"""Starts the scripted server for a test, and shows what its engine saw."""

import json
import os
import queue
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

SCRIPTS = [
    {"match": "greet", "choices": [["Hel", "lo", ", ", "wör", "ld", "!"]]},
    {"match": "reason", "choices": [["<think>", "\nhm", "m\n", "</think>", "\n\n", "42"]]},
    {"match": "opened", "choices": [["hm", "m\n</th", "ink>\n\n4", "2"]]},
    {"match": "several", "choices": [["one"], ["two"], ["three"]]},
    {"match": "slow prefill", "prefill_ms": 60000, "choices": [["late"]]},
    {"match": "endless", "endless": True, "token_ms": 5, "choices": [["word "]]},
    {"match": "flood", "endless": True, "choices": [["x" * 200 + " "]]},
    {"match": "half second", "token_ms": 50, "choices": [["tick "]], "repeat": 10},
    {"match": "quiet", "prefill_ms": 700, "choices": [["there"]]},
    {"match": "full", "refusal": {"code": "unavailable", "message": "the queue is full"}},
    {"match": "breaks", "choices": [["so ", "far"]], "failure": {"code": "internal", "message": "the device failed"}},
    {"match": "look around", "choices": [[
        "<think>", "\nI need ", "both\n", "</think>", "\n\n", "Let me ", "look.\n\n",
        "<tool_call>", "\n", "<function", "=weather", ">\n<param", "eter=city>\n", "Mün", "chen ", "\"Süd\"",
        "\n</param", "eter>\n<parameter=days>\n3\n</parameter>\n</function>\n", "</tool_call>", "\n",
        "<tool_call>", "\n<function=now>\n</function>\n", "</tool_call>"]]},
    {"match": "call and cut", "choices": [[
        "<tool_call>", "\n<function=now>\n</function>\n", "</tool_call>", "\n<tool_call>",
        "\n<function=weather>\n<parameter=city>\nMün", "chen"]]},
    {"match": "only cut", "choices": [["<tool_call>", "\n<function=weather>\n<parameter=city>\nMün"]]},
    {"match": "", "choices": [["ok"]]},
]


class Server:
    def __init__(self, **config):
        config.setdefault("scripts", SCRIPTS)
        self._file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(config, self._file)
        self._file.flush()
        self.process = subprocess.Popen(
            [os.environ["KAPITSA_SCRIPTED_SERVER"], self._file.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = int(self.wait_for("port").split()[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def _read(self):
        for line in self.process.stdout:
            self._lines.put((line.strip(), time.monotonic()))

    def wait_for(self, start, timeout=60):
        """The next line that begins with `start`."""
        return self.wait_for_timed(start, timeout)[0]

    def wait_for_timed(self, start, timeout=60):
        end = time.monotonic() + timeout
        while True:
            line = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            if line[0].startswith(start):
                return line

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port))
        sock.settimeout(60)
        return sock

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
        code = self.process.wait(60)
        self._reader.join(60)
        self.process.stdin.close()
        self.process.stdout.close()
        self._file.close()
        return code


class ServerTest(unittest.TestCase):
    config = {}

    @classmethod
    def setUpClass(cls):
        cls.server = Server(**cls.config)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.close()
        assert code == 0, f"the server ended with {code}"
