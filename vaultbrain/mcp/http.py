"""The tools over HTTP, for clients that cannot start a process: on loopback only, and nobody gets in without the token.

Decides where it listens and who is let through; what the tools do is the server's. Every request is judged here, by its headers
alone, before any other code reads it: Host and Origin, so that a web page that makes its own name point to this machine gets
nowhere (DNS rebinding); then the path; then the token. It refuses to listen for other machines, and sends no CORS headers.
"""

from __future__ import annotations

import hmac
import json
import logging
import signal
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.errors import PortUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send
    from uvicorn import Config
    from uvicorn import Server as Uvicorn

HOST = "127.0.0.1"
#: Below the ports that systems hand out themselves (from 32768), and far from what memo servers and Obsidian plugins use.
DEFAULT_PORT = 28428
PATH = "/mcp"
#: Of JSON-RPC.
_INVALID_REQUEST = -32600
_NAMES = (HOST, "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one person's programs never reach, and a broken one soon does."""

    sessions: int = 32
    #: Without a request and without an open stream, a session ends after so many seconds; its client begins a new one.
    idle_s: float = 1_800.0
    #: The longest argument has 60,000 characters, of up to 12 bytes each when a client escapes them.
    body_bytes: int = 1_048_576
    connections: int = 128
    #: Event streams end at once when it is to stop; whoever is still being answered so many seconds later is cut off.
    farewell_s: int = 3


USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Refusal:
    """``reason`` goes out as a JSON-RPC error, since clients show the words of one, and of anything else only the status."""

    status: int
    reason: str
    #: The scheme, and what is wrong with the token that was sent (RFC 6750, section 3).
    challenge: str = ""


_WRONG_HOST = Refusal(421, "the Host header does not name this server")
_WRONG_ORIGIN = Refusal(403, "requests from web pages are refused")
_NO_SUCH_PATH = Refusal(404, "not found")
_NO_TOKEN = Refusal(401, "send the header Authorization: Bearer TOKEN", 'Bearer realm="vaultbrain"')
_WRONG_TOKEN = Refusal(401, "wrong token", 'Bearer realm="vaultbrain", error="invalid_token"')


def serve_http(
    server: Server[Any],
    port: int,
    token: str,
    *,
    on_ready: Callable[[str], None],
    should_stop: Callable[[], bool],
    limits: Limits = USUAL,
) -> None:
    """Serves at ``http://127.0.0.1:port/mcp`` until ``should_stop``; at any free port when ``port`` is 0.

    ``on_ready`` is called with the address when requests are answered. Signals are left to the caller.
    Raises ``PortUnavailable``.
    """
    with _listen(port) as listening:
        number = listening.getsockname()[1]
        app = Doorkeeper(_app(server, number, limits), number, token.encode("ascii"))
        address = f"http://{HOST}:{number}{PATH}"
        _uvicorn(app, lambda: on_ready(address), should_stop, limits).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise PortUnavailable(address=f"{HOST}:{port}", reason=error.strerror or str(error)) from error


def _app(server: Server[Any], port: int, limits: Limits) -> ASGIApp:
    """The SDK's own check of Host and Origin comes late and, left to itself, takes every port: it gets the same names as ours."""
    from mcp.server.transport_security import TransportSecuritySettings

    hosts, origins = _hosts(port), _origins(port)
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=limits.body_bytes,
        session_idle_timeout=limits.idle_s,
        max_sessions=limits.sessions,
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
    )


def _uvicorn(app: ASGIApp, on_ready: Callable[[], None], should_stop: Callable[[], bool], limits: Limits) -> Uvicorn:
    import uvicorn

    class Serving(uvicorn.Server):
        """Asks ``should_stop`` where uvicorn would take the signals for itself, so that running tools hear of them, too."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready()

        async def on_tick(self, counter: int) -> bool:
            if should_stop():
                _expect_cut_streams()
                self.handle_exit(signal.SIGTERM, None)  # by this method, and no other way, open event streams hear of it
            return await super().on_tick(counter)

        @contextmanager
        def capture_signals(self) -> Generator[None, None, None]:
            yield

    return Serving(_config(app, limits))


def _expect_cut_streams() -> None:
    """They are logged as failures, and at the end they are none."""
    for name in ("uvicorn.error", "mcp"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _config(app: ASGIApp, limits: Limits) -> Config:
    """Nothing is taken from the environment, and nothing is logged but failures."""
    import uvicorn

    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        workers=1,
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=limits.farewell_s,
    )


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """Lets through to ``app`` what may pass, and answers everything else itself, without reading its body."""

    app: ASGIApp
    port: int
    token: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_request = scope["type"] == "http"
        if is_request and (refusal := judge(scope["path"], scope["headers"], port=self.port, token=self.token)):
            await _refuse(refusal, send)
        elif is_request or scope["type"] == "lifespan":
            await self.app(scope, receive, send)


def judge(path: str, headers: Iterable[tuple[bytes, bytes]], *, port: int, token: bytes) -> Refusal | None:
    """None when the request may pass. Header names are in lower case; one that must be single and is not counts as wrong."""
    sent: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        sent.setdefault(name, []).append(value)
    hosts, origins = sent.get(b"host", []), sent.get(b"origin", [])
    if len(hosts) != 1 or hosts[0].decode("latin-1") not in _hosts(port):
        return _WRONG_HOST
    if any(origin.decode("latin-1") not in _origins(port) for origin in origins):
        return _WRONG_ORIGIN
    if path != PATH:
        return _NO_SUCH_PATH
    return _judge_token(sent.get(b"authorization", []), token)


def _judge_token(authorizations: list[bytes], token: bytes) -> Refusal | None:
    if not authorizations:
        return _NO_TOKEN
    scheme, _, credentials = authorizations[0].partition(b" ")
    is_right = hmac.compare_digest(credentials.strip(b" "), token)  # in the same time, however much of it is right
    return None if is_right and scheme.lower() == b"bearer" and len(authorizations) == 1 else _WRONG_TOKEN


def _hosts(port: int) -> list[str]:
    return [f"{name}:{port}" for name in _NAMES]


def _origins(port: int) -> list[str]:
    return [f"http://{host}" for host in _hosts(port)]


async def _refuse(refusal: Refusal, send: Send) -> None:
    error = {"code": _INVALID_REQUEST, "message": f"vaultbrain: {refusal.reason}"}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),  # the body, if there is one, stays unread
    ]
    if refusal.challenge:
        headers.append((b"www-authenticate", refusal.challenge.encode()))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
