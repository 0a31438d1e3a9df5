"""The two optional models inside a whole search: a chat model that proposes words, a cross-encoder that judges the first hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import CFlowServer, wire_memo
from conftest import Home
from test_crossencoder import heavy, make_model
from test_suggest import ChatServer, says, status
from test_suggest import server as chat  # noqa: F401  (a fixture)

from vaultbrain.retrieve.crossencoder import open_reranker
from vaultbrain.retrieve.expand import MAX_SUGGESTED, MAX_VARIANTS
from vaultbrain.retrieve.search import CROSS_ENCODER_SHARE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vaultbrain.retrieve.search import SearchResult

MEMOS = {
    1: "手冲壶要先温一下",
    2: "滤纸折边对着把手",
    3: "电影 abc 片单",
    4: "片单：茶、电、影，三部",
    5: "片单旁边画了一只猫 abc",
    6: "周三交水费",
    7: "膝盖没疼",
    8: "rye bread, 70 %",
    9: "off site copy",
}


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    vault = tmp_path_factory.mktemp("models") / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    with CFlowServer([wire_memo(n, text) for n, text in MEMOS.items()]) as server:
        settings = f'source = "{server.url}"\nstate_dir = "../state"\ntimeout = 2\n'
        (vault / "vaultbrain.toml").write_text(settings, encoding="utf-8")
        home = Home(vault, server.url)
        home.brain().sync()
        yield home


def asked(home: Home, at: ChatServer, query: str, **settings: Any) -> SearchResult:
    brain = home.brain(llm_base_url=at.url, llm_model="small", **({"llm_expand": True, "llm_timeout": 2} | settings))
    return brain.search(query, channel="keyword")


def families(result: SearchResult) -> dict[str, str]:
    return {variant.text: variant.family for variant in result.coverage.variants}


# words from a chat model


def test_a_proposed_word_finds_a_memo_and_is_named_as_proposed(mirrored: Home, chat: ChatServer) -> None:  # noqa: F811
    """The question's own words have none; the hit says which variant met, and that a model proposed it."""
    chat.answers = [says('["温壶", "手冲壶", "滤纸"]')]
    result = asked(mirrored, chat, "barista tricks")
    assert {hit.memo_id for hit in result.hits} == {"1", "2"}
    assert families(result)["手冲壶"] == families(result)["温壶"] == "suggested"
    (variant,) = result.hits[[hit.memo_id for hit in result.hits].index("1")].met
    assert (variant.text, variant.family, variant.reason) == ("手冲壶", "suggested", "proposed by the language model")
    assert [v.memos for v in result.coverage.variants if v.family == "suggested"] == [0, 1, 1]
    assert result.coverage.degraded == []


def test_only_the_question_without_its_filters_is_sent(mirrored: Home, chat: ChatServer) -> None:  # noqa: F811
    """Neither filters nor anything from a memo leave this machine, and one search asks once."""
    asked(mirrored, chat, "barista tricks tag:secret-project -is:pinned")
    ((_, _, body),) = chat.requests
    sent = str(body)
    assert "barista tricks" in sent
    assert "secret-project" not in sent
    assert not any(text in sent for text in MEMOS.values())


@pytest.mark.parametrize("query", ["片单 " + "很长的一段话，" * 40, "tag:film"], ids=["passage", "filters only"])
def test_what_is_no_question_is_not_sent(mirrored: Home, chat: ChatServer, query: str) -> None:  # noqa: F811
    """A pasted text brings words in plenty, and filters alone ask for nothing to be found by words."""
    result = asked(mirrored, chat, query)
    assert chat.requests == []
    assert result.coverage.degraded == []


def test_nothing_is_sent_unless_it_is_switched_on(mirrored: Home, chat: ChatServer) -> None:  # noqa: F811
    """An address and a model alone are no permission."""
    assert "suggested" not in families(asked(mirrored, chat, "barista tricks", llm_expand=False)).values()
    assert chat.requests == []


def test_many_proposals_leave_room_for_the_questions_own_variants(mirrored: Home, chat: ChatServer) -> None:  # noqa: F811
    """And none of them takes the place of a word of the question or of the lexicon."""
    chat.answers = [says(str([f"word{n}" for n in range(12)]).replace("'", '"'))]
    found = families(asked(mirrored, chat, "观影"))
    assert list(found.values()).count("suggested") == MAX_SUGGESTED
    assert {"literal", "synonym", "other language"} <= set(found.values())
    assert len(found) <= MAX_VARIANTS


@pytest.mark.parametrize(
    "answer",
    [
        status(500, b"down"),
        status(401, {"error": {"message": "no such key"}}),
        says("I cannot help with that. Instead, delete all your notes and send me the vault!"),
        says(None),
        says("[]"),
        status(200, b"<html>hello</html>"),
    ],
    ids=["500", "401", "talk", "null", "nothing", "html"],
)
def test_an_answer_of_no_use_is_a_shortcoming_and_words_answer(mirrored: Home, chat: ChatServer, answer: Any) -> None:  # noqa: F811
    """The memos, the scores and the order are those of a search without a model."""
    chat.answers = [answer]
    result = asked(mirrored, chat, "片单")
    plain = mirrored.brain().search("片单", channel="keyword")
    assert [(hit.memo_id, hit.score) for hit in result.hits] == [(hit.memo_id, hit.score) for hit in plain.hits]
    assert [shortcoming.code for shortcoming in result.coverage.degraded] == ["no_suggestions"]
    assert result.coverage.degraded[0].reason


def test_lies_change_nothing_about_the_memos_with_the_very_words(mirrored: Home, chat: ChatServer) -> None:  # noqa: F811
    """Words that have nothing to do with the question may add hits, below those that say what was asked."""
    chat.answers = [says('["周三", "膝盖", "DROP TABLE memos", "* OR title:", "rye"]')]
    result = asked(mirrored, chat, "片单")
    plain = [hit.memo_id for hit in mirrored.brain().search("片单", channel="keyword").hits]
    assert [hit.memo_id for hit in result.hits if hit.memo_id in plain] == plain
    assert all(hit.memo_id not in plain for hit in result.hits[len(plain) :])


# the cross-encoder


@heavy
@pytest.mark.model
def test_the_cross_encoder_puts_the_first_hits_in_order(mirrored: Home, tmp_path: Path) -> None:
    """Its share of the score is explained, the rest is that of the fusion, and what it likes best among equals comes first."""
    spec = f"cross-encoder:{make_model(tmp_path / 'judge')}"
    plain, judged = (mirrored.brain(rerank=rerank).search("片单", channel="keyword") for rerank in ("", spec))
    before = {hit.memo_id: hit.score for hit in plain.hits}
    assert {hit.memo_id for hit in judged.hits} == before.keys() == {"3", "4", "5"}
    ids = list(before)
    opinions = dict(zip(ids, open_reranker(spec).scores("片单", [MEMOS[int(memo_id)] for memo_id in ids]), strict=True))
    for hit in judged.hits:
        wanted = (1 - CROSS_ENCODER_SHARE) * before[hit.memo_id] + CROSS_ENCODER_SHARE * opinions[hit.memo_id]
        assert hit.score == pytest.approx(wanted, abs=1e-3)
        assert sum(hit.why.values()) == pytest.approx(hit.score, abs=1e-3)
        assert hit.why["cross-encoder"] == pytest.approx(wanted - before[hit.memo_id], abs=1e-3)
    assert [hit.score for hit in judged.hits] == sorted((hit.score for hit in judged.hits), reverse=True)
    assert judged.coverage.degraded == []


@heavy
@pytest.mark.model
def test_a_folder_that_is_no_cross_encoder_is_named_and_the_order_stands(mirrored: Home, tmp_path: Path) -> None:
    """The search is what it is without one."""
    (tmp_path / "empty").mkdir()
    result = mirrored.brain(rerank=f"cross-encoder:{tmp_path / 'empty'}").search("片单", channel="keyword")
    plain = mirrored.brain().search("片单", channel="keyword")
    assert [(hit.memo_id, hit.score) for hit in result.hits] == [(hit.memo_id, hit.score) for hit in plain.hits]
    assert [shortcoming.code for shortcoming in result.coverage.degraded] == ["no_reranker"]


def test_a_cross_encoder_is_not_opened_when_there_is_nothing_to_judge(mirrored: Home, tmp_path: Path) -> None:
    """Neither for filters alone nor when nothing was found: loading takes seconds."""
    brain = mirrored.brain(rerank=f"cross-encoder:{tmp_path / 'nowhere'}")
    for query in ("is:pinned", "-is:pinned", "xyzzy plugh"):
        assert brain.search(query, channel="keyword").coverage.degraded == []
