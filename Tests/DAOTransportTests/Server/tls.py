"""A TLS server for tests, with HTTP/2 where the client offers it. It prints its port and the file of its certificate.

    tls.py MODE

answer      a JSON object about the request
together    the same, when eight requests wait on one connection
reset       half an answer, then the stream is reset
goaway      half an answer, then the connection says goodbye
cut         half an answer, then the connection is closed
http1       an answer over HTTP/1.1
http1-cut   half an answer over HTTP/1.1
handshake   the connection is closed in the handshake
"""

import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

MODE = sys.argv[1]


def read(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class HTTP2:
    def __init__(self, connection, number):
        self.connection, self.number = connection, number
        self.bodies, self.waiting = {}, []

    def send(self, kind, flags, stream, payload=b""):
        self.connection.sendall(struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload)

    def headers(self, stream, length):
        field = lambda name, value: bytes([0, len(name)]) + name + bytes([len(value)]) + value
        self.send(1, 4, stream, b"\x88" + field(b"content-type", b"application/json") + field(b"content-length", b"%d" % length))

    def answer(self, stream):
        body = json.dumps({"stream": stream, "connection": self.number, "size": len(self.bodies[stream])}).encode()
        self.headers(stream, len(body))
        if MODE in ("answer", "together"):
            return self.send(0, 1, stream, body)
        self.send(0, 0, stream, body[:5])
        if MODE == "reset":
            self.send(3, 0, stream, struct.pack(">I", 2))
        elif MODE == "goaway":
            self.send(7, 0, 0, struct.pack(">II", stream, 2))
        if MODE != "reset":
            raise EOFError

    def serve(self):
        read(self.connection, 24)
        self.send(4, 0, 0)
        while True:
            header = read(self.connection, 9)
            length = int.from_bytes(header[:3], "big")
            kind, flags, stream = struct.unpack(">BBI", header[3:])
            payload = read(self.connection, length)
            if kind == 4 and not flags & 1:
                self.send(4, 1, 0)
            elif kind == 6 and not flags & 1:
                self.send(6, 1, 0, payload)
            elif kind in (0, 1):
                self.bodies[stream] = self.bodies.get(stream, b"") + (payload if kind == 0 else b"")
                if kind == 0 and length:
                    self.send(8, 0, 0, struct.pack(">I", length))
                    self.send(8, 0, stream, struct.pack(">I", length))
                if flags & 1:
                    self.waiting.append(stream)
            if MODE != "together" or len(self.waiting) == 8:
                for stream in self.waiting:
                    self.answer(stream)
                self.waiting = []


def http1(connection):
    while not connection.recv(65536).endswith(b"\r\n\r\n"):
        pass
    body = b'{"stream": 0, "connection": 0, "size": 0}'
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body[: 5 if MODE == "http1-cut" else None])


def serve(client, context, number):
    try:
        if MODE == "handshake":
            client.recv(65536)
            client.close()
            return
        connection = context.wrap_socket(client, server_side=True)
        if connection.selected_alpn_protocol() == "h2":
            HTTP2(connection, number).serve()
        else:
            http1(connection)
        connection.close()
    except (EOFError, OSError):
        client.close()
        try:
            connection.close()
        except (NameError, OSError):
            pass


signal.pthread_sigmask(signal.SIG_SETMASK, [])
folder = tempfile.mkdtemp()
certificate, key = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
     "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
    check=True, capture_output=True)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["http/1.1"] if MODE.startswith("http1") else ["h2"])
listener = socket.create_server(("127.0.0.1", 0), backlog=64)


def accept():
    number = 0
    while True:
        client, _ = listener.accept()
        number += 1
        threading.Thread(target=serve, args=(client, context, number), daemon=True).start()


parent = os.getppid()
threading.Thread(target=accept, daemon=True).start()
print(listener.getsockname()[1], certificate, flush=True)
while os.getppid() == parent:
    time.sleep(0.5)
