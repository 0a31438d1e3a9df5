"""Daily notes: found where the vault's settings say, and linked from without disturbing a byte of theirs."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaultbrain.vault.daily import (
    DailyLink,
    DailyRefused,
    DailySettings,
    daily_path,
    find_daily_path,
    link_from_daily,
    new_daily,
    read_daily_settings,
    with_link,
)
from vaultbrain.vault.moment import UnsupportedToken, format_day, format_time
from vaultbrain.vault.vault import Vault

if TYPE_CHECKING:
    from pathlib import Path

DAY = date(2026, 11, 30)
NOW = datetime(2026, 11, 30, 15, 4, 5, tzinfo=timezone(timedelta(hours=8)))
LINK = "[[CFlow/Answers/2026-11-30 观影|观影有什么？]]"


def vault_with(root: Path, files: dict[str, Any]) -> Vault:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (root / path).write_bytes(text.encode())
    return Vault(root)


def files_in(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".obsidian" not in path.parts
    }


#: As moment 2.30.1 writes them: format, then English, mainland and Taiwan Chinese.
FORMATS = [
    ("YYYY-MM-DD", "2026-11-30", "2026-11-30", "2026-11-30"),
    ("YYYY/MM-MMMM/DD-dddd", "2026/11-November/30-Monday", "2026/11-十一月/30-星期一", "2026/11-十一月/30-星期一"),
    ("gggg-[W]ww", "2026-W49", "2026-W49", "2026-W49"),
    ("gg ww w wo gggg ggggg e", "26 49 49 49th 2026 02026 1", "26 49 49 49周 2026 02026 0", "26 49 49 49週 2026 02026 1"),
    ("GG W Wo WW GGGGG E", "26 49 49th 49 02026 1", "26 49 49周 49 02026 1", "26 49 49週 49 02026 1"),
    ("M Mo MM MMM MMMM", "11 11th 11 Nov November", "11 11月 11 11月 十一月", "11 11月 11 11月 十一月"),
    ("Q Qo D Do DD", "4 4th 30 30th 30", "4 4 30 30日 30", "4 4 30 30日 30"),
    ("DDD DDDo DDDD", "334 334th 334", "334 334日 334", "334 334日 334"),
    ("d do dd ddd dddd", "1 1st Mo Mon Monday", "1 1日 一 周一 星期一", "1 1日 一 週一 星期一"),
    ("YY YYYYY YYYYYY Y y yy yyy yyyy", *(["26 02026 +002026 2026 2026 2026 2026 2026"] * 3)),
    ("L LL", "11/30/2026 November 30, 2026", "2026/11/30 2026年11月30日", "2026/11/30 2026年11月30日"),
    ("l ll", "11/30/2026 Nov 30, 2026", "2026/11/30 2026年11月30日", "2026/11/30 2026年11月30日"),
    ("[Day] D [of] MMMM", "Day 30 of November", "Day 30 of 十一月", "Day 30 of 十一月"),
    ("MMMMM YYY dddddd", "November11 262026 MondayMo", "十一月11 262026 星期一一", "十一月11 262026 星期一一"),
    ("YYYY年M月D日 周d", *(["2026年11月30日 周1"] * 3)),
]  # fmt: skip


@pytest.mark.parametrize("row", FORMATS, ids=[row[0] for row in FORMATS])
def test_formats_are_written_as_moment_writes_them(row: tuple[str, ...]) -> None:
    """Tokens, escapes and names of months, days and weeks, in each language."""
    assert tuple(format_day(row[0], DAY, locale) for locale in ("en", "zh-cn", "zh-tw")) == row[1:]


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("[x]D]", "x]D"),
        ("\\D", "D"),
        ("\\[D]", "[30]"),
        ("\\\\D", "30"),
        ("[[]]", "[]"),
        ("[]", ""),
        ("[D", "[30"),
        ("D]", "30]"),
    ],
)
def test_brackets_and_backslashes_escape_as_in_moment(form: str, written: str) -> None:
    """Odd ones as well; one bracket pair may hold another's end."""
    assert format_day(form, DAY, "en") == written


@pytest.mark.parametrize(
    ("day", "english", "mainland", "iso"),
    [
        ("2026-12-27", "2027-01", "2026-52", "2026-52"),
        ("2027-01-01", "2027-01", "2026-53", "2026-53"),
        ("2024-12-29", "2025-01", "2024-52", "2024-52"),
        ("2021-01-03", "2021-02", "2020-53", "2020-53"),
        ("2026-02-01", "2026-06", "2026-05", "2026-05"),
    ],
)
def test_weeks_at_the_turn_of_the_year(day: str, english: str, mainland: str, iso: str) -> None:
    """English weeks begin on Sunday and hold 1 January; mainland Chinese ones are ISO's."""
    when = date.fromisoformat(day)
    assert format_day("gggg-ww", when, "en") == format_day("gggg-ww", when, "zh-tw") == english
    assert format_day("gggg-ww", when, "zh-cn") == mainland
    assert format_day("GGGG-WW", when, "en") == iso


@settings(deadline=None)
@given(st.dates())
def test_mainland_weeks_are_iso_weeks(day: date) -> None:
    """From the year 1 to 9999, but for the two weeks that lie partly outside."""
    if (day.year, day.month) not in ((1, 1), (9999, 12)):
        assert format_day("gggg-[W]ww-e", day, "zh-cn") == format_day("GGGG-[W]WW-", day, "zh-cn") + str(day.weekday())


@pytest.mark.parametrize(
    ("time", "form", "english", "mainland"),
    [
        ("00:05:09", "h:mm A | HH:mm:ss | k | Hmm", "12:05 AM | 00:05:09 | 24 | 005", "12:05 凌晨 | 00:05:09 | 24 | 005"),
        ("07:30:00", "hh a", "07 am", "07 早上"),
        ("12:10:00", "LT", "12:10 PM", "12:10"),
        ("15:04:05", "LLL", "November 30, 2026 3:04 PM", "2026年11月30日下午3点04分"),
        ("23:59:59", "LTS [at] hmmss", "11:59:59 PM at 115959", "23:59:59 at 115959"),
    ],
)
def test_times_are_written_as_moment_writes_them(time: str, form: str, english: str, mainland: str) -> None:
    """For the placeholders of templates."""
    when = datetime.fromisoformat(f"2026-11-30T{time}")
    assert (format_time(form, when, "en"), format_time(form, when, "zh-cn")) == (english, mainland)


@pytest.mark.parametrize(
    ("form", "token"), [("YYYY x", "x"), ("X", "X"), ("ZZ", "ZZ"), ("NNN", "NNN"), ("SSS", "SSS"), ("yo", "yo")]
)
def test_what_cannot_be_written_is_named(form: str, token: str) -> None:
    """Rather than written otherwise than Obsidian would."""
    with pytest.raises(UnsupportedToken) as caught:
        format_time(form, NOW, "en")
    assert caught.value.token == token


@pytest.mark.parametrize(
    ("found", "path"),
    [
        (DailySettings(), "2026-11-30.md"),
        (DailySettings("日记", "YYYY/MM/YYYY-MM-DD"), "日记/2026/11/2026-11-30.md"),
        (DailySettings("/a\\b/", "[Daily] Do"), "a/b/Daily 30th.md"),
        (DailySettings("", "YYYY-MM-DD.[md]"), "2026-11-30.md"),
    ],
)
def test_the_path_joins_folder_and_format(found: DailySettings, path: str) -> None:
    """Slashes in the format make folders; slashes around the folder and backslashes in it are as good as none."""
    assert daily_path(found, DAY) == path


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (DailySettings(format="YYYY-MM-DD HH"), "HH, which is a time of day"),
        (DailySettings(format="YYYY-MM-DD daily"), "a, which is a time of day"),
        (DailySettings(format="[D]-X"), "X, which is not supported"),
        (DailySettings("../..", "YYYY"), "no place"),
        (DailySettings(".trash", "YYYY"), "no place"),
        (DailySettings("", "YYYY/[..]/MM"), "no place"),
        (DailySettings("", "[a:b]"), "no place"),
        (DailySettings("x", "[]"), "no place"),
    ],
)
def test_a_place_that_would_be_a_guess_is_refused(found: DailySettings, why: str) -> None:
    """Times of day, unknown tokens, places outside the vault or hidden in it, names that Obsidian refuses."""
    with pytest.raises(DailyRefused, match=why):
        daily_path(found, DAY)


PERIODIC = ".obsidian/plugins/periodic-notes/data.json"
CORE = {".obsidian/daily-notes.json": {"folder": "日记", "format": "", "template": " t "}}
ON = {".obsidian/community-plugins.json": ["periodic-notes"]}
OLD = {"daily": {"enabled": True, "folder": "old", "format": "DD", "template": "t"}}
NEW = {
    "activeCalendarSet": "Work",
    "calendarSets": [
        {"id": "Default", "day": {"enabled": True, "folder": "home"}},
        {"id": "Work", "day": {"enabled": True, "folder": "work", "format": "DD", "templatePath": "t"}},
    ],
}


@pytest.mark.parametrize(
    ("files", "folder", "form", "template"),
    [
        ({}, "", "YYYY-MM-DD", ""),
        (CORE, "日记", "YYYY-MM-DD", "t"),
        (CORE | {".obsidian/core-plugins.json": {"daily-notes": False}}, "日记", "YYYY-MM-DD", "t"),
        (CORE | {PERIODIC: OLD}, "日记", "YYYY-MM-DD", "t"),
        (CORE | {PERIODIC: OLD} | ON, "old", "DD", "t"),
        (CORE | {PERIODIC: {"daily": {"enabled": False, "folder": "old"}}} | ON, "日记", "YYYY-MM-DD", "t"),
        (CORE | {PERIODIC: NEW} | ON, "work", "DD", "t"),
        (CORE | ON, "日记", "YYYY-MM-DD", "t"),
        ({".obsidian/core-plugins.json": ["daily-notes"]}, "", "YYYY-MM-DD", ""),
        ({".obsidian/daily-notes.json": "\ufeff{}"}, "", "YYYY-MM-DD", ""),
        ({".obsidian/daily-notes.json": {"folder": 7, "format": None}}, "", "YYYY-MM-DD", ""),
    ],
)
def test_the_vaults_own_settings_hold(tmp_path: Path, files: dict[str, Any], folder: str, form: str, template: str) -> None:
    """Those of Periodic Notes, old or new, when it is on and makes daily notes; else the core plugin's; else the defaults."""
    found = read_daily_settings(vault_with(tmp_path, files).read)
    assert (found.folder, found.format, found.template) == (folder, form, template)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({".obsidian/core-plugins.json": {"daily-notes": False}}, "switched off"),
        ({".obsidian/core-plugins.json": ["canvas"]}, "switched off"),
        ({".obsidian/daily-notes.json": "{"}, "daily-notes.json is no JSON"),
        ({PERIODIC: "x"} | ON, "data.json is no JSON"),
    ],
)
def test_without_daily_notes_nothing_is_made(tmp_path: Path, files: dict[str, Any], why: str) -> None:
    """The reason is told in words."""
    vault = vault_with(tmp_path, files)
    found = link_from_daily(vault, LINK, NOW)
    assert found.did == "refused"
    assert why in found.reason
    assert files_in(tmp_path) == {}


def test_the_language_of_names_is_read_off_older_notes(tmp_path: Path) -> None:
    """The app's language is not in the vault; without an older note ours is taken, and today's note wins over all."""
    found = DailySettings("", "MMMM D")
    assert find_daily_path(set[str]().__contains__, found, DAY, "zh-Hans") == "十一月 30.md"
    assert find_daily_path({"November 3.md"}.__contains__, found, DAY, "zh-Hans") == "November 30.md"
    assert find_daily_path({"November 3.md", "十一月 30.md"}.__contains__, found, DAY, "en") == "十一月 30.md"
    vault = vault_with(tmp_path, {".obsidian/daily-notes.json": {"format": "MMMM D"}, "November 29.md": ""})
    assert link_from_daily(vault, LINK, NOW, language="zh-Hans").path == "November 30.md"


def test_a_note_that_is_there_gets_one_line_once(tmp_path: Path) -> None:
    """All of its bytes stay, its line ends as well; the second time nothing is written."""
    vault = vault_with(tmp_path, CORE | {"日记/2026-11-30.md": "早上\r\n下雨"})
    assert link_from_daily(vault, LINK, NOW) == DailyLink("linked", "日记/2026-11-30.md")
    assert files_in(tmp_path) == {"日记/2026-11-30.md": f"早上\r\n下雨\r\n- {LINK}\r\n"}
    before = vault.mark("日记/2026-11-30.md")
    assert link_from_daily(vault, LINK, NOW).did == "already"
    assert vault.mark("日记/2026-11-30.md") == before


def test_a_new_note_is_made_from_the_vaults_template(tmp_path: Path) -> None:
    """With its date, time and title as the core plugin would fill them in."""
    template = "# {{title}}\n{{date}} {{ time }} {{date:dddd, MMMM Do}} {{TIME:h A}} {{other}} {{yesterday}}\n"
    files = {".obsidian/daily-notes.json": {"folder": "d", "format": "YY/MM-DD", "template": "T/day"}, "T/day.md": template}
    assert link_from_daily(vault_with(tmp_path, files), LINK, NOW) == DailyLink("created", "d/26/11-30.md")
    expected = f"# 11-30\n2026-11-30 15:04 Monday, November 30th 3 PM {{{{other}}}} {{{{yesterday}}}}\n- {LINK}\n"
    assert files_in(tmp_path)["d/26/11-30.md"] == expected


def test_without_a_template_the_new_note_is_the_link(tmp_path: Path) -> None:
    """In a vault that never changed a setting."""
    link_from_daily(vault_with(tmp_path, {}), LINK, NOW)
    assert files_in(tmp_path) == {"2026-11-30.md": f"- {LINK}\n"}


def test_periodic_notes_fills_in_its_own_way() -> None:
    """Dates in the format of the name, and the days around."""
    assert new_daily("{{date}} {{yesterday}} {{tomorrow:D}} {{date:Do}}", "t", NOW, "en", "MM.DD") == "11.30 11.29 1 30th"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("# <% tp.date.now() %>", "Templater"),
        ("{{date+1d:YYYY}}", "date\\+1d"),
        ("{{date:YYYY X}}", "token X"),
        (None, "t.md is missing|t from"),
    ],
)
def test_a_template_that_we_cannot_fill_in_makes_no_note(tmp_path: Path, template: str | None, why: str) -> None:
    """Obsidian would never run it over a note that is there already."""
    files = CORE | ({"t.md": template} if template else {})
    found = link_from_daily(vault_with(tmp_path, files), LINK, NOW)
    assert found.did == "refused"
    assert re.search(why, found.reason)
    assert "日记/2026-11-30.md" not in files_in(tmp_path)


def test_a_note_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    """Another encoding, or a folder of that name."""
    vault = vault_with(tmp_path, {})
    (tmp_path / "2026-11-30.md").write_bytes("雨".encode("gbk"))
    assert "UTF-8" in link_from_daily(vault, LINK, NOW).reason
    assert (tmp_path / "2026-11-30.md").read_bytes() == "雨".encode("gbk")


@pytest.mark.parametrize(
    "standing",
    [
        "- [[CFlow/Answers/2026-11-30 观影|other words]]",
        "see [[cflow/answers/2026-11-30 观影.md#^x]].",
        "[[2026-11-30 观影]]",
        "![[2026-11-30 观影#结论|x]]",
        "[x](CFlow/Answers/2026-11-30%20%E8%A7%82%E5%BD%B1.md)",
        "[x](<CFlow/Answers/2026-11-30 观影.md>)",
    ],
)
def test_any_link_to_the_answer_counts(standing: str) -> None:
    """However the person or Obsidian writes it."""
    assert with_link(f"a\n{standing}\nb", LINK) is None


@pytest.mark.parametrize(
    "standing", ["2026-11-30 观影", "[[2026-11-30 观影 2]]", "[[CFlow/Answers]]", "[x](观影.md)", "- [ ] [[观影"]
)
def test_other_links_do_not_count(standing: str) -> None:
    """A like name is another note."""
    assert with_link(standing, LINK) == f"{standing}\n- {LINK}\n"


def test_a_markdown_link_is_known_again() -> None:
    """For answers whose path cannot stand in a wikilink."""
    link = "[q](CFlow/Answers/a%5Bb%5D.md)"
    assert with_link(f"- {link}\n", link) is None
    assert with_link("", link) == f"- {link}\n"


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab #-\n\r[]|`%\ufeff观"), max_size=60))
@example("---\na: 1\n---")
@example("\ufeff")
@example("")
def test_whatever_the_note_holds_it_stays_and_the_link_stands_on_a_line_of_its_own(text: str) -> None:
    """And one link is enough."""
    linked = with_link(text, LINK)
    assert linked is not None
    assert linked.startswith(text)
    assert linked.removeprefix(text).strip("\r\n") == f"- {LINK}"
    assert linked.removeprefix("\ufeff").splitlines()[-1] == f"- {LINK}"
    assert linked.endswith("\r\n") == text.partition("\n")[0].endswith("\r")
    assert with_link(linked, LINK) is None
