"""Syncing: what a person sees in the vault and in the index after the server, the vault or the machine did something."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cflow_server import (
    answer_html,
    answer_json,
    answer_status,
    broken_gzip,
    cut_body,
    make_memos,
    never_answer,
    wire_memo,
)
from obsidian import Vault, hash_tree
from tiny_embedder import TinyEmbedder

from vaultbrain.errors import ListingNotWhole, OriginChanged, SourceError, VaultbrainError, VaultGone, VaultNotFound, WriteFailed
from vaultbrain.settings import find_vault
from vaultbrain.sync.plan import is_mass_removal
from vaultbrain.sync.sync import SyncOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from cflow_server import CFlowServer
    from conftest import Home

LIST = "/api/v1/memo"


def indexed_ids(home: Home) -> set[str]:
    return {entry["memo_id"] for entry in home.brain().manifest()}


def stored_chunk_ids(home: Home) -> set[str]:
    brain = home.brain()
    return brain._vector_store(64).ids()


def assert_agreement(home: Home, memo_ids: set[str]) -> None:
    """Notes, manifest, chunks and Chroma speak of the same memos and chunks."""
    notes = {p.read_text("utf-8").split('vb_id: "')[1].split('"')[0] for p in home.memos.glob("*.md")}
    manifest = home.brain().manifest()
    assert notes == {entry["memo_id"] for entry in manifest} == memo_ids
    assert {c for entry in manifest for c in entry["chunk_ids"]} == stored_chunk_ids(home)
    status = home.brain().status()
    assert (status["outbox"], status["memos_to_index"]) == (0, 0)
    assert status["chunks"] == status["chunks_with_vector"]


# two syncs in a row


def test_second_sync_changes_no_byte_and_loads_no_model(server: CFlowServer, home: Home) -> None:
    """Not in the vault and not in the state; nor is Chroma opened."""
    server.memos += make_memos(40)
    home.brain().sync()
    before = hash_tree(home.vault.parent)
    times = hash_tree(home.vault, with_mtime=True)
    embedder = TinyEmbedder(dimension=64)
    report = home.brain(embedder).sync()
    assert report.is_empty
    assert not report.model_loaded
    assert embedder.calls == 0
    assert hash_tree(home.vault.parent) == before
    assert hash_tree(home.vault, with_mtime=True) == times


def test_every_note_obeys_obsidian(server: CFlowServer, home: Home) -> None:
    """The independent checker finds nothing wrong with 300 notes of every kind."""
    server.memos += make_memos(300)
    home.brain().sync()
    assert Vault.load(home.vault).problems("CFlow", allow_links=False) == []
    assert_agreement(home, {str(m["id"]) for m in server.memos})


def test_a_dry_run_writes_nothing_and_says_what_would_be_done(server: CFlowServer, home: Home) -> None:
    """Before the first sync and later; not even the state folder is made."""
    server.memos += make_memos(12)
    before = hash_tree(home.vault.parent)
    report = home.brain().sync(SyncOptions(dry_run=True))
    assert (report.created, report.notes_written, report.dry_run) == (12, 12, True)
    assert hash_tree(home.vault.parent) == before
    home.brain().sync()
    server.edit(server.memos[0]["id"], "edited")
    before = hash_tree(home.vault.parent)
    assert home.brain().sync(SyncOptions(dry_run=True)).updated == 1
    assert hash_tree(home.vault.parent) == before


# edits on the server (C18)


def test_an_edit_with_an_unchanged_time_is_seen(server: CFlowServer, home: Home) -> None:
    """The content decides, not the clock; the note keeps its path and its block keeps its anchor."""
    server.memos.append(wire_memo(301, "meet at pier 4 #plan\n\nbring rope"))
    home.brain().sync()
    path = home.note_of(301)
    server.memos[0]["content"] = "meet at pier 9 #plan\n\nbring rope"
    embedder = TinyEmbedder(dimension=64)
    report = home.brain(embedder).sync()
    assert (report.updated, report.chunks_embedded, embedder.texts) == (1, 1, ["meet at pier 9 #plan"])
    assert home.note_of(301) == path
    text = home.text_of(301)
    assert "pier 9 #plan ^m301-1" in text
    assert "pier 4" not in text
    assert [hit.memo_id for hit in home.brain().search('"pier 4"', channel="keyword").hits if "pier 4" in hit.excerpt] == []
    assert_agreement(home, {"301"})


def test_flags_change_properties_and_embed_nothing(server: CFlowServer, home: Home) -> None:
    """Pinned and visibility reach the note although the server's time went backwards; no text is embedded again."""
    server.memos.append(wire_memo(301, "meet at pier 9"))
    home.brain().sync()
    server.memos[0].update(visibility="PUBLIC", pinned=True, updatedTs=1_600_000_000)
    embedder = TinyEmbedder(dimension=64)
    report = home.brain(embedder).sync()
    assert (report.updated, embedder.calls) == (1, 0)
    assert 'vb_visibility: "PUBLIC"' in home.text_of(301)
    assert "vb_pinned: true" in home.text_of(301)
    server.memos[0]["pinned"] = False
    home.brain().sync()
    assert "vb_pinned" not in home.text_of(301)


def test_a_shorter_text_leaves_no_old_chunk(server: CFlowServer, home: Home) -> None:
    """Chunks of paragraphs that are gone leave the catalog, Chroma and the vectors."""
    server.memos.append(wire_memo(301, "one\n\ntwo\n\nthree"))
    home.brain().sync()
    server.edit(301, "two")
    report = home.brain().sync()
    assert report.chunks_embedded == 0  # `two` keeps its vector
    assert_agreement(home, {"301"})
    assert stored_chunk_ids(home) == {"301:chunk:0"}
    with sqlite3.connect(home.state / "catalog.sqlite3") as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (1,)


# the person's side (C12, C22, C23)


def test_the_persons_words_survive_a_change_on_the_server(server: CFlowServer, home: Home) -> None:
    """Text outside the region, own properties and an own tag stay as typed while our text changes."""
    server.memos.append(wire_memo(501, "ropes to buy #gear"))
    home.brain().sync()
    note = home.note_of(501)
    mine = (
        note.read_text("utf-8").replace('  - "gear"\n', '  - "gear"\n  - mine\n# remark\nrating: 08\n')
        + "\n## Mine\nask about the splice\n"
    )
    note.write_text(mine, encoding="utf-8")
    stat = note.stat()
    home.brain().sync()
    assert (note.read_text("utf-8"), note.stat().st_mtime_ns) == (mine, stat.st_mtime_ns)
    server.edit(501, "ropes to buy, 12 mm #gear")
    assert home.brain().sync().conflicts == 0
    text = home.text_of(501)
    for line in ("  - mine\n", "# remark\n", "rating: 08\n", "\n## Mine\nask about the splice\n", "ropes to buy, 12 mm"):
        assert line in text
    assert 'aliases:\n  - "ropes to buy, 12 mm #gear"\n' in text


def test_edits_of_the_same_line_on_both_sides_are_both_kept(server: CFlowServer, home: Home) -> None:
    """The note holds the server's line and the person's in a callout, the report says so, and the next sync does nothing."""
    server.memos.append(wire_memo(501, "ropes to buy\n\nsecond block"))
    home.brain().sync()
    note = home.note_of(501)
    note.write_text(note.read_text("utf-8").replace("ropes to buy", "ropes and cords"), encoding="utf-8")
    server.edit(501, "ropes to order\n\nsecond block")
    report = home.brain().sync()
    assert (report.conflicts, report.is_partial) == (1, True)
    text = home.text_of(501)
    assert "ropes to order" in text
    assert "> ropes and cords" in text
    assert Vault.load(home.vault).problems("CFlow") == []
    assert home.brain().sync().is_empty


def test_an_edit_in_our_region_alone_is_left_alone(server: CFlowServer, home: Home) -> None:
    """The person corrected a word in the memo's text; until the server changes that line, it stays."""
    server.memos.append(wire_memo(501, "first block\n\nsecond block"))
    home.brain().sync()
    note = home.note_of(501)
    note.write_text(note.read_text("utf-8").replace("first block", "first block, corrected"), encoding="utf-8")
    report = home.brain().sync()
    assert (report.notes_written, report.edits_taken_in) == (0, 1)
    assert home.brain().sync().is_empty
    server.edit(501, "first block\n\nsecond block, edited")
    assert home.brain().sync().conflicts == 0
    assert "first block, corrected ^m501-1" in home.text_of(501)
    assert "second block, edited ^m501-2" in home.text_of(501)


def test_a_moved_and_renamed_note_is_found_again(server: CFlowServer, home: Home) -> None:
    """By its ``vb_id``, anywhere in the vault; it is updated there and no second note appears."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3, 4)]
    home.brain().sync()
    target = home.vault / "项目" / "renamed.md"
    target.parent.mkdir()
    home.note_of(2).rename(target)
    home.brain().sync()
    server.edit(2, "memo 2, edited")
    home.brain().sync()
    assert home.note_of(2) == target
    assert "memo 2, edited" in target.read_text("utf-8")
    assert home.brain().sync().is_empty


def test_a_note_the_person_deleted_stays_deleted_until_asked_for(server: CFlowServer, home: Home) -> None:
    """Not even an edit on the server brings it back; ``--restore`` does."""
    server.memos += [wire_memo(n, f"memo {n}") for n in (1, 2, 3, 4)]
    home.brain().sync()
    home.note_of(2).unlink()
    assert home.brain().sync().notes_removed == 1
    server.edit(2, "memo 2, edited")
    home.brain().sync()
    assert len(list(home.memos.glob("*.md"))) == 3
    assert home.brain().status()["removed_notes"] == 1
    home.brain().sync(SyncOptions(restore=True))
    assert "memo 2, edited" in home.text_of(2)
    assert home.brain().sync().is_empty


def test_a_file_of_the_persons_at_our_path_is_never_touched(server: CFlowServer, home: Home) -> None:
    """A note, a folder or a note with another memo's id: ours goes elsewhere, for good, and the output says so once."""
    server.memos += [
        wire_memo(241, "Winter moorings\nserver text"),
        wire_memo(242, "Taken by a folder"),
        wire_memo(243, "Other id"),
    ]
    home.memos.mkdir(parents=True)
    (home.memos / "Winter moorings (241).md").write_text("# Winter moorings\n\nmy own page\n", encoding="utf-8")
    (home.memos / "Taken by a folder (242).md").mkdir()
    (home.memos / "Other id (243).md").write_text('---\nvb_kind: "memo"\nvb_id: "999"\n---\nmine\n', encoding="utf-8")
    before = {name: digest for name, digest in hash_tree(home.vault).items() if name.startswith("CFlow/Memos/")}
    report = home.brain().sync()
    assert sum("Winter moorings (241).md is not ours" in notice for notice in report.notices) == 1
    after = hash_tree(home.vault)
    assert {name: after[name] for name in before} == before
    paths = [home.note_of(n) for n in (241, 242, 243)]
    assert home.brain().sync().is_empty
    assert [home.note_of(n) for n in (241, 242, 243)] == paths


def test_a_note_without_markers_is_a_conflict_and_stays(server: CFlowServer, home: Home) -> None:
    """The person took our markers out: the text is theirs, the report names the note, other notes are updated."""
    server.memos += [wire_memo(1, "one"), wire_memo(2, "two"), wire_memo(3, "three")]
    home.brain().sync()
    note = home.note_of(1)
    mine = note.read_text("utf-8").replace("%% vaultbrain:begin %%", "")
    note.write_text(mine, encoding="utf-8")
    server.edit(1, "one, edited")
    server.edit(2, "two, edited")
    report = home.brain().sync()
    assert (report.conflicts, note.read_text("utf-8")) == (1, mine)
    assert "two, edited" in home.text_of(2)
    assert home.brain().sync().is_empty


def test_a_note_that_is_not_text_fails_alone(server: CFlowServer, home: Home) -> None:
    """Bytes that are not UTF-8 are never written over; the rest is finished and the failure listed."""
    server.memos += [wire_memo(1, "one"), wire_memo(2, "two"), wire_memo(3, "three")]
    home.brain().sync()
    note = home.note_of(1)
    note.write_bytes(note.read_bytes() + b"\xff\xfe broken")
    broken = note.read_bytes()
    server.edit(1, "one, edited")
    server.edit(2, "two, edited")
    report = home.brain().sync()
    assert [failure["memo_id"] for failure in report.failed] == ["1"]
    assert note.read_bytes() == broken
    assert "two, edited" in home.text_of(2)


def test_another_machine_takes_the_notes_on(server: CFlowServer, home: Home) -> None:
    """Same vault, lost catalog: no note is written twice, moved notes stay, anchors stay, and nothing clashes."""
    server.memos += make_memos(30)
    home.brain().sync()
    moved = home.vault / "elsewhere.md"
    home.note_of(server.memos[0]["id"]).rename(moved)
    home.brain().sync()
    before = hash_tree(home.vault, with_mtime=True)
    for path in sorted(home.state.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    report = home.brain().sync()
    assert (report.created, report.conflicts, report.failed) == (30, 0, [])
    assert hash_tree(home.vault, with_mtime=True) == before


# deletions (C14)


def test_a_deleted_memo_goes_to_the_vaults_trash(server: CFlowServer, home: Home) -> None:
    """Exactly that one: note in ``.trash``, nothing left in the index, others untouched."""
    server.memos += [wire_memo(n, f"memo {n} about berth {n}") for n in range(1, 11)]
    home.brain().sync()
    name = home.note_of(4).name
    others = {k: v for k, v in hash_tree(home.vault, with_mtime=True).items() if name not in k and "/Memos/" in k}
    server.delete(4)
    report = home.brain().sync()
    assert (report.deleted, report.withheld) == (1, 0)
    assert (home.vault / ".trash" / name).read_text("utf-8").count("memo 4 about berth 4") == 2
    assert {k: v for k, v in hash_tree(home.vault, with_mtime=True).items() if k in others} == others
    assert_agreement(home, {str(n) for n in range(1, 11) if n != 4})
    assert home.brain().sync().is_empty


@pytest.mark.parametrize("listing", [[], "half"])
def test_a_short_listing_deletes_nothing(server: CFlowServer, home: Home, listing: object) -> None:
    """Empty, or half: the count and the single memos disagree with it, so it is no proof of anything."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 11)]
    home.brain().sync()
    before = hash_tree(home.vault.parent)
    server.behaviours[LIST] = [answer_json(server.memos[:4] if listing == "half" else [])] * 3
    with pytest.raises(ListingNotWhole):
        home.brain().sync()
    assert hash_tree(home.vault.parent) == before
    server.behaviours.clear()
    assert home.brain().sync().is_empty


def test_a_short_listing_is_withheld_even_when_the_server_counts_like_that(server: CFlowServer, home: Home) -> None:
    """A server that lost most memos everywhere: withheld, said, and carried out only when confirmed."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 41)]
    home.brain().sync()
    for n in range(1, 25):
        server.delete(n)
    before = hash_tree(home.vault)
    report = home.brain().sync()
    assert (report.deleted, report.withheld, report.is_partial) == (0, 24, True)
    assert hash_tree(home.vault) == before
    assert any("--confirm-deletions" in notice for notice in report.notices)
    assert home.brain().sync(SyncOptions(confirm_deletions=True)).deleted == 24
    assert len(list((home.vault / ".trash").glob("*.md"))) == 24
    assert_agreement(home, {str(n) for n in range(25, 41)})


def test_deletions_are_withheld_by_number_and_share() -> None:
    """More than 20 and more than 10 %; in a small collection more than 2 and more than half."""
    assert not is_mass_removal(20, 30 * 2)
    assert is_mass_removal(21, 100)
    assert not is_mass_removal(21, 210)
    assert not is_mass_removal(2, 2)
    assert is_mass_removal(3, 5)
    assert not is_mass_removal(5, 10)
    assert not is_mass_removal(0, 0)


def test_an_emptied_vault_is_not_filled_again_unasked(server: CFlowServer, home: Home) -> None:
    """All notes gone looks like a disk that is not mounted: stop, say so, change nothing; the index still answers."""
    server.memos += [wire_memo(n, f"memo {n} of the harbour") for n in range(1, 31)]
    home.brain().sync()
    hidden = home.vault.parent / "unmounted"
    home.memos.rename(hidden)
    with pytest.raises(VaultGone):
        home.brain().sync()
    assert not home.memos.exists()
    assert home.brain().search("harbour").hits
    hidden.rename(home.memos)
    assert home.brain().sync().is_empty


def test_a_missing_vault_is_said(home: Home) -> None:
    """Without its settings file a folder is no vault, and nothing is made in it."""
    (home.vault / "vaultbrain.toml").unlink()
    with pytest.raises(VaultNotFound):
        find_vault(home.vault)


def test_another_database_behind_the_address_is_refused(server: CFlowServer, home: Home) -> None:
    """Many ids with other creation times are other memos: a swapped or restored server may not rewrite the mirror."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 41)]
    home.brain().sync()
    before = hash_tree(home.vault.parent)
    for memo in server.memos:
        memo["createdTs"] += 86_400
    with pytest.raises(OriginChanged):
        home.brain().sync()
    assert hash_tree(home.vault.parent) == before


# answers that are no listing (C16)

NOT_LISTINGS = {
    "login page": answer_html(b"<!doctype html><title>Sign in</title>"),
    "cut body": cut_body(),
    "error object": answer_json({"code": 16, "message": "unauthenticated", "details": []}),
    "slow down": answer_status(429, retry_after="0"),
    "broken gzip": broken_gzip(),
    "null": answer_json(None),
    "newer shape": answer_json({"memos": [], "nextPageToken": ""}),
    "server error": answer_status(500),
    "token expired": answer_status(401),
}


@pytest.mark.parametrize("name", NOT_LISTINGS)
def test_what_is_no_listing_changes_nothing(server: CFlowServer, home: Home, name: str) -> None:
    """No byte in vault or state, an error that names the address, and the next good sync finds nothing to do."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 4)]
    home.brain().sync()
    before = hash_tree(home.vault.parent)
    server.behaviours[LIST] = lambda exchange, behave=NOT_LISTINGS[name]: behave(exchange)
    with pytest.raises(SourceError) as caught:
        home.brain().sync()
    assert server.url in caught.value.fact("address")
    assert "test-token" not in str(caught.value.facts)
    assert hash_tree(home.vault.parent) == before
    server.behaviours.clear()
    assert home.brain().sync().is_empty


def test_a_server_that_never_answers_ends_in_time(server: CFlowServer, home: Home) -> None:
    """The time-out of the settings holds for each try."""
    server.behaviours[LIST] = never_answer(30)
    with pytest.raises(SourceError, match="no answer within 1 s"):
        home.brain(timeout=1).sync()


# batches (C26) and blank memos (C07)


def test_equal_texts_are_all_indexed_and_embedded_once(server: CFlowServer, home: Home) -> None:
    """Twins in one memo and across memos share a vector, and each has its own chunk."""
    server.memos += [
        wire_memo(601, "same words"),
        wire_memo(602, "same words"),
        wire_memo(603, "same words\n\nsame words\n\nsame words"),
    ]
    embedder = TinyEmbedder(dimension=64)
    home.brain(embedder).sync()
    assert embedder.texts == ["same words"]
    assert_agreement(home, {"601", "602", "603"})
    assert len(stored_chunk_ids(home)) == 5


@pytest.mark.slow
def test_thousands_of_memos_and_chunks_fit(server: CFlowServer, home: Home) -> None:
    """3,000 memos and one of 6,000 paragraphs: more than Chroma takes in one call."""
    server.memos += [wire_memo(n, f"memo {n} of harbour {n % 97}") for n in range(1, 3001)]
    server.memos.append(wire_memo(3001, "\n\n".join(f"short paragraph number {n} of a long memo" for n in range(6_000))))
    report = home.brain(TinyEmbedder(dimension=8)).sync()
    assert (report.created, report.failed, report.chunks_waiting) == (3001, [], 0)
    assert len(home.brain(TinyEmbedder(dimension=8)).manifest()) == 3001
    assert home.brain(TinyEmbedder(dimension=8))._vector_store(8).count() == 9_000


class FailingEmbedder(TinyEmbedder):
    """Fails at its third batch, as a store or a model may."""

    def embed_passages(self, texts):  # type: ignore[no-untyped-def]
        if self.calls == 2:
            raise RuntimeError("out of memory")
        return super().embed_passages(texts)


def test_finished_batches_are_kept_when_one_fails(server: CFlowServer, home: Home) -> None:
    """What was embedded before the failure is in the catalog; the next run embeds only the rest."""
    server.memos += [wire_memo(n, f"memo number {n} here") for n in range(1, 201)]
    with pytest.raises(RuntimeError):
        home.brain(FailingEmbedder(dimension=64)).sync()
    status = home.brain().status()
    assert (status["notes"], status["chunks_with_vector"]) == (200, 64)
    embedder = TinyEmbedder(dimension=64)
    home.brain(embedder).sync()
    assert len(embedder.texts) == 136
    assert_agreement(home, {str(n) for n in range(1, 201)})


def test_blank_and_picture_memos_are_mirrored_but_not_embedded(server: CFlowServer, home: Home) -> None:
    """Empty text, white space, a pasted picture of 5 MB: no blank text and no base64 reaches the model, all have notes."""
    picture = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgACVKb5S53g" * 160_000
    file = {"id": 9, "filename": "IMG_1.jpg", "type": "image/jpeg", "size": 120, "externalLink": "", "createdTs": 1_700_000_000}
    server.memos += [
        wire_memo(171, "", resourceList=[file]),
        wire_memo(172, "   \n\n\t\n"),
        wire_memo(173, f"before the picture ![pic]({picture}) after the picture"),
        wire_memo(174, "#justatag"),
        wire_memo(175, "normal text about a lighthouse"),
    ]
    embedder = TinyEmbedder(dimension=64)
    home.brain(embedder).sync()
    assert all(text.strip() and len(text) < 200 for text in embedder.texts)
    assert picture in home.text_of(173)
    assert len([c for c in stored_chunk_ids(home) if c.startswith("173:")]) == 1
    assert home.brain().search("lighthouse").hits[0].memo_id == "175"
    assert home.brain().search("after the picture").hits[0].memo_id == "173"
    assert {"171", "172", "174"} <= indexed_ids(home)
    assert home.brain().sync().is_empty


# odd text (C01, C02, C05, C09, C10)


def test_memos_that_look_like_front_matter_keep_every_line(server: CFlowServer, home: Home) -> None:
    """``---`` at the start of a memo is text: only our own keys are properties, and no line is lost over several syncs."""
    contents = {
        101: "---\nbuy: lamp oil\n---\nThe hut key hangs behind the barometer.",
        102: "---\n\nonly a rule on top, then one line",
        103: "--- two-columns: left\nleft half of the page\n---\nright half",
        104: "title: not really a title\n---\nsetext heading above",
    }
    server.memos += [wire_memo(n, text) for n, text in contents.items()]
    home.brain().sync()
    vault = Vault.load(home.vault)
    assert vault.problems("CFlow") == []
    for n, content in contents.items():
        note = vault.notes[home.note_of(n).relative_to(home.vault).as_posix()]
        assert all(key.startswith("vb_") or key in ("aliases", "tags") for key in note.properties)
        body = home.text_of(n).split("---\n", 2)[2]
        position = 0
        for line in content.split("\n"):
            position = body.index(line, position)
    assert home.text_of(101).count("lamp oil") == 1
    assert home.brain().sync().is_empty
    server.memos[0]["visibility"] = "PUBLIC"
    home.brain().sync()
    assert "lamp oil" in home.text_of(101)
    assert home.brain().search("barometer").hits[0].memo_id == "101"
    assert home.brain().search("right half").hits[0].memo_id == "103"


def test_titles_and_tags_stay_the_strings_they_are(server: CFlowServer, home: Home) -> None:
    """Colons, quotes, numbers, dates, ``yes`` and ``null`` come back as typed from a YAML 1.1 reader."""
    contents = {
        111: "Tide table: north quay, \"spring\" & 'neap'\nlow water #yes #no #null",
        112: "@harbour - {berth} %7 *two*\n#1e5 #0x1f #2026-01-05 #1_000 #off",
        113: "- starts with a dash\n#~ #true",
        114: "12:30:45\na time as the whole title #y",
        115: "C:\\temp\\new: \\n is not a newline",
        116: "ends with a colon:\nnext line",
        117: "'unbalanced quote\n#on",
    }
    server.memos += [wire_memo(n, text, creatorUsername="no" if n == 115 else "u") for n, text in contents.items()]
    home.brain().sync()
    vault = Vault.load(home.vault)
    assert vault.problems("CFlow") == []
    found = {n: vault.notes[home.note_of(n).relative_to(home.vault).as_posix()].properties for n in contents}
    assert {n: p["aliases"] for n, p in found.items()} == {n: [text.split("\n")[0]] for n, text in contents.items()}
    assert found[111]["tags"] == ["yes", "no", "null"]
    assert found[112]["tags"] == ["1e5", "0x1f", "2026-01-05", "1_000", "off"]
    assert (found[113]["tags"], found[114]["tags"], found[117]["tags"]) == (["true"], ["y"], ["on"])
    assert found[115]["vb_creator"] == "no"


def test_half_emoji_and_control_characters_stop_nothing(server: CFlowServer, home: Home) -> None:
    """The bad character is replaced, the neighbours are written, and the next sync sees no change."""
    server.memos += [
        wire_memo(151, "ferry at nine \ud83d then tea"),
        wire_memo(152, "nul >\x00< escape >\x1b[31m<"),
        wire_memo(153, "whole \U0001f375 and family \U0001f469\u200d\U0001f467"),
        wire_memo(154, "plain neighbour memo"),
    ]
    home.brain().sync()
    assert "ferry at nine \ufffd then tea" in home.text_of(151)
    assert "\U0001f375 and family \U0001f469\u200d\U0001f467" in home.text_of(153)
    assert Vault.load(home.vault).problems("CFlow") == []
    assert home.brain().sync().is_empty
    assert "ferry at nine" in home.brain().ask("ferry at nine").text


def test_structural_characters_in_titles_give_distinct_linkable_notes(server: CFlowServer, home: Home) -> None:
    """One safe name a memo, inside the folder; an answer that cites all of them links to every one."""
    titles = [
        "File: A",
        "File: B",
        "C# notes",
        "C notes",
        "a/b\\c",
        "x|y and [z]",
        "plan^2 #1",
        'what? *now* <b> "q"',
        "../../escape",
        "[[a link]]",
    ]
    server.memos += [wire_memo(200 + n, f"{title}\nbody number {n} #quay") for n, title in enumerate(titles)]
    home.brain().sync()
    assert all(f"body number {n}" in home.text_of(200 + n) for n in range(10))
    assert all(path.resolve().parent == home.memos.resolve() for path in home.vault.rglob("*.md") if path.name != "Home.md")
    asked = home.brain().ask("quay")
    vault = Vault.load(home.vault)
    assert vault.problems("CFlow") == []
    assert len(vault.excerpts(vault.notes[asked.path])) == 10
    assert home.brain().sync().is_empty


def test_twins_in_case_unicode_or_title_keep_their_own_note(server: CFlowServer, home: Home) -> None:
    """Eight memos, eight notes, whatever order the server lists them in; equal picture names link to their own file."""
    titles = [
        "Harbour log\nlower",
        "HARBOUR LOG\nupper",
        "Caf\u00e9 list\ncomposed",
        "Cafe\u0301 list\ndecomposed",
        "Same\nfirst",
        "Same\nsecond",
    ]
    server.memos += [wire_memo(211 + n, text) for n, text in enumerate(titles)]
    file = {"filename": "image.png", "type": "image/png", "size": 3, "externalLink": "", "createdTs": 1_700_000_000}
    server.memos += [
        wire_memo(217, "shot one", resourceList=[{"id": 31, **file}]),
        wire_memo(218, "shot two", resourceList=[{"id": 32, **file}]),
    ]
    home.brain().sync()
    names = [p.name for p in home.memos.glob("*.md")]
    assert len(names) == len({os.path.normcase(n).casefold() for n in names}) == 8
    assert "/o/r/31" in home.text_of(217)
    assert "/o/r/32" in home.text_of(218)
    before = hash_tree(home.vault, with_mtime=True)
    server.memos.reverse()
    assert home.brain().sync().is_empty
    assert hash_tree(home.vault, with_mtime=True) == before
    assert Vault.load(home.vault).problems("CFlow") == []


# the machine


def test_a_full_disk_stops_with_what_was_done_kept(server: CFlowServer, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note in work is not half-written, earlier ones are whole, and the next sync goes on."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 301)]
    real, written = Path.replace, []

    def full(self: Path, target: Path) -> Path:
        written.append(target)
        if len(written) > 250:
            raise OSError(28, "No space left on device")
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(WriteFailed, match="No space left"):
            home.brain().sync()
    assert len(list(home.memos.glob("*.md"))) == 250
    assert not list(home.memos.glob(".vaultbrain-*"))
    home.brain().sync()
    assert_agreement(home, {str(n) for n in range(1, 301)})
    assert home.brain().sync().is_empty


def test_what_a_power_failure_leaves_of_a_note_is_written_again(server: CFlowServer, home: Home) -> None:
    """An empty file where we wrote a note holds nothing of anybody's."""
    server.memos += [wire_memo(n, f"memo {n}") for n in range(1, 5)]
    home.brain().sync()
    note = home.note_of(2)
    text = note.read_bytes()
    note.write_bytes(b"")
    assert home.brain().sync().notes_written == 1
    assert note.read_bytes() == text


def test_a_lost_or_dirty_vector_index_is_rebuilt_without_embedding(server: CFlowServer, home: Home) -> None:
    """Chroma's folder may be deleted or torn at any time: the vectors are in the catalog."""
    server.memos += make_memos(30)
    home.brain().sync()
    (home.state / "chroma" / "DIRTY").write_text("writing", encoding="utf-8")
    embedder = TinyEmbedder(dimension=64)
    report = home.brain(embedder).sync()
    assert (report.vectors_rebuilt, embedder.calls) == (True, 0)
    assert_agreement(home, {str(m["id"]) for m in server.memos})


def test_another_model_or_chunk_size_renews_the_index_only(server: CFlowServer, home: Home) -> None:
    """Notes stay; texts that another cut leaves as they were keep their vectors."""
    server.memos += [wire_memo(1, "短。" * 100), wire_memo(2, "short")]
    home.brain().sync()
    before = hash_tree(home.vault, with_mtime=True)
    embedder = TinyEmbedder(dimension=64)
    report = home.brain(embedder, chunk_size=80, chunk_overlap=10).sync()
    assert report.chunks_embedded > 0
    assert "short" not in embedder.texts
    assert hash_tree(home.vault, with_mtime=True) == before
    other = TinyEmbedder(dimension=32)
    other.fingerprint = "tiny:other"
    home.brain(other).sync()
    assert "short" in other.texts


def test_full_computes_everything_anew(server: CFlowServer, home: Home) -> None:
    """``sync --full`` embeds every text again and leaves the notes alone."""
    server.memos += make_memos(10)
    home.brain().sync()
    before = hash_tree(home.vault, with_mtime=True)
    embedder = TinyEmbedder(dimension=64)
    report = home.brain(embedder).sync(SyncOptions(full=True))
    assert report.chunks_embedded == len(embedder.texts) > 0
    assert hash_tree(home.vault, with_mtime=True) == before
    assert_agreement(home, {str(m["id"]) for m in server.memos})


def test_an_interrupted_first_sync_has_notes_and_words_and_goes_on(server: CFlowServer, home: Home) -> None:
    """Stopped while computing vectors: notes and keyword search are complete, no vector is computed twice."""
    server.memos += [wire_memo(n, f"memo number {n} of the harbour") for n in range(1, 201)]
    embedder = TinyEmbedder(dimension=64)
    with pytest.raises(VaultbrainError):
        home.brain(embedder).sync(should_stop=lambda: embedder.calls >= 2)
    assert len(list(home.memos.glob("*.md"))) == 200
    found = home.brain().search("harbour 150", channel="keyword")
    assert found.hits[0].memo_id == "150"
    done = set(embedder.texts)
    rest = TinyEmbedder(dimension=64)
    home.brain(rest).sync()
    assert done.isdisjoint(rest.texts)
    assert len(done) + len(rest.texts) == 200
    assert_agreement(home, {str(n) for n in range(1, 201)})


def test_newest_memos_get_their_vectors_first(server: CFlowServer, home: Home) -> None:
    """What a person wrote last is what they look for first."""
    server.memos += [wire_memo(n, f"memo number {n}", createdTs=1_700_000_000 + n) for n in range(1, 101)]
    embedder = TinyEmbedder(dimension=64)
    home.brain(embedder).sync()
    assert embedder.texts[:3] == ["memo number 100", "memo number 99", "memo number 98"]


def test_an_export_file_is_a_source_too(make_home: Callable[[str], Home], tmp_path: Path) -> None:
    """Notes, search and answers come from a JSON file in the vault as they do from a server."""
    home = make_home("export.json")
    (home.vault / "export.json").write_text(json.dumps(make_memos(20)), encoding="utf-8")
    assert home.brain().sync().created == 20
    assert home.brain().sync().is_empty
    (home.vault / "export.json").write_text(json.dumps(make_memos(20))[:-40], encoding="utf-8")
    before = hash_tree(home.vault)
    with pytest.raises(SourceError):
        home.brain().sync()
    assert hash_tree(home.vault) == before
