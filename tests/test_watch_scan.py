"""One look through real folders: what it finds, what it leaves out, and when the vault counts as away."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.errors import VaultAway
from vaultbrain.vault.vault import FileMark
from vaultbrain.watch.paths import Kind, Layout, kind_of
from vaultbrain.watch.scan import Changes, difference, scan, survey

USUAL = Layout()
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    write(root / "vaultbrain.toml", 'source = "http://127.0.0.1:1"')
    return root


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_every_watched_file_has_its_mark(vault: Path) -> None:
    """Notes at any depth, the settings and the word list, by size and time of last change, in order of paths."""
    for path in ("b.md", "日记/2026/11.md", "CFlow/Memos/观影 (1).md", "CFlow/lexicon.toml", "a b/'x' \"y\"; $(z)\n.md"):
        write(vault / path, path)
    marks = scan(vault, USUAL)
    assert list(marks) == sorted(
        [
            "b.md",
            "日记/2026/11.md",
            "CFlow/Memos/观影 (1).md",
            "CFlow/lexicon.toml",
            "a b/'x' \"y\"; $(z)\n.md",
            "vaultbrain.toml",
        ]
    )
    stat = (vault / "日记/2026/11.md").stat()
    assert marks["日记/2026/11.md"] == FileMark(stat.st_size, stat.st_mtime_ns)


def test_ignored_files_and_folders_are_left_out(vault: Path) -> None:
    """And whatever is found is of some kind, so scan and events speak of the same files."""
    for path in (
        *(".obsidian/a.md", ".git/b.md", "x/.trash/c.md", "state/d.md", "e.md~", "~$f.md", ".g.md", "h.png", "CFlow/CFlow.base"),
        *("i (conflicted copy 2026-11-30 101112).md", "CFlow/Memos/.vaultbrain-00.tmp", "j.toml", "k.tmp"),
    ):
        write(vault / path)
    (vault / "folder.md").mkdir()
    write(vault / "folder.md" / "real.md")
    found = survey(vault, Layout(state="state"))
    assert list(found.marks) == ["folder.md/real.md", "vaultbrain.toml"]
    assert found.conflict_copies == ("i (conflicted copy 2026-11-30 101112).md",)
    assert all(kind_of(path, USUAL) is not Kind.IGNORED for path in found.marks)


def test_names_stand_as_on_disk(vault: Path) -> None:
    """In composed and in decomposed form, for a file is opened by the form that it has."""
    for form in ("NFC", "NFD"):
        write(vault / form / f"{unicodedata.normalize(form, 'é')}.md")
    on_disk = {file.relative_to(vault).as_posix() for file in vault.glob("NF?/*")}
    assert set(scan(vault, USUAL)) - {"vaultbrain.toml"} == on_disk


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_text_is_left_out(vault: Path) -> None:
    """It could be stored nowhere."""
    Path(os.fsdecode(os.fsencode(vault) + b"/\xff.md")).write_bytes(b"")
    write(Path(os.fsdecode(os.fsencode(vault) + b"/\xfe")) / "a.md")
    assert list(scan(vault, USUAL)) == ["vaultbrain.toml"]


@needs_links
def test_links_are_followed_and_circles_are_not(vault: Path, tmp_path: Path) -> None:
    """Linked files and folders count under the names of their links, each real folder once, by its own place first."""
    write(tmp_path / "elsewhere" / "deep" / "a.md")
    write(tmp_path / "single.txt")
    write(vault / "real" / "b.md")
    (vault / "aa shared").symlink_to(tmp_path / "elsewhere")
    (vault / "zz shared again").symlink_to(tmp_path / "elsewhere" / "deep")
    (vault / "a link inside").symlink_to(vault / "real")
    (vault / "real" / "up").symlink_to(vault)
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "elsewhere")
    (vault / "linked.md").symlink_to(tmp_path / "single.txt")
    (vault / "circle.md").symlink_to(vault / "circle.md")
    (vault / "nowhere.md").symlink_to(tmp_path / "missing")
    found = survey(vault, USUAL)
    assert list(found.marks) == ["aa shared/deep/a.md", "linked.md", "real/b.md", "vaultbrain.toml"]
    assert found.links == {"aa shared": os.path.realpath(tmp_path / "elsewhere")}
    assert found.unreadable == ("circle.md", "nowhere.md")


@needs_links
def test_of_several_links_to_one_folder_the_first_name_counts(vault: Path, tmp_path: Path) -> None:
    """Whatever order the file system lists them in, so that a second scan sees the same notes."""
    write(tmp_path / "elsewhere" / "a.md")
    for name in "hgfedcbijk":
        (vault / name).symlink_to(tmp_path / "elsewhere")
    while (listed := [path for path in vault.iterdir() if path.is_dir()])[0] == min(listed) and len(listed) > 1:
        listed[0].unlink()  # until another than the first name is listed first
    assert list(scan(vault, USUAL)) == [f"{min(listed).name}/a.md", "vaultbrain.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes in folders")
def test_only_files_are_notes(vault: Path) -> None:
    """Reading a pipe called like a note would wait for ever."""
    os.mkfifo(vault / "pipe.md")
    assert list(scan(vault, USUAL)) == ["vaultbrain.toml"]


@needs_links
def test_what_a_link_leads_to_may_be_away(vault: Path, tmp_path: Path) -> None:
    """The notes behind a link are not gone when the drive that it leads to is unplugged."""
    write(tmp_path / "drive" / "a.md")
    (vault / "drive").symlink_to(tmp_path / "drive")
    (vault / "one.md").symlink_to(tmp_path / "drive" / "a.md")
    before = scan(vault, USUAL)
    shutil.move(tmp_path / "drive", tmp_path / "unplugged")
    after = survey(vault, USUAL)
    assert difference(before, after.marks).gone == ("drive/a.md", "one.md")
    assert difference(before, after.marks, after.unreadable).is_empty


@needs_links
def test_a_linked_vault_is_scanned(vault: Path, tmp_path: Path) -> None:
    """Its root may be a link; paths are the same."""
    write(vault / "a.md")
    (tmp_path / "link").symlink_to(vault)
    assert scan(tmp_path / "link", USUAL) == scan(vault, USUAL)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
def test_an_unreadable_folder_is_named_and_its_notes_are_not_gone(vault: Path) -> None:
    """Unreadable means present. Told by names that are too long to be entered, which stop even an administrator."""
    deep = vault
    here = os.open(vault, os.O_RDONLY)
    for _ in range(20):  # beyond PATH_MAX (4,096 bytes on Linux, 1,024 on macOS), so no call by full path can reach it
        name = "d" * 250
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here, deep = inner, deep / name
    os.close(here)
    found = survey(vault, USUAL)
    assert len(found.unreadable) == 1
    known = {f"{found.unreadable[0]}/x.md": FileMark(1, 1), "gone.md": FileMark(1, 1)}
    assert difference(known, found.marks, found.unreadable).gone == ("gone.md",)


@pytest.mark.parametrize("accident", ["no folder", "empty", "no settings", "a folder for settings", "a file"])
def test_a_vault_that_is_not_there_is_away(vault: Path, tmp_path: Path, accident: str) -> None:
    """Gone, unmounted so that only the empty place is left, or without its settings file: never a vault without notes."""
    write(vault / "a.md")
    if accident == "no settings":
        (vault / "vaultbrain.toml").unlink()
    elif accident == "a folder for settings":
        (vault / "vaultbrain.toml").unlink()
        (vault / "vaultbrain.toml").mkdir()
    else:
        vault.rename(tmp_path / "moved")
    if accident == "empty":
        vault.mkdir()
    if accident == "a file":
        vault.write_bytes(b"")
    with pytest.raises(VaultAway) as caught:
        scan(vault, USUAL)
    assert caught.value.facts == {"path": vault}


def test_a_vault_that_goes_during_the_scan_is_away(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read up to then is not the whole vault."""
    write(vault / "a" / "b" / "c.md")
    real_scandir = os.scandir

    def moved_meanwhile(path: str) -> object:
        if Path(path).name == "b":
            vault.rename(tmp_path / "moved")
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", moved_meanwhile)
    with pytest.raises(VaultAway):
        scan(vault, USUAL)


def test_a_difference_names_what_changed_and_what_is_gone(vault: Path) -> None:
    """New, rewritten, touched, renamed in case only, deleted; and nothing else."""
    for name in ("same", "rewritten", "touched", "case", "deleted"):
        write(vault / f"{name}.md")
    before = scan(vault, USUAL)
    assert difference(before, scan(vault, USUAL)).is_empty
    write(vault / "rewritten.md", "longer than before")
    os.utime(vault / "touched.md", ns=(1, 1))
    (vault / "case.md").rename(vault / "Case.md")
    (vault / "deleted.md").unlink()
    write(vault / "new.md")
    assert difference(before, scan(vault, USUAL)) == Changes(
        changed=("Case.md", "new.md", "rewritten.md", "touched.md"), gone=("case.md", "deleted.md")
    )


MARKS = st.dictionaries(
    st.sampled_from(["a.md", "b/c.md", "b/d.md", "bc.md", "b"]), st.builds(FileMark, st.just(1), st.integers(0, 2))
)


@settings(deadline=None)
@given(MARKS, MARKS, st.sets(st.sampled_from(["b", "a.md"])))
def test_a_difference_applied_gives_what_is_there(
    before: dict[str, FileMark], after: dict[str, FileMark], unreadable: set[str]
) -> None:
    """Changed taken up and gone left out, ``before`` becomes ``after``, but for what could not be read."""
    changes = difference(before, after, unreadable)
    result = {path: mark for path, mark in before.items() if path not in changes.gone} | {p: after[p] for p in changes.changed}
    kept = {
        path: mark
        for path, mark in before.items()
        if path not in after and any(path == hidden or path.startswith(f"{hidden}/") for hidden in unreadable)
    }
    assert result == after | kept
    assert difference(result, after, unreadable).is_empty
