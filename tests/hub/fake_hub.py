"""A small hub for tests: the parts of the Hugging Face hub's protocol that a download uses, with faults.

fake_hub.py ROOT: repositories are ROOT/repos/<org>/<name>/**. Prints "<hub port> <store port>" and serves on
127.0.0.1 until its standard input closes. Files of 1 KiB and more are "large": the hub redirects to the store,
a second port that must never see the token. ROOT/faults.json is read anew at each request; ROOT/requests.log
gets one JSON line a request.
"""
import hashlib
import json
import os
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = sys.argv[1]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
lock = threading.Lock()
counts = {}
hashes = {}


def faults():
    try:
        with open(os.path.join(ROOT, "faults.json")) as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def take(name, limit):
    """True for the first `limit` times (for ever if it is None)."""
    with lock:
        counts[name] = counts.get(name, 0) + 1
        return limit is None or counts[name] <= limit


def sha256(path):
    key = (path, os.path.getmtime(path), os.path.getsize(path))
    if key not in hashes:
        with open(path, "rb") as f:
            hashes[key] = hashlib.sha256(f.read()).hexdigest()
    return hashes[key]


def git_id(path):
    with open(path, "rb") as f:
        data = f.read()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def repo_files(repo):
    base = os.path.join(ROOT, "repos", repo)
    for folder, _, names in os.walk(base):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), base)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    store = False

    def log_message(self, *args):
        pass

    def note(self):
        entry = {"store": self.store, "method": self.command, "path": self.path,
                 "range": self.headers.get("Range"), "auth": self.headers.get("Authorization")}
        with lock, open(os.path.join(ROOT, "requests.log"), "a") as f:
            f.write(json.dumps(entry) + "\n")

    def answer(self, code, headers=(), body=b""):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.note()
        self.fault = faults()
        try:
            self.route()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def route(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        where = "store" if self.store else "api" if path.startswith("/api/") else "resolve"
        status = self.fault.get("status")
        if status and status["where"] == where and take(json.dumps(status), status.get("times")):
            headers = [("X-Error-Code", status["error"])] if "error" in status else []
            if "retry_after" in status:
                headers.append(("Retry-After", status["retry_after"]))
            return self.answer(status["code"], headers, b"no\n")
        if self.store:
            if self.fault.get("store_requests_a_link") and not take(self.path, self.fault["store_requests_a_link"]):
                return self.answer(403, body=b"expired\n")
            return self.send_file(os.path.join(ROOT, "repos", path[1:]))
        parts = path.strip("/").split("/")
        if where == "api":
            return self.listing("/".join(parts[2:4]), parts[5] if len(parts) > 5 else "main")
        repo, revision, name = "/".join(parts[0:2]), parts[3], "/".join(parts[4:])
        full = os.path.join(ROOT, "repos", repo, name)
        if not os.path.isfile(full):
            return self.answer(404, [("X-Error-Code", "EntryNotFound")])
        large = os.path.getsize(full) >= 1024
        headers = [("X-Repo-Commit", self.fault.get("commit", COMMIT))]
        if self.fault.get("rename") and take(self.path, 1):
            return self.answer(307, headers + [("Location", self.path)])
        if not large:
            headers.append(("ETag", '"%s"' % git_id(full)))
            return self.send_file(full, headers)
        size = os.path.getsize(full) + self.fault.get("head_size_delta", 0)
        etag = self.fault.get("etag", sha256(full))
        headers += [("X-Linked-Size", str(size)), ("X-Linked-ETag", '"%s"' % etag), ("ETag", '"other"')]
        if self.fault.get("no_store"):
            return self.send_file(full, headers)
        with lock:
            counts["links"] = counts.get("links", 0) + 1
            link = "http://127.0.0.1:%d/%s/%s?sign=%d" % (STORE, repo, urllib.parse.quote(name), counts["links"])
        if self.fault.get("redirect_to"):
            link = self.fault["redirect_to"]
        return self.answer(302, headers + [("Location", link)])

    def listing(self, repo, revision):
        names = sorted(repo_files(repo))
        if not names:
            return self.answer(401, [("X-Error-Code", "RepoNotFound")])
        if revision not in ("main", COMMIT):
            return self.answer(404, [("X-Error-Code", "RevisionNotFound")])
        siblings = []
        for name in names:
            full = os.path.join(ROOT, "repos", repo, name)
            size = os.path.getsize(full)
            entry = {"rfilename": name, "size": size + self.fault.get("list_size_delta", 0), "blobId": git_id(full)}
            if size >= 1024:
                entry["lfs"] = {"sha256": sha256(full), "size": size}
            if self.fault.get("bare_list"):
                entry = {"rfilename": name}
            siblings.append(entry)
        siblings += [{"rfilename": name} for name in self.fault.get("extra_files", [])]
        body = json.dumps({"id": repo, "sha": COMMIT, "siblings": siblings}).encode()
        self.answer(200, [("Content-Type", "application/json")], body)

    def send_file(self, full, headers=()):
        if not os.path.isfile(full):
            return self.answer(404)
        with open(full, "rb") as f:
            data = bytearray(f.read())
        if self.fault.get("corrupt") and len(data) > 10 and take("corrupt", self.fault.get("corrupt_times")):
            data[len(data) // 2] ^= 1
        if self.fault.get("short_store"):
            data = data[:-self.fault["short_store"]]
        total = len(data)
        wanted = self.headers.get("Range")
        code, begin, end = 200, 0, total
        headers = list(headers)
        if wanted and not self.fault.get("no_ranges"):
            first, last = wanted.split("=")[1].split("-")
            begin = int(first)
            end = min(int(last) + 1 if last else total, total)
            if begin >= total:
                return self.answer(416, [("Content-Range", "bytes */%d" % total)])
            code = 206
            shown = total + self.fault.get("range_total_delta", 0)
            headers.append(("Content-Range", "bytes %d-%d/%d" % (begin, end - 1, shown)))
        body = bytes(data[begin:end]) + b"!" * self.fault.get("surplus", 0)
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        cut = self.fault.get("cut_after")
        cutting = cut is not None and take("cut", self.fault.get("cuts"))
        sent = 0
        while sent < len(body):
            piece = body[sent:sent + (16 << 10)]
            if cutting and sent + len(piece) > cut:
                self.wfile.write(piece[:max(0, cut - sent)])
                self.wfile.flush()
                self.connection.shutdown(2)
                self.close_connection = True
                return
            self.wfile.write(piece)
            sent += len(piece)
            if self.fault.get("slow"):
                self.wfile.flush()
                time.sleep(self.fault["slow"])


class Store(Handler):
    store = True


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


hub = Server(("127.0.0.1", 0), Handler)
files = Server(("127.0.0.1", 0), Store)
STORE = files.server_address[1]
for server in (hub, files):
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(hub.server_address[1], STORE, flush=True)
sys.stdin.read()
