"""What a person writes into a memo's note is searched, cited and counted like the memo's own text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cflow_server import CFlowServer, wire_memo
from hypothesis import given, settings
from hypothesis import strategies as st
from obsidian import Vault

from vaultbrain.memo import Memo
from vaultbrain.sync.edits import MOST_BYTES
from vaultbrain.vault.kept import kept_memo
from vaultbrain.vault.note import new_note

if TYPE_CHECKING:
    from conftest import Home

REGION = "old words ^m2-1\n\nsecond block ^m2-2"
MEMO = Memo("2", "old words\n\nsecond block", 0, 0, "PRIVATE", tags=("birds",))
ANCHORS = ((1, "old words"), (2, "second block"))
NOTE = new_note({"vb_kind": "memo", "vb_id": "2", "tags": ["birds"]}, REGION)


def kept(note: str) -> object:
    return kept_memo(MEMO, note, REGION, ANCHORS, {"tags": ["birds"]})


def test_a_note_that_holds_what_we_wrote_is_the_memo() -> None:
    """Also with other line ends and properties of the person's own."""
    assert kept(NOTE) is None
    assert kept(NOTE.replace("\n", "\r\n")) is None
    assert kept(NOTE.replace("vb_kind", "rating: 5\nvb_kind")) is None


def test_words_around_our_region_belong_to_the_kept_memo() -> None:
    """They stand behind the memo's text, so that its title stays, and cannot be linked to by a block."""
    found = kept_memo(MEMO, NOTE + "\nseen a heron\n", REGION, ANCHORS, {"tags": ["birds"]})
    assert found
    assert (found.memo.content, found.memo.title) == ("old words\n\nsecond block\n\nseen a heron", "old words")
    assert (found.anchors, found.unlinked) == (ANCHORS, ("seen a heron",))


def test_an_edited_region_is_taken_as_it_stands() -> None:
    """Without anchors in the text; a block that kept its anchor can still be linked to, a new one cannot."""
    note = NOTE.replace("old words", "heron at noon").replace("second block ^m2-2", "second block ^m2-2\n\na new one")
    found = kept_memo(MEMO, note, REGION, ANCHORS, {"tags": ["birds"]})
    assert found
    assert found.memo.content == "heron at noon\n\nsecond block\n\na new one"
    assert found.anchors == ((1, "heron at noon"), (2, "second block"))
    assert found.unlinked == ("a new one",)


def test_a_note_without_markers_is_all_the_persons() -> None:
    """Whoever saves a note anew without them wants to find what is in it now."""
    found = kept_memo(MEMO, "heron", REGION, ANCHORS, {})
    assert found
    assert (found.memo.content, found.anchors, found.unlinked) == ("heron", (), ("heron",))


def test_tags_given_in_the_vault_count() -> None:
    """In the properties or in the person's own words; those of the memo are not doubled."""
    note = NOTE.replace('  - "birds"', '  - "birds"\n  - Waders') + "\n#项目/湿地\n"
    found = kept_memo(MEMO, note, REGION, ANCHORS, {"tags": ["birds"]})
    assert found
    assert found.memo.tags == ("birds", "Waders", "项目/湿地")


@given(st.text())
@settings(deadline=None, max_examples=200)
def test_any_text_at_all_is_read(text: str) -> None:
    """Whatever stands in a note, reading it gives a memo of the same id and never fails."""
    for note in (text, NOTE + text, NOTE.replace("old words", text)):
        found = kept_memo(MEMO, note, REGION, ANCHORS, {"tags": ["birds"]})
        assert found is None or found.memo.id == "2"


@pytest.fixture
def birds(server: CFlowServer, home: Home) -> Home:
    server.memos += [wire_memo(1, "sparrow on the sill"), wire_memo(2, "kingfisher by the river."), wire_memo(3, "owl at night")]
    home.brain().sync()
    return home


def found_by(home: Home, words: str) -> list[str]:
    return [hit.memo_id for hit in home.brain().search(words, channel="keyword").hits]


def test_searches_go_by_the_note(birds: Home) -> None:
    """New words are found and replaced ones are not; put back, everything is as before."""
    note = birds.note_of(2)
    before = note.read_text("utf-8")
    note.write_text(before.replace("kingfisher", "heron"), encoding="utf-8")
    assert birds.brain().sync().edits_taken_in == 1
    assert (found_by(birds, "heron"), found_by(birds, "kingfisher")) == (["2"], [])
    note.write_text(before, encoding="utf-8")
    assert birds.brain().sync().edits_taken_in == 1
    assert (found_by(birds, "heron"), found_by(birds, "kingfisher")) == ([], ["2"])
    assert birds.brain().sync().is_empty


def test_a_change_on_the_server_joins_the_persons_words(server: CFlowServer, birds: Home) -> None:
    """The memo's new text and what the person added are both found; the source's own text is what `get` has."""
    note = birds.note_of(2)
    note.write_text(note.read_text("utf-8") + "\na heron, too\n", encoding="utf-8")
    birds.brain().sync()
    server.edit(2, "dipper by the river")
    birds.brain().sync()
    assert (found_by(birds, "heron"), found_by(birds, "dipper"), found_by(birds, "kingfisher")) == (["2"], ["2"], [])
    assert birds.brain().get("2").memo.content == "dipper by the river"
    assert birds.brain().sync().is_empty


def test_a_note_written_anew_holds_the_memo_and_not_the_edit_twice(server: CFlowServer, birds: Home) -> None:
    """What the person wrote is never taken for the memo's text when the note is written."""
    note = birds.note_of(2)
    note.write_text(note.read_text("utf-8") + "\na heron, too\n", encoding="utf-8")
    birds.brain().sync()
    (birds.vault / "CFlow" / "Templates").mkdir()
    (birds.vault / "CFlow" / "Templates" / "memo.md.j2").write_text("From CFlow:\n\n{{ text }}\n", encoding="utf-8")
    birds.brain().sync()
    text = birds.text_of(2)
    assert (text.count("heron"), text.count("kingfisher by the river. ^m2-1"), text.count("From CFlow")) == (1, 1, 1)


def test_a_removed_note_takes_the_persons_words_along(birds: Home) -> None:
    """The memo itself is still found."""
    note = birds.note_of(2)
    note.write_text(note.read_text("utf-8") + "\na heron, too\n", encoding="utf-8")
    birds.brain().sync()
    note.unlink()
    birds.brain().sync()
    assert (found_by(birds, "heron"), found_by(birds, "kingfisher")) == ([], ["2"])


def test_an_answer_may_quote_the_persons_words(birds: Home) -> None:
    """The link then leads to the block, or to the note where the words have no block of ours."""
    note = birds.note_of(2)
    note.write_text(note.read_text("utf-8").replace("kingfisher", "heron") + "\nnesting in April\n", encoding="utf-8")
    birds.brain().sync()
    hit = birds.brain().search("heron").hits[0]
    assert (hit.excerpt, hit.anchor) == ("heron by the river.", "m2-1")
    own = birds.brain().search("nesting in April").hits[0]
    assert (own.memo_id, own.excerpt, own.anchor, bool(own.note)) == ("2", "nesting in April", "", True)


def test_asking_does_not_take_the_persons_edit_for_a_newer_memo(birds: Home) -> None:
    """A strong source is read from the server; that it differs from the note is no news."""
    note = birds.note_of(2)
    note.write_text(note.read_text("utf-8") + "\nheron\n", encoding="utf-8")
    birds.brain().sync()
    version = birds.catalog().memos_version()
    birds.brain().ask("kingfisher by the river")
    assert (found_by(birds, "heron"), birds.catalog().memos_version()) == (["2"], version)


LIVE = "heron <% tp.x %> ![[Secret]] `= this.x` <b>bold</b> $$"


def test_what_the_person_made_live_is_not_live_where_it_is_quoted(birds: Home) -> None:
    """A command or embed in a memo's note would run once more, or elsewhere, in an answer."""
    birds.note_of(2).write_text(birds.text_of(2).replace("kingfisher", LIVE) + f"\nnesting {LIVE}\n", encoding="utf-8")
    birds.brain().sync()
    for words in ("heron", "nesting"):
        answer = (birds.vault / birds.brain().ask(words).path).read_text("utf-8")
        assert "heron" in answer
        assert not [part for part in ("<% tp", "![[Secret", "`= this") if part in answer]
    problems = Vault.load(birds.vault).problems("CFlow/Answers")
    assert [problem for problem in problems if "does not say" not in str(problem)] == []  # there it is live, here it is words


def test_another_file_in_a_notes_place_is_not_its_memo(birds: Home) -> None:
    """Two notes that changed their names, or a file of the person's own: searches go by the memos until a sync has looked."""
    one, two = birds.note_of(1), birds.note_of(2)
    between = one.with_name("between.md")
    one.rename(between)
    two.rename(one)
    between.rename(two)
    paths = [path.relative_to(birds.vault).as_posix() for path in (one, two)]
    assert birds.brain().take_in(paths).edits_taken_in == 0
    assert (found_by(birds, "sparrow"), found_by(birds, "kingfisher")) == (["1"], ["2"])
    birds.brain().sync()
    assert (found_by(birds, "sparrow"), found_by(birds, "kingfisher")) == (["1"], ["2"])
    owl = birds.note_of(3)
    owl.write_text("egret\n", encoding="utf-8")
    birds.brain().take_in([owl.relative_to(birds.vault).as_posix()])
    assert (found_by(birds, "egret"), found_by(birds, "owl")) == ([], ["3"])


def test_a_note_that_became_huge_is_not_searched(birds: Home) -> None:
    """A log that was pasted into it would take minutes to compute; the memo is found as before."""
    note = birds.note_of(2)
    note.write_text(note.read_text("utf-8") + "egret " * (MOST_BYTES // 6 + 1), encoding="utf-8")
    report = birds.brain().sync()
    assert (report.edits_taken_in, report.failed) == (0, [])
    assert (found_by(birds, "egret"), found_by(birds, "kingfisher")) == ([], ["2"])
