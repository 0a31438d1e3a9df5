"""A subject taken apart: sub-questions, contradictions, gaps."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.answer.contradictions import contradictions
from vaultbrain.answer.cues import SUBQUESTIONS, asked_for, cues
from vaultbrain.answer.explore import MAX_PER_MEMO, MAX_SUBQUESTIONS, Voice, explore
from vaultbrain.answer.pieces import Piece


def piece(memo_id: str, text: str, created: int = 0, task: str = "") -> Piece:
    return Piece(memo_id, text, f"m{memo_id}-1", created, task)


def voice(memo_id: str, text: str, relevance: float = 1.0) -> Voice:
    return Voice(piece(memo_id, text), relevance)


@pytest.mark.parametrize(
    ("name", "zh", "hant", "en"),
    [
        ("what", "容器是一种隔离进程的办法", "容器是一種隔離行程的辦法", "A container is a process that runs apart"),
        ("how", "先关灯，然后讲三件今天的事", "先關燈，然後講三件今天的事", "First clear the images, then the volumes"),
        ("experience", "试了四周，效果比吃药好", "試了四週，效果比吃藥好", "I tried it for a month and it worked"),
        ("problems", "千万别重启，会丢数据，注意备份", "千萬別重啟，注意備份", "Don't restart it, it fails with an error"),
        ("cost", "一年 480 元，第二年便宜一半", "一年 480 元，第二年便宜一半", "It costs $30 a month"),
        ("tools", "一个好用的插件合集 https://example.com", "推薦的工具清單", "A plugin list: https://example.com"),
        ("plans", "打算下个月换成新的", "打算下個月換成新的", "Next month I want to replace it"),
        ("decisions", "最后选了固态，决定不再折腾", "最後選了固態，決定不再折騰", "We decided to switch and settled on SSDs"),
    ],
)
def test_cues_of_both_scripts_and_english_tell_the_subquestion(name: str, zh: str, hant: str, en: str) -> None:
    """Each sub-question is the clearest one of a plain sentence in each language."""
    for text in (zh, hant, en):
        found = cues(piece("1", text))
        assert found[name] == max(found.values()), text


def test_an_address_is_no_text_and_an_open_box_is_a_plan() -> None:
    """Words within an address are no cues; ``- [ ]`` is one without any word."""
    assert set(cues(piece("1", "https://example.com/how-to/error"))) == {"tools"}
    assert "plans" in cues(piece("1", "胶片", task=" "))
    assert "plans" not in cues(piece("1", "胶片", task="x"))


def test_every_memo_stands_somewhere_and_in_no_more_than_two_places() -> None:
    """Under its sub-questions with a piece of its own for each, or elsewhere."""
    voices = {
        "1": [voice("1", "先洗澡，然后关灯"), voice("1", "试了两周，效果很好")],
        "2": [voice("2", "每晚固定的流程，先讲故事")],
        "3": [voice("3", "白噪音试过，没什么效果")],
        "4": [voice("4", "月亮很圆")],
        "5": [],
    }
    found = explore(voices)
    assert [(question.name, question.memo_ids) for question in found.questions] == [
        ("how", ("1", "2")),
        ("experience", ("1", "3")),
    ]
    assert found.elsewhere == ("4", "5")
    assert found.silent == ("problems",)


def test_what_the_question_asks_comes_first_even_without_a_cue() -> None:
    """A question for a way gets the pieces that are surely about it as ways."""
    voices = {"1": [voice("1", "给样例，加一句只输出 JSON，不要别的"), voice("1", "月亮", 0.1)]}
    assert [q.name for q in explore(voices).questions] != ["how"]
    assert explore(voices, "怎么让模型只输出 JSON").questions[0].name == "how"
    assert asked_for("how much does it cost") == ("cost",)
    assert asked_for("觀影") == ()


def test_a_piece_is_not_shown_twice() -> None:
    """One piece with cues for two sub-questions stands under one; the same words of two memos stand once for each memo."""
    voices = {"1": [voice("1", "先关灯，然后睡，试了四周效果很好")], "2": [voice("2", "先关灯，然后睡，试了四周效果很好")]}
    shown = [found for question in explore(voices).questions for found in question.pieces]
    assert Counter(found.memo_id for found in shown) == {"1": 1, "2": 1}


def test_what_is_not_about_the_subject_is_not_quoted() -> None:
    """Relevance 0 silences a piece; its memo stands elsewhere."""
    found = explore({"1": [voice("1", "先关灯，然后睡", 0.0)]})
    assert (found.questions, found.elsewhere) == ((), ("1",))
    assert found.open_tasks == ()


_TEXT = st.sampled_from(
    [
        "先关灯，然后睡",
        "试了效果好",
        "千万别买",
        "一年 480 元",
        "打算换",
        "决定换成它",
        "是一种办法",
        "推荐这个网站",
        "月亮",
        "I tried it",
    ]
)


@given(st.dictionaries(st.sampled_from("abcdefghij"), st.lists(st.tuples(_TEXT, st.floats(0, 2)), max_size=5), max_size=10))
@settings(deadline=None)
def test_an_exploration_loses_no_memo(memos: dict[str, list[tuple[str, float]]]) -> None:
    """Any memos: few sub-questions, in their order, each memo under two at most, no piece twice, none lost."""
    found = explore({memo_id: [voice(memo_id, *said) for said in pieces] for memo_id, pieces in memos.items()})
    places = Counter(memo_id for question in found.questions for memo_id in question.memo_ids)
    assert set(places) | set(found.elsewhere) == set(memos)
    assert not set(places) & set(found.elsewhere)
    assert max(places.values(), default=0) <= MAX_PER_MEMO
    assert len(found.questions) <= MAX_SUBQUESTIONS
    names = [question.name for question in found.questions]
    assert names == sorted(names, key=SUBQUESTIONS.index)


# contradictions


@pytest.mark.parametrize(
    ("older", "newer", "words"),
    [
        ("机械键盘红轴很推荐，打字安静", "机械键盘红轴不推荐，打字太吵", ("不推荐", "推荐")),
        ("白噪音對孩子入睡有用", "试了白噪音，对孩子入睡没用", ("没用", "有用")),
        ("NotebookLM 支持上传音频", "NotebookLM 不支持上传音频文件", ("不支持", "支持")),
        ("Restic works on Windows shares", "Restic does not work on Windows shares", ("does not work", "works")),
        ("冷萃咖啡应该泡 12 小时", "冷萃咖啡一般要泡 16 小时", ("16 小时", "12 小时")),
        ("Sourdough should rest for 8 hours", "Sourdough should rest for 12 hours", ("12 hour", "8 hour")),
    ],
)
def test_opposite_words_or_numbers_on_one_thing_contradict(older: str, newer: str, words: tuple[str, str]) -> None:
    """Both scripts and English; the newer stands first whatever the order of the search."""
    one, other = piece("1", older, 100), piece("2", newer, 200)
    for pieces in ((one, other), (other, one)):
        (found,) = contradictions(pieces)
        assert (found.newer, found.older, found.words) == (other, one, words)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("今天跑了 5 公里，膝盖没事", "今天跑了 8 公里，膝盖没事"),  # two days, both true
        ("这把椅子很推荐", "这台打印机不推荐"),
        ("红轴推荐给写字的人", "红轴推荐给写字的人，不推荐给打游戏的人"),  # says both
        ("It works", "It does not work"),  # what?
        ("冷萃咖啡应该泡 12 小时", "牛腩一般要炖 2 小时"),
        ("冷萃咖啡应该泡 12 小时", "冷萃咖啡一般要泡 12 小时"),
        ("咖啡因半衰期一般 5 小时，午后应该少喝 1 小时", "咖啡因半衰期一般 6 小时，午后应该少喝 2 小时"),  # which number?
    ],
)
def test_no_contradiction_is_better_than_a_false_one(one: str, other: str) -> None:
    """Other things, other days, both sides in one piece, too little in common."""
    assert contradictions([piece("1", one), piece("2", other)]) == []


def test_a_memo_does_not_contradict_itself() -> None:
    """Within one memo the second sentence corrects the first."""
    assert contradictions([piece("1", "红轴键盘打字推荐"), piece("1", "红轴键盘打字不推荐")]) == []
