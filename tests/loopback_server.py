"""An HTTP server on loopback that answers as it is told to: chart repositories, token servers, and every fault."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent."""

    path: str
    authorization: str | None
    method: str = "GET"


@dataclass(slots=True)
class Server:
    """What it answers, by path, and what it was asked."""

    host: str = ""  # with its port
    answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)


def reply(
    body: bytes = b"", status: int = 200, headers: Mapping[str, str] | None = None
) -> Callable[[BaseHTTPRequestHandler], None]:
    """An ordinary answer."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def in_turn(*answers: Callable[[BaseHTTPRequestHandler], None]) -> Callable[[BaseHTTPRequestHandler], None]:
    """One answer after the other, and the last one from then on."""
    left = list(answers)
    return lambda handler: (left.pop(0) if len(left) > 1 else left[0])(handler)


@contextmanager
def run_server(certificate: Path | None = None) -> Iterator[Server]:
    """A server; with a certificate (and its key, in one file) it speaks TLS."""
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(Request(self.path, self.headers.get("Authorization"), self.command))
            try:
                server.answers.get(self.path, reply(b"no such page", 404))(self)
            except OSError:  # the client has seen enough
                self.close_connection = True

        do_POST = do_GET  # noqa: N815 (the library's name)

        def log_message(self, *_: object) -> None:
            pass

    class Listener(ThreadingHTTPServer):
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            pass

    listener = Listener(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
    server.host = f"127.0.0.1:{listener.server_port}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
