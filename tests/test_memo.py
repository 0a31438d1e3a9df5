"""What a memo is: its characters, tags, title and hashes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.memo import MAX_TITLE_CHARS, Attachment, Memo, clean_text, tags_of, title_of

MEMO = Memo("1", "去看展 #展览", 1_700_000_000, 1_700_000_000, "PRIVATE", tags=("展览",))


@pytest.mark.parametrize(
    ("content", "tags"),
    [
        ("#观影 #资源", ("观影", "资源")),
        ("开头#不是标签 #是", ("不是标签", "是")),
        ("一句话，#标签，后文", ("标签",)),
        ("#a#b", ("a", "b")),
        ("C# notes and F#", ()),
        ("https://example.com/page#top", ()),
        ("`#code`\n```\n#fence\n```\n#real", ("real",)),
        ("#book/fiction #Book/Fiction", ("book/fiction",)),
        ("#todo: #done. #what?", ("todo", "done", "what")),
        ("# heading\n## two", ()),
        ("#yes #1e5 #2026-01-05 #1_000", ("yes", "1e5", "2026-01-05", "1_000")),
        ("全角空格　#标签", ("标签",)),
    ],
)
def test_tags_are_read_as_people_type_them(content: str, tags: tuple[str, ...]) -> None:
    """A tag starts a line or follows a space or a Chinese character, ends at punctuation, and is not in code or an address."""
    assert tags_of(content) == tags


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# 标题\n正文", "标题"),
        ("\n\n第一行\n第二行", "第一行"),
        ("- starts with a dash\nmore", "- starts with a dash"),
        ("12:30:45\nx", "12:30:45"),
        ("#观影 #资源\n真正的标题", "真正的标题"),
        ("#观影 #资源", "#观影 #资源"),
        ("---\n***\nafter rules", "after rules"),
        ("---\nbuy: lamp oil\n---\nThe hut key", "The hut key"),
        ("---\nonly: this\n---\n", "only: this"),
        ("", ""),
        ("   \n\t\n", ""),
        ("![pic](data:image/png;base64,AAAA) 一张图", "一张图"),
        ("见 https://example.com/a:b 的说明", "见 https://example.com/a:b 的说明"),
    ],
)
def test_title_is_the_first_line_with_words(content: str, title: str) -> None:
    """The first line as typed, heading marks off; a line of tags only when there is nothing else."""
    assert title_of(content) == title


def test_long_title_ends_at_a_clause() -> None:
    """A first line that is a paragraph gives its first clause, not half a word."""
    assert title_of("这是一段很长的开头，后面还有" + "很多字" * 40) == "这是一段很长的开头"
    assert len(title_of("长" * 500)) <= MAX_TITLE_CHARS + 1


@given(st.text())
def test_clean_text_can_be_written_and_is_idempotent(text: str) -> None:
    """Whatever a server sends becomes text that UTF-8 can write and no terminal obeys."""
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert "\x1b" not in cleaned
    assert "\r" not in cleaned
    assert clean_text(cleaned) == cleaned


def test_lone_surrogates_and_controls_are_replaced_and_nothing_else() -> None:
    """Half an emoji becomes U+FFFD; a whole one, also a family, stays byte for byte."""
    assert clean_text("ferry \ud83d tea\x00\x1b[31m") == "ferry \ufffd tea\ufffd\ufffd[31m"
    assert clean_text("\U0001f375 \U0001f469\u200d\U0001f467\tx\n") == "\U0001f375 \U0001f469\u200d\U0001f467\tx\n"


def test_content_hash_follows_text_tags_and_visibility_only() -> None:
    """What the index depends on changes the content hash; a pin or a date changes only the memo hash."""
    for change in ({"content": "x"}, {"tags": ("x",)}, {"visibility": "PUBLIC"}):
        assert replace(MEMO, **change).content_hash != MEMO.content_hash
    for change in ({"pinned": True}, {"updated": 1}, {"state": "archived"}, {"url": "http://example.com"}):
        changed = replace(MEMO, **change)
        assert changed.content_hash == MEMO.content_hash
        assert changed.memo_hash != MEMO.memo_hash


def test_a_newly_signed_address_is_no_change() -> None:
    """Servers with object storage sign attachment addresses anew every few days."""
    file = Attachment("7", "a.png", "image/png", 3, "https://files.example.com/a?sig=1")
    before, after = (
        replace(MEMO, attachments=(file,)),
        replace(MEMO, attachments=(replace(file, url="https://files.example.com/a?sig=2"),)),
    )
    assert before.memo_hash == after.memo_hash
