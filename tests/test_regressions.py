"""Bugs that the state machine found, each as the shortest story in which it showed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import wire_memo
from obsidian import Vault, hash_tree

from vaultbrain.index.catalog import Catalog
from vaultbrain.sync.sync import SyncOptions
from vaultbrain.vault.note import BEGIN, END

if TYPE_CHECKING:
    from collections.abc import Callable

    from cflow_server import CFlowServer
    from conftest import Home


class Killed(BaseException):
    """The process ends here, as far as the product can tell."""


def killed_sync(home: Home, owner: type, name: str, *, passes: int = 0, after: bool = False) -> None:
    """A sync that dies at the call of ``owner.name`` that follows ``passes`` others, before or after it took effect."""
    real: Callable[..., Any] = getattr(owner, name)
    calls: list[int] = []

    def deadly(*args: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) <= passes:
            return real(*args, **named)
        if after:
            real(*args, **named)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, deadly)
        with pytest.raises(Killed):
            home.brain().sync()


def edit_note(home: Home, memo_id: int, old: str, new: str) -> None:
    note = home.note_of(memo_id)
    text = note.read_bytes().decode()
    assert old in text
    note.write_bytes(text.replace(old, new).encode())


def note_ids(home: Home) -> set[str]:
    with home.catalog() as catalog:
        return set(catalog.note_rows())


# notes that go


def test_a_memo_deleted_on_both_sides_leaves_no_record(server: CFlowServer, home: Home) -> None:
    """Note and memo gone between two syncs: nothing is remembered, so the memo may come back as a note."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3)]
    home.brain().sync()
    wire = server.memo(2)
    server.delete(2)
    home.note_of(2).unlink()
    report = home.brain().sync()
    assert (report.deleted, report.notes_removed) == (1, 0)
    assert note_ids(home) == {"1", "3"}
    server.memos.append(wire)
    home.brain().sync()
    assert "memo 2" in home.text_of(2)


def test_deletions_on_both_sides_do_not_look_like_a_lost_vault(server: CFlowServer, home: Home) -> None:
    """Four of five memos deleted, confirmed, and their notes deleted too: that is no missing disk."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 6)]
    home.brain().sync()
    for n in range(1, 5):
        server.delete(n)
        home.note_of(n).unlink()
    assert home.brain().sync(SyncOptions(confirm_deletions=True)).deleted == 4
    assert home.brain().sync().is_empty


def test_a_moved_note_of_a_deleted_memo_goes_to_the_trash(server: CFlowServer, home: Home) -> None:
    """Moved and deleted on the server between two syncs: the note is found where it is, and no note is left without a memo."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3)]
    home.brain().sync()
    target = home.vault / "moved.md"
    home.note_of(2).rename(target)
    text = target.read_bytes()
    server.delete(2)
    home.brain().sync()
    assert not target.exists()
    assert (home.vault / ".trash" / "moved.md").read_bytes() == text


def test_a_deletion_never_takes_the_persons_file(server: CFlowServer, home: Home) -> None:
    """The person moved our note away and wrote a page of that name; when the memo is deleted, the page stays."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3)]
    home.brain().sync()
    note = home.note_of(2)
    note.rename(home.vault / "moved.md")
    note.write_text("my own page\n", encoding="utf-8")
    server.delete(2)
    home.brain().sync()
    assert note.read_text("utf-8") == "my own page\n"
    assert not (home.vault / "moved.md").exists()


def test_a_kill_in_a_deletion_is_no_removal_by_the_person(server: CFlowServer, home: Home) -> None:
    """The note was in the trash already, the record not; the memo comes back before the next sync, and so does its note."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3)]
    home.brain().sync()
    wire = server.memo(2)
    server.delete(2)
    killed_sync(home, Catalog, "delete_memo")
    assert len(list((home.vault / ".trash").glob("*.md"))) == 1
    server.memos.append(wire)
    home.brain().sync()
    assert "memo 2" in home.text_of(2)


def test_what_was_withheld_stays_so_until_it_is_confirmed(server: CFlowServer, home: Home) -> None:
    """Four of six memos are gone and seven are new: by the next sync they are four of thirteen, which proves nothing."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 7)]
    home.brain().sync()
    for n in range(1, 5):
        server.delete(n)
    server.memos += [wire_memo(n, f"memo {n}") for n in range(7, 14)]
    assert home.brain().sync().withheld == 4
    report = home.brain().sync()
    assert (report.deleted, report.withheld) == (0, 4)
    server.delete(13)
    report = home.brain().sync()
    assert (report.deleted, report.withheld) == (1, 4)
    assert home.brain().sync(SyncOptions(confirm_deletions=True)).deleted == 4
    assert home.brain().sync().is_empty


# notes that trade places


def test_two_notes_that_swapped_names_keep_their_memos(server: CFlowServer, home: Home) -> None:
    """Each note is known by its ``vb_id``, not by where it stands: updates reach the right one."""
    server.memos += [wire_memo(1, "alpha"), wire_memo(2, "gamma"), wire_memo(3, "third")]
    home.brain().sync()
    first, second = home.note_of(1), home.note_of(2)
    second.write_text(second.read_text("utf-8") + "mine\n", encoding="utf-8")
    first.rename(home.vault / "between.md")
    second.rename(first)
    (home.vault / "between.md").rename(second)
    server.edit(1, "alpha, edited")
    server.edit(2, "gamma, edited")
    report = home.brain().sync()
    assert (report.conflicts, report.notes_removed) == (0, 0)
    assert (home.note_of(1), home.note_of(2)) == (second, first)
    assert "alpha, edited" in second.read_text("utf-8")
    assert first.read_text("utf-8").endswith("mine\n")
    assert home.brain().sync().is_empty


def test_a_note_renamed_onto_a_deleted_one_keeps_its_memo(server: CFlowServer, home: Home) -> None:
    """One note counts as removed, the other as moved; restoring the first finds another place."""
    server.memos += [wire_memo(1, "alpha"), wire_memo(2, "gamma"), wire_memo(3, "third")]
    home.brain().sync()
    place = home.note_of(1)
    home.note_of(2).replace(place)
    assert home.brain().sync().notes_removed == 1
    server.edit(1, "alpha, edited")
    server.edit(2, "gamma, edited")
    home.brain().sync()
    assert "gamma, edited" in place.read_text("utf-8")
    assert "alpha" not in place.read_text("utf-8")
    home.brain().sync(SyncOptions(restore=True))
    assert "alpha, edited" in home.text_of(1)
    assert home.note_of(2) == place


def test_restore_finds_a_note_that_was_brought_back_elsewhere(server: CFlowServer, home: Home) -> None:
    """Removed, recorded, and put back by the person in another folder: ``--restore`` makes no second note of it."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3)]
    home.brain().sync()
    note = home.note_of(2)
    text = note.read_text("utf-8") + "mine\n"
    note.unlink()
    home.brain().sync()
    (home.vault / "back.md").write_text(text, encoding="utf-8")
    server.edit(2, "memo 2, edited")
    home.brain().sync(SyncOptions(restore=True))
    assert home.note_of(2) == home.vault / "back.md"
    assert "memo 2, edited" in home.text_of(2)
    assert home.text_of(2).endswith("mine\n")


# kills


def test_a_kill_between_note_and_record_then_a_move_makes_no_second_note(server: CFlowServer, home: Home) -> None:
    """The note is written but not recorded as written, and the person moves it at once."""
    server.memos.append(wire_memo(1, "memo 1"))
    killed_sync(home, Path, "replace", after=True)
    target = home.vault / "moved.md"
    home.note_of(1).rename(target)
    home.brain().sync()
    assert home.note_of(1) == target
    assert home.brain().sync().is_empty


def test_a_kill_while_notes_are_taken_on_makes_no_second_notes(server: CFlowServer, home: Home) -> None:
    """A lost catalog, and the first sync after it dies while it records the notes that it found."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3)]
    home.brain().sync()
    before = hash_tree(home.vault, with_mtime=True)
    for path in home.state.glob("catalog.sqlite3*"):
        path.unlink()
    killed_sync(home, Catalog, "write_note", passes=1)
    home.brain().sync()
    assert hash_tree(home.vault, with_mtime=True) == before


def test_two_kills_in_a_row_cause_no_clash(server: CFlowServer, home: Home) -> None:
    """The first dies after writing the second version, the second before writing the third: nobody but us changed the note."""
    server.memos.append(wire_memo(1, "version 1"))
    home.brain().sync()
    server.edit(1, "version 2 #two")
    killed_sync(home, Path, "replace", after=True)
    server.edit(1, "version 3")
    killed_sync(home, Path, "replace")
    server.edit(1, "version 4")
    assert home.brain().sync().conflicts == 0
    text = home.text_of(1)
    assert "version 4 ^m1-1" in text
    assert not any(word in text for word in ("version 1", "version 2", "version 3", "two"))


@pytest.mark.parametrize("second", ["version 2", ""])
def test_a_kill_after_writing_and_an_edit_undone_leave_no_trace(server: CFlowServer, home: Home, second: str) -> None:
    """The server is back at the first version, the note holds the second: it must show the first again."""
    server.memos.append(wire_memo(1, "version 1"))
    home.brain().sync()
    server.edit(1, second)
    killed_sync(home, Path, "replace", after=True)
    server.edit(1, "version 1")
    assert home.brain().sync().conflicts == 0
    _, _, region = home.text_of(1).partition(BEGIN)
    assert re.sub(r" \^m1-\d", "", region) == f"\n\nversion 1\n\n{END}\n"


def test_an_edit_in_our_region_after_a_kill_is_merged(server: CFlowServer, home: Home) -> None:
    """The person types into a version that was written and not recorded; only that line is theirs."""
    server.memos.append(wire_memo(1, "version 1\n\nlast"))
    home.brain().sync()
    server.edit(1, "version 2\n\nlast")
    killed_sync(home, Path, "replace", after=True)
    edit_note(home, 1, "last ^m1-2", "last ^m1-2\nmine")
    server.edit(1, "version 3\n\nlast")
    assert home.brain().sync().conflicts == 0
    text = home.text_of(1)
    assert "version 3 ^m1-1" in text
    assert "last ^m1-2\nmine" in text
    assert "version 2" not in text


def test_a_kill_before_writing_a_note_that_was_taken_on_loses_nothing(server: CFlowServer, home: Home) -> None:
    """The catalog was lost, the memo edited, and the first try died: both texts are in the note, as without the kill."""
    server.memos.append(wire_memo(1, "alpha\n\nbeta"))
    home.brain().sync()
    for path in home.state.glob("catalog.sqlite3*"):
        path.unlink()
    server.edit(1, "alpha\n\nbeta\n\ngamma")
    killed_sync(home, Path, "replace")
    home.brain().sync()
    assert "gamma ^m1-3" in home.text_of(1)


def test_an_edit_of_a_line_that_a_killed_run_wrote_is_kept_beside_the_memo(server: CFlowServer, home: Home) -> None:
    """Whether that run wrote the note cannot be told any more, and the server is back at the version before: both are shown."""
    server.memos.append(wire_memo(1, "version 1"))
    home.brain().sync()
    server.edit(1, "version 2")
    killed_sync(home, Path, "replace", after=True)
    edit_note(home, 1, "version 2", "version two")
    server.edit(1, "version 1")
    assert home.brain().sync().conflicts == 1
    assert "\nversion 1 ^m1-1\n" in home.text_of(1)
    assert "\n> version two\n" in home.text_of(1)


def test_an_anchor_shown_before_a_kill_is_not_given_again(server: CFlowServer, home: Home) -> None:
    """A link may have been made to it while it stood there."""
    server.memos.append(wire_memo(1, "alpha"))
    home.brain().sync()
    server.edit(1, "alpha\n\nsecond block")
    killed_sync(home, Path, "replace", after=True)
    assert "second block ^m1-2" in home.text_of(1)
    server.edit(1, "alpha")
    home.brain().sync()
    server.edit(1, "alpha\n\nsomething else")
    home.brain().sync()
    assert "something else ^m1-3" in home.text_of(1)


def test_leftovers_of_a_kill_go_wherever_the_note_is(server: CFlowServer, home: Home) -> None:
    """Also in a folder of the person's, where only the note is ours."""
    server.memos.append(wire_memo(1, "alpha"))
    home.brain().sync()
    target = home.vault / "projects" / "alpha.md"
    target.parent.mkdir()
    home.note_of(1).rename(target)
    home.brain().sync()
    leftover = target.parent / ".vaultbrain-0123456789ab.tmp"
    leftover.write_text("half", encoding="utf-8")
    home.brain().sync()
    assert not leftover.exists()


# the person's words


def test_an_own_tag_outlives_the_same_tag_of_the_memo(server: CFlowServer, home: Home) -> None:
    """The person had it first; that the memo had it for a while does not make it ours."""
    server.memos.append(wire_memo(1, "alpha"))
    home.brain().sync()
    edit_note(home, 1, "aliases:\n", "tags:\n  - gear\naliases:\n")
    server.edit(1, "alpha #gear #rope")
    home.brain().sync()
    server.edit(1, "alpha")
    home.brain().sync()
    assert "tags:\n  - gear\naliases:\n" in home.text_of(1)


def test_each_line_of_the_persons_keeps_its_own_line_end(server: CFlowServer, home: Home) -> None:
    """One pasted line with a carriage return does not change all others."""
    server.memos.append(wire_memo(1, "alpha"))
    home.brain().sync()
    note = home.note_of(1)
    note.write_bytes(note.read_bytes() + b"mine\r\nalso mine\n")
    server.edit(1, "alpha, edited")
    home.brain().sync()
    content = note.read_bytes()
    assert content.endswith(f"\n{END}\nmine\r\nalso mine\n".encode())
    assert content.count(b"\r") == 1
    assert b"alpha, edited ^m1-1\n" in content


def test_markers_that_come_back_bring_the_note_up_to_date(server: CFlowServer, home: Home) -> None:
    """Taken out, the memo edited meanwhile, put back: the next sync writes what was missed, without a clash."""
    server.memos.append(wire_memo(1, "alpha"))
    home.brain().sync()
    note = home.note_of(1)
    whole = note.read_text("utf-8")
    note.write_text(whole.replace(END, ""), encoding="utf-8")
    server.edit(1, "alpha, edited")
    assert home.brain().sync().conflicts == 1
    assert home.brain().sync().is_empty
    note.write_text(whole, encoding="utf-8")
    report = home.brain().sync()
    assert (report.conflicts, report.notes_written) == (0, 1)
    assert "alpha, edited ^m1-1" in home.text_of(1)
    assert "alpha ^m1-1" not in home.text_of(1)
    assert home.brain().sync().is_empty


def test_a_note_that_another_machine_wrote_first_is_taken_on(server: CFlowServer, home: Home, tmp_path: Path) -> None:
    """Two machines share a vault: the note of a new memo is there already, and no second one is written."""
    server.memos.append(wire_memo(1, "alpha"))
    home.brain().sync()
    home.brain(state_dir="../other").sync()
    server.add("new")
    home.brain().sync()
    before = hash_tree(home.vault, with_mtime=True)
    report = home.brain(state_dir="../other").sync()
    assert (report.created, report.conflicts) == (1, 0)
    assert hash_tree(home.vault, with_mtime=True) == before
    assert Vault.load(home.vault).problems("CFlow") == []


def test_a_catalog_made_anew_leaves_no_stale_vector(server: CFlowServer, home: Home) -> None:
    """The catalog moved aside, as the message says, and a memo deleted meanwhile: Chroma forgets its chunks, too."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3)]
    home.brain().sync()
    for path in home.state.glob("catalog.sqlite3*"):
        path.unlink()
    server.delete(2)
    home.brain().sync()
    assert home.brain()._vector_store(64).ids() == {"1:chunk:0", "3:chunk:0"}
