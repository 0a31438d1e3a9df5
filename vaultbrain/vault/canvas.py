"""An answer as a picture: a JSON Canvas 1.0 with the question, its themes and the blocks of memos that answer it.

Pure. Decides the layout (question and conclusion in the middle, themes beside them, memos outside), colours and ids, and what is
kept when the file is made anew: everything that the person put in, the places of our nodes that they moved, the words that they
typed into one of ours, and that they took one away. The id of a node is made from what it shows, so an edited one is known by it.
Refuses to touch a file that it cannot read.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from vaultbrain.vault.generated import Generated
from vaultbrain.vault.markdown import columns, escape_display, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

#: All sizes are pixels. A line of a card is about 24 high and holds a half-width character per 8.5; a card has some 20 of margin.
_LINE, _CHARACTER, _MARGIN = 24, 8.5, 20
_QUESTION_WIDTH, _THEME_WIDTH, _MEMO_WIDTH = 420, 260, 400
_COLUMN_GAP, _ROW_GAP, _THEME_GAP = 140, 30, 60
#: A file card shows the note's name above the block.
_FILE_HEAD = 40
_LEAST_HEIGHT, _MOST_HEIGHT, _MOST_FILE_HEIGHT = 60, 480, 260
_ANSWER_HEIGHT = 320
#: From so many memos on, themes stand on both sides of the question: the picture stays wider than high.
_TWO_SIDES_FROM = 7

#: Obsidian's preset colours: 1 red, 2 orange, 3 yellow, 4 green, 5 cyan, 6 purple. Weak memos have none.
_COLOURS: Final = {"强": "4", "相关": "3"}
_QUESTION_COLOUR, _THEME_COLOUR = "6", "5"

_OURS = "vb-"
_QUESTION, _CONCLUSION, _ANSWER, _THEME, _MEMO, _EDGE = "qcatme"
_GEOMETRY = ("x", "y", "width", "height")
_INLINE_MARKS = re.compile(r"[*_#~=^]")
_LIST_MARK = re.compile(r"^(\d*)([-+>.)])")
_SURROGATES = re.compile("[\\ud800-\\udfff]")

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Side:
    """Where the columns of one side begin, and from and to which side of a card its edges run."""

    theme_x: int
    memo_x: int
    out: str
    back: str


_RIGHT = _Side(_QUESTION_WIDTH + _COLUMN_GAP, _QUESTION_WIDTH + _THEME_WIDTH + 2 * _COLUMN_GAP, "right", "left")
_LEFT = _Side(-_COLUMN_GAP - _THEME_WIDTH, -2 * _COLUMN_GAP - _THEME_WIDTH - _MEMO_WIDTH, "left", "right")


@dataclass(frozen=True, slots=True)
class CanvasSource:
    """A block of a memo's note. ``note`` is its path with ``.md``; ``anchor`` comes without its ``^`` and may be empty.

    ``label`` is 强, 相关 or 弱. ``text`` is what the block says, only to give its card a fitting height.
    """

    note: str
    anchor: str
    label: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class CanvasTheme:
    name: str
    sources: tuple[CanvasSource, ...]


@dataclass(frozen=True, slots=True)
class CanvasAnswer:
    """``note`` is the path of the answer's note with ``.md``; ``conclusion`` is Markdown that is safe already.

    ``label_words`` say 强, 相关 and 弱 in the answer's language; a label without a word is not written on its edge.
    """

    question: str
    note: str
    conclusion: str
    themes: tuple[CanvasTheme, ...]
    label_words: Mapping[str, str]


def build_canvas(answer: CanvasAnswer, standing: str | None = None, last_written: str | None = None) -> Generated:
    """The canvas of the answer.

    ``standing`` is the file as it is (None: there is none). ``last_written`` is what we wrote last; without it, every node of
    ours that stands there counts as moved by the person, and none as taken away.
    """
    nodes, edges = _layout(answer)
    if standing is None:
        return Generated(_emit(nodes, edges))
    found = _read(standing)
    if isinstance(found, str):
        return Generated(None, found)
    before = _read(last_written) if last_written is not None else ""
    merged = _merge(found, before if isinstance(before, dict) else None, nodes, edges)
    return Generated(None if merged == found else _emit(merged["nodes"], merged["edges"], merged))


def _layout(answer: CanvasAnswer) -> tuple[list[Node], list[Node]]:
    """Our nodes and edges as they are where nobody moved one; the middles of all columns are level."""
    question = _question_node(answer)
    middle = [question, *_answer_nodes(answer)]
    _stack(middle, _ROW_GAP)
    right, left = _sides(_merged_by_name(answer.themes))
    columns, edges = [middle], []
    memos: dict[str, Node] = {}
    for themes, side in ((right, _RIGHT), (left, _LEFT)):
        nodes = _branch(themes, side, memos)
        columns.append(nodes)
        for theme in themes:
            node = _theme_node(theme)
            edges.append(_edge(question, node, "", side))
            edges += [
                _edge(node, memos[_memo_id(source)], answer.label_words.get(source.label, ""), side)
                for source in _each_once(theme.sources)
            ]
    tallest = max(_bottom(nodes) for nodes in columns)
    for nodes in columns:
        _move_down(nodes, (tallest - _bottom(nodes)) // 2)
    return [node for nodes in columns for node in nodes], edges


def _branch(themes: Sequence[CanvasTheme], side: _Side, memos: dict[str, Node]) -> list[Node]:
    """The themes of one side from top to bottom, each level with the middle of its memos; new memos are put into ``memos``."""
    nodes, top = [], 0
    for theme in themes:
        node = _theme_node(theme)
        new = [_memo_node(source) for source in _each_once(theme.sources) if _memo_id(source) not in memos]
        _stack(new, _ROW_GAP)
        height = max(_bottom(new), node["height"])
        _move_down(new, top + (height - _bottom(new)) // 2)
        node |= {"x": side.theme_x, "y": top + (height - node["height"]) // 2}
        for memo in new:
            memo["x"] = side.memo_x
        memos |= {memo["id"]: memo for memo in new}
        nodes += [node, *new]
        top += height + _THEME_GAP
    return nodes


def _sides(themes: Sequence[CanvasTheme]) -> tuple[Sequence[CanvasTheme], Sequence[CanvasTheme]]:
    """What goes to the right of the question and what to its left: all to the right as long as that is not too tall."""
    sizes = [max(1, len(theme.sources)) for theme in themes]
    if sum(sizes) < _TWO_SIDES_FROM or len(themes) < 2:
        return themes, ()
    cut = min(range(1, len(themes)), key=lambda n: (abs(sum(sizes[:n]) - sum(sizes[n:])), -n))
    return themes[:cut], themes[cut:]


def _stack(nodes: Sequence[Node], gap: int) -> None:
    """Puts ``nodes`` below each other."""
    y = 0
    for node in nodes:
        node["y"] = y
        y += node["height"] + gap


def _move_down(nodes: Sequence[Node], by: int) -> None:
    for node in nodes:
        node["y"] += by


def _bottom(nodes: Sequence[Node]) -> int:
    return max((int(node["y"] + node["height"]) for node in nodes), default=0)


def _merged_by_name(themes: Sequence[CanvasTheme]) -> list[CanvasTheme]:
    """Two of one name are one: a card is known by what it shows."""
    found: dict[str, CanvasTheme] = {}
    for theme in themes:
        name = _one_line(theme.name)
        found[name] = CanvasTheme(theme.name, (*(found[name].sources if name in found else ()), *theme.sources))
    return list(found.values())


def _question_node(answer: CanvasAnswer) -> Node:
    return _text_node(_QUESTION, f"**{_one_line(answer.question)}**", _QUESTION_WIDTH, _QUESTION_COLOUR)


def _theme_node(theme: CanvasTheme) -> Node:
    return _text_node(_THEME, _one_line(theme.name), _THEME_WIDTH, _THEME_COLOUR)


def _one_line(text: str) -> str:
    """Plain words: neither a link nor a tag, a list mark or emphasis in them is live."""
    line = _INLINE_MARKS.sub(lambda m: f"\\{m[0]}", escape_display(text))
    return _LIST_MARK.sub(r"\1\\\2", line)


def _answer_nodes(answer: CanvasAnswer) -> Iterator[Node]:
    if answer.conclusion.strip():
        yield _text_node(_CONCLUSION, answer.conclusion.strip(), _QUESTION_WIDTH, "")
    yield _file_node(_id(_ANSWER, ""), answer.note, "", (_QUESTION_WIDTH, _ANSWER_HEIGHT), "")


def _memo_node(source: CanvasSource) -> Node:
    height = min(_FILE_HEAD + _text_height(source.text or " ", _MEMO_WIDTH), _MOST_FILE_HEIGHT)
    return _file_node(_memo_id(source), source.note, source.anchor, (_MEMO_WIDTH, height), _COLOURS.get(source.label, ""))


def _memo_id(source: CanvasSource) -> str:
    """An anchor is a memo's for good, wherever its note moves."""
    return _id(_MEMO, source.anchor or source.note)


def _each_once(sources: Sequence[CanvasSource]) -> list[CanvasSource]:
    return list({_memo_id(source): source for source in reversed(sources)}.values())[::-1]


def _text_node(kind: str, text: str, width: int, colour: str) -> Node:
    height = min(_text_height(text, width), _MOST_HEIGHT)
    node = {"id": _id(kind, text), "type": "text", "text": text, "x": 0, "y": 0, "width": width, "height": height}
    return node | ({"color": colour} if colour else {})


def _file_node(node_id: str, path: str, anchor: str, size: tuple[int, int], colour: str) -> Node:
    node: Node = {"id": node_id, "type": "file", "file": path}
    if anchor:
        node["subpath"] = f"#^{anchor}"
    node |= {"x": 0, "y": 0, "width": size[0], "height": size[1]}
    return node | ({"color": colour} if colour else {})


def _edge(start: Node, end: Node, label: str, side: _Side) -> Node:
    edge = {"id": _id(_EDGE, f"{start['id']} {end['id']}"), "fromNode": start["id"], "fromSide": side.out}
    edge |= {"toNode": end["id"], "toSide": side.back}
    colour = {"color": end["color"]} if end["type"] == "file" and "color" in end else {}
    return edge | colour | ({"label": label} if label else {})


def _id(kind: str, what: str) -> str:
    return f"{_OURS}{kind}-{blake2b(what.encode(), digest_size=6).hexdigest()}"


def _text_height(text: str, width: int) -> int:
    per_line = int((width - 2 * _MARGIN) / _CHARACTER)
    lines = sum(max(1, -(-columns(line) // per_line)) for line in plain_text(text).split("\n"))
    return max(_LEAST_HEIGHT, lines * _LINE + 2 * _MARGIN)


def _read(text: str) -> dict[str, Any] | str:
    """The canvas with its lists; or why it is left alone."""
    if not text.strip():  # Obsidian and sync services empty a file before they write it
        return "it is empty"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "it is no JSON"
    if not isinstance(found, dict):
        return "it is no canvas"
    found = {**found, "nodes": found.get("nodes", []), "edges": found.get("edges", [])}
    return found if _are_nodes(found["nodes"]) and _are_edges(found["edges"]) else "it is no canvas"


def _are_nodes(nodes: Any) -> bool:
    return isinstance(nodes, list) and all(
        isinstance(node, dict)
        and isinstance(node.get("id"), str)
        and all(isinstance(node.get(key), (int, float)) and isfinite(node[key]) for key in _GEOMETRY)
        for node in nodes
    )


def _are_edges(edges: Any) -> bool:
    return isinstance(edges, list) and all(
        isinstance(edge, dict) and all(isinstance(edge.get(key), str) for key in ("id", "fromNode", "toNode")) for edge in edges
    )


def _merge(found: dict[str, Any], before: dict[str, Any] | None, nodes: Sequence[Node], edges: Sequence[Node]) -> dict[str, Any]:
    old = None if before is None else _by_id(before["nodes"])
    standing = _by_id(found["nodes"])
    theirs = _theirs(found, {node["id"] for node in nodes})
    placed = {node["id"]: node for node in theirs}
    floating = []
    for node in nodes:
        there = standing.get(node["id"])
        if there is None and old is not None and node["id"] in old:
            continue  # the person took it away
        if there is not None and _is_edited(there):
            placed[node["id"]] = there
        elif (pinned := _pinned(node, there, old)) is not None:
            placed[node["id"]] = pinned
        else:
            floating.append({**there, **node} if there else _in_place_of(node, standing.values(), old))
    for node in floating:
        placed[node["id"]] = _put_where_free(node, placed.values())
    in_order = [*(key for key in standing if key in placed), *(node["id"] for node in nodes if node["id"] not in standing)]
    merged_nodes = [placed[key] for key in in_order if key in placed]
    return {**found, "nodes": merged_nodes, "edges": _merge_edges(found, before, edges, placed.keys())}


def _by_id(items: Sequence[Node]) -> dict[str, Node]:
    return {item["id"]: item for item in items}


def _theirs(found: dict[str, Any], wanted: Set[str]) -> list[Node]:
    """What stands there beside what we want: nodes of the person's, nodes of ours that they wrote in or drew an edge to."""
    held = {edge[end] for edge in found["edges"] if not _is_ours(edge) for end in ("fromNode", "toNode")}
    return [
        node
        for node in found["nodes"]
        if node["id"] not in wanted and (not _is_ours(node) or _is_edited(node) or node["id"] in held)
    ]


def _is_ours(item: Node) -> bool:
    return str(item["id"]).startswith(_OURS)


def _kind(item: Node) -> str:
    return str(item["id"]).removeprefix(_OURS).partition("-")[0] if _is_ours(item) else ""


def _is_edited(node: Node) -> bool:
    return _is_ours(node) and node.get("type") == "text" and node["id"] != _id(_kind(node), str(node.get("text", "")))


def _pinned(node: Node, there: Node | None, old: Mapping[str, Node] | None) -> Node | None:
    """``node`` where the person has it; None when they never moved it, so that its place is ours to choose."""
    if there is None or not _is_moved(there, old):
        return None
    return {**there, **node, **{key: there[key] for key in _GEOMETRY}}


def _in_place_of(node: Node, standing: Iterable[Node], old: Mapping[str, Node] | None) -> Node:
    """Of questions and conclusions there is one each: with a new text it begins where the person had moved the old one to."""
    if _kind(node) in (_QUESTION, _CONCLUSION):
        for one in standing:
            if _kind(one) == _kind(node) and not _is_edited(one) and _is_moved(one, old):
                return {**node, "x": one["x"], "y": one["y"], "width": one["width"]}
    return node


def _is_moved(there: Node, old: Mapping[str, Node] | None) -> bool:
    before = (old or {}).get(there["id"])
    return before is None or any(there[key] != before[key] for key in _GEOMETRY)


def _put_where_free(node: Node, others: Iterable[Node]) -> Node:
    """``node`` moved down until it covers no other card. Groups lie behind cards and may hold some."""
    cards = [other for other in others if other.get("type") != "group"]
    y = node["y"]
    while hit := next((other for other in cards if _overlap({**node, "y": y}, other)), None):
        y = int(hit["y"] + hit["height"]) + _ROW_GAP
    return {**node, "y": y}


def _overlap(one: Node, other: Node) -> bool:
    return bool(
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def _merge_edges(found: dict[str, Any], before: dict[str, Any] | None, edges: Sequence[Node], nodes: Set[str]) -> list[Node]:
    """The person's edges as they stand, and ours unless they took one away or changed it. An edge without both ends is none."""
    old = {} if before is None else _by_id(before["edges"])
    standing, wanted = _by_id(found["edges"]), _by_id(edges)
    merged = []
    for key, edge in standing.items():
        if not _is_ours(edge) or (key in old and edge != old[key]):
            merged.append(edge)
        elif key in wanted:
            merged.append(wanted[key])
    merged += [edge for edge in edges if edge["id"] not in standing and edge["id"] not in old]
    return [edge for edge in merged if edge["fromNode"] in nodes and edge["toNode"] in nodes]


def _emit(nodes: Sequence[Node], edges: Sequence[Node], others: Mapping[str, Any] | None = None) -> str:
    """One line for each node and edge, as Obsidian writes it."""
    parts = [f'\t"{name}":{_lines(items)}' for name, items in (("nodes", nodes), ("edges", edges))]
    parts += [f"\t{_json(name)}:{_json(value)}" for name, value in (others or {}).items() if name not in ("nodes", "edges")]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(items: Sequence[Node]) -> str:
    return "[\n" + ",\n".join(f"\t\t{_json(item)}" for item in items) + "\n\t]" if items else "[]"


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATES.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
