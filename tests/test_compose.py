"""The content of answers: what is said in each mode, quoted from where, and what is said when something is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from obsidian import as_read

from vaultbrain.answer.checking import Fault, Sentence, Written
from vaultbrain.answer.compose import TEMPLATE, Answer, choose_mode, compose
from vaultbrain.answer.context import AnswerContext, Reading
from vaultbrain.answer.material import Material, Relative
from vaultbrain.answer.wording import HEADINGS, LANGUAGES
from vaultbrain.memo import tags_of, title_of
from vaultbrain.retrieve.coverage import Coverage, Shortcoming, VariantCoverage
from vaultbrain.retrieve.query import read_query
from vaultbrain.retrieve.search import Hit, SearchResult
from vaultbrain.vault.markdown import anchor_id, anchorable, neutralise, split_blocks
from vaultbrain.vault.templates import Templates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

NOW = datetime(2026, 11, 30, 15, 4, 5, tzinfo=UTC)
DAY = 86_400
SITES = (
    "影视网站合集 #观影\n\n- 片源 https://a.example/films 字幕全\n- 片单 https://a.example/list\n\n"
    "- 日历 https://a.example/cal\n- 五 https://a.example/5\n- 六 https://a.example/6\n- 七 https://a.example/7\n"
    "- 八 https://a.example/8"
)


@dataclass
class Corpus:
    """Memos by id, newest last, as a search for ``question`` found them: all strong, but for those in ``labels``."""

    memos: Mapping[str, str]
    question: str = "观影"
    labels: Mapping[str, str] = field(default_factory=dict)
    blocks: dict[str, list[tuple[str, str]]] = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = {memo_id: _blocks(memo_id, text) for memo_id, text in self.memos.items()}

    def hit(self, memo_id: str, place: int) -> Hit:
        anchor, text = self.blocks[memo_id][0]
        created = int(NOW.timestamp()) - (len(self.memos) - place) * DAY
        topic = read_query(self.question).topic.split()
        matched = tuple(word for word in topic if word in self.memos[memo_id].casefold())
        title, label = title_of(self.memos[memo_id]), self.labels.get(memo_id, "强")
        return Hit(memo_id, label, 0.5, title, text, anchor, f"M ({memo_id}).md", "", matched, ("keyword",), created, 0.5)

    def result(self, **coverage: Any) -> SearchResult:
        hits = tuple(self.hit(memo_id, place) for place, memo_id in enumerate(self.memos))
        labels = [hit.label for hit in hits]
        found = Coverage(100, 100, 200, 200, "m", "", strong_memos=labels.count("强"), related_memos=labels.count("相关"))
        return SearchResult(read_query(self.question), hits, replace(found, **coverage))

    def context(self, mode: str = "explore", language: str = "zh-Hans", **more: Any) -> AnswerContext:
        tags = {memo_id: tags_of(text) for memo_id, text in self.memos.items()}
        material = Material(tags, self.blocks, is_word=lambda word: word in {"备份", "硬盘", "照片", "观影"})
        return AnswerContext(
            question=self.question,
            mode=mode,
            language=language,
            now=NOW,
            when="2026-11-30 15:00",
            model="e5",
            reading=Reading("from_server", read=1),
            **{"material": material} | more,
        )


def _blocks(memo_id: str, text: str) -> list[tuple[str, str]]:
    blocks = anchorable(split_blocks(neutralise(text)))
    return [(anchor_id(memo_id, number), block.text) for number, block in enumerate(blocks, 1)]


def sleep() -> Corpus:
    return Corpus(
        {
            "1": "睡前先关灯，然后讲三件今天的事 #睡眠\n\n- [ ] 买遮光窗帘",
            "2": "试了四周，睡眠的效果比吃药好 #睡眠",
            "3": "咖啡别在三点以后喝，睡眠会变差 #睡眠",
            "4": "每晚睡眠的流程固定：先洗澡，再讲故事 #睡眠",
            "5": "白噪音试过，睡眠没有好转",
            "6": "月亮很圆，睡眠很浅",
        },
        "睡眠",
    )


def note(answer: Answer, tmp_path: Path) -> str:
    return Templates(tmp_path).render(TEMPLATE, answer.values)


def wrongly_quoted(answer: Answer, blocks: Mapping[str, Sequence[tuple[str, str]]]) -> list[str]:
    """Texts of items that do not stand word for word, but for a cut at the end, in the block that their link names."""
    wrong = []
    for theme in answer.as_json["themes"]:
        for item in theme["items"]:
            for text, anchor in [(item["text"], item["anchor"]), *((line["text"], line["anchor"]) for line in item["lines"])]:
                block = " ".join(as_read(dict(blocks[item["memo_id"]]).get(anchor, "")).split())
                if as_read(text).strip("…` ") not in block:
                    wrong.append(text)
    return wrong


# modes


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("帮我找和观影有关的资源", "inventory"),
        ("有哪些備份工具", "inventory"),
        ("which books did I want", "inventory"),
        ("#观影", "inventory"),
        ("tag:观影 after:2025", "inventory"),
        ("观影", "explore"),
        ("试过哪些有效的办法？怎么睡得好", "explore"),
        ("how do I undo a commit", "explore"),
        ("a playlist of mine", "explore"),
        ("照片要备份。" * 40, "match"),
    ],
)
def test_the_question_chooses_the_mode(question: str, mode: str) -> None:
    """Lists for what exists, exploring for how and why, comparing for what is too long for a question; a wish goes first."""
    assert choose_mode(question, "auto") == mode
    assert choose_mode(question, "match") == "match"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mode", ["inventory", "match", "explore"])
def test_every_item_is_verbatim_in_the_block_that_its_link_names(mode: str, language: str, tmp_path: Path) -> None:
    """In all modes and languages, for memos of every kind; no strong or related memo is missing, none stands thrice."""
    memos = {
        "1": SITES,
        "2": "# 标题一行，也说了一些观影的事情\n\n```sh\nls 观影\n```",
        "3": "| 片 | 分 |\n|---|---|\n| 观影甲 | 5 |",
        "4": "#观影 #资源",
        "5": "> 引用一句观影的话。 #观影 中间 #标签 还有话",
        "6": "观影" + "，很长很长的一句话" * 30,
        "7": "[[别处]] <% tp.x %> `观影 [[x]]` $a$ ^anchor",
    }
    corpus = Corpus(memos)
    parts = {"passage_parts": ("观影要看网站", "别的"), "part_hits": [corpus.result().hits, ()]} if mode == "match" else {}
    answer = compose(corpus.result(), corpus.context(mode, language, **parts))
    assert wrongly_quoted(answer, corpus.blocks) == []
    shown = [memo_id for theme in answer.as_json["themes"] for memo_id in theme["memo_ids"]]
    assert set(shown) == set(memos)
    assert max(map(shown.count, shown)) <= 2
    text = note(answer, tmp_path)
    assert "<%" not in text.replace("\\<%", "")
    themes = text.split("\n## ")[1]
    assert not re.search(r"(?<![\\\w(])#(?:观影|资源|标签)", re.sub(r"\[\[.*?\]\]|`[^`]*`", "", themes))


# inventory


def test_an_inventory_lists_addresses_first_and_all_of_a_list_up_to_a_limit(tmp_path: Path) -> None:
    """What it is, then its addresses below; the link is repeated where another block begins; the rest is counted."""
    corpus = Corpus({"1": "观影以后睡得晚", "2": SITES, "3": "观影入口 https://b.example/"}, "观影资源")
    answer = compose(corpus.result(), corpus.context("inventory"))
    (theme,) = answer.as_json["themes"]
    assert theme["memo_ids"] == ["2", "3", "1"]
    first = theme["items"][0]
    assert first["text"] == "影视网站合集"
    assert first["lines"][0] == {"text": "片源 https://a.example/films 字幕全", "anchor": "m2-2"}
    assert len(first["lines"]) == 6
    text = note(answer, tmp_path)
    assert "  - …另有 1 个" in text
    assert text.count("[[M (2)#^m2-2|#2]]") >= 1
    assert "里面共有 8 个网址，分在 2 条里。" in text
    assert "；「影视网站合集」[[M (2)#^m2-1|#2]]；" in text


# exploration


def test_an_exploration_is_sorted_by_subquestions_that_are_right_for_any_topic() -> None:
    """Headings in the language of the question, each said once; what speaks to none stands last."""
    corpus = sleep()
    answer = compose(corpus.result(), corpus.context())
    names = [theme["name"] for theme in answer.as_json["themes"]]
    assert names[:2] == ["怎么做", "经验和效果"]
    assert answer.as_json["themes"][-1] == answer.as_json["themes"][-1] | {"name": "另外还提到", "memo_ids": ["6"]}
    assert [q["name"] for q in answer.as_json["subquestions"]][:2] == ["how", "experience"]
    assert "这些内容里，2 条讲怎么做，2 条讲经验和效果" in answer.as_json["conclusion"]
    english = compose(corpus.result(), corpus.context(language="en"))
    assert english.as_json["themes"][0]["name"] == "Steps and methods"
    assert "They cover steps and methods (2), experience and results (2)" in english.as_json["conclusion"]


def test_what_is_asked_is_answered_first() -> None:
    """The best piece of a memo stands under what the question asks, though it warns of something, too."""
    memos = {"1": "只要 JSON：给一个样例。别再用正则，不要猜。", "2": "JSON 的样例越短越好", "3": "月亮很圆"}
    corpus = Corpus(memos, "怎么只要 JSON")
    first = compose(corpus.result(), corpus.context()).as_json["themes"][0]
    assert first["name"] == "怎么做"
    assert first["memo_ids"][:2] == ["1", "2"]


def test_a_memo_that_was_met_in_passing_is_no_answer() -> None:
    """Small words that stand everywhere lead to it, and no near meaning: named last, and not in the conclusion."""
    corpus = Corpus({"1": "Walk up and back again, every day.", "2": "First back up the photos of every week."}, "back up photos")
    result = corpus.result()
    passing = replace(result.hits[0], matched=("back", "up"), cosine=0.2, label="相关")
    result = replace(result, hits=(passing, result.hits[1]))
    answer = compose(result, replace(corpus.context(language="en"), question="how to back up photos"))
    assert "|#1]]" not in answer.as_json["conclusion"]
    assert [theme["memo_ids"] for theme in answer.as_json["themes"]] == [["2"], ["1"]]


def test_a_long_subject_heads_a_list_whole() -> None:
    """A sentence is no name: the question itself stands over what is only sorted."""
    one = Corpus({"1": "fatal: refusing to merge unrelated histories"}, "refusing to merge unrelated histories")
    answer = compose(one.result(), one.context("inventory", "en"))
    assert [theme["name"] for theme in answer.as_json["themes"]] == ["refusing to merge unrelated histories"]


def test_an_item_of_a_list_stands_below_the_line_that_leads_it(tmp_path: Path) -> None:
    """A name alone says nothing; the line above keeps its own link, the item has one where its block is another."""
    corpus = Corpus({"1": "观影以后想补的：\n\n- 默片\n- 露天"}, "默片")
    text = note(compose(corpus.result(), corpus.context("inventory")), tmp_path)
    assert "- 观影以后想补的： [[M (1)#^m1-1|#1]]\n  - 默片 [[M (1)#^m1-2|#1]]\n" in text


def test_contradictions_are_quoted_with_their_dates_the_newer_first(tmp_path: Path) -> None:
    """Both sides, both linked, in a part of their own."""
    memos = {
        "1": "睡前喝牛奶对睡眠有用",
        "2": "睡前喝牛奶对睡眠没用",
        "3": "先关灯，睡眠就好",
        "4": "睡眠的流程：先洗澡",
    }
    corpus = Corpus(memos, "睡眠")
    answer = compose(corpus.result(), corpus.context())
    (line,) = answer.as_json["outlook"]["contradictions"]
    assert line == (
        "2026-11-27 写的是「睡前喝牛奶对睡眠没用」[[M (2)#^m2-1|#2]]，2026-11-26 写的是「睡前喝牛奶对睡眠有用」[[M (1)#^m1-1|#1]]"
    )
    assert answer.as_json["contradictions"][0]["words"] == ["没用", "有用"]
    assert "## 说法不一\n" in note(answer, tmp_path)


def test_gaps_and_what_to_look_at_next_are_named() -> None:
    """Silent sub-questions, words in no memo, old memos; open to-dos, relatives, uncited hits, tags."""
    corpus = sleep()
    result = corpus.result(variants=[VariantCoverage("睡眠", "part", 1, "", 6), VariantCoverage("观影", "part", 1, "", 0)])
    result = replace(result, query=read_query("睡眠 观影"))
    further = replace(corpus.hit("6", 0), memo_id="9", title="午睡", note="M (9).md", label="相关")
    kin = {"2": [Relative("8", "COMMENT", "咖啡的事", "M (8).md", "m8-1"), Relative("1", "REFERENCE", "", "M (1).md", "")]}
    context = corpus.context(further=[further])
    context = replace(
        context, question="睡眠 观影", now=NOW.replace(year=2028), material=replace(context.material, relatives=kin)
    )
    outlook = compose(result, context).as_json["outlook"]
    assert any("观影" in line for line in outlook["gaps"])
    assert any("2026-11-29" in line for line in outlook["gaps"])
    assert outlook["next"] == [
        "还没做完的：「买遮光窗帘」[[M (1)#^m1-2|#1]]",
        "引用来源里提到的：[[M (8)#^m8-1|#8]] 咖啡的事",
        "也相关、这里没有展开的：[[M (9)|#9]] 午睡",
    ]


def test_a_few_memos_are_sorted_by_what_they_are_about() -> None:
    """Sub-questions with one memo each are no help; nothing is called missing then."""
    corpus = Corpus({"1": "先关灯，睡眠就好", "2": "睡眠别靠酒"}, "睡眠")
    answer = compose(corpus.result(), corpus.context())
    assert [theme["name"] for theme in answer.as_json["themes"]] == ["睡眠"]
    assert answer.as_json["subquestions"] == []
    assert "gaps" not in answer.as_json["outlook"]


# match


def test_a_match_says_which_part_is_touched_in_what_words_and_which_is_not(tmp_path: Path) -> None:
    """Headings are the parts, items have the closest sentence and the shared words, untouched parts are named."""
    corpus = Corpus({"1": "今天下雨。照片都在移动硬盘里，没有备份。", "2": "备份脚本写好了"}, "照片要备份到硬盘" * 30)
    parts = ("照片只放在一块硬盘上，备份要重新整理", "孩子睡前听故事")
    context = corpus.context("match", passage_parts=parts, part_hits=[corpus.result().hits, ()])
    answer = compose(corpus.result(), context)
    (theme,) = answer.as_json["themes"]
    assert theme["name"] == "「照片只放在一块硬盘上，备份要重新整理」"
    assert theme["items"][0]["text"] == "今天下雨。照片都在移动硬盘里，没有备份。"
    assert theme["items"][0]["shared"] == ["照片", "硬盘", "备份"]
    assert answer.as_json["parts"] == [{"text": parts[0], "memo_ids": ["1", "2"]}, {"text": parts[1], "memo_ids": []}]
    assert answer.as_json["outlook"]["gaps"] == ["没有找到对应内容的部分：「孩子睡前听故事」"]
    assert "CFlow 中有 2 条内容和这段文字接近；文字分成 2 部分，其中 1 部分找得到对应的内容。" in answer.as_json["conclusion"]
    assert "· 都说到：照片、硬盘、备份" in note(answer, tmp_path)


# the conclusion


def test_the_conclusion_counts_and_quotes_pieces_that_say_something() -> None:
    """Not the memo of tags, not the label, not what was said already; at most three, with links to their blocks."""
    memos = {
        "1": "#观影 #资源",
        "2": "观影\n\n周五的观影改到露天，带上毯子。",
        "3": "周五的观影改到露天，带上毯子！",
        "4": "观影小组轮到我选片，选了默片。",
        "5": "和女儿观影要避开暴雨的那一场。",
        "6": "观影以后走了三站路回家，月亮很好。",
    }
    corpus = Corpus(memos)
    conclusion = compose(corpus.result(), corpus.context()).as_json["conclusion"]
    assert conclusion.startswith("CFlow 中有 6 条直接相关的内容。最切题的是：「")
    assert "「周五的观影改到露天，带上毯子」[[M (2)#^m2-2|#2]]" in conclusion
    assert "|#1]]" not in conclusion
    assert "|#3]]" not in conclusion
    assert conclusion.count("[[") == 3


@pytest.mark.parametrize(
    ("labels", "start"),
    [
        ({}, "CFlow 中有 2 条直接相关的内容。"),
        ({"2": "相关"}, "CFlow 中有 2 条相关内容，其中 1 条直接相关。"),
        ({"1": "相关", "2": "弱"}, "CFlow 中没有直接说这件事的内容，相近的有 2 条。最接近的是："),
        ({"1": "弱", "2": "弱"}, "CFlow 中没有说这件事的内容，只有 2 条沾边。最接近的是："),
    ],
)
def test_the_conclusion_says_how_near_the_memos_are(labels: dict[str, str], start: str) -> None:
    """Directly, partly, or not at all."""
    corpus = Corpus({"1": "观影小组轮到我选片。", "2": "露天的那一场改期了。"}, labels=labels)
    assert compose(corpus.result(), corpus.context()).as_json["conclusion"].startswith(start)


def test_nothing_found_names_the_nearest_and_what_to_try() -> None:
    """Other words, the words that stand nowhere, a sync."""
    corpus = Corpus({}, "观影 zzyzx")
    variants = [VariantCoverage("观影", "part", 1, "", 3), VariantCoverage("zzyzx", "part", 1, "", 0)]
    nearest = (Corpus({"1": "露天电影"}).hit("1", 0),)
    answer = compose(replace(corpus.result(variants=variants), nearest=nearest), corpus.context())
    assert answer.values["conclusion"] == [
        "CFlow 中没有找到和「观影 zzyzx」有关的内容。",
        "最接近、但还不足以引用的是：露天电影 [[M (1)#^m1-1|#1]]。",
        "可以试试：换个说法；去掉 memo 里没有出现过的词（zzyzx）；先运行 `vaultbrain sync`，取回最新的内容。",
    ]


def test_conditions_that_nothing_meets_are_the_reason() -> None:
    """Not the words: the tag and the date are named."""
    corpus = Corpus({}, "观影 tag:没有 after:2030")
    said = compose(corpus.result(memos_searched=0), corpus.context()).as_json["conclusion"]
    assert said == "CFlow 中没有符合条件的内容：标签 没有、2030-01-01 起。可以试试：去掉一个条件。"


def test_conditions_alone_list_what_meets_them() -> None:
    """Without a topic the newest are named, and the theme is called by the conditions."""
    corpus = Corpus({"1": "露天的那一场改期了。", "2": "观影小组轮到我选片。"}, "tag:观影")
    answer = compose(corpus.result(), corpus.context("inventory"))
    assert answer.as_json["conclusion"].startswith("CFlow 中符合条件的有 2 条（标签 观影）。最新的是：")
    assert answer.as_json["themes"][0]["name"] == "标签 观影"


def test_counts_agree_with_what_is_listed_and_what_is_not() -> None:
    """All that is cited and all that is not: the first sentence, the properties and the last line say the same."""
    corpus = Corpus({"1": "观影小组轮到我选片。", "2": "露天观影改期了。", "3": "雨天观影。"}, labels={"2": "相关", "3": "弱"})
    answer = compose(corpus.result(strong_memos=3, related_memos=2), corpus.context())
    assert answer.as_json["conclusion"].startswith("CFlow 中有 6 条相关内容，其中 3 条直接相关。")
    assert [answer.properties[name] for name in ("vb_strong", "vb_related", "vb_weak")] == [1, 1, 1]
    assert "另有 3 条相关内容没有列出" in answer.values["coverage"]["lines"]
    all_listed = compose(corpus.result(strong_memos=0, related_memos=0), corpus.context())
    assert all_listed.as_json["conclusion"].startswith("CFlow 中有 3 条相关内容，其中 1 条直接相关。")
    assert not any("没有列出" in line for line in all_listed.values["coverage"]["lines"])


def test_conditions_alone_speak_of_no_query_words() -> None:
    """Nothing was looked for by words or meaning, and each source meets the conditions."""
    corpus = Corpus({"1": "露天的那一场改期了。", "2": "观影小组轮到我选片。"}, "tag:观影 after:2024")
    answer = compose(corpus.result(strong_memos=4, memos_searched=4), corpus.context("inventory"))
    coverage = answer.values["coverage"]
    assert coverage["summary"] == "在 100 条 memo 中查了符合条件的 4 条，读了 1 条全文"
    assert [line for line in coverage["lines"] if "字词" in line or "查询词" in line] == []
    assert "另有 2 条符合条件的没有列出" in coverage["lines"]
    assert [source["matched"] for source in answer.values["sources"]] == ["标签 观影、2024-01-01 起"] * 2


def test_one_is_one_in_english() -> None:
    """One memo, one of them, one query word, one part."""
    one = Corpus({"1": "Movie night moved to Friday."}, "tag:movies")
    said = compose(one.result(), one.context("inventory", "en")).as_json["conclusion"]
    assert said.startswith("CFlow holds one memo that meets the conditions (tag movies).")
    two = Corpus({"1": "Movie night moved to Friday.", "2": "A film for the night."}, "movie", labels={"2": "相关"})
    result = two.result(variants=[VariantCoverage("movie", "part", 1, "", 2)])
    answer = compose(result, two.context(language="en"))
    assert answer.as_json["conclusion"].startswith("CFlow holds 2 related memos, one of them directly on the subject.")
    assert answer.values["coverage"]["summary"] == "Searched all 100 memos with one query word, read 1 in full"


def test_a_first_sync_that_is_not_finished_is_said_as_a_sentence() -> None:
    """No time stands where there is none."""
    corpus = sleep()
    lines = compose(corpus.result(), replace(corpus.context(), when="")).values["coverage"]["lines"]
    assert any(line.endswith("；第一次同步还没有完成") for line in lines)
    assert not any("同步于" in line for line in lines)


def test_addresses_are_counted_where_the_subject_is() -> None:
    """Those of memos that are only loosely related are not."""
    memos = {"1": "片源 https://a.example/films", "2": "路由器 https://a.example/router", "3": "灯 https://a.example/lamp"}
    corpus = Corpus(memos, labels={"2": "弱", "3": "弱"})
    said = compose(corpus.result(), corpus.context("inventory")).as_json["conclusion"]
    assert said.endswith("其中有 1 个网址。")


def test_the_conclusion_quotes_sentences_rather_than_code() -> None:
    """A command is quoted when one is asked for, or when the memo is nothing else."""
    memos = {"1": "$ git push --tags origin main\n\n标签要单独推送。", "2": "`git tag -d v1`"}
    corpus = Corpus(memos, "git 标签")
    said = compose(corpus.result(), corpus.context()).as_json["conclusion"]
    assert "标签要单独推送" in said
    assert "$ git push" not in said
    assert "git tag -d v1" in said
    announced = Corpus({"1": "#git 列出没动过的标签：\n\n```\ngit tag --no-merged main\n```"}, "git 标签")
    result = announced.result()
    code, text = announced.blocks["1"][1]
    found = replace(result, hits=(replace(result.hits[0], anchor=code, excerpt=text),))
    assert "「列出没动过的标签」[[M (1)#^m1-1|#1]]" in compose(found, announced.context()).as_json["conclusion"]
    asked = Corpus({"1": memos["1"]}, "git push 命令")
    assert "git push --tags" in compose(asked.result(), asked.context()).as_json["conclusion"]


def test_the_rare_word_of_a_question_chooses_the_sentence() -> None:
    """Where every memo holds one word, the other one tells."""
    others = {str(n): f"备份的第 {n} 条记录在这里写着。" for n in range(2, 8)}
    corpus = Corpus({"1": "备份原则是三份和两种介质。RAID 只是不停机，不是什么保险。", **others}, "RAID 备份")
    assert "「RAID 只是不停机，不是什么保险」" in compose(corpus.result(), corpus.context()).as_json["conclusion"]


def test_a_passage_is_shortened_in_the_properties() -> None:
    """One line of it, cut with a sign; a question stands whole."""
    passage = Corpus({"1": "照片要备份。"}, "家里的照片还没有备份。\n\n" * 20)
    shown = compose(passage.result(), passage.context("match")).properties["vb_question"]
    assert isinstance(shown, str)
    assert shown.endswith("…")
    assert len(shown) <= 121
    assert "\n" not in shown
    question = Corpus({"1": "照片要备份。"}, "家里的照片还没有备份，该怎么办才好？" * 5)
    assert compose(question.result(), question.context()).properties["vb_question"] == question.question


def test_a_match_quotes_what_is_surest_and_names_the_parts_that_nothing_meets() -> None:
    """What a part's own search found strong goes before what is only near the whole."""
    corpus = Corpus({"1": "月亮很圆，风也大。", "2": "照片要备份到硬盘。"}, "passage", labels={"1": "弱", "2": "弱"})
    result = corpus.result()
    found = replace(result.hits[1], label="强")
    context = corpus.context("match", passage_parts=("照片没有备份。", "咖啡机坏了。"), part_hits=((found,), (result.hits[0],)))
    answer = compose(result, context)
    assert answer.as_json["conclusion"] == (
        "CFlow 中有 2 条内容和这段文字接近；文字分成 2 部分，其中 1 部分找得到对应的内容。"
        "最接近的是：「照片要备份到硬盘」[[M (2)#^m2-1|#2]]。"
    )
    assert answer.as_json["outlook"]["gaps"] == ["没有找到对应内容的部分：「咖啡机坏了。」"]
    loosely = compose(result, replace(context, part_hits=((), ())))
    assert loosely.as_json["conclusion"].startswith("CFlow 中没有哪一条和这段文字对得上，只有 2 条沾边。")


# what the person should know


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_may_be_wrong_stands_where_it_is_seen(language: str, tmp_path: Path) -> None:
    """An old mirror, no vectors, a condition that cannot be read, too much: one open callout, with what to do."""
    corpus = Corpus({str(n): f"第 {n} 次观影 #{'小组' if n % 2 else '观影'}" for n in range(6)}, "观影 after:昨天")
    result = corpus.result(strong_memos=30, related_memos=20, degraded=[Shortcoming("no_vectors")])
    older = replace(result.hits[0], created=result.hits[0].created - 365 * DAY)
    result = replace(result, hits=(older, *result.hits[1:]))
    answer = compose(result, corpus.context(language=language, age_days=9))
    text = note(answer, tmp_path)
    callout = text[text.index("> [!warning]") :].split("\n\n")[0]
    assert "vaultbrain sync" in callout
    assert "9" in callout
    assert "after:昨天" in callout
    assert "50" in callout
    assert "`tag:小组`" in callout
    assert "`after:2026`" in callout
    assert len(answer.as_json["notices"]) == 4


def test_a_year_that_leaves_all_is_no_way_to_narrow() -> None:
    """When every hit is as new, another word is."""
    corpus = Corpus({str(n): f"第 {n} 次观影 #观影" for n in range(6)}, "观影")
    (notice,) = compose(corpus.result(strong_memos=30, related_memos=20), corpus.context()).as_json["notices"]
    assert "after:" not in notice
    assert notice.endswith("可以缩小：多写一个词，说得更具体")


def test_the_coverage_speaks_to_the_owner() -> None:
    """Tags as words, no word of one character, none that another script or form of it met; what was tried in vain is named."""
    found = [
        ("硬碟", "part", 0),
        ("备份", "part", 3),
        ("用", "part", 0),
        ("#备份", "tag", 3),
        ("硬盘", "script", 2),
        ("容灾", "synonym", 0),
    ]
    variants = [VariantCoverage(text, family, 1, "", memos) for text, family, memos in found]
    corpus = Corpus({"1": "备份到硬盘"}, "备份 硬碟 用")
    lines = compose(corpus.result(variants=variants), corpus.context("inventory")).values["coverage"]["lines"]
    assert lines[0] == "查询词：备份、硬盘"
    assert [line for line in lines if "没有一条 memo" in line] == ["没有一条 memo 出现过的词：容灾"]
    assert not any("\\#" in line for line in lines)


def test_all_is_well_needs_no_callout(tmp_path: Path) -> None:
    """A fresh mirror, few hits: no warning."""
    corpus = sleep()
    assert "[!warning]" not in note(compose(corpus.result(), corpus.context(age_days=6)), tmp_path)


@pytest.mark.parametrize(
    "code", ["no_vectors", "no_model", "no_store", "no_dictionary", "no_suggestions", "no_reranker", "own_lexicon"]
)
def test_every_shortcoming_of_a_search_has_words(code: str, tmp_path: Path) -> None:
    """In each language, with its reason in the note where there is one."""
    corpus = sleep()
    for language in LANGUAGES:
        result = corpus.result(degraded=[Shortcoming(code, "because of X")])
        text = note(compose(result, corpus.context(language=language)), tmp_path)
        assert "because of X" in text or code in ("no_vectors", "no_dictionary")


# sources, headings, changes


def test_sources_name_copies_and_relatives(tmp_path: Path) -> None:
    """What says the same is named, and what a memo comments on or refers to."""
    corpus = sleep()
    result = corpus.result()
    result = replace(result, hits=(replace(result.hits[0], copies=("12", "34")), *result.hits[1:]))
    kin = {"1": [Relative("8", "COMMENT", "咖啡的事", "M (8).md", ""), Relative("9", "REFERENCE", "[[x]]", "", "")]}
    context = corpus.context()
    text = note(compose(result, replace(context, material=replace(context.material, relatives=kin))), tmp_path)
    assert "> 同样的内容：\\#12、\\#34\n> 回应：[[M (8)|#8]] 咖啡的事\n> 引用：\\#9 " in text
    assert "[[x]]" not in text


def test_a_person_may_name_the_headings(tmp_path: Path) -> None:
    """Those that are set, on one line; the others stay."""
    corpus = sleep()
    text = note(compose(corpus.result(), corpus.context(headings={"conclusion": "一句话\n说完", "gaps": ""})), tmp_path)
    assert text.startswith("## 一句话 说完\n")
    assert "## 引用来源\n" in text
    assert set(HEADINGS) <= set(compose(corpus.result(), corpus.context()).values["headings"])


def test_what_changed_stands_on_top(tmp_path: Path) -> None:
    """Lines as given, under the day."""
    corpus = sleep()
    text = note(compose(corpus.result(), corpus.context(changes=["新引用：x"], changed_since="2026-11-01")), tmp_path)
    assert text.startswith("> [!note]+ 2026-11-01 更新，和上一次相比\n> - 新引用：x\n\n## 结论\n")


# a language model's sentences


def test_a_models_sentences_take_the_place_of_the_conclusion_and_head_the_themes(tmp_path: Path) -> None:
    """Each followed by its links; who wrote, from what, and what was dropped is said in the coverage."""
    corpus = sleep()
    written = Written(
        (Sentence("固定流程最有用 [[别处]]", ("4", "1", "99")),),
        {0: (Sentence("先关灯。", ("1",)),)},
        reasons={Fault.NUMBER: 2},
        given=("1", "2"),
        prompt_tokens=1200,
        completion_tokens=34,
    )
    answer = compose(corpus.result(), corpus.context(written=written))
    assert re.fullmatch(
        r"固定流程最有用 \S+别处\S+ \[\[M \(4\)#\^m4-1\|#4\]\] \[\[M \(1\)#\^m1-1\|#1\]\]", *answer.values["conclusion"]
    )
    text = note(answer, tmp_path)
    assert "### 怎么做\n\n先关灯。 [[M (1)#^m1-1|#1]]\n\n- " in text
    assert "[[别处]]" not in text
    assert "> - 结论和主题下的句子由模型写成，依据这些 memo：[[M (1)#^m1-1|#1]]、[[M (2)#^m2-1|#2]]" in text
    assert "> - 模型的 2 句话没有依据，已去掉" in text
    assert "用了 1\u202f234 个 token" in text
    assert answer.as_json["writer"]["dropped"] == 2


def test_a_model_that_wrote_nothing_leaves_the_memos_words() -> None:
    """The extractive conclusion stands, the failure is said, nothing claims to be written by it."""
    corpus = sleep()
    answer = compose(corpus.result(), corpus.context(written=Written(given=("1", "2")), writer_failed="timed out"))
    plain = compose(corpus.result(), corpus.context())
    assert answer.values["conclusion"] == plain.values["conclusion"]
    lines = answer.values["coverage"]["lines"]
    assert any("timed out" in line for line in lines)
    assert not any("由模型写成" in line for line in lines)
    assert plain.as_json["writer"] is None


def test_the_same_input_gives_the_same_note(tmp_path: Path) -> None:
    """Byte for byte, in every mode."""
    for mode in ("inventory", "match", "explore"):
        assert len({note(compose(sleep().result(), sleep().context(mode)), tmp_path) for _ in range(3)}) == 1
