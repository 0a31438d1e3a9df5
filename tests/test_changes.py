"""How an answer ages, as pure functions: why it is stale, what changed, and links that are led where blocks and notes are now."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.answer.changes import (
    MAX_NAMED,
    Place,
    in_words,
    link_to_cited,
    mended_citations,
    mended_text,
    staleness,
    what_changed,
)
from vaultbrain.index.answers import AnswerRow, CitedMemo
from vaultbrain.vault.markdown import wikilink

LANGUAGES = ("zh-Hans", "zh-Hant", "en")
#: Names that a person may give a note on some system; most of them stand in no wikilink.
NAMES = (
    "CFlow/Memos/观影清单 (1).md", "a/b c (2).md", "Notes/CFlow/Memos/x.y+z$ (3).md", "naïve\u3000空格 (4).md",
    "\U0001f3ac (5).md", "C#/笔记 (6).md",
    "a [draft] (7).md", "x^2 (8).md", "a|b (9).md", "100%% (10).md", "50% off # 半价 (11).md",
)  # fmt: skip


def cited(memo_id: int | str, note: str = "", anchor: str = "", *, label: str = "强", version: str = "v1") -> CitedMemo:
    return CitedMemo(str(memo_id), version, label, f"title {memo_id}", note, anchor)


def row(*memos: CitedMemo, language: str = "zh-Hans", **others: object) -> AnswerRow:
    made = AnswerRow("key", "key", 1, "CFlow/Answers/a.md", "question", "inventory", language, "2026-11-30T07:04:05", cited=memos)
    return replace(made, **others)  # type: ignore[arg-type]


def place(note: str, *anchors: str) -> Place:
    return Place(note, frozenset(anchors))


def targets(text: str) -> list[str]:
    """Path with ``.md`` and block of every link in ``text``, of either form."""
    found = re.findall(r"\[\[([^\]|#]+)(#\^[\w-]+)?\|[^\]]*\]\]|\]\(([^)#]*(?:\([^)]*\)[^)#]*)*)(#\^[\w-]+)?\)", text)
    return [f"{plain}.md{block}" if plain else f"{unquote(encoded)}{other}" for plain, block, encoded, other in found]


# when an answer is stale


def test_an_answer_is_fresh_while_nothing_moves() -> None:
    """The same versions, and nothing among the sources that was not near then."""
    stale = staleness(row(cited(1), cited(2), seen=("1", "2", "3")), {"1": "v1", "2": "v1"}, ["1", "3", "2"])
    assert not stale
    assert in_words(stale, "en") == ""


def test_each_kind_of_reason_is_told_apart() -> None:
    """A memo that changed, one that is gone and one that came, each once and in the order of the sources."""
    stale = staleness(row(cited(1), cited(2), cited(3), seen=("1", "2", "3")), {"1": "v2", "3": "v1"}, ["9", "1", "8"])
    assert (stale.changed, stale.gone, stale.come) == (("1",), ("2",), ("9", "8"))


def test_a_memo_that_was_only_read_along_counts_too() -> None:
    """An answer rests on what its sources refer to, though it does not quote it."""
    assert staleness(row(cited(1, label="")), {"1": "other"}, []).changed == ("1",)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reason_stands_on_one_line_without_links(language: str) -> None:
    """A property is one line, and more memos than are named are counted."""
    memos = [cited(number) for number in range(1, MAX_NAMED + 4)]
    words = in_words(staleness(row(*memos), {}, ["77"]), language)
    assert "\n" not in words
    assert "[[" not in words
    assert [f"#{n}" in words for n in (1, MAX_NAMED, MAX_NAMED + 1, 77)] == [True, True, False, True]
    assert "3" in words.replace("#3", "")


# what changed


def test_nothing_new_is_nothing_said() -> None:
    """Also when the notes of the memos have moved: that is no news about the question."""
    before = row(cited(1, "a.md", "m1-1"))
    assert what_changed(before, row(cited(1, "b.md", "m1-2"))) == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_news_has_a_line_of_its_own(language: str) -> None:
    """Came, changed, went, weighs otherwise: in this order; what went has no link."""
    before = row(cited(1, "a.md", "m1-1"), cited(2, "b.md"), cited(3, "c.md", label="弱"))
    after = row(cited(1, "a.md", "m1-1", version="v2"), cited(3, "c.md"), cited(4, "d.md", "m4-1"), language=language)
    lines = what_changed(before, after)
    assert [targets(line) for line in lines] == [["d.md#^m4-1"], ["a.md#^m1-1"], [], ["c.md"]]
    assert "\\#2" in lines[2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_more_than_a_few_are_named_and_the_rest_is_counted(language: str) -> None:
    """Exactly as many as may be named are all named; one more is counted."""
    memos = [cited(number, f"{number}.md") for number in range(1, MAX_NAMED + 2)]
    (all_named,) = what_changed(row(), row(*memos[:MAX_NAMED], language=language))
    (counted,) = what_changed(row(), row(*memos, language=language))
    assert len(targets(all_named)) == len(targets(counted)) == MAX_NAMED
    assert all_named != counted
    assert "1" in counted.removeprefix(all_named)


def test_a_memo_without_a_note_is_named_without_a_link() -> None:
    """And its sign is escaped: it must not become a tag."""
    assert link_to_cited(cited(5)) == "\\#5"


# links


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("moved_to", NAMES)
def test_a_link_follows_its_note_from_any_name_to_any_other(name: str, moved_to: str) -> None:
    """Whatever the names hold, and both with a block and without."""
    memo = cited(1, name, "m1-2")
    text = f"一 {link_to_cited(memo)}，二 {wikilink(name.removesuffix('.md'), None, '#1')}。"
    mended = mended_text(text, row(memo), {"1": place(moved_to, "m1-2")})
    assert mended == text.replace(link_to_cited(memo), link_to_cited(replace(memo, note=moved_to))).replace(
        wikilink(name.removesuffix(".md"), None, "#1"), wikilink(moved_to.removesuffix(".md"), None, "#1")
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_block_that_is_gone_leaves_a_link_to_the_memo_and_a_mark(name: str) -> None:
    """Only the block that is gone; a second look changes nothing more."""
    memo = cited(1, name, "m1-2")
    text = f"{link_to_cited(memo)} {link_to_cited(replace(memo, anchor='m1-3'))}"
    mended = mended_text(text, row(memo), {"1": place(name, "m1-3")})
    assert "#^m1-2" not in mended
    assert mended.endswith(link_to_cited(replace(memo, anchor="m1-3")))
    assert mended.count("原段落已不在") == 1
    assert mended_text(mended, row(memo), {"1": place(name, "m1-3")}) == mended


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_memo_that_is_gone_leaves_words(name: str, language: str) -> None:
    """No link of either form, and no tag where there was a number."""
    memo = cited(1, name, "m1-2")
    mended = mended_text(f"- {link_to_cited(memo)} x", row(memo, language=language), {})
    assert targets(mended) == []
    assert mended.startswith("- \\#1")
    assert mended.endswith(" x")
    assert name.removesuffix(".md") not in mended


def test_links_to_other_notes_are_left_alone() -> None:
    """Also to one whose name begins or ends like that of the memo, and links without shown words, which are not ours."""
    memo = cited(1, "CFlow/Memos/a (1).md", "m1-1")
    text = "[[CFlow/Memos/a (1) 2#^m1-1|#1]] [[x/CFlow/Memos/a (1)|#1]] [[CFlow/Memos/a (1)]] ![[CFlow/Memos/a (1)#^m1-1]]"
    assert mended_text(text, row(memo), {}) == text


def test_two_notes_that_changed_places_keep_their_links_apart() -> None:
    """The person gave each the other's name: what led to the first still does."""
    one, other = cited(1, "a.md", "m1-1"), cited(2, "b.md", "m2-1")
    text = f"{link_to_cited(one)} {link_to_cited(other)}"
    mended = mended_text(text, row(one, other), {"1": place("b.md", "m1-1"), "2": place("a.md", "m2-1")})
    assert targets(mended) == ["b.md#^m1-1", "a.md#^m2-1"]


def test_a_memo_that_took_the_name_of_one_that_is_gone_keeps_its_links() -> None:
    """In whichever order they are cited."""
    gone, moved = cited(1, "a.md", "m1-1"), cited(2, "b.md", "m2-1")
    text = f"{link_to_cited(gone)} {link_to_cited(moved)}"
    for memos in ((gone, moved), (moved, gone)):
        assert targets(mended_text(text, row(*memos), {"2": place("a.md", "m2-1")})) == ["a.md#^m2-1"]


def test_citations_follow_like_the_text() -> None:
    """The note where it is now, the block only while it stands. A link that was lost is never as it was: it has no version."""
    memos = (cited(1, "a.md", "m1-1"), cited(2, "b.md", "m2-1"), cited(3, "c.md", "m3-1"))
    found = mended_citations(memos, {"1": place("x.md", "m1-1"), "2": place("b.md", "m2-9")})
    assert [(m.note, m.anchor, m.version) for m in found] == [("x.md", "m1-1", "v1"), ("b.md", "", ""), ("", "", "")]


@given(data=st.data())
@settings(deadline=None, max_examples=200)
def test_after_mending_every_link_leads_to_what_is_there(data: st.DataObject) -> None:
    """Any names, anchors and moves: each link that is left leads to a note and block that stand; mending again is idle."""
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    memos = [cited(n, name, f"m{n}-1") for n, name in enumerate(names, 1)]
    new_names = data.draw(st.permutations(NAMES))
    places: dict[str, Place] = {}
    for memo, name in zip(memos, new_names, strict=False):
        anchors = data.draw(st.sets(st.sampled_from([f"m{memo.memo_id}-1", f"m{memo.memo_id}-2"])))
        if data.draw(st.booleans()):
            places[memo.memo_id] = Place(name, frozenset(anchors))
    anchored = [replace(m, anchor=data.draw(st.sampled_from(["", f"m{m.memo_id}-1", f"m{m.memo_id}-2"]))) for m in memos * 2]
    text = "\n".join(f"- 说 {link_to_cited(memo)} 了" for memo in anchored)
    before = row(*memos)
    mended = mended_text(text, before, places)
    there = {p.note for p in places.values()} | {f"{p.note}#^{a}" for p in places.values() for a in p.anchors or ()}
    assert set(targets(mended)) <= there
    after = row(*mended_citations(before.cited, places))
    assert mended_text(mended, after, places) == mended
