"""The one door for HTTP: asks one server for JSON and gives back whole JSON, or a situation from ``errors``.

Decides the time limits, how often a question is repeated, what counts as a whole JSON answer, and where the token may go: to
the base address's own origin and nowhere else, so a redirect is an error and is never followed. Refuses to know what the
answers mean. The only module that imports httpx, and only when the first question is asked.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
import zlib
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from vaultbrain.errors import (
    Interrupted,
    LoginRefused,
    NotMemos,
    SourceError,
    SourceOverloaded,
    SourceRefused,
    SourceUnreachable,
    UsageProblem,
)
from vaultbrain.memo import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    import httpx

#: Seconds. A server on the same machine or home network connects in milliseconds; a sleeping one not at all.
CONNECT_TIMEOUT_S = 5.0
#: Seconds of silence, not of the whole answer. The slowest honest answer is a listing of thousands of memos from a small board.
READ_TIMEOUT_S = 20.0
#: Seconds for one whole answer, so that a server which sends a byte now and then cannot hold a sync for ever.
MAX_ANSWER_S = 180.0
#: Bytes of one body, unpacked. A listing of 2,800 memos has 2.5 million; the limit stops a gzip bomb, not a diligent writer.
MAX_BODY_BYTES = 256 * 1024 * 1024

MAX_TRIES = 4
#: Seconds. Full jitter (each wait is uniform between 0 and the step) keeps several clients from coming back in one crowd.
BACKOFF_STEP_S = 0.5
BACKOFF_CAP_S = 8.0
#: Seconds. A person waits at the other end: what a server asks for beyond this becomes "try again later".
MAX_RETRY_AFTER_S = 30.0
MAX_TOTAL_WAIT_S = 60.0

#: Characters of a server's own words that are worth passing on.
MAX_MESSAGE_CHARS = 200

_TOKEN = re.compile(r"[!-~]+")
_GZIP_WINDOW = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What one address answered. ``data`` is the parsed JSON; when there is none, ``flaw`` says why and ``data`` is None."""

    address: str
    status: int
    content_type: str
    data: Any
    flaw: str = ""

    @property
    def message(self) -> str:
        """The ``message`` of a JSON error body; empty when there is none."""
        found = self.data.get("message") if isinstance(self.data, dict) else None
        return found if isinstance(found, str) else ""


class _Setback(Exception):
    """One try failed in a way that another try may mend; ``kind`` and ``facts`` are the situation if none does."""

    def __init__(self, kind: type[SourceError], retry_after_s: float | None = None, **facts: object) -> None:
        super().__init__(kind.__name__)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.facts = facts


class ServerDoor:
    """Asks the server at ``address`` for JSON. One connection pool per door; close it when done.

    ``timeout_s`` is for one silence, not for a whole answer; ``tries`` is how often a question is asked that meets with trouble.
    ``address`` may hold a path below which the server lives. A user name, password, query or fragment in it is dropped: it is
    never sent and never shown. Loopback addresses ignore the proxy settings of the environment. ``should_stop`` is asked before
    each question and with each part of an answer; then ``Interrupted`` is raised.

    Raises:
        UsageProblem: the address is not an http(s) address, or the token holds characters no header may carry.
    """

    def __init__(
        self,
        address: str,
        token: str = "",
        *,
        timeout_s: float = READ_TIMEOUT_S,
        tries: int = MAX_TRIES,
        max_answer_s: float = MAX_ANSWER_S,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        jitter: Callable[[], float] = random.random,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.address, self._is_loopback = _read_address(address)
        self._token = _read_token(token)
        self._timeout_s = timeout_s
        self._max_tries = tries
        self._max_answer_s = max_answer_s
        self._sleep = sleep
        self._now = now
        self._jitter = jitter
        self._should_stop = should_stop
        self._client: httpx.Client | None = None

    @property
    def has_token(self) -> bool:
        return bool(self._token)

    def get_json(self, path: str, params: Mapping[str, str | int] | None = None) -> Answer:
        """The JSON at ``path``, status 200.

        Raises:
            SourceUnreachable: no whole answer in time, after all tries.
            SourceOverloaded: 429 or 5xx after all tries.
            LoginRefused: 401.
            SourceRefused: any other 4xx, or a redirect.
            NotMemos: not JSON, cut short, badly packed, or another status.
        """
        return self.accept(self.probe(path, params))

    def probe(self, path: str, params: Mapping[str, str | int] | None = None) -> Answer:
        """Whatever ``path`` answers, a 4xx or a web page included. ``path`` begins with a slash.

        Raises ``SourceUnreachable``, ``SourceOverloaded``, ``SourceRefused`` (a redirect) or ``NotMemos`` (a cut body): an
        answer that proves nothing about what stands there.
        """
        waited_s = 0.0
        for tries in count(1):
            try:
                return self._ask(path, params)
            except _Setback as setback:
                wait_s = self._wait_s(setback, tries)
                if tries >= self._max_tries or waited_s + wait_s > MAX_TOTAL_WAIT_S:
                    raise setback.kind(**setback.facts, tries=tries) from setback.__cause__
            self._sleep(wait_s)
            waited_s += wait_s
        raise AssertionError("count() does not end")

    def accept(self, answer: Answer) -> Answer:
        """``answer`` when it is JSON with status 200; raises as ``get_json`` does."""
        if answer.status == HTTPStatus.UNAUTHORIZED:
            raise LoginRefused(address=self.address, status=answer.status, has_token=self.has_token)
        if 400 <= answer.status < 500:
            message = self._presentable(answer.message) or _phrase(answer.status)
            raise SourceRefused(address=answer.address, status=answer.status, message=message)
        if answer.flaw or answer.status != HTTPStatus.OK:
            raise not_memos(answer, answer.flaw or _phrase(answer.status))
        return answer

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _ask(self, path: str, params: Mapping[str, str | int] | None) -> Answer:
        """One try. Raises ``_Setback`` when another may help."""
        self._stop_if_asked()
        httpx = _import_httpx()
        client = self._open_client()
        try:
            with client.stream("GET", self.address + path, params=params) as response:
                self._refuse_redirect(response, self.address + path)
                body = self._read_body(response, self.address + path)
        except httpx.TimeoutException as error:
            raise _Setback(SourceUnreachable, address=self.address, reason=self._timeout_reason(error)) from error
        except httpx.TransportError as error:
            raise _Setback(SourceUnreachable, address=self.address, reason=self._presentable(_bare_reason(error))) from error
        except httpx.InvalidURL as error:
            raise SourceUnreachable(address=self.address, reason=self._presentable(str(error)), tries=1) from error
        self._refuse_overload(response, body)
        return _read_answer(self.address + path, response, body)

    def _read_body(self, response: httpx.Response, address: str) -> bytes:
        """The body as sent, whole. httpx would unpack gzip, but lets a stream pass that ends too early."""
        httpx = _import_httpx()
        facts: dict[str, Any] = {"address": address, "status": response.status_code, "content_type": _content_type(response)}
        parts: list[bytes] = []
        size_bytes = 0
        deadline = time.monotonic() + self._max_answer_s
        try:
            for part in response.iter_raw():
                self._stop_if_asked()
                parts.append(part)
                size_bytes += len(part)
                if size_bytes > MAX_BODY_BYTES:
                    raise NotMemos(**facts, detail=f"the body is longer than {MAX_BODY_BYTES} bytes")
                if time.monotonic() > deadline:
                    reason = f"the answer took longer than {self._max_answer_s:g} s"
                    raise SourceUnreachable(address=self.address, reason=reason, tries=1)
        except (httpx.ReadError, httpx.RemoteProtocolError) as error:
            announced = response.headers.get("Content-Length", "")
            of_all = f" of {announced}" if announced.isdecimal() else ""
            raise _Setback(NotMemos, None, **facts, detail=f"the body was cut short after {size_bytes}{of_all} bytes") from error
        return b"".join(parts)

    def _stop_if_asked(self) -> None:
        if self._should_stop():
            raise Interrupted(left="", notices=[])

    def _refuse_redirect(self, response: httpx.Response, address: str) -> None:
        """The token must not travel, and a login page is no memo: whoever moved the server has to say so in the settings."""
        target = response.headers.get("Location", "")
        if target and 300 <= response.status_code < 400:
            message = f"it redirects to {_origin(address, target)}"
            raise SourceRefused(address=address, status=response.status_code, message=self._presentable(message))

    def _refuse_overload(self, response: httpx.Response, body: bytes) -> None:
        """Memos 0.15.1-0.21 answers beyond 30 requests a second with 429 or 403, body ``null``."""
        status = response.status_code
        rate_limited = status == HTTPStatus.FORBIDDEN and body.strip() == b"null"
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500 or rate_limited:
            retry_after_s = _retry_after_s(response.headers.get("Retry-After", ""), self._now)
            raise _Setback(SourceOverloaded, retry_after_s, address=self.address, status=status)

    def _wait_s(self, setback: _Setback, tries: int) -> float:
        if setback.retry_after_s is not None:
            return min(setback.retry_after_s, MAX_RETRY_AFTER_S)
        return self._jitter() * min(BACKOFF_CAP_S, BACKOFF_STEP_S * 2.0 ** (tries - 1))

    def _timeout_reason(self, error: httpx.TimeoutException) -> str:
        if isinstance(error, _import_httpx().ConnectTimeout):
            return f"no connection within {CONNECT_TIMEOUT_S:g} s"
        return f"no answer within {self._timeout_s:g} s"

    def _presentable(self, text: str) -> str:
        """The far end's words on one line, short, without control characters and without our token should it echo it."""
        line = " ".join(clean_text(text).split())
        if self._token:
            line = line.replace(self._token, "…")
        return line if len(line) <= MAX_MESSAGE_CHARS else line[:MAX_MESSAGE_CHARS] + "…"

    def _open_client(self) -> httpx.Client:
        if self._client is None:
            try:
                self._client = self._build_client()
            except (ValueError, ImportError, OSError) as error:
                # Proxy variables of an unknown kind, or a certificate file that is not there. The text may hold a password.
                reason = "the proxy or certificate settings of the environment cannot be used"
                raise SourceUnreachable(address=self.address, reason=reason, tries=0) from error
        return self._client

    def _build_client(self) -> httpx.Client:
        import ssl
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        library = _import_httpx()
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "vaultbrain"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        # Loading the certificates takes 20 ms that a plain address need not pay; the bare context trusts nobody.
        is_tls = self.address.startswith("https:")
        client: httpx.Client = library.Client(
            headers=headers,
            # In 0.14 a cookie wins over the token, so a stale one makes a good token look bad: keep none.
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=())),
            timeout=library.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S),
            follow_redirects=False,
            trust_env=not self._is_loopback,
            verify=library.create_ssl_context() if is_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        )
        return client


def not_memos(answer: Answer, detail: str) -> NotMemos:
    """The situation of an answer that is not what the caller can use."""
    return NotMemos(address=answer.address, status=answer.status, content_type=answer.content_type, detail=detail)


def _import_httpx() -> ModuleType:
    """httpx without its command line, whose click, rich and pygments are 45 of its 110 ms and are never used here."""
    if "httpx" not in sys.modules:
        # None is the import system's word for "not installed", a case that httpx itself provides for.
        sys.modules["httpx._main"] = None  # type: ignore[assignment]
        try:
            import httpx
        finally:
            sys.modules.pop("httpx._main", None)
    import httpx

    return httpx


def _read_address(address: str) -> tuple[str, bool]:
    """The address as scheme, host, port and path without a slash at the end, and whether it is this very machine."""
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageProblem(
            what="`source` is not the address of a server.", next='Write it like this: source = "http://127.0.0.1:5230"'
        )
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path.rstrip('/')}", _is_loopback(host)


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _read_token(token: str) -> str:
    bare = token.strip().removeprefix("Bearer ").strip()
    if bare and not _TOKEN.fullmatch(bare):
        raise UsageProblem(what="The access token holds a space or a character that no token has.", next="Copy it again, alone.")
    return bare


def _origin(address: str, target: str) -> str:
    """Scheme, host and port of a redirect's target; a path or a query in it may hold a secret."""
    try:
        parts = urlsplit(urljoin(address, target))
        port = parts.port
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.hostname or ''}{f':{port}' if port else ''}"


def _retry_after_s(value: str, now: Callable[[], float]) -> float | None:
    """Seconds to wait, from a number or an HTTP date (RFC 9110, 10.2.3); None when the header is missing or nonsense."""
    if value.isdecimal():
        return float(value)
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - now())


def _read_answer(address: str, response: httpx.Response, body: bytes) -> Answer:
    content_type = _content_type(response)
    if not _is_json(content_type):
        return Answer(address, response.status_code, content_type, None, f"not JSON, {len(body)} bytes")
    try:
        text = _unpack(body, response.headers.get("Content-Encoding", ""))
        data = json.loads(text)
    except zlib.error as error:
        return Answer(address, response.status_code, content_type, None, f"gzip of {len(body)} bytes is broken ({error})")
    except (ValueError, RecursionError):
        return Answer(address, response.status_code, content_type, None, f"{len(body)} bytes that are not valid JSON")
    return Answer(address, response.status_code, content_type, data)


def _unpack(body: bytes, encoding: str) -> bytes:
    """Raises ``zlib.error`` when the packed stream is damaged, ends early or never ends."""
    if encoding.strip().lower() in {"", "identity"}:
        return body
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    text = unpacker.decompress(body, MAX_BODY_BYTES)
    if not unpacker.eof:
        raise zlib.error("it ends too early" if not unpacker.unconsumed_tail else "it is too long")
    return text


def _content_type(response: httpx.Response) -> str:
    return " ".join(clean_text(response.headers.get("Content-Type", "")).split())[:MAX_MESSAGE_CHARS]


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "unknown status"


def _bare_reason(error: Exception) -> str:
    return re.sub(r"^\[(Errno|WinError) -?\d+\] ", "", str(error)) or type(error).__name__
