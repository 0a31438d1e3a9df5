"""The parts of the MCP server that need no server: arguments, fences, cursors and pages, and what a result looks like."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, is_dataclass, make_dataclass
from typing import Annotated, Any, get_type_hints

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vaultbrain.errors import UsageProblem
from vaultbrain.mcp import results
from vaultbrain.mcp.arguments import (
    Choice,
    Flag,
    MemoIds,
    Number,
    Text,
    Texts,
    read_arguments,
    schema_of,
)
from vaultbrain.mcp.fence import Fence
from vaultbrain.mcp.paging import Place, compact_json, digest_of, fitting_items, read_cursor, size_of, write_cursor
from vaultbrain.mcp.results import as_json
from vaultbrain.mcp.server import mend_halves
from vaultbrain.mcp.tools import INSTRUCTIONS, TOOLS

ARGUMENTS = (
    Text("question", "a"),
    Text("passage", "a", "", 50),
    Texts("queries", "a", 1, 3),
    Texts("variants", "a", 0, 2, ()),
    MemoIds("memo_ids", "a", 3),
    Number("limit", "a", 1, 50, 12),
    Flag("dry_run", "a"),
    Flag("semantic", "a", None, or_neither=True),
    Choice("mode", "a", ("auto", "match"), "auto"),
)
NEEDED: dict[str, Any] = {"question": "q", "queries": ["q"], "memo_ids": ["1"]}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def read(**given: Any) -> dict[str, Any]:
    values, problems = read_arguments(ARGUMENTS, NEEDED | given)
    assert not problems
    return values


def problems_of(**given: Any) -> list[str]:
    return read_arguments(ARGUMENTS, NEEDED | given)[1]


# arguments


def test_what_is_left_out_has_its_default() -> None:
    """So has what is null, since some clients send every argument."""
    usual = {"passage": "", "variants": (), "limit": 12, "dry_run": False, "semantic": None, "mode": "auto"}
    expected = usual | {"question": "q", "queries": ("q",), "memo_ids": ("1",)}
    assert read() == expected
    assert read(**dict.fromkeys(usual)) == expected


def test_what_is_needed_is_missed() -> None:
    """All of it is named at once; null is as good as nothing."""
    missing = ["question is missing", "queries is missing", "memo_ids is missing"]
    assert read_arguments(ARGUMENTS, {})[1] == missing
    assert [problem.split()[0] for problem in read_arguments(ARGUMENTS, dict.fromkeys(NEEDED))[1]] == list(NEEDED)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"question": "  a\r\nb\x00 "}, "a\nb�"),
        ({"queries": "one"}, ("one",)),
        ({"queries": ["a", " a ", ""]}, ("a",)),
        ({"variants": [" "]}, ()),
        ({"memo_ids": [456, "#456", " uid-7_x "]}, ("456", "uid-7_x")),
        ({"memo_ids": 456}, ("456",)),
        ({"limit": 3.0}, 3),
        ({"semantic": True}, True),
        ({"mode": "match"}, "match"),
    ],
)
def test_what_is_meant_is_taken(given: dict[str, Any], expected: Any) -> None:
    """A list of one may come bare, ids with # or as numbers, texts with white space and what no note can hold."""
    [name] = given
    assert read(**given)[name] == expected


WRONG = [
    *({"question": value} for value in (7, True, None, ["a"], {}, "", "  ", "\u200b", "x" * 2_001)),
    *({"passage": value} for value in (7, "x" * 51)),
    *({"queries": value} for value in (7, [], [""], ["a", 7], [None], [["a"]], ["a"] * 4, {"a": 1}, ["x" * 2_001])),
    *({"variants": value} for value in (7, ["a"] * 3, [True])),
    *({"memo_ids": value} for value in ([], "", "#", "a b", "../x", "1/2", "a" * 65, -1, 1.5, True, [None], 2**64)),
    *({"memo_ids": value} for value in ("١٢", ["1"] * 4, {})),
    *({"limit": value} for value in (0, 51, -1, "3", True, 1.5, math.nan, math.inf, -math.inf, 10**5_000, [3], {})),
    *({"dry_run": value} for value in (0, 1, "true", [], {})),
    *({"semantic": value} for value in (0, "null", [])),
    *({"mode": value} for value in ("", "Auto", 7, ["auto"], {"auto": 1})),
    *({name: 1} for name in ("", "Question", "questions", "__class__", "x" * 10_000, "a\nb\x00\ud800")),
]


@pytest.mark.parametrize("given", WRONG, ids=lambda given: ascii(next(iter(given)))[:20])
def test_what_is_wrong_is_said(given: dict[str, Any]) -> None:
    """One clause that names the argument, short, in one line, and without what was sent."""
    [problem] = problems_of(**given)
    [name] = given
    assert name in problem if name in {argument.name for argument in ARGUMENTS} else problem.startswith("there is no argument")
    assert len(problem) < 160
    assert problem.isprintable()


def test_all_that_is_wrong_is_said_at_once() -> None:
    """And of many unknown names only some."""
    many = {f"name{number:03}": 1 for number in range(500)}
    problems = problems_of(limit=0, mode="x", **many)
    assert problems[0] == "there is no argument 'name000', 'name001', 'name002' and 497 more"
    assert [problem.split()[0] for problem in problems[1:]] == ["limit", "mode"]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ARGUMENTS), JSON_VALUES)
@example(ARGUMENTS[4], 10**400)
def test_whatever_is_sent_is_read_or_refused(argument: Any, value: Any) -> None:
    """Nothing else is raised, and what the schema lets through is read, but for what only a look at its content can tell."""
    values, problems = read_arguments([argument], {argument.name: value})
    assert (argument.name in values) != bool(problems)
    fits = Draft202012Validator(argument.schema()).is_valid(value)
    if isinstance(argument, (Number, Flag, Choice)):
        assert fits == (not problems) or value is None
    elif fits and problems:
        assert "blank" in problems[0] or "memo ids such as" in problems[0]


def test_the_schema_says_the_same() -> None:
    """What has to be given is required, every argument is described, and no other is let in."""
    schema = schema_of(ARGUMENTS)
    Draft202012Validator.check_schema(schema)
    assert schema["required"] == list(NEEDED)
    assert schema["additionalProperties"] is False
    assert all(described["description"] for described in schema["properties"].values())
    assert {name: described["default"] for name, described in schema["properties"].items() if "default" in described} == {
        "limit": 12,
        "dry_run": False,
        "mode": "auto",
    }


# the table


def test_the_beginning_of_the_instructions_stands_alone() -> None:
    """The first 512 characters are whole sentences, name the first tool, say what writes and that memos are no instructions."""
    first = INSTRUCTIONS.split("\n\n")[0]
    assert len(first) <= 512
    assert first.endswith(".")
    for words in ("brain_search_cflow", "never instructions", "ask_cflow_note writes"):
        assert words in first
    assert all(name in {tool.name for tool in TOOLS} for name in re.findall(r"\b\w+_\w+\b", INSTRUCTIONS))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_reads_what_is_wrong_in_its_own_words(tool: Any) -> None:
    """The problem names the tool, and the advice the arguments that it takes."""
    with pytest.raises(UsageProblem) as met:
        tool.read({"no such": 1})
    assert met.value.facts["what"].startswith(f"{tool.name} was called wrongly: there is no argument 'no such'")
    for argument in tool.arguments:
        assert argument.name in met.value.facts["next"]


# fences


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from("<>0123456789 a\n影…")), max_size=6))
@example([" ".join(f"<<{number} x {number}>>" for number in range(100, 1_000))])
@example([" ".join(map(str, range(100, 3_000)))])
@example(["\ud800"])
def test_no_text_holds_its_own_marks(texts: list[str]) -> None:
    """Whatever the texts hold, the number of the marks stands in none of them, and all between the marks is the text."""
    fence = Fence(texts)
    for text in texts:
        assert fence.code not in text
        fenced = fence(text)
        assert fenced == (f"<<{fence.code} {text} {fence.code}>>" if text else "")
        assert fenced.count(f"{fence.code}>>") == bool(text)
    assert fence.code in fence.rule
    assert Fence(texts).code == fence.code


# what comes in


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (r'"\ud83d"', "\ufffd"),
        (r'"a\udE00b\uD83Dc"', "a\ufffdb\ufffdc"),
        (r'"\ud83d\ude00\ud83d"', "😀\ufffd"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'"\\ud83d \\\ud83d"', "\\ud83d \\\ufffd"),
        (r'"\u00e9\n\"\ud"', None),
        (r'"观影 \u89c2 😀"', "观影 观 😀"),
    ],
)
def test_half_an_emoji_is_mended(sent: str, read: str | None) -> None:
    """Halves become U+FFFD; pairs, escaped backslashes and all else stay; broken JSON stays broken."""
    mended = mend_halves(sent)
    if read is None:
        assert mended == sent
    else:
        assert json.loads(mended) == read


# cursors and pages


@given(st.integers(0, 999_999), st.integers(0, 999_999_999))
def test_a_cursor_comes_back_as_it_went(items: int, chars: int) -> None:
    """A place in a result is written and read again by the call it belongs to, and refused by every other."""
    mine, other = digest_of("a", {"queries": ("x",)}), digest_of("a", {"queries": ("y",)})
    cursor = write_cursor(Place(items, chars), mine)
    assert read_cursor(cursor, mine) == Place(items, chars)
    assert len(cursor) <= 40
    with pytest.raises(UsageProblem, match="cursor"):
        read_cursor(cursor, other)


def test_a_cursor_belongs_to_what_is_asked() -> None:
    """How many, how much and from where may change between pages; the tool and what is asked may not."""
    asked = {"queries": ("x",), "limit": 3, "max_bytes": 2_000, "cursor": ""}
    assert digest_of("a", asked) == digest_of("a", asked | {"limit": 9, "max_bytes": 9, "cursor": "5-1"})
    assert digest_of("a", asked) != digest_of("b", asked)
    assert digest_of("a", asked) != digest_of("a", asked | {"queries": ("x", "y")})


@given(st.text(max_size=45))
@example("1-")
@example("../../etc/passwd")
@example("1.2.3-00000000")
@example("9999999-00000000")
@example("１-00000000")
@example("1-00000000\n")
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    """What no result gave is refused in words; nothing else is raised. An empty one is the beginning."""
    if not cursor:
        assert read_cursor(cursor, "abcdef01") == Place()
        return
    with pytest.raises(UsageProblem, match="cursor"):
        read_cursor(cursor, "abcdef01")


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=20), max_size=3), max_size=8), st.integers(-5, 400))
def test_items_that_fit_keep_to_their_room(items: list[dict[str, str]], room: int) -> None:
    """As many as have room in the bytes of the list as it is sent, and never one more."""
    count = fitting_items(items, room)
    assert size_of(items[:count]) <= max(room, 0) + 2
    assert count == len(items) or size_of(items[: count + 1]) - 1 > room


# results


KINDS = [kind for kind in vars(results).values() if isinstance(kind, type) and is_dataclass(kind)]
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SIMPLE: dict[type, st.SearchStrategy[Any]] = {str: st.text(max_size=5), int: st.integers(), float: FLOATS, bool: st.booleans()}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{name: values_of(inner) for name, inner in hints.items()})  # type: ignore[arg-type]
    if getattr(hint, "__origin__", None) is tuple:
        return st.lists(values_of(hint.__args__[0]), max_size=2).map(tuple)
    if hint not in SIMPLE:
        return st.none() | values_of(next(part for part in hint.__args__ if part is not type(None)))
    return SIMPLE[hint]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_sent_meets_its_schema(kind: type) -> None:
    """Whatever a result holds, what is sent meets the schema, and the schema knows every field that is sent, with its use."""
    schema = results.schema_of(kind)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema | {"additionalProperties": False})

    @settings(max_examples=25, deadline=None)
    @given(values_of(kind))
    def check(result: Any) -> None:
        sent = as_json(result)
        validator.validate(sent)
        assert json.loads(compact_json(sent)) == sent
        kept = {item.name for item in fields(result)}
        assert set(schema["required"]) <= sent.keys() <= kept
        assert all(sent[name] is not None for name in sent.keys() - set(schema["required"]))

    check()


def test_a_field_with_its_default_is_not_sent() -> None:
    """A default costs nothing on the wire; what differs from it is sent, also when it is false or zero."""
    kind = make_dataclass("Kind", [("a", int), ("b", Annotated[bool, "b"], True), ("c", tuple[str, ...], ()), ("d", int, 5)])
    assert as_json(kind(0)) == {"a": 0}
    assert as_json(kind(0, b=False, c=("x",), d=0)) == {"a": 0, "b": False, "c": ["x"], "d": 0}
