"""The HTTP door for agents: on loopback only, Host, Origin and token judged before all else, and gone when told to go."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from mcp.server.lowlevel import Server
from mcp_over_http import Serving, serving, serving_vault

from vaultbrain.errors import HttpTokenUnusable, PortUnavailable, WriteFailed, explain
from vaultbrain.mcp.http import USUAL, _app, judge, serve_http
from vaultbrain.mcp.http_token import KEPT_TOKEN, find_http_token
from vaultbrain.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = "korrekt-pferd-batterie-heftklammer"
posix_only = pytest.mark.skipif(os.name != "posix", reason="there are no such bits or signals elsewhere")


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("state")) as running:
        yield running
        if os.name == "posix":
            _, out, errors = running.end(signal.SIGTERM, within_s=8)
            assert (out, len(errors.splitlines())) == ("", 2), "no request of any test makes it say a word"


# What a client does


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_with_the_token_uses_the_tools(door: Serving, mode: str) -> None:
    """The SDK's own client lists and calls tools, in the protocol with sessions and in the one without; Chinese stays whole."""
    assert asyncio.run(_use(door.address, door.token, mode)) == (["echo", "wait"], "观影 觀影 films")


@pytest.mark.parametrize(("token", "reason"), [("", "vaultbrain: send the header"), (LONG, "vaultbrain: wrong token")])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_without_the_token_is_told_why(door: Serving, mode: str, token: str, reason: str) -> None:
    """The SDK's client does not come as far as the list of tools, and its error has our words."""
    with pytest.raises(ExceptionGroup) as met:
        asyncio.run(_use(door.address, token, mode))
    assert reason in _all_words(met.value)


def test_the_command_serves_the_tools(tmp_path: Path) -> None:
    """``vaultbrain mcp --http`` says where it listens and where the token is, never the token, and serves all nine tools."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "vaultbrain.toml").write_text('source = "../export.json"\nstate_dir = "../state"\n', encoding="utf-8")
    (tmp_path / "state").mkdir()
    with serving_vault(tmp_path / "vault", tmp_path / "state") as running:
        tools, said = asyncio.run(_use(running.address, running.token, "auto", "recall_gate"))
        assert tools == [tool.name for tool in TOOLS]
        assert json.loads(said)["recall"] is False
        assert running.token not in running.errors
        if os.name == "posix":
            assert running.end(signal.SIGTERM, within_s=15)[:2] == (0, "")


async def _use(address: str, token: str, mode: Any, tool: str = "echo") -> tuple[list[str], str]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        tools = await client.list_tools()
        result = await client.call_tool(tool, {"text": "观影 觀影 films"})
        return [tool.name for tool in tools.tools], result.content[0].text  # type: ignore[union-attr]


def _all_words(error: BaseException) -> str:
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return " ".join([repr(error), *map(_all_words, inner)])


# What is refused


HOSTS = {
    "none": None,
    "no port": "127.0.0.1",
    "another port": "127.0.0.1:1",
    "a longer port": "127.0.0.1:PORT0",
    "a longer name": "127.0.0.1.evil.example:PORT",
    "a login before it": "127.0.0.1:PORT@evil.example",
    "a name that was made to point here": "evil.example:PORT",
    "a number of the same machine": "2130706433:PORT",
    "all addresses": "0.0.0.0:PORT",
    "with a point": "localhost.:PORT",
    "empty": "",
}


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS.keys())
def test_a_foreign_host_is_refused(door: Serving, host: str | None) -> None:
    """Whoever does not name this server by its own address is turned away, though it has the token."""
    reply = ask(door, host=host, version="1.0" if host is None else "1.1")
    assert (reply.status, reply.reason) == (421, "vaultbrain: the Host header does not name this server")


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT"])
def test_the_names_of_loopback_are_taken(door: Serving, host: str) -> None:
    """With our port they pass."""
    assert ask(door, host=host).status == 200


def test_two_hosts_are_refused(door: Serving) -> None:
    """A second Host header cannot stand behind a right one."""
    assert ask(door, more=("Host: evil.example",)).status in {400, 421}
    twice = [(b"host", b"127.0.0.1:5"), (b"host", b"127.0.0.1:5"), (b"authorization", b"Bearer x")]
    assert (refusal := judge("/mcp", twice, port=5, token=b"x"))
    assert refusal.status == 421


ORIGINS = [
    "null",
    "https://evil.example",
    "http://evil.example:PORT",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "https://127.0.0.1:PORT",
    "http://127.0.0.1:PORT.evil.example",
    "http://127.0.0.1.evil.example:PORT",
    "127.0.0.1:PORT",
    "file://",
    "",
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_foreign_web_page_is_refused(door: Serving, origin: str) -> None:
    """A page of another origin gets nothing, even with the token, and no header that would let its browser read the answer."""
    reply = ask(door, more=(f"Origin: {origin}",))
    assert (reply.status, reply.reason) == (403, "vaultbrain: requests from web pages are refused")
    assert "access-control" not in reply.head.lower()


def test_our_own_origin_is_taken_once(door: Serving) -> None:
    """A client that says our own address as its origin passes; with a second one behind it, it does not."""
    own = "Origin: http://127.0.0.1:PORT"
    assert ask(door, more=(own,)).status == 200
    assert ask(door, more=(own, "Origin: https://evil.example")).status == 403


def test_the_sdk_would_refuse_them_as_well() -> None:
    """Without the doorkeeper, the SDK's own check knows the same names and the same port."""

    async def statuses(*headers: dict[str, str]) -> list[int]:
        app: Any = _app(Server("small"), 5, USUAL)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:
            common = {"Accept": "application/json, text/event-stream"}
            return [
                (await http.post("http://127.0.0.1:5/mcp", json=INITIALIZE, headers=common | more)).status_code
                for more in headers
            ]

    foreign = [
        {"Host": "127.0.0.1:6"},
        {"Host": "127.0.0.1:5.evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:6"},
    ]
    assert asyncio.run(statuses({}, *foreign)) == [200, 421, 421, 403, 403]


AUTHORIZATIONS = [
    "",
    "Bearer",
    "Bearer ",
    "Bearer TOKENx",
    "Bearer x",
    "Basic TOKEN",
    "TOKEN",
    "Bearer TOKEN TOKEN",
    "Bearer TOKEN, Bearer TOKEN",
    "Bearer t\u00f6ken",
]


@pytest.mark.parametrize("authorization", AUTHORIZATIONS)
def test_a_wrong_token_is_refused(door: Serving, authorization: str) -> None:
    """Anything but the scheme and the whole token is a 401 that says how to ask, and repeats nothing of what was sent."""
    reply = ask(door, authorization=authorization)
    assert (reply.status, reply.reason) == (401, "vaultbrain: wrong token")
    assert 'www-authenticate: Bearer realm="vaultbrain", error="invalid_token"' in reply.head
    assert door.token not in reply.head


def test_no_token_is_refused(door: Serving) -> None:
    """Without the header the answer says which one is needed; a token in the address does not count."""
    for path in ("/mcp", f"/mcp?token={door.token}", f"/mcp?access_token={door.token}"):
        reply = ask(door, path=path, authorization=None)
        assert (reply.status, reply.reason) == (401, "vaultbrain: send the header Authorization: Bearer TOKEN")
        assert 'www-authenticate: Bearer realm="vaultbrain"' in reply.head


def test_a_second_token_is_refused(door: Serving) -> None:
    """Of two Authorization headers none counts."""
    assert ask(door, more=("Authorization: Bearer TOKEN",)).status == 401


def test_the_scheme_may_be_written_in_any_case(door: Serving) -> None:
    """As the standard says."""
    assert ask(door, authorization="bearer TOKEN").status == 200


@pytest.mark.parametrize("path", ["/", "/mcp/", "/MCP", "//mcp", "/mcp/../mcp", "/sse", "/.well-known/oauth-protected-resource"])
def test_there_is_nothing_at_other_paths(door: Serving, path: str) -> None:
    """With the token and without it the same bare 404, and no redirection."""
    replies = [ask(door, path=path), ask(door, path=path, authorization=None), ask(door, path=path, method="GET")]
    assert {reply.status for reply in replies} == {404}
    assert len({reply.body for reply in replies}) == 1


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "HEAD", "DELETE", "PUT", "TRACE", "BREW"])
def test_every_method_needs_the_token(door: Serving, method: str) -> None:
    """A browser's question in advance is no exception, and is not told that anything may cross origins."""
    more = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
    reply = ask(door, method=method, authorization=None, more=more)
    assert reply.status == 401
    assert "access-control" not in reply.head.lower()
    assert "access-control" not in ask(door, method="OPTIONS", more=more).head.lower()


def test_a_refused_body_is_not_read(door: Serving) -> None:
    """Who waits for a sign before sending a large body gets the refusal instead, and the connection ends."""
    reply = ask(door, authorization=None, more=("Expect: 100-continue",), length=900_000, body="", connection="keep-alive")
    assert reply.status == 401
    assert "connection: close" in reply.head.lower()


@pytest.mark.parametrize("is_announced", [True, False])
def test_bodies_have_an_end(door: Serving, *, is_announced: bool) -> None:
    """More than a megabyte is refused, whether its length is said in advance or comes out on the way."""
    reply = asyncio.run(_post_much(door, is_announced=is_announced))
    assert reply == 413
    assert ask(door).status == 200


async def _post_much(door: Serving, *, is_announced: bool) -> int:
    async def pieces() -> Any:
        for _ in range(20):
            yield b" " * 60_000

    headers = {"Authorization": f"Bearer {door.token}", "Content-Type": "application/json"}
    async with httpx.AsyncClient() as http:
        sent = await http.post(door.address, headers=headers, content=b" " * 1_100_000 if is_announced else pieces())
        return sent.status_code


@pytest.mark.parametrize(
    "text", [b"\r\n\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET /mcp\r\n\r\n", b"GET / HTTP/1.1\r\nA: " + b"a" * 70_000]
)
def test_what_is_not_http_does_no_harm(door: Serving, text: bytes) -> None:
    """Noise, TLS, old HTTP and headers without an end: refused or hung up on, and the next request is answered."""
    with socket.create_connection(("127.0.0.1", door.port), timeout=10) as raw:
        raw.sendall(text)
        raw.shutdown(socket.SHUT_WR)
        assert b" 200 " not in _read_all(raw)
    assert ask(door).status == 200


def test_only_loopback_is_served(door: Serving) -> None:
    """No other address of this machine leads to it."""
    for family, address in ((socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::1"), (socket.AF_INET, _outer_address())):
        if address:
            with socket.socket(family) as raw:
                raw.settimeout(5)
                assert raw.connect_ex((address, door.port)) != 0, address


def _outer_address() -> str:
    """Where packets for other machines would leave from; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as raw:
        try:
            raw.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(raw.getsockname()[0])


# How it begins and ends


@posix_only
def test_it_goes_when_told(tmp_path: Path) -> None:
    """With an open event stream, a running tool and half a request it ends within seconds, long before anybody is cut off.

    It never said more than it should.
    """
    with serving(tmp_path / "state", "0", "60") as door:
        headers = _open_session(door)
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "wait", "arguments": {}}}
        half = socket.create_connection(("127.0.0.1", door.port))
        half.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
        with half, httpx.stream("GET", door.address, headers=headers) as events, ThreadPoolExecutor() as pool:
            assert events.status_code == 200
            waiting = pool.submit(httpx.post, door.address, json=call, headers=headers, timeout=60)
            door.read_until("waiting")
            code, out, errors = door.end(signal.SIGTERM, within_s=8)
            assert isinstance(waiting.exception(), httpx.RemoteProtocolError)
    assert (code, out) == (0, "")
    kept = tmp_path / "state" / KEPT_TOKEN
    assert errors.splitlines() == [f"Listening at {door.address}", f"The token is in {kept}", "waiting"]
    assert door.token not in errors


def test_a_port_in_use_is_said(door: Serving) -> None:
    """The address is named and the way out; nothing is said to be ready."""
    said: list[str] = []
    with pytest.raises(PortUnavailable) as met:
        serve_http(Server("small"), door.port, LONG, on_ready=said.append, should_stop=lambda: True)
    words = explain(met.value)
    assert words.what.startswith(f"Cannot listen on 127.0.0.1:{door.port} (")
    assert "--port 0" in words.next
    assert said == []


@posix_only
def test_sessions_are_few_and_end_when_idle(tmp_path: Path) -> None:
    """With room for one, the second has to wait until the first has been idle long enough; that one's id is then unknown.

    Ctrl-C ends it all, and cuts off whom it still answers after a second.
    """
    with serving(tmp_path, "0", "1", "0.3", "1") as door:
        first = _open_session(door)
        assert ask(door).status == 503
        until = time.monotonic() + 20
        while (status := ask(door).status) == 503 and time.monotonic() < until:
            time.sleep(0.05)  # the server's clock is what is waited for
        assert status == 200
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert httpx.post(door.address, json=ping, headers=first).status_code == 404
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(asyncio.run, _use(door.address, door.token, "auto", tool="wait"))
            door.read_until("waiting")
            code, out, errors = door.end(signal.SIGINT, within_s=8)
            assert waiting.exception()
    said = set(errors.splitlines()[2:])
    assert (code, out, said) == (0, "", {"Refusing to open a new session: 1 sessions are already open", "waiting"})


# The token


def test_a_token_is_made_once_and_kept(tmp_path: Path) -> None:
    """The first start makes a long one in a file that only the person can open; the next ones use it."""
    first = find_http_token(tmp_path / "state", environment={})
    kept = tmp_path / "state" / KEPT_TOKEN
    assert first.origin == str(kept)
    assert kept.read_text() == first.text + "\n"
    assert len(first.text) >= 43
    assert os.name != "posix" or stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert first.text not in repr(first)
    assert find_http_token(tmp_path / "state", environment={}) == first
    assert [path.name for path in kept.parent.iterdir()] == [KEPT_TOKEN]


def test_starts_at_the_same_time_agree(tmp_path: Path) -> None:
    """Of several that find no token, all use the same one."""
    with ThreadPoolExecutor(8) as pool:
        found = {pool.submit(find_http_token, tmp_path / "state", environment={}) for _ in range(16)}
    assert len({future.result().text for future in found}) == 1


def test_the_variable_goes_before_the_file_and_that_before_the_kept_one(tmp_path: Path) -> None:
    """A blank variable counts as none; no token is made when one is given."""
    file = _private(tmp_path / "mine", f"\ufeff{LONG}-2\r\n")
    state = tmp_path / "state"
    from_variable = find_http_token(state, file, environment={"VAULTBRAIN_MCP_TOKEN": f" {LONG}\n"})
    assert (from_variable.text, from_variable.origin) == (LONG, "VAULTBRAIN_MCP_TOKEN")
    from_file = find_http_token(state, file, environment={"VAULTBRAIN_MCP_TOKEN": "  "})
    assert (from_file.text, from_file.origin) == (f"{LONG}-2", str(file))
    assert not state.exists()


UNUSABLE = {
    "it is empty": " \n",
    "it has 6 characters": "secret",
    "it has more than 1024 characters": "a" * 1_025,
    "it must be one word": f"{LONG}\n{LONG}",
    "it must be one word of": f"{LONG}密码",
    "it must be one word of letters": f"Bearer {LONG}",
}


@pytest.mark.parametrize(("reason", "text"), UNUSABLE.items())
def test_a_token_that_cannot_guard_is_refused(tmp_path: Path, reason: str, text: str) -> None:
    """The file is named, the reason and the next step are said, and nothing of the token is."""
    file = _private(tmp_path / "mine", text)
    with pytest.raises(HttpTokenUnusable) as met:
        find_http_token(tmp_path, file, environment={})
    words = explain(met.value)
    assert words.what.startswith(f"The token in {file} cannot be used: {reason}")
    assert not text.strip() or text.strip() not in f"{words} {met.value}"
    if text.strip():
        with pytest.raises(HttpTokenUnusable, match="VAULTBRAIN_MCP_TOKEN"):
            find_http_token(tmp_path, environment={"VAULTBRAIN_MCP_TOKEN": text})


@posix_only
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_token_that_others_can_open_is_refused(tmp_path: Path, mode: int, *, is_kept: bool) -> None:
    """Its file, given or kept, is not used until it is closed to others, and the command for that is said."""
    file = _private(tmp_path / KEPT_TOKEN, LONG)
    file.chmod(mode)
    with pytest.raises(HttpTokenUnusable) as met:
        find_http_token(tmp_path, None if is_kept else file, environment={})
    assert explain(met.value).next == f"Run: chmod 600 {file}"


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """Missing, a folder, or not text: no other token is used instead."""
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe" * 20)
    binary.chmod(0o600)
    for path in (tmp_path / "missing", tmp_path, binary):
        with pytest.raises(HttpTokenUnusable, match="reason="):
            find_http_token(tmp_path, path, environment={})
    assert not (tmp_path / KEPT_TOKEN).exists()


def test_a_token_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    """Where the state folder cannot be made, nothing is left half-made."""
    (tmp_path / "state").write_text("a file")
    with pytest.raises(WriteFailed):
        find_http_token(tmp_path / "state", environment={})
    assert (tmp_path / "state").read_text() == "a file"


def _private(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    path.chmod(0o600)
    return path


# Requests as nobody's library would send them


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


class Reply:
    def __init__(self, text: bytes) -> None:
        head, _, self.body = text.partition(b"\r\n\r\n")
        self.head = head.decode("latin-1")
        self.status = int(self.head.split()[1])

    @property
    def reason(self) -> str:
        """What a client shows of a refusal."""
        return str(json.loads(self.body)["error"]["message"])


def ask(
    door: Serving,
    *,
    method: str = "POST",
    path: str = "/mcp",
    version: str = "1.1",
    host: str | None = "127.0.0.1:PORT",
    authorization: str | None = "Bearer TOKEN",
    more: tuple[str, ...] = (),
    body: str | None = None,
    length: int | None = None,
    connection: str = "close",
) -> Reply:
    """The reply to one request that opens a session, unless it is told otherwise; PORT and TOKEN are the right ones."""
    text = json.dumps(INITIALIZE) if body is None else body
    lines = [f"{method} {path} HTTP/{version}", "Content-Type: application/json", f"Connection: {connection}"]
    lines += ["Accept: application/json, text/event-stream", f"Content-Length: {len(text) if length is None else length}"]
    lines += [] if host is None else [f"Host: {host}"]
    lines += [] if authorization is None else [f"Authorization: {authorization}"]
    head = "\r\n".join([*lines, *more]).replace("PORT", str(door.port)).replace("TOKEN", door.token)
    with socket.create_connection(("127.0.0.1", door.port), timeout=20) as raw:
        raw.sendall(f"{head}\r\n\r\n{text}".encode())
        return Reply(_read_all(raw))


def _read_all(raw: socket.socket) -> bytes:
    text = b""
    try:
        while piece := raw.recv(65_536):
            text += piece
    except ConnectionResetError:
        pass
    return text


def _open_session(door: Serving) -> dict[str, str]:
    """The headers of a client whose session has begun."""
    headers = {"Authorization": f"Bearer {door.token}", "Accept": "application/json, text/event-stream"}
    reply = httpx.post(door.address, json=INITIALIZE, headers=headers)
    headers |= {"Mcp-Session-Id": reply.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}
    told = httpx.post(door.address, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    assert told.status_code == 202
    return headers
