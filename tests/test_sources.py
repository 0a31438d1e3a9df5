"""The sources against a real server that misbehaves in every way we know of, one fault a test.

Throughout: a fault is an error that names the address and no secret, and never a shorter listing.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import cflow_server as far_end
import pytest
from cflow_server import TOKEN, CFlowServer, Exchange, make_memos, wire_memo

from vaultbrain.errors import (
    ExportUnreadable,
    ListingNotWhole,
    LoginRefused,
    NotMemos,
    OriginChanged,
    ServerUnsupported,
    SourceError,
    SourceOverloaded,
    SourceRefused,
    SourceUnreachable,
    UsageProblem,
    VaultbrainError,
    explain,
)
from vaultbrain.sources.cflow import CFlowSource
from vaultbrain.sources.detect import detect, open_source
from vaultbrain.sources.export import ExportSource
from vaultbrain.sources.http import MAX_TRIES, ServerDoor
from vaultbrain.sources.listing import Listing, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LIST = "/api/v1/memo"
STATS = "/api/v1/memo/stats"
ME = "/api/v1/user/me"
STATUS = "/api/v1/status"

#: Seconds. Long enough for a loaded machine to answer, short enough to wait for in a test.
SHORT_TIMEOUT_S = 0.4


@pytest.fixture
def server() -> Iterator[CFlowServer]:
    with CFlowServer(wire_memo(n, f"memo {n}") for n in range(1, 4)) as running:
        yield running


@contextmanager
def door_to(address: str, token: str = TOKEN, **options: Any) -> Iterator[ServerDoor]:
    """A door that does not really wait between its tries."""
    with closing(ServerDoor(address, token, **{"sleep": lambda _: None} | options)) as door:
        yield door


def list_from(server: CFlowServer, *, token: str = TOKEN, remembered: Origin | None = None, page_size: int = 9999) -> Listing:
    with door_to(server.url, token) as door:
        return CFlowSource(door, server.url, remembered, recognise=detect, page_size=page_size).list_memos()


def fetch_from(server: CFlowServer, memo_id: str, token: str = TOKEN) -> object:
    with door_to(server.url, token) as door:
        return CFlowSource(door, server.url, Origin(server.url, "B"), recognise=detect).fetch_memo(memo_id)


def ids_of(listing: Listing) -> list[int]:
    return sorted(int(memo.id) for memo in listing.memos)


def offsets_of(server: CFlowServer) -> list[str]:
    return [seen.params.get("offset", "") for seen in server.requests if seen.path == LIST]


# The door: when an answer is believed


def test_json_comes_back_parsed(server: CFlowServer) -> None:
    """A good answer is its status and its data."""
    with door_to(server.url) as door:
        answer = door.get_json(ME)
    assert (answer.status, answer.data["id"]) == (200, 1)


def test_an_address_may_hold_a_path_and_a_slash(server: CFlowServer) -> None:
    """Behind a proxy the server may live below a path; a slash at the end changes nothing."""
    server.behaviours["/memos/api/v1/status"] = far_end.answer_json({"ok": True})
    with door_to(f"{server.url}/memos/") as door:
        assert door.get_json(STATUS).data == {"ok": True}
        assert door.address == f"{server.url}/memos"


def test_gzip_is_unpacked(server: CFlowServer) -> None:
    """A packed answer is as good as a plain one."""
    server.behaviours[LIST] = far_end.good_gzip(["观影"] * 100)
    with door_to(server.url) as door:
        assert door.get_json(LIST).data == ["观影"] * 100


@pytest.mark.parametrize("keep_bytes", [None, 15, -1, -8])
def test_broken_gzip_is_no_answer(server: CFlowServer, keep_bytes: int | None) -> None:
    """A wrong check sum, a stream that ends early, even one that only lacks its last bytes: not believed."""
    body = json.dumps([wire_memo(1, "x")]).encode()
    server.behaviours[LIST] = far_end.broken_gzip(body, keep_bytes=keep_bytes)
    with door_to(server.url) as door, pytest.raises(NotMemos) as caught:
        door.get_json(LIST)
    assert "gzip" in caught.value.fact("detail")


def test_a_cut_body_names_the_bytes_and_is_tried_again(server: CFlowServer) -> None:
    """A body shorter than announced is a broken connection first, and no memos at the end."""
    server.behaviours[LIST] = far_end.cut_body(b"[" * 28, missing_bytes=400)
    with door_to(server.url) as door, pytest.raises(NotMemos) as caught:
        door.get_json(LIST)
    assert caught.value.facts["detail"] == "the body was cut short after 28 of 428 bytes"
    assert (caught.value.facts["status"], caught.value.facts["address"]) == (200, server.url + LIST)
    assert server.paths() == [LIST] * MAX_TRIES


def test_a_body_cut_once_is_no_fault(server: CFlowServer) -> None:
    """The second try has the whole body."""
    server.behaviours[LIST] = [far_end.cut_body()]
    with door_to(server.url) as door:
        assert len(door.get_json(LIST).data) == 3


@pytest.mark.parametrize(
    ("body", "content_type", "detail"),
    [
        (far_end.WEB_APP, "text/html; charset=utf-8", f"not JSON, {len(far_end.WEB_APP)} bytes"),
        (b"[]", "text/plain", "not JSON, 2 bytes"),
        (b"[]", "", "not JSON, 2 bytes"),
        (b"", "application/json", "0 bytes that are not valid JSON"),
        (b"[1,", "application/json", "3 bytes that are not valid JSON"),
        (b'["\xff"]', "application/json", "5 bytes that are not valid JSON"),
        (b"[" * 100_000, "application/json", "100000 bytes that are not valid JSON"),
    ],
    ids=["web page", "plain text", "no type", "empty", "half", "not UTF-8", "too deep"],
)
def test_what_is_not_json_is_refused_at_once(server: CFlowServer, body: bytes, content_type: str, detail: str) -> None:
    """Status 200 proves nothing; type and text have to be JSON. Asking again would not help."""
    server.behaviours[LIST] = far_end.answer_status(200, body, content_type)
    with door_to(server.url) as door, pytest.raises(NotMemos) as caught:
        door.get_json(LIST)
    assert caught.value.facts == {"address": server.url + LIST, "status": 200, "content_type": content_type, "detail": detail}
    assert len(server.requests) == 1


def test_other_json_types_are_json(server: CFlowServer) -> None:
    """``application/problem+json`` is JSON by its name."""
    server.behaviours[LIST] = far_end.answer_status(200, b"{}", "Application/Problem+JSON; charset=utf-8")
    with door_to(server.url) as door:
        assert door.get_json(LIST).data == {}


def test_a_success_other_than_200_is_no_answer(server: CFlowServer) -> None:
    """206 is a part and 202 is a promise."""
    server.behaviours[LIST] = far_end.answer_status(206, b"[]")
    with door_to(server.url) as door, pytest.raises(NotMemos) as caught:
        door.get_json(LIST)
    assert caught.value.facts["detail"] == "Partial Content"


def test_a_probe_reports_refusals_and_web_pages(server: CFlowServer) -> None:
    """Detection has to see a 404 and an HTML page without an error."""
    with door_to(server.url) as door:
        missing, page = door.probe("/api/v1/nothing"), door.probe("/m/x")
    assert (missing.status, missing.message, missing.flaw) == (404, "Not Found", "")
    assert (page.status, page.data, page.content_type) == (200, None, "text/html; charset=utf-8")


# The door: patience


def test_retry_after_is_honoured(server: CFlowServer) -> None:
    """What a 429 asks for is what is waited, in seconds or until a date."""
    now = 1_700_000_000
    date = format_datetime(datetime.fromtimestamp(now + 7, UTC), usegmt=True)
    busy = far_end.answer_status
    server.behaviours[LIST] = [busy(429, b"slow down", "text/html", retry_after="1"), busy(503, retry_after=date)]
    waits: list[float] = []
    with door_to(server.url, sleep=waits.append, now=lambda: float(now)) as door:
        door.get_json(LIST)
    assert waits == [1.0, 7.0]


def test_retry_after_has_limits(server: CFlowServer) -> None:
    """Never longer than 30 s at once, nor 60 s together: then it is for a person to try later."""
    server.behaviours[LIST] = far_end.answer_status(429, retry_after="3600")
    waits: list[float] = []
    with door_to(server.url, sleep=waits.append) as door, pytest.raises(SourceOverloaded) as caught:
        door.get_json(LIST)
    assert waits == [30.0, 30.0]
    assert caught.value.facts == {"address": server.url, "status": 429, "tries": 3}


@pytest.mark.parametrize("value", ["soon", "", "-5"])
def test_nonsense_in_retry_after_is_ignored(server: CFlowServer, value: str) -> None:
    """The usual back-off serves then."""
    server.behaviours[LIST] = [far_end.answer_status(429, retry_after=value)]
    waits: list[float] = []
    with door_to(server.url, sleep=waits.append, jitter=lambda: 1.0) as door:
        door.get_json(LIST)
    assert waits == [0.5]


def test_waits_double_and_end(server: CFlowServer) -> None:
    """Four tries, and between them at most 0.5, 1 and 2 s; the jitter takes any part of that."""
    server.behaviours[LIST] = far_end.answer_status(500)
    waits: list[float] = []
    with door_to(server.url, sleep=waits.append, jitter=lambda: 1.0) as door, pytest.raises(SourceOverloaded) as caught:
        door.get_json(LIST)
    assert waits == [0.5, 1.0, 2.0]
    assert caught.value.facts == {"address": server.url, "status": 500, "tries": 4}
    waits.clear()
    with door_to(server.url, sleep=waits.append, jitter=lambda: 0.1) as door, pytest.raises(SourceOverloaded):
        door.get_json(LIST)
    assert waits == pytest.approx([0.05, 0.1, 0.2])


def test_somebody_in_a_hurry_asks_once(server: CFlowServer, tmp_path: Path) -> None:
    """A reader who has a mirrored copy does not wait for a server in trouble."""
    server.behaviours[f"{LIST}/1"] = far_end.answer_status(500)
    remembered = Origin(server.url, "B", "", "1")
    source = open_source(server.url, vault=tmp_path, token=TOKEN, tries=1, remembered=remembered)
    with closing(source), pytest.raises(SourceOverloaded):
        source.fetch_memo("1")
    assert server.paths() == [f"{LIST}/1"]


@pytest.mark.parametrize("status", [429, 403])
def test_the_rate_limit_of_memos_is_waited_out(server: CFlowServer, status: int) -> None:
    """Memos says "too fast" with 429 or 403 and the body null; that is neither a refusal nor an empty list."""
    server.behaviours[LIST] = [far_end.answer_status(status, b"null\n")] * 2
    with door_to(server.url) as door:
        assert len(door.get_json(LIST).data) == 3


@pytest.mark.parametrize(
    ("status", "kind"), [(400, SourceRefused), (401, LoginRefused), (403, SourceRefused), (404, SourceRefused)]
)
def test_a_clear_no_is_not_asked_again(server: CFlowServer, status: int, kind: type[SourceError]) -> None:
    """A 4xx other than 429 stands."""
    server.behaviours[LIST] = far_end.answer_status(status)
    with door_to(server.url) as door, pytest.raises(kind) as caught:
        door.get_json(LIST)
    assert caught.value.facts["status"] == status
    assert len(server.requests) == 1


def test_a_broken_connection_is_tried_again(server: CFlowServer) -> None:
    """Three resets and then an answer is an answer."""
    server.behaviours[LIST] = [far_end.reset] * 3
    with door_to(server.url) as door:
        assert len(door.get_json(LIST).data) == 3


def test_a_connection_that_always_breaks_is_unreachable(server: CFlowServer) -> None:
    """After four tries the server counts as unreachable."""
    server.behaviours[LIST] = far_end.reset
    with door_to(server.url) as door, pytest.raises(SourceUnreachable) as caught:
        door.get_json(LIST)
    assert caught.value.facts["tries"] == 4
    assert len(server.requests) == 4


def test_nobody_at_the_port_is_unreachable() -> None:
    """A refused connection says so, with the address."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with door_to(address) as door, pytest.raises(SourceUnreachable) as caught:
            door.get_json(LIST)
    assert (caught.value.facts["address"], caught.value.facts["tries"]) == (address, 4)
    assert "refused" in caught.value.fact("reason")
    assert "Errno" not in caught.value.fact("reason")


def test_silence_ends_in_time(server: CFlowServer) -> None:
    """A server that accepts and never answers costs four times the time limit, no more."""
    server.behaviours[LIST] = far_end.never_answer()
    began = time.monotonic()
    with door_to(server.url, timeout_s=SHORT_TIMEOUT_S) as door, pytest.raises(SourceUnreachable) as caught:
        door.get_json(LIST)
    assert caught.value.facts["reason"] == "no answer within 0.4 s"
    assert time.monotonic() - began < 4 * SHORT_TIMEOUT_S + 2


def test_a_slow_answer_within_the_limit_counts(server: CFlowServer) -> None:
    """Slow is not silent."""
    server.behaviours[LIST] = [far_end.slow(SHORT_TIMEOUT_S / 4)]
    with door_to(server.url, timeout_s=5 * SHORT_TIMEOUT_S) as door:
        assert len(door.get_json(LIST).data) == 3


def test_an_answer_that_never_ends_is_ended(server: CFlowServer) -> None:
    """A byte now and then beats every single time limit, but not the one for the whole answer."""
    server.behaviours[LIST] = far_end.trickle()
    with door_to(server.url, max_answer_s=SHORT_TIMEOUT_S) as door, pytest.raises(SourceUnreachable) as caught:
        door.get_json(LIST)
    assert caught.value.facts["reason"] == "the answer took longer than 0.4 s"


# The door: secrets and strangers


def test_the_token_goes_to_the_server_itself(server: CFlowServer) -> None:
    """Every question carries it, whichever way it was pasted."""
    for pasted in (TOKEN, f" Bearer {TOKEN}\n"):
        with door_to(server.url, pasted) as door:
            door.get_json(ME)
        assert server.requests[-1].headers["authorization"] == f"Bearer {TOKEN}"


def test_a_redirect_elsewhere_never_sees_a_request(server: CFlowServer) -> None:
    """The other server is named, but not asked, and the path and query of the target stay unsaid."""
    with CFlowServer() as other:
        server.behaviours[LIST] = far_end.redirect(f"{other.url}/login?key=hidden")
        with door_to(server.url) as door, pytest.raises(SourceRefused) as caught:
            door.probe(LIST)
        assert caught.value.facts["message"] == f"it redirects to {other.url}"
        assert other.requests == []


@pytest.mark.parametrize("target", ["/elsewhere", "//127.0.0.1:1/x", "http://[bad"])
def test_no_redirect_is_followed(server: CFlowServer, target: str) -> None:
    """Not even within the same server."""
    server.behaviours[LIST] = far_end.redirect(target, 307)
    with door_to(server.url) as door, pytest.raises(SourceRefused, match="redirects to"):
        door.get_json(LIST)
    assert server.paths() == [LIST]


def test_cookies_are_not_kept(server: CFlowServer) -> None:
    """In 0.14 a stale cookie wins over the token, so none may come back."""
    server.behaviours[LIST] = far_end.answer_status(200, b"[]", set_cookie="memos.access-token=stale; Path=/")
    with door_to(server.url) as door:
        door.get_json(LIST)
        door.get_json(LIST)
    assert ["cookie" in seen.headers for seen in server.requests] == [False, False]


def test_loopback_ignores_the_proxy(server: CFlowServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment is for the world, not for this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for address in (server.url, server.url.replace("127.0.0.1", "localhost")):
        with door_to(address) as door:
            assert door.get_json(ME).status == 200


def test_other_addresses_use_the_proxy(server: CFlowServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from this machine the environment's proxy is asked."""
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, server.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    with door_to("http://memos.example") as door:
        assert door.get_json(ME).status == 200
    assert server.requests[0].headers["host"] == "memos.example"


def test_an_unusable_proxy_is_a_situation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of an unknown kind is said, without its password."""
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "gopher://me:hidden@127.0.0.1:9")
    with door_to("http://memos.example") as door, pytest.raises(SourceUnreachable, match="proxy") as caught:
        door.get_json(ME)
    assert "hidden" not in str(caught.value)


def test_https_checks_certificates(server: CFlowServer) -> None:
    """A server that speaks no TLS at an https address is unreachable, and the token never left."""
    with door_to(server.url.replace("http:", "https:")) as door, pytest.raises(SourceUnreachable, match="SSL"):
        door.get_json(ME)
    assert server.requests == []


@pytest.mark.parametrize(
    "behaviour",
    [
        far_end.answer_html(),
        far_end.cut_body(),
        far_end.reset,
        far_end.answer_status(401),
        far_end.answer_status(404, json.dumps({"message": f"who is\x1b[31m {TOKEN}?\n" + "x" * 1000}).encode()),
        far_end.answer_status(500),
        far_end.answer_status(200, b"x", "text/odd\ttype"),
    ],
)
def test_no_secret_is_ever_said(server: CFlowServer, behaviour: far_end.Behaviour) -> None:
    """Neither token, password, nor query come into a message, even if the server sends them back; nor do escapes."""
    server.behaviours[LIST] = behaviour
    address = server.url.replace("//", "//me:pass%20word@") + "?openId=hidden#also"
    with door_to(address) as door, pytest.raises(SourceError) as caught:
        door.get_json(LIST, {"key": "private"})
    words = explain(caught.value)
    for text in (str(caught.value), words.what, words.next):
        assert not [secret for secret in (TOKEN, "pass", "hidden", "also", "private", "\x1b", "me:") if secret in text]
        assert len(text) < 700
    assert server.url in words.what
    assert server.requests[0].headers.get("authorization") == f"Bearer {TOKEN}"


@pytest.mark.parametrize("token", ["two words", "秘密", "a\nb"])
def test_a_token_that_cannot_be_one_is_told_at_once(token: str) -> None:
    """A line break or a Chinese word was pasted by accident; the message does not repeat it."""
    with pytest.raises(UsageProblem) as caught:
        ServerDoor("http://127.0.0.1:5230", token)
    assert token not in str(caught.value)


@pytest.mark.parametrize("address", ["http://", "ftp://a.example", "127.0.0.1:5230", "http://[::1", "http://a.example:99999"])
def test_an_address_that_cannot_be_one_is_told_at_once(address: str) -> None:
    """Before anything is asked."""
    with pytest.raises(UsageProblem):
        ServerDoor(address)


def test_httpx_is_loaded_late_and_lean() -> None:
    """Importing the sources costs no httpx, and httpx comes without its command line."""
    script = (
        "import sys; from vaultbrain.sources.detect import open_source; from vaultbrain.sources.http import ServerDoor\n"
        "assert 'httpx' not in sys.modules\n"
        "door = ServerDoor('http://127.0.0.1:1', sleep=lambda s: None)\n"
        "try: door.probe('/')\n"
        "except Exception as error: assert type(error).__name__ == 'SourceUnreachable', error\n"
        "assert 'httpx' in sys.modules and 'httpx._main' not in sys.modules and 'pygments' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


# Which server is it


@pytest.mark.parametrize(("generation", "name"), [("A", "A"), ("B1", "B"), ("B2", "B"), ("B4", "B")])
@pytest.mark.parametrize("token", [TOKEN, "bad-token", ""])
def test_supported_generations_are_recognised(generation: str, name: str, token: str) -> None:
    """By shape, with the version it tells, whatever the token."""
    with CFlowServer(generation=generation) as server, door_to(server.url, token) as door:
        assert detect(door) == (name, server.version)


@pytest.mark.parametrize(("generation", "name"), [("C", "C"), ("D", "D"), ("E", "E"), ("F", "F"), ("G", "G")])
def test_newer_generations_are_named_and_refused(generation: str, name: str) -> None:
    """A newer server is an error with generation and version, not a try."""
    with CFlowServer(generation=generation) as server, door_to(server.url) as door:
        with pytest.raises(ServerUnsupported) as caught:
            detect(door)
        assert caught.value.facts == {"address": server.url, "generation": name, "version": server.version}


@pytest.mark.parametrize(("generation", "name"), [("C", "C or D"), ("G", "E or later")])
def test_a_version_that_is_no_number_is_only_a_hint(generation: str, name: str) -> None:
    """The shape decides; a build called dev is still too new."""
    with CFlowServer(generation=generation, version="dev") as server, door_to(server.url) as door:
        with pytest.raises(ServerUnsupported) as caught:
            detect(door)
        assert caught.value.facts["generation"] == name


@pytest.mark.parametrize(("generation", "own"), [("A", "/api/status"), ("B4", STATUS)])
def test_a_remembered_generation_costs_one_request(generation: str, own: str) -> None:
    """Its own endpoint is asked first."""
    with CFlowServer(generation=generation) as server, door_to(server.url) as door:
        detect(door, Origin(server.url, generation[0]))
        assert server.paths() == [own]


def test_an_upgrade_between_two_runs_is_noticed() -> None:
    """What was B last time and is D now is refused, not read."""
    with CFlowServer(generation="D") as server, door_to(server.url) as door, pytest.raises(ServerUnsupported):
        detect(door, Origin(server.url, "B", "0.21.0", "1"))


def test_a_server_without_status_is_known_by_its_list(server: CFlowServer) -> None:
    """CFlow may lack the status page; the shape of the list serves, even an empty one."""
    server.behaviours[STATUS] = far_end.answer_status(404)
    for memos in (server.memos, []):
        server.memos = memos
        with door_to(server.url) as door:
            assert detect(door) == ("B", "")


def test_a_new_profile_with_the_old_list_is_cflow(server: CFlowServer) -> None:
    """A server grown from a newer one that still serves the old list can be read."""
    server.behaviours["/api/v1/workspace/profile"] = far_end.answer_json({"version": "0.24.0", "mode": "prod"})
    with door_to(server.url) as door:
        assert detect(door) == ("B", "0.24.0")


def test_a_web_page_everywhere_is_no_memo_server(server: CFlowServer) -> None:
    """HTML with 200 for every path is somebody else's web site."""
    for path in ("/api/v1/instance/profile", "/api/v1/workspace/profile", STATUS, "/api/status", LIST):
        server.behaviours[path] = far_end.answer_html()
    with door_to(server.url) as door, pytest.raises(NotMemos) as caught:
        detect(door)
    assert (caught.value.facts["status"], caught.value.facts["content_type"]) == (200, far_end.HTML)


def test_a_login_wall_is_a_login(server: CFlowServer) -> None:
    """401 for everything asks for a token and says nothing about the generation."""
    for path in ("/api/v1/instance/profile", "/api/v1/workspace/profile", STATUS, "/api/status", LIST):
        server.behaviours[path] = far_end.answer_status(401, b"login", "text/plain")
    with door_to(server.url, "") as door, pytest.raises(LoginRefused) as caught:
        detect(door)
    assert caught.value.facts["has_token"] is False


@pytest.mark.parametrize("trouble", [far_end.answer_status(429), far_end.answer_status(502), far_end.reset])
def test_trouble_during_detection_proves_nothing(server: CFlowServer, trouble: far_end.Behaviour) -> None:
    """Overload or a broken line stops the search: the next path would be misread."""
    server.behaviours["/api/v1/instance/profile"] = trouble
    with door_to(server.url) as door, pytest.raises((SourceOverloaded, SourceUnreachable)):
        detect(door)
    assert set(server.paths()) == {"/api/v1/instance/profile"}


@pytest.mark.parametrize("answer", [{"profile": {}}, {"profile": {"version": 21}}, {"version": "0.21.0"}, [], None])
def test_a_status_of_another_shape_is_not_enough(server: CFlowServer, answer: object) -> None:
    """Only the expected key with a text counts; the list has to speak for itself then."""
    server.behaviours[STATUS] = far_end.answer_json(answer)
    with door_to(server.url) as door:
        assert detect(door) == ("B", "")


# A whole listing


@pytest.mark.parametrize("generation", ["A", "B1", "B2", "B4"])
def test_all_memos_arrive(generation: str) -> None:
    """Normal and archived, of every visibility, with who answered."""
    memos = make_memos(120, seed=3, generation=generation)
    with CFlowServer(memos, generation=generation) as server:
        listing = list_from(server)
        assert ids_of(listing) == list(range(1, 121))
        assert {memo.state for memo in listing.memos} == {"normal", "archived"}
        assert {memo.id: memo.content for memo in listing.memos} == {str(memo["id"]): memo["content"] for memo in memos}
        assert listing.origin == Origin(server.url, generation[0], server.version, "1")


def test_the_login_is_asked_before_and_after(server: CFlowServer) -> None:
    """The proof stands on both sides of the listing."""
    list_from(server, remembered=Origin(server.url, "B", "0.21.0", "1"))
    assert server.paths() == [STATUS, ME, STATS, LIST, LIST, ME]


def test_an_account_without_memos_is_an_empty_listing(server: CFlowServer) -> None:
    """Zero memos can be true; whether to believe it is for sync to say."""
    server.memos = []
    assert list_from(server).memos == ()


@pytest.mark.parametrize("generation", ["A", "B4"])
@pytest.mark.parametrize("token", ["", "bad-token"])
def test_without_a_good_token_nothing_is_listed(generation: str, token: str) -> None:
    """The login is refused, and not one memo was asked for, since an anonymous list is a short one."""
    with CFlowServer([wire_memo(1, "x", visibility="PUBLIC")], generation=generation) as server:
        with pytest.raises(LoginRefused) as caught:
            list_from(server, token=token)
        assert caught.value.facts == {"address": server.url, "status": 401, "has_token": bool(token)}
        assert f"{server.prefix}/memo" not in server.paths()


def test_a_token_that_ends_meanwhile_spoils_the_listing(server: CFlowServer) -> None:
    """The second look at the login fails, so the list in between proves nothing."""
    server.behaviours[ME] = [None, far_end.answer_status(401)]
    with pytest.raises(LoginRefused):
        list_from(server)


def test_another_login_meanwhile_spoils_the_listing(server: CFlowServer) -> None:
    """Two users in one listing is no listing."""
    server.behaviours[ME] = [None, far_end.answer_json({"id": 2})]
    with pytest.raises(ListingNotWhole, match="from user 1 to user 2"):
        list_from(server)


def test_another_login_than_last_time_is_refused(server: CFlowServer) -> None:
    """Somebody else's memos would look like deletions."""
    with pytest.raises(OriginChanged) as caught:
        list_from(server, remembered=Origin(server.url, "B", "0.21.0", "7"))
    assert (caught.value.facts["before"], caught.value.facts["now"]) == ("user 7", "user 1")
    assert LIST not in server.paths()


def test_a_source_remembers_its_own_login(server: CFlowServer) -> None:
    """A watcher lists again and again; the login may not change between two of its listings."""
    with door_to(server.url) as door:
        source = CFlowSource(door, server.url, recognise=detect)
        source.list_memos()
        server.user_id = 2
        with pytest.raises(OriginChanged):
            source.list_memos()


@pytest.mark.parametrize("answer", [None, [], {}, {"id": "1"}, {"id": True}, {"data": {"id": 1.0}}, {"name": "users/1"}])
def test_a_login_without_a_number_is_no_login(server: CFlowServer, answer: object) -> None:
    """Then nobody vouches for the listing."""
    server.behaviours[ME] = far_end.answer_json(answer)
    with pytest.raises(NotMemos, match="unknown reply shape: the login"):
        list_from(server)


def test_a_server_without_a_login_page_is_known_by_its_memos(server: CFlowServer) -> None:
    """A fork may not say who we are; the list itself is refused to strangers, and its owner is remembered."""
    server.behaviours[ME] = far_end.answer_status(404)
    listing = list_from(server)
    assert (ids_of(listing), listing.origin.user) == ([1, 2, 3], "1")
    with pytest.raises(LoginRefused):
        list_from(server, token="bad-token")
    with pytest.raises(OriginChanged):
        list_from(server, remembered=Origin(server.url, "B", "", "7"))


def test_memos_of_several_users_and_no_login_page_is_an_error(server: CFlowServer) -> None:
    """Nobody says which of them are ours."""
    server.behaviours[ME] = far_end.answer_status(404)
    server.behaviours[LIST] = [far_end.answer_json([*server.memos, wire_memo(8, "x", creatorId=2)]), far_end.answer_json([])]
    with pytest.raises(ListingNotWhole, match="several users"):
        list_from(server)


def test_pages_are_walked_to_the_end() -> None:
    """More memos than one page holds, an exact multiple of it included."""
    with CFlowServer(make_memos(30)) as server:
        assert ids_of(list_from(server, page_size=10)) == list(range(1, 31))
        assert offsets_of(server) == ["", "10", "20", "30"]
        assert {seen.params["limit"] for seen in server.requests if seen.path == LIST} == {"10"}


def test_a_silent_cap_loses_nothing() -> None:
    """A server that never sends more than 20 is asked on, from what it sent and not from what was asked."""
    with CFlowServer((wire_memo(n, f"memo {n}") for n in range(1, 46)), page_cap=20) as server:
        assert ids_of(list_from(server)) == list(range(1, 46))
        assert offsets_of(server) == ["", "20", "40", "45"]


@pytest.mark.parametrize("has_stats", [True, False])
def test_a_pager_that_does_not_advance_is_an_error(has_stats: bool) -> None:
    """The same first 20 of 45 for ever are not the whole, whether or not the server counts."""
    with CFlowServer(wire_memo(n, f"memo {n}") for n in range(1, 46)) as server:
        server.behaviours[LIST] = far_end.answer_json(server.memos[:20])
        if not has_stats:
            server.behaviours[STATS] = far_end.answer_status(404)
        with pytest.raises(ListingNotWhole, match="paging does not advance"):
            list_from(server)


def test_a_pager_that_goes_round_is_an_error() -> None:
    """After the second page comes the first again."""
    memos = [wire_memo(n, f"memo {n}") for n in range(1, 31)]
    with CFlowServer(memos) as server:
        first, second = far_end.answer_json(memos[:10]), far_end.answer_json(memos[10:20])
        server.behaviours[LIST] = [first, second, first]
        with pytest.raises(ListingNotWhole, match="offset 20 brought only"):
            list_from(server, page_size=10)


@pytest.mark.parametrize(("count", "has_stats"), [(3, False), (12, False), (20, True)])
def test_a_server_without_paging_is_whole(count: int, has_stats: bool) -> None:
    """One that sends everything whatever is asked repeats itself, too; its count, or an odd number, tells them apart."""
    with CFlowServer(wire_memo(n, f"memo {n}") for n in range(1, count + 1)) as server:
        server.behaviours[LIST] = far_end.answer_json(server.memos)
        if not has_stats:
            server.behaviours[STATS] = far_end.answer_status(404)
        assert ids_of(list_from(server)) == list(range(1, count + 1))


def test_a_server_that_never_ends_is_left(server: CFlowServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Always one more memo: given up after a bounded number of pages."""
    monkeypatch.setattr("vaultbrain.sources.cflow.MAX_PAGES", 25)

    def one_more(exchange: Exchange) -> None:
        far_end.answer_json([wire_memo(int(exchange.seen.params.get("offset", 0)) + 1, "x")])(exchange)

    server.behaviours[LIST] = one_more
    with pytest.raises(ListingNotWhole, match="did not end after 25 pages"):
        list_from(server)


@pytest.mark.parametrize("trouble", [far_end.answer_status(500), far_end.reset, far_end.cut_body()])
def test_trouble_on_the_second_page(trouble: far_end.Behaviour) -> None:
    """Once is mended by another try; always is an error, not a listing of one page."""
    with CFlowServer(make_memos(25)) as server:
        server.behaviours[LIST] = [None, trouble]
        assert len(list_from(server, page_size=10).memos) == 25
        server.behaviours[LIST] = [None, *[trouble] * MAX_TRIES]
        with pytest.raises(SourceError):
            list_from(server, page_size=10)


def test_a_memo_that_comes_between_two_pages_is_not_doubled() -> None:
    """The last of page one comes again on page two, once in the listing."""
    with CFlowServer((wire_memo(n, f"memo {n}") for n in range(1, 46)), page_cap=20) as server:
        server.behaviours[LIST] = [None, far_end.meanwhile(lambda: server.add("new"))]
        listing = list_from(server)
        assert ids_of(listing) == list(range(1, 46))


def test_a_memo_deleted_between_two_pages_spoils_the_listing() -> None:
    """Another one slips through by that; the server's count notices, and the next run has it."""
    with CFlowServer((wire_memo(n, f"memo {n}") for n in range(1, 46)), page_cap=20) as server:
        server.behaviours[LIST] = [None, far_end.meanwhile(lambda: server.delete(44))]
        with pytest.raises(ListingNotWhole, match="44 normal memos were listed, but the server counts 45"):
            list_from(server)
        assert len(list_from(server).memos) == 44


def test_fewer_memos_than_the_server_counts_is_an_error(server: CFlowServer) -> None:
    """A short but well-formed listing is caught, with both numbers."""
    server.behaviours[LIST] = [far_end.answer_json(server.memos[:1]), far_end.answer_json([])]
    with pytest.raises(ListingNotWhole, match="1 normal memos were listed, but the server counts 3"):
        list_from(server)


def test_archived_memos_do_not_disturb_the_count(server: CFlowServer) -> None:
    """The server counts the normal ones only."""
    server.edit(1, rowStatus="ARCHIVED")
    server.behaviours[LIST] = [far_end.answer_json([server.memo(1), server.memo(2)]), far_end.answer_json([])]
    with pytest.raises(ListingNotWhole, match="1 normal memos were listed, but the server counts 2"):
        list_from(server)


@pytest.mark.parametrize(
    "answer",
    [
        far_end.answer_status(404),
        far_end.answer_status(403),
        far_end.answer_status(400),
        far_end.answer_status(500),
        far_end.answer_html(),
        far_end.answer_json({"count": 99}),
        far_end.answer_json([{"day": 1}] * 99),
        far_end.redirect("/x"),
    ],
)
def test_a_count_that_is_not_to_be_had_is_left_out(server: CFlowServer, answer: far_end.Behaviour) -> None:
    """It is a second opinion, not a condition."""
    server.behaviours[STATS] = answer
    assert len(list_from(server).memos) == 3


@pytest.mark.parametrize("version", ["0.16.1", "0.17.0"])
def test_counts_that_include_comments_are_not_compared(version: str) -> None:
    """These releases count comments and do not list them."""
    with CFlowServer([wire_memo(1, "x", "B2")], generation="B2", version=version) as server:
        server.behaviours[STATS] = far_end.answer_json([1, 2, 3])
        assert ids_of(list_from(server)) == [1]


def test_a_row_that_comes_twice_is_one_memo(server: CFlowServer) -> None:
    """0.18.2-0.21 repeat a memo with two comment relations, in the list and in the count alike."""
    twice = [server.memos[0], *server.memos]
    server.behaviours[LIST] = [far_end.answer_json(twice), far_end.answer_json([])]
    server.behaviours[STATS] = far_end.answer_json([1, 2, 3, 4])
    assert ids_of(list_from(server)) == [1, 2, 3]


def test_memos_of_others_are_left_out(server: CFlowServer) -> None:
    """Whatever the server sends, only memos of the login count; one that does not say its owner stays."""
    silent = wire_memo(9, "whose")
    del silent["creatorId"]
    sent = [*server.memos, wire_memo(8, "not mine", creatorId=2), silent]
    server.behaviours[LIST] = [far_end.answer_json(sent), far_end.answer_json([])]
    assert ids_of(list_from(server)) == [1, 2, 3, 9]


def test_one_unreadable_memo_spoils_the_listing(server: CFlowServer) -> None:
    """And it is named, since skipping it would look like its deletion."""
    server.behaviours[LIST] = far_end.answer_json([server.memos[0], server.memos[1] | {"createdTs": "yesterday"}])
    with pytest.raises(ListingNotWhole, match=r"item 2 \(memo 2\): createdTs is text"):
        list_from(server)


def test_links_lead_to_the_public_address(server: CFlowServer) -> None:
    """People may reach the server elsewhere than we do."""
    with door_to(server.url) as door:
        memos = CFlowSource(door, "https://memos.example/", recognise=detect).list_memos().memos
    assert {memo.url for memo in memos} == {f"https://memos.example/m/uid{n:019d}" for n in (1, 2, 3)}


# Not a listing (each of these with status 200 unless it says so)

WRONG_LISTINGS: dict[str, tuple[Callable[[], far_end.Behaviour], type[VaultbrainError], str]] = {
    "login page": (far_end.answer_html, NotMemos, "text/html"),
    "cut": (far_end.cut_body, NotMemos, "cut short after 28 of 428 bytes"),
    "valid but short": (lambda: far_end.cut_body(b"[]", 400), NotMemos, "cut short after 2 of 402 bytes"),
    "error object": (lambda: far_end.answer_json({"code": 16, "message": "no"}), NotMemos, "unknown reply shape: an object with"),
    "slow down": (lambda: far_end.answer_status(429, b"<p>", far_end.HTML, retry_after="1"), SourceOverloaded, "status 429"),
    "broken gzip": (far_end.broken_gzip, NotMemos, "gzip of"),
    "null": (lambda: far_end.answer_json(None), NotMemos, "unknown reply shape: null"),
    "newer server": (lambda: far_end.answer_json({"memos": [], "nextPageToken": ""}), NotMemos, "keys memos, nextPageToken"),
    "error with data": (lambda: far_end.answer_json({"code": 401, "data": []}), NotMemos, "keys code, data"),
    "list of lists": (lambda: far_end.answer_json([[]]), ListingNotWhole, "item 1 is an array"),
    "text": (lambda: far_end.answer_json("[]"), NotMemos, "unknown reply shape: text"),
    "not allowed": (lambda: far_end.answer_status(403), SourceRefused, "made to fail"),
}


@pytest.mark.parametrize("name", WRONG_LISTINGS)
def test_what_is_not_a_listing_is_an_error(server: CFlowServer, name: str) -> None:
    """Never zero memos; the message names the address and what came."""
    behaviour, kind, words = WRONG_LISTINGS[name]
    server.behaviours[LIST] = behaviour()
    with pytest.raises(kind) as caught:
        list_from(server)
    explained = explain(caught.value)
    assert words in explained.what
    assert server.url in explained.what
    assert explained.untouched == "Vault and index are unchanged."


def test_a_server_that_falls_silent_in_the_listing(server: CFlowServer) -> None:
    """It accepts and never answers: unreachable in bounded time."""
    server.behaviours[LIST] = far_end.never_answer()
    with door_to(server.url, timeout_s=SHORT_TIMEOUT_S) as door, pytest.raises(SourceUnreachable, match="no answer within"):
        CFlowSource(door, server.url, recognise=detect).list_memos()


def test_an_envelope_is_opened(server: CFlowServer) -> None:
    """CFlow may wrap its list in ``data``."""
    server.behaviours[LIST] = [far_end.answer_json({"data": server.memos}), far_end.answer_json({"data": []})]
    assert ids_of(list_from(server)) == [1, 2, 3]


# One memo


@pytest.mark.parametrize("generation", ["A", "B4"])
def test_one_memo_is_found_or_is_not_there(generation: str) -> None:
    """Only the server's own words for this very id mean that there is no such memo."""
    with CFlowServer([wire_memo(5, "five", generation)], generation=generation) as server, door_to(server.url) as door:
        source = CFlowSource(door, server.url, recognise=detect)
        memo = source.fetch_memo("5")
        assert memo is not None
        assert memo.content == "five"
        assert source.fetch_memo("6") is None


def test_one_memo_costs_one_request_when_the_server_is_known(server: CFlowServer) -> None:
    """A remembered generation is enough to ask."""
    fetch_from(server, "2")
    assert server.paths() == [f"{LIST}/2"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (far_end.answer_json({"message": "Not Found"}, 404), SourceRefused),
        (far_end.answer_json({"code": 5, "message": "memo not found"}, 404), SourceRefused),
        (far_end.answer_json({"message": "Memo not found: 77"}, 404), SourceRefused),
        (far_end.answer_status(404, b"Memo not found: 7", "text/plain"), SourceRefused),
        (far_end.answer_html(status=404), SourceRefused),
        (far_end.answer_json({"message": "Memo not found: 7"}, 400), SourceRefused),
        (far_end.answer_json({"message": "Memo not found: 7"}), NotMemos),
        (far_end.answer_json({"message": "this memo is private only"}, 403), SourceRefused),
        (far_end.answer_json({"message": "Invalid or expired access token"}, 401), LoginRefused),
        (far_end.answer_status(500), SourceOverloaded),
        (far_end.answer_status(403, b"null"), SourceOverloaded),
        (far_end.answer_html(), NotMemos),
        (far_end.answer_json(None), NotMemos),
        (far_end.answer_json([]), NotMemos),
        (far_end.answer_json(wire_memo(8, "another")), NotMemos),
        (far_end.reset, SourceUnreachable),
    ],
)
def test_any_other_answer_is_not_a_deletion(server: CFlowServer, answer: far_end.Behaviour, kind: type[SourceError]) -> None:
    """A 404 of the wrong kind, a refusal, trouble or another memo: an error, never "gone"."""
    server.behaviours[f"{LIST}/7"] = answer
    with pytest.raises(kind):
        fetch_from(server, "7")


def test_an_id_cannot_choose_a_path(server: CFlowServer) -> None:
    """What is no number is refused by the server, and is sent as one piece."""
    with pytest.raises(SourceRefused):
        fetch_from(server, "../user/me?x")
    assert server.paths() == [f"{LIST}/../user/me?x"]


# An export file


def test_an_export_is_a_listing(tmp_path: Path) -> None:
    """Bare or wrapped, each id once and in its newest version, with the file as origin and without links."""
    path = tmp_path / "export.json"
    memos = [wire_memo(1, "old"), wire_memo(2, "two"), wire_memo(1, "new", updatedTs=1_800_000_000)]
    for shape in (memos, {"data": memos}):
        path.write_text(json.dumps(shape), encoding="utf-8-sig")
        listing = ExportSource(path).list_memos()
        assert [(memo.id, memo.content, memo.url) for memo in listing.memos] == [("1", "new", ""), ("2", "two", "")]
        assert listing.origin == Origin(str(path), "export")
    assert ExportSource.is_export
    assert not CFlowSource.is_export


def test_one_memo_of_an_export(tmp_path: Path) -> None:
    """Present or not; the file is read once."""
    path = tmp_path / "export.json"
    path.write_text(json.dumps([wire_memo(1, "one")]))
    with closing(ExportSource(path, "https://memos.example")) as source:
        memo = source.fetch_memo("1")
        assert memo is not None
        assert memo.url == "https://memos.example/m/uid0000000000000000001"
        assert source.fetch_memo("2") is None


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (None, "No such file"),
        (b"", "not valid JSON at line 1"),
        (b'[{"id": 1, "content": "fir', "cut short"),
        (b"<html>", "not valid JSON"),
        (b"\xff\xfe\x00", "not a JSON text"),
        (b"[" * 100_000, "not a JSON text"),
        (b"null", "unknown reply shape: null"),
        (b'{"memos": []}', "keys memos"),
        (b'[{"id": 1}]', "item 1 (memo 1): content is missing"),
    ],
)
def test_an_export_that_cannot_be_used_says_why(tmp_path: Path, body: bytes | None, detail: str) -> None:
    """Missing, cut, of another kind: an error for listing and for a single memo, never "no memos"."""
    path = tmp_path / "export.json"
    if body is not None:
        path.write_bytes(body)
    for ask in (ExportSource(path).list_memos, lambda: ExportSource(path).fetch_memo("1")):
        with pytest.raises(ExportUnreadable) as caught:
            ask()
        assert detail in caught.value.fact("detail")
        assert caught.value.fact("address") == str(path)


def test_a_folder_is_no_export(tmp_path: Path) -> None:
    """A path that is there and is no file."""
    with pytest.raises(ExportUnreadable):
        ExportSource(tmp_path).list_memos()


# The setting


def test_a_setting_means_a_server_or_a_file(server: CFlowServer, tmp_path: Path) -> None:
    """An http address is a server, anything else a path seen from the vault; opening asks nothing yet."""
    (tmp_path / "export.json").write_text(json.dumps([wire_memo(4, "four")]))
    for setting in ("export.json", str(tmp_path / "export.json")):
        with closing(open_source(setting, vault=tmp_path)) as source:
            assert ids_of(source.list_memos()) == [4]
    with closing(open_source(server.url.replace("http", "HTTP"), vault=tmp_path, token=TOKEN)) as source:
        assert server.requests == []
        listing = source.list_memos()
    assert ids_of(listing) == [1, 2, 3]
    assert listing.memos[0].url.startswith(f"{server.url}/m/")


def test_links_of_a_server_do_not_hold_its_password(server: CFlowServer, tmp_path: Path) -> None:
    """What the setting holds besides the address does not come into a note."""
    address = server.url.replace("//", "//me:hidden@") + "/?openId=hidden"
    with closing(open_source(address, vault=tmp_path, token=TOKEN)) as source:
        listing = source.list_memos()
    assert "hidden" not in repr(listing)


# The server that all of this stands on


def test_offset_counts_only_with_limit() -> None:
    """Like the real one, so that a client which forgets ``limit`` is caught by its tests."""
    with CFlowServer(make_memos(9)) as server, door_to(server.url) as door:
        assert len(door.get_json(LIST, {"offset": 5}).data) == 9
        assert len(door.get_json(LIST, {"limit": 3, "offset": 7}).data) == 2
        assert door.get_json(LIST, {"limit": 0}).data == []


def test_pinned_memos_come_first_then_the_newest() -> None:
    """The order of the real list."""
    with CFlowServer(wire_memo(n, f"memo {n}", pinned=n == 2) for n in range(1, 5)) as server, door_to(server.url) as door:
        assert [memo["id"] for memo in door.get_json(LIST).data] == [2, 4, 3, 1]


def test_changes_to_the_memos_are_seen_at_once(server: CFlowServer) -> None:
    """By the helpers or by hand, deep inside a memo included; the kept body is never stale."""
    with door_to(server.url) as door:
        door.get_json(LIST)
        server.add("four")
        server.edit(1, "one")
        server.delete(2)
        server.memos[1]["relationList"].append({"memoId": 3, "relatedMemoId": 1, "type": "REFERENCE"})
        memos = {memo["id"]: memo for memo in door.get_json(LIST).data}
    assert sorted(memos) == [1, 3, 4]
    assert (memos[1]["content"], memos[3]["relationList"][0]["relatedMemoId"]) == ("one", 1)


def test_made_up_memos_are_the_same_each_time() -> None:
    """Same arguments, same memos; short in the median, mostly different, in several languages, and all readable."""
    memos = make_memos(600, seed=5)
    assert memos == make_memos(600, seed=5)
    assert memos != make_memos(600, seed=6)
    lengths = sorted(len(memo["content"]) for memo in memos)
    assert 35 <= lengths[300] <= 65
    assert lengths[-1] > 600
    assert len({memo["content"] for memo in memos}) > 550
    assert {memo["id"] for memo in memos} == set(range(1, 601))
