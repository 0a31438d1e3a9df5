"""A note's text: what is ours in it, and that nothing else ever changes."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.vault.merge import CLASH_TITLE, merge_texts
from vaultbrain.vault.note import BEGIN, END, Date, UpdatedNote, emit_properties, new_note, read_region, update_note

PROPERTIES = {
    "vb_kind": "memo",
    "vb_id": "501",
    "vb_created": Date("2025-03-01T21:04:33"),
    "aliases": ["ropes"],
    "tags": ["gear"],
}
BASE = {"vb_kind": [], "vb_id": [], "vb_created": [], "aliases": ["ropes"], "tags": ["gear"]}


def updated(text: str, region: str, base_region: str | None = "ropes to buy ^m501-1", **changes: object) -> UpdatedNote:
    found = update_note(text, base_region=base_region, region=region, properties=PROPERTIES | changes, base_properties=BASE)
    assert found is not None
    return found


@given(st.text())
def test_any_string_survives_yaml(text: str) -> None:
    """A YAML 1.1 reader gives back the very string, whatever it looks like, on one line."""
    cleaned = text.encode("utf-8", "replace").decode()
    lines = emit_properties({"vb_id": cleaned, "tags": [cleaned]})
    assert all("\n" not in line for line in lines)
    if (
        all(c == "\t" or c >= " " for c in cleaned)
        and "\x7f" not in cleaned
        and not any("\x80" <= c <= "\x9f" or c in "\ufffe\uffff" for c in cleaned)
    ):
        assert yaml.safe_load("\n".join(lines)) == {"vb_id": cleaned, "tags": [cleaned]}


@pytest.mark.parametrize(
    "value", ["yes", "no", "null", "1e5", "0x1f", "2026-01-05", "1_000", "off", "12:30:45", "a: b", "#x", "~", "'", "- x"]
)
def test_strings_that_yaml_reads_as_something_else_stay_strings(value: str) -> None:
    """No title or tag turns into a boolean, a number, a date or a comment."""
    assert yaml.safe_load("\n".join(emit_properties({"aliases": [value], "vb_creator": value}))) == {
        "aliases": [value],
        "vb_creator": value,
    }


def test_new_note_keeps_markers_out_of_the_first_and_last_block() -> None:
    """A blank line stands between marker and text: else a memo beginning with --- would make a heading of our marker."""
    text = new_note(PROPERTIES, "---\nbuy: lamp oil")
    assert text.endswith(f"{BEGIN}\n\n---\nbuy: lamp oil\n\n{END}\n")
    assert read_region(text) == "---\nbuy: lamp oil"


PERSONS = """---
vb_kind: "memo"
vb_id: "501"
vb_created: 2025-03-01T21:04:33
aliases:
  - "ropes"
tags:
  - "gear"
  - mine
# my own remark
project: "Winter"
due: 2026-09-19
rating: 08
---
above

%% vaultbrain:begin %%

ropes to buy ^m501-1

%% vaultbrain:end %%

## Mine
ask about the splice [[Ropes]]{BLANKS}
""".replace("{BLANKS}", "   ")


def test_everything_outside_our_region_and_keys_stays_byte_for_byte() -> None:
    """The server changed text, tags and title; the person's lines, order, comments, odd values and trailing blanks remain."""
    result = updated(PERSONS, "ropes to buy, 12 mm ^m501-1", aliases=["ropes, 12 mm"], tags=["gear", "new"]).text
    assert result.replace("ropes to buy, 12 mm ^m501-1", "ropes to buy ^m501-1") == PERSONS.replace(
        '  - "ropes"\n', '  - "ropes, 12 mm"\n'
    ).replace("  - mine\n", '  - mine\n  - "new"\n')


def test_an_update_that_changes_nothing_changes_no_byte() -> None:
    """Also with CRLF line ends, a BOM, no final newline or a note without our properties' order."""
    for text in (PERSONS, PERSONS.replace("\n", "\r\n"), "\ufeff" + PERSONS, PERSONS.rstrip("\n")):
        assert updated(text, "ropes to buy ^m501-1").text == text


def test_line_ends_of_the_note_are_kept() -> None:
    """A note that another editor saved with CRLF gets our new lines with CRLF."""
    result = updated(PERSONS.replace("\n", "\r\n"), "other ^m501-1").text
    assert "other ^m501-1\r\n" in result
    assert result.count("\n") == result.count("\r\n")


def test_flow_lists_and_second_lists_of_the_person_are_kept() -> None:
    """``aliases: [a, b]`` gets our new entry put in; what the person typed stays as it is."""
    text = PERSONS.replace('aliases:\n  - "ropes"\n', 'aliases: [ropes, "the rope list"]\n')
    assert 'aliases: [ropes, "the rope list", "cords"]\n' in updated(text, "x", aliases=["cords"]).text


def test_an_entry_with_a_comma_in_it_is_one_entry() -> None:
    """``["ropes, 12 mm", b]`` holds that alias already; nothing is added twice."""
    text = PERSONS.replace('aliases:\n  - "ropes"\n', 'aliases: ["ropes, 12 mm", b]\n')
    assert 'aliases: ["ropes, 12 mm", b]\n' in updated(text, "x", aliases=["ropes, 12 mm"]).text


def test_properties_we_no_longer_write_go_and_those_of_others_stay() -> None:
    """``vb_pinned`` goes with the pin; ``vb_recall: false`` is the person's switch and stays."""
    text = PERSONS.replace('vb_id: "501"\n', 'vb_id: "501"\nvb_pinned: true\nvb_recall: false\n')
    result = update_note(text, base_region=None, region="x", properties=PROPERTIES, base_properties=BASE | {"vb_pinned": []})
    assert result is not None
    assert "vb_pinned" not in result.text
    assert "vb_recall: false\n" in result.text


def test_a_note_without_markers_is_not_ours_to_change() -> None:
    """Missing, doubled or turned-round markers: nothing is changed."""
    for broken in (
        PERSONS.replace(BEGIN, ""),
        PERSONS + BEGIN,
        PERSONS.replace(BEGIN, "X").replace(END, BEGIN).replace("X", END),
    ):
        assert update_note(broken, base_region="", region="x", properties=PROPERTIES, base_properties=BASE) is None


def test_both_edits_are_kept_when_they_touch_different_lines() -> None:
    """The person corrected one line, the server another: the note has both, without a remark."""
    merged = merge_texts("a\nb\nc", "a\nb mine\nc", "a\nb\nc theirs")
    assert merged.clashes == 0
    assert merged.text == "a\nb mine\nc theirs"


def test_a_true_clash_keeps_both_texts() -> None:
    """The same line changed on both sides: the server's stands in place, the person's in a callout behind it."""
    merged = merge_texts("a\nb\nc", "a\nb mine\nc", "a\nb server\nc")
    assert merged.clashes == 1
    assert merged.text == f"a\nb server\n\n{CLASH_TITLE}\n> b mine\n\nc"


lines = st.lists(st.sampled_from(["a", "b", "c", "", "- x"]), max_size=8).map("\n".join)


@given(lines, lines, lines)
def test_merging_loses_no_line_that_either_side_typed(base: str, theirs: str, ours: str) -> None:
    """Every line that one side added stands in the result, and one-sided changes give that side's text."""
    merged = merge_texts(base, theirs, ours).text
    new = set(theirs.split("\n")) - set(base.split("\n")) | set(ours.split("\n")) - set(base.split("\n"))
    standing = {line.removeprefix("> ") for line in merged.split("\n")}
    assert new <= standing | {""}
    assert merge_texts(base, base, ours).text == ours
    assert merge_texts(base, theirs, base).text == theirs
    assert merge_texts(base, ours, ours).text == ours
