"""HTTP itself, over raw sockets: what clients, browsers and attackers send, and how work ends."""

import http.client
import json
import random
import socket
import threading
import time

from scripted import Server, ServerTest


def post(path, body, *headers, length=None):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json",
            f"Content-Length: {len(data) if length is None else length}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + data


def chat(text, **fields):
    return {"messages": [{"role": "user", "content": text}], **fields}


def read_response(sock, method="POST"):
    """(status, headers, body) of one response; leaves the connection where it is."""
    response = http.client.HTTPResponse(sock, method=method)
    response.begin()
    return response.status, dict((k.lower(), v) for k, v in response.getheaders()), response.read()


def read_until(sock, mark):
    data = b""
    while mark not in data:
        more = sock.recv(4096)
        if not more:
            raise AssertionError(f"the connection ended before {mark!r}: {data!r}")
        data += more
    return data


class Http(ServerTest):
    config = {"body_limit": 1 << 20}

    def send(self, data, method="POST"):
        with self.server.connect() as sock:
            sock.sendall(data)
            return read_response(sock, method)

    def alive(self):
        status, _, body = self.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET")
        self.assertEqual((status, json.loads(body)["status"]), (200, "ok"))

    def error(self, data, method="POST"):
        status, headers, body = self.send(data, method)
        self.assertEqual(headers["content-type"], "application/json")
        return status, json.loads(body)["error"]

    def test_malformed_requests(self):
        for data, status in ((b"hello\r\n\r\n", 400), (b"GET /health HTTP/3.0\r\n\r\n", 505),
                             (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400),
                             (post("/v1/messages", b"", length="x"), 400),
                             (b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabc", 400),
                             (b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", 400)):
            self.assertEqual(self.error(data)[0], status, data)
        self.alive()

    def test_random_bytes(self):
        rng = random.Random(5)
        for i in range(100):
            data = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400)))
            if i % 2:
                good = bytearray(post("/v1/chat/completions", chat("greet")))
                for _ in range(5):
                    good[rng.randrange(len(good))] = rng.randrange(256)
                data = bytes(good)
            with self.server.connect() as sock:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                try:
                    while sock.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
        self.alive()

    def test_bad_json(self):
        for body in (b"", b"{", b'{"messages": [', b"[1]", b"nul", b'"text"', b"\xff\xfe", b"[" * 100000,
                     b'{"messages": [{"role": "user", "content": "\\ud800"}]}', b'{"temperature": 1e999}'):
            status, error = self.error(post("/v1/chat/completions", body))
            self.assertEqual((status, error["type"]), (400, "invalid_request_error"), body[:40])
            status, error = self.error(post("/v1/messages", body))
            self.assertEqual((status, error["type"]), (400, "invalid_request_error"), body[:40])
        self.alive()

    def test_huge_headers_and_bodies(self):
        self.assertEqual(self.error(b"GET /health HTTP/1.1\r\nX: " + b"a" * 200000 + b"\r\n\r\n", "GET")[0], 431)
        # Refused by its length alone, before a byte of it is read.
        self.assertEqual(self.error(post("/v1/messages", b"", length=1 << 40))[0], 413)
        # Sent whole all the same: the client still gets to read why.
        status, _, body = self.send(post("/v1/messages", b"x" * (4 << 20)))
        self.assertEqual((status, json.loads(body)["error"]["type"]), (413, "request_too_large"))
        chunked = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertEqual(self.error(chunked + b"200000\r\n" + b"x" * 0x200000 + b"\r\n0\r\n\r\n")[0], 413)
        self.alive()

    def test_chunked_request_and_continue(self):
        body = json.dumps(chat("greet")).encode()
        head = ("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n").encode()
        with self.server.connect() as sock:
            sock.sendall(head)
            self.assertEqual(read_until(sock, b"\r\n\r\n"), b"HTTP/1.1 100 Continue\r\n\r\n")
            for i in range(0, len(body), 7):
                part = body[i:i + 7]
                sock.sendall(b"%x\r\n%s\r\n" % (len(part), part))
            sock.sendall(b"0\r\n\r\n")
            self.assertEqual(read_response(sock)[0], 200)
        with self.server.connect() as sock:
            sock.sendall(post("/nothing", b"", "Expect: 100-continue", length=1000))
            self.assertEqual(read_response(sock)[0], 404)

    def test_methods_and_paths(self):
        self.assertEqual(self.error(post("/v1/nothing", {}))[0], 404)
        status, headers, _ = self.send(b"GET /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET")
        self.assertEqual((status, headers["allow"]), (405, "POST, OPTIONS"))
        status, headers, body = self.send(b"HEAD /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["content-length"]), 10)
        self.assertEqual(self.send(b"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET")[0], 200)
        self.assertEqual(self.send(b"HEAD /api/hello HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD")[0], 404)
        form = post("/v1/completions", b"a=b").replace(b"application/json", b"application/x-www-form-urlencoded")
        status, error = self.error(form)
        self.assertEqual(status, 415)
        self.assertIn("Content-Type: application/json", error["message"])
        self.assertEqual(self.send(post("/v1/messages?beta=true", chat("greet")))[0], 200)

    def test_keep_alive_and_pipelining(self):
        with self.server.connect() as sock:
            for _ in range(3):
                sock.sendall(post("/v1/chat/completions", chat("greet")))
                status, headers, _ = read_response(sock)
                self.assertEqual((status, headers["connection"]), (200, "keep-alive"))
            sock.sendall(post("/v1/chat/completions", chat("greet", stream=True)))
            self.assertIn(b"[DONE]", read_response(sock)[2])
            sock.sendall(post("/v1/chat/completions", chat("several")) + b"GET /health HTTP/1.1\r\n\r\n" +
                         post("/v1/chat/completions", chat("greet")))
            # One reader for all three: it may take more than one response from the socket at a time.
            data = b""
            while data.count(b"HTTP/1.1 200") < 3 or b"world" not in data.replace("wö".encode(), b"wo"):
                data += sock.recv(4096)
            self.assertLess(data.index(b"one"), data.index(b'"status":"ok"'))
            self.assertLess(data.index(b'"status":"ok"'), data.index(b"Hello"))

    def test_http_1_0(self):
        with self.server.connect() as sock:
            sock.sendall(post("/v1/chat/completions", chat("greet", stream=True)).replace(b"HTTP/1.1", b"HTTP/1.0"))
            data = b""
            while more := sock.recv(4096):
                data += more
        self.assertNotIn(b"chunked", data)
        self.assertTrue(data.endswith(b"data: [DONE]\n\n"))

    def test_browsers(self):
        def ask(origin, method="POST"):
            return (f"{method} /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\n"
                    "Access-Control-Request-Headers: authorization\r\n\r\n").encode()
        status, headers, _ = self.send(ask("http://localhost:3000", "OPTIONS"))
        self.assertEqual((status, headers["access-control-allow-origin"]), (204, "http://localhost:3000"))
        self.assertEqual(headers["access-control-allow-headers"], "authorization")
        self.assertEqual(self.send(ask("http://127.0.0.1", "GET"), "GET")[0], 200)
        for origin in ("https://evil.example", "http://localhost.evil.example", "null"):
            status, headers, _ = self.send(ask(origin, "GET"), "GET")
            self.assertEqual(status, 403)
            self.assertNotIn("access-control-allow-origin", headers)
        # A name of somebody else's that was pointed to this machine.
        self.assertEqual(self.send(b"GET /health HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n", "GET")[0], 403)

    def test_client_leaves_in_prefill(self):
        for stream in (False, True):
            sock = self.server.connect()
            sock.sendall(post("/v1/chat/completions", chat("slow prefill", stream=stream)))
            self.server.wait_for("submit")
            sock.close()
            left = time.monotonic()
            print("cancelled after", self.server.wait_for_timed("cancel")[1] - left, "s")

    def test_client_leaves_in_mid_stream(self):
        sock = self.server.connect()
        sock.sendall(post("/v1/messages", chat("endless", stream=True)))
        read_until(sock, b"content_block_delta")
        sock.close()
        self.server.wait_for("cancel")

    def test_reader_who_stalls(self):
        with self.server.connect() as stalled:
            stalled.sendall(post("/v1/chat/completions", chat("flood", stream=True, max_tokens=30000)))
            # The engine comes to its end although nobody reads, and others are served meanwhile.
            self.server.wait_for("end", 60)
            self.alive()
            data = b""
            while b"[DONE]" not in data[-200:]:
                data += stalled.recv(1 << 20)
        # Every word is there once the reader goes on.
        self.assertGreaterEqual(data.count(b"x" * 200), 30000)

    def test_a_hundred_connections(self):
        texts = []

        def ask():
            with self.server.connect() as sock:
                sock.sendall(post("/v1/chat/completions", chat("half second")))
                texts.append(json.loads(read_response(sock)[2])["choices"][0]["message"]["content"])
        threads = [threading.Thread(target=ask) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, ["tick " * 10] * 100)


class SlowClients(ServerTest):
    config = {"head_ms": 300, "body_stall_ms": 300, "idle_ms": 400, "write_stall_ms": 500}

    def test_slow_head(self):
        with self.server.connect() as sock:
            for byte in b"GET /health HTTP/1.1\r\nX-Slow: " + b"a" * 20:
                try:
                    sock.sendall(bytes([byte]))
                except (BrokenPipeError, ConnectionResetError):
                    break
                time.sleep(0.03)
            self.assertEqual(read_response(sock)[0], 408)

    def test_body_that_never_ends(self):
        with self.server.connect() as sock:
            sock.sendall(post("/v1/messages", b"{", length=100))
            status, _, body = read_response(sock)
            self.assertEqual((status, json.loads(body)["type"]), (408, "error"))

    def test_idle_connections_are_closed(self):
        with self.server.connect() as sock:
            self.assertEqual(sock.recv(1), b"")

    def test_who_never_reads_is_cut_off(self):
        with self.server.connect() as sock:
            sock.sendall(post("/v1/chat/completions", chat("flood", stream=True)))
            self.server.wait_for("cancel", 60)


class Keys(ServerTest):
    config = {"api_key": "right"}

    def test_keys(self):
        def status(*headers):
            head = "\r\n".join(["GET /v1/models HTTP/1.1", "Host: localhost", *headers]) + "\r\n\r\n"
            with self.server.connect() as sock:
                sock.sendall(head.encode())
                return read_response(sock, "GET")[0]
        self.assertEqual(status("Authorization: Bearer right"), 200)
        self.assertEqual(status("x-api-key: right"), 200)
        for wrong in ("Authorization: Bearer wrong", "x-api-key: ", "Authorization: right", "X-None: right"):
            self.assertEqual(status(wrong), 401, wrong)

    def test_health_needs_none(self):
        with self.server.connect() as sock:
            sock.sendall(b"GET /health HTTP/1.1\r\n\r\n")
            self.assertEqual(read_response(sock, "GET")[0], 200)


class Draining(ServerTest):
    drain_ms = 20000

    def setUp(self):
        self.server = Server(drain_ms=self.drain_ms)
        self.addCleanup(self.server.close)

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def begin(self, text):
        sock = self.server.connect()
        self.addCleanup(sock.close)
        sock.sendall(post("/v1/chat/completions", chat(text, stream=True)))
        self.server.wait_for("submit")
        return sock

    def test_running_requests_finish(self):
        idle = self.server.connect()
        self.addCleanup(idle.close)
        sock = self.begin("half second")
        self.server.terminate()
        body = read_response(sock)[2]
        self.assertEqual(body.count(b"tick "), 10)
        self.assertIn(b"[DONE]", body)
        self.assertEqual(idle.recv(1), b"")
        self.server.wait_for("bye")
        with self.assertRaises(ConnectionRefusedError):
            self.server.connect()

    def test_nothing_to_finish(self):
        self.server.terminate()
        self.server.wait_for("bye")

    def test_a_second_signal_ends_at_once(self):
        sock = self.begin("slow prefill")
        self.server.terminate()
        # The first one has been seen when nobody is let in any more.
        while True:
            try:
                self.server.connect().close()
            except (ConnectionRefusedError, ConnectionResetError):
                break
        self.server.terminate()
        self.server.wait_for("bye")
        sock.close()


class DrainLimit(Draining):
    drain_ms = 200
    test_nothing_to_finish = test_a_second_signal_ends_at_once = None

    def test_running_requests_finish(self):
        sock = self.begin("slow prefill")
        self.server.terminate()
        body = read_response(sock)[2]
        self.assertIn(b"shutting down", body)
        self.server.wait_for("bye")


class NoTemplate(ServerTest):
    config = {"has_template": False}

    def test_is_said(self):
        with self.server.connect() as sock:
            sock.sendall(post("/v1/chat/completions", chat("greet")))
            status, _, body = read_response(sock)
        self.assertEqual(status, 400)
        self.assertIn("no chat template", json.loads(body)["error"]["message"])
