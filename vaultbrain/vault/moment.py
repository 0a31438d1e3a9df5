"""Dates as moment.js writes them, which is how Obsidian names its daily notes: tokens, escapes, English and Chinese names.

Pure. Decides nothing; the facts are those of moment 2.30 and its locales ``en``, ``zh-cn`` and ``zh-tw``. Refuses by
``UnsupportedToken`` what it cannot write: eras, fractions of a second, zones and Unix times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime


class UnsupportedToken(Exception):
    """``token`` as it stands in the format; ``is_time`` when it would be understood where there is a time of day."""

    def __init__(self, token: str, *, is_time: bool = False) -> None:
        super().__init__(token)
        self.token = token
        self.is_time = is_time


@dataclass(frozen=True, slots=True)
class Locale:
    """Weekdays begin with Sunday. ``first_day`` of the week is 0 for it; a year's first week holds 1 January + ``in_week``."""

    months: tuple[str, ...]
    months_short: tuple[str, ...]
    weekdays: tuple[str, ...]
    weekdays_short: tuple[str, ...]
    weekdays_min: tuple[str, ...]
    first_day: int
    in_week: int
    long_forms: Mapping[str, str]
    ordinal: Callable[[int, str], str]
    day_part: Callable[[int, int], str]


def _english_ordinal(number: int, _unit: str) -> str:
    ending = "th" if number % 100 // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _chinese_ordinal(week: str, number: int, unit: str) -> str:
    return f"{number}{ {'D': '日', 'M': '月', 'W': week}.get(unit, '') }"


def _chinese_day_part(hour: int, minute: int) -> str:
    ends = ((600, "凌晨"), (900, "早上"), (1130, "上午"), (1230, "中午"), (1800, "下午"), (2400, "晚上"))
    return next(word for end, word in ends if hour * 100 + minute < end)


_ENGLISH_FORMS = {
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "L": "MM/DD/YYYY",
    "LL": "MMMM D, YYYY",
    "LLL": "MMMM D, YYYY h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "l": "M/D/YYYY",
    "ll": "MMM D, YYYY",
    "lll": "MMM D, YYYY h:mm A",
    "llll": "ddd, MMM D, YYYY h:mm A",
}
_CHINESE_FORMS = {
    "LTS": "HH:mm:ss",
    "LT": "HH:mm",
    "L": "YYYY/MM/DD",
    "LL": "YYYY年M月D日",
    "LLL": "YYYY年M月D日 HH:mm",
    "LLLL": "YYYY年M月D日dddd HH:mm",
    "l": "YYYY/M/D",
    "ll": "YYYY年M月D日",
    "lll": "YYYY年M月D日 HH:mm",
    "llll": "YYYY年M月D日dddd HH:mm",
}
_MAINLAND_FORMS = _CHINESE_FORMS | {"LLL": "YYYY年M月D日Ah点mm分", "LLLL": "YYYY年M月D日ddddAh点mm分"}

_CHINESE_MONTHS = tuple(f"{number}月" for number in "一 二 三 四 五 六 七 八 九 十 十一 十二".split())
_CHINESE_MONTHS_SHORT = tuple(f"{number}月" for number in range(1, 13))
_CHINESE_DAYS = tuple("日一二三四五六")
_ENGLISH_MONTHS = tuple("January February March April May June July August September October November December".split())
_ENGLISH_DAYS = tuple("Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split())

LOCALES: Final[dict[str, Locale]] = {
    "en": Locale(
        months=_ENGLISH_MONTHS,
        months_short=tuple(name[:3] for name in _ENGLISH_MONTHS),
        weekdays=_ENGLISH_DAYS,
        weekdays_short=tuple(name[:3] for name in _ENGLISH_DAYS),
        weekdays_min=tuple(name[:2] for name in _ENGLISH_DAYS),
        first_day=0,
        in_week=0,
        long_forms=_ENGLISH_FORMS,
        ordinal=_english_ordinal,
        day_part=lambda hour, _minute: "PM" if hour > 11 else "AM",
    ),
    "zh-cn": Locale(
        months=_CHINESE_MONTHS,
        months_short=_CHINESE_MONTHS_SHORT,
        weekdays=tuple(f"星期{day}" for day in _CHINESE_DAYS),
        weekdays_short=tuple(f"周{day}" for day in _CHINESE_DAYS),
        weekdays_min=_CHINESE_DAYS,
        first_day=1,
        in_week=3,
        long_forms=_MAINLAND_FORMS,
        ordinal=partial(_chinese_ordinal, "周"),
        day_part=_chinese_day_part,
    ),
    "zh-tw": Locale(
        months=_CHINESE_MONTHS,
        months_short=_CHINESE_MONTHS_SHORT,
        weekdays=tuple(f"星期{day}" for day in _CHINESE_DAYS),
        weekdays_short=tuple(f"週{day}" for day in _CHINESE_DAYS),
        weekdays_min=_CHINESE_DAYS,
        first_day=0,
        in_week=0,
        long_forms=_CHINESE_FORMS,
        ordinal=partial(_chinese_ordinal, "週"),
        day_part=_chinese_day_part,
    ),
}

_BRACKETS = r"\[[^\[]*\]"
_LONG_FORM = re.compile(rf"{_BRACKETS}|\\?(?:LTS|LT|L{{1,4}}|l{{1,4}})")
_TOKEN = re.compile(
    rf"{_BRACKETS}|\\?(?:[Hh]mm(?:ss)?|Mo|M{{1,4}}|DDDo|Do|D{{1,4}}|d{{2,4}}|do?|[wW]o|w{{1,2}}|W{{1,2}}|Qo?|N{{1,5}}"
    r"|Y{4,6}|Y{1,2}|yo|y{1,4}|ggggg?|gg|GGGGG?|GG|[eEaAxX]|hh?|HH?|kk?|mm?|ss?|S{1,9}|zz?|ZZ?|.)",
    re.DOTALL,
)
_UNSUPPORTED = frozenset(
    {"yo", "x", "X", "z", "zz", "Z", "ZZ", *("N" * n for n in range(1, 6)), *("S" * n for n in range(1, 10))}
)


def format_day(form: str, day: date, locale: str) -> str:
    """``day`` in the moment format ``form``. Raises ``UnsupportedToken``, also for tokens of a time of day."""
    return _format(form, day, LOCALES[locale], {})


def format_time(form: str, when: datetime, locale: str) -> str:
    """``when`` in the moment format ``form``, to the second. Raises ``UnsupportedToken``."""
    return _format(form, when.date(), LOCALES[locale], _time_tokens(when, LOCALES[locale]))


def _format(form: str, day: date, locale: Locale, time_tokens: Mapping[str, str]) -> str:
    form = _LONG_FORM.sub(lambda m: locale.long_forms.get(m[0], m[0]), form)
    tokens = _day_tokens(day, locale) | dict(time_tokens)
    return "".join(_written(m[0], tokens) for m in _TOKEN.finditer(form))


def _written(piece: str, tokens: Mapping[str, str]) -> str:
    if piece in tokens:
        return tokens[piece]
    if piece in _UNSUPPORTED:
        raise UnsupportedToken(piece)
    if piece in _TIME_TOKENS:
        raise UnsupportedToken(piece, is_time=True)
    if piece.startswith("[") and len(piece) > 1:
        return piece[1:-1] if piece.endswith("]") else piece[1:]
    return piece.replace("\\", "")


def _day_tokens(day: date, locale: Locale) -> dict[str, str]:
    of_week, of_year = day.isoweekday() % 7, day.timetuple().tm_yday
    quarter = (day.month + 2) // 3
    return {
        "M": str(day.month), "Mo": locale.ordinal(day.month, "M"), "MM": f"{day.month:02}",
        "MMM": locale.months_short[day.month - 1], "MMMM": locale.months[day.month - 1],
        "Q": str(quarter), "Qo": locale.ordinal(quarter, "Q"),
        "D": str(day.day), "Do": locale.ordinal(day.day, "D"), "DD": f"{day.day:02}",
        "DDD": str(of_year), "DDDo": locale.ordinal(of_year, "D"), "DDDD": f"{of_year:03}",
        "d": str(of_week), "do": locale.ordinal(of_week, "D"), "dd": locale.weekdays_min[of_week],
        "ddd": locale.weekdays_short[of_week], "dddd": locale.weekdays[of_week],
        "e": str((of_week - locale.first_day) % 7), "E": str(day.isoweekday()),
        "Y": f"{day.year:04}", "YY": f"{day.year % 100:02}", "YYYY": f"{day.year:04}", "YYYYY": f"{day.year:05}",
        "YYYYYY": f"+{day.year:06}",
        "y": str(day.year), "yy": f"{day.year:02}", "yyy": f"{day.year:03}", "yyyy": f"{day.year:04}",
    } | _week_tokens(day, locale)  # fmt: skip


def _week_tokens(day: date, locale: Locale) -> dict[str, str]:
    year, week = _week_of(day, locale.first_day, locale.in_week)
    iso_year, iso_week, _ = day.isocalendar()
    return {
        "w": str(week), "wo": locale.ordinal(week, "W"), "ww": f"{week:02}",
        "gg": f"{year % 100:02}", "gggg": f"{year:04}", "ggggg": f"{year:05}",
        "W": str(iso_week), "Wo": locale.ordinal(iso_week, "W"), "WW": f"{iso_week:02}",
        "GG": f"{iso_year % 100:02}", "GGGG": f"{iso_year:04}", "GGGGG": f"{iso_year:05}",
    }  # fmt: skip


def _week_of(day: date, first_day: int, in_week: int) -> tuple[int, int]:
    """The week's year and number. Years 1 and 9999 reach beyond what a date can be; there the year is the calendar's."""
    for year in (day.year + 1, day.year, day.year - 1):
        if date.min.year < year <= date.max.year:
            inside = date(year, 1, 1 + in_week)
            start = inside - timedelta(days=(inside.isoweekday() - first_day) % 7)
            if start <= day:
                return year, (day - start).days // 7 + 1
    return day.year, 1


def _time_tokens(when: datetime, locale: Locale) -> dict[str, str]:
    hour, minute, second = when.hour, when.minute, when.second
    of_twelve, of_24, part = hour % 12 or 12, hour or 24, locale.day_part(hour, minute)
    return {
        "H": str(hour), "HH": f"{hour:02}", "h": str(of_twelve), "hh": f"{of_twelve:02}", "k": str(of_24), "kk": f"{of_24:02}",
        "m": str(minute), "mm": f"{minute:02}", "s": str(second), "ss": f"{second:02}", "A": part, "a": part.lower(),
        "Hmm": f"{hour}{minute:02}", "Hmmss": f"{hour}{minute:02}{second:02}",
        "hmm": f"{of_twelve}{minute:02}", "hmmss": f"{of_twelve}{minute:02}{second:02}",
    }  # fmt: skip


_TIME_TOKENS = frozenset("H HH h hh k kk m mm s ss A a Hmm Hmmss hmm hmmss".split())
