"""Searching as a whole, on real files: filters, relations, other words for the same, and what still works without a part."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import CFlowServer, wire_memo
from conftest import Home
from shell import CACHE_VARIABLES, Shell
from tiny_embedder import TinyEmbedder

from vaultbrain.cli import measuring
from vaultbrain.errors import EmbeddingUnavailable
from vaultbrain.index.embedding import open_embedder
from vaultbrain.retrieve import search as search_room
from vaultbrain.retrieve.dictionary import open_dictionary
from vaultbrain.retrieve.expand import MAX_VARIANTS, WEIGHTS
from vaultbrain.retrieve.meaning import TableCache
from vaultbrain.retrieve.search import INGREDIENTS, NEAREST_MISSES, SearchParts, is_exact, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cflow_server import Wire

    from vaultbrain.index.embedding import Embedder
    from vaultbrain.retrieve.search import SearchResult
    from vaultbrain.sync.report import SyncReport


def on(day: str, hour: str = "12:00") -> dict[str, int]:
    """The fields of a memo made then, UTC."""
    from datetime import datetime

    moment = int(datetime.fromisoformat(f"{day}T{hour}:00+00:00").timestamp())
    return {"createdTs": moment, "updatedTs": moment, "displayTs": moment}


def related(memo_id: int, kind: str, other: int) -> dict[str, Any]:
    return {"relationList": [{"memoId": memo_id, "relatedMemoId": other, "type": kind}]}


#: Read by many tests and changed by none.
LIBRARY: list[Wire] = [
    # Midnight in Shanghai lies between the first two.
    wire_memo(1, "夜场片单：三部老片 #film/2024", **on("2026-03-01", "15:30")),
    wire_memo(2, "早场片单：两部新片 #Film", **on("2026-03-01", "16:30")),
    wire_memo(3, "片单抄在 https://lists.example.com/noir?page=2 里 #filmed", visibility="PUBLIC", **on("2026-03-03")),
    wire_memo(4, "片单要重排 #film #todo", pinned=True, **on("2026-03-04")),
    wire_memo(5, "片单旁边写着 old final  cut，还没看", visibility="PROTECTED", **on("2026-03-05")),
    wire_memo(10, "在 libv2_xtools.so 里找到了 retry_count2 的默认值"),
    wire_memo(11, "A → B 的箭头画反了"),
    wire_memo(12, "阳台上的番茄红了 🍅"),
    wire_memo(13, "新买的硬盘嗡嗡响"),
    wire_memo(14, "舊硬碟送修，等通知"),
    wire_memo(15, "kohlrabi soup with cream, one pot"),
    wire_memo(16, "苤蓝切丝凉拌，少放醋"),
    wire_memo(20, "酸面种每周喂两次，黑麦粉"),
    wire_memo(21, "今天忘了，明早补上 #later", **related(21, "COMMENT", 20)),
    wire_memo(22, "烤箱温度计坏了", **related(22, "REFERENCE", 20)),
    wire_memo(30, "把扳手和螺丝刀收进工具柜"),
    *(wire_memo(n, text) for n, text in enumerate(["周三交水费", "dentist at nine", "膝盖没疼", "rye bread, 70 %"], start=40)),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    vault = tmp_path_factory.mktemp("library") / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    with CFlowServer(LIBRARY) as server:
        settings = f'source = "{server.url}"\nstate_dir = "../state"\ntimezone = "UTC"\ntimeout = 2\n'
        (vault / "vaultbrain.toml").write_text(settings, encoding="utf-8")
        home = Home(vault, server.url)
        home.brain().sync()
        yield home


def ids(result: SearchResult) -> list[str]:
    return [hit.memo_id for hit in result.hits]


def found(home: Home, query: str, **settings: Any) -> list[str]:
    """By words: which memos are near each other is not for the tiny model to say."""
    return ids(home.brain(**settings).search(query, channel="keyword"))


def degraded(result: SearchResult) -> list[str]:
    return [shortcoming.code for shortcoming in result.coverage.degraded]


class NoModel(TinyEmbedder):
    def embed_queries(self, texts: Sequence[str]) -> Any:
        raise EmbeddingUnavailable(embedding="tiny", reason="file is missing")


# filters


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("tag:film", ["4", "2", "1"]),  # with its children, without filmed
        ("tag:FILM/2024", ["1"]),
        ("tag:film -tag:todo", ["2", "1"]),
        ("tag:film -#film/2024", ["4", "2"]),
        ("after:2026-03-03 before:2026-03-05", ["4", "3"]),
        ("after:2026-03", ["5", "4", "3", "2", "1"]),
        ("visibility:public", ["3"]),
        ("visibility:public visibility:protected", ["5", "3"]),
        ("is:pinned", ["4"]),
        ("has:link", ["3"]),
        ("tag:film is:pinned visibility:public", []),
    ],
)
def test_filters_alone_give_all_that_meet_them_newest_first(library: Home, query: str, wanted: list[str]) -> None:
    """And the coverage counts what was in scope, whichever channel was asked for."""
    result = library.brain().search(query)
    assert ids(result) == wanted
    assert (result.coverage.memos, result.coverage.memos_searched) == (len(LIBRARY), len(wanted))
    assert result.coverage.found == len(wanted)
    assert result.coverage.filters
    assert ids(library.brain().search(query, top_k=1)) == wanted[:1]
    assert ids(library.brain().search(query, channel="semantic")) == wanted


@pytest.mark.parametrize(
    ("zone", "query", "wanted"),
    [
        ("UTC", "before:2026-03-02", {"1", "2"}),
        ("UTC", "after:2026-03-02 before:2026-03-03", set()),
        ("Asia/Shanghai", "before:2026-03-02 after:2026", {"1"}),
        ("Asia/Shanghai", "after:2026-03-02 before:2026-03-03", {"2"}),
    ],
)
def test_a_day_begins_at_midnight_of_the_persons_zone(library: Home, zone: str, query: str, wanted: set[str]) -> None:
    """Two memos an hour apart are of one day in UTC, and of two in Shanghai."""
    found_then = {memo_id for memo_id in ids(library.brain(timezone=zone).search(query, top_k=50)) if int(memo_id) < 10}
    assert found_then == wanted


@pytest.mark.parametrize(
    ("query", "wanted", "filters"),
    [
        ("片单 tag:film", {"1", "2", "4"}, ["tag film"]),
        ("片单 -tag:film", {"3", "5"}, ["not tag film"]),
        ("片单 after:2026-03-02", {"3", "4", "5"}, ["after 2026-03-02"]),
        ("片单 visibility:private -is:pinned", {"1", "2"}, ["visibility private", "not pinned"]),
        ("片单 has:link", {"3"}, ["has link"]),
        ('片单 "三部老片"', {"1"}, ['"三部老片"']),
        ("片单 -老片 -https://lists.example.com", {"2", "4", "5"}, ["not 老片", "not https://lists.example.com"]),
        ('片单 -"老片"', {"2", "3", "4", "5"}, ['not "老片"']),
    ],
)
def test_words_and_filters_together(library: Home, query: str, wanted: set[str], filters: list[str]) -> None:
    """Only memos in scope are hits, whatever the words or the vectors say, and the coverage names the filters."""
    result = library.brain().search(query)
    assert set(ids(result)) <= set(ids(library.brain().search(query.removeprefix("片单 "), top_k=50)))
    assert wanted <= set(ids(result))
    assert set(found(library, query)) == wanted
    assert result.coverage.filters == filters
    assert wanted <= {str(memo["id"]) for memo in LIBRARY}
    assert len(wanted) <= result.coverage.memos_searched < len(LIBRARY)


def test_a_filter_that_cannot_be_read_is_named_and_those_beside_it_count(library: Home) -> None:
    """With what could have been written."""
    result = library.brain().search("片单 is:open tag:film")
    assert result.coverage.filters_ignored == ["is:open: is knows only pinned"]
    assert result.coverage.filters == ["tag film"]
    assert {*ids(result), *result.coverage.nearest_misses} <= {"1", "2", "4"}


def test_a_mistyped_filter_does_not_hide_what_the_words_find(library: Home) -> None:
    """The rest of the query is still the question."""
    assert set(found(library, "片单 is:open tag:film")) == {"1", "2", "4"}


@pytest.mark.parametrize("query", ["片单 tag:nowhere", "tag:nowhere", '片单 "does not stand there"', "-is:pinned is:pinned 片单"])
def test_nothing_in_scope_is_nothing_found(library: Home, query: str) -> None:
    """No memo from outside the scope is offered, not even as a near miss."""
    result = library.brain().search(query)
    assert (result.hits, result.nearest, result.coverage.memos_searched, result.coverage.found) == ((), (), 0, 0)
    assert result.coverage.filters


# relations


def test_a_comment_is_found_through_the_memo_it_comments_on(library: Home) -> None:
    """It has no word of the query and stands below the memo; the parts of its score say why."""
    result = library.brain().search("酸面种", channel="keyword")
    assert ids(result)[:2] == ["20", "21"]
    comment = result.hits[1]
    assert comment.why["related to #20"] > 0
    assert comment.score < result.hits[0].score


def test_a_comment_counts_more_than_a_reference(library: Home) -> None:
    """A memo that only mentions the other one comes after the comment, if at all."""
    result = library.brain().search("酸面种", channel="keyword")
    assert ids(result).index("21") < [*ids(result), "22"].index("22")


def test_the_memo_is_found_through_its_comment(library: Home) -> None:
    """The relation is read in both directions."""
    result = library.brain().search("明早补上", channel="keyword")
    assert ids(result)[:2] == ["21", "20"]


def test_a_query_for_a_tag_gives_only_memos_with_the_tag(library: Home) -> None:
    """A comment does not carry its tag over to the memo."""
    assert found(library, "#later") == ["21"]
    assert "20" not in ids(library.brain().search("#later"))


def test_relations_do_not_lead_out_of_the_scope(library: Home) -> None:
    """A comment that the filter leaves out stays out."""
    assert found(library, "酸面种 -tag:later")[0] == "20"
    assert "21" not in ids(library.brain().search("酸面种 -tag:later"))
    assert found(library, "酸面种 tag:later") == []


def test_two_relations_between_the_same_memos_still_add_up(server: CFlowServer, home: Home) -> None:
    """A memo mentions its own comment: the greater share counts, once, and is explained in full."""
    server.memos += [
        wire_memo(1, "酸面种每周喂两次", **related(1, "REFERENCE", 2)),
        wire_memo(2, "昨天做了", **related(2, "COMMENT", 1)),
        *(wire_memo(n, f"{n} 别的事") for n in range(3, 20)),
    ]
    home.brain().sync()
    (memo, comment, *_) = home.brain().search("酸面种", channel="keyword").hits
    assert (memo.memo_id, comment.memo_id) == ("1", "2")
    assert sum(comment.why.values()) == pytest.approx(comment.score, abs=1e-3)


# what was typed


@pytest.mark.parametrize(
    ("query", "memo_id"),
    [
        ("ists.example.com/no", "3"),  # a part of an address, begun and ended within words
        ("noir?page=2", "3"),
        ("v2_x", "10"),  # in the middle of an identifier
        ("try_count2", "10"),
        ("xtools.so", "10"),
        ("→", "11"),
        ("🍅", "12"),
        ("茄", "12"),  # one character within a word
        ("嗡", "13"),
    ],
)
def test_whatever_stands_there_is_found_as_typed(library: Home, query: str, memo_id: str) -> None:
    """Parts of words, symbols and single characters, by both kinds of search."""
    assert found(library, query) == [memo_id]
    result = library.brain().search(query)
    assert result.hits[0].memo_id == memo_id


@pytest.mark.parametrize("query", ["硬盘", pytest.param("硬碟")])
def test_the_other_regions_word_is_the_same_word(library: Home, query: str) -> None:
    """硬盘 and 硬碟 are more than a change of script, and each finds both."""
    assert set(found(library, query)) == {"13", "14"}


def test_the_other_regions_word_is_a_variant_of_the_question(library: Home) -> None:
    """It counts nearly as much as the word itself, and says why it is there."""
    (variant,) = [v for v in library.brain().search("硬盘").coverage.variants if v.family == "script"]
    assert (variant.text, variant.memos, variant.reason) == ("硬碟", 1, "as the other region says it")


@pytest.mark.parametrize(("query", "memo_id"), [("苤蓝", "15"), ("kohlrabi", "16"), ("kohlrabies", "16")])
def test_the_dictionary_finds_the_other_language_without_any_vector(library: Home, query: str, memo_id: str) -> None:
    """No model is asked and the lexicon has no such word."""
    result = library.brain(NoModel()).search(query)
    assert memo_id in ids(result)
    hit = result.hits[ids(result).index(memo_id)]
    assert {v.family for v in hit.met} == {"translation"}
    assert hit.cosine is None


# the person's own words


OWN_GROUP = '[[group]]\nwords = ["蓝盒子", "工具柜"]\n'


@pytest.fixture
def own_lexicon(library: Home) -> Iterator[Callable[[str], None]]:
    path = library.vault / "CFlow" / "lexicon.toml"
    yield lambda text: path.write_text(text, encoding="utf-8") and None
    path.unlink(missing_ok=True)


def test_the_persons_own_lexicon_counts_at_once(library: Home, own_lexicon: Callable[[str], None]) -> None:
    """A word that only this person uses finds the memo, from the next search on, in a brain that is open already."""
    brain = library.brain()
    assert ids(brain.search("蓝盒子", channel="keyword")) == []
    own_lexicon(OWN_GROUP)
    result = brain.search("蓝盒子", channel="keyword")
    assert ids(result) == ["30"]
    assert [v.reason for v in result.hits[0].met] == ["means nearly the same as 蓝盒子 (your lexicon)"]
    assert degraded(result) == []


@pytest.mark.parametrize(
    ("mistake", "named"), [('[[group]]\nwords = "工具柜"\n', "line 3"), ("[[group]\n", "TOML"), ("[groups]\n", "groups")]
)
def test_a_mistake_in_it_is_named_and_the_search_works(
    library: Home, own_lexicon: Callable[[str], None], mistake: str, named: str
) -> None:
    """What is right beside the mistake counts; of a file that is no TOML nothing does."""
    own_lexicon(OWN_GROUP + mistake)
    result = library.brain().search("蓝盒子 螺丝刀", channel="keyword")
    assert ids(result)[0] == "30"
    assert degraded(result) == ["own_lexicon"]
    assert named in str(result.coverage.degraded[0])


# what was tried, and why


def test_a_word_of_the_lexicon_is_searched_in_many_ways_each_with_its_reason(library: Home) -> None:
    """Eight to twenty variants, each with family, weight, reason and the number of memos; each memo that met one says which."""
    result = library.brain().search("观影")
    variants = result.coverage.variants
    assert 8 <= len(variants) <= MAX_VARIANTS
    assert len({v.text for v in variants}) == len(variants)
    assert all(v.family and v.reason and 0 <= v.weight <= 1 for v in variants)
    assert {"literal", "synonym", "other language", "translation"} <= {v.family for v in variants}
    assert {v.text: v.memos for v in variants}["片单"] == 5
    for hit in result.hits:
        assert {v.text for v in hit.met} <= {v.text for v in variants if v.memos}


@pytest.mark.parametrize("channel", ["hybrid", "keyword", "semantic"])
def test_the_parts_of_a_score_add_up_to_it(library: Home, channel: str) -> None:
    """For every hit and near miss of many queries; nothing about a score is left unexplained."""
    shown, parts = 0, set[str]()
    for query in (
        "片单",
        "観影",
        "酸面种 黑麦",
        "old final cut",
        "v2_x",
        "#film",
        "tag:film",
        "苤蓝",
        "有哪些片单资源",
        "夜场片单：三部老片",
    ):
        result = library.brain().search(query, channel=channel)
        for hit in (*result.hits, *result.nearest):
            assert min(1.0, sum(hit.why.values())) == pytest.approx(hit.score, abs=1e-3), (query, hit.memo_id, hit.why)
            assert 0 <= hit.score <= 1
            shown += 1
            parts |= hit.why.keys()
        scores = [hit.score for hit in result.hits]
        assert scores == sorted(scores, reverse=True)
    assert shown > 10
    if channel == "hybrid":
        assert parts >= {"words", "near words", "translation", "meaning", "phrase", "coverage", "tag", "agreement", "filters"}


def test_nothing_found_names_unmet_words_and_nearest_misses(library: Home) -> None:
    """At most three misses, best first, each with its place; and no hit."""
    result = library.brain().search("qwertz 片单 plugh xyzzy")
    assert result.hits == ()
    assert result.coverage.unmet == ["qwertz", "plugh", "xyzzy"]
    assert 0 < len(result.nearest) <= NEAREST_MISSES
    assert result.coverage.nearest_misses == [hit.memo_id for hit in result.nearest]
    assert [hit.score for hit in result.nearest] == sorted((hit.score for hit in result.nearest), reverse=True)
    assert all(hit.note and hit.title for hit in result.nearest)
    assert result.coverage.found == 0


def test_a_word_that_no_memo_has_is_named_beside_hits(library: Home) -> None:
    """The other word answers; the person sees which one did not."""
    result = library.brain().search("片单 qwertz", channel="keyword")
    assert result.hits
    assert result.coverage.unmet == ["qwertz"]


# exact matches and expansion


@cache
def opened(model: str) -> Embedder | None:
    return {"none": lambda: None, "tiny": TinyEmbedder, "e5": lambda: open_embedder("e5")}[model]()


def parts_of(home: Home, embedder: Embedder | None, *leave_out: str) -> SearchParts:
    """As a brain makes them, but for the parts left out; without an embedder words have to do."""
    model = embedder or NoModel()
    return SearchParts(
        home.catalog(),
        model.fingerprint,
        lambda: model,
        lambda _: pytest.fail("all chunks are compared"),
        exact_search_limit=10_000,
        open_dictionary=open_dictionary,
        leave_out=frozenset(leave_out),
    )


EXPANSION = ("lexicon", "dictionary", "wide vector", "translated vector")


@pytest.fixture(scope="module")
def synonyms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Memos with a word once, among much else; and memos full of what means the same, in both languages."""
    vault = tmp_path_factory.mktemp("synonyms") / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    near = (
        "电影 影片 看电影 片单 影视 影院",
        "movie film cinema watchlist",
        "备份 存档 拷贝",
        "backup copy archive",
        "睡眠 早睡 熬夜",
    )
    words = ("观影", "備份", "backup", "失眠", "movies")
    filler = "周三交水费，膝盖没疼，窗台的罗勒浇过水了，rye bread in the fridge。"
    memos = [wire_memo(n, f"{filler * (n % 4)}{words[n % len(words)]}{filler * (n % 3)}") for n in range(1, 31)]
    memos += [wire_memo(n, f"{near[n % len(near)]} {near[(n + n // 7) % len(near)]} {n}") for n in range(31, 91)]
    memos += [wire_memo(n, f"{filler[n % 20 :]} {n}") for n in range(91, 111)]
    with CFlowServer(memos) as server:
        (vault / "vaultbrain.toml").write_text(
            f'source = "{server.url}"\nstate_dir = "../state"\ntimeout = 2\n', encoding="utf-8"
        )
        home = Home(vault, server.url)
        home.brain().sync()
        yield home


WORDS = ("观影", "备份", "backup", "失眠", "movies", "罗勒浇过水了")


@pytest.mark.parametrize("model", ["none", pytest.param("tiny"), pytest.param("e5", marks=pytest.mark.model)])
def test_expansion_never_puts_a_memo_above_an_exact_match_that_was_below_it(synonyms: Home, model: str) -> None:
    """With lexicon and dictionary none comes past a memo that holds the very words, and none of these is lost."""
    embedder = opened(model)
    if embedder:
        synonyms.brain(embedder).sync()
    for query in WORDS:
        with_it = search(parts_of(synonyms, embedder, "copies"), query, top_k=200).hits
        without = search(parts_of(synonyms, embedder, "copies", *EXPANSION), query, top_k=200).hits
        places, before = ({hit.memo_id: place for place, hit in enumerate(hits)} for hits in (with_it, without))
        exact = [hit.memo_id for hit in without if any(map(is_exact, hit.met))]
        assert exact, query
        assert set(exact) <= places.keys(), query
        for firm in exact:
            passed = [memo_id for memo_id in places.keys() - exact if places[memo_id] < places[firm]]
            assert all(other in before and before[other] < before[firm] for other in passed), (query, firm, passed)


def test_expansion_finds_what_the_words_do_not(synonyms: Home) -> None:
    """Otherwise the test above would say nothing."""
    with_it, without = (search(parts_of(synonyms, None, *left_out), "insomnia", top_k=200) for left_out in ((), EXPANSION))
    assert with_it.coverage.found > without.coverage.found == 0


def test_a_word_in_passing_does_not_hide_what_expansion_finds(synonyms: Home) -> None:
    """A few long memos say the word once; those that are about the subject in other words are there as well."""
    hits = search(parts_of(synonyms, None), "观影", top_k=200).hits
    assert any(hit.why.get("near words") for hit in hits)


def test_every_part_that_can_be_left_out_is_one_that_search_asks_for() -> None:
    """And the command line offers the same ones."""
    asked_for = re.findall(r'\.uses\("([^"]+)"\)', Path(search_room.__file__).read_text(encoding="utf-8"))
    assert measuring.INGREDIENTS == INGREDIENTS
    assert sorted(asked_for) == sorted(INGREDIENTS)


# degraded


def test_without_the_dictionary_the_rest_answers(library: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache folder in which none was made yet: the coverage says so, and the words of the question are found."""
    for name in CACHE_VARIABLES:
        monkeypatch.setenv(name, str(tmp_path))
    result = library.brain().search("苤蓝")
    assert ids(result)[0] == "16"
    assert "15" not in [hit.memo_id for hit in result.hits if "keyword" in hit.channels]
    assert degraded(result) == ["no_dictionary"]


DEAD = "http://127.0.0.1:9/v1"


def test_parts_that_are_missing_all_at_once_are_each_named_and_words_answer(
    library: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model, a chat server that is away, a cross-encoder without its package: three shortcomings, and the memos."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    brain = library.brain(
        NoModel(),
        rerank=f"cross-encoder:{library.vault / 'no-such-folder'}",
        llm_base_url=DEAD,
        llm_model="small",
        llm_expand=True,
    )
    result = brain.search("片单")
    assert {"1", "2", "3", "4", "5"} <= set(ids(result))
    assert sorted(degraded(result)) == ["no_model", "no_reranker", "no_suggestions"]
    assert all(shortcoming.reason for shortcoming in result.coverage.degraded)


def test_the_command_line_answers_without_them_and_ends_well(library: Home, tmp_path: Path) -> None:
    """Exit code 0, the memos on stdout, each shortcoming a line on stderr; so are no vectors."""
    run = Shell(tmp_path, {"VAULTBRAIN_STATE_DIR": str(library.state)})
    away = {"VAULTBRAIN_EMBEDDING": "openai:none", "VAULTBRAIN_EMBEDDING_URL": DEAD, "VAULTBRAIN_LLM_BASE_URL": DEAD}
    away |= {
        "VAULTBRAIN_LLM_MODEL": "small",
        "VAULTBRAIN_LLM_EXPAND": "true",
        "VAULTBRAIN_RERANK": f"cross-encoder:{tmp_path}/none",
    }
    done = run("search", "片单 after:soon", "--variant", "三部老片", "--explain", folder=library.vault, **away)
    assert done.code == 0, done.err
    assert "#1 · " in done.out
    assert f"三部老片 (given, {WEIGHTS['given']}): 1 memo; asked for by the caller" in done.out
    notes = done.err.splitlines()
    assert [words in done.err for words in ("no vectors", "language model", "cross-encoder", "no filter")] == [True] * 4, done.err
    assert len(notes) == 4


# vectors in memory, and a sync beside


FEEDING = "酸面种每周喂两次，用黑麦粉"


def test_vectors_are_read_again_only_after_a_change(server: CFlowServer, home: Home) -> None:
    """One table serves every search until a sync changed a memo; a sync that changed nothing leaves it."""
    server.memos += [
        wire_memo(n, text) for n, text in ((1, FEEDING), (2, "交水费"), *((n, f"{n} 膝盖没疼") for n in range(3, 20)))
    ]
    home.brain().sync()
    brain, tables = home.brain(), TableCache()

    def table() -> object:
        with home.catalog() as catalog:
            return tables.table(catalog, brain.fingerprint)

    first = table()
    assert brain.search(FEEDING, channel="semantic").hits[0].memo_id == "1"
    home.brain().sync()
    assert table() is first
    server.edit(2, FEEDING)
    server.edit(1, "窗台的罗勒")
    home.brain().sync()
    assert table() is not first
    assert table() is table()
    assert brain.search(FEEDING, channel="semantic").hits[0].memo_id == "2"


def test_a_search_answers_while_a_sync_writes(server: CFlowServer, home: Home) -> None:
    """At every step of the sync, also between two batches of vectors, another brain finds what is there already."""
    server.memos += [wire_memo(n, f"{n} 酸面种每周喂两次") for n in range(1, 21)]
    home.brain().sync()
    reader = home.brain()
    seen: list[SearchResult] = []

    class Searching(TinyEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Any:
            seen.append(reader.search("酸面种"))
            return super().embed_passages(texts)

    def progress(*_: object) -> None:
        seen.append(reader.search("酸面种"))

    server.memos += [wire_memo(n, f"{n} 酸面种又喂了") for n in range(21, 61)]
    server.edit(1, "不是面种了")
    report: SyncReport = home.brain(Searching(dimension=64)).sync(progress=progress)
    assert report.conflicts == 0
    assert len(seen) > 4
    assert all(len(result.hits) == 10 for result in seen)
    assert [degraded(result) for result in seen] == [[]] * len(seen)
    assert {result.coverage.memos for result in seen} <= set(range(20, 61))
    assert reader.search("酸面种").coverage.chunks_with_vector == 60


# long queries, and Chroma


def test_a_passage_of_3000_characters_finds_the_memo_it_is_near_to(library: Home) -> None:
    """Its own words are enough: nothing is added to them, and no colon or quote in it is a filter."""
    filler = '这里写的是另一件事，与上下文无关；tag:film "quoted" and so on. '
    passage = "在 libv2_xtools.so 里找到了 retry_count2 的默认值。" + filler * 65
    assert len(passage) > 3_000
    result = library.brain().search(passage)
    assert result.hits[0].memo_id == "10"
    assert (result.coverage.filters, result.coverage.filters_ignored, degraded(result)) == ([], [], [])
    assert {v.family for v in result.coverage.variants} <= {"literal", "part", "form", "tag", "as typed", "script"}
    assert library.brain(NoModel()).search(passage).hits[0].memo_id == "10"


@pytest.mark.parametrize("model", [pytest.param("tiny"), pytest.param("e5", marks=pytest.mark.model)])
def test_results_are_equal_whether_chroma_proposes_or_not(library: Home, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when Chroma proposes so few that most candidates come by their words alone: same scores, same parts, same order."""
    monkeypatch.setattr(search_room, "CANDIDATES", 3)
    monkeypatch.setattr(search_room, "OVER_FETCH", 1)
    embedder = opened(model)
    library.brain(embedder).sync()
    for query in (
        "片单",
        "三部片单",
        "old film cut",
        "水费单据",
        "酸面种 温度计",
        "苤蓝",
        "片单 tag:film",
        "硬盘",
        "the loud pot",
    ):
        exact, proposed = (by_words(library.brain(embedder, exact_search_limit=limit).search(query)) for limit in (10_000, 0))
        assert exact, query
        assert proposed == exact, query


def by_words(result: SearchResult) -> list[dict[str, Any]]:
    """All about the hits that words speak for; a cosine is that of a larger or a smaller matrix, which costs its last digits."""
    shown = [hit.as_json(explain=True) for hit in result.hits if "keyword" in hit.channels]
    return [hit | {"cosine": round(hit["cosine"], 5)} for hit in shown]
