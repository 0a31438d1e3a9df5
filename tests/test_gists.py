"""Gists: what a memo is about and worth, stored once, right at any moment, and shown by searches, notes and the terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml  # type: ignore[import-untyped]
from cflow_server import wire_memo
from hypothesis import given
from hypothesis import strategies as st
from obsidian import Vault, hash_tree
from shell import ROOT

from vaultbrain.cli.searching import shown_gist as on_terminal
from vaultbrain.gist.gist import RULES_VERSION, gist_of
from vaultbrain.gist.stored import fill_gists, load_gists
from vaultbrain.gist.summary import headline_of, original_link, summary_of
from vaultbrain.gist.value import value_in, value_of
from vaultbrain.index.catalog import Catalog
from vaultbrain.index.tokens import keyword_entry
from vaultbrain.memo import Memo, clean_text
from vaultbrain.retrieve.search import Hit
from vaultbrain.sync.mirror import shown_gist
from vaultbrain.sync.report import no_progress
from vaultbrain.sync.sync import SyncOptions
from vaultbrain.vault.memo_note import memo_properties
from vaultbrain.vault.note import BEGIN, new_note, read_properties

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cflow_server import CFlowServer
    from conftest import Home

BREAD = "酸面包的流程：先养酵种三天，再揉面，最后冷藏十二小时。 https://example.org/bread #厨房"
BACKUP = "備份規則：先做快照，再同步到移動硬碟，每月抽三個檔案恢復一次。"
DOCKER = "When Docker fills the disk: first run docker system df, then prune the build cache. Never touch volumes."
MOOD = "好累，不想说话"
TEXTS = {1: BREAD, 2: BACKUP, 3: DOCKER, 4: MOOD}


def memo(content: str, memo_id: str = "7") -> Memo:
    url = f"http://memos.test/m/{memo_id}"
    return Memo(id=memo_id, content=content, created=0, updated=0, visibility="PRIVATE", url=url)


@pytest.fixture
def catalog() -> Iterator[Catalog]:
    """Four memos, nothing found out about them yet."""
    with Catalog(None) as opened:
        for number, content in TEXTS.items():
            kept = memo(content, str(number))
            opened.write_memo(kept, keyword_entry(kept))
        yield opened


def fill(catalog: Catalog) -> None:
    fill_gists(catalog, no_progress, lambda: False)


@pytest.fixture
def kitchen(server: CFlowServer, home: Home) -> Home:
    server.memos += [wire_memo(n, text) for n, text in TEXTS.items()]
    home.brain().sync()
    return home


def assert_right(home: Home) -> None:
    """Every memo has the gist of its text as it is searched, and there are no others."""
    with home.catalog() as catalog:
        memos = catalog.load_memos(list(catalog.memo_marks()))
        assert catalog.gists.load(memos, RULES_VERSION) == {memo_id: gist_of(kept) for memo_id, kept in memos.items()}
        assert catalog._db.execute("SELECT count(*) FROM gists").fetchone() == (len(memos),)


# one gist


@pytest.mark.parametrize("content", [*TEXTS.values(), "", "#厨房", "https://example.org/only"])
def test_a_gist_says_what_its_parts_say(content: str) -> None:
    """Headline, sentence, source, and a value from which the judge's comes back whole."""
    found, of = gist_of(memo(content)), memo(content)
    assert (found.headline, found.summary, found.source) == (headline_of(content), summary_of(content), original_link(of))
    assert value_in(found) == value_of(of)
    assert found.value == value_of(of).score
    assert found.content_hash == of.content_hash


# the shelf


def test_what_is_stored_is_read_back(catalog: Catalog) -> None:
    """Whole, of the memos that are asked for; by the rules of another release nothing is there."""
    assert catalog.gists.missing(RULES_VERSION) == ["4", "3", "2", "1"]
    fill(catalog)
    assert catalog.gists.missing(RULES_VERSION) == []
    assert catalog.gists.load(["1", "4", "99"], RULES_VERSION) == {n: gist_of(memo(TEXTS[int(n)], n)) for n in ("1", "4")}
    assert catalog.gists.load(["1"], RULES_VERSION + 1) == {}
    assert len(catalog.gists.missing(RULES_VERSION + 1)) == 4


def test_a_memo_that_is_written_again_loses_its_gist(catalog: Catalog) -> None:
    """Also when only its address changed, which the hash of its text does not tell."""
    fill(catalog)
    moved = replace(memo(BACKUP, "2"), url="http://elsewhere.test/m/2")
    catalog.write_memo(moved, keyword_entry(moved))
    assert catalog.gists.missing(RULES_VERSION) == ["2"]
    fill(catalog)
    assert catalog.gists.load(["2"], RULES_VERSION)["2"].source == "http://elsewhere.test/m/2"


def test_a_deleted_memo_takes_its_gist_along(catalog: Catalog) -> None:
    """In the same transaction: there is no moment in which one is there without the other."""
    fill(catalog)
    with suppress(KeyboardInterrupt), catalog.transaction():
        catalog.delete_memo("1", title="", deleted_at="", trash_path="")
        raise KeyboardInterrupt
    assert catalog.gists.load(["1"], RULES_VERSION)
    catalog.delete_memo("1", title="", deleted_at="", trash_path="")
    assert catalog.gists.load(["1"], RULES_VERSION) == {}


def test_readers_get_what_is_stored_or_make_it(catalog: Catalog) -> None:
    """The stored gist serves while it is of this very text; where none is, one is made, and nothing is written by reading."""
    stored = replace(gist_of(memo(BREAD, "1")), summary="as stored")
    catalog.gists.write([stored], RULES_VERSION)
    bread, backup = memo(BREAD, "1"), memo(BACKUP, "2")
    assert load_gists(catalog, [bread, backup]) == {"1": stored, "2": gist_of(backup)}
    edited = memo(f"{BREAD} 又改了", "1")
    assert load_gists(catalog, [edited]) == {"1": gist_of(edited)}
    assert catalog.gists.missing(RULES_VERSION) == ["4", "3", "2"]


DIES = """
import os, signal, sys
from pathlib import Path
from vaultbrain.gist import stored
from vaultbrain.index.catalog import Catalog

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

stored.BATCH = 2
with Catalog(Path(sys.argv[1])) as catalog:
    if sys.argv[2] == "inside":
        stored.gist_of = die
    stored.fill_gists(catalog, die, lambda: False)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
@pytest.mark.parametrize(("where", "left"), [("inside", 4), ("between", 2)])
def test_a_kill_costs_a_batch_at_most(kitchen: Home, where: str, left: int) -> None:
    """Killed while gists are made, or between two batches: whole batches are there, and the next sync makes the rest."""
    with kitchen.catalog() as opened:
        opened._db.execute("DELETE FROM gists")
    killed = subprocess.run([sys.executable, "-c", DIES, str(opened.path), where], cwd=ROOT, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with kitchen.catalog() as opened:
        assert len(opened.gists.missing(RULES_VERSION)) == left
    kitchen.brain().sync()
    assert_right(kitchen)


def test_who_is_to_stop_stops(catalog: Catalog) -> None:
    """Ctrl-C ends it before the next batch; nothing half done is left."""
    fill_gists(catalog, no_progress, lambda: True)
    assert len(catalog.gists.missing(RULES_VERSION)) == 4


# through a sync


def test_a_sync_stores_them_and_the_next_one_changes_nothing(kitchen: Home) -> None:
    """Every memo has one after the first sync; the second leaves every byte of vault and state as it is."""
    assert_right(kitchen)
    before = hash_tree(kitchen.vault, with_mtime=True), hash_tree(kitchen.state)["catalog.sqlite3"]
    assert kitchen.brain().sync().is_empty
    assert (hash_tree(kitchen.vault, with_mtime=True), hash_tree(kitchen.state)["catalog.sqlite3"]) == before


def test_they_follow_the_server(server: CFlowServer, kitchen: Home) -> None:
    """A memo that changed, one that came and one that went; the note tells the new sentence."""
    server.memos[0] = wire_memo(1, f"{BACKUP} 新的", updated=1_800_000_000)
    server.memos[1] = wire_memo(9, DOCKER)
    kitchen.brain().sync()
    assert_right(kitchen)
    assert read_properties(kitchen.text_of(1))["vb_summary"] == summary_of(BACKUP)


def test_they_follow_what_the_person_wrote(kitchen: Home) -> None:
    """Searches tell the sentence as it stands in the note, at once; the note's property is of the memo as the server has it."""
    path = kitchen.note_of(3)
    head, begin, body = kitchen.text_of(3).partition(BEGIN)
    body = body.replace("first run docker system df", "first read the logs of every container")
    path.write_bytes(f"{head}{begin}{body}".encode())
    kitchen.brain().take_in([path.relative_to(kitchen.vault).as_posix()])
    assert_right(kitchen)
    (hit,) = kitchen.brain().search("docker", channel="keyword", top_k=1).hits
    assert "logs of every container" in hit.summary
    kitchen.brain().sync()
    assert_right(kitchen)
    assert read_properties(kitchen.text_of(3))["vb_summary"] == summary_of(DOCKER)


def test_a_question_that_finds_a_changed_memo_leaves_its_gist_right(server: CFlowServer, kitchen: Home) -> None:
    """A memo that an answer took in from the server has the gist of its new text."""
    server.memos[2] = wire_memo(3, f"{DOCKER} Logs grow, too: cap them at ten megabytes.", updated=1_800_000_000)
    kitchen.brain().ask("docker")
    assert "ten megabytes" in kitchen.text_of(3)
    assert_right(kitchen)


def test_new_rules_make_them_and_their_notes_anew(kitchen: Home) -> None:
    """After an upgrade that counts the rules up, one sync brings all of them and every note up to date."""
    with kitchen.catalog() as opened:
        opened._db.execute("UPDATE gists SET rules = rules - 1, summary = 'old'")
        opened._db.execute("UPDATE notes SET look = 'old'")
    assert kitchen.brain().sync().notes_written == len(TEXTS)
    assert_right(kitchen)


def test_a_catalog_of_format_4_serves_at_once_and_is_filled(kitchen: Home) -> None:
    """Before the first sync after the upgrade searches make the gists that they show; the sync stores all."""
    with kitchen.catalog() as opened:
        opened._db.execute("DROP TABLE gists")
        opened._db.execute("PRAGMA user_version = 4")
    (hit,) = kitchen.brain().search("酸面包", channel="keyword", top_k=1).hits
    assert hit.summary == summary_of(BREAD)
    with kitchen.catalog() as opened:
        assert len(opened.gists.missing(RULES_VERSION)) == len(TEXTS)
    kitchen.brain().sync(SyncOptions(dry_run=True))
    with kitchen.catalog() as opened:
        assert len(opened.gists.missing(RULES_VERSION)) == len(TEXTS)
    kitchen.brain().sync()
    assert_right(kitchen)


# what is shown of them


def test_hits_tell_them(kitchen: Home) -> None:
    """A program reads sentence, source, value and reasons of every hit; without a link the source is the memo's own address."""
    bread, backup = (
        kitchen.brain().search(query, channel="keyword", top_k=1).hits[0].as_json() for query in ("酸面包", "備份規則")
    )
    assert (bread["summary"], bread["source"]) == (summary_of(BREAD), "https://example.org/bread")
    assert (bread["value"], bread["gives"]) == (value_of(memo(BREAD)).score, value_of(memo(BREAD)).gives)
    assert backup["source"] == backup["url"]


def test_a_hit_says_why_it_is_worth_nothing(kitchen: Home) -> None:
    """What rules a memo out stands in place of what it gives."""
    hit = next(hit for hit in kitchen.brain().search("好累", channel="keyword").hits if hit.memo_id == "4")
    assert (hit.value, hit.gives) == (0.0, ("only mood",))


@pytest.mark.parametrize(
    ("excerpt", "summary", "source", "lines"),
    [
        ("先做快照，再同步。", "先做快照，再同步。", "http://memos.test/m/7", []),
        ("**先做快照**，再同步。每月恢复一次。", "先做快照，再同步。", "http://memos.test/m/7", []),
        ("每月恢复一次。", "先做快照，再同步。", "http://memos.test/m/7", ["also: 先做快照，再同步。"]),
        ("见 https://example.org/a", "", "https://example.org/a", []),
        ("每月恢复一次。", "", "https://example.org/a", ["source: https://example.org/a"]),
        ("x", "先做快照。", "https://example.org/a", ["also: 先做快照。", "source: https://example.org/a"]),
        ("x", "", "", []),
    ],
)
def test_the_terminal_shows_only_what_the_excerpt_does_not(excerpt: str, summary: str, source: str, lines: list[str]) -> None:
    """No sentence and no address stands there twice, and a memo's own address never."""
    url = "http://memos.test/m/7" if source else ""
    hit = Hit("7", "强", 0.5, "", excerpt, "", "", url, (), (), 0, None, summary=summary, source=source)
    assert [line.strip() for line in on_terminal(hit)] == lines


def test_a_note_tells_what_helps(kitchen: Home) -> None:
    """Sentence and source of each memo; worth and reasons where there are some."""
    bread, mood = (read_properties(kitchen.text_of(n)) for n in (1, 4))
    assert (bread["vb_summary"], bread["vb_source"]) == (summary_of(BREAD), "https://example.org/bread")
    assert (bread["vb_worth"], bread["vb_gives"]) == (round(100 * value_of(memo(BREAD)).score), list(value_of(memo(BREAD)).gives))
    assert mood["vb_source"] == mood["vb_url"]
    assert not {"vb_worth", "vb_gives"} & mood.keys()
    assert Vault.load(kitchen.vault).problems("CFlow/Memos") == []


def test_a_memo_that_has_nothing_to_give_any_more_loses_the_property(server: CFlowServer, kitchen: Home) -> None:
    """Nothing of the old reasons stays in the note, and what the person wrote there does."""
    path = kitchen.note_of(1)
    path.write_text(kitchen.text_of(1).replace('vb_kind: "memo"\n', 'vb_kind: "memo"\nmine: 1\n'), "utf-8")
    server.memos[0] = wire_memo(1, MOOD, updated=1_800_000_000)
    kitchen.brain().sync()
    found = read_properties(kitchen.text_of(1))
    assert found["mine"] == 1
    assert not {"vb_worth", "vb_gives"} & found.keys()
    assert '- "steps"' not in kitchen.text_of(1)


@pytest.mark.parametrize(
    "content",
    [
        "标题\n\n看 `[[观影清单]]` 是我常看的一篇",
        "标题\n\n[**[观影清单片单集合]**] 好看",
        "标题\n\n\\[[观影清单]] 是我常看的一篇",
    ],
)
def test_a_summary_makes_no_link(content: str) -> None:
    """Brackets of code, or that marks held apart, do not come together in a property."""
    summary = memo_properties(memo(content), shown_gist(gist_of(memo(content))), None)["vb_summary"]
    assert "[ [观影清单" in str(summary)
    assert "[[" not in str(summary)


WILD = st.lists(
    st.sampled_from(["[[x]]", "[[[a]]]", "<% tp.x %>", "%%", "'", '"', ": ", "- ", "#", "\u2028", "\x85", "\n", "```", "---"])
    | st.sampled_from(["觀影", "步骤：先看再写。", "what this is about, said once"])
    | st.text(max_size=8),
    max_size=12,
).map(lambda parts: clean_text("".join(parts)))


@given(WILD)
def test_no_memo_breaks_out_of_its_properties(content: str) -> None:
    """They read back as they were meant, no link is made in them, and Templater finds no command."""
    properties = memo_properties(memo(content), shown_gist(gist_of(memo(content))), None)
    text = new_note(properties, "")
    front = text.split("\n---\n")[0]
    assert yaml.safe_load(front).get("vb_summary", "") == properties.get("vb_summary", "")
    assert "[[" not in str(properties.get("vb_summary", ""))
    assert "<%" not in front


def test_of_a_very_long_memo_the_beginning_counts() -> None:
    """Pictures pasted as data, and what stands beyond twenty thousand characters, change nothing but the hash."""
    picture = "![scan](data:image/png;base64," + "iVBORw0KGgo" * 3_000 + ")"
    short = memo(f"{BREAD}\n\n" + "再写一句没有用的话。" * 2_100)
    long = replace(short, content=f"{picture}{short.content}" + "\n\nhttps://late.example.org\n\n- 一\n- 二\n- 三")
    assert replace(gist_of(long), content_hash="") == replace(gist_of(short), content_hash="")
    assert gist_of(long).source == "https://example.org/bread"
