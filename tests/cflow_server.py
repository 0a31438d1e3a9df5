"""A memo server of our own on the loopback address, for tests, benchmarks and trying things out by hand.

Speaks real HTTP the way Memos 0.13 (generation A) and 0.14-0.21 (B1, B2, B4; CFlow is taken for one of these) do, answers just
enough as generations C to G to be recognised, and can misbehave at will: ``behaviours`` maps a path to what happens there.

    with CFlowServer(make_memos(300)) as server:
        server.behaviours["/api/v1/memo"] = [answer_status(429, retry_after="1"), cut_body()]

By hand: ``python -m tests.cflow_server --count 300 --port 5230 --token test-token``
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gzip
import json
import random
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from types import TracebackType

Wire = dict[str, Any]

TOKEN = "test-token"
USER_ID = 1
VERSIONS = {
    "A": "0.13.2",
    "B1": "0.14.4",
    "B2": "0.17.1",
    "B4": "0.21.0",
    "C": "0.22.5",
    "D": "0.24.4",
    "E": "0.26.2",
    "F": "0.30.0",
    "G": "0.31.0",
}
_PROFILE_PATHS = {"C": "/api/v1/workspace/profile", "D": "/api/v1/workspace/profile"}
_INSTANCE_PATH = "/api/v1/instance/profile"

WEB_APP = b"<!doctype html><html><head><title>Memos</title></head><body><div id='root'></div></body></html>"
JSON = "application/json; charset=UTF-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; ``params`` hold the first value of each name."""

    method: str
    path: str
    params: dict[str, str]
    has_auth: bool
    headers: dict[str, str] = field(repr=False, compare=False, default_factory=dict)


class Exchange(BaseHTTPRequestHandler):
    """One connection. Behaviours get it and answer with ``reply`` or do something worse to ``connection``."""

    protocol_version = "HTTP/1.1"
    server_version = "cflow-test"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave together
    server: _HttpServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        params = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.seen = Seen("GET", unquote(parts.path), params, "authorization" in headers, headers)
        cflow = self.server.cflow
        cflow.requests.append(self.seen)
        behaviour = cflow._next_behaviour(self.seen.path)
        if behaviour is None:
            self.reply(*cflow._answer(self.seen))
        else:
            behaviour(self)
        self.wfile.flush()

    def reply(self, status: int, body: bytes = b"", content_type: str = JSON, **headers: str) -> None:
        """A whole answer; underscores in the names of further ``headers`` become hyphens."""
        self.start(status, content_type, len(body), **headers)
        self.wfile.write(body)

    def start(self, status: int, content_type: str, length: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name of the base class)
        """Nothing: ``requests`` of the server is the log."""


Behaviour = Callable[[Exchange], None]


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64
    cflow: CFlowServer

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, Exchange)
        self.open_connections: set[socket.socket] = set()
        self.failures: list[BaseException] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open_connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open_connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no failure of ours; anything else fails the test at the end."""
        import sys

        error = sys.exception()
        if error is not None and not isinstance(error, (OSError, ValueError)):
            self.failures.append(error)


class CFlowServer:
    """A memo server in a thread, for the length of a ``with``.

    ``memos`` are wire objects and may be changed freely at any time; ``token`` is the only good one; ``user_id`` is who that
    token belongs to. ``page_cap`` limits what one listing sends, without a word. ``behaviours[path]`` is one for every request,
    or a list of behaviours of which each serves one request (None among them: answer as usual), then all is as usual again.
    """

    def __init__(
        self,
        memos: Iterable[Wire] = (),
        *,
        generation: str = "B4",
        token: str = TOKEN,
        user_id: int = USER_ID,
        version: str | None = None,
        page_cap: int | None = None,
        port: int = 0,
    ) -> None:
        self.memos = list(memos)
        self.generation = generation
        self.token = token
        self.user_id = user_id
        self.version = VERSIONS[generation] if version is None else version
        self.page_cap = page_cap
        self.behaviours: dict[str, Behaviour | list[Behaviour | None] | deque[Behaviour | None]] = {}
        self.requests: list[Seen] = []
        self.stopping = threading.Event()
        self._cache_lock = threading.Lock()
        self._cached_memos: list[Wire] = []
        self._cached_bodies: dict[tuple[str, ...], bytes] = {}
        self._http = _HttpServer(("127.0.0.1", port))
        self._http.cflow = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def prefix(self) -> str:
        """Below which the memos are: ``/api`` in generation A, ``/api/v1`` in B."""
        return "/api" if self.generation == "A" else "/api/v1"

    def paths(self) -> list[str]:
        """The paths asked for so far, in order."""
        return [seen.path for seen in self.requests]

    def add(self, content: str, **fields: Any) -> Wire:
        """A new memo with the next id, in the shape of this generation; ``fields`` are wire names."""
        memo_id = fields.pop("id", max((memo["id"] for memo in self.memos), default=0) + 1)
        memo = wire_memo(memo_id, content, self.generation, creatorId=self.user_id, **fields)
        self.memos.append(memo)
        return memo

    def edit(self, memo_id: int, content: str | None = None, **fields: Any) -> Wire:
        """Changes a memo; like the real server, every change sets ``updatedTs`` unless it is given."""
        memo = self.memo(memo_id)
        if content is not None:
            memo["content"] = content
        memo.update({"updatedTs": memo["updatedTs"] + 60} | fields)
        return memo

    def delete(self, memo_id: int) -> None:
        self.memos.remove(self.memo(memo_id))

    def memo(self, memo_id: int) -> Wire:
        return next(memo for memo in self.memos if memo["id"] == memo_id)

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        self.stopping.set()
        self._http.shutdown()
        for connection in list(self._http.open_connections):
            with contextlib.suppress(OSError):  # the client may be faster
                connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        if error is None and self._http.failures:
            raise self._http.failures[0]

    def _next_behaviour(self, path: str) -> Behaviour | None:
        behaviour = self.behaviours.get(path)
        if behaviour is None or callable(behaviour):
            return behaviour
        if not behaviour:
            return None
        return behaviour.popleft() if isinstance(behaviour, deque) else behaviour.pop(0)

    def _answer(self, seen: Seen) -> tuple[int, bytes, str]:
        if self.generation == "A":
            return self._answer_a(seen)
        if self.generation.startswith("B"):
            return self._answer_b(seen)
        return self._answer_newer(seen)

    def _answer_a(self, seen: Seen) -> tuple[int, bytes, str]:
        if seen.path in {"/api/status", "/api/ping"}:
            return _json(200, {"data": self._status()})
        if seen.path.startswith("/api/v1/"):
            return _echo(404, "Not Found") if self._login(seen) == "good" else _echo(401, "Missing access token")
        if seen.path.startswith("/api/"):
            return self._answer_memos(seen, wrap=True)
        return 200, WEB_APP, HTML

    def _answer_b(self, seen: Seen) -> tuple[int, bytes, str]:
        if seen.path == "/api/v1/status":
            return _json(200, self._status())
        if seen.path == "/api/v1/ping":
            return _json(200, True)
        if seen.path == "/api/v1/memos" and self._login(seen) == "none":
            return _echo(404, "Not Found")
        if seen.path.startswith("/api/v1/"):
            return self._answer_memos(seen, wrap=False)
        if seen.path.startswith("/api/") and self.generation in {"B1", "B2"}:
            return _echo(404, "Not Found")
        return 200, WEB_APP, HTML

    def _answer_newer(self, seen: Seen) -> tuple[int, bytes, str]:
        """C to G: the profile, and the gateway's "no such path" for whatever an older client asks."""
        if seen.path == _PROFILE_PATHS.get(self.generation, _INSTANCE_PATH):
            return _json(200, {"owner": "users/1", "version": self.version, "mode": "prod", "instanceUrl": ""})
        if seen.path.startswith("/api/v1/"):
            return _json(404, {"code": 5, "message": "Not Found", "details": []})
        return 200, WEB_APP, HTML

    def _answer_memos(self, seen: Seen, *, wrap: bool) -> tuple[int, bytes, str]:
        """The paths that know logins: 401 for a bad one anywhere, for none only where a login is needed."""
        login = self._login(seen)
        base = f"{self.prefix}/memo"
        if login == "bad":
            return _echo(401, "Invalid or expired access token")
        if seen.path == f"{self.prefix}/user/me":
            user = {"id": self.user_id, "rowStatus": "NORMAL", "username": "u", "nickname": "u", "role": "HOST"}
            return _json(200, _wrapped(user, wrap)) if login == "good" else _echo(401, "Missing auth session")
        if seen.path == base:
            return self._answer_list(seen, login, wrap=wrap)
        if seen.path == f"{base}/stats":
            return self._answer_stats(seen, login, wrap=wrap)
        if seen.path == f"{base}/all":
            public = {"PUBLIC"} | ({"PROTECTED"} if login == "good" else set())
            shown = [m for m in self._sorted() if m["visibility"] in public and m["rowStatus"] == "NORMAL"]
            return _json(200, _wrapped(shown, wrap))
        if match := re.fullmatch(rf"{base}/([^/]+)", seen.path):
            return self._answer_one(match[1], login, wrap=wrap)
        return _echo(404, "Not Found") if login == "good" else _echo(401, "Missing access token")

    def _answer_list(self, seen: Seen, login: str, *, wrap: bool) -> tuple[int, bytes, str]:
        creator_id = _number(seen.params.get("creatorId"))
        if login == "none" and creator_id is None:
            return _echo(400, "Missing user to find memo")
        key = (
            "list",
            login,
            *(seen.params.get(name, "") for name in ("creatorId", "rowStatus", "limit", "offset")),
            str(self.page_cap),
        )
        return 200, self._cached(key, lambda: _encode(_wrapped(self._page(seen, login), wrap))), JSON

    def _page(self, seen: Seen, login: str) -> list[Wire]:
        asked = _number(seen.params.get("creatorId"))
        creator_id = self.user_id if asked is None else asked
        visible = {"PUBLIC"}
        if login == "good":
            visible |= {"PROTECTED"}
            # 0.13 hides the private memos of whoever names himself.
            if creator_id == self.user_id and not (self.generation == "A" and asked is not None):
                visible |= {"PRIVATE"}
        shown = [m for m in self._sorted() if m.get("creatorId") == creator_id and m["visibility"] in visible]
        if status := seen.params.get("rowStatus"):
            shown = [memo for memo in shown if memo["rowStatus"] == status]
        limit = _number(seen.params.get("limit"))
        if limit is not None:
            offset = _number(seen.params.get("offset")) or 0
            shown = shown[offset : offset + limit]
        return shown if self.page_cap is None else shown[: self.page_cap]

    def _answer_stats(self, seen: Seen, login: str, *, wrap: bool) -> tuple[int, bytes, str]:
        creator_id = _number(seen.params.get("creatorId"))
        if creator_id is None:
            return _echo(400, "Missing user id to find memo")
        own = login == "good" and creator_id == self.user_id

        def moments() -> bytes:
            shown = [m for m in self._sorted() if m.get("creatorId") == creator_id and m["rowStatus"] == "NORMAL"]
            return _encode(_wrapped([m["createdTs"] for m in shown if own or m["visibility"] == "PUBLIC"], wrap))

        return 200, self._cached(("stats", str(own), str(creator_id)), moments), JSON

    def _answer_one(self, memo_id: str, login: str, *, wrap: bool) -> tuple[int, bytes, str]:
        if not memo_id.isdecimal():
            return _echo(400, f"ID is not a number: {memo_id}")
        memo = next((memo for memo in self.memos if memo["id"] == int(memo_id)), None)
        if memo is None:
            return _echo(404, f"Memo {'ID ' if self.generation == 'A' else ''}not found: {memo_id}")
        if memo["visibility"] == "PRIVATE" and (login != "good" or memo.get("creatorId") != self.user_id):
            return _echo(403, "this memo is private only")
        if memo["visibility"] == "PROTECTED" and login != "good":
            return _echo(403, "this memo is protected, missing user in session")
        return _json(200, _wrapped(memo, wrap))

    def _login(self, seen: Seen) -> str:
        """``good``, ``bad`` or ``none``. A header that is not ``Bearer x`` counts as none, as in the real server."""
        scheme, _, token = seen.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not token:
            return "none"
        return "good" if token == self.token else "bad"

    def _sorted(self) -> list[Wire]:
        return sorted(self.memos, key=lambda memo: (memo.get("pinned", False), memo["createdTs"], memo["id"]), reverse=True)

    def _status(self) -> Wire:
        host = {"id": self.user_id, "username": "u", "role": "HOST"}
        return {"host": host, "profile": {"mode": "prod", "version": self.version}, "dbSize": 0, "allowSignUp": False}

    def _cached(self, key: tuple[str, ...], build: Callable[[], bytes]) -> bytes:
        """Encoded once and kept until any memo differs in any field: comparing 2,800 memos takes a millisecond."""
        with self._cache_lock:
            if self._cached_memos != self.memos:
                self._cached_memos = copy.deepcopy(self.memos)
                self._cached_bodies = {}
            if key not in self._cached_bodies:
                self._cached_bodies[key] = build()
            return self._cached_bodies[key]


def wire_memo(memo_id: int, content: str, generation: str = "B4", **fields: Any) -> Wire:
    """A private memo in the shape of ``generation``; ``fields`` override by wire name."""
    created = 1_700_000_000 + 60 * memo_id
    memo: Wire = {"id": memo_id}
    if generation == "B4":
        memo["name"] = f"uid{memo_id:019d}"
    memo |= {"rowStatus": "NORMAL", "creatorId": USER_ID, "createdTs": created, "updatedTs": created, "displayTs": created}
    memo |= {
        "content": content,
        "visibility": "PRIVATE",
        "pinned": False,
        "creatorName": "u",
        "resourceList": [],
        "relationList": [],
    }
    if generation != "A":
        memo["creatorUsername"] = "u"
    if generation == "B2":
        memo["parent"] = None
    return memo | fields


def answer_status(
    status: int, body: bytes = b'{"message":"made to fail"}', content_type: str = JSON, **headers: str
) -> Behaviour:
    """Any status; further headers by name, for example ``retry_after="1"``."""
    return lambda exchange: exchange.reply(status, body, content_type, **headers)


def answer_json(value: object, status: int = 200) -> Behaviour:
    return answer_status(status, _encode(value))


def answer_html(body: bytes = WEB_APP, status: int = 200) -> Behaviour:
    return answer_status(status, body, HTML)


def cut_body(body: bytes = b'[{"id": 1, "content": "first', missing_bytes: int = 400) -> Behaviour:
    """Announces ``missing_bytes`` more than it sends, then closes."""

    def cut(exchange: Exchange) -> None:
        exchange.start(200, JSON, len(body) + missing_bytes)
        exchange.wfile.write(body)
        exchange.close_connection = True

    return cut


def broken_gzip(body: bytes = b"[]", *, keep_bytes: int | None = None) -> Behaviour:
    """A gzip stream with a damaged check sum, or only the first ``keep_bytes`` of a good one; the lengths are right."""
    packed = gzip.compress(body, mtime=0)
    packed = packed[:-8] + b"\0" * 8 if keep_bytes is None else packed[:keep_bytes]
    return answer_status(200, packed, JSON, content_encoding="gzip")


def good_gzip(value: object) -> Behaviour:
    return answer_status(200, gzip.compress(_encode(value), mtime=0), JSON, content_encoding="gzip")


def never_answer(seconds: float = 60.0) -> Behaviour:
    """Holds the connection open in silence, then closes it. Ends at once when the server stops."""

    def wait(exchange: Exchange) -> None:
        exchange.server.cflow.stopping.wait(seconds)
        exchange.close_connection = True

    return wait


def trickle(seconds: float = 60.0, pause_s: float = 0.05) -> Behaviour:
    """Sends a space now and then, so that no single wait is long and the answer never ends."""

    def drip(exchange: Exchange) -> None:
        exchange.start(200, JSON, 1_000_000)
        for _ in range(int(seconds / pause_s)):
            exchange.wfile.write(b" ")
            exchange.wfile.flush()
            if exchange.server.cflow.stopping.wait(pause_s):
                break
        exchange.close_connection = True

    return drip


def slow(seconds: float) -> Behaviour:
    """The usual answer, late."""
    return lambda exchange: _answer_after(exchange, lambda: exchange.server.cflow.stopping.wait(seconds))


def meanwhile(change: Callable[[], object]) -> Behaviour:
    """Something happens on the server just before its usual answer, for example between two pages."""
    return lambda exchange: _answer_after(exchange, change)


def _answer_after(exchange: Exchange, act: Callable[[], object]) -> None:
    act()
    exchange.reply(*exchange.server.cflow._answer(exchange.seen))


def reset(exchange: Exchange) -> None:
    """The connection breaks without a word of HTTP (a TCP reset)."""
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.close_connection = True
    exchange.connection.close()


def redirect(target: str, status: int = 302) -> Behaviour:
    return answer_status(status, b"", HTML, location=target)


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _json(status: int, value: object) -> tuple[int, bytes, str]:
    return status, _encode(value), JSON


def _echo(status: int, message: str) -> tuple[int, bytes, str]:
    error = {"message": message} if message == "Not Found" else {"error": f"code={status}, message={message}", "message": message}
    return status, json.dumps(error, indent=2).encode(), JSON


def _wrapped(value: object, wrap: bool) -> object:
    return {"data": value} if wrap else value


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


#: What the made-up memos are about: tags, things, verbs in Chinese and English.
_TOPICS: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("观影", "movie"),
        ("那部慢节奏的老电影", "资料馆的修复版", "周末的纪录片放映", "片尾那段长镜头", "两个多小时的剧场版"),
        ("the restored print", "that slow documentary", "the late screening", "a three hour director's cut", "the subtitle file"),
    ),
    (
        ("读书", "book/notes"),
        ("借来的小说第三章", "讲城市史的那本书", "译本的注释", "书架最下层的旧杂志", "作者后记里的一句话"),
        (
            "chapter three of the novel",
            "a borrowed essay",
            "the footnotes",
            "the old paperback",
            "an interview with the translator",
        ),
    ),
    (
        ("做饭", "kitchen"),
        ("冷藏发酵的面团", "加了陈皮的绿豆汤", "冰箱里剩的米饭", "小火焖的土豆", "新买的铸铁锅"),
        ("the sourdough starter", "a pot of lentils", "the cast iron pan", "leftover rice", "pickled radish"),
    ),
    (
        ("工作", "work/todo"),
        ("下周的发布清单", "接口超时的日志", "会议纪要里没写清的部分", "迁移脚本的回滚步骤", "测试环境的证书"),
        ("the release checklist", "a flaky test", "the rollback script", "the timeout in the log", "the meeting notes"),
    ),
    (
        ("跑步", "health"),
        ("河边那条五公里的路线", "膝盖外侧的酸", "早上空腹的心率", "新鞋的鞋垫", "雨后的跑道"),
        ("the river loop", "my resting heart rate", "the left knee", "an easy long run", "the new shoes"),
    ),
    (
        ("旅行", "travel"),
        ("渡轮的末班时间", "老城区的青年旅舍", "火车上的靠窗座位", "退税要的单据", "山顶的观景台"),
        ("the last ferry", "a window seat", "the night train", "the museum pass", "the hostel near the harbour"),
    ),
    (
        ("理财", "money"),
        ("上个月的电费账单", "续费的域名", "信用卡的还款日", "租房押金", "年底要报的发票"),
        ("the electricity bill", "a domain renewal", "the deposit", "last month's receipts", "the insurance form"),
    ),
    (
        ("閱讀", "繁體"),
        ("圖書館預約的書", "舊書店裡的地圖", "講香港電車的散文", "夜裡聽的廣播劇", "颱風天寫的筆記"),
        ("the tram essay", "a map from the second-hand shop", "the radio play", "the typhoon notes", "a library reservation"),
    ),
)
_ZH_SAYINGS = (
    "今天又想起{thing}，先记一笔。",
    "{thing}比预想的好，下次还要再来一次。",
    "记得{day}之前把{thing}处理掉，别再拖了。",
    "{thing}花了{number}分钟，比上回快。",
    "为什么{thing}总是在{day}出问题？找个时间查清楚。",
    "跟朋友聊到{thing}，对方推荐了另一种做法，值得一试。",
    "{thing}：第{number}次记录。",
    "把{thing}收进清单，{day}再看。",
)
_EN_SAYINGS = (
    "Note to self: {thing} before {day}.",
    "Took {number} minutes over {thing}, better than last time.",
    "Why does {thing} always go wrong on {day}? Look into it.",
    "Somebody recommended {thing}; try it on {day}.",
    "Still thinking about {thing}.",
    "{thing}, attempt number {number}: keep it simple.",
)
_HANT_SAYINGS = (
    "今天又想起{thing}，先記一筆。",
    "{thing}比想像中好，下次還要再來。",
    "{day}之前把{thing}整理好，別再拖了。",
    "為什麼{thing}總是讀不完？這是第{number}次了。",
)
_ZH_DAYS = ("周一", "周三", "周五", "月底", "下周", "清明", "年底")
_EN_DAYS = ("Monday", "Wednesday", "Friday", "the weekend", "next month", "the deadline")
_FIRST_MOMENT = 1_672_531_200  # 2023-01-01 00:00 UTC
_TWO_YEARS_S = 2 * 365 * 86_400
_MIXED_SHARE, _ENGLISH_SHARE, _LONG_SHARE = 0.12, 0.37, 0.04


def make_memos(count: int, seed: int = 0, generation: str = "B4") -> list[Wire]:
    """``count`` believable memos of one person over two years, oldest first, ids from 1; the same for the same arguments.

    Chinese, English and both in one; half of them below some 50 characters, a few long; with tags, links, lists, pinned and
    archived ones, and some that refer to an earlier memo.
    """
    dice = random.Random(seed)
    moments = sorted(_FIRST_MOMENT + dice.randrange(_TWO_YEARS_S) for _ in range(count))
    return [_make_memo(dice, number, moment, generation) for number, moment in enumerate(moments, 1)]


def _make_memo(dice: random.Random, number: int, moment: int, generation: str) -> Wire:
    updated = moment + dice.choice((0, 0, 0, 60, 3_600, 86_400))
    fields: Wire = {"createdTs": moment, "updatedTs": updated, "displayTs": moment}
    fields["visibility"] = dice.choices(("PRIVATE", "PROTECTED", "PUBLIC"), (90, 4, 6))[0]
    fields["rowStatus"] = "ARCHIVED" if dice.random() < 0.05 else "NORMAL"
    fields["pinned"] = dice.random() < 0.005
    if number > 1 and dice.random() < 0.03:
        fields["relationList"] = [{"memoId": number, "relatedMemoId": dice.randrange(1, number), "type": "REFERENCE"}]
    if dice.random() < 0.03:
        fields["resourceList"] = [_make_file(dice, number, moment, generation)]
    return wire_memo(number, _make_text(dice, number), generation, **fields)


def _make_file(dice: random.Random, number: int, moment: int, generation: str) -> Wire:
    file = {"id": number, "creatorId": USER_ID, "createdTs": moment, "updatedTs": moment, "filename": f"photo-{number}.png"}
    file |= {"externalLink": "", "type": "image/png", "size": dice.randrange(10_000, 900_000)}
    if generation == "A":
        file |= {"publicId": f"{number:08d}-0000-4000-8000-000000000000", "linkedMemoAmount": 0}
    if generation == "B4":
        file |= {"name": f"resources/{number}", "uid": f"file{number:018d}"}
    return file


def _make_text(dice: random.Random, number: int) -> str:
    tags, zh_things, en_things = dice.choice(_TOPICS)
    chinese = _HANT_SAYINGS if "繁體" in tags else _ZH_SAYINGS
    share = dice.random()
    languages = ("zh", "en") if share < _MIXED_SHARE else ("en",) if share < _ENGLISH_SHARE else ("zh",)
    sentences = dice.randrange(18, 45) if dice.random() < _LONG_SHARE else dice.choices((1, 2, 3, 4), (52, 30, 12, 6))[0]

    def say() -> str:
        if dice.choice(languages) == "zh":
            saying, thing, day = dice.choice(chinese), dice.choice(zh_things), dice.choice(_ZH_DAYS)
        else:
            saying, thing, day = dice.choice(_EN_SAYINGS), dice.choice(en_things), dice.choice(_EN_DAYS)
        return saying.format(thing=thing, day=day, number=dice.randrange(2, 90))

    said = [say() for _ in range(max(sentences, len(languages)))]
    shape = dice.random()
    if shape < 0.1:
        text = "\n".join(f"- [{dice.choice(' x')}] {sentence}" for sentence in said)
    elif len(said) > 8:
        text = "\n\n".join(" ".join(said[start : start + 4]) for start in range(0, len(said), 4))
    else:
        text = ("" if languages == ("zh",) else " ").join(said)
    if dice.random() < 0.15:
        text += f" https://example.com/{dice.choice(('a', 'list', 'watch'))}/{number}"
    if dice.random() < 0.45:
        text += f"\n#{dice.choice(tags)}" + (f" #{dice.choice(('想法', 'idea', '待办'))}" if dice.random() < 0.3 else "")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.cflow_server", description="A memo server with made-up memos, on loopback."
    )
    parser.add_argument("--count", type=int, default=300, help="number of memos")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--port", type=int, default=5230)
    parser.add_argument("--token", default=TOKEN)
    parser.add_argument("--generation", choices=VERSIONS, default="B4")
    options = parser.parse_args()
    memos = make_memos(options.count, options.seed, options.generation)
    with CFlowServer(memos, generation=options.generation, token=options.token, port=options.port) as server:
        print(f"{len(memos)} memos at {server.url}, token {options.token}. Stop with Ctrl-C.", flush=True)
        try:
            server.stopping.wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
