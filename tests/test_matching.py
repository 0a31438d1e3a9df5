"""A passage against memos: its parts, and what it shares with each."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.answer.matching import MAX_PARTS, match_parts, parts_of, shared_words
from vaultbrain.answer.material import Material
from vaultbrain.answer.pieces import Piece
from vaultbrain.retrieve.search import Hit

WORDS = {"备份", "硬盘", "照片", "睡前", "故事", "移动硬盘", "备份硬盘", "朋友", "女儿", "第二", "重新", "决定", "旅馆", "上海"}
TOPICS = {"备份", "照片", "睡前", "故事", "朋友", "旅馆", "上海"}
MATERIAL = Material(is_word=WORDS.__contains__, is_topic=TOPICS.__contains__)
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


def make_hit(memo_id: str, score: float = 0.5, label: str = "相关") -> Hit:
    return Hit(memo_id, label, score, "", "", f"m{memo_id}-1", f"N {memo_id}.md", "", (), ("semantic",), 0, 0.5)


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
    matched = match_parts([one, two, three], parts, found, {}, MATERIAL)
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
    matched = match_parts([hit], ("孩子睡前听故事", "照片要备份到移动硬盘"), [[], []], pieces, MATERIAL)
    assert [bool(part.touches) for part in matched] == [False, True]


def test_the_closest_sentence_and_the_words_in_common_are_named() -> None:
    """The sentence with most of the part's words, and real words in the memo's own script."""
    hit = make_hit("1")
    pieces = {"1": [piece("1", "今天下雨了"), piece("1", "移動硬碟裡的照片要備份", 2)]}
    (part,) = match_parts([hit], ("照片都在移动硬盘，没有备份",), [[hit]], pieces, MATERIAL)
    (touch,) = part.touches
    assert touch.sentence is not None
    assert touch.sentence.anchor == "m1-2"
    assert touch.shared == ("照片", "備份")


def test_shared_words_are_real_words_the_longest_of_overlapping_ones() -> None:
    """No fragments, no words that everybody uses, Latin words whole; as written in the first text."""
    text = "我们的移动硬盘和 NotebookLM 的备份，因为 it is Docker."
    other = "移动硬盘因为我们 notebooklm 备份 dock it is"
    assert shared_words(text, other, WORDS.__contains__) == ["移动硬盘", "NotebookLM", "备份"]


def test_short_paragraphs_are_parts_of_their_own() -> None:
    """Four lines on four subjects are four parts, with empty lines between them or without; what announces goes with the next."""
    lines = ("想给女儿报英语课。", "博客很久没有更新了。", "咖啡机坏了。", "打算带爸妈去看海。")
    assert parts_of("\n\n".join(lines)) == lines
    assert parts_of("\n".join(lines)) == lines
    assert parts_of("还有几件事：\n\n- 修水龙头\n- 买灯\n\n博客很久没有更新了。") == ("还有几件事：\n修水龙头\n买灯", lines[1])


def test_more_paragraphs_than_parts_are_joined_without_a_word_lost() -> None:
    """Neighbours go together; every paragraph is still there."""
    lines = [f"第{n}件事要在这个月里办完。" for n in range(10)]
    parts = parts_of("\n\n".join(lines))
    assert len(parts) == MAX_PARTS
    assert [line for part in parts for line in part.split("\n")] == lines


def test_words_that_everybody_uses_meet_no_part() -> None:
    """A weak memo that shares friends, daughters and decisions is shown under no part; two subjects in common are enough."""
    hits = [make_hit("1", label="弱"), make_hit("2", label="弱")]
    pieces = {
        "1": [piece("1", "朋友的女儿第二次决定重新开始")],
        "2": [piece("2", "上海的旅馆住过两家")],
    }
    parts = ("女儿和朋友第二次决定重新学英语", "下个月去上海，旅馆还没有订")
    first, second = match_parts(hits, parts, [[], []], pieces, MATERIAL)
    assert (first.touches, first.is_met) == ((), False)
    assert [touch.hit.memo_id for touch in second.touches] == ["2"]


def test_a_weak_memo_is_near_the_whole_by_a_subject_of_it_or_when_there_is_nothing_else() -> None:
    """One subject in common is not enough for a part, yet for a place under the whole; without any a memo has none."""
    hits = [make_hit("1"), make_hit("2", label="弱"), make_hit("3", label="弱")]
    pieces = {"2": [piece("2", "备份放在楼下")], "3": [piece("3", "女儿和朋友")]}
    parts = ("照片没有备份", "女儿的朋友来过")
    near_the_whole = match_parts(hits, parts, [hits[:1], []], pieces, MATERIAL)[-1]
    assert (near_the_whole.text, [touch.hit.memo_id for touch in near_the_whole.touches]) == ("", ["2"])
    nothing_else = match_parts(hits[2:], parts, [[], []], pieces, MATERIAL)[-1]
    assert [touch.hit.memo_id for touch in nothing_else.touches] == ["3"]


def test_a_word_that_most_memos_hold_meets_no_part() -> None:
    """Two subjects that stand in every memo of the answer say nothing about any of them."""
    hits = [make_hit(str(n), label="弱") for n in range(4)]
    pieces = {hit.memo_id: [piece(hit.memo_id, "照片要备份")] for hit in hits}
    matched = match_parts(hits, ("照片没有备份", "别的事情"), [[], []], pieces, MATERIAL)
    assert [part.is_met for part in matched] == [False, False, False]


def test_what_a_parts_own_search_found_weak_is_no_match_and_a_memo_near_two_parts_leaves_none_empty() -> None:
    """Only strong and related memos of a part's own search meet it."""
    one, two = make_hit("1"), make_hit("2")
    two = replace(two, score=0.4)
    found = [[replace(one, label="强")], [one], [replace(two, label="弱")]]
    matched = match_parts([one, two], ("甲", "乙", "丙"), found, {}, MATERIAL)
    assert [(part.is_met, [touch.hit.memo_id for touch in part.touches]) for part in matched] == [
        (True, ["1"]),
        (True, ["1"]),
        (False, []),
        (False, ["2"]),
    ]
    assert matched[0].touches[0].sureness > matched[1].touches[0].sureness > matched[3].touches[0].sureness


def test_a_related_memo_meets_a_part_when_something_speaks_for_it() -> None:
    """A subject, two words of the part or a good score; one small word, a gloss or a middling meaning alone do not."""

    def is_met(**found: object) -> bool:
        hit = replace(make_hit("1", score=0.31), **found)  # type: ignore[arg-type]
        return match_parts([hit], ("客房", "咖啡机"), [[hit], []], {}, MATERIAL)[0].is_met

    assert is_met(matched=("备份",))
    assert is_met(matched=("#家务",))
    assert is_met(matched=("客房", "收拾"))
    assert is_met(score=0.4)
    assert is_met(label="强")
    assert not is_met(matched=("女儿",))
    assert not is_met(matched=("客房",))
    assert not is_met(matched=("plan / intend", "again / re"))
    assert not is_met()
