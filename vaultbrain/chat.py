"""The one door to a chat model: a question in, its words out, from any server that speaks as OpenAI, vLLM, Ollama and others do.

Decides how a server is asked (``POST {base_url}/chat/completions``), for how long and how much is read, which refused parameters
are left out, and what of a failure a person is told. Refuses to know what is asked and what an answer is good for. Everything
that goes wrong leaves as ``ChatFailed``. A failure is not tried again: a person is waiting. The key goes to ``base_url`` and
nowhere else: redirects are not followed, and a server on this machine is never asked through a proxy.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vaultbrain.errors import ChatFailed

if TYPE_CHECKING:
    import httpx

#: Bytes of an answer. An honest one has some thousands.
MAX_BODY_BYTES = 1_000_000
#: Seconds until a connection must stand.
CONNECT_TIMEOUT_S = 5.0
#: Characters of a server's own words that are worth passing on.
MAX_MESSAGE_CHARS = 200

_KEY = re.compile(r"[!-~]*")
_ERRNO = re.compile(r"\[Errno -?\d+\] ")


@dataclass(frozen=True, slots=True)
class ChatModel:
    """Where to ask. ``api_key`` may be empty; ``timeout_s`` is for one whole answer."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout_s: float = 20.0

    @property
    def public_address(self) -> str:
        """``base_url`` without a name, password or query that may stand in it."""
        try:
            parts = urlsplit(self.base_url.strip())
        except ValueError:
            return "an address that cannot be read"
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model said, as it said it. Tokens are None when the server does not count them."""

    content: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Useless(Exception):
    """Why there is no answer that can be used, and what a person may do; nothing to do but wait when that is empty."""

    def __init__(self, reason: str, next_step: str = "") -> None:
        super().__init__(reason)
        self.next_step = next_step


_COMPARE = "Compare llm.base_url and llm.model in vaultbrain.toml with what the server offers."


def ask_chat(model: ChatModel, system: str, user: str, max_tokens: int) -> ChatReply:
    """The model's answer to one system and one user message, at temperature 0; ``max_tokens`` bounds what it may say.

    Raises ``ChatFailed``; its fact ``next`` is empty when there is nothing to correct and later may be better.
    """
    try:
        answer = _ask(model, system, user, {"temperature": 0, "max_tokens": max_tokens})
        return ChatReply(_content_of(answer), _tokens(answer, "prompt_tokens"), _tokens(answer, "completion_tokens"))
    except _Useless as useless:
        raise ChatFailed(
            model=model.model,
            address=model.public_address,
            reason=_presentable(str(useless), model.api_key),
            next=useless.next_step,
        ) from useless.__cause__


def without_thoughts(content: str) -> str:
    """What a model says after it has thought aloud; nothing when it never came to an end of that."""
    return content.rpartition("</think>")[2].partition("<think>")[0]


# asking


def _ask(model: ChatModel, system: str, user: str, optional: dict[str, Any]) -> Any:
    """The answer as JSON, status 200. ``optional``: parameters that not every server or model takes."""
    import httpx

    if not _KEY.fullmatch(model.api_key):
        raise _Useless("the key holds a space or a character that no key has", "Copy the key again, alone.")
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    request = {"model": model.model, "messages": messages, "stream": False}
    deadline = time.monotonic() + model.timeout_s
    try:
        with _open_client(model) as client:
            status, body = _post(client, model, request | optional, deadline)
            if refused := _refused_parameters(optional, status, body):
                optional = {name: value for name, value in optional.items() if name not in refused}
                status, body = _post(client, model, request | optional, deadline)
    except httpx.TimeoutException as error:
        raise _Useless(f"no answer within {model.timeout_s:g} s") from error
    except httpx.HTTPError as error:
        raise _Useless(_bare_reason(error), "Start the chat server, or correct llm.base_url.") from error
    except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:
        # An address that cannot be read, proxy variables of an unknown kind, a certificate file that is not there.
        raise _Useless(
            "the address, or the proxy or certificate settings of the environment, cannot be used", _COMPARE
        ) from error
    return _read_answer(status, body)


def _bare_reason(error: Exception) -> str:
    """Without the number that the system gives it."""
    return _ERRNO.sub("", str(error)) or type(error).__name__


def _open_client(model: ChatModel) -> httpx.Client:
    import httpx

    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "vaultbrain"}
    if model.api_key:
        headers["Authorization"] = f"Bearer {model.api_key}"
    return httpx.Client(
        base_url=f"{model.base_url.strip().rstrip('/')}/",
        headers=headers,
        timeout=httpx.Timeout(model.timeout_s, connect=min(CONNECT_TIMEOUT_S, model.timeout_s)),
        follow_redirects=False,
        trust_env=not _is_loopback(httpx.URL(model.base_url.strip()).host),
    )


def _post(client: httpx.Client, model: ChatModel, request: dict[str, Any], deadline: float) -> tuple[int, bytes]:
    """(status, body)."""
    with client.stream("POST", "chat/completions", json=request) as response:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise _Useless("its answer is packed, which was not asked for", _COMPARE)
        return response.status_code, _read_body(response, model, deadline)


def _read_body(response: httpx.Response, model: ChatModel, deadline: float) -> bytes:
    """The body as sent. httpx counts the silence between two parts, not the whole."""
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise _Useless(f"its answer is longer than {MAX_BODY_BYTES} bytes", _COMPARE)
        if time.monotonic() > deadline:
            raise _Useless(f"no whole answer within {model.timeout_s:g} s")
    return bytes(body)


def _refused_parameters(optional: dict[str, Any], status: int, body: bytes) -> set[str]:
    """Of the optional parameters those that the server complains of by name."""
    said = body.decode("utf-8", "replace") if status in (400, 422) else ""
    return {name for name in optional if name in said}


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


# reading the answer


def _read_answer(status: int, body: bytes) -> Any:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if status != 200:
        raise _refused(status, answer)
    if not isinstance(answer, dict):
        raise _Useless(f"it answered with {len(body)} bytes that are no JSON object", _COMPARE)
    return answer


def _refused(status: int, answer: Any) -> _Useless:
    error = answer.get("error", answer) if isinstance(answer, dict) else ""
    said = error.get("message", "") if isinstance(error, dict) else error
    reason = f"status {status}{f': {said}' if isinstance(said, str) and said.strip() else ''}"
    if status in (401, 403):
        return _Useless(reason, "Put a key of that server into the variable that llm.api_key_env in vaultbrain.toml names.")
    return _Useless(reason, "" if status == 429 or status >= 500 else _COMPARE)


def _content_of(answer: Any) -> str:
    try:
        content = answer["choices"][0]["message"]["content"]
    except (TypeError, KeyError, IndexError):
        content = None
    if not isinstance(content, str):
        raise _Useless("it does not answer as a chat model does", _COMPARE)
    return content


def _tokens(answer: Any, name: str) -> int | None:
    usage = answer.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and count >= 0 else None


def _presentable(reason: str, api_key: str) -> str:
    """One short line, without control characters and without the key should the server repeat it."""
    line = " ".join("".join(character if character.isprintable() else " " for character in reason).split())
    line = line.replace(api_key, "…") if api_key else line
    return (line if len(line) <= MAX_MESSAGE_CHARS else f"{line[:MAX_MESSAGE_CHARS]}…").rstrip(".")
