"""Public failures of search elsewhere, with memos of our own: variant spellings (C32) and copies that fill a page (C34)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest
from cflow_server import wire_memo
from obsidian import Vault
from tiny_embedder import TinyEmbedder

if TYPE_CHECKING:
    from cflow_server import CFlowServer, Wire
    from conftest import Home

    from vaultbrain.index.embedding import Embedder
    from vaultbrain.retrieve.search import SearchResult
    from vaultbrain.wiring import Brain

#: All of one moment, so that time decides nothing.
MOMENT = {"createdTs": 1_700_000_000, "updatedTs": 1_700_000_000, "displayTs": 1_700_000_000}

SPELLINGS = {
    701: "周末去市集买茶叶和杯子",
    702: "週末去市集買茶葉和杯子",
    703: "型号ＡＢＣ１２的灯",
    704: "model abc12 lamp, the other one",
    705: "古いカメラを直す",
    706: "afternoon 🍵 break",
    707: "Hafenstraße 7, Schlüssel beim Nachbarn",
    708: "the café near the quay",
    709: "명량 해전 메모",
    710: "修改了码头日志的格式",
    711: "unrelated: spare bulbs",
    712: "无关：备用灯泡",
}
#: Query → memos that must be among the first five.
WANTED = {
    "茶": {"701"},
    "买茶": {"701"},
    "買茶": {"701", "702"},
    "买": {"701"},
    "ＡＢＣ１２": {"703"},
    "abc12": {"703"},
    "ABC12": {"703", "704"},
    "カメラ": {"705"},
    "ｶﾒﾗ": {"705"},
    "🍵": {"706"},
    "cafe": {"708"},
    "CAFÉ": {"708"},
    "명량": {"709"},
    "码头日志": {"710"},
}
#: The same for a word that stands inside a longer one: Hafenstraße.
WANTED_INSIDE = {"STRASSE": {"707"}, "Straße": {"707"}}
TWINS = (("买茶", "買茶"), ("ＡＢＣ１２", "abc12", "ABC12"), ("カメラ", "ｶﾒﾗ"))

EQUAL = "reminder: pump inspection is every spring"
PUMPS = dict.fromkeys(range(731, 743), EQUAL) | {
    750: f"{EQUAL}.",
    751: "the pump's serial number is 88-417 and it was inspected in March",
    752: "\n\n".join(["pump log", *[EQUAL] * 8]),
}
OTHERS = {n: f"{n}: {text}" for n, text in enumerate(["番茄和鸡蛋", "rye bread", "膝盖没疼", "off site copy"] * 10, start=800)}


@pytest.fixture(params=["tiny", pytest.param("e5", marks=pytest.mark.model)])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "tiny":
        return TinyEmbedder(dimension=64)
    from vaultbrain.index.embedding import open_embedder

    return open_embedder("e5")


def synced(home: Home, server: CFlowServer, embedder: Embedder, memos: dict[int, str]) -> Home:
    server.memos += [made(memo_id, text) for memo_id, text in memos.items()]
    home.brain(embedder).sync()
    return home


def made(memo_id: int, text: str) -> Wire:
    return wire_memo(memo_id, text, **MOMENT)


def named(result: SearchResult) -> set[str]:
    """The memos that a person reads of: hits, and the copies named with them."""
    return {memo_id for hit in result.hits for memo_id in (hit.memo_id, *hit.copies)}


def missing(brain: Brain, wanted: dict[str, set[str]]) -> dict[str, set[str]]:
    """Query → the wanted memos that are not among its first five."""
    absent = {query: ids - named(brain.search(query, top_k=5)) for query, ids in wanted.items()}
    return {query: ids for query, ids in absent.items() if ids}


# one character, width, script, case, emoji (C32)


@pytest.fixture
def spelled(home: Home, server: CFlowServer, embedder: Embedder) -> Home:
    return synced(home, server, embedder, SPELLINGS)


def test_every_spelling_finds_its_memos_among_the_first_five(spelled: Home, embedder: Embedder) -> None:
    """One character, two, full width, half-width kana, the other script, accents, Hangul, an emoji."""
    assert missing(spelled.brain(embedder), WANTED) == {}


def test_a_part_of_a_compound_finds_it_however_sharp_s_is_written(spelled: Home, embedder: Embedder) -> None:
    """German writes its compounds as one word."""
    assert missing(spelled.brain(embedder), WANTED_INSIDE) == {}


def test_one_character_is_a_query(spelled: Home, embedder: Embedder) -> None:
    """Neither refused as too short nor answered with nothing."""
    for query in ("茶", "买"):
        result = spelled.brain(embedder).search(query)
        assert result.hits, query
        assert result.coverage.unmet == []


def test_composed_and_decomposed_queries_are_the_same_query_and_repeat(spelled: Home, embedder: Embedder) -> None:
    """NFC or NFD, now or again, in a new process or the same: the same ids in the same order."""
    brain = spelled.brain(embedder)
    for query in WANTED | WANTED_INSIDE:
        ways = [normalize("NFC", query), normalize("NFD", query), query, query]
        found = [[(hit.memo_id, hit.score, hit.copies) for hit in brain.search(way).hits] for way in ways]
        found.append([(hit.memo_id, hit.score, hit.copies) for hit in spelled.brain(embedder).search(query).hits])
        assert all(ids == found[0] for ids in found), query


def test_queries_in_the_other_script_or_width_find_the_same(spelled: Home, embedder: Embedder) -> None:
    """Twins name one set of memos."""
    for twins in TWINS:
        first, *others = (named(spelled.brain(embedder).search(query, top_k=5)) for query in twins)
        assert all(ids == first for ids in others), twins
        assert first >= set.union(*(WANTED[query] for query in twins))


def test_searching_normalises_no_note(spelled: Home, embedder: Embedder) -> None:
    """The person's own full-width letters stay on disk."""
    spelled.brain(embedder).search("abc12")
    assert SPELLINGS[703] in spelled.text_of(703)
    assert SPELLINGS[702] in spelled.text_of(702)


# copies that push the answer out (C34)


@pytest.fixture
def pumps(home: Home, server: CFlowServer, embedder: Embedder) -> Home:
    return synced(home, server, embedder, PUMPS)


def test_copies_are_one_hit_that_names_them_and_the_useful_memo_is_there(pumps: Home, embedder: Embedder) -> None:
    """Of thirteen memos that say the same (one with a full stop) one is shown, the others are named and counted with it."""
    result = pumps.brain(embedder).search("pump inspection", top_k=5)
    equal = {str(memo_id) for memo_id in PUMPS} - {"751", "752"}
    (shown,) = [hit for hit in result.hits if hit.memo_id in equal]
    assert {shown.memo_id, *shown.copies} >= equal
    assert result.coverage.copies == sum(len(hit.copies) for hit in result.hits)
    if not isinstance(embedder, TinyEmbedder):  # it takes a model to see that inspected is near inspection
        assert "751" in [hit.memo_id for hit in result.hits]


def test_a_long_memo_that_repeats_itself_is_one_hit_at_most(pumps: Home, embedder: Embedder) -> None:
    """No memo stands twice in the list, not as a hit and a copy either."""
    result = pumps.brain(embedder).search("pump inspection", top_k=5)
    ids = [memo_id for hit in result.hits for memo_id in (hit.memo_id, *hit.copies)]
    assert len(ids) == len(set(ids))
    assert "752" in ids


def test_an_answer_quotes_the_equal_sentence_once_and_cites_the_same_real_memo_each_time(pumps: Home, embedder: Embedder) -> None:
    """What a reader, or a model, gets of thirteen equal memos is one quotation, whose link holds."""
    cited = set()
    for _ in range(2):
        asked = pumps.brain(embedder).ask("pump inspection")
        vault = Vault.load(pumps.vault)
        assert vault.problems() == []
        quotes = [quote for quote in vault.excerpts(vault.notes[asked.path]) if EQUAL in quote.text]
        assert len(quotes) == 1
        assert quotes[0].text.count(EQUAL) == 1
        source = next(source for source in asked.as_json["sources"] if int(source["memo_id"]) in PUMPS)
        assert quotes[0].target == pumps.note_of(source["memo_id"]).relative_to(pumps.vault).as_posix()
        cited.add(source["memo_id"])
    assert len(cited) == 1


@pytest.mark.parametrize("copies", [12, 120])
def test_k_distinct_memos_are_shown_when_there_are_k(home: Home, server: CFlowServer, embedder: Embedder, copies: int) -> None:
    """However many copies stand before them."""
    places = ("in the cellar", "for the well", "after the flood", "of the old boat", "with a new seal")
    distinct = {n: f"{n} pump inspection {place}, noted on day {n * 7}" for n, place in enumerate(places, start=1)}
    synced(home, server, embedder, distinct | dict.fromkeys(range(100, 100 + copies), EQUAL) | OTHERS)
    result = home.brain(embedder).search("pump inspection", top_k=5)
    texts = [server.memo(int(hit.memo_id))["content"] for hit in result.hits]
    assert len(texts) == len(set(texts)) == 5
