"""What a memo is about in a few of its own words: a headline, one sentence that goes on from it, and where it comes from.

Pure. Every word shown stands in the memo, in this order; marks and tags are taken off, of an address a summary keeps the host and
a headline nothing, a cut shows as ``…``. Decides where a headline ends, which sentence says most, and which link counts as the
memo's source. Refuses to write anything of its own, and to make the words safe for a note: that is for whoever shows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import is_cjk
from vaultbrain.memo import title_of, without_tags
from vaultbrain.vault.markdown import ADDRESS, columns, fitting, plain_text, split_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vaultbrain.memo import Memo

#: Characters of a summary: of one that is mostly Chinese, and of any other.
MAX_CJK_CHARS, MAX_LATIN_CHARS = 120, 220
#: Columns (two to a Chinese character) of a headline; and from how many on a first line with nothing below it is parted into a
#: headline and the rest. The fewest that name something, before a mark that ends a sentence or a name, and before a comma.
_HEADLINE_COLUMNS, _LONG_FOR_ALL = 48, 28
_SHORTEST_NAME, _SHORTEST_CLAUSE = 6, 14
#: Columns of a sentence that says something; of one that is better shown with the next; and of what may stand there together.
_LEAST_SAID, _SHORT, _TOGETHER = 10, 26, 110
#: Share of the room from which on a cut at the end of a clause is preferred.
_CLAUSE_FROM = 0.4
#: Points of a sentence: for each word it was chosen by, for saying what matters, for length, for leaning on the one before, for
#: standing one place further down.
_MET, _MATTERS, _SAYS_ENOUGH, _LEANS_BACK, _PER_PLACE, _ANNOUNCED = 2.0, 0.35, 0.3, -0.6, -0.12, 0.8
#: The place from which on further down costs nothing more: a long memo is about several things.
_FAR_DOWN = 6
#: Share of Chinese characters from which on a text is cut and joined as Chinese.
_MOSTLY_CJK = 0.25

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(?:[^\n]*\n){0,30}?---[ \t]*(?:\n|\Z)")
_CLOSERS = "”’」』）)\"'》"
_SENTENCE_END = re.compile(
    rf"[。！？]+[{_CLOSERS}]*|(?<=[\w{_CLOSERS}])[!?]+[{_CLOSERS}]*(?=\s|$|[\u3000-\u9fff])|(?<![A-Z\d])(?<!e\.g)(?<!i\.e)\.[{_CLOSERS}]*(?=\s|$)"
    rf"|(?<=\d)\.[{_CLOSERS}]*(?=\s+[A-Z])"
)
_CLAUSE_END = re.compile(r"[，；、：。！？]|[,;:](?=\s)|\s[-–—]+(?=\s)|——")
#: Where a headline may end: what names a subject and then speaks of it, or a clause.
_HEADLINE_END = re.compile(r"[：。！？；，｜]|[:;,.!?|](?=\s)|\s[-–—]+(?=\s)|——")
_PAIRS = dict(zip("「『（(《【[“‘{", "」』）)》】]”’}", strict=True))
_LOOSE_START = re.compile(r"^(?:[，。：；、！？｜,.:;!?|→–—-]+(?=\s|[^\x00-\x7f]|[\w`~/])|[\s）)」』》]+)+")
_LOOSE_END = re.compile(r"[\s，：；、,:;|｜→–—-]+$")
#: Stand around the host of an address that was taken out.
_GONE, _GONE_END = "\ufffc", "\ufffb"
_TAKEN_OUT = re.compile(f"{_GONE}[^{_GONE_END}]*{_GONE_END}")
_HOST = re.compile(r"https?://(?:[^\s/?#]*@)?(?:www\.)?([\w.-]+)")
_TABLE_RULE = re.compile(r"^[\s|:\-]+$")
_TASK_BOX = re.compile(r"^\s*(?:[-*+]\s+)?\[[ xX]\]\s+")
_GREETING = re.compile(
    r"^(?:大家好|你好|您好|哈喽|嗨|早上好|晚上好|早安|晚安|各位"
    r"|(?:hello|hi|hey|dear|good (?:morning|evening))(?![a-z]))[^。]{0,12}$"
)
_LEANS = re.compile(
    r"^(?:这(?!里)|那(?!么)|它|他|她|但|不过|所以|因此|于是|然后|另外|还有|也|又|再(?!平衡)|补|后来|结果|反而|同样"
    r"|but|so|then|also|and|it|its|this|that|they|he|she|otherwise|instead|afterwards)(?![a-z])"
)
_CUES = re.compile(
    r"关键|要点|核心|重点|原因|结论|规则|原则|办法|做法|步骤|流程|顺序|排查|教训|经验|对策|改成|先.{1,16}再"
    r"|\bkey\b|\bthe point\b|\blesson\b|\bbecause\b|\brule\b|\binstead of\b|\btrick\b|\bhelped\b"
)
_CODE = re.compile(
    r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`)[^\n]+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL
)
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()\s]*\)")
_LINK_END = "。，；：、！？,.;:!?'\"*_~`>]}»”’"
#: Never stand in an address (RFC 3986, section 2).
_NO_LINK = re.compile(r"[<>\"]")
_MARKS = re.compile(r"[*_~`>]")
_LOCAL_HOST = re.compile(r"(?:^|\.)(?:localhost|local|lan|internal|home)$")


@dataclass(frozen=True, slots=True)
class _Statement:
    """``text`` reads by itself; ``place``: which it is in the memo; ``lost``: it says little beside the address in it.

    ``announced``: the title ended in a colon, and this follows it.
    """

    text: str
    place: int
    lost: bool = False
    announced: bool = False


def headline_of(content: str) -> str:
    """What names the memo in at most ``_HEADLINE_COLUMNS``: its first line, or the first clause of it; empty without words."""
    lines = list(_lines(content))
    line = _closed(lines[0].text if lines else _bare(title_of(content)))
    has_more = len(lines) > 1
    if columns(line) <= (_HEADLINE_COLUMNS if has_more else _LONG_FOR_ALL):
        return _LOOSE_END.sub("", line.rstrip("。."))
    if end := _headline_end(line):
        return line[:end]
    short = _LOOSE_END.sub("", line.rstrip("。."))
    return short if columns(short) <= _HEADLINE_COLUMNS else _cut_columns(line, _HEADLINE_COLUMNS)


def _headline_end(line: str) -> int:
    """Where the first clause ends that names something and leaves something to say; 0 when there is none."""
    for found in _HEADLINE_END.finditer(line):
        before = line[: found.start()]
        if columns(before) > _HEADLINE_COLUMNS:
            return 0
        least = _SHORTEST_CLAUSE if found.group() in "，," else _SHORTEST_NAME
        names = columns("".join(filter(str.isalnum, before))) >= least and not _is_inside(line, found.start())
        if names and columns(line[found.end() :]) >= _LEAST_SAID:
            return found.start()
    return 0


def _is_inside(line: str, place: int) -> bool:
    """Whether quotation marks or brackets are open there."""
    before = line[:place]
    return any(before.count(opening) > before.count(closing) for opening, closing in _PAIRS.items()) or before.count('"') % 2 == 1


def _cut_columns(line: str, width: int) -> str:
    end = fitting(line, width)
    if line[:end].isascii() and " " in line[:end]:
        end = line.rfind(" ", 0, end)
    return _LOOSE_END.sub("", line[:end]) + "…"


def summary_of(content: str, title: str = "", about: Sequence[str] = ()) -> str:
    """One sentence of the memo that says what it is about, verbatim; of a list the first items. Empty when there is none.

    It does not say ``title`` again (``headline_of`` is taken for a title that only begins with it). ``about``: folded words, to
    choose of a long memo the sentence that they stand in. At most ``MAX_CJK_CHARS`` or ``MAX_LATIN_CHARS`` characters.
    """
    headline = headline_of(content)
    shown = headline if not title or _letters(title).startswith(_letters(headline)) else title
    statements = [s for s in _statements(content, shown, each_item=bool(about)) if _says_something(s, shown)]
    if not statements:
        return ""
    best = max(statements, key=lambda s: (_points(s, about), -s.place))
    return _LOOSE_END.sub("", _cut(_with_next(best, statements)))


def is_from(summary: str, passage: str) -> bool:
    """Whether the summary of a memo was taken from this passage of it."""
    said = _letters("".join(_with_hosts(line.text) for line in _lines(passage)))
    return _letters(summary) in said


def _points(statement: _Statement, about: Sequence[str]) -> float:
    folded = fold(statement.text)
    points = _MET * sum(word in folded for word in dict.fromkeys(about)) + _PER_PLACE * min(statement.place, _FAR_DOWN)
    points += _MATTERS * bool(_CUES.search(folded)) + _LEANS_BACK * bool(_LEANS.match(folded)) + _ANNOUNCED * statement.announced
    return points + _SAYS_ENOUGH * (columns(statement.text) >= _SHORT)


def _with_next(statement: _Statement, statements: Sequence[_Statement]) -> str:
    """A sentence of a few words takes the one behind it along."""
    behind = next((s for s in statements if s.place == statement.place + 1), None)
    if behind is None or columns(statement.text) >= _SHORT or statement.text.endswith("…"):
        return statement.text
    both = f"{statement.text}{_gap(statement.text, behind.text)}{behind.text}"
    return both if columns(both) <= _TOGETHER else statement.text


def _gap(before: str, behind: str) -> str:
    """What stands between two sentences; a line that ends without a mark gets one."""
    if before[-1].isalnum() and (is_cjk(behind) or is_cjk(before[-1])):
        return "；"
    return "" if is_cjk(behind) or before[-1] in "。！？" else " "


def _says_something(statement: _Statement, title: str) -> bool:
    letters = _letters(statement.text)
    least = _SHORTEST_NAME if statement.announced else _LEAST_SAID
    if columns(letters) < least or letters in _letters(title) or _GREETING.match(fold(statement.text)):
        return False
    return not statement.lost


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))


# what there is to choose from


def _statements(content: str, title: str, *, each_item: bool) -> Iterator[_Statement]:
    place = 0
    for line in _behind_title(_lines(content, each_item=each_item), title):
        for number, text in enumerate(_sentences(line.text)):
            lost = _GONE in text and columns(_letters(_closed(text))) < _SHORTEST_CLAUSE
            yield _Statement(_with_hosts(text), place, lost, line.announced and not number)
            place += 1


def _behind_title(lines: Iterator[_Statement], title: str) -> Iterator[_Statement]:
    """The lines; of the first only what stands behind the title."""
    for line in lines:
        if line.place or not title or title.endswith("…") or not line.text.startswith(title):
            yield line
            continue
        rest = line.text[len(title) :]
        if text := _LOOSE_START.sub("", rest):
            yield _Statement(text, line.place, announced=rest.lstrip()[:1] in "：:")


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for found in _SENTENCE_END.finditer(line):
        if not _is_inside(line[start:], found.start() - start):
            yield line[start : found.end()].strip()
            start = found.end()
    if rest := line[start:].strip():
        yield rest


def _lines(content: str, *, each_item: bool = False) -> Iterator[_Statement]:
    """The lines with words as they read. Code is left out; the items of a list are one line unless ``each_item``."""
    place = 0
    for block in split_blocks(_FRONT_MATTER.sub("", content)):
        if block.kind in ("fence", "code", "math", "rule"):
            continue
        for raw in _lines_of_block(block.kind, block.text, each_item=each_item):
            if any(map(str.isalnum, raw)):
                yield _Statement(raw, place)
                place += 1


def _lines_of_block(kind: str, text: str, *, each_item: bool) -> list[str]:
    rows = [row for row in text.split("\n") if not (kind == "table" and _TABLE_RULE.match(row))]
    bare = list(filter(None, (_bare(row, is_table=kind == "table") for row in rows)))
    return bare if kind not in ("list", "table") or each_item or len(bare) < 2 else [_joined(bare)]


def _joined(items: Sequence[str]) -> str:
    mark = "；" if _is_mostly_cjk("".join(items)) else "; "
    return mark.join(item.rstrip("。.；;，,") for item in items)


def _bare(line: str, *, is_table: bool = False) -> str:
    """A line without marks, tags and boxes, its addresses taken out; empty when no words are left."""
    if is_table:
        line = " · ".join(filter(None, (cell.strip() for cell in line.strip().strip("|").split("|"))))
    text = plain_text(_TASK_BOX.sub("", without_tags(_IMAGE.sub("", line))))
    text = " ".join(ADDRESS.sub(_taken_out, _TASK_BOX.sub("", text)).split())
    return text if any(map(str.isalnum, _closed(text))) else ""


def _taken_out(found: re.Match[str]) -> str:
    """The host between its marks, and the punctuation of the sentence that an address runs into."""
    link = _without_tail(found.group())
    host = _HOST.match(link)
    behind = _MARKS.sub("", found.group()[len(link) :])
    return f"{_GONE}{host[1] if host else ''}{_GONE_END}{behind}"


def _closed(text: str) -> str:
    """Without what is left of addresses."""
    return " ".join(_TAKEN_OUT.sub(" ", text).split())


def _with_hosts(text: str) -> str:
    return " ".join(text.replace(_GONE, "").replace(_GONE_END, "").split())


# cutting


def _is_mostly_cjk(text: str) -> bool:
    return sum(map(is_cjk, text)) >= _MOSTLY_CJK * max(len(text), 1)


def _cut(text: str) -> str:
    """At most as many characters as a summary may have, ended at a clause where one fills some of the room."""
    room = MAX_CJK_CHARS if _is_mostly_cjk(text) else MAX_LATIN_CHARS
    if len(text) <= room:
        return text
    ends = [found.start() for found in _CLAUSE_END.finditer(text, 0, room - 1) if not _is_inside(text, found.start())]
    end = ends[-1] if ends and ends[-1] >= _CLAUSE_FROM * room else _between_words(text, room - 1)
    return _LOOSE_END.sub("", text[:end]) + "…"


def _between_words(text: str, end: int) -> int:
    space = text.rfind(" ", 0, end)
    is_word = text[end - 1].isascii() and text[end].isascii()
    return space if is_word and space > end // 2 else end


# where it comes from


def original_link(memo: Memo) -> str:
    """The first link of the text that leads away from the memo server and from this house; else the memo's own address."""
    return external_link(memo) or memo.url


def external_link(memo: Memo) -> str:
    """The first http or https link of the text to another host, pictures and code left out; empty when there is none."""
    own = host_of(memo.url)
    text = _CODE.sub(" ", _IMAGE.sub(" ", memo.content))
    links = (_without_tail(found.group()) for found in ADDRESS.finditer(text))
    return next((link for link in links if (host := host_of(link)) and host != own and not _is_local(host)), "")


def host_of(link: str) -> str:
    """The host in lower case without ``www.``; empty when the link is no http or https address."""
    try:
        parts = urlsplit(link)
        host = parts.hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.") if parts.scheme in ("http", "https") else ""


def _is_local(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or _LOCAL_HOST.search(host) is not None


def _without_tail(link: str) -> str:
    """Without the tag or quotation that it runs into, the sentence's punctuation, and a bracket that opened before it."""
    link = _NO_LINK.split(link, maxsplit=1)[0]
    while link and (link[-1] in _LINK_END or (link[-1] == ")" and link.count(")") > link.count("("))):
        link = link[:-1]
    return link
