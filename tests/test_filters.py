"""Filters in a query: how they are written, what they mean, and that nothing typed is a syntax error."""

from __future__ import annotations

from datetime import UTC, date
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultbrain.index.scope import Scope
from vaultbrain.retrieve.filters import Conditions, read_filters


@pytest.mark.parametrize(
    ("text", "rest", "conditions"),
    [
        ("tag:film", "", {"tags": ("film",)}),
        ("tag:#film", "", {"tags": ("film",)}),
        ("观影 tag:film/2024/ 资源", "观影 资源", {"tags": ("film/2024",)}),
        ("tag:film tag:FILM TAG:todo", "", {"tags": ("film", "todo")}),
        ("tag：电影", "", {"tags": ("电影",)}),
        ("ｔａｇ：＃電影 最近", "最近", {"tags": ("電影",)}),
        ("tag:电影，最近的想法", "最近的想法", {"tags": ("电影",)}),
        ("最近的想法，tag:电影。", "最近的想法， 。", {"tags": ("电影",)}),
        ("tag:a,tag:b", "", {"tags": ("a", "b")}),
        ("see tag:film.", "see", {"tags": ("film",)}),
        ("-tag:todo x", "x", {"excluded_tags": ("todo",)}),
        ("-#todo x", "x", {"excluded_tags": ("todo",)}),
        ("－tag：todo", "", {"excluded_tags": ("todo",)}),
        ("after:2026-01-31", "", {"after": date(2026, 1, 31)}),
        ("after:2026/1/5", "", {"after": date(2026, 1, 5)}),
        ("after:２０２６－０１", "", {"after": date(2026, 1, 1)}),
        ("after:2026", "", {"after": date(2026, 1, 1)}),
        ("before:2026", "", {"before": date(2026, 1, 1)}),
        ("-after:2026", "", {"before": date(2026, 1, 1)}),
        ("-before:2026", "", {"after": date(2026, 1, 1)}),
        ("after:2024 after:2026 after:2025", "", {"after": date(2026, 1, 1)}),
        ("before:2024 before:2026", "", {"before": date(2024, 1, 1)}),
        ('after:"2026-01"', "", {"after": date(2026, 1, 1)}),
        ("visibility:Private visibility:public", "", {"visibilities": ("private", "public")}),
        ("-visibility:public", "", {"excluded_visibilities": ("public",)}),
        ("is:pinned", "", {"pinned": (True,)}),
        ("-IS:Pinned", "", {"pinned": (False,)}),
        ("is:pinned -is:pinned", "", {"pinned": (True, False)}),
        ("has:link", "", {"has_link": (True,)}),
        ("-has:link", "", {"has_link": (False,)}),
        ('"git revert" undo', "undo", {"phrases": ("git revert",)}),
        ("＂最后一课＂", "", {"phrases": ("最后一课",)}),
        ('关于"观影资源"的笔记', "关于 的笔记", {"phrases": ("观影资源",)}),
        ('-"first cut" film', "film", {"excluded_phrases": ("first cut",)}),
        ("film -cut", "film", {"excluded_words": ("cut",)}),
        ("观影 -资源 －清单，最近", "观影 最近", {"excluded_words": ("资源", "清单")}),
        ("-foo:bar -c++ -a-b", "", {"excluded_words": ("foo:bar", "c++", "a-b")}),
        ("a\u3000-bb\nc", "a c", {"excluded_words": ("bb",)}),
        ("logs -f -N", "logs -f -N", {}),
    ],
)
def test_filters_are_taken_out(text: str, rest: str, conditions: dict[str, Any]) -> None:
    """Each filter becomes its condition and leaves the words alone."""
    found = read_filters(text)
    assert (found.rest, found.conditions, found.ignored) == (rest, Conditions(**conditions), ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "观影 资源",
        "https://example.com:80/tag:x",
        r"c:\x",
        "foo:bar",
        "hashtag:film",
        "(tag:film)",
        "-",
        "- item",
        "--flag",
        "-5",
        "-5.3%",
        "-3D",
        "a-b",
        "state-of-the-art",
        "-“观影”",
        "-《书名》",
        "“观影” 「资源」 《书》",
        '5" screen',
        '5" by 6" screen',
        'a lone " quote',
        '"',
        '""',
        '"  " x',
        '-"" x',
        "#film",
        "-#",
        "film -",
    ],
)
def test_what_is_no_filter_stays_as_typed(text: str) -> None:
    """Addresses, paths, numbers, options and lone quotes are words."""
    found = read_filters(text)
    assert (found.rest, found.sought) == (text, text)
    assert found.conditions.is_empty
    assert found.ignored == ()


@pytest.mark.parametrize(
    "text",
    ["after:soon", "after:2026-13", "before:2026-02-30", "after:0000", "after:", "tag:", "tag:#", 'tag:""', "-tag:/", "is:open",
     "has:picture", "visibility:secret", "-visibility:", "is:", "after:26"],
)  # fmt: skip
def test_a_filter_that_cannot_be_read_is_words_and_is_named(text: str) -> None:
    """It is searched as it stands, the person hears of it, and the filters beside it count."""
    found = read_filters(f"film {text} tag:x")
    assert found.rest == f"film {text}"
    assert found.conditions == Conditions(tags=("x",))
    (ignored,) = found.ignored
    assert ignored.text == text
    assert ignored.reason


def test_phrases_are_ranked_by_but_not_those_to_leave_out() -> None:
    """What is sought holds the words of the phrases in their places; the rest does not."""
    found = read_filters('old "final cut" film tag:x -"rough cut" -short')
    assert found.rest.split() == ["old", "film"]
    assert found.sought.split() == ["old", "final", "cut", "film"]


def test_conditions_are_described_in_order() -> None:
    """Each in a few words, braces and all."""
    text = (
        "tag:{x} -tag:y after:2026-01 before:2027 visibility:private visibility:public -visibility:protected is:pinned -has:link"
    )
    assert read_filters(f'{text} "first cut" -"rough cut" -short').conditions.describe() == (
        "tag {x}", "not tag y", "after 2026-01-01", "before 2027-01-01", "visibility private or public",
        "not visibility protected", "pinned", "has no link", '"first cut"', 'not "rough cut"', "not short",
    )  # fmt: skip
    assert Conditions().describe() == ()


def test_days_begin_in_the_zone_of_the_person() -> None:
    """Midnight of the same day lies eight hours apart."""
    conditions = read_filters("after:2026-01-31 before:2026-02").conditions
    assert conditions.timestamps(UTC) == (1769817600, 1769904000)
    assert conditions.timestamps(ZoneInfo("Asia/Shanghai")) == (1769817600 - 8 * 3600, 1769904000 - 8 * 3600)
    assert Conditions().timestamps(UTC) == (None, None)


@pytest.mark.parametrize("year", ["0001", "1969", "1971", "2999", "9999"])
def test_any_year_has_a_timestamp(year: str) -> None:
    """Also in the zone of the machine, whose clock may not reach so far."""
    there, _ = read_filters(f"after:{year}").conditions.timestamps(None)
    assert there is not None
    assert abs(there - (int(year) - 1970) * 365.2425 * 86400) < 3 * 86400


def test_the_scope_is_folded() -> None:
    """The catalog compares folded text: case, width, script and line breaks do not matter."""
    conditions = read_filters('tag:電影 -tag:ＴＯＤＯ "Final\n Cut" -"ROUGH  cut" -剪輯').conditions
    assert conditions.scope(UTC) == Scope(
        tags=("电影",), excluded_tags=("todo",), parts=("final cut",), excluded_parts=("rough cut",), excluded_words=("剪辑",)
    )


PIECES = st.sampled_from(
    [
        *('tag: - － " ＂ ： : ， , 。 after before: 2026 -01 is:pinned has:link -is:pinned x 观影 资源 # ＃ / film ( 5'.split()),
        *('visibility: public é . "" tag:film'.split()),
        *(" ", "\u3000", "\n", '" "'),
    ]
)
TYPED = st.one_of(st.text(), st.lists(PIECES, max_size=14).map("".join), st.text(st.characters()))


@given(TYPED)
@example('x "a" "')
@example('" "a" b"')
@example('a" tag:f " "c"')
@example('"" tag:x foo"')
@example('-"" "a"')
@example('tag:""film" x"')
def test_nothing_typed_is_a_syntax_error(text: str) -> None:
    """Any text is read; reading what is left finds no further filter, ignores the same things and leaves the same words."""
    once = read_filters(text)
    again = read_filters(once.rest)
    assert again.conditions.is_empty, once
    assert again.rest == once.rest
    assert [item.text.split() for item in again.ignored] == [item.text.split() for item in once.ignored]
    scope = once.conditions.scope(UTC)
    named = (*scope.tags, *scope.excluded_tags, *scope.parts, *scope.excluded_parts, *scope.excluded_words)
    assert all(named), "an empty text would stand in every memo"
    assert once.conditions.is_empty == (scope == Scope())
    assert len(once.conditions.describe()) >= (not once.conditions.is_empty)
    for value in named:
        value.encode()


@given(TYPED)
def test_only_filters_are_lost(text: str) -> None:
    """Without conditions, what is left is what was typed."""
    found = read_filters(text)
    if found.conditions.is_empty:
        assert found.rest == found.sought == text.strip()
