"""``vaultbrain bench``: the measures, the forms of a judged set, the cache of vectors, and the command as a person runs it."""

from __future__ import annotations

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import unicodedata
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cflow_server import wire_memo
from hypothesis import given
from hypothesis import strategies as st
from obsidian import hash_tree
from shell import Shell
from tiny_embedder import TinyEmbedder

from vaultbrain.bench.cached_embedder import CACHE_FILE, COMMIT_TEXTS, CachedEmbedder
from vaultbrain.bench.judged import read_judged_set
from vaultbrain.bench.measures import MEASURES, interval, mean, percentile, score_ranking
from vaultbrain.errors import EmbeddingUnavailable, Interrupted, JudgedSetUnreadable, SettingsInvalid, VaultNotFound
from vaultbrain.index.fold import fold
from vaultbrain.settings import load_settings
from vaultbrain.wiring import Brain, open_brain_anywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from vaultbrain.bench.run import BenchResult

#: Documents of the small set, by id.
DOCUMENTS = {
    "d01": "豆瓣片单备份，周末慢慢看 #观影",
    "d02": "觀影筆記：昨天看了一部老片",
    "d03": "backup strategy: three copies, two media, one off site",
    "d04": "買菜：番茄、雞蛋、豆腐",
    "d05": "用 `git revert HEAD` 撤销一次提交",
    "d06": "窗台的罗勒每天浇一次水",
    "d07": "Rye bread: 70 % hydration, a night in the fridge",
    "d08": "三十公里骑行，膝盖没疼",
}
QUERIES: list[dict[str, Any]] = [
    {"id": "q1", "text": "观影", "kind": "词", "relevant": {"d01": 2, "d02": 1}},
    {"id": "q2", "text": "鸡蛋", "kind": "词", "relevant": ["d04"]},
    {"id": "q3", "text": "backup media", "kind": "english", "relevant": ["d03"]},
    {"id": "q4", "text": "xyzzy plugh", "kind": "english", "relevant": ["d07"]},
    {"id": "q5", "text": "量子色动力学", "relevant": []},
    {"id": "q6", "text": "git revert", "relevant": {}},
]
SMALL: dict[str, Any] = {
    "name": "small 小集",
    "documents": [{"id": document_id, "text": text} for document_id, text in DOCUMENTS.items()],
    "queries": QUERIES,
}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(tmp_path / "sets" / "small.json", SMALL)


def brain_of(folder: Path, embedder: Any = None, **settings: Any) -> Brain:
    """A brain with the small model, whose vault is never looked at."""
    (folder / "vault").mkdir(exist_ok=True)
    (folder / "vault" / "vaultbrain.toml").touch()
    found, _ = load_settings(folder / "vault", environment={}, flags=settings)
    return Brain(found, environment={}, embedder=embedder or TinyEmbedder())


def measure(tmp_path: Path, *sets: Path, embedder: Any = None, channel: str = "hybrid", **settings: Any) -> BenchResult:
    brain = brain_of(tmp_path, embedder, **settings)
    return brain.bench(sets, channel=channel, cache_dir=tmp_path / "cache", notice=pytest.fail)


# measures


def expected_scores(ranking: list[str], grades: dict[str, int]) -> list[float]:
    """The definitions once more, in another way: rank by rank, without any shared code."""
    seen: list[str] = []
    for document_id in ranking:
        if document_id not in seen:
            seen.append(document_id)
    gain = 0.0
    for rank in range(1, min(10, len(seen)) + 1):
        gain += (2 ** grades.get(seen[rank - 1], 0) - 1) / math.log2(rank + 1)
    ideal, left = 0.0, sorted(grades.values())
    for rank in range(1, 11):
        ideal += (2 ** (left.pop() if left else 0) - 1) / math.log2(rank + 1)
    ranks = [rank for rank, document_id in enumerate(seen, 1) if document_id in grades]
    early = [rank for rank in ranks if rank <= 10]
    return [
        gain / ideal,
        1 / early[0] if early else 0.0,
        len(early) / len(grades),
        len([rank for rank in ranks if rank <= 50]) / len(grades),
    ]


@pytest.mark.parametrize(
    ("ranking", "grades", "expected"),
    [
        (["a", "b"], {"a": 1}, (1, 1, 1, 1)),
        (["b", "a"], {"a": 1}, (1 / math.log2(3), 0.5, 1, 1)),
        ([], {"a": 1}, (0, 0, 0, 0)),
        # Gains 3 and 1: (1 + 3 / log2(3)) / (3 + 1 / log2(3))
        (["r", "best"], {"best": 2, "r": 1}, (0.796707, 1, 1, 1)),
        # A repeated id counts once, and what follows moves up.
        (["b", "b", "a"], {"a": 1}, (1 / math.log2(3), 0.5, 1, 1)),
        (["a", "a"], {"a": 1, "c": 1}, (1 / (1 + 1 / math.log2(3)), 1, 0.5, 0.5)),
        # Place 11 is early no more; place 51 is nowhere.
        ([f"x{n}" for n in range(10)] + ["a"], {"a": 1}, (0, 0, 0, 1)),
        ([f"x{n}" for n in range(50)] + ["a"], {"a": 1}, (0, 0, 0, 0)),
        # More relevant ones than ten places: nDCG can be 1, recall cannot.
        ([f"r{n}" for n in range(10)], {f"r{n}": 1 for n in range(20)}, (1, 1, 0.5, 0.5)),
    ],
)
def test_measures_are_what_their_names_promise(ranking: list[str], grades: dict[str, int], expected: tuple[float, ...]) -> None:
    """Computed by hand."""
    assert score_ranking(ranking, grades) == pytest.approx(expected, abs=1e-6)


@given(
    st.lists(st.integers(0, 80).map(str), max_size=70),
    st.dictionaries(st.integers(0, 80).map(str), st.integers(1, 4), min_size=1, max_size=30),
)
def test_measures_agree_with_a_second_implementation(ranking: list[str], grades: dict[str, int]) -> None:
    """Any ranking, any grades; and every measure is between 0 and 1."""
    found = score_ranking(ranking, grades)
    assert found == pytest.approx(expected_scores(ranking, grades))
    assert all(0 <= value <= 1 + 1e-12 for value in found)


def test_an_interval_holds_its_mean_and_repeats() -> None:
    """Narrower with more queries, of no width where all are alike, and the same for the same rows."""
    few = [score_ranking(["b", "a"] if n % 2 else ["a"], {"a": 1}) for n in range(10)]
    many = few * 20
    (low, high), (low_many, high_many) = interval(few), interval(many)
    assert (low, high) == interval(few)
    assert low[0] < mean(few)[0] < high[0]
    assert high_many[0] - low_many[0] < (high[0] - low[0]) / 2
    assert low[2] == high[2] == 1  # R@10 is 1 for each
    # The mean of n values of 0.5 and 1, each as often, has a standard error of 0.25 / sqrt(n).
    assert high_many[1] - low_many[1] == pytest.approx(2 * 1.96 * 0.25 / math.sqrt(len(many)), rel=0.1)


def test_a_percentile_is_interpolated() -> None:
    """Half way between the two in the middle."""
    assert percentile([1, 2, 3, 4], 50) == 2.5


# reading


def test_a_set_file_is_read_with_lists_grades_and_kinds(small: Path) -> None:
    """Both ways to say what is relevant; a kind may be left out; tags of a text are its memo's tags."""
    judged = read_judged_set(small)
    assert (judged.name, len(judged.memos)) == ("small 小集", 8)
    assert judged.memos[0].tags == ("观影",)
    assert [(q.id, q.kind, q.grades) for q in judged.queries] == [
        ("q1", "词", {"d01": 2, "d02": 1}),
        ("q2", "词", {"d04": 1}),
        ("q3", "english", {"d03": 1}),
        ("q4", "english", {"d07": 1}),
        ("q5", "", {}),
        ("q6", "", {}),
    ]


def test_a_folder_holds_memos_as_the_server_sends_them(tmp_path: Path) -> None:
    """Numbers as ids become text; the folder's name is the set's."""
    write(tmp_path / "mine" / "memos.json", [wire_memo(12, "观影 #电影"), wire_memo(7, "买菜")])
    write(tmp_path / "mine" / "queries.json", [{"id": "q", "text": "电影", "relevant": {"12": 2, "7": 0}, "lang": "zh"}])
    judged = read_judged_set(tmp_path / "mine")
    assert (judged.name, [memo.id for memo in judged.memos]) == ("mine", ["12", "7"])
    assert judged.queries[0].grades == {"12": 2}  # 0: looked at, and not relevant


def test_documents_may_come_from_another_set_or_an_export(tmp_path: Path, small: Path) -> None:
    """The file is looked for beside the set; a person's export serves as it is, ids written as numbers."""
    other = write(tmp_path / "sets" / "other.json", {"documents_from": "small.json", "queries": QUERIES[:1]})
    assert [memo.id for memo in read_judged_set(other).memos] == list(DOCUMENTS)
    assert read_judged_set(other).name == "other"
    write(tmp_path / "sets" / "export.json", {"data": [wire_memo(12, "观影")]})
    own = write(
        tmp_path / "sets" / "own.json",
        {"documents_from": "export.json", "queries": [{"id": 1, "text": "观影", "relevant": [12]}]},
    )
    assert [(q.id, q.grades) for q in read_judged_set(own).queries] == [("1", {"12": 1})]


def changed(**changes: Any) -> dict[str, Any]:
    return SMALL | changes


def one_query(**changes: Any) -> dict[str, Any]:
    return changed(queries=[QUERIES[0] | changes])


FLAWS: dict[str, tuple[Any, str]] = {
    "no object": ([1, 2], "no object with documents and queries"),
    "no documents": ({"queries": QUERIES}, "neither `documents` nor `documents_from`"),
    "documents no list": (changed(documents={}), "`documents` is no list"),
    "empty documents": (changed(documents=[]), "there are no documents in it"),
    "document no object": (changed(documents=["text"]), "document 1 is no object"),
    "document without id": (changed(documents=[{"text": "a"}]), "document 1 has no `id`"),
    "document without text": (changed(documents=[{"id": "a"}]), "document 1 (a) has no `text`"),
    "document twice": (changed(documents=[*SMALL["documents"], {"id": "d02", "text": "b"}]), "another one has: d02"),
    "id of another kind": (changed(documents=[{"id": True, "text": "b"}]), "neither text nor a whole number"),
    "no queries": ({"documents": SMALL["documents"]}, "no list of queries"),
    "empty queries": (changed(queries=[]), "there are no queries in it"),
    "query no object": (changed(queries=["观影"]), "query 1 is no object"),
    "query without text": (one_query(text="  "), "query 1 (q1) has no `text`"),
    "query without judgement": (changed(queries=[{"id": "a", "text": "b"}]), "query 1 (a) has no `relevant`"),
    "query twice": (changed(queries=[*QUERIES, QUERIES[2]]), "another one has: q3"),
    "kind no text": (one_query(kind=3), "a `kind` that is no text"),
    "relevant no list": (one_query(relevant="d01"), "neither a list of ids nor an object"),
    "relevant not there": (one_query(relevant=["d01", *"abcde"]), "relevant ids that are no documents: a, b, c and 2 more"),
    "graded not there": (one_query(relevant={"d99": 1}), "relevant ids that are no documents: d99"),
    "grade no number": (one_query(relevant={"d01": "2"}), "the grade of d01 is no whole number from 0 to 10"),
    "grade yes": (one_query(relevant={"d01": True}), "the grade of d01 is no whole number"),
    "grade too high": (one_query(relevant={"d01": 11}), "the grade of d01 is no whole number"),
    "grade below 0": (one_query(relevant={"d01": -1}), "the grade of d01 is no whole number"),
    "nothing relevant": (one_query(relevant=[]), "nothing to measure"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_in_a_set_is_named_with_its_place(tmp_path: Path, flaw: str) -> None:
    """Which file, which query or document, and what is wrong."""
    value, said = FLAWS[flaw]
    path = write(tmp_path / "set.json", value)
    with pytest.raises(JudgedSetUnreadable) as raised:
        read_judged_set(path)
    assert raised.value.fact("path") == str(path)
    assert said in raised.value.fact("detail")


def test_files_that_cannot_be_read_are_named(tmp_path: Path, small: Path) -> None:
    """Missing, cut short, not text; and the very file, where one set takes its documents from another."""
    (tmp_path / "cut.json").write_bytes(small.read_bytes()[:200])
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    lost = write(tmp_path / "lost.json", {"documents_from": "away.json", "queries": QUERIES})
    twice = write(tmp_path / "twice.json", {"documents": [{"id": "a", "text": "b"}] * 2, "queries": []})
    from_twice = write(tmp_path / "from_twice.json", {"documents_from": "twice.json", "queries": QUERIES})
    write(tmp_path / "folder" / "memos.json", [{"id": 1}])
    expected = {
        tmp_path / "none.json": (tmp_path / "none.json", "No such file"),
        tmp_path / "cut.json": (tmp_path / "cut.json", "not valid JSON at line 1, or cut short"),
        tmp_path / "bytes.json": (tmp_path / "bytes.json", "not a JSON text"),
        lost: (tmp_path / "away.json", "No such file"),
        from_twice: (twice, "another one has: a"),
        tmp_path / "folder": (tmp_path / "folder" / "memos.json", "content is missing"),
    }
    for given_path, (named, said) in expected.items():
        with pytest.raises(JudgedSetUnreadable) as raised:
            read_judged_set(given_path)
        assert (raised.value.fact("path"), said in raised.value.fact("detail")) == (str(named), True), raised.value
    write(tmp_path / "folder" / "memos.json", [wire_memo(1, "a")])
    with pytest.raises(JudgedSetUnreadable, match=r"queries\.json"):
        read_judged_set(tmp_path / "folder")


def test_names_cannot_draw_on_the_terminal(tmp_path: Path) -> None:
    """Control characters and line ends of a file's names stay out of the table."""
    path = write(tmp_path / "set.json", changed(name="a\x1b[2J\nb", queries=[QUERIES[0] | {"kind": "k\x07\tl"}]))
    judged = read_judged_set(path)
    assert not {c for c in judged.name + judged.queries[0].kind if unicodedata.category(c) == "Cc"}


# the cache of vectors


@dataclass
class Opener:
    """Opens the small model; ``opened`` counts. A model that ``fails_after`` so many calls is one that was interrupted."""

    fails_after: int | None = None
    opened: int = 0
    model: TinyEmbedder = field(default_factory=TinyEmbedder)

    def __call__(self) -> Opener:
        self.opened += 1
        return self

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    @property
    def dimension(self) -> int:
        return self.model.dimension

    @property
    def batch_size(self) -> int:
        return self.model.batch_size

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._maybe_fail()
        return self.model.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._maybe_fail()
        return -self.model.embed_queries(texts)  # as with e5, a query's vector is not that of the same text as a passage

    def _maybe_fail(self) -> None:
        if self.fails_after is not None and self.model.calls >= self.fails_after:
            raise KeyboardInterrupt


def cached(folder: Path, opener: Opener, notices: list[str] | None = None, fingerprint: str = "tiny:1") -> CachedEmbedder:
    return CachedEmbedder(folder, fingerprint, opener, pytest.fail if notices is None else notices.append)


def test_known_texts_open_no_model(tmp_path: Path) -> None:
    """Vectors come back bit by bit, in the order asked for, by role; only new texts reach the model, each once."""
    first = Opener()
    with cached(tmp_path, first) as embedder:
        passages = embedder.embed_passages(["甲乙", "丙丁", "甲乙"])
        queries = embedder.embed_queries(["甲乙"])
    assert first.model.texts == ["甲乙", "丙丁"]
    second = Opener()
    with cached(tmp_path, second) as embedder:
        assert np.array_equal(embedder.embed_passages(["丙丁", "甲乙"]), passages[[1, 0]])
        assert np.array_equal(embedder.embed_queries(["甲乙"]), queries)
        assert second.opened == 0
        assert embedder.model_s == 0
        embedder.embed_queries(["丙丁", "甲乙"])
    assert (second.opened, second.model.queries) == (1, ["丙丁"])
    assert not np.array_equal(queries[0], passages[0])


def test_vectors_of_another_model_are_not_taken(tmp_path: Path) -> None:
    """The fingerprint is part of the key."""
    for fingerprint in ("tiny:1", "tiny:2"):
        opener = Opener()
        with cached(tmp_path, opener, fingerprint=fingerprint) as embedder:
            embedder.embed_passages(["甲乙"])
        assert opener.opened == 1


def test_an_interrupted_run_keeps_its_batches(tmp_path: Path) -> None:
    """What was embedded before Ctrl-C is not embedded again."""
    texts = [f"第 {number} 条" for number in range(COMMIT_TEXTS * 3)]
    with cached(tmp_path, Opener(fails_after=2)) as embedder, pytest.raises(KeyboardInterrupt):
        embedder.embed_passages(texts)
    again = Opener()
    with cached(tmp_path, again) as embedder:
        embedder.embed_passages(texts)
    assert again.model.texts == texts[COMMIT_TEXTS * 2 :]


def make_broken(path: Path, how: str) -> None:
    if how == "no database":
        path.write_bytes(b"this is no database at all " * 100)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:5_000])
    else:
        path.unlink()
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE vectors (something TEXT)" if how == "another table" else "PRAGMA user_version = 99")
        db.close()


@pytest.mark.parametrize("how", ["no database", "cut", "another table", "another release"])
def test_a_broken_cache_is_replaced_and_said(tmp_path: Path, how: str) -> None:
    """The right vectors all the same, one sentence, and the next run finds a good file."""
    texts = [f"第 {number} 条" for number in range(100)]
    with cached(tmp_path, Opener()) as embedder:
        vectors = embedder.embed_passages(texts)
    make_broken(tmp_path / CACHE_FILE, how)
    notices: list[str] = []
    with cached(tmp_path, Opener(), notices) as embedder:
        assert np.array_equal(embedder.embed_passages(texts), vectors)
    assert len(notices) == 1
    assert "is replaced" in notices[0]
    third = Opener()
    with cached(tmp_path, third) as embedder:
        assert np.array_equal(embedder.embed_passages(texts), vectors)
    assert third.opened == 0


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    """A file where the folder should be: said once, measured nevertheless."""
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    notices: list[str] = []
    with cached(tmp_path / "taken", Opener(), notices) as embedder:
        embedder.embed_passages(["甲乙"])
        assert len(embedder.embed_queries(["丙丁"])) == 1
    assert len(notices) == 1
    assert "not kept" in notices[0]
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


def test_blank_text_and_no_text_are_as_with_any_embedder(tmp_path: Path) -> None:
    """The one is refused, the other gives no row."""
    with cached(tmp_path, Opener()) as embedder:
        with pytest.raises(ValueError, match="blank"):
            embedder.embed_passages([" "])
        assert len(embedder.embed_passages([])) == 0
        assert embedder.dimension == 64


# measuring


def test_the_figures_are_those_of_the_products_own_search(tmp_path: Path, small: Path) -> None:
    """The ranking of each query is what a vault with these memos gives for the same words."""
    result = measure(tmp_path, small)
    export = [wire_memo(int(document_id[1:]), text) for document_id, text in DOCUMENTS.items()]
    write(tmp_path / "vault" / "export.json", export)
    brain = brain_of(tmp_path, source="export.json", state_dir="../state")
    brain.sync()
    for query in QUERIES:
        hits = [hit.memo_id for hit in brain.search(query["text"], top_k=50).hits]
        assert [f"d{int(memo_id):02}" for memo_id in hits] == result.sets[0].run[query["id"]]
    rows = [
        expected_scores(result.sets[0].run[q["id"]], q["relevant"] if isinstance(q["relevant"], dict) else {q["relevant"][0]: 1})
        for q in QUERIES[:4]
    ]
    assert list(result.sets[0].figures().means) == pytest.approx(np.mean(rows, axis=0))


def test_queries_without_an_answer_are_counted_apart(tmp_path: Path, small: Path) -> None:
    """Of two, one finds nothing, as it should; of four that have an answer, one finds nothing, which is wrong."""
    found = measure(tmp_path, small, channel="keyword").sets[0]
    assert [query_id for query_id, ranking in found.run.items() if not ranking] == ["q4", "q5"]
    assert found.none() == {"queries": 2, "abstained": 1, "answerable": 4, "wrongly_abstained": 1}
    assert found.figures().queries == 4
    assert found.figures().means[1] == pytest.approx(0.75)


def test_kinds_have_figures_of_their_own(tmp_path: Path, small: Path) -> None:
    """In the order of the set, over the queries of the kind; queries without a kind are in none."""
    kinds = measure(tmp_path, small, channel="keyword").sets[0].by_kind()
    assert {kind: figures.queries for kind, figures in kinds.items()} == {"词": 2, "english": 2}
    assert kinds["词"].means[1] == 1
    assert kinds["english"].means[1] == pytest.approx(0.5)


def test_a_second_run_opens_no_model_and_finds_the_same(tmp_path: Path, small: Path) -> None:
    """Documents and queries come from the cache; the model's time stands apart from the search's."""
    first = measure(tmp_path, small)
    second_model = TinyEmbedder()
    second = measure(tmp_path, small, embedder=second_model)
    assert second_model.calls == 0
    assert second.sets[0].run == first.sets[0].run
    assert first.sets[0].times()["model_ms_per_query"]
    assert second.sets[0].times()["model_ms_per_query"] is None
    assert all(item.search_s > 0 for item in second.sets[0].asked)


def test_words_alone_need_no_model_and_leave_no_cache(tmp_path: Path, small: Path) -> None:
    """Neither is opened for --channel keyword."""
    model = TinyEmbedder()
    measure(tmp_path, small, embedder=model, channel="keyword")
    assert model.calls == 0
    assert not (tmp_path / "cache").exists()


def test_a_large_set_is_searched_as_a_large_vault(tmp_path: Path, small: Path) -> None:
    """Beyond exact_search_limit chunks Chroma is filled and asked, as the product does; for a few documents it finds the same."""
    exact = measure(tmp_path, small)
    by_store = measure(tmp_path, small, exact_search_limit=0)
    assert by_store.sets[0].shortcomings == ()
    assert by_store.sets[0].run == exact.sets[0].run


def test_nothing_is_written_but_the_cache(tmp_path: Path, small: Path) -> None:
    """Vault, state and sets are as before, byte for byte, and the temporary index is gone."""
    write(tmp_path / "vault" / "export.json", [wire_memo(1, "观影")])
    brain_of(tmp_path, source="export.json", state_dir="../state").sync()
    before = hash_tree(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from tiny_embedder import TinyEmbedder;"
        "from vaultbrain.settings import load_settings; from vaultbrain.wiring import Brain;"
        "root = Path(sys.argv[2]); settings, _ = load_settings(root / 'vault');"
        "Brain(settings, embedder=TinyEmbedder()).bench([root / 'sets' / 'small.json'], cache_dir=root / 'cache')"
    )
    environment = os.environ | {"TMPDIR": str(scratch), "TEMP": str(scratch), "VAULTBRAIN_STATE_DIR": str(tmp_path / "state")}
    done = subprocess.run([sys.executable, "-c", script, str(Path(__file__).parent), str(tmp_path)], env=environment)
    assert done.returncode == 0
    assert list(scratch.iterdir()) == []
    scratch.rmdir()
    for path in (tmp_path / "cache").iterdir():
        assert path.name.startswith(CACHE_FILE)
        path.unlink()
    (tmp_path / "cache").rmdir()
    assert hash_tree(tmp_path) == before


def test_stopping_leaves_what_was_embedded(tmp_path: Path) -> None:
    """Asked to stop after the first batch of documents, a run ends there and the next goes on from there."""
    documents = [{"id": str(number), "text": f"第 {number} 条备忘"} for number in range(100)]
    path = write(tmp_path / "set.json", {"documents": documents, "queries": [{"id": "q", "text": "备忘", "relevant": ["3"]}]})
    model = TinyEmbedder()
    with pytest.raises(Interrupted):
        brain_of(tmp_path, model).bench([path], cache_dir=tmp_path / "cache", should_stop=lambda: model.calls > 0)
    kept = len(model.texts)
    assert 0 < kept < 100
    again = TinyEmbedder()
    brain_of(tmp_path, again).bench([path], cache_dir=tmp_path / "cache")
    assert len(again.texts) == 100 - kept


def test_a_missing_model_is_an_error_and_not_a_low_figure(tmp_path: Path, small: Path) -> None:
    """Words alone would pass for the whole search."""
    found, _ = load_settings(
        brain_of(tmp_path).settings.vault,
        environment={},
        flags={"embedding": "openai:none", "embedding_url": "http://127.0.0.1:1"},
    )
    with pytest.raises(EmbeddingUnavailable):
        Brain(found, environment={}).bench([small], cache_dir=tmp_path / "cache")


def test_without_a_vault_the_defaults_and_the_environment_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a vault was named: then it has to be one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VAULTBRAIN_CHUNK_SIZE", "80")
    assert open_brain_anywhere().settings.chunk_size == 80
    with pytest.raises(VaultNotFound):
        open_brain_anywhere(tmp_path)
    monkeypatch.setenv("VAULTBRAIN_CHUNK_SIZE", "many")
    with pytest.raises(SettingsInvalid) as raised:
        open_brain_anywhere()
    assert raised.value.fact("path") == "The environment"
    (tmp_path / "vaultbrain.toml").write_text("chunk_size = 90", encoding="utf-8")
    monkeypatch.delenv("VAULTBRAIN_CHUNK_SIZE")
    assert open_brain_anywhere().settings.chunk_size == 90


# the command


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A home without a vault. The model is USE, as in all tests of the command line."""
    (tmp_path / "home").mkdir()
    return Shell(tmp_path / "home", {"XDG_CACHE_HOME": str(tmp_path / "home" / "cache")})


def test_the_table_is_aligned_whatever_the_script(shell: Shell, small: Path) -> None:
    """A row for each kind and one for all, in columns; then what was said of nothing, and the time."""
    done = shell("bench", str(small), "--channel", "keyword", folder=shell.home)
    assert (done.code, done.err) == (0, "")
    head, *rows, nothing, took = done.out.splitlines()
    assert head.startswith("small 小集 (8 documents, keyword, ")
    assert [row.split()[:2] for row in rows] == [["queries", "nDCG@10"], ["词", "2"], ["english", "2"], ["all", "4"]]
    widths = {sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in row) for row in rows}
    assert len(widths) == 1
    assert nothing == "nothing found: in 1 of 2 queries without an answer; wrongly in 1 of 4"
    assert took.startswith("time: ")
    assert took.endswith(")")


def test_json_is_one_document_with_the_promised_names(shell: Shell, small: Path) -> None:
    """Of several sets, a mean as well."""
    other = write(small.with_name("other.json"), changed(name="other", queries=QUERIES[:2]))
    done = shell("bench", str(small), str(other), "--channel", "keyword", "--json", folder=shell.home)
    assert (done.code, done.err) == (0, "")
    first, second = done.json["sets"]
    promised = {"name", "documents", "queries", *MEASURES, "intervals", "by_kind", "none", "ms_per_query", "ms_p50", "ms_p95"}
    assert promised <= set(first)
    assert (first["name"], first["documents"], first["queries"]) == ("small 小集", 8, 6)
    assert first["none"] == {"queries": 2, "abstained": 1, "answerable": 4, "wrongly_abstained": 1}
    assert set(first["by_kind"]) == {"词", "english"}
    for figures in (first, *first["by_kind"].values()):
        for name in MEASURES:
            low, high = figures["intervals"][name]
            assert 0 <= low <= figures[name] <= high <= 1
    assert done.json["mean"] == {name: pytest.approx((first[name] + second[name]) / 2, abs=1e-4) for name in MEASURES}
    assert "mean" not in shell("bench", str(small), "--channel", "keyword", "--json", folder=shell.home).json


def test_a_run_is_written_for_one_set_or_several(shell: Shell, small: Path) -> None:
    """Every query id with its documents, best first; several sets fill a folder; an old file is replaced."""
    run = shell.home / "run.json"
    run.write_text("old", encoding="utf-8")
    assert shell("bench", str(small), "--channel", "keyword", "--run-out", "run.json", folder=shell.home).code == 0
    written = json.loads(run.read_text(encoding="utf-8"))
    assert list(written) == [query["id"] for query in QUERIES]
    assert written["q1"][0] in ("d01", "d02")
    assert written["q4"] == []
    assert all(set(ranking) <= set(DOCUMENTS) for ranking in written.values())
    other = write(small.with_name("other.json"), changed(name="other"))
    assert shell("bench", str(small), str(other), "--channel", "keyword", "--run-out", "runs", folder=shell.home).code == 0
    runs = shell.home / "runs"
    assert sorted(path.name for path in runs.iterdir()) == ["other.json", "small.json"]
    assert json.loads((runs / "small.json").read_text(encoding="utf-8")) == written
    assert "Two sets" in shell("bench", str(small), str(small), "--run-out", "runs", folder=shell.home).err


def test_what_cannot_be_done_is_said_before_anything_is_done(shell: Shell, small: Path) -> None:
    """Wrong usage is 2, with three parts on stderr and nothing on stdout."""
    (shell.home / "folder").mkdir()
    (shell.home / "file").touch()
    commands = {
        ("bench", "none.json"): "The judged set none.json cannot be used: No such file",
        ("bench", str(small), "--channel", "smell"): "--channel smell is not known",
        ("bench", str(small), "--run-out", "folder"): "cannot be a file",
        ("bench", str(small), "--run-out", "no/where.json"): "cannot be a file",
        ("bench", str(small), "none.json", "--run-out", "file"): "cannot be a folder",
        ("bench", str(small), "--vault", "folder"): "There is no vaultbrain.toml",
    }
    for words, said in commands.items():
        done = shell(*words, folder=shell.home)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err
        assert len(done.err.splitlines()) == 3, done.err
    assert not (shell.home / "cache").exists()


@pytest.mark.parametrize("columns", [30, 60])
def test_progress_is_one_line_of_a_terminal(shell: Shell, small: Path, columns: int) -> None:
    """Drawn over itself, never wider than the terminal, and wiped at the end; stdout has none of it."""
    pytest.importorskip("pty", reason="terminals of this kind are of POSIX")
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*shell.command, "bench", str(small), "--channel", "keyword", "--json"],
        cwd=shell.home,
        env=shell.environment | {"TERM": "xterm", "COLUMNS": str(columns)},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    out, _ = process.communicate(timeout=120)
    os.close(theirs)
    said = os.read(ours, 100_000).decode()  # less than a terminal holds back
    os.close(ours)
    assert json.loads(out)["sets"]
    assert "1 of 8 documents read" in said
    drawn = said.split("\r")
    assert "\n" not in said
    assert all(sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text) < columns for text in drawn)
    assert (drawn[-2].strip(), drawn[-1]) == ("", "")


class EmbeddingServer(ThreadingHTTPServer):
    """Answers like an OpenAI-compatible server, with the small model's vectors; ``before`` happens before each answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), AnswerEmbeddings)
        self.model = TinyEmbedder()
        self.before: Callable[[], object] = lambda: None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class AnswerEmbeddings(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.before()
        vectors = self.server.model.embed_passages(asked["input"])
        body = json.dumps({"data": [{"index": n, "embedding": v.tolist()} for n, v in enumerate(vectors)]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture
def embedding_server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_stopped_run_keeps_vectors_and_nothing_else(shell: Shell, tmp_path: Path, embedding_server: EmbeddingServer) -> None:
    """Ctrl-C and SIGTERM give 130; the temporary index is gone; the next run embeds only what is left."""
    documents = [{"id": str(number), "text": f"第 {number} 条备忘"} for number in range(100)]
    path = write(tmp_path / "set.json", {"documents": documents, "queries": [{"id": "q", "text": "备忘", "relevant": ["3"]}]})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    shell.environment |= {
        "TMPDIR": str(scratch),
        "VAULTBRAIN_EMBEDDING": "openai:tiny",
        "VAULTBRAIN_EMBEDDING_URL": embedding_server.address,
    }
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(
            [*shell.command, "bench", str(path)],
            cwd=shell.home,
            env=shell.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        embedding_server.before = partial(process.send_signal, number)
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (130, "", "\nStopped. Everything finished so far is kept.\n")
        assert list(scratch.iterdir()) == []
    embedding_server.before = lambda: None
    assert 0 < len(embedding_server.model.texts) < 100
    assert shell("bench", str(path), folder=shell.home).code == 0
    asked = [text for text in embedding_server.model.texts if not text.startswith("第")]
    assert sorted({*embedding_server.model.texts} - {*asked}) == sorted(fold(document["text"]) for document in documents)
    assert "备忘" in asked
    assert len(embedding_server.model.texts) == 100 + len(set(asked))


# the real model


@pytest.mark.model
def test_the_bundled_model_finds_by_meaning_and_is_not_asked_twice(tmp_path: Path, small: Path) -> None:
    """No pair of characters in common with its memo, and first all the same; a second run takes every vector from the cache."""
    queries = [
        {"id": "bike", "text": "骑单车锻炼身体", "kind": "meaning", "relevant": ["d08"]},
        {"id": "shop", "text": "购物清单蔬菜", "kind": "meaning", "relevant": ["d04"]},
    ]
    path = write(tmp_path / "meaning.json", changed(queries=queries))
    found, _ = load_settings(brain_of(tmp_path).settings.vault, environment={}, flags={"embedding": "e5"})
    first, second = (
        Brain(found, environment={}).bench([path], cache_dir=tmp_path / "cache", channel="semantic").sets[0] for _ in range(2)
    )
    assert (first.run["bike"][0], first.run["shop"][0]) == ("d08", "d04")
    assert (first.model[:3], first.shortcomings) == ("e5/", ())
    assert first.times()["model_ms_per_query"]
    assert second.times()["model_ms_per_query"] is None
    assert second.run == first.run
