"""Numbers in a text, of digits and of words, with what they count. Pure; works on folded text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vaultbrain.index.tokens import is_cjk

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHINESE_DIGITS = {digit: value for value, digits in enumerate("〇零 一 二两 三 四 五 六 七 八 九".split()) for digit in digits}
_CHINESE_POWERS = {"十": 10, "百": 100, "千": 1_000}
_CHINESE_LARGE = {"万": 10_000, "亿": 100_000_000}
_LETTERS = re.compile("[a-z]+")
_NUMERAL = "".join([*_CHINESE_DIGITS, *_CHINESE_POWERS, *_CHINESE_LARGE])
_CHINESE_NUMBER = re.compile(rf"[{_NUMERAL}]+")
ENGLISH_NUMBERS = {
    word: value
    for value, words in enumerate(
        "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve dozen|thirteen|fourteen|fifteen|sixteen|seventeen"
        "|eighteen|nineteen|twenty".split("|")
    )
    for word in words.split()
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "thousand": 1_000}
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)*")
#: Units that a sentence may not exchange; the spellings of one on a line meet under the first. Folded.
_UNIT_SPELLINGS = """
元 块 块钱 rmb yuan
美元 usd dollar dollars
欧元 eur euro euros
日元 jpy yen
英镑 gbp pound pounds
港币 港元 hkd
台币 新台币 twd
公里 千米 km kilometer kilometers kilometre kilometres
英里 mile miles
米 m meter meters metre metres
厘米 cm
毫米 mm
千克 公斤 kg
克 g gram grams
斤
升 l liter liters litre litres
毫升 ml
秒 s sec second seconds
分钟 min mins minute minutes
小时 h hour hours
天 day days
周 星期 week weeks
个月 month months
月
日 号
年 year years
岁
人 people
次 times
% percent
度 °c degrees
gb
mb
tb
"""
_UNITS = {spelling: line.split()[0] for line in _UNIT_SPELLINGS.strip().split("\n") for spelling in line.split()}
_LONGEST_FIRST = sorted(_UNITS, key=lambda unit: (-len(unit), unit))
_CHINESE_UNIT = "|".join(filter(is_cjk, _LONGEST_FIRST))
_LATIN_UNIT = "|".join(unit for unit in _LONGEST_FIRST if not is_cjk(unit) and unit.isalpha())
_UNIT = re.compile(rf"\s*(?:(?P<chinese>{_CHINESE_UNIT})|(?P<latin>(?:{_LATIN_UNIT})(?![a-z])|%|°c))")
_OF_MEMOS = re.compile(r"\s*(?:[条则篇份](?:笔记|备忘|记录)?|memos?\b|notes?\b)")
_NUMERAL_BEFORE = re.compile(rf"(?:\d+|[a-z]+|[{_NUMERAL}]+)\Z")
#: What makes a Chinese numeral a number, and numerals that even then mostly are none: 一家, 千万, 百度.
_NO_NUMBERS = frozenset("一百千万亿") | {"千万"}
_MEASURE = re.compile(
    rf"[点个家部本条则篇位名只台张件种款类支双杯瓶间套架处座届倍折成万亿行勺页首集步遍盒袋包片颗根封轮章道盘碗层项]|{_CHINESE_UNIT}"
)


def _chinese_value(numeral: str) -> str:
    """``二十三`` → 23, ``二〇二四`` → 2024."""
    if not set(numeral) & (_CHINESE_POWERS.keys() | _CHINESE_LARGE.keys()):
        return without_leading_zeros("".join(str(_CHINESE_DIGITS[digit]) for digit in numeral))
    whole = part = digit = 0
    for character in numeral:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
        elif character in _CHINESE_POWERS:
            part += (digit or 1) * _CHINESE_POWERS[character]
            digit = 0
        else:
            whole += (part + digit or 1) * _CHINESE_LARGE[character]
            part = digit = 0
    return str(whole + part + digit)


def without_leading_zeros(number: str) -> str:
    """Of a whole number; any length, which ``int`` would refuse."""
    return (number.lstrip("0") or "0") if number.isdecimal() else number


def numbers_in(folded: str, *, claimed: bool) -> Iterator[tuple[str, str, int]]:
    """(number, unit or empty, where it ends) of digits and of words. Of a claim only words that surely count something."""
    for found in _NUMBER.finditer(folded):
        number = found[0].replace(",", "")
        yield without_leading_zeros(number), _unit_after(folded, found.end()), found.end()
    for found in _CHINESE_NUMBER.finditer(folded):
        if not claimed or (_MEASURE.match(folded, found.end()) and found[0] not in _NO_NUMBERS):
            yield _chinese_value(found[0]), _unit_after(folded, found.end()), found.end()
    for found in _LETTERS.finditer(folded):
        if found[0] in ENGLISH_NUMBERS and not (claimed and found[0] == "one"):
            yield str(ENGLISH_NUMBERS[found[0]]), _unit_after(folded, found.end()), found.end()


def without_count_of_memos(folded: str, count: int) -> str:
    """``folded`` without the words that say rightly how many memos there are."""
    for number, _, end in sorted(numbers_in(folded, claimed=True), key=lambda found: found[2], reverse=True):
        if number == str(count) and (found := _OF_MEMOS.match(folded, end)):
            start = _NUMERAL_BEFORE.search(folded, 0, end)
            folded = folded[: start.start() if start else end] + folded[found.end() :]
    return folded


def _unit_after(folded: str, end: int) -> str:
    found = _UNIT.match(folded, end)
    return _UNITS[found["chinese"] or found["latin"]] if found else ""
