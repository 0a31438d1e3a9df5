"""The picture of an answer: a canvas that Obsidian opens, without overlap, and the person's once they have drawn in it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.vault.canvas import CanvasAnswer, CanvasSource, CanvasTheme, build_canvas

if TYPE_CHECKING:
    from collections.abc import Callable

LABELS = ("强", "相关", "弱")
WORDS = {"强": "strong", "相关": "related"}


def source(memo: int, label: str = "强", text: str = "雨停了") -> CanvasSource:
    return CanvasSource(f"CFlow/Memos/memo ({memo}).md", f"m{memo}-1", label, text)


def answer(*themes: tuple[str, list[CanvasSource]], conclusion: str = "两条相关。") -> CanvasAnswer:
    return CanvasAnswer(
        question="有什么可看的？",
        note="CFlow/Answers/2026-11-30 有什么可看的.md",
        conclusion=conclusion,
        themes=tuple(CanvasTheme(name, tuple(sources)) for name, sources in themes),
        label_words=WORDS,
    )


TWO = answer(("片单", [source(1), source(2, "相关")]), ("网站", [source(3, "弱")]))
THREE = answer(("片单", [source(1), source(2, "相关")]), ("网站", [source(3, "弱"), source(4)]))


def built(made: CanvasAnswer, standing: str | None = None, last: str | None = None) -> str:
    text = build_canvas(made, standing, last).text
    assert text is not None
    check(text)
    return text


def edited(text: str, edit: Callable[[dict[str, Any]], object]) -> str:
    """The file after the person changed it in Obsidian."""
    canvas = json.loads(text)
    edit(canvas)
    return json.dumps(canvas, ensure_ascii=False, indent="\t")


def node(text: str, /, **wanted: str) -> dict[str, Any]:
    found = [n for n in json.loads(text)["nodes"] if all(n.get(key) == value for key, value in wanted.items())]
    assert len(found) == 1, (wanted, found)
    return dict(found[0])


COLOUR = re.compile(r"[1-6]|#[0-9a-fA-F]{6}")
SIDES = {"top", "right", "bottom", "left"}


def check(text: str) -> None:
    """The rules of JSON Canvas 1.0."""
    canvas = json.loads(text)
    ids = [item["id"] for item in (*canvas["nodes"], *canvas["edges"])]
    assert len(ids) == len(set(ids))
    for n in canvas["nodes"]:
        kinds = {"text": "text", "file": "file", "link": "url", "group": "id"}
        assert isinstance(n[kinds[n["type"]]], str)
        assert all(type(n[key]) is int for key in ("x", "y", "width", "height"))
        assert min(n["width"], n["height"]) > 0
        assert n.get("subpath", "#").startswith("#")
        assert COLOUR.fullmatch(n.get("color", "1"))
    nodes = {n["id"] for n in canvas["nodes"]}
    for e in canvas["edges"]:
        assert {e["fromNode"], e["toNode"]} <= nodes
        assert {e.get("fromSide", "top"), e.get("toSide", "top")} <= SIDES
        assert COLOUR.fullmatch(e.get("color", "1"))
        assert isinstance(e.get("label", ""), str)


def overlapping(nodes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    cards = [n for n in nodes if n["type"] != "group"]
    return [
        (a["id"], b["id"])
        for a, b in combinations(cards, 2)
        if a["x"] < b["x"] + b["width"]
        and b["x"] < a["x"] + a["width"]
        and a["y"] < b["y"] + b["height"]
        and b["y"] < a["y"] + a["height"]
    ]


def test_the_picture_leads_from_the_question_over_themes_to_blocks() -> None:
    """The answer's note stands below the question; memos are shown by block; colours and edges say how near they are."""
    text = built(TWO)
    canvas = json.loads(text)
    by_id = {n["id"]: n.get("text") or n["file"] + n.get("subpath", "") for n in canvas["nodes"]}
    assert sorted(by_id.values()) == sorted([
        "**有什么可看的？**", "两条相关。", "CFlow/Answers/2026-11-30 有什么可看的.md", "片单", "网站",
        "CFlow/Memos/memo (1).md#^m1-1", "CFlow/Memos/memo (2).md#^m2-1", "CFlow/Memos/memo (3).md#^m3-1",
    ])  # fmt: skip
    assert [(by_id[e["fromNode"]], by_id[e["toNode"]], e.get("label"), e.get("color")) for e in canvas["edges"]] == [
        ("**有什么可看的？**", "片单", None, None),
        ("片单", "CFlow/Memos/memo (1).md#^m1-1", "strong", "4"),
        ("片单", "CFlow/Memos/memo (2).md#^m2-1", "related", "3"),
        ("**有什么可看的？**", "网站", None, None),
        ("网站", "CFlow/Memos/memo (3).md#^m3-1", None, None),
    ]
    assert [node(text, subpath=f"#^m{n}-1").get("color") for n in (1, 2, 3)] == ["4", "3", None]


def test_the_same_answer_gives_the_same_bytes() -> None:
    """Ids come from what is shown, not from chance."""
    assert built(TWO) == built(TWO)
    assert build_canvas(TWO, built(TWO)).text is None
    assert build_canvas(TWO, edited(built(TWO), lambda _: None), built(TWO)).text is None


def test_an_answer_that_found_nothing_is_its_question_and_its_note() -> None:
    """No themes, no edges."""
    canvas = json.loads(built(answer(conclusion="")))
    assert ([n["type"] for n in canvas["nodes"]], canvas["edges"]) == (["text", "file"], [])


def test_many_memos_stand_on_both_sides() -> None:
    """So that the whole fits a screen; edges run outwards."""
    canvas = json.loads(built(answer(*[(f"t{n}", [source(10 * n + m) for m in range(3)]) for n in range(4)])))
    xs = {n["x"] for n in canvas["nodes"]}
    assert min(xs) < 0 < max(xs)
    assert {(e["fromSide"], e["toSide"]) for e in canvas["edges"]} == {("right", "left"), ("left", "right")}
    width = max(n["x"] + n["width"] for n in canvas["nodes"]) - min(xs)
    height = max(n["y"] + n["height"] for n in canvas["nodes"]) - min(n["y"] for n in canvas["nodes"])
    assert width > height


def test_a_memo_of_two_themes_is_one_card() -> None:
    """With an edge from each of them; two themes of one name are one."""
    canvas = json.loads(built(answer(("a", [source(1), source(1)]), ("b", [source(1)]), ("a", [source(2)]))))
    assert sorted(n["type"] for n in canvas["nodes"]) == ["file"] * 3 + ["text"] * 4
    assert len(canvas["edges"]) == 2 + 3


def test_a_source_without_an_anchor_is_the_whole_note() -> None:
    """A memo whose block is gone."""
    text = built(answer(("a", [CanvasSource("x/y.md", "", "弱")])))
    assert "subpath" not in node(text, file="x/y.md")


@pytest.mark.parametrize(
    "text", ["#tag", "- x", "1. x", "> x", "[[x]]", "![x](http://a)", "`= 1`", "**b**", "x ^id", "<% x %>", "a:: b", "==x=="]
)
def test_words_of_others_stay_words(text: str) -> None:
    """Neither a question nor the name of a theme can link, tag, run or format anything in a card."""
    canvas = json.loads(built(replace(answer((text, [source(1)])), question=text)))
    for shown in (n["text"] for n in canvas["nodes"] if n.get("color") in ("5", "6")):
        inner = shown.removeprefix("**").removesuffix("**")
        assert not re.search(r"(?<!\\)[*#^=`]|\[\[|!\[|<%|::|^[-+>]|^\d+[.)]", inner), shown


names = st.text(alphabet=st.characters(blacklist_categories=("Cs",)), max_size=120)
sources = st.builds(source, st.integers(1, 30), st.sampled_from(LABELS), st.text(max_size=400))
answers = st.lists(st.tuples(names, st.lists(sources, max_size=12)), min_size=0, max_size=6).flatmap(
    lambda themes: st.builds(lambda conclusion: answer(*themes, conclusion=conclusion), st.text(max_size=300))
)


@settings(deadline=None, max_examples=100)
@given(answers)
def test_no_two_cards_overlap(made: CanvasAnswer) -> None:
    """However long the texts, however many memos a theme has, and whichever memos themes share."""
    text = built(made)
    assert overlapping(json.loads(text)["nodes"]) == []
    assert build_canvas(made, text).text is None


@settings(deadline=None, max_examples=60)
@given(answers, answers)
def test_a_new_answer_in_place_of_an_old_one_overlaps_nothing(old: CanvasAnswer, new: CanvasAnswer) -> None:
    """Whether or not what we wrote last is known; and when it is and nobody touched it, it is as if written anew."""
    standing = built(old)
    fresh = build_canvas(new, standing, standing).text or standing
    keys = ("id", "x", "y", "width", "height")
    places = [sorted(tuple(n[key] for key in keys) for n in json.loads(text)["nodes"]) for text in (fresh, built(new))]
    assert places[0] == places[1]
    unknown = build_canvas(new, standing).text or standing
    check(unknown)
    assert overlapping(json.loads(unknown)["nodes"]) == []


def test_what_the_person_drew_is_kept() -> None:
    """Cards, groups, edges between theirs and ours, foreign keys; new cards of ours go where theirs are not."""
    standing = built(TWO)
    mine = {
        "id": "0123456789abcdef",
        "type": "text",
        "text": "看完打分",
        "x": 960,
        "y": 250,
        "width": 900,
        "height": 900,
        "mine": {"a": [1]},
    }
    group = {"id": "g", "type": "group", "x": -900, "y": -900, "width": 5000, "height": 5000, "label": "all"}

    def edit(canvas: dict[str, Any]) -> None:
        canvas["nodes"] = [group, *canvas["nodes"], mine]
        canvas["edges"].append(
            {"id": "e", "fromNode": mine["id"], "toNode": node(standing, subpath="#^m1-1")["id"], "label": "!"}
        )
        canvas["edges"].append({"id": "nowhere", "fromNode": mine["id"], "toNode": "gone"})
        canvas["metadata"] = {"version": "1.0"}

    changed = edited(standing, edit)
    text = built(THREE, changed, standing)
    canvas = json.loads(text)
    assert canvas["nodes"][0] == group
    assert node(text, id=mine["id"]) == mine
    assert [e for e in canvas["edges"] if not e["id"].startswith("vb-")] == [json.loads(changed)["edges"][-2]]
    assert canvas["metadata"] == {"version": "1.0"}
    assert overlapping(canvas["nodes"]) == []
    assert build_canvas(THREE, text, text).text is None


def test_a_card_that_the_person_moved_stays_where_it_is() -> None:
    """And keeps its size; the others make room for what is new."""
    standing = built(TWO)
    where = {"x": -700, "y": 40, "width": 333, "height": 222}

    def edit(canvas: dict[str, Any]) -> None:
        for n in canvas["nodes"]:
            if n.get("subpath") == "#^m2-1" or n.get("text") == "两条相关。":
                n.update(where if n["type"] == "file" else {"x": -2000, "y": -2000})

    changed = edited(standing, edit)
    text = built(replace(THREE, conclusion="三条相关。"), changed, standing)
    assert {key: node(text, subpath="#^m2-1")[key] for key in where} == where
    assert (node(text, text="三条相关。")["x"], node(text, text="三条相关。")["y"]) == (-2000, -2000)
    fresh = built(replace(THREE, conclusion="三条相关。"))
    assert node(text, subpath="#^m4-1")["y"] == node(fresh, subpath="#^m4-1")["y"]


def test_words_that_the_person_typed_into_a_card_of_ours_stay() -> None:
    """In its place when we would write the same again, beside the new one when the answer moved on."""
    standing = built(TWO)

    def edit(canvas: dict[str, Any]) -> None:
        for n in canvas["nodes"]:
            if n["type"] == "text":
                n["text"] += "（我加的）"

    changed = edited(standing, edit)
    assert build_canvas(TWO, changed, standing).text is None
    text = built(replace(TWO, conclusion="新的结论。"), changed, standing)
    texts = [n["text"] for n in json.loads(text)["nodes"] if n["type"] == "text"]
    assert texts == ["**有什么可看的？**（我加的）", "两条相关。（我加的）", "片单（我加的）", "网站（我加的）", "新的结论。"]
    assert overlapping(json.loads(text)["nodes"]) == []


def test_what_the_person_took_away_stays_away() -> None:
    """A card with its edges, or an edge; without memory of the last file they come back."""
    standing = built(TWO)
    gone = node(standing, subpath="#^m2-1")["id"]

    def edit(canvas: dict[str, Any]) -> None:
        canvas["nodes"] = [n for n in canvas["nodes"] if n["id"] != gone]
        canvas["edges"] = [e for e in canvas["edges"] if e["toNode"] != gone][1:]

    changed = edited(standing, edit)
    assert build_canvas(TWO, changed, standing).text is None
    canvas = json.loads(built(TWO, changed))
    assert len(canvas["nodes"]) == len(json.loads(standing)["nodes"])
    assert len(canvas["edges"]) == len(json.loads(standing)["edges"])


def test_a_memo_that_is_no_source_any_more_goes_unless_the_person_ties_it() -> None:
    """An edge of theirs must not lose its end."""
    standing = built(THREE)
    tied, loose = (node(standing, subpath=f"#^m{n}-1")["id"] for n in (2, 4))
    tie = {"id": "t", "fromNode": node(standing, subpath="#^m1-1")["id"], "toNode": tied}
    changed = edited(standing, lambda canvas: canvas["edges"].append(tie))
    canvas = json.loads(built(answer(("片单", [source(1)])), changed, standing))
    ids = {n["id"] for n in canvas["nodes"]}
    assert tied in ids
    assert loose not in ids
    assert tie in canvas["edges"]


def test_a_note_that_moved_keeps_its_card() -> None:
    """Obsidian renames it in the canvas, too; the block is the same."""
    standing = built(TWO)
    moved = replace(
        TWO, themes=(CanvasTheme("片单", (replace(source(1), note="电影/memo.md"), source(2, "相关"))), TWO.themes[1])
    )
    assert node(built(moved, standing, standing), subpath="#^m1-1")["file"] == "电影/memo.md"


@pytest.mark.parametrize(
    ("standing", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("{", "JSON"),
        ("[" * 100_000, "JSON"),
        ("[]", "canvas"),
        ('{"nodes": {}}', "canvas"),
        ('{"nodes": [{"id": "a"}]}', "canvas"),
        ('{"nodes": [{"id": "a", "x": 1e999, "y": 0, "width": 1, "height": 1}]}', "canvas"),
        ('{"edges": [{"id": "a", "fromNode": 1}]}', "canvas"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone_and_said(standing: str, why: str) -> None:
    """Half-written, broken or foreign: the person's file stays."""
    found = build_canvas(TWO, standing)
    assert found.text is None
    assert why in found.left_alone


def test_an_empty_canvas_of_the_persons_is_drawn_in() -> None:
    """Both lists may be missing."""
    assert len(json.loads(built(TWO, "{}"))["nodes"]) == 8
