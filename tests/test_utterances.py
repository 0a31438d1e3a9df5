"""Judged utterances: how they are read, what is counted as right, and what ``vaultbrain bench`` says of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import wire_memo
from shell import Shell

from vaultbrain.bench.judged import read_judged_set
from vaultbrain.bench.utterances import (
    GateUtterance,
    QueryUtterance,
    Utterances,
    measure_gate,
    measure_queries,
    measure_utterances,
    read_utterances,
)
from vaultbrain.errors import JudgedSetUnreadable

if TYPE_CHECKING:
    from pathlib import Path

GATE: list[dict[str, Any]] = [
    {"id": "g1", "text": "想找以前整理过的 agent workflow 做法", "recall": True, "why": "asks for a way"},
    {"id": "g2", "text": "楼下影院的爆米花又涨价了。", "recall": False},
]
QUERY: dict[str, Any] = {
    "id": "n1",
    "text": "唉，家裡的 NAS 又吵，想找之前記過的降噪辦法。",
    "must": ["nas", "降噪"],
    "must_not": ["唉"],
    "max_terms": 8,
}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of memos and queries with utterances of both kinds."""
    place = tmp_path / "mine"
    write(place / "memos.json", [wire_memo(12, "观影 #电影"), wire_memo(7, "买菜")])
    write(place / "queries.json", [{"id": "q", "text": "电影", "relevant": {"12": 2}}])
    write(place / "gate.json", GATE)
    write(place / "query_generation.json", [QUERY])
    return place


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "home").mkdir()
    return Shell(tmp_path / "home", {"XDG_CACHE_HOME": str(tmp_path / "home" / "cache")})


# reading


def test_a_folder_may_hold_both_kinds_one_or_none(folder: Path) -> None:
    """What is not there is empty; without either file a set has no utterances."""
    both = read_judged_set(folder).utterances
    assert both == Utterances(
        (GateUtterance("g1", GATE[0]["text"], recall=True), GateUtterance("g2", GATE[1]["text"], recall=False)),
        (QueryUtterance("n1", QUERY["text"], ("nas", "降噪"), ("唉",), 8),),
    )
    (folder / "gate.json").unlink()
    only = read_utterances(folder)
    assert only
    assert (only.gate, len(only.queries)) == ((), 1)
    (folder / "query_generation.json").unlink()
    assert read_judged_set(folder).utterances is None


def test_utterances_alone_are_no_set(folder: Path) -> None:
    """The documents and queries of a set have to be there as before."""
    (folder / "memos.json").unlink()
    with pytest.raises(JudgedSetUnreadable, match=r"memos\.json"):
        read_judged_set(folder)


FLAWS: dict[str, tuple[str, Any, str]] = {
    "no list": ("gate.json", {}, "no list of utterances"),
    "empty": ("query_generation.json", [], "no list of utterances"),
    "no object": ("gate.json", ["a"], "utterance 1 is no object"),
    "no id": ("gate.json", [{"text": "a", "recall": True}], "utterance 1 has no `id`"),
    "no text": ("gate.json", [GATE[0] | {"text": " "}], "utterance 1 (g1) has no `text`"),
    "recall a number": ("gate.json", [GATE[0] | {"recall": 1}], "utterance 1 (g1) has no `recall` that is true or false"),
    "twice": ("gate.json", [*GATE, GATE[0]], "another one has: g1"),
    "must no list": ("query_generation.json", [QUERY | {"must": "NAS"}], "utterance 1 (n1): `must` is no list of words"),
    "blank word": ("query_generation.json", [QUERY | {"must_not": [" "]}], "`must_not` is no list of words"),
    "must empty": ("query_generation.json", [QUERY | {"must": []}], "`must` is empty"),
    "word not there": ("query_generation.json", [QUERY | {"must": ["备份"]}], "do not stand in the text: 备份"),
    "no bound": ("query_generation.json", [QUERY | {"max_terms": True}], "no `max_terms` that is a whole number above 0"),
    "bound of none": ("query_generation.json", [QUERY | {"max_terms": 0}], "no `max_terms` that is a whole number above 0"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_is_named_with_its_place(folder: Path, flaw: str) -> None:
    """Which file, which utterance, and what is wrong, before anything is measured."""
    name, value, said = FLAWS[flaw]
    write(folder / name, value)
    with pytest.raises(JudgedSetUnreadable) as raised:
        read_judged_set(folder)
    assert raised.value.fact("path") == str(folder / name)
    assert said in raised.value.fact("detail")


# measuring


def test_the_gate_is_counted_both_ways() -> None:
    """Precision of what was let through, recall of what should have been, and which ones were wrong."""
    wanted = {"a": True, "b": True, "c": True, "d": False, "e": False}
    found = measure_gate([GateUtterance(name, name, recall=recall) for name, recall in wanted.items()], "abde".__contains__)
    assert (found.n, found.true_mentions, found.false_mentions, found.missed) == (5, 2, ("d", "e"), ("c",))
    assert (found.precision, found.recall) == (0.5, 0.6667)
    silent = measure_gate([GateUtterance("d", "d", recall=False)], lambda _: False)
    assert (silent.precision, silent.recall) == (None, None)


def test_words_are_compared_without_case_and_script() -> None:
    """Part of a longer term is kept; a word that stands across two terms is not; what is left anywhere is left."""
    asked = QueryUtterance("n", "NAS 降噪 辦法 老婆", ("nas", "降噪", "办法"), ("老婆",), 2)
    right = measure_queries([asked], lambda _: ("NAS 降噪", "降噪辦法"))
    assert (right.all_kept_none_left, right.wrong, right.too_long, right.most_terms) == (1, {}, (), 2)
    wrong = measure_queries([asked], lambda _: ("降", "噪", "老婆辦法"))
    assert (wrong.all_kept, wrong.none_left, wrong.all_kept_none_left, wrong.too_long) == (0, 0, 0, ("n",))
    assert (wrong.wrong["n"].lost, wrong.wrong["n"].left) == (("nas", "降噪"), ("老婆",))


def test_queries_are_measured_with_memos_and_without(folder: Path, shell: Shell) -> None:
    """A word that stands in a memo beside the need is taken for its subject; the figures tell what that is worth."""
    memos = [wire_memo(12, "阳台番茄：纱窗"), wire_memo(7, "买菜"), wire_memo(5, "电影"), wire_memo(4, "修车")]
    write(folder / "memos.json", memos)
    text = "纱窗旧了。邻居还笑我。周末再说。想找以前番茄的做法。"
    write(folder / "query_generation.json", [QUERY | {"text": text, "must": ["番茄", "纱窗"], "must_not": ["笑我"]}])
    (one,) = shell("bench", str(folder), "--channel", "keyword", "--json", folder=shell.home).json["sets"]
    assert one["recall"]["query"]["all_kept_none_left"] == 1
    assert one["recall"]["query_without_memos"]["wrong"]["n1"]["lost"] == ["纱窗"]


def test_what_a_set_has_not_is_not_measured() -> None:
    """No figures instead of figures of nothing."""
    gate = measure_utterances(Utterances((GateUtterance("a", "a", recall=True),), ()), bool, lambda _: (), lambda _: ())
    assert gate.query is None
    assert set(gate.as_json()) == {"gate"}
    assert set(gate.as_json()["gate"]) == {"n", "true_mentions", "precision", "recall", "false_mentions", "missed"}


# the command


def test_bench_says_both_and_json_has_the_promised_names(shell: Shell, folder: Path) -> None:
    """Below the table, each wrong one named; under `recall` in the document, beside everything that was there."""
    done = shell("bench", str(folder), "--channel", "keyword", folder=shell.home)
    assert (done.code, done.err) == (0, "")
    assert "recall gate: precision 1.0000, recall 1.0000 (2 texts)" in done.out
    assert "short queries: 1 of 1 right, 1 without the memos; " in done.out
    (one,) = shell("bench", str(folder), "--channel", "keyword", "--json", folder=shell.home).json["sets"]
    assert one["recall"]["gate"] == {
        "n": 2, "true_mentions": 1, "precision": 1.0, "recall": 1.0, "false_mentions": [], "missed": [],
    }  # fmt: skip
    assert {"n", "all_kept_none_left", "most_terms", "wrong"} <= set(one["recall"]["query"])
    assert set(one["recall"]["query_without_memos"]) == set(one["recall"]["query"])
    assert (one["recall"]["query"]["all_kept_none_left"], one["recall"]["query"]["wrong"]) == (1, {})
    assert one["queries"] == 1


def test_bench_names_what_is_wrong(shell: Shell, folder: Path) -> None:
    """A person sees the query, what it lost and what it left, and which texts were decided wrongly."""
    write(folder / "gate.json", [item | {"recall": not item["recall"]} for item in GATE])
    write(folder / "query_generation.json", [QUERY | {"must": ["又吵"], "must_not": ["降噪"]}])
    out = shell("bench", str(folder), "--channel", "keyword", folder=shell.home).out
    assert "  let through wrongly: g1\n  missed: g2\n" in out
    assert "short queries: 0 of 1 right" in out
    wrong = next(line for line in out.splitlines() if line.startswith("  n1: "))
    assert wrong.endswith("; lost 又吵; left 降噪")


def test_a_set_without_utterances_says_nothing_of_them(shell: Shell, folder: Path) -> None:
    """Neither a line nor a name in the document."""
    for name in ("gate.json", "query_generation.json"):
        (folder / name).unlink()
    assert "recall gate" not in shell("bench", str(folder), "--channel", "keyword", folder=shell.home).out
    (one,) = shell("bench", str(folder), "--channel", "keyword", "--json", folder=shell.home).json["sets"]
    assert "recall" not in one
