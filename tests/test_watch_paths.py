"""What the watcher makes of a path, by its place and name alone."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain import settings as house_settings
from vaultbrain.vault.names import memo_name
from vaultbrain.watch import paths
from vaultbrain.watch.paths import Kind, Layout, is_conflict_copy, is_ignored_folder, is_note_name, kind_of, may_be_folder

USUAL = Layout()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("CFlow/Memos/观影清单 (456).md", Kind.MEMO),
        ("CFlow/Memos/2025/deep (1).md", Kind.MEMO),
        ("CFlow/Answers/2026-11-30 帮我找.md", Kind.ANSWER),
        ("CFlow/Recall/博客改版.md", Kind.RECALL),
        ("CFlow/Ask/问题.md", Kind.INBOX),
        ("CFlow/Home.md", Kind.OURS),
        ("CFlow/Memos.md", Kind.OURS),
        ("CFlow/Attachments/readme.md", Kind.OURS),
        ("CFlow/lexicon.toml", Kind.OURS),
        ("CFlow/Templates/memo.md.j2", Kind.OURS),
        ("vaultbrain.toml", Kind.SETTINGS),
        ("日记/2026-11-30.md", Kind.NOTE),
        ("CFlow 2/Memos/x.md", Kind.NOTE),
        ("Memos/x.md", Kind.NOTE),
        ("Ask.md", Kind.NOTE),
        ("a b/{{title}} 'quoted' \n.md", Kind.NOTE),
        ("CFlow/CFlow.base", Kind.IGNORED),
        ("CFlow/Answers/x.canvas", Kind.IGNORED),
        ("CFlow/Attachments/x.png", Kind.IGNORED),
        ("lexicon.toml", Kind.IGNORED),
        ("CFlow/Memos/lexicon.toml", Kind.IGNORED),
        ("sub/vaultbrain.toml", Kind.IGNORED),
        ("memo.md.j2", Kind.IGNORED),
        ("pyproject.toml", Kind.IGNORED),
        ("", Kind.IGNORED),
        ("/x.md", Kind.IGNORED),
        ("a//x.md", Kind.IGNORED),
        ("../x.md", Kind.IGNORED),
        ("a/", Kind.IGNORED),
    ],
)
def test_a_path_is_judged_by_its_place(path: str, kind: Kind) -> None:
    """Each folder of ours has its kind, the settings and the word list theirs, and whatever cannot be in the vault none."""
    assert kind_of(path, USUAL) is kind


@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/workspace.json",
        ".obsidian/plugins/x/README.md",
        ".trash/old.md",
        ".git/COMMIT.md",
        "notes/.stversions/a~20261130.md",
        ".stfolder/x.md",
        ".OBSIDIANTEST",
        ".syncthing.a.md.tmp",
        "~syncthing~a.md.tmp",
        "~syncthing~/a.md",
        "notes/.a.md.swp-x",
        "a.md~",
        "a.md.swp",
        "note.tmp",
        "~$a.md",
        ".#a.md",
        "#a.md#",
        "4913",
        "desktop.ini",
        ".DS_Store",
        "Thumbs.db",
        ".a.md.icloud",
        "CFlow/Memos/.vaultbrain-0a1b2c.tmp",
        "a\udcff.md",
        "a\udcff/b.md",
    ],
)
def test_hidden_and_temporary_names_are_ignored(path: str) -> None:
    """Anywhere on the way, whatever the ending; and so are names that no text can carry."""
    assert kind_of(path, USUAL) is Kind.IGNORED


@pytest.mark.parametrize(
    "name",
    [
        "a.sync-conflict-20261130-101112-ABCDEFG.md",
        "a.sync-conflict-20261130-101112-ABCDEFG.sync-conflict-20261201-101112-HIJKLMN.md",
        "a (Conflicted copy phone 202611301011).md",
        "a (Conflicted copy).md",
        "a (laptop's conflicted copy 2026-11-30).md",
        "a (conflicted copy 2026-11-30 101112).md",
        "a (conflicted copy 2026-11-30 101112) 2.md",
        "a (laptop 的冲突副本 2026-11-30).md",
        "a (laptop 的衝突複本 2026-11-30).md",
        "a (Copie en conflit de laptop 2026-11-30).md",
        "a_conflict-20261130-101112.md",
        "a (SFConflict me@example.com 2026-11-30-10-11-12).md",
    ],
)
def test_conflict_copies_are_told_and_ignored(name: str) -> None:
    """They carry the ids and tags of the original."""
    assert is_conflict_copy(name)
    assert is_conflict_copy(f"CFlow/Memos/{name}")
    assert kind_of(f"CFlow/Memos/{name}", USUAL) is Kind.IGNORED
    assert not is_note_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "a (1).md",
        "a 2.md",
        "How Dropbox makes a conflicted copy.md",
        "冲突副本怎么办.md",
        "Merge conflict (git).md",
        "a-laptop.md",
        "a_conflict.md",
        "本周的副本 (7).md",
    ],
)
def test_good_names_are_no_conflict_copies(name: str) -> None:
    """Our notes end in a number in brackets, and a person may write about conflicts."""
    assert not is_conflict_copy(name)
    assert kind_of(name, USUAL) is Kind.NOTE


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=80), st.integers(1, 10**6))
def test_every_memo_note_is_watched(title: str, number: int) -> None:
    """Whatever the memo's title is, but for the two beginnings of temporary files."""
    name = memo_name(title, str(number))
    assert name.startswith(("~$", "~syncthing~")) or kind_of(f"CFlow/Memos/{name}.md", USUAL) is Kind.MEMO


def test_our_folder_is_met_in_any_case_and_form() -> None:
    """Windows and macOS keep a name as it was first typed and find it by another; macOS may give letters and accents apart."""
    layout = Layout(folder="Notes/Café")
    assert kind_of(f"notes/{unicodedata.normalize('NFD', 'CAFÉ')}/memos/x.md", layout) is Kind.MEMO
    assert kind_of("Notes/Memos/x.md", layout) is Kind.NOTE
    assert kind_of("CFlow/Memos/x.md", layout) is Kind.NOTE


def test_a_state_folder_inside_the_vault_is_ignored() -> None:
    """At any depth below it, and nothing beside it."""
    layout = Layout(state="CFlow/State")
    assert kind_of("CFlow/State/x.md", layout) is Kind.IGNORED
    assert kind_of("cflow/state/deep/x.md", layout) is Kind.IGNORED
    assert is_ignored_folder("CFlow/State", layout)
    assert kind_of("CFlow/State.md", layout) is Kind.OURS
    assert kind_of("CFlow/State 2/x.md", layout) is Kind.OURS
    assert not is_ignored_folder("CFlow", layout)


def test_a_word_list_elsewhere_is_ours() -> None:
    """It is named in the settings, and may be any file."""
    assert kind_of("words/my.toml", Layout(lexicon="words/my.toml")) is Kind.OURS
    assert kind_of("words/my.toml", USUAL) is Kind.IGNORED


def test_the_names_of_settings_and_word_list_are_those_of_the_settings() -> None:
    """They stand in two places, since settings read the environment and paths are pure."""
    assert paths.SETTINGS_FILE == house_settings.SETTINGS_FILE
    assert paths.LEXICON_FILE == house_settings.LEXICON_FILE
    assert kind_of(f"{house_settings.Settings(vault=None).memos_folder}/x.md", USUAL) is Kind.MEMO  # type: ignore[arg-type]
    assert kind_of(f"{house_settings.Settings(vault=None).answers_folder}/x.md", USUAL) is Kind.ANSWER  # type: ignore[arg-type]


def test_a_name_without_ending_may_be_a_folder() -> None:
    """An attachment that goes is no reason to look through the vault."""
    assert may_be_folder("项目/旧")
    assert not may_be_folder("项目.d/x.png")


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([".git", "a", "CFlow", "Memos", "~$x", "日记", "x.md", "a\udcff", "state"]), min_size=1, max_size=4)
)
def test_folder_and_file_rules_agree(segments: list[str]) -> None:
    """A note is watched exactly when its folder is entered and its name is one: the scan asks in these two steps."""
    layout = Layout(state="a/state")
    folder, name = "/".join(segments[:-1]), segments[-1]
    watched = is_note_name(name) and not (folder and is_ignored_folder(folder, layout))
    assert (kind_of("/".join(segments), layout) is not Kind.IGNORED) == watched
