"""Search: what is found by words and by meaning, what is said when nothing is, and what still works when parts are missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from cflow_server import wire_memo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_embedder import TinyEmbedder

from vaultbrain.errors import EmbeddingUnavailable, UsageProblem
from vaultbrain.retrieve.expand import MAX_VARIANTS, Sources, expand
from vaultbrain.retrieve.lexicon import load_lexicon
from vaultbrain.retrieve.query import language_of, read_query
from vaultbrain.retrieve.search import search_together

if TYPE_CHECKING:
    from cflow_server import CFlowServer
    from conftest import Home

MEMOS = {
    1: "豆瓣片单备份，周末慢慢看 #观影",
    2: "觀影筆記：昨天看了一部老片",
    3: "ＩＭＡＸ 场次抢到了",
    4: "backup strategy: three copies, two media, one off site",
    5: "買菜：番茄、雞蛋、豆腐",
    6: "用 `git revert HEAD` 撤销一次提交",
    7: "观察绿豆长到 14 厘米",
}


@pytest.fixture
def searched(server: CFlowServer, home: Home) -> Home:
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    home.brain().sync()
    return home


def found(home: Home, query: str, **options: object) -> list[str]:
    return [hit.memo_id for hit in home.brain().search(query, channel="keyword", **options).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "memo_id"),
    [
        ("观影", "2"),  # simplified finds traditional
        ("觀影", "1"),  # and the other way round
        ("imax", "3"),  # full-width letters, and case
        ("ＢＡＣＫＵＰ", "4"),
        ("雞蛋", "5"),
        ("鸡蛋", "5"),
        ("电影", "1"),  # by the lexicon: 片单
        ("undo", "6"),  # across languages: 撤销
        ("菜", "5"),  # a single character inside a run
        ("git revert HEAD", "6"),
    ],
)
def test_words_meet_across_script_width_case_and_language(searched: Home, query: str, memo_id: str) -> None:
    """What a person types finds the memo that says it in another spelling."""
    assert memo_id in found(searched, query)


def test_a_shared_character_is_no_match(searched: Home) -> None:
    """观察 shares 观 with 观影 and nothing else."""
    assert "7" not in found(searched, "观影")


@given(st.text(max_size=40))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_query_is_a_syntax_error(searched: Home, query: str) -> None:
    """Quotes, operators, stars, emoji, nothing at all: an answer or an honest nothing."""
    searched.brain().search(query)


@pytest.mark.parametrize(
    "query", ['"', "AND", "a OR", "NEAR(", "col:x", "*", "c++", "-", "片单*", "", "   ", "\x00", "？！", "'; DROP TABLE memos"]
)
def test_operators_are_only_characters(searched: Home, query: str) -> None:
    """FTS5's own language never reaches the person."""
    searched.brain().search(query)


def test_by_meaning_alone_no_word_is_said_to_be_missing(searched: Home) -> None:
    """Words were not looked up, so nothing is known of them."""
    coverage = searched.brain().search("观影", variants=["片单"], channel="semantic").coverage
    assert (coverage.variants, coverage.unmet) == ([], [])


def test_hits_say_what_they_met_and_where(searched: Home) -> None:
    """Memo, label, note, block and the query words; and the coverage counts what was searched."""
    result = searched.brain().search("观影")
    hit = next(hit for hit in result.hits if hit.memo_id == "1")
    assert (hit.note, hit.anchor) == (searched.note_of(1).relative_to(searched.vault).as_posix(), "m1-1")
    assert hit.excerpt in searched.text_of(1)
    assert "观影" in hit.matched
    assert "keyword" in hit.channels
    assert (result.coverage.memos, result.coverage.chunks_with_vector, result.coverage.chunks) == (7, 7, 7)
    assert result.coverage.as_json()["words_without_memo"] == result.coverage.unmet


def test_given_variants_are_tried_and_counted(searched: Home) -> None:
    """An agent's own wording finds what the question's words do not."""
    assert "4" not in found(searched, "xyzzy")
    result = searched.brain().search("xyzzy", variants=["off site"], channel="keyword")
    assert [hit.memo_id for hit in result.hits] == ["4"]
    assert [v.memos for v in result.coverage.variants if v.family == "given"] == [1]


def test_results_repeat_exactly(searched: Home) -> None:
    """The same state and question give the same hits, scores and order."""
    assert searched.brain().search("观影").as_json() == searched.brain().search("观影").as_json()


def test_chroma_and_exact_search_agree(server: CFlowServer, searched: Home) -> None:
    """Whether every chunk is compared or Chroma proposes: the catalog's vectors decide the scores."""
    server.memos += [wire_memo(n, f"{n} 条无关的话，说的是第 {n} 件小事") for n in range(100, 160)]
    searched.brain().sync()
    exact = searched.brain(exact_search_limit=1_000).search("backup strategy", channel="semantic")
    proposed = searched.brain(exact_search_limit=0).search("backup strategy", channel="semantic")
    assert exact.hits[0].memo_id == "4"
    assert [h.as_json() for h in proposed.hits] == [h.as_json() for h in exact.hits]


def test_before_the_first_sync_the_person_is_told_what_to_do(home: Home) -> None:
    """No traceback and no empty result that looks like an answer."""
    with pytest.raises(UsageProblem):
        home.brain().search("观影")


class NoModel(TinyEmbedder):
    def embed_queries(self, texts):  # type: ignore[no-untyped-def]
        raise EmbeddingUnavailable(embedding="tiny", reason="file is missing")


def test_without_a_model_the_words_still_answer(searched: Home) -> None:
    """And the coverage says that only words were searched, and why."""
    result = searched.brain(NoModel(dimension=64)).search("观影")
    assert {hit.memo_id for hit in result.hits} >= {"1", "2"}
    assert [(s.code, s.reason) for s in result.coverage.degraded] == [("no_model", "file is missing")]


def test_without_vectors_the_words_still_answer(server: CFlowServer, home: Home) -> None:
    """Notes and words are there before the first vector."""
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    other = TinyEmbedder(dimension=64)
    other.fingerprint = "tiny:never-used"
    home.brain().sync()
    result = home.brain(other).search("观影")
    assert [s.code for s in result.coverage.degraded] == ["no_vectors"]
    assert result.hits


def test_a_broken_vector_index_is_gone_round(searched: Home) -> None:
    """Chroma's folder is dirty: every chunk is compared instead, with a word in the coverage."""
    (searched.state / "chroma" / "DIRTY").write_text("writing", encoding="utf-8")
    result = searched.brain(exact_search_limit=0).search("backup strategy")
    assert result.hits[0].memo_id == "4"
    assert [s.code for s in result.coverage.degraded] == ["no_store"]


def test_nothing_is_said_with_the_nearest_misses(searched: Home) -> None:
    """No memo is near: no hits, but what came nearest and which words met nothing."""
    result = searched.brain(NoModel(dimension=64)).search("zzyzx qwertz")
    assert result.hits == ()
    assert set(result.coverage.unmet) >= {"zzyzx", "qwertz"}


# the pure parts


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("帮我找和观影有关的资源", "观影"),
        ("請幫我找跟觀影有關的資源", "观影"),
        ("CFlow里有没有关于观影的内容？", "观影"),
        ("NotebookLM 有哪些使用场景？", "notebooklm 使用场景"),
        ("how do I undo a git commit", "undo git commit"),
        ("怎么睡得好", "睡得好"),
        ("观影", "观影"),
        ("的", ""),
        ("想法", "想法"),
        ("我的想法有哪些", "想法"),
        ("请假", "请假"),
        ("过年", "过年"),
        ("所有权", "所有权"),
        ("里程碑", "里程碑"),
        ("列表理解 python", "列表理解 python"),
        ("查重工具", "查重工具"),
        ("目的地", "目的地"),
        ("帮我找《龍門客棧》的资源", "龙门客栈"),
        ("请列出备份的工具", "备份 工具"),
        ("???", "???"),
        ("what is the", ""),
    ],
)
def test_the_topic_is_the_question_without_the_asking(question: str, topic: str) -> None:
    """Words that only ask are taken off; a question of nothing else keeps itself, and function words ask for nothing."""
    assert read_query(question).topic == topic


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("观影", "zh-Hans"),
        ("觀影資源", "zh-Hant"),
        ("movie", "en"),
        ("找 movie 资源", "zh-Hans"),
        ("找《龍門》", "zh-Hans"),
        ("", "en"),
    ],
)
def test_the_language_and_script_of_a_question(text: str, language: str) -> None:
    """A Chinese character makes it Chinese; a traditional one traditional."""
    assert language_of(text) == language


def test_expansion_puts_the_persons_words_first_and_repeats_none() -> None:
    """The literal words weigh most; synonyms, the other language and existing tags follow, each once."""
    sources = Sources(load_lexicon(), tags={"观影", "片单"}, given=["IMAX"])
    variants = expand(read_query("观影"), sources)
    texts = [v.text for v in variants]
    assert texts[:2] == ["观影", "imax"]
    assert len(texts) == len(set(texts)) <= MAX_VARIANTS
    assert {"电影", "movie", "#观影", "#片单"} <= set(texts)
    assert all(v.weight < variants[0].weight and v.reason for v in variants[1:])


# several texts at once


def test_texts_that_are_searched_together_cost_one_call_of_the_model(searched: Home) -> None:
    """The first gets what it gets alone, to the last digit, the others its meaning beside their words; hits are cited later."""
    model = TinyEmbedder(dimension=64)
    brain = searched.brain(model)
    with searched.catalog() as catalog:
        first, second = search_together(brain._search_parts(catalog), ["观影", "片单"])
        assert model.calls == 1
        assert [hit.excerpt for hit in first.hits] == [""] * len(first.hits)
        alone = searched.brain().search("观影")
        assert tuple(map(first.cite, first.hits)) == alone.hits
        assert first.as_json()["coverage"] == alone.as_json()["coverage"]
        assert "片单" in second.hits[0].matched
        cosines = {hit.memo_id: hit.cosine for hit in first.hits}
        both = [hit for hit in second.hits if hit.memo_id in cosines]
        assert both
        assert [hit.cosine for hit in both] == [cosines[hit.memo_id] for hit in both]


def test_without_a_model_texts_that_are_searched_together_are_answered_by_words(searched: Home) -> None:
    """The model is tried once for all of them; each coverage says why."""
    tried: list[int] = []

    def open_embedder() -> TinyEmbedder:
        tried.append(1)
        raise EmbeddingUnavailable(embedding="tiny", reason="file is missing")

    with searched.catalog() as catalog:
        parts = replace(searched.brain()._search_parts(catalog), open_embedder=open_embedder)
        results = search_together(parts, ["观影", "backup strategy"])
    assert len(tried) == 1
    assert [result.hits[0].memo_id for result in results] == ["1", "4"]
    assert [[s.reason for s in result.coverage.degraded] for result in results] == [["file is missing"]] * 2


def test_the_next_page_needs_no_model(searched: Home) -> None:
    """What was asked a moment ago is not embedded again, and gives the same scores."""
    model = TinyEmbedder(dimension=64)
    brain = searched.brain(model)
    first, calls = brain.search("观影", top_k=1), model.calls
    again = brain.search("观影", top_k=2)
    assert model.calls == calls > 0
    assert again.hits[0] == first.hits[0]
