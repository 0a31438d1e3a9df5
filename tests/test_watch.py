"""The watcher as it runs: a process of its own, real files, the system's events, a real server, the small bundled model."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import CFlowServer, answer_status, never_answer, wire_memo
from obsidian import hash_tree
from watching import command, environment, wait_until, watching

from vaultbrain.errors import WatcherRunning
from vaultbrain.watch.pulse import only_watcher, read_pulse

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Home

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the tests stop processes with signals")

OLD, NEW = "kingfisher", "heron"


@pytest.fixture
def home(server: CFlowServer, make_home: Callable[[str], Home]) -> Home:
    """Three memos, mirrored; the server is asked once a day, so that whatever happens sooner has another reason."""
    made = make_home(server.url)
    configure(made, embedding="use", poll_interval="24h")
    server.memos += [wire_memo(1, "sparrow on the sill"), wire_memo(2, f"{OLD} by the river."), wire_memo(3, "owl at night")]
    run(made, "sync")
    ask_folder(made)
    leave_alone(made)
    return made


def leave_alone(home: Home) -> None:
    """As if nobody had changed anything in the vault for an hour."""
    for path in home.vault.rglob("*.*"):
        if path.is_file():
            age(path)


def age(path: Path) -> None:
    """As if nobody had changed the file for an hour; one test waits the half minute after which we may write."""
    os.utime(path, (time.time() - 3_600, time.time() - 3_600))


def configure(home: Home, **settings: str) -> None:
    """Top-level settings, put above any table."""
    path = home.vault / "vaultbrain.toml"
    lines = [line for line in path.read_text("utf-8").split("\n") if line.partition(" ")[0] not in settings]
    path.write_text("\n".join([*(f'{name} = "{value}"' for name, value in settings.items()), *lines]), encoding="utf-8")


def run(home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(home.vault, *arguments), capture_output=True, text=True, env=environment(), check=False)


def found(home: Home, words: str) -> list[str]:
    """Ids of memos in which the words stand."""
    done = run(home, "search", words, "--channel", "keyword", "--json")
    return [hit["memo_id"] for hit in json.loads(done.stdout)["hits"]] if done.stdout else []


def manifest(home: Home) -> dict[str, dict[str, Any]]:
    with home.catalog() as catalog:
        return {entry["memo_id"]: entry for entry in catalog.manifest()}


def notes(home: Home) -> dict[str, Any]:
    with home.catalog() as catalog:
        return {memo_id: row.status for memo_id, row in catalog.note_rows().items()}


# ways of saving: case C36


def in_three_parts(note: Path, text: str) -> None:
    third = len(text) // 3
    with note.open("w", encoding="utf-8") as file:
        for part in (text[:third], text[third : 2 * third], text[2 * third :]):
            file.write(part)
            file.flush()
            time.sleep(0.3)


def by_a_hidden_file(note: Path, text: str) -> None:
    swap = note.with_name(f".{note.name}.swp-x")
    swap.write_text(text, encoding="utf-8")
    swap.replace(note)


def as_vim_does(note: Path, text: str) -> None:
    backup = note.with_name(f"{note.name}~")
    note.rename(backup)
    note.write_text(text, encoding="utf-8")
    backup.unlink()


def from_outside(note: Path, text: str) -> None:
    outside = note.parents[3] / "note.tmp"
    outside.write_text(text, encoding="utf-8")
    outside.replace(note)


def deleted_and_written_again(note: Path, text: str) -> None:
    note.unlink()
    time.sleep(0.5)
    note.write_text(text, encoding="utf-8")


def twenty_times(note: Path, text: str) -> None:
    for number in range(20):
        note.write_text(text.replace(NEW, f"{NEW} draft{number}") if number < 19 else text, encoding="utf-8")
        time.sleep(0.1)


@pytest.mark.parametrize(
    "save", [in_three_parts, by_a_hidden_file, as_vim_does, from_outside, deleted_and_written_again, twenty_times]
)
def test_whatever_way_a_note_is_saved_its_new_text_is_found(home: Home, save: Callable[[Path, str], None]) -> None:
    """The old text is not, nothing half-written or temporary is kept, and the memo keeps its place in the manifest."""
    note = home.note_of(2)
    text = note.read_text("utf-8").replace(f"{OLD} by", f"{NEW} by")
    before = manifest(home)
    with watching(home.vault) as watcher:
        save(note, text)
        wait_until(lambda: watcher.said("take-in") and found(home, NEW) == ["2"] and not found(home, f"{OLD} by"), "taken in")
        time.sleep(1.0)  # whatever comes late
        passes = watcher.said("take-in")
    assert found(home, NEW) == ["2"]
    assert (found(home, "draft3"), found(home, f"{OLD} by")) == ([], [])
    assert len(passes) <= 3
    after = manifest(home)
    assert {memo_id: entry["chunk_ids"] for memo_id, entry in after.items()} == {m: e["chunk_ids"] for m, e in before.items()}
    assert notes(home) == dict.fromkeys("123", "written")
    assert not [name for line in watcher.lines for name in ("swp-x", "~", ".tmp") if name in json.dumps(line)]
    assert note.read_text("utf-8") == text


def test_touching_notes_computes_nothing(home: Home) -> None:
    """Only the text counts, not the time of change."""
    with watching(home.vault) as watcher:
        for memo_id in (1, 2, 3):
            home.note_of(memo_id).touch()
        note = home.note_of(2)
        note.write_text(note.read_text("utf-8").replace(f"{OLD} by", f"{NEW} by"), encoding="utf-8")
        line = watcher.wait_for("take-in")
    assert line["embedded"] == 1
    assert "1 memo note" in line["text"]


# own writes: case C38


def test_an_idle_watcher_writes_nothing_and_asks_only_in_time(server: CFlowServer, home: Home) -> None:
    """Neither in the vault nor, but for empty files whose time moves, in its state; nor does it use the processor."""
    configure(home, poll_interval="5s")
    with watching(home.vault) as watcher:
        wait_until(lambda: read_pulse(home.state).last_poll, "first poll")
        time.sleep(2.0)
        vault, asked, used = hash_tree(home.vault), len(server.paths()), watcher.cpu_s()
        state = {path.name: path.read_bytes() for path in home.state.iterdir() if path.is_file()}
        started = time.monotonic()
        time.sleep(21.0)
        waited = time.monotonic() - started
        assert hash_tree(home.vault) == vault
        assert {path.name: path.read_bytes() for path in home.state.iterdir() if path.is_file()} == state
        polls = server.paths()[asked:].count("/api/v1/memo/stats")  # each poll asks for it once
        assert 1 <= polls <= waited / 5 + 1
        assert watcher.cpu_s() - used < 0.1 * waited
        assert [line["event"] for line in watcher.lines] == ["start"]


def test_a_note_that_is_being_edited_is_not_written(server: CFlowServer, home: Home) -> None:
    """The server's change waits until the note has been left alone, and then joins what was typed."""
    configure(home, poll_interval="5s")
    note = home.note_of(2)
    with watching(home.vault) as watcher:
        server.edit(2, f"{OLD} by the river.\n\nand a dipper")
        ends = time.monotonic() + 14
        number = 0
        while time.monotonic() < ends:
            number += 1
            typed = note.read_text("utf-8").rstrip("\n") + f"\ntyped {number}\n"
            note.write_text(typed, encoding="utf-8")
            time.sleep(2.0)
            assert note.read_text("utf-8") == typed
        wait_until(lambda: "and a dipper" in note.read_text("utf-8"), "merged", 80)
        watcher.wait_for("sync")
    text = note.read_text("utf-8")
    assert f"typed {number}" in text
    assert "typed 1" in text
    assert found(home, "dipper") == ["2"]


def test_a_change_on_the_server_is_written_once(server: CFlowServer, home: Home) -> None:
    """Exactly one note changes, the watcher's own write starts nothing, and then there is silence."""
    configure(home, poll_interval="5s")
    with watching(home.vault) as watcher:
        before = hash_tree(home.vault)
        server.edit(3, "owl at noon")
        watcher.wait_for("sync")
        time.sleep(7.0)
        after = hash_tree(home.vault)
        assert [path for path in after if before.get(path) != after[path] and "/Memos/" in str(path)] == [
            path for path in after if str(path).endswith("(3).md")
        ]
        assert len(watcher.said("sync")) == 1
        assert not watcher.said("take-in")


def test_thousands_of_changed_notes_are_a_few_passes(server: CFlowServer, home: Home) -> None:
    """Touched they cost nothing; of notes that are no memos' nothing is indexed, and the server is not asked for them."""
    folder = home.vault / "Pages"
    folder.mkdir()
    for number in range(3_000):
        (folder / f"page {number}.md").write_text(f"page {number}\n", encoding="utf-8")
    with watching(home.vault) as watcher:
        asked = len(server.paths())
        for path in sorted(folder.iterdir()):
            path.write_text("another text\n", encoding="utf-8")
        note = home.note_of(2)
        note.write_text(note.read_text("utf-8").replace(f"{OLD} by", f"{NEW} by"), encoding="utf-8")
        watcher.wait_for("take-in")
        assert server.paths()[asked:].count("/api/v1/memo/stats") <= 1
    assert found(home, NEW) == ["2"]


def test_files_of_obsidian_and_our_state_inside_the_vault_wake_nobody(home: Home) -> None:
    """Though they are written every second."""
    configure(home, state_dir="Brain state")
    run(home, "sync")
    workspace = home.vault / ".obsidian" / "workspace.json"
    with watching(home.vault) as watcher:
        wait_until(lambda: read_pulse(home.vault / "Brain state").last_poll, "first poll")
        time.sleep(1.5)
        used = watcher.cpu_s()
        for number in range(10):
            workspace.write_text(json.dumps({"number": number}), encoding="utf-8")
            (home.vault / "Brain state" / "notes.md").write_text(f"{number}", encoding="utf-8")
            time.sleep(0.5)
        assert watcher.cpu_s() - used < 0.5
        assert [line["event"] for line in watcher.lines] == ["start"]


# question notes


def ask_folder(home: Home) -> Path:
    folder = home.vault / "CFlow" / "Ask"
    folder.mkdir(exist_ok=True)
    return folder


def test_a_question_note_is_answered_and_told(home: Home) -> None:
    """By a new answer note; its own note gets two properties once nobody is typing, and nothing else; then there is silence."""
    question = ask_folder(home) / "birds.md"
    with watching(home.vault) as watcher:
        question.write_text("---\nrating: 5\n---\nWhat did I see by the river?\n", encoding="utf-8")
        answer = watcher.wait_for("question")["answer"]
        assert question.read_text("utf-8") == "---\nrating: 5\n---\nWhat did I see by the river?\n"
        age(question)
        wait_until(lambda: "vb_status" in question.read_text("utf-8"), "told", 90)
        time.sleep(7.0)
        assert len(watcher.said("question")) == 1
    link = answer.removesuffix(".md")
    told = f'---\nvb_status: "answered"\nvb_link: "[[{link}]]"\nrating: 5\n---\nWhat did I see by the river?\n'
    assert question.read_text("utf-8") == told
    assert OLD in (home.vault / answer).read_text("utf-8")


def test_a_question_that_was_edited_is_asked_again(home: Home) -> None:
    """A property of the person's own does not make it another question."""
    question = ask_folder(home) / "birds.md"
    question.write_text("What did I see by the river?\n", encoding="utf-8")
    with watching(home.vault) as watcher:
        watcher.wait_for("question")
        question.write_text("---\nrating: 5\n---\nWhat did I see by the river?\n", encoding="utf-8")
        time.sleep(8.0)
        assert len(watcher.said("question")) == 1
        question.write_text("owl at night\n", encoding="utf-8")
        second = watcher.wait_for("question", count=2)
    assert "owl" in second["answer"]


def test_a_question_that_cannot_be_read_says_why(home: Home) -> None:
    """In its own properties; mended, it is answered."""
    question = ask_folder(home) / "river.md"
    question.write_text("---\nmode: prose\n---\nWhat did I see by the river?\n", encoding="utf-8")
    with watching(home.vault) as watcher:
        watcher.wait_for("question", "mode: prose")
        age(question)
        wait_until(lambda: 'vb_status: "failed"' in question.read_text("utf-8"), "told", 90)
        assert 'vb_error: "mode: prose is none of' in question.read_text("utf-8")
        question.write_text(question.read_text("utf-8").replace("mode: prose", "mode: explore"), encoding="utf-8")
        watcher.wait_for("question", "Answered")
        age(question)
        wait_until(lambda: 'vb_status: "answered"' in question.read_text("utf-8"), "told", 90)
    assert "vb_error" not in question.read_text("utf-8")


# living through the day


def test_it_stops_within_ten_seconds_though_the_server_hangs(server: CFlowServer, home: Home) -> None:
    """At a safe point: the vault is as it was."""
    server.behaviours["/api/v1/status"] = [never_answer()]
    server.behaviours["/api/v1/memo"] = [never_answer()]
    before = hash_tree(home.vault)
    with watching(home.vault) as watcher:
        time.sleep(1.0)
        assert watcher.stop(10.0) == 0
    assert hash_tree(home.vault) == before


def test_it_stops_within_ten_seconds_though_another_server_hangs(home: Home) -> None:
    """One that computes vectors, say, and that nobody can interrupt; what was taken in before is kept."""
    note = home.note_of(2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        configure(home, embedding="openai:none", embedding_url=address)
        with watching(home.vault) as watcher:
            note.write_text(note.read_text("utf-8").replace(f"{OLD} by", f"{NEW} by"), encoding="utf-8")
            connection, _ = silent.accept()
            with connection:
                assert watcher.stop(10.0) == 0
    assert found(home, NEW) == ["2"]


def test_a_server_that_is_away_is_said_once_and_so_is_its_return(server: CFlowServer, home: Home) -> None:
    """Between them the vault goes on working: what is written is found."""
    configure(home, poll_interval="5s")
    server.behaviours["/api/v1/status"] = [answer_status(503)] * 2  # the first thing that a poll asks
    note = home.note_of(2)
    with watching(home.vault) as watcher:
        watcher.wait_for("sync", "503")
        note.write_text(note.read_text("utf-8").replace(f"{OLD} by", f"{NEW} by"), encoding="utf-8")
        watcher.wait_for("take-in")
        assert read_pulse(home.state).errors >= 1
        watcher.wait_for("sync", "answers again")
        assert len(watcher.said("sync")) == 2


def test_a_second_watcher_is_refused_and_a_killed_one_replaced(home: Home) -> None:
    """The refusal names the first one's process; a lock left by a killed one holds nobody up."""
    with watching(home.vault) as watcher:
        second = run(home, "watch")
        assert second.returncode == 1
        assert f"process {watcher.process.pid}, started 20" in second.stderr
        link = home.vault.parent / "link"
        link.symlink_to(home.vault)
        assert subprocess.run(command(link, "watch"), capture_output=True, env=environment(), check=False).returncode == 1
        with pytest.raises(WatcherRunning), only_watcher(home.state):
            pass
        watcher.kill()
    assert not read_pulse(home.state).is_running
    with watching(home.vault) as watcher:
        assert read_pulse(home.state).is_running
        assert watcher.stop() == 0


def test_commands_work_beside_it(server: CFlowServer, home: Home) -> None:
    """A sync, a question and a search by hand, while the watcher lives, which then sees what they did as no news of its own."""
    with watching(home.vault) as watcher:
        wait_until(lambda: read_pulse(home.state).last_poll, "first poll")
        server.add("wren in the hedge")
        assert run(home, "sync").returncode == 0
        assert run(home, "ask", "What did I see by the river?").returncode == 0
        assert found(home, "wren")
        time.sleep(2.0)
        assert watcher.process.poll() is None
        assert not [line for line in watcher.lines if line.get("failed")]


def test_the_vault_may_go_away_and_come_back(home: Home) -> None:
    """Nothing is taken for deleted, nothing is written where it stood, and afterwards all is noticed again."""
    away = home.vault.with_name("elsewhere")
    with watching(home.vault) as watcher:
        home.vault.rename(away)
        watcher.wait_for("vault", "not there")
        time.sleep(3.0)
        assert not home.vault.exists()
        away.rename(home.vault)
        watcher.wait_for("vault", "back")
        note = home.note_of(2)
        note.write_text(note.read_text("utf-8").replace(f"{OLD} by", f"{NEW} by"), encoding="utf-8")
        wait_until(lambda: found(home, NEW) == ["2"], "taken in")
    assert notes(home) == dict.fromkeys("123", "written")


def test_a_moved_folder_of_notes_is_followed(server: CFlowServer, home: Home) -> None:
    """The server is asked soon, and the notes are found where they are."""
    with watching(home.vault):
        wait_until(lambda: read_pulse(home.state).last_poll, "first poll")
        shutil.move(home.vault / "CFlow" / "Memos", home.vault / "Archive")

        def paths() -> set[str]:
            with home.catalog() as catalog:
                return {Path(row.path).parent.as_posix() for row in catalog.note_rows().values()}

        wait_until(lambda: paths() == {"Archive"}, "followed")
        server.edit(3, "owl at noon")


def test_new_settings_are_taken_up_and_bad_ones_are_not(home: Home) -> None:
    """Without a restart; the last good ones stay in use."""
    with watching(home.vault) as watcher:
        configure(home, poll_interval="never")
        watcher.wait_for("settings", "stay in use")
        configure(home, poll_interval="5s")
        watcher.wait_for("settings", "new ones are in use")


def test_answers_that_ask_for_it_are_refreshed(server: CFlowServer, home: Home) -> None:
    """When new memos change them; others only become stale."""
    configure(home, poll_interval="5s")
    for question in (OLD, "owl"):
        assert run(home, "ask", question).returncode == 0
    answers = sorted((home.vault / "CFlow" / "Answers").glob("*.md"))
    river, owl = (next(path for path in answers if word in path.name) for word in (OLD, "owl"))
    text = river.read_text("utf-8")
    river.write_text(text.replace("---\n", "---\nvb_refresh: auto\n", 1), encoding="utf-8")
    leave_alone(home)
    with watching(home.vault) as watcher:
        server.edit(2, f"{OLD} and dipper by the river.")
        server.edit(3, "owl at noon")
        watcher.wait_for("sync")
        wait_until(lambda: watcher.said("refresh", "up to date"), f"refreshed: {watcher.lines}", 60)
    assert "dipper" in river.read_text("utf-8")
    assert 'vb_status: "stale"' in owl.read_text("utf-8")


def test_once_does_one_round_and_ends(server: CFlowServer, home: Home) -> None:
    """A question is answered; the dry run says the same and writes nothing."""
    (ask_folder(home) / "What did I see by the river.md").write_text("", encoding="utf-8")
    server.add("wren in the hedge")
    before = hash_tree(home.vault)
    dry = run(home, "watch", "--dry-run")
    assert (dry.returncode, hash_tree(home.vault)) == (0, before)
    assert "1 new" in dry.stdout
    assert "1 question would be looked at" in dry.stdout
    assert run(home, "watch", "--once").returncode == 0
    assert found(home, "wren")
    assert [path.name for path in (home.vault / "CFlow" / "Answers").glob("*river*.md")]
