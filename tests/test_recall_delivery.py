"""The recall note as it comes and goes: written, kept to two, ticked, merged, found again; and what ticks do to the gate."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from obsidian import Vault

from vaultbrain.errors import NoteUnreadable
from vaultbrain.index.recalls import LOG_LENGTH, LoggedCandidate, RecallRow
from vaultbrain.memo import Memo
from vaultbrain.recall.areas import Areas
from vaultbrain.recall.delivery import DeliveryParts, deliver, follow, for_note_of, read_back, read_back_at, show_ticks, unshown
from vaultbrain.recall.feedback import areas_of, liking_of
from vaultbrain.recall.note import Mention
from vaultbrain.vault.vault import Vault as Folder
from vaultbrain.wiring_recall import SWITCHED_OFF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home

    from vaultbrain.index.catalog import Catalog

FOR = "Diary/2026-11-30.md"
PATH = "CFlow/Recall/2026-11-30 (recall).md"


@pytest.fixture
def catalog(films: Home) -> Iterator[Catalog]:
    with films.catalog() as catalog:
        yield catalog


@pytest.fixture
def parts(films: Home, catalog: Catalog) -> DeliveryParts:
    (films.vault / "Diary").mkdir()
    (films.vault / FOR).write_text("writing\n", encoding="utf-8")
    brain = films.brain()
    return DeliveryParts(catalog.recalls, Folder(films.vault), "CFlow/Recall", catalog.transaction, brain._answers_lock)


def mention(memo_id: str) -> Mention:
    note = f"CFlow/Memos/memo ({memo_id}).md"
    return Mention(memo_id, f"memo {memo_id}", "one sentence", "why", "http://x.example/m/1", "CFlow", note, f"m{memo_id}-1")


def show(parts: DeliveryParts, memo_id: str, at: str = "2026-11-30T15:20:11") -> RecallRow:
    row = RecallRow(FOR, "", query="films", created=at)
    return deliver(
        parts, row, mention(memo_id), "en", [LoggedCandidate(at, FOR, "films", memo_id, "", shown=True, reasons=("near",))]
    )


def text(films: Home) -> str:
    return (films.vault / PATH).read_text("utf-8")


def tick(films: Home, memo_id: str, label: str) -> None:
    """Ticks the box with this label in the callout of the memo."""
    note = text(films)
    start = note.index(f"m{memo_id}-1")
    head, tail = note[:start], note[start:]
    (films.vault / PATH).write_text(head + tail.replace(f"[ ] {label}", f"[x] {label}", 1), encoding="utf-8")


def test_the_note_links_from_its_properties_and_shows_two_at_most(films: Home, parts: DeliveryParts) -> None:
    """The newest first; its name is not that of the note that it is for, whose links must stay clear."""
    for number, memo_id in enumerate("123"):
        show(parts, memo_id, f"2026-11-30T15:2{number}:00")
    assert [path.name for path in (films.vault / "CFlow/Recall").iterdir()] == ["2026-11-30 (recall).md"]
    note = text(films)
    assert 'vb_for: "[[Diary/2026-11-30]]"' in note
    assert "vb_useful" not in note
    assert note.index("m3-1") < note.index("m2-1")
    assert "m1-1" not in note
    assert parts.shelf.mentioned_for(FOR) == {"1", "2", "3"}
    assert parts.shelf.count_mentions_on("2026-11-30") == 3


def test_ticks_are_read_kept_and_shown(films: Home, parts: DeliveryParts) -> None:
    """A tick survives the next mention without a clash; what was dismissed leaves, and nothing is asked of the person."""
    show(parts, "1")
    tick(films, "1", "Useful")
    row = read_back_at(parts, PATH)
    assert row
    assert row.for_note == FOR
    assert read_back_at(parts, PATH) is None
    assert parts.shelf.ticks() == [("1", "useful")]
    assert show_ticks(parts, FOR)
    assert "vb_useful: true" in text(films)
    show(parts, "2")
    assert "[x] Useful" in text(films)
    assert "warning" not in text(films)
    tick(films, "2", "Do not bring this up again")
    show(parts, "3")
    assert parts.shelf.dismissed() == {"2"}
    assert "m2-1" not in text(films)
    assert "[x] Useful" in text(films)


def test_an_unticked_box_takes_it_back(films: Home, parts: DeliveryParts) -> None:
    """As if it had never been ticked."""
    show(parts, "1")
    tick(films, "1", "Useful")
    assert read_back_at(parts, PATH)
    (films.vault / PATH).write_text(text(films).replace("[x]", "[ ]"), encoding="utf-8")
    assert read_back_at(parts, PATH)
    assert parts.shelf.ticks() == []
    assert not show_ticks(parts, FOR) or "vb_useful" not in text(films)


def test_words_of_the_person_stay(films: Home, parts: DeliveryParts) -> None:
    """Around our region and in it, over the next mention."""
    show(parts, "1")
    (films.vault / PATH).write_text(text(films).replace("> [!tip]", "my own line\n\n> [!tip]") + "\nafter it\n", encoding="utf-8")
    show(parts, "2")
    assert "my own line" in text(films)
    assert "after it" in text(films)


def test_a_foreign_file_of_its_name_is_never_written(films: Home, parts: DeliveryParts) -> None:
    """The recall note takes another name, and keeps it."""
    (films.vault / "CFlow/Recall").mkdir(parents=True)
    (films.vault / PATH).write_text("mine\n", encoding="utf-8")
    assert show(parts, "1").path == show(parts, "2").path == "CFlow/Recall/2026-11-30 (recall) 2.md"
    assert text(films) == "mine\n"


def test_a_note_of_a_lost_catalog_is_taken_up(films: Home, parts: DeliveryParts) -> None:
    """With its ticks; no second note is made."""
    show(parts, "1")
    tick(films, "1", "Useful")
    for file in films.state.glob("catalog*"):
        file.unlink()
    films.brain().sync()
    with films.catalog() as catalog:
        new = DeliveryParts(catalog.recalls, parts.vault, parts.folder, catalog.transaction, parts.lock)
        row = read_back_at(new, PATH)
        assert row
        show(new, "2")
        assert new.shelf.ticks() == [("1", "useful")]
    assert [path.name for path in (films.vault / "CFlow/Recall").iterdir()] == ["2026-11-30 (recall).md"]


def test_a_kill_between_row_and_file_heals(films: Home, parts: DeliveryParts, catalog: Catalog) -> None:
    """The row announced a note that never came: the next mention writes it."""
    catalog.recalls.write_note(RecallRow(FOR, PATH, intended="something"))
    assert not read_back(parts, RecallRow(FOR, PATH))
    assert show(parts, "1").path == PATH
    assert "m1-1" in text(films)


def test_a_moved_note_keeps_what_was_mentioned_for_it(films: Home, parts: DeliveryParts) -> None:
    """Also its recall note and its ticks."""
    show(parts, "1")
    tick(films, "1", "Useful")
    read_back_at(parts, PATH)
    follow(parts, [(FOR, "Archive/day.md")])
    assert parts.shelf.mentioned_for("Archive/day.md") == {"1"}
    row = parts.shelf.note_for("Archive/day.md")
    assert row
    assert row.path == PATH
    assert parts.shelf.note_for(FOR) is None
    assert parts.shelf.ticks_for("Archive/day.md") == {"1": "useful"}


def test_links_in_the_note_resolve(films: Home) -> None:
    """Written by the product itself, over real memo notes."""
    (films.vault / "Diary").mkdir()
    (films.vault / FOR).write_text("x\n", encoding="utf-8")
    brain = films.brain()
    with films.catalog() as catalog:
        row = next(iter(catalog.note_rows().values()))
        number = catalog.load_note(row.memo_id)
        assert number
        made = Mention(row.memo_id, "a title", "s", "w", "", "", row.path, f"m{row.memo_id}-{number.anchors[0][0]}")
        parts = DeliveryParts(catalog.recalls, Folder(films.vault), "CFlow/Recall", catalog.transaction, brain._answers_lock)
        deliver(parts, RecallRow(FOR, "", created="2026-11-30T15:20:11"), made, "zh-Hans", [])
    assert Vault.load(films.vault).problems("CFlow/Recall") == []


def test_the_log_keeps_its_last_entries(catalog: Catalog) -> None:
    """Some weeks of writing, and no more."""
    entries = [LoggedCandidate("2026", FOR, "q", str(n), "", shown=False, reasons=("x",)) for n in range(LOG_LENGTH + 5)]
    catalog.recalls.log(entries)
    read = catalog.recalls.read_log(LOG_LENGTH * 2)
    assert len(read) == LOG_LENGTH
    assert (read[0].memo_id, read[-1].memo_id) == ("5", str(LOG_LENGTH + 4))


# what ticks mean


def memo(memo_id: str, *tags: str) -> Memo:
    return Memo(memo_id, "x", 0, 0, "PRIVATE", tags=tags)


def test_liking_counts_tags_of_ticked_memos() -> None:
    """Folded, once for a memo; memos that are gone count for nothing."""
    memos = {"1": memo("1", "觀影", "Art"), "2": memo("2", "观影")}
    liking = liking_of([("1", "useful"), ("2", "useful"), ("2", "dismissed"), ("9", "useful")], memos)
    assert liking == {"art": 1.0, "观影": 1.0}


def test_common_and_liked_tags_are_collected_subjects() -> None:
    """A subject that was dismissed more often than it pleased is none; levels of a tag count by themselves."""
    tags = [("AI/agent", 40), ("厨房", 30), ("rare", 2)]
    found = areas_of(("Keramik",), tags, 360, {"厨房": -1.0, "brot": 2.0}, Areas(()))
    assert found.words == ("keramik", "ai", "agent", "brot")


def test_a_recall_note_that_is_being_edited_is_left_alone(films: Home, parts: DeliveryParts) -> None:
    """The property waits until the person has gone from the note."""
    from vaultbrain.errors import NoteBeingEdited

    show(parts, "1")
    tick(films, "1", "Useful")
    read_back_at(parts, PATH)
    careful = DeliveryParts(parts.shelf, Folder(films.vault, spare_s=30), parts.folder, parts.transaction, parts.lock)
    with pytest.raises(NoteBeingEdited):
        show_ticks(careful, FOR)
    os.utime(films.vault / PATH, (time.time() - 31, time.time() - 31))
    assert show_ticks(careful, FOR)


ODD = ["a#b/c.md", "一|二.md", "x^y.md", "[draft] 1.md", "日记/今天 🎉.md", "e\u0301te\u0301.md", f"{'长' * 80}.md"]


@pytest.mark.parametrize("for_note", ODD)
def test_one_recall_note_whatever_the_name(films: Home, parts: DeliveryParts, for_note: str) -> None:
    """Also when the name cannot stand in a link, and when the catalog is lost."""

    def show_for(parts: DeliveryParts, memo_id: str) -> str:
        return deliver(
            parts, RecallRow(for_note, "", query="films", created="2026-11-30T15:20:11"), mention(memo_id), "en", []
        ).path

    assert show_for(parts, "1") == show_for(parts, "2")
    (path,) = (films.vault / "CFlow/Recall").iterdir()
    assert for_note_of(parts.vault, f"CFlow/Recall/{path.name}") == for_note
    with parts.transaction():
        parts.shelf._db.execute("DELETE FROM recall_notes")
    show_for(parts, "3")
    assert list((films.vault / "CFlow/Recall").iterdir()) == [path]


def test_two_notes_of_one_name_have_a_recall_note_each(films: Home, parts: DeliveryParts) -> None:
    """Each with its own mentions."""
    rows = [RecallRow(f"{folder}/day.md", "", query="q", created="2026-11-30T15:20:11") for folder in "ab"]
    paths = [deliver(parts, row, mention(memo_id), "en", []).path for row in rows for memo_id in "12"]
    assert paths[0] == paths[1] != paths[2] == paths[3]


def test_a_deleted_recall_note_takes_its_mentions_along(films: Home, parts: DeliveryParts) -> None:
    """What the person threw away does not come back with the next mention."""
    show(parts, "1")
    (films.vault / PATH).unlink()
    show(parts, "2")
    assert "m1-1" not in text(films)
    assert parts.shelf.mentioned_for(FOR) == {"1", "2"}


def test_a_recall_note_renamed_while_nobody_watched_is_found(films: Home, parts: DeliveryParts) -> None:
    """In its folder; also when Obsidian shortened the link to its note."""
    show(parts, "1")
    renamed = (films.vault / PATH).rename(films.vault / "CFlow/Recall/mine.md")
    assert show(parts, "2").path == "CFlow/Recall/mine.md"
    renamed.write_text(renamed.read_text("utf-8").replace("[[Diary/2026-11-30]]", "[[2026-11-30]]"), encoding="utf-8")
    assert show(parts, "3").path == "CFlow/Recall/mine.md"


def test_a_mention_that_could_not_be_written_is_none(films: Home, parts: DeliveryParts) -> None:
    """It stands in no row, so that it does not come with the next one; a file that is the person's by now stays."""
    show(parts, "1")
    whole = text(films)
    (films.vault / PATH).write_text(whole.replace("%% vaultbrain:end %%", ""), encoding="utf-8")
    with pytest.raises(NoteUnreadable):
        show(parts, "2")
    (films.vault / PATH).write_text(whole, encoding="utf-8")
    show(parts, "3")
    assert ("m1-1" in text(films), "m2-1" in text(films), "m3-1" in text(films)) == (True, False, True)
    assert parts.shelf.mentioned_for(FOR) == {"1", "3"}


def test_ticks_that_the_property_does_not_tell_are_known(films: Home, parts: DeliveryParts) -> None:
    """Until it does."""
    show(parts, "1")
    assert unshown(parts) == []
    tick(films, "1", "Useful")
    read_back_at(parts, PATH)
    assert [row.path for row in unshown(parts)] == [PATH]
    show_ticks(parts, FOR)
    assert unshown(parts) == []


# where recall is switched off, and what a note links to


@pytest.mark.parametrize(
    "note",
    [
        "---\nvb_recall: false\n---\n",
        '---\nvb_recall: "false"\n---\n',
        "---\nvb_recall: no\n---\n",
        "---\nvb_recall: 0\n---\n",
        "---\nvb_recall: false\nbad: [\n---\n",
        "\ufeff---\r\nvb_recall: false\r\n---\r\n",
        "---\ntags: Private, film\n---\n",
        "---\ntags: film private/diary\n---\n",
        "words #Private/x\n",
    ],
)
def test_recall_is_off_where_the_person_said_so(films: Home, note: str) -> None:
    """In whatever way they wrote it."""
    (films.vault / "note.md").write_bytes(f"{note}帮我整理观影资源，有哪些片单可以参考？\n".encode())
    brain = films.brain(recall_exclude_tags=("#private",))
    assert brain.recall_note("note.md", "帮我整理观影资源，有哪些片单可以参考？").reasons == (SWITCHED_OFF,)


@pytest.mark.parametrize("path", ["private/day.md", "Private/2026/day.md"])
def test_recall_is_off_in_excluded_folders(films: Home, path: str) -> None:
    """In either case of letters: many systems do not tell them apart."""
    (films.vault / path).parent.mkdir(parents=True)
    (films.vault / path).write_text("x", encoding="utf-8")
    brain = films.brain(recall_exclude_folders=("Private/",))
    assert brain.recall_note(path, "帮我整理观影资源，有哪些片单可以参考？").reasons == (SWITCHED_OFF,)


def test_memos_that_a_note_links_to_in_any_form_are_known(films: Home) -> None:
    """By path or name, as a wikilink or a Markdown link, wherever the memo's note is; or by the memo's own address."""
    note = films.note_of(456)
    (films.vault / "Kept").mkdir()
    moved = note.rename(films.vault / "Kept" / note.name)
    films.brain().sync()
    forms = [
        f"[[{moved.stem}]]",
        f"[[Kept/{moved.stem}|x]]",
        f"[x](Kept/{quote(moved.name)})",
        f"[x](<Kept/{moved.name}#^m456-1>)",
    ]
    forms.append(f"[x]({moved.name.replace(' ', '%20')})")
    with films.brain().recall_notes() as recall:
        for form in (*forms, "http://127.0.0.1/m/456"):
            assert recall._linked(f"see {form}.") == ["456"], form
        assert recall._linked("see [[other]].") == []


def test_the_log_of_what_was_held_keeps_no_words_of_the_note(films: Home) -> None:
    """But those of the query: a pasted or logged line is none."""
    (films.vault / "note.md").write_text("x", encoding="utf-8")
    for written in (
        "def s3cret():\n    return 1",
        "2026-11-01 10:00 INFO s3cret\n2026-11-01 10:01 INFO s3cret",
        "> s3cret\n> s3cret",
    ):
        films.brain().recall_note("note.md", written)
    entries = films.brain().recall_log(10)
    assert len(entries) == 3
    assert [reason for entry in entries for reason in entry.reasons if "s3cret" in reason or '"' in reason] == []
    assert {reason for entry in entries for reason in entry.reasons} & {"paste", "log line"}


def test_links_follow_a_memo_that_moves_or_goes(films: Home) -> None:
    """A moved note is linked where it is; a memo that is gone keeps its title without a link; what was ticked stays."""
    (films.vault / "Diary").mkdir()
    (films.vault / FOR).write_text("x\n", encoding="utf-8")
    brain = films.brain()
    with films.catalog() as catalog:
        rows = [row for row in map(catalog.load_note, sorted(catalog.note_rows())) if row][:2]
        parts = DeliveryParts(catalog.recalls, Folder(films.vault), "CFlow/Recall", catalog.transaction, brain._answers_lock)
        for row in rows:
            anchor = f"m{row.memo_id}-{row.anchors[0][0]}"
            made = Mention(row.memo_id, f"title {row.memo_id}", "s", "w", "", "", row.path, anchor)
            deliver(parts, RecallRow(FOR, "", created="2026-11-30T15:20:11"), made, "en", [])
    tick(films, rows[0].memo_id, "Useful")
    first, second = rows
    moved = films.vault / "Elsewhere" / "a new name.md"
    moved.parent.mkdir()
    (films.vault / first.path).rename(moved)
    (films.vault / second.path).unlink()
    films.brain().sync()
    note = text(films)
    assert f"[[Elsewhere/a new name#^m{first.memo_id}-" in note
    assert second.path.removesuffix(".md") not in note
    assert f"title {second.memo_id}" in note
    assert note.count("[x]") == 1
    assert Vault.load(films.vault).problems("CFlow/Recall") == []
    before = text(films)
    films.brain().sync()
    assert text(films) == before
