"""What of a text a person wrote as sentences, and what was pasted or logged.

Decides by the shape of lines only: code, configuration, listings, tables, error output and data are pastes; ticked items, rows of
times and rows of amounts are log lines. What is left are the sentences of the person. Pure; the text is folded (``index.fold``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A line with this share of Chinese is a sentence, whatever stands beside it. Share of the characters that are not blank.
_CHINESE_SHARE = 0.3
#: A line with this share of brackets and operators is code. Share of all characters.
_CODE_SHARE = 0.12
#: Configuration has several such lines; a single ``word: text`` is how people write, too.
_KEYED_LINES = 2
#: Times of day, or amounts with a unit, that make a line a log line.
_LOG_MARKS = 2
#: A record has few words for each of its marks; a diary tells what happened between them.
_WORDS_PER_MARK = 10
#: Characters of a line that show its shape.
_LINE_CHARS = 160
#: Characters that are no text: controls, and U+FFFD for what could not be read.
_BINARY_SHARE = 0.05

_FENCE = re.compile(r"^ *(```|~~~)[^\n]*\n.*?(?:^ *\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"(?:^|\s)(?:#|//|--|/\*|<!--)\s+(.*\?.*)$")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_CODE_MARK = re.compile(r"[{}()\[\]<>=;|\\$&*_/^%@`]")
_BINARY = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_CODE = re.compile(
    r"""
    ^\s*(?:def|class|async\sdef|function|fn|func|public|private|static|const|let|var|import|from\s\S+\simport|return|elif|else:|try:|except|finally
        |while\s?\(|for\s?\(|for\s\w+\sin\s.*:|if\s?\(.*\)|if\s.*:$|switch|using|package|\#include|struct|enum|interface|print|echo|export|alias|select\s.*\sfrom
        |insert\sinto|update\s\w+\sset|create\stable|delete\sfrom|drop\stable|alter\stable|with\sopen|@\w+)\b.*[(){};:=*$]
    | ^\s*(?:select\b.*\bfrom|insert\sinto|create\stable|delete\sfrom|alter\stable|\#!\s?/|\#include|<\?xml|<!doctype)\b
    | ^\s*(?:[$>%\#]\s+)?(?:sudo\s+)?(?:git|npm|npx|yarn|pnpm|docker|docker-compose|kubectl|pip|pip3|uv|python3?|node
        |cargo|go|make|curl|wget|ssh|scp|rsync|cd|ls|rm|cp|mv|mkdir|cat|grep
        |sed|awk|apt|apt-get|brew|systemctl|journalctl|chmod|chown|tar|ffmpeg|restic|borg|export|echo|tail|head|find|ps|kill)\s(?:\S+\s+)*?(?:-{1,2}\w|["'./~$]|\S+[./=@:]\S)
    | ^\s*<[/!]?[a-z][^>]*>.*(?:>|$) | ^\s*(?:[{}\[\]();,]+|["'][^"']+["']\s*:.*|["'][^"']*["'],?)\s*$ | ^\s*[\[{].*[\]}][,;]?\s*$
    | ^[-dlbcps][-rwxst]{9}[.+@]?\s | ^total\s\d+$ | ^\s*\[[\w.\s:"-]+\]\s*$ | ^[\w.-]+\s*=\s*\S.*$
    | [;{]\s*$ | =>|->\s|\w+\(\S*\)\s*[;{]|&&|\|\||:=|!=|==|\+=|::\w
    | ^(?:diff\s--git|index\s[0-9a-f]{6,}|@@\s|\+\+\+\s|---\s[ab/]) | ^[0-9a-f]{7,40}\s
    """,
    re.VERBOSE,
)
_OUTPUT = re.compile(
    r"""
    ^\s*(?:traceback\b|file\s"|at\s[\w$.<>]+\(|caused\sby:|exception\sin|during\shandling|npm\s(?:err|warn)|fatal:|panic:|goroutine\s\d|segmentation\sfault|stack\strace
        |(?:\[?\d{4}-\d\d-\d\d[t\s]\d\d:\d\d(?::\d\d)?[^\s]*\]?\s*)?\[?(?:error|warn|warning|info|debug|trace|critical|notice)\b[\]:\s(])
    | ^\s*[\w.]*(?:error|exception|warning)\b(?::|\s\d|\s\() | ^\w{3}\s+\d+\s\d\d:\d\d:\d\d\s
    | ^\d{1,3}(?:\.\d{1,3}){3}\s | ^\s*\^+\s*$ | errno\b|exit\scode\s\d
    """,
    re.VERBOSE,
)
_TABLE = re.compile(r"^\s*\|.*\|\s*$|\S \| .* \| \S|^\s*[-+|=:\s]{5,}$|\t[^\t]+\t|^[^,\n]*(?:,[^,\s][^,\n]*){3,}$")
_KEYED = re.compile(r"^\s*(?:- )?[\w.\"'-]+\s?:(?:\s+\S.*)?$|^\s*- [\"'][^\"']*[\"']$|^\s*- [\w./-]+:[\w./-]+$")
_ADDRESS = re.compile(r"(?:https?|ftp|file|obsidian)://[^\s<>()\u3000-\u9fff]+|\bwww\.[^\s\u3000-\u9fff]+")

_TICK = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[[ x/-]\]\s")
_MARKS = re.compile(r"^(?:\s*(?:#{1,6}\s+|>+\s?|[-*+]\s+|\d{1,2}[.)]\s+))+")
_INLINE = re.compile(r"\*\*|__|~~|==|`|\*(?=\S)|(?<=\S)\*|%%")
_LINK = re.compile(r"!?\[\[(?:[^\]|\n]*\|)?([^\]\n]*)\]\]|!?\[([^\]\n]*)\]\([^)\n]*\)")
_TIME = re.compile(
    r"(?<!\d)[0-2]?\d:[0-5]\d(?!\d)|(?<![\d.])\d{1,2}(?:am|pm)\b|[零一二三四五六七八九十\d]{1,3}点(?:半|\d+分?|一刻)?(?!\w?钱|儿|子|到)"
)
_AMOUNT = re.compile(
    r"\d+(?:\.\d+)?\s?(?:km|kg|公里|公斤|斤|小时|分钟|杯|步|页|字|元|块|组|次|ml|l\b|min|mins|minutes|hours?|h\d*\b|kcal|大卡|卡|bpm|lbs?|steps|pages|miles?|reps|sets|cups?)"
    r"|\d+x\d+|\d+/\d+|(?:^|[,、;\s])[\u4e00-\u9fff]{1,4}\s?\d+(?:\.\d+)?(?=$|[,、;\s。])"
)
_DATED = re.compile(
    r"^\s*(?:\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}[/.月]\d{1,2}日?|(?:mon|tue|wed|thu|fri|sat|sun)\w*:|周[一二三四五六日天]:)\s*\S"
)
_MEAL = re.compile(r"(?:早餐|早饭|午餐|午饭|晚餐|晚饭|加餐|宵夜|breakfast|lunch|dinner|supper|snack)[^,。;\n]{0,16}")


@dataclass(frozen=True, slots=True)
class Prose:
    """``lines`` are the person's sentences, without Markdown marks; ``pasted`` and ``logged`` the lines that are none."""

    lines: tuple[str, ...]
    pasted: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()


def is_binary(text: str) -> bool:
    """Whether so many characters are no text that nobody wrote this."""
    return len(_BINARY.findall(text)) > _BINARY_SHARE * len(text)


def prose_of(folded: str) -> Prose:
    """The folded text sorted by the shape of its lines. Every line keeps its place among those of its kind."""
    pasted = tuple(match.group(0) for match in _FENCE.finditer(folded))
    lines = [line for line in _FENCE.sub("\n", folded).split("\n") if line.strip()]
    keyed = sum(map(_is_keyed, lines)) >= _KEYED_LINES
    kept: list[str] = []
    logged: list[str] = []
    for line in lines:
        bare = _ADDRESS.sub(" ", line)
        if is_pasted(bare) or (keyed and _is_keyed(line)):
            pasted += (line.strip(),)
            kept += _COMMENT.findall(line)
        elif is_logged(bare):
            logged.append(line.strip())
        elif plain := _without_marks(bare):
            kept.append(plain)
        else:
            pasted += (line.strip(),)
    return Prose(tuple(kept), pasted, tuple(logged))


def is_pasted(line: str) -> bool:
    """Whether the line looks copied out of a program, a terminal or a table rather than written."""
    line = line[:_LINE_CHARS]
    if not (text := _plain_code(line)) or _is_chinese(text):
        return False
    if _TABLE.search(line) or _CODE.search(text) or _OUTPUT.search(text):
        return not _asks_in_words(text)
    return len(_CODE_MARK.findall(text)) > _CODE_SHARE * len(text) and not _asks_in_words(text)


def is_logged(line: str) -> bool:
    """Whether the line records rather than tells: a ticked item, a row of times, amounts or meals. A question is no record."""
    if _TICK.match(line):
        return True
    if line.rstrip().endswith("?") or len(line) > _LINE_CHARS:
        return False
    marks = len(_TIME.findall(line)) + len(_AMOUNT.findall(line)) + (1 if _DATED.match(line) else 0)
    words = len(_CHINESE.findall(line)) + len(re.findall(r"[a-z]{2,}", line))
    return any(count >= _LOG_MARKS and words <= _WORDS_PER_MARK * count for count in (marks, len(_MEAL.findall(line))))


def _plain_code(line: str) -> str:
    """Without what Markdown adds, so that marks of emphasis and links do not count as code."""
    return _INLINE.sub("", _LINK.sub(r"\1\2", _MARKS.sub("", line))).strip()


def _without_marks(line: str) -> str:
    return re.sub(r"\s+", " ", _plain_code(line)).strip()


def _is_chinese(text: str) -> bool:
    return len(_CHINESE.findall(text)) >= _CHINESE_SHARE * len(re.sub(r"\s", "", text))


def _is_keyed(line: str) -> bool:
    return bool(_KEYED.match(line)) and not _is_chinese(line) and not line.rstrip().endswith("?")


def _asks_in_words(text: str) -> bool:
    """A line of code that ends in a question mark and has a question's words is a question that holds some code."""
    return text.endswith("?") and len(re.findall(r"\b[a-z]{2,}\b", text)) >= 5 and not re.search(r"[{};]", text)
