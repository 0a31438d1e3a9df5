"""Recall over a real catalog and a real search: two ways to candidates, and what is left when there are no vectors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from cflow_server import wire_memo
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.gist.gist import gist_of
from vaultbrain.memo import Memo
from vaultbrain.recall.areas import Areas
from vaultbrain.recall.judge import SMALLEST_CORPUS, Situation
from vaultbrain.recall.recall import NEED_CHARS, NOTHING_TO_LOOK_FOR, RecallParts, need_of, recall
from vaultbrain.retrieve.coverage import Coverage
from vaultbrain.retrieve.query import read_query
from vaultbrain.retrieve.search import Hit, SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cflow_server import CFlowServer
    from conftest import Home

    from vaultbrain.recall.recall import Recalled

NEED = "NAS 备份怎么做才稳？想定一套备份流程。"
BACKUP = "NAS 备份流程：先做快照，再同步到移动硬盘，最后每月抽三个文件恢复一次。实测两小时。 #NAS"
OTHERS = [f"第 {n} 天的菜单：先煮汤，再炒菜，最后烤 {n} 分钟的红薯。" for n in range(1, SMALLEST_CORPUS + 1)]


@pytest.fixture
def kept(server: CFlowServer, home: Home) -> Home:
    """One memo on backups among others, mirrored."""
    server.memos += [wire_memo(n, text) for n, text in enumerate([BACKUP, *OTHERS], 1)]
    home.brain().sync()
    return home


@dataclass
class Catalogue:
    """Memos, and what the two searches find of them: (memo id, score, cosine). ``asked``: what was looked for, in order."""

    contents: dict[str, str]
    hits: dict[str, list[tuple[str, float, float]]]
    asked: list[str] = field(default_factory=list)

    def parts(self) -> RecallParts:
        return RecallParts(
            search=self._search,
            has_vectors=True,
            containing=lambda _: (),
            memos=lambda ids: {n: self._memo(n) for n in ids if n in self.contents},
            gists=lambda memos: {memo.id: gist_of(memo) for memo in memos},
            note_of=lambda _: "",
            areas=Areas(),
            is_word=None,
            corpus_size=100,
            dismissed=frozenset(),
            liking={},
        )

    def _memo(self, memo_id: str) -> Memo:
        return Memo(id=memo_id, content=self.contents[memo_id], created=0, updated=0, visibility="PRIVATE", url="")

    def _search(self, texts: Sequence[str], top_k: int) -> list[SearchResult]:
        self.asked += texts
        return [self._found(text, top_k) for text in texts]

    def _found(self, text: str, top_k: int) -> SearchResult:
        found = self.hits["need" if text == need_of(NEED) else "query"][:top_k]
        hits = tuple(Hit(n, "强", score, "", self.contents[n], "", "", "", (), (), 0, cosine) for n, score, cosine in found)
        return SearchResult(read_query(text), hits, Coverage(100, 100, 100, 100, "", ""))


def reasons_of(found: Recalled, memo_id: str) -> tuple[str, ...]:
    return next(verdict.reasons for verdict in found.verdicts if verdict.candidate.memo.id == memo_id)


def test_both_ways_are_joined() -> None:
    """Two searches, the short query and the need; a memo of both is the need's hit, which the other one confirms."""
    world = Catalogue({"1": BACKUP, "2": OTHERS[0]}, {"query": [("1", 0.3, 0.3), ("2", 0.2, 0.2)], "need": [("1", 0.5, 0.6)]})
    found = recall(world.parts(), NEED)
    assert world.asked == [need_of(NEED), found.query]
    by_id = {verdict.candidate.memo.id: verdict.candidate for verdict in found.verdicts}
    assert sorted(by_id) == ["1", "2"]
    assert (by_id["1"].score, by_id["1"].cosine, by_id["1"].agreement) == (0.5, 0.6, 0.3)
    assert (by_id["2"].score, by_id["2"].agreement) == (0.2, 0.0)
    assert [verdict.candidate.memo.id for verdict in found.shown] == ["1"]
    assert by_id["1"].excerpt == BACKUP


def test_a_memo_of_either_way_is_a_candidate() -> None:
    """What only the need finds is judged, and so is what only the short query finds."""
    world = Catalogue({"1": BACKUP, "2": OTHERS[0]}, {"query": [("2", 0.2, 0.2)], "need": [("1", 0.6, 0.6)]})
    assert sorted(verdict.candidate.memo.id for verdict in recall(world.parts(), NEED).verdicts) == ["1", "2"]


def test_a_need_brings_up_the_memo(kept: Home) -> None:
    """What is asked for is found and shown; the query stays the short one."""
    found = kept.brain().recall(NEED)
    assert (found.by, [verdict.candidate.memo.id for verdict in found.shown]) == ("meaning", ["1"])
    assert 0 < len(found.query.split()) <= 8
    assert found.query != NEED


def test_words_answer_without_meaning(kept: Home) -> None:
    """``semantic=False`` goes by words alone: no cosine, and candidates have the paths of their notes."""
    found = kept.brain().recall("备份流程怎么定？", semantic=False)
    assert found.by == "keywords"
    candidate = next(v.candidate for v in found.verdicts if v.candidate.memo.id == "1")
    assert (candidate.cosine, candidate.agreement) == (None, 0.0)
    assert (kept.vault / candidate.note).is_file()


def test_nothing_to_look_for(kept: Home) -> None:
    """A text without a subject is not searched, and that is said."""
    found = kept.brain().recall("嗯。")
    assert (found.query, found.verdicts, found.held) == ("", (), NOTHING_TO_LOOK_FOR)


def test_a_need_without_a_subject_of_its_own_is_looked_up_as_it_was_said() -> None:
    """No word of it makes a short query, and yet it is worth a look: the whole need is searched for, and nothing beside it."""
    need = "我最近睡得很差，凌晨兩三點還醒著，想試試不喝咖啡"
    catalogue = Catalogue({"1": BACKUP}, {"need": [], "query": [("1", 0.9, 0.8)]})
    found = recall(catalogue.parts(), need)
    assert (found.decision.recall, found.query, catalogue.asked) == (True, "", [need_of(need)])
    assert [verdict.candidate.memo.id for verdict in found.verdicts] == ["1"]
    assert recall(catalogue.parts(), need, semantic=False).held == NOTHING_TO_LOOK_FOR


def test_a_small_corpus_is_silent(films: Home) -> None:
    """Among four memos nothing is mentioned, and the reason names how many there are."""
    found = films.brain().recall("豆瓣片单怎么备份？想要步骤。")
    assert found.verdicts
    assert not found.shown
    assert all("too few memos: 4" in verdict.reasons for verdict in found.verdicts)


@pytest.mark.parametrize(("known", "reason"), [("linked", "linked in the note already"), ("mentioned", "mentioned before")])
def test_what_the_note_has_is_held(known: str, reason: str) -> None:
    """A memo that the note links to, or that was mentioned for it, is held for that reason."""
    world = Catalogue({"1": BACKUP}, {"query": [("1", 0.6, 0.6)], "need": [("1", 0.6, 0.6)]})
    situation = Situation(NEED, **{known: frozenset({"1"})})  # type: ignore[arg-type]
    assert recall(world.parts(), NEED).shown
    assert reasons_of(recall(world.parts(), NEED, situation), "1") == (reason,)


def test_what_was_dismissed_is_held() -> None:
    """What the person waved away comes from the parts, whatever the note knows."""
    world = Catalogue({"1": BACKUP}, {"query": [("1", 0.6, 0.6)], "need": [("1", 0.6, 0.6)]})
    parts = replace(world.parts(), dismissed=frozenset({"1"}))
    assert reasons_of(recall(parts, NEED), "1") == ("dismissed by you",)


@pytest.mark.parametrize(
    ("text", "need"),
    [
        ("早上下雨。硬盘又满了！怎么清？", "硬盘又满了！ 怎么清？"),
        ("It rained. The disk is full. What goes first?", "The disk is full. What goes first?"),
        ("# 计划\n先定读法\n再动手", "先定读法 再动手"),
        ("只有一句", "只有一句"),
        ("", ""),
        ('It says "no space". What now -really?', "It says no space . What now really?"),
        ("word " * 60, ("word " * 40).strip()),
    ],
)
def test_the_need_is_the_end_of_the_text(text: str, need: str) -> None:
    """Two sentences at most, in few characters, cut between words, without what a search obeys."""
    assert need_of(text) == need


@settings(deadline=None)
@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(['"a b"', "-x", "tag:a", "before:2024", "。", "is:pinned", "词"])).map(" ".join)
)
def test_no_text_filters_its_own_search(text: str) -> None:
    """However a person writes, it is their words that are looked for: never fewer memos, and never a long text."""
    need = need_of(text)
    assert len(need) <= NEED_CHARS
    assert read_query(need).conditions.is_empty
