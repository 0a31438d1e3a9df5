"""What is shown of a memo to whoever has to judge it: enough, word for word, around what was found, and never half a thing."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaultbrain.retrieve.preview import LEAST_CHARS, MOST_CHARS, Preview, cut_between_words, preview_of

FOUND = "zwieback"
ZH = "今天把阳台的花盆都换了一遍土，顺手记下每一盆的位置。"
HANT = "颱風天在家整理舊書，發現一本講香港電車的散文，夾著一張車票。"
EN = "The late ferry was full again, so we walked along the harbour instead; it took an hour."
ADDRESS = "https://example.com/" + "a/long-way_down?" * 18 + "end"
FAMILY, FLAGS, THUMB, ACCENT = "👩‍👩‍👧‍👦", "🇭🇰🇹🇼", "👍🏽", "e\u0301"


def laid_around(before: str, after: str) -> Preview:
    return preview_of(f"{before}{FOUND}{after}", "", [FOUND])


def bare(preview: Preview) -> str:
    return preview.text.removeprefix("…").removesuffix("…")


@pytest.mark.parametrize("sentence", [ZH, HANT, EN + " "], ids=["zh-Hans", "zh-Hant", "en"])
@pytest.mark.parametrize("before", [0, 1, 6, 20, 40], ids=lambda number: f"{number} sentences before")
@pytest.mark.parametrize("after", [0, 1, 6, 20, 40], ids=lambda number: f"{number} after")
def test_a_long_memo_is_shown_around_what_was_found(sentence: str, before: int, after: int) -> None:
    """300-400 characters with the word that was found, from the end of a sentence or clause to another; a short memo whole."""
    memo = sentence * before + FOUND + " " + sentence * after
    shown = preview_of(memo, "", [FOUND])
    if len(memo.strip()) <= MOST_CHARS:
        assert shown == Preview(memo.strip(), is_whole=True)
        return
    text = bare(shown)
    assert FOUND in text
    assert text in memo
    assert LEAST_CHARS <= len(text) <= MOST_CHARS
    start, end = memo.index(text), memo.index(text) + len(text)
    assert shown.text.startswith("…") == bool(start)
    assert shown.text.endswith("…") == (end < len(memo.strip()))
    assert not start or memo[:start].rstrip()[-1] in "，。,;."
    assert end >= len(memo.strip()) or text[-1] in "，。,;." or text.endswith(FOUND)


@pytest.mark.parametrize("place", [0, 100, 250, 280, 299, 380, 399])
def test_an_address_stays_whole(place: int) -> None:
    """An address of 300 characters is shown whole or not at all, wherever it stands to what was found; so is a link."""
    for thing in (ADDRESS, f"[{EN[:40]}]({ADDRESS})"):
        for memo in (f"{'词' * place} {thing} {FOUND} {EN * 9}", f"{EN * 9} {FOUND} {'词' * place} {thing} {ZH * 9}"):
            shown = preview_of(memo, "", [FOUND])
            assert FOUND in shown.text, memo
            assert thing in shown.text or thing[:60] not in shown.text, shown.text
            assert thing in shown.text or not re.search(r"way_down|https", shown.text), shown.text


def test_an_address_longer_than_all_room_does_not_hide_what_was_found() -> None:
    """Beside an address of 550 characters what was found is shown all the same, with the address whole or without it."""
    address = "https://example.com/" + "x" * 530
    for memo in (f"{ZH * 9} {address} {FOUND} {ZH * 20}", f"{ZH * 9} {address} {FOUND}", f"{FOUND} {address} {ZH * 20}"):
        shown = preview_of(memo, "", [FOUND])
        assert FOUND in shown.text, memo
        assert address in shown.text or "xxx" not in shown.text
    behind = preview_of(f"{ZH * 9} {address} {'词' * 60} {FOUND} {ZH * 20}", "", [FOUND])
    assert FOUND in behind.text
    assert LEAST_CHARS <= len(bare(behind)) <= MOST_CHARS


@pytest.mark.parametrize("thing", [FAMILY, FLAGS, THUMB, ACCENT], ids=["family", "flags", "thumb", "accent"])
def test_an_emoji_is_never_cut(thing: str) -> None:
    """However the window falls, no part of an emoji or of a letter with its accent is shown alone."""
    for shift in range(14):
        shown = bare(laid_around("词" * (200 + shift) + thing * 60, thing * 90))
        rest = shown.replace(thing, "").replace(thing[:2] if thing == FLAGS else thing, "")
        rest = rest.replace(thing[2:] if thing == FLAGS else thing, "")
        assert not set(rest) & set(thing) - set(FOUND), shown


def test_the_excerpt_says_where() -> None:
    """Where the search shows a line of the memo, the window is laid there, though its word stands earlier as well."""
    memo = f"{FOUND} {EN * 9} This line was chosen: {FOUND}. {EN * 9}"
    assert "This line was chosen" in preview_of(memo, "…This line was chosen: zwieback.", [FOUND]).text


def test_words_of_the_other_script_are_found() -> None:
    """What is searched in simplified script is shown in a memo in traditional script, and the other way round."""
    assert "電影院" in preview_of(ZH * 20 + "電影院。" + ZH * 20, "", ["电影院"]).text
    assert "电影院" in preview_of(ZH * 20 + "电影院。" + ZH * 20, "", ["电影院"]).text


PIECES = st.sampled_from(
    [
        *(ZH, HANT, EN, " ", "\n", "\n\n", "\t", "。", "，", ", ", ". ", "…", "word", "don't", "Ünïcode", "слово", "词", FOUND),
        *("「短引文」", "`code span`", "https://example.com/a", ADDRESS, f"[link]({ADDRESS})", "#tag", "- item\n", "x" * 90),
        *(FAMILY, FLAGS, THUMB, ACCENT),
    ]
)
MEMOS = st.lists(PIECES, max_size=60).map("".join)


@settings(max_examples=150, deadline=None)
@given(MEMOS, st.sampled_from([FOUND, "word", "词", "absent"]))
@example("x" * 1_500, "absent")
@example(f"{'y' * 900} {FOUND}", FOUND)
def test_what_is_shown_stands_in_the_memo(memo: str, word: str) -> None:
    """Always word for word; a short memo is whole, of a long one not more than has room beside one thing that is not cut."""
    shown = preview_of(memo, "", [word])
    text = memo.strip()
    if len(text) <= MOST_CHARS:
        assert shown == Preview(text, is_whole=True)
        return
    part = bare(shown)
    assert not shown.is_whole
    assert part in text
    assert part
    assert len(part) <= MOST_CHARS + 600
    assert word not in text or word in shown.text


@settings(max_examples=150, deadline=None)
@given(MEMOS)
def test_no_word_is_cut(memo: str) -> None:
    """The first and the last word of what is shown are whole words of the memo, when the memo has no endless one."""
    memo = memo.replace("x" * 90, " ") + EN * 9
    shown = preview_of(memo, "", [FOUND])
    if shown.is_whole:
        return
    part = bare(shown)
    places = [found.start() for found in re.finditer(re.escape(part), memo)]
    letter = re.compile(r"[A-Za-z0-9\u00c0-\u024f\u0400-\u04ff]")
    assert any(
        not (start and letter.match(memo[start - 1]) and letter.match(part[0]))
        and not (memo[start + len(part) :] and letter.match(memo[start + len(part)]) and letter.match(part[-1]))
        for start in places
    ), (part[:20], part[-20:])


@settings(max_examples=100, deadline=None)
@given(MEMOS, st.integers(0, 2_000))
def test_a_cut_leaves_nothing_out(memo: str, latest: int) -> None:
    """A place to cut is one of the text, never later than allowed, and the beginning only when nothing has room."""
    place = cut_between_words(memo, latest)
    assert 0 <= place <= min(latest, len(memo))
    assert place or not latest or not memo
