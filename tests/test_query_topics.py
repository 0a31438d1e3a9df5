"""What a question is about: the words that only ask are no subject, in whatever script, and no real word is cut for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cflow_server import wire_memo
from hypothesis import given, settings
from hypothesis import strategies as st
from opencc import OpenCC
from tiny_embedder import TinyEmbedder

from vaultbrain.retrieve.meaning import Wording, embed_query
from vaultbrain.retrieve.query import read_query

if TYPE_CHECKING:
    from cflow_server import CFlowServer
    from conftest import Home

CHINESE = [
    ("关于睡眠我写过什么", "睡眠"),
    ("关于睡眠，我之前都写过哪些？", "睡眠"),
    ("我以前有没有写过跑步", "跑步"),
    ("我最近记了什么关于睡眠的东西", "睡眠"),
    ("我写的关于复盘的文章", "复盘 文章"),
    ("有没有记过签证的事", "签证"),
    ("有关睡眠的笔记", "睡眠"),
    ("我看过的电影有哪些", "电影"),
    ("我养的猫叫什么名字", "猫"),
    ("我家网络的密码是多少", "我家网络 密码"),
    ("2025 年我看了几部电影？", "2025年 电影"),
    ("2025年我看了几部电影", "2025年 电影"),
    ("一共看了多少本书", "书"),
    ("下次搬家要准备什么", "搬家"),
    ("养猫要注意什么", "养猫 注意"),
    ("我的护照放在哪里了", "护照"),
    ("我对跑步有什么想法", "跑步"),
    ("会议纪要怎么写", "会议纪要 写"),
    ("存在哪些问题", "存在 问题"),
    ("我有没有写过关于 sleep 的笔记", "sleep"),
    ("我写过 sleep 吗", "sleep"),
]
ENGLISH = [
    ("what did I write about sleep?", "sleep"),
    ("What have I ever noted down about sleep", "sleep"),
    ("everything I wrote about sleep", "sleep"),
    ("have I saved anything about visas", "visas"),
    ("do I know anything about rust", "rust"),
    ("what did I learn about running", "running"),
    ("what did I say about 睡眠", "睡眠"),
    ("which movies did I want to see", "movies"),
    ("what's my wifi password", "wifi password"),
    ("how many books are on my shelf", "books shelf"),
    ("How should I take notes and organise tags?", "organise tags"),
    ("how do I keep my notes", "keep notes"),
    ("how do I take notes", "take notes"),
    ("any notes on taxes?", "taxes"),
    ("how do I write a novel", "write novel"),
    ("what helps me fall asleep at night", "helps fall asleep night"),
]


@pytest.mark.parametrize(("question", "topic"), [*CHINESE, *ENGLISH])
def test_words_that_only_ask_are_no_subject(question: str, topic: str) -> None:
    """Else a memo on the subject lacks half the words of the question, and counts as far off."""
    assert read_query(question).topic == topic


@pytest.mark.parametrize(("question", "topic"), CHINESE)
def test_a_question_in_traditional_script_has_the_same_subject(question: str, topic: str) -> None:
    """Asking is asking in either script."""
    assert read_query(OpenCC("s2t").convert(question)).topic == topic


@pytest.mark.parametrize(
    "text",
    "想法 请假 过年 列表 查重 记过处分 写过 看过 看法 说明书 收藏夹 聊天记录 几何 几乎 哪吒 谁家 曾国藩家书 存在主义 需求文档 "
    "自己动手 我们的歌 我是歌手 推荐的酒吧 旅行目的地推荐 这几天的饭 十几个备份 记得买牛奶".split(),
)
def test_no_real_word_is_cut(text: str) -> None:
    """Words that hold an asking character or two keep all of their own."""
    topic = read_query(text).topic
    assert topic in (text, text.replace("的", " "))


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("how do I back up my photos", "backup photos"),
        ("how do I roll back a release", "rollback release"),
        ("how to turn off notifications", "turn notifications"),
        ("how to get back to sleep", "sleep"),
        ("how do I treat my back pain", "treat back pain"),
        ("why is my back hurting", "back hurting"),
        ("back pain", "back pain"),
        ("push up", "push up"),
        ("set up", "set up"),
    ],
)
def test_a_particle_of_a_verb_is_no_subject_and_a_back_is_one(question: str, topic: str) -> None:
    """Only in a question: what is typed without asking is looked for as it is."""
    assert read_query(question).topic == topic


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("《我写过的东西》", "我写过的东西"),
        ("帮我找《我的天才女友》的资源", "我的天才女友"),
        ("我寫過「有什麼」嗎", "有什么"),
        ('"to be or not to be"', "to be or not to be"),
        ('睡眠 "我写过的" 跑步', "睡眠 我写过的 跑步"),
    ],
)
def test_what_stands_in_quotation_marks_stays_whole(question: str, topic: str) -> None:
    """A title may look like a question."""
    assert read_query(question).topic == topic


@pytest.mark.parametrize(
    "text", ["我写过什么", "关于", "what did I want to watch", "who am I", "everything", "notes", "up", "???"]
)
def test_asking_alone_keeps_something(text: str) -> None:
    """Nobody knows what is meant, and the words may yet stand in a memo."""
    assert read_query(text).topic


@given(st.lists(st.sampled_from(["的", "the", "和", "睡眠", "tea", "？"]), min_size=1, max_size=5))
@settings(deadline=None)
def test_a_topic_is_empty_only_without_any_subject(words: list[str]) -> None:
    """Function words beside a subject take nothing from it, and marks alone are looked for as typed."""
    topic = read_query(" ".join(words)).topic
    subject = [word for word in dict.fromkeys(words) if word in ("睡眠", "tea")]
    assert topic.split() == subject if subject else bool(topic) == (set(words) == {"？"})


@pytest.fixture
def sleeping(server: CFlowServer, home: Home) -> Home:
    texts = ("睡前不看手机，十一点关灯 #睡眠", "the film about the sea", "硬盘的备份放在抽屉里")
    server.memos += [wire_memo(n, text) for n, text in enumerate(texts, 1)]
    home.brain().sync()
    return home


@pytest.mark.parametrize("text", ["的", "the", "what is the", "是", "THE", "和"])
def test_function_words_alone_find_nothing(sleeping: Home, text: str) -> None:
    """They stand everywhere and ask for nothing."""
    result = sleeping.brain().search(text)
    assert (result.hits, result.nearest, result.ranked) == ((), (), ())


def test_filters_with_a_function_word_find_what_meets_them(sleeping: Home) -> None:
    """As if the filters stood alone."""
    assert [hit.memo_id for hit in sleeping.brain().search("tag:睡眠 的").hits] == ["1"]
    assert [hit.memo_id for hit in sleeping.brain().search('"the"').hits] == ["2"]


@pytest.mark.parametrize(
    "question", ["帮我找和睡眠有关的资源", "硬盘备份放哪儿", "film by the sea", "睡眠", "备份 抽屉", "找《睡眠》"]
)
def test_marks_around_a_question_change_no_score(sleeping: Home, question: str) -> None:
    """A full stop, a question mark or a space at its ends is no other question."""
    brain = sleeping.brain()
    plain = [(hit.memo_id, hit.score) for hit in brain.search(question).hits]
    assert plain
    for marked in (f"{question}。", f"{question}？", f"{question}?!", f" {question} ", f"，{question}…", f"{question}～"):
        result = brain.search(marked)
        assert [(hit.memo_id, hit.score) for hit in result.hits] == plain


@pytest.mark.parametrize(
    ("typed", "embedded"),
    [
        ("怎么睡", "怎么睡?"),
        ("怎么睡？！", "怎么睡?"),
        ("哪句话最好。", "哪句话最好?"),
        ("!what now", "what now?"),
        ("Is it done", "is it done?"),
        ("备份？", "备份"),
        ("哪吒。", "哪吒"),
        ("a.b: c.", "a.b: c"),
        ("about .net!", "about .net"),
        (".net", ".net"),
        ("睡？眠", "睡?眠"),
    ],
)
def test_a_question_is_embedded_as_one_whatever_marks_it_ends_with(typed: str, embedded: str) -> None:
    """A model reads a question mark as asking; the marks within are part of what is said."""
    embedder = TinyEmbedder()
    embed_query(read_query(typed), Wording(), embedder, "tiny")
    assert embedder.queries[0] == embedded
