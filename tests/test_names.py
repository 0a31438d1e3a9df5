"""File names that every system and every link can bear."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.vault.names import MAX_NAME_BYTES, answer_name, free_path, memo_name, same_name


@given(st.text(max_size=300), st.from_regex(r"[A-Za-z0-9_-]{1,22}", fullmatch=True))
def test_any_title_gives_a_name_that_no_system_refuses(title: str, memo_id: str) -> None:
    """No refused character, dot or space at either end, NFC, not too long, and the id in it."""
    name = memo_name(title.encode("utf-8", "replace").decode(), memo_id)
    assert not re.search(r'[\\/:*?"<>|#^\[\]\x00-\x1f]', name)
    assert "%%" not in name
    assert name == name.strip(" .") == unicodedata.normalize("NFC", name)
    assert len(f"{name}.md".encode()) <= MAX_NAME_BYTES
    assert name.endswith(f"({memo_id})")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("影视网站合集", "影视网站合集 (7)"),
        ("File: A", "File A (7)"),
        ("../../escape", "escape (7)"),
        ("CON", "CON_ (7)"),
        ("", "memo (7)"),
        ("**粗体** 和 [链接](https://example.com/x)", "粗体 和 链接 (7)"),
        ("半糖片库 https://films.example.com/ ，能按年代筛 #观影", "半糖片库，能按年代筛 (7)"),
        ("https://example.com/only", "https example.com only (7)"),
        ("#观影 #资源", "观影 资源 (7)"),
    ],
)
def test_names_read_like_the_title(title: str, name: str) -> None:
    """Marks, addresses and tags are left out where words remain."""
    assert memo_name(title, "7") == name


def test_a_taken_path_gets_a_number() -> None:
    """Taken is what equals after NFC and case folding, as Obsidian and most file systems see it."""
    taken = {same_name("CFlow/Memos/Caf\u00e9 (1).md"), same_name("CFlow/Memos/CAF\u00c9 (1) 2.md")}
    assert free_path("CFlow/Memos", "cafe\u0301 (1)", taken) == "CFlow/Memos/cafe\u0301 (1) 3.md"


def test_answer_names_begin_with_the_day() -> None:
    """The question's own punctuation does not reach the file name."""
    assert answer_name("NotebookLM 有哪些使用场景？", "2026-11-30") == "2026-11-30 NotebookLM 有哪些使用场景？"
    assert answer_name("a/b: c?", "2026-11-30") == "2026-11-30 a b c"
