"""What a model's reply says: sentences, and the memos that it names for each, read from JSON or from plain lines.

Pure. Decides what is a sentence and what is a mark that names a memo. A mark counts only if it holds exactly the id of a memo
that was given; the place of a memo in the list ([1] for the first one) is no id, since it may be another memo's. Everything that
looks like a mark is taken out of the text, known or not. Nothing inside a code fence is read, but for a reply that is one fence
around the JSON that was asked for. Refuses to judge whether a sentence is true; ``checking`` does.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import category, normalize

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

#: Characters of a reply. An honest one has some hundreds to two thousand.
MAX_REPLY_CHARS = 50_000
#: Sentences that are looked at; the form asked for has at most 3 and 2 for each of some themes.
MAX_STATEMENTS = 60

_FENCE = re.compile(r"```(?P<info>[^\n`]*)\n?(?P<inner>.*?)(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_JSON_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\n(?P<inner>.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)

#: Where a mark stood; both are characters for private use, which are taken out of every reply first.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_WORD_FOR_MEMO = r"(?:memos?|sources?|notes?|refs?|id|来源|來源|出处|出處|笔记|筆記|见|見)"
_MARK = re.compile(
    r"!?\[\[(?P<wiki>[^\[\]\n]*)\]\]"
    r"|\^?\[(?P<square>[^\[\]\n]*)\](?!\()"
    r"|【(?P<lens>[^【】\n]*)】"
    rf"|[(（](?P<round>\s*(?:{_WORD_FOR_MEMO}\s*[:：#]?|#)\s*[^()（）\n]*)[)）]",
    re.IGNORECASE,
)
_BETWEEN_IDS = re.compile(r"[,，;；、&\s]+|\band\b|和")
_BEFORE_ID = re.compile(rf"^(?:{_WORD_FOR_MEMO}[:：/#]*)?[#^]?", re.IGNORECASE)
_AFTER_ID = re.compile(r"(?:†|[|]).*$")
_LIKE_AN_ID = re.compile(r"\d+(?:\s*[-–~:]\s*\d+)*")

_END = re.compile(rf"(?:[。！？]+|[!?]+(?=\s|$|{_OPEN})|\.(?=\s|$|{_OPEN}))[”’」』）)\"']*(?:\s*{_OPEN}\d+{_CLOSE})*")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[a-z]|dr|mr|mrs|ms|st|no|vs|etc|approx|ca|e\.g|i\.e)$", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*+•·]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,2}[.)、]\s+)")
_LOOSE_SPACE = re.compile(r"\s+(?=[，。；：、！？,.;:!?)）])")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence as said, on one line, without its marks. ``memo_ids``: each once; ``unknown`` marks named no given memo."""

    text: str
    memo_ids: tuple[str, ...]
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """``themes``: (number as the model was given it, sentence); 0 for a theme that no number names."""

    conclusion: tuple[Statement, ...]
    themes: tuple[tuple[int, Statement], ...] = ()


def read_reply(content: str, given: Collection[str]) -> Reply:
    """The sentences of a reply, with the memos ``given`` that they name; none when it is empty or of another form.

    Plain text has a conclusion only; front matter and headings in it are lines like any other.
    """
    if len(content) > MAX_REPLY_CHARS:
        return Reply(())
    said = _clean(content)
    form = _form_in(said)
    if form is not None:
        conclusion = tuple(_statements(form.get("conclusion"), given))
        return _bounded(Reply(conclusion, tuple(_theme_statements(form.get("themes"), given))))
    if said.lstrip().startswith(("{", "[{", "```")) and '"' in said:
        return Reply(())
    lines = _FENCE.sub(" ", said).split("\n")
    return _bounded(Reply(tuple(s for line in lines for s in _sentences(line, (), 0, given))))


def _bounded(reply: Reply) -> Reply:
    conclusion = reply.conclusion[:MAX_STATEMENTS]
    return Reply(conclusion, reply.themes[: MAX_STATEMENTS - len(conclusion)])


def _clean(text: str) -> str:
    """Without characters that nobody sees or that only we use; line ends and tabs as they are in plain text."""
    plain = text.replace("\r\n", "\n").replace("\t", " ").replace("［", "[").replace("］", "]")
    return "".join(" " if category(c) == "Cc" and c != "\n" else c for c in plain if category(c) not in ("Cf", "Co", "Cs"))


# the form that was asked for


def _form_in(said: str) -> dict[str, Any] | None:
    """The JSON object that was asked for: alone, as the only thing in a fence, or among words outside all fences."""
    fenced = _JSON_FENCE.fullmatch(said)
    bare = fenced["inner"] if fenced else _FENCE.sub(" ", said)
    start, end = bare.find("{"), bare.rfind("}")
    for text in (said, bare, bare[start : end + 1] if 0 <= start < end else ""):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list) and found and all(isinstance(item, dict) and "text" in item for item in found):
            found = {"conclusion": found}
        if isinstance(found, dict) and found.keys() & {"conclusion", "themes"}:
            return found
    return None


def _statements(items: Any, given: Collection[str]) -> Iterator[Statement]:
    """Of a text, of one ``{"text", "ids"}``, or of a list of these."""
    for item in items if isinstance(items, list) else [items]:
        if isinstance(item, str):
            item = {"text": item}  # noqa: PLW2901
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            ids, unknown = _named(item.get("ids", item.get("memo_ids", [])), given)
            for line in _clean(item["text"]).split("\n"):
                yield from _sentences(line, ids, unknown, given)


def _theme_statements(themes: Any, given: Collection[str]) -> Iterator[tuple[int, Statement]]:
    if isinstance(themes, dict):
        themes = [{"theme": number, "sentences": sentences} for number, sentences in themes.items()]
    for theme in themes if isinstance(themes, list) else []:
        if isinstance(theme, dict):
            number = theme.get("theme")
            number = int(number) if isinstance(number, str) and re.fullmatch(r"[0-9]{1,3}", number) else number
            for statement in _statements(theme.get("sentences", theme), given):
                yield (number if type(number) is int else 0), statement


def _named(ids: Any, given: Collection[str]) -> tuple[tuple[str, ...], int]:
    """The memos that a list of ids names, and how many of it name none."""
    found: dict[str, None] = {}
    unknown = 0
    for item in ids if isinstance(ids, list) else [ids]:
        if type(item) is int or isinstance(item, str):
            known, others, _ = _ids_in(_clean(str(item)).strip("[]【】()（） \n"), given)
            found |= dict.fromkeys(known)
            unknown += max(others, 0 if known else 1)
        else:
            unknown += 1
    return tuple(found), unknown


# marks


def _ids_in(inner: str, given: Collection[str]) -> tuple[list[str], int, bool]:
    """(given memos, others, whether it all looks like ids) of what stands inside a mark."""
    known: list[str] = []
    others, all_alike = 0, True
    for part in _BETWEEN_IDS.split(_AFTER_ID.sub("", normalize("NFKC", inner)).strip()):
        bare = part if part in given else _BEFORE_ID.sub("", part)
        if bare in given:
            known.append(bare)
        elif bare:
            others += 1
            all_alike = all_alike and bool(_LIKE_AN_ID.fullmatch(bare))
    return known, others, all_alike and bool(known or others)


def _sentences(line: str, ids: tuple[str, ...], unknown: int, given: Collection[str]) -> Iterator[Statement]:
    """The sentences of a line; ``ids`` were named for all of them."""
    named: list[tuple[list[str], int]] = []

    def take_out(mark: re.Match[str]) -> str:
        inner = next(group for group in mark.groups() if group is not None)
        known, others, all_alike = _ids_in(inner, given)
        if not (all_alike or mark["wiki"] is not None or "†" in inner):
            return mark[0]
        named.append((known, others if known else max(others, 1)))
        return f"{_OPEN}{len(named) - 1}{_CLOSE}"

    marked = _MARK.sub(take_out, line)
    for piece in _split(marked):
        places = [named[int(number)] for number in _PLACE.findall(piece)]
        text = _LOOSE_SPACE.sub("", " ".join(_BULLET.sub("", _PLACE.sub(" ", piece)).split()))
        if any(map(str.isalnum, text)):
            own = dict.fromkeys([*ids, *(memo_id for known, _ in places for memo_id in known)])
            yield Statement(text, tuple(own), unknown + sum(others for _, others in places))


def _split(line: str) -> list[str]:
    """The line's sentences, the marks behind a sentence with it."""
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(line):
        before, after = line[start : end.start()], line[end.end() :].lstrip()
        if end[0].startswith(".") and (_ABBREVIATION.search(before) or after[:1].islower()):
            continue
        pieces.append(line[start : end.end()])
        start = end.end()
    return [*pieces, line[start:]]
