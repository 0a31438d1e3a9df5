"""A passage against memos: its parts, and what it shares with each."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.answer.matching import MAX_PARTS, match_parts, parts_of, shared_words
from vaultbrain.answer.pieces import Piece
from vaultbrain.retrieve.search import Hit

WORDS = {"备份", "硬盘", "照片", "睡前", "故事", "移动硬盘", "备份硬盘"}
PASSAGE = """---
tags: [x]
---
# 备份

家里的照片一直只放在一块移动硬盘上，打算重新整理备份，三份、两种介质、一份放在外地。

```sh
restic backup
```

- 孩子睡前总是磨蹭，故事讲完关灯，顺序固定之后好些，
- 希望能坚持下去，也想看看别人怎么做。
"""


def make_hit(memo_id: str, score: float = 0.5) -> Hit:
    return Hit(memo_id, "相关", score, "", "", f"m{memo_id}-1", f"N {memo_id}.md", "", (), ("semantic",), 0, 0.5)


def piece(memo_id: str, text: str, number: int = 1) -> Piece:
    return Piece(memo_id, text, f"m{memo_id}-{number}", 0)


def test_parts_are_the_passages_own_words_without_its_marks() -> None:
    """Two paragraphs; front matter, heading, code and list marks are gone, the words are verbatim."""
    first, second = parts_of(PASSAGE)
    assert first.startswith("家里的照片")
    assert second.split("\n") == [
        "孩子睡前总是磨蹭，故事讲完关灯，顺序固定之后好些，",
        "希望能坚持下去，也想看看别人怎么做。",
    ]
    assert all(line in PASSAGE for part in (first, second) for line in part.split("\n"))
    assert "restic" not in first + second


def test_one_long_paragraph_is_parted_between_sentences() -> None:
    """Groups of sentences of about the same length, in order, nothing lost."""
    passage = "".join(f"第{n}件事是把这个月的账单和照片都整理好，放到它们该在的地方去。" for n in range(12))
    parts = parts_of(passage)
    assert 2 <= len(parts) <= MAX_PARTS
    assert "".join(parts) == passage
    assert all(part.endswith("。") for part in parts)


def test_a_short_passage_is_one_part_and_one_without_words_none() -> None:
    """Nothing is parted that is short."""
    assert parts_of("照片只有一份。") == ("照片只有一份。",)
    assert parts_of("---\na: b\n---\n```\ncode\n```\n") == ()


@given(st.text(st.sampled_from(list("备份照片。！\n ab.-#>`1")), max_size=400))
@settings(deadline=None)
def test_parts_are_few_and_verbatim(passage: str) -> None:
    """Never more than six, and every line of each stands in the passage."""
    parts = parts_of(passage)
    assert len(parts) <= MAX_PARTS
    assert all(line in passage for part in parts for line in part.split("\n"))


def test_a_memo_stands_under_the_part_that_found_it_best() -> None:
    """By the scores of the parts' own searches; a part that no memo touches stays, empty."""
    one, two, three = make_hit("1"), make_hit("2"), make_hit("3")
    found = [[replace(one, score=0.9), replace(two, score=0.3)], [replace(two, score=0.6)], []]
    parts = ("照片要备份到硬盘", "孩子睡前听故事", "别的事情")
    matched = match_parts([one, two, three], parts, found, {}, WORDS.__contains__)
    assert [(part.text, [touch.hit.memo_id for touch in part.touches]) for part in matched] == [
        (parts[0], ["1"]),
        (parts[1], ["2"]),
        (parts[2], []),
        ("", ["3"]),
    ]


def test_without_a_search_of_its_own_words_decide_the_part() -> None:
    """A memo that no part's search found stands where most of its words are."""
    hit = make_hit("1")
    pieces = {"1": [piece("1", "移动硬盘上的照片备份好了")]}
    matched = match_parts([hit], ("孩子睡前听故事", "照片要备份到移动硬盘"), [[], []], pieces, WORDS.__contains__)
    assert [bool(part.touches) for part in matched] == [False, True]


def test_the_closest_sentence_and_the_words_in_common_are_named() -> None:
    """The sentence with most of the part's words, and real words in the memo's own script."""
    hit = make_hit("1")
    pieces = {"1": [piece("1", "今天下雨了"), piece("1", "移動硬碟裡的照片要備份", 2)]}
    (part,) = match_parts([hit], ("照片都在移动硬盘，没有备份",), [[hit]], pieces, WORDS.__contains__)
    (touch,) = part.touches
    assert touch.sentence is not None
    assert touch.sentence.anchor == "m1-2"
    assert touch.shared == ("照片", "備份")


def test_shared_words_are_real_words_the_longest_of_overlapping_ones() -> None:
    """No fragments, no words that everybody uses, Latin words whole; as written in the first text."""
    text = "我们的移动硬盘和 NotebookLM 的备份，因为 it is Docker."
    other = "移动硬盘因为我们 notebooklm 备份 dock it is"
    assert shared_words(text, other, WORDS.__contains__) == ["移动硬盘", "NotebookLM", "备份"]
