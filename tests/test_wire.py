"""What a memo in JSON means: every release's spelling, what may be missing, and what is not believed."""

from __future__ import annotations

from typing import Any

import pytest
from cflow_server import wire_memo

from vaultbrain.memo import Attachment, Relation
from vaultbrain.sources.wire import NotAMemo, UnknownShape, items_of, read_memo, unwrap

BASE = "https://memos.example"


def file_of(**fields: Any) -> dict[str, Any]:
    return {"id": 7, "filename": "封面 1.png", "externalLink": "", "type": "image/png", "size": 20480} | fields


def url_of(file: dict[str, Any], base: str = BASE) -> str:
    return read_memo(wire_memo(1, "x", resourceList=[file]), base).attachments[0].url


def test_all_fields_of_a_memo_arrive() -> None:
    """A memo of 0.21 keeps its text, times, state, owner, uid, tags, file and relation."""
    relation = {"memoId": 12, "relatedMemoId": 11, "type": "REFERENCE"}
    item = wire_memo(12, "read #book/notes today", name="uid12", rowStatus="ARCHIVED", pinned=True, visibility="PUBLIC")
    item |= {"resourceList": [file_of(uid="fileuid", name="resources/7")], "relationList": [relation]}
    memo = read_memo(item, BASE)
    assert (memo.id, memo.uid, memo.content) == ("12", "uid12", "read #book/notes today")
    assert (memo.created, memo.updated) == (item["createdTs"], item["updatedTs"])
    assert (memo.state, memo.pinned, memo.visibility, memo.creator) == ("archived", True, "PUBLIC", "u")
    assert memo.tags == ("book/notes",)
    assert memo.attachments == (Attachment("7", "封面 1.png", "image/png", 20480, f"{BASE}/o/r/fileuid"),)
    assert memo.relations == (Relation("12", "11", "REFERENCE"),)


def test_only_id_text_and_creation_time_are_needed() -> None:
    """A memo without any other field is a normal private memo."""
    memo = read_memo({"id": 3, "content": "", "createdTs": 5}, BASE)
    assert (memo.id, memo.content, memo.created, memo.updated) == ("3", "", 5, 5)
    assert (memo.visibility, memo.state, memo.pinned, memo.attachments) == ("PRIVATE", "normal", False, ())


def test_null_stands_for_a_missing_value() -> None:
    """Go servers send null for empty lists and CFlow may for others; that is no fault."""
    item = wire_memo(
        1, "x", resourceList=None, relationList=None, pinned=None, visibility=None, rowStatus=None, creatorUsername=None
    )
    memo = read_memo(item, BASE)
    assert (memo.attachments, memo.relations, memo.pinned, memo.visibility, memo.state) == ((), (), False, "PRIVATE", "normal")


def test_unknown_fields_states_and_visibilities_keep_the_memo() -> None:
    """A word from a newer server is no reason to lose a memo."""
    memo = read_memo(wire_memo(1, "x", rowStatus="SLEEPING", visibility="SPACE", mood={"a": [1]}), BASE)
    assert (memo.state, memo.visibility) == ("normal", "SPACE")


def test_the_owner_is_the_user_name_else_the_shown_name() -> None:
    """0.13 sends no user name."""
    assert read_memo(wire_memo(1, "x", creatorUsername="login", creatorName="Nick"), BASE).creator == "login"
    assert read_memo(wire_memo(1, "x", "A", creatorName="Nick"), BASE).creator == "Nick"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("ferry at nine \ud83d then tea", "ferry at nine \ufffd then tea"),
        ("nul >\x00< escape >\x1b[31m<", "nul >\ufffd< escape >\ufffd[31m<"),
        ("whole \U0001f375 \U0001f469\u200d\U0001f467", "whole \U0001f375 \U0001f469\u200d\U0001f467"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
    ],
)
def test_text_that_cannot_be_written_is_cleaned(sent: str, kept: str) -> None:
    """Half an emoji, NUL and escapes become U+FFFD in the text and in names; whole emoji and tabs stay."""
    memo = read_memo(wire_memo(1, sent, resourceList=[file_of(filename=sent)]), BASE)
    assert (memo.content, memo.attachments[0].filename) == (kept, kept)
    memo.content.encode()


@pytest.mark.parametrize(
    ("file", "path"),
    [
        (file_of(publicId="5f0c-8a52"), "/o/r/7/5f0c-8a52/%E5%B0%81%E9%9D%A2%201.png"),
        (file_of(), "/o/r/7"),
        (file_of(name="zW3nPq8s"), "/o/r/zW3nPq8s"),
        (file_of(name="resources/7", uid="zW3nPq8s"), "/o/r/zW3nPq8s"),
        (file_of(name="../../x?y"), "/o/r/..%2F..%2Fx%3Fy"),
    ],
    ids=["0.13", "0.14-0.18", "0.19-0.20", "0.21", "hostile"],
)
def test_each_release_keeps_files_elsewhere(file: dict[str, Any], path: str) -> None:
    """The address of a file follows the release that the file's own keys betray."""
    assert url_of(file) == BASE + path
    assert url_of(file, "") == ""


def test_an_external_link_wins_if_it_is_a_web_address() -> None:
    """A file elsewhere on the web is linked there; a script is not a place."""
    assert url_of(file_of(externalLink="https://files.example/a.png")) == "https://files.example/a.png"
    assert url_of(file_of(externalLink="https://files.example/a.png"), "") == "https://files.example/a.png"
    assert url_of(file_of(externalLink="javascript:alert(1)")) == f"{BASE}/o/r/7"


def test_a_memo_is_linked_by_its_name_or_its_number() -> None:
    """From 0.19.1 the page is at the uid, before at the number; without a base there is no link."""
    assert read_memo(wire_memo(5, "x", "B4", name="k7Qm"), BASE + "/").url == f"{BASE}/m/k7Qm"
    assert read_memo(wire_memo(5, "x", "B1"), BASE).url == f"{BASE}/m/5"
    assert read_memo(wire_memo(5, "x"), "").url == ""


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"id": True}, "id is true or false"),
        ({"id": "12"}, "id is text"),
        ({"id": -1}, "id is out of range"),
        ({"id": 2**63}, "id is out of range"),
        ({"content": None}, "content is missing"),
        ({"content": 5}, "content is a number"),
        ({"createdTs": "2024-01-01"}, "createdTs is text"),
        ({"createdTs": None}, "createdTs is null"),
        ({"createdTs": 1.5}, "createdTs is a number, not a whole number"),
        ({"createdTs": 1_700_000_000_000}, "createdTs is 1700000000000"),
        ({"updatedTs": False}, "updatedTs is true or false"),
        ({"pinned": 1}, "pinned is a number"),
        ({"rowStatus": 3}, "rowStatus is a number"),
        ({"resourceList": {}}, "resourceList is not a list of objects"),
        ({"resourceList": ["a"]}, "resourceList is not a list of objects"),
        ({"resourceList": [{"filename": "x"}]}, "id is null"),
        ({"relationList": [{"memoId": 1}]}, "relatedMemoId is null"),
    ],
)
def test_a_value_of_the_wrong_kind_is_not_believed(fields: dict[str, Any], complaint: str) -> None:
    """Nonsense in a field is an error that says where, not a guess."""
    with pytest.raises(NotAMemo, match=complaint) as caught:
        read_memo(wire_memo(12, "x") | fields, BASE, position=4)
    assert str(caught.value).startswith("item 5 (memo ")


@pytest.mark.parametrize("item", [None, 3, "memo", [], True])
def test_an_item_that_is_no_object_is_not_a_memo(item: object) -> None:
    """Only objects are memos."""
    with pytest.raises(NotAMemo, match="item 1 is "):
        read_memo(item, BASE)


def test_a_listing_is_an_array_bare_or_in_data() -> None:
    """Both spellings hold the same items."""
    assert items_of([1, 2]) == [1, 2]
    assert items_of({"data": [1, 2]}) == [1, 2]
    assert unwrap({"data": {"id": 1}}) == {"id": 1}
    assert unwrap({"id": 1}) == {"id": 1}


@pytest.mark.parametrize(
    "data",
    [None, True, 0, "", {}, {"memos": [], "nextPageToken": ""}, {"code": 401, "data": []}, {"data": None}, {"data": {}}],
)
def test_anything_else_is_no_listing(data: object) -> None:
    """In particular not null, nor an error object that carries an empty list."""
    with pytest.raises(UnknownShape, match="unknown reply shape"):
        items_of(data)
