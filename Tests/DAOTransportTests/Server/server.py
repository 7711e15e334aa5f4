"""A small HTTP server for tests. It listens on 127.0.0.1 only, on an ephemeral port that it prints, and ends with its parent."""

import hashlib
import json
import os
import signal
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BOOKS = '{"data": [{"id": 1, "name": "Mu-Mu"}, {"id": 2, "name": "Kashtanka"},]}'
DIALOGS = json.dumps(
    {"data": {"dialog_list": [{"id": "7", "is_pinned": True, "messages": [{"id": "1", "text": "hi"}]}]}}
)

lock = threading.Lock()
hits = {}
generation = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", content_type="application/json", length=None):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.wfile.flush()
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b""
            while True:
                size = int(self.rfile.readline().strip() or b"0", 16)
                body += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def handle_any(self):
        global generation
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        path = url.path
        body = self.read_body()
        with lock:
            hits[path] = hits.get(path, 0) + 1

        if path == "/echo":
            self.answer(200, json.dumps({
                "method": self.command,
                "path": self.path,
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": body.decode("utf-8", "replace"),
            }))
        elif path == "/upload":
            self.answer(200, json.dumps({
                "size": len(body),
                "sha256": hashlib.sha256(body).hexdigest(),
                "content_type": self.headers.get("Content-Type"),
            }))
        elif path == "/hits":
            with lock:
                self.answer(200, json.dumps({"hits": hits.get(query["path"], 0)}))
        elif path.startswith("/status/"):
            self.answer(int(path.split("/")[2]), query.get("body", ""))
        elif path == "/challenge":
            self.send_response(401)
            self.send_header("WWW-Authenticate", query["with"])
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"nope")
        elif path == "/body":
            self.answer(200, query.get("is", ""))
        elif path == "/slow":
            time.sleep(float(query.get("seconds", "120")))
            self.answer(200, '{"slow": true}')
        elif path == "/drip":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            for _ in range(10):
                self.wfile.write(b"x" * 10000)
                self.wfile.flush()
                time.sleep(0.02)
        elif path == "/stall":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b"x" * 1000)
            self.wfile.flush()
            time.sleep(120)
        elif path == "/cut":
            self.answer(200, '{"data": [', length=1000)
            self.hang_up()
        elif path == "/cut-before-answer":
            self.hang_up()
        elif path == "/cut-in-chunks":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"5\r\n{\"a\":\r\n")
            self.hang_up()
        elif path == "/announces-too-little":
            self.answer(200, '{"a": 1}trailing', length=8)
            self.hang_up()
        elif path == "/announces-nonsense":
            self.send_response(200)
            self.send_header("Content-Length", "many")
            self.end_headers()
            self.wfile.write(b'{"a": 1}')
            self.hang_up()
        elif path == "/versioned":
            is_known = self.headers.get("If-None-Match") == '"v1"'
            body = b"" if is_known else b'{"version": 1}'
            self.send_response(304 if is_known else 200)
            self.send_header("ETag", '"v1"')
            if not is_known:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif path == "/books":
            self.answer(200, BOOKS)
        elif path in ("/dialogs", "/dialogs/"):
            self.answer(200, DIALOGS)
        elif path == "/refresh":
            time.sleep(0.3)
            with lock:
                generation += 1
                self.answer(200, json.dumps({"token": f"token-{generation}"}))
        elif path == "/secret":
            with lock:
                current = f"Bearer token-{generation}"
            if generation == 0 or self.headers.get("Authorization") != current:
                self.answer(401, '{"error": {"code": "token_invalid", "title": "Sign in again"}}')
            else:
                self.answer(200, '{"secret": 42}')
        else:
            self.answer(404, '{"nothing": "here"}')

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


# A process started from a worker thread inherits that thread's blocked signals.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
parent = os.getppid()
server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
while os.getppid() == parent:
    time.sleep(0.5)
