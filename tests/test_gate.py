"""The first layer of the recall gate: figures on judged sentences, and what must not change a decision."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opencc import OpenCC

from vaultbrain.recall.areas import Areas
from vaultbrain.recall.cues import AGAINST, LEANINGS, NEEDS, PLAIN_LEAST, READS_LIKE_NOTE, THRESHOLD, Side
from vaultbrain.recall.gate import MAX_CHARS, decide
from vaultbrain.recall.reading import BIAS, features_of, score, strongest
from vaultbrain.recall.shapes import is_logged, is_pasted

DATA = Path(__file__).parent / "data"
#: Floors of the issue, for every set.
PRECISION, RECALL = 0.95, 0.92


@cache
def judged(name: str) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads((DATA / name).read_text(encoding="utf-8")))


def both_sets() -> tuple[dict[str, Any], ...]:
    return judged("memobench-gate.json") + judged("gate-more.json")


@cache
def usual() -> tuple[dict[str, Any], ...]:
    """Enough for properties: the set of others and our first round."""
    return judged("memobench-gate.json") + tuple(row for row in judged("gate-more.json") if row["round"] == 1)


def reasons_of(text: str) -> str:
    return " / ".join(decide(text).reasons)


@pytest.mark.parametrize("name", ["memobench-gate.json", "gate-more.json", "gate-other-hand.json"])
def test_decisions_agree_with_the_judged_sentences(name: str) -> None:
    """Of what the gate lets through nearly all is a need, and it lets nearly all needs through."""
    rows = judged(name)
    passed = [row["recall"] for row in rows if decide(row["text"]).recall]
    needs = sum(row["recall"] for row in rows)
    assert sum(passed) / len(passed) >= PRECISION
    assert sum(passed) / needs >= RECALL


def test_a_traditional_text_decides_as_its_simplified_one() -> None:
    """Script is no feature: each judged sentence, turned into traditional and into simplified script, is decided alike."""
    to_traditional, to_simplified = OpenCC("s2t"), OpenCC("t2s")
    for row in both_sets():
        text = row["text"]
        decided = decide(text).recall
        assert decide(to_traditional.convert(text)).recall == decided, text
        assert decide(to_simplified.convert(text)).recall == decided, text


@pytest.mark.parametrize("dress", ["  {}  ", "\n\n{}\n\n", "**{}**", "## {}", "- {}", "> {}", "1. {}", "{}\n\n---\n"])
def test_blanks_and_markdown_marks_do_not_change_a_decision(dress: str) -> None:
    """A need is a need in a heading, a list or bold, and talk stays talk there."""
    for row in usual():
        if "\n" not in row["text"] and decide(row["text"]).features:
            assert decide(dress.format(row["text"])).recall == decide(row["text"]).recall, row["text"]


def test_letter_case_and_width_do_not_change_a_decision() -> None:
    """Capitals and full-width punctuation are habits of typing."""
    width = str.maketrans("?!,:;", "？！，：；")
    for row in usual():
        if decide(row["text"]).features:
            assert decide(row["text"].upper()).recall == decide(row["text"]).recall, row["text"]
            assert decide(row["text"].translate(width)).recall == decide(row["text"]).recall, row["text"]


def test_a_full_stop_at_the_end_does_not_change_a_decision() -> None:
    """People leave it out or put it in."""
    for row in both_sets():
        if row["text"][-1].isalnum() and "\n" not in row["text"]:
            assert decide(row["text"] + "。").recall == decide(row["text"]).recall, row["text"]


def test_the_features_add_up_to_the_decision() -> None:
    """Whoever reads the features can do the sum: at the threshold or above it the text passes."""
    for row in both_sets():
        decision = decide(row["text"])
        total = round(sum(weight for _, weight in decision.features), 6)
        assert (total >= THRESHOLD) == decision.recall, row["text"]
        assert decision.reasons
        assert len({name for name, _ in decision.features}) == len(decision.features)


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_gets_the_same_decision_twice(text: str) -> None:
    """No text breaks the gate, and nothing but the text decides."""
    assert decide(text) == decide(text)


@given(st.lists(st.sampled_from([row["text"] for row in both_sets() if "\n" not in row["text"]]), min_size=1, max_size=6))
@settings(deadline=None, max_examples=40)
def test_the_sum_holds_for_whole_paragraphs(sentences: list[str]) -> None:
    """Sentences put together are decided by one of their sums, too."""
    decision = decide("\n".join(sentences))
    assert (round(sum(weight for _, weight in decision.features), 6) >= THRESHOLD) == decision.recall


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "？？？",
        "🎬🎬",
        "\ud83d",
        "a" * 100_000,
        "怎么做？" * 25_000,
        "想" * (MAX_CHARS + 1) + "怎么搭一套流程？",
        "怎么搭一套流程？" + "\x00\x01\x02\x7f" * 40,
        "".join(map(chr, range(0xE000, 0xE400))) + "怎么搭？",
    ],
)
def test_what_nobody_wrote_just_now_is_not_looked_up(text: str) -> None:
    """Nothing, a whole document, or bytes: the gate stays shut and says why."""
    decision = decide(text)
    assert not decision.recall
    assert decision.reasons


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("这套流程该怎么搭？", 'asks for a way of doing: "'),
        ("有没有小店靠邮件留住老客的案例？", 'asks for cases or references: "'),
        ("restic 和 borg 哪个更适合家用？", 'compares: "'),
        ("要不要搬家？", 'weighs a decision: "要不要"'),
        ("下一步先动哪块？", "looks for the next step"),
        ("我记得写过一条关于发酵的。", 'points back at earlier notes: "'),
        ("Drafting a piece about agents.", 'names a collected area: "agents"'),
        ("帮我定一个明早七点的闹钟。", "an errand"),
        ("- [ ] 换灯泡", 'log line: "'),
        ('{"date": "2026-01-01"}', 'paste: "'),
        ("今天在河边走了走。", "no need is spelled out"),
        ("今天在河边走了走。", "reads like a note"),
        ("两个版本都有人喜欢，换哪个都有人骂，定不下来。", "reads like a need: "),
    ],
)
def test_reasons_name_the_class_and_quote_the_words(text: str, reason: str) -> None:
    """People and agents read why: the class of wording, and the words that showed it."""
    assert reason in reasons_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "能不能劳烦您在百忙之中帮我看一下，明天下午这边会不会下雨呢？谢谢您了。",
        "I'd be very grateful if you could possibly remind me to water the plants at six.",
        "请帮我把下面这段翻译成英文：这套流程应该怎么搭？有没有案例可以参考？",
        "帮我查一下天气。要带伞吗？",
        "今天怎么样",
        "睡了一觉还是很累，还是老样子。",
        "要不要一起吃饭？",
        "先洗澡再睡。",
        "What a framework!",
        "怎么这么好看！",
        "他问我：“怎么选方案？”",
        "妈妈教我怎么包粽子，包到天黑。",
        "- [ ] 研究怎么给 agent 加记忆",
        "例会：谁来值班、怎么轮，已排到下月。",
        "去还是留，最后留了，合同也签了。",
        "为什么留着旧伞？因为那天雨很好看。",
        "The startup upstairs got a second gong.",
    ],
)
def test_the_form_of_a_need_without_a_need_is_not_looked_up(text: str) -> None:
    """Polite errands, greetings, outcries, reports, log lines: the words of a question, and nothing to look up."""
    assert not decide(text).recall, reasons_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "两个学校，一个离家近，一个老师好，定不下来。",
        "新手来了全靠口头教，得有一份带图的说明才行。",
        "这几摊事都压在月底，替我排个先后。",
        "Every harvest we forget the crates, there should be a list for it.",
        "Keep the stall or hand it over. I can't settle it.",
        "how other choirs handle sheet music",
        "把退货登记的自动化接着搭完，今天先做短信那段。",
    ],
)
def test_a_need_without_the_form_of_one_is_looked_up(text: str) -> None:
    """Dilemmas without a question, wants said as complaints, fragments, and work on a collected area."""
    assert decide(text).recall, decide(text)


@pytest.mark.parametrize(
    "text",
    [
        "git 提交写错了，怎么撤销已经 push 的 commit？",
        "帮孩子选英语绘本，有没有推荐的",
        "What did I write about knees?",
        "誤刪了一個 branch，怎麼救回來？",
        "How do I fix my sleep?",
        "怎麼選麥克風？",
        "怎么选麦克风？预算两千。",
        "关于腰痛我记过什么？",
        "我有沒有寫過跟失眠有關的東西？",
        "Any recommendations for a beginner's sewing machine?",
        "What's the way to split a big pull request?",
        "Have I saved anything about knee braces?",
    ],
)
def test_a_plain_question_is_not_taken_back_by_how_it_reads(text: str) -> None:
    """Who asks in so many words how to do a thing, for a recommendation or for own notes is looked up, whatever the subject."""
    assert decide(text).recall, decide(text)


@pytest.mark.parametrize(
    "text",
    [
        "你怎么这么慢？",
        "怎么又下雨了？",
        "孩子怎么哭了？",
        "我写得怎么样？",
        "去火車站怎麼走？",
        "蜜蜂是怎么酿蜜的？",
        "英里怎么换算成公里？",
        "謝謝用韓文怎麼講？",
        "How do you do?",
        "How do I look?",
        "How could you forget!",
        "How do I do this?",
        "How do you spell rhythm?",
        "How do fireflies glow?",
        "What did I do wrong lately?",
        "How to be happy? Nobody ever told me.",
        "怎么选麦克风？后来买了一支，挺好用。",
    ],
)
def test_the_words_of_a_plain_question_alone_are_none(text: str) -> None:
    """Astonishment, greetings, errands, what any book says, nothing to ask about, or an answer that follows."""
    assert not decide(text).recall, decide(text)


def test_a_plain_question_that_reads_like_a_note_keeps_what_its_class_has() -> None:
    """The reading of such a question weighs no more against it than its class is above the threshold."""
    readings = [dict(decide(text).features).get(READS_LIKE_NOTE) for text in ("怎麼選麥克風？", "How do I fix my sleep?")]
    assert readings == [PLAIN_LEAST, PLAIN_LEAST]


def test_what_follows_takes_a_question_back() -> None:
    """Who asks and goes on to say how it went wants nothing; a question is read with what stands after it."""
    assert decide("要不要续租？").recall
    assert not decide("要不要续租？想了一周，昨天已经签了。").recall


def test_a_persons_own_area_reads_as_a_usual_one() -> None:
    """The table knows no area by name: work on any of them reads the same."""
    assert (
        decide("正在给发酵加一页说明。", Areas().with_words(("发酵",))).features == decide("正在给 agent 加一页说明。").features
    )


def test_the_reading_is_of_the_text_alone() -> None:
    """The same features in the same order, each once; words that are shown stand in the text."""
    for row in usual():
        features = features_of(row["text"])
        assert len(set(features)) == len(features)
        assert BIAS not in features
    text = "想知道别的社团都怎么分工"
    assert all(word.strip("?") in text for word in strongest(text, needed=True))
    assert score("") == score("。")


def test_a_question_beside_a_paste_is_judged_on_its_own() -> None:
    """The code says nothing; the sentence under it does, or does not."""
    code = "```python\nfor memo in memos:\n    send(memo)\n```\n"
    assert decide(code + "这种批处理一般怎么改造比较好？").recall
    assert not decide(code + "改好了，收工。").recall
    assert not decide(code).recall


def test_an_errand_does_not_hide_a_need_of_its_own() -> None:
    """Who asks for an alarm and for a way of doing asks for a way of doing."""
    assert decide("帮我定个七点的闹钟。另外，读书笔记怎么归档比较好？").recall


def test_a_need_far_from_the_end_counts_less() -> None:
    """A musing that has moved on is not what the person wants now; the same words at its end are."""
    talk = ["雨停了。", "路上都是落叶。", "晚上煮了粥。", "孩子早早睡了。", "院子里很静。"]
    early = decide("".join(["博客要不要双语。", *talk]))
    late = decide("".join([*talk, "博客要不要双语。"]))
    assert late.recall
    assert not early.recall


def test_further_areas_count_as_the_usual_ones() -> None:
    """Work on a subject from the person's own tags is worth a look-up, and the name alone is not."""
    areas = Areas().with_words(("發酵",))
    assert decide("在写发酵的第二节。", areas).recall
    assert not decide("在写发酵的第二节。").recall
    assert not decide("发酵罐的名字真好听。", areas).recall


def test_weights_say_what_their_side_says() -> None:
    """Needs and leanings speak for, the rest against; a lean never passes alone; names are unique."""
    cues = (*NEEDS, *LEANINGS, *AGAINST)
    assert len({cue.name for cue in cues}) == len(cues)
    assert all((cue.weight > 0) == (cue.side in {Side.NEED, Side.LEAN}) for cue in cues)
    assert all(cue.weight < THRESHOLD for cue in LEANINGS)
    assert all(cue.side is Side.NEED for cue in NEEDS)


def test_a_class_that_needs_another_stands_behind_it() -> None:
    """Classes are looked up in their order, so that ``beside`` can only name an earlier one."""
    order = ["names a collected area", *(cue.name for cue in (*NEEDS, *LEANINGS))]
    needing = [(cue.beside, cue.name) for cue in LEANINGS if cue.beside]
    assert needing
    assert all(order.index(first) < order.index(second) for first, second in needing)
    assert all(before != after for before, after in pairwise(order))


@pytest.mark.parametrize(
    "line",
    [
        "server {",
        'KeyError: "rating"',
        "drwxr-xr-x 2 me me 4096 photos",
        "| name | size |",
        "docker run --rm -it image",
        '{"a": 1, "b": [2]}',
        "def add(a, b):",
        "<div>How to choose</div>",
    ],
)
def test_lines_out_of_a_program_are_pastes(line: str) -> None:
    """Code, output, listings and tables are told by their shape."""
    assert is_pasted(line.casefold())


@pytest.mark.parametrize(
    "line",
    [
        "I wrote two pages today (bad ones), then slept.",
        "要不要用 docker compose 呢",
        "note: the second draft is thinner",
        "well... ok!",
    ],
)
def test_prose_with_some_marks_is_no_paste(line: str) -> None:
    """Brackets, names of programs and a colon stand in prose, too."""
    assert not is_pasted(line.casefold())


def test_a_long_paragraph_that_names_times_and_meals_is_no_log_line() -> None:
    """A diary tells of breakfast at eight and dinner at seven; a record has little else."""
    assert is_logged("8:00 早饭 12:00 午饭 19:00 晚饭")
    paragraph = "八点吃了早饭就出门,一路上都在想昨天那场没说完的争论,到了车站才发现忘了带书,只好看窗外的田。"
    assert not is_logged(paragraph + "晚饭是在一家没有招牌的小店吃的,老板娘不怎么说话,汤却很好喝,坐到七点才慢慢往回走。")
