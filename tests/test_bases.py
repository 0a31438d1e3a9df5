"""``CFlow.base``: valid for Obsidian, and under the person's hands kept as they want it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.gist.value import GIVES
from vaultbrain.vault.bases import build_base

if TYPE_CHECKING:
    from collections.abc import Callable

LANGUAGES = ("zh-Hans", "zh-Hant", "en")


def first(folder: str = "CFlow", language: str = "en") -> str:
    text = build_base(folder, None, None, language).text
    assert text is not None
    return text


def edited(text: str, edit: Callable[[dict[str, Any]], object]) -> str:
    """The file after the person changed it in Obsidian, which writes the whole of it in its own way."""
    values = yaml.safe_load(text)
    edit(values)
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


def rebuilt(standing: str, last: str | None, folder: str = "CFlow", language: str = "en") -> dict[str, Any]:
    text = build_base(folder, standing, last, language).text
    assert text is not None
    assert build_base(folder, text, last, language).text is None or build_base(folder, text, text, language).text is None
    found = yaml.safe_load(text)
    assert isinstance(found, dict)
    return found


def view(values: dict[str, Any], name: str) -> dict[str, Any]:
    return next(view for view in values["views"] if view["name"] == name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_file_is_what_obsidian_reads(language: str) -> None:
    """The keys of the help page, one of and, or, not in a filter, only properties and formulas that exist, names to link to."""
    values = yaml.safe_load(first(language=language))
    assert list(values) == ["filters", "formulas", "properties", "views"]
    assert values["filters"] == {"and": ['file.inFolder("CFlow")', 'file.hasProperty("vb_kind")']}
    assert all(isinstance(formula, str) for formula in values["formulas"].values())
    kinds = []
    for shown in values["views"]:
        assert shown.keys() <= {"type", "name", "filters", "groupBy", "order", "sort"}
        assert shown["type"] == "table"
        assert not re.search(r'[\[\]#|^"\\]', shown["name"])
        groups = [shown["groupBy"]] if "groupBy" in shown else []
        assert all(item["direction"] in ("ASC", "DESC") for item in (*groups, *shown["sort"]))
        columns = [*shown["order"], *(item["property"] for item in (*groups, *shown["sort"]))]
        known = {"file.name", "note.tags", *values["properties"]}
        assert set(columns) <= known
        assert {f"formula.{name}" for name in values["formulas"]} >= {c for c in columns if c.startswith("formula.")}
        kinds += re.findall(r'vb_kind == "(\w+)"', shown["filters"]["and"][0])
    assert kinds == ["memo", "memo", "memo", "answer", "recall"]


def test_the_person_reads_names_in_their_language() -> None:
    """No view or column has the name of another language's."""
    names = [{v["name"] for v in yaml.safe_load(first(language=language))["views"]} for language in LANGUAGES]
    assert all(len(found) == 5 for found in names)
    assert "memo · 按标签" in names[0]
    assert "memo · 按標籤" in names[1]
    assert "Memos by tag" in names[2]


@pytest.mark.parametrize(("language", "words"), [("zh-Hans", "步骤"), ("zh-Hant", "步驟"), ("en", "key points")])
def test_what_a_memo_has_is_read_in_words(language: str, words: str) -> None:
    """Every kind of thing that a memo can give has a word in each language, and no word holds the name of a later kind."""
    formula = yaml.safe_load(first(language=language))["formulas"]["vb_in_it"]
    replaced = re.findall(r'\.replace\("(\w+)", "([^"]+)"\)', formula)
    shown = " · ".join(GIVES)
    for name, word in replaced:
        assert shown.count(name) == 1, (name, shown)
        shown = shown.replace(name, word)
    assert words in shown.split(" · ")
    assert len(set(shown.split(" · "))) == len(GIVES)
    assert language == "en" or not re.search("[a-z]", shown)


def test_the_best_memos_stand_first() -> None:
    """One view shows what is worth coming back to, the most of it first, and says why."""
    shown = view(yaml.safe_load(first()), "Memos worth coming back to")
    assert shown["filters"]["and"][1] == "vb_worth >= 60"
    assert shown["sort"][0] == {"property": "note.vb_worth", "direction": "DESC"}
    assert {"note.vb_summary", "formula.vb_in_it", "note.vb_source"} <= set(shown["order"])


def test_a_second_time_changes_nothing() -> None:
    """Also when Obsidian has written the same in its own way."""
    text = first()
    for standing in (text, edited(text, lambda _: None), text.replace("\n", "\r\n")):
        assert build_base("CFlow", standing, text).text is None


def test_a_file_that_the_person_deleted_stays_deleted() -> None:
    """Until what we wrote last is forgotten."""
    assert build_base("CFlow", None, first()).text is None
    assert build_base("CFlow", None, None).text == first()


def test_a_new_definition_replaces_what_nobody_edited() -> None:
    """Byte for byte as if it were written for the first time."""
    assert build_base("记忆", first(), first()).text == first("记忆")


def test_the_persons_own_things_are_kept_when_ours_change() -> None:
    """Their view, formula, property, summary, columns, order of views and limits; only the folder in our filter moves."""

    def edit(values: dict[str, Any]) -> None:
        values["views"].insert(0, {"type": "cards", "name": "我的", "limit": 20, "filters": 'vb_pinned == true && "yes" != "no"'})
        values["views"][1]["limit"] = 50
        values["views"][1]["order"] = ["note.tags", "file.name"]
        values["views"].append({"type": "map", "name": "Trips", "coordinates": "note.at"})
        values["formulas"]["mine"] = "1 + 1"
        values["formulas"]["vb_month"] = "vb_created.year"
        values["properties"]["note.mood"] = {"displayName": "on"}
        values["properties"]["note.vb_asked"]["displayName"] = "When"
        values["summaries"] = {"mean": "values.mean().round(3)"}
        values["filters"]["and"].append('!file.hasTag("private")')

    standing = edited(first(), edit)
    assert build_base("CFlow", standing, first()).text is None
    expected = yaml.safe_load(standing)
    expected["filters"]["and"] = ['file.hasProperty("vb_kind")', '!file.hasTag("private")', 'file.inFolder("记忆")']
    assert rebuilt(standing, first(), "记忆") == expected


def test_scalars_of_the_persons_views_keep_their_kind() -> None:
    """Numbers, switches, dates, nothing, and texts that look like them stay what they are for Obsidian."""
    lines = ["type: table", "name: mine", "limit: 010", "a: yes", "b: 'yes'", "c: 2026-11-30", "d:", 'e: "007"', "f: {}"]
    mine = "  - " + "\n    ".join(lines) + "\n"
    text = build_base("记忆", first() + mine, first()).text
    assert text is not None
    for line in ("limit: 010", "a: yes", 'b: "yes"', "c: 2026-11-30", "d:", 'e: "007"', "f: {}"):
        assert f"    {line}\n" in text


def test_views_that_the_person_deleted_or_renamed_do_not_come_back() -> None:
    """Nor do formulas; a view of ours under another name is theirs."""

    def edit(values: dict[str, Any]) -> None:
        del values["views"][4]
        values["views"][0]["name"] = "By month, mine"
        del values["formulas"]["vb_tag"]

    values = rebuilt(edited(first(), edit), first(), "记忆")
    kept = ["By month, mine", "Memos by tag", "Memos worth coming back to", "Answers by status"]
    assert [v["name"] for v in values["views"]] == kept
    assert "vb_tag" not in values["formulas"]


def test_another_language_takes_the_place_of_views_that_nobody_edited() -> None:
    """An edited one stays beside the new one; a name that both sides changed is the person's."""

    def edit(values: dict[str, Any]) -> None:
        values["views"][0]["limit"] = 7
        values["properties"]["note.vb_status"]["displayName"] = "How it is"

    values = rebuilt(edited(first(), edit), first(), language="zh-Hans")
    assert [v["name"] for v in values["views"]] == [
        "Memos by month",
        "memo · 按月",
        "memo · 按标签",
        "memo · 值得回看",
        "回答 · 按状态",
        "回想 · 按是否有用",
    ]
    assert values["properties"]["note.vb_asked"] == {"displayName": "提问时间"}
    assert values["properties"]["note.vb_status"] == {"displayName": "How it is"}


def test_without_memory_of_the_last_one_nothing_that_stands_changes() -> None:
    """What is missing is put in; a filter of another form is not mixed with ours."""
    standing = 'filters: file.inFolder("x")\nviews:\n- type: table\n  name: Memos by month\n  order: [file.name]\n'
    values = rebuilt(standing, None)
    assert values["filters"] == 'file.inFolder("x")'
    assert view(values, "Memos by month") == {"type": "table", "name": "Memos by month", "order": ["file.name"]}
    others = ["Memos by tag", "Memos worth coming back to", "Answers by status", "Recalls by usefulness"]
    assert [v["name"] for v in values["views"]][1:] == others


@pytest.mark.parametrize(
    ("standing", "why"),
    [
        ("views: [\n", "line 2"),
        ("a: b: c\n", "line 1"),
        ("- a\n- b\n", "mapping"),
        ("just words", "mapping"),
        ("", "empty"),
        ("# only a comment\n", "empty"),
        ("a: &x [1]\nb: *x\n", "aliases"),
        ("a: &x [*x]\n", "aliases"),
        ("---\na: 1\n---\nb: 2\n", "YAML"),
        ("a: \x00\n", "YAML"),
        ("a: " + "[" * 2000 + "]" * 2000, "nested"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone_and_said(standing: str, why: str) -> None:
    """Half-written, broken or foreign: the person's file stays."""
    found = build_base("记忆", standing, first())
    assert found.text is None
    assert why in found.left_alone


def test_line_ends_of_windows_stay() -> None:
    """When the file has to be written."""
    standing = edited(first(), lambda values: values["views"][0].update(limit=7)).replace("\n", "\r\n")
    text = build_base("记忆", standing, first()).text
    assert text is not None
    assert text.count("\n") == text.count("\r\n") > 50


scalars = st.one_of(
    st.text(max_size=12), st.integers(), st.booleans(), st.none(), st.sampled_from(["yes", "1e3", "#a", "- b", "a: b", "007"])
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.dictionaries(st.text(min_size=1, max_size=8), trees, max_size=4), max_size=3), st.integers(0, 4))
def test_views_of_the_person_survive_whatever_they_hold(views: list[dict[str, Any]], place: int) -> None:
    """Every value of theirs is read back as it was, wherever among ours the view stands."""
    theirs = [{"type": "table", "name": f"mine {n}", **v} for n, v in enumerate(views)]
    theirs = [{**v, "name": f"mine {n}"} for n, v in enumerate(theirs)]
    standing = edited(first(), lambda values: values["views"].__setitem__(slice(place, place), theirs))
    before = yaml.safe_load(standing)
    found = build_base("记忆", standing, first())
    if not found.left_alone:
        assert found.text is not None
        after = yaml.safe_load(found.text)
        assert after["views"] == before["views"]
        assert build_base("记忆", found.text, first("记忆")).text is None
