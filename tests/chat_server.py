"""A chat server on loopback for tests: it answers as told, well, badly, slowly or not at all, and remembers what was sent."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from vaultbrain.chat import ChatModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "test-key-of-this-server"


class ChatServer(ThreadingHTTPServer):
    """Answers each request with the next of ``answers``, the last one again and again, and remembers what was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Callable[[Handler], None]] = [says('["电影", "movie"]')]
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.let_go = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def model(self, **settings: Any) -> ChatModel:
        return ChatModel(**{"base_url": self.url, "model": "small", "api_key": KEY, "timeout_s": 5.0} | settings)


class Handler(BaseHTTPRequestHandler):
    server: ChatServer
    body: dict[str, Any]

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), self.body))
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        pass

    def send(self, status: int, content: bytes | object, **headers: str) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)


def completion(content: object, **others: object) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}}],
        **others,
    }


def says(content: object, **others: object) -> Callable[[Handler], None]:
    return lambda handler: handler.send(200, completion(content, **others))


def status(code: int, content: bytes | object = b"", **headers: str) -> Callable[[Handler], None]:
    return lambda handler: handler.send(code, content, **headers)


def wait_in_silence(handler: Handler) -> None:
    """No answer, for as long as the test runs."""
    handler.server.let_go.wait(20)


def drip(handler: Handler) -> None:
    """A byte now and then, without end."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.let_go.wait(0.02):
        try:
            handler.wfile.write(b" ")
        except OSError:
            return


def hang_up(handler: Handler) -> None:
    """The connection ends without a word."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def break_off(handler: Handler) -> None:
    """The connection ends in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    hang_up(handler)


@contextmanager
def running_server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.let_go.set()
            running.shutdown()
            thread.join()
