"""Expansion: which words of the lexicon stand in a question, which others are tried for them, in what order and how many."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.retrieve.concepts import Concept
from vaultbrain.retrieve.expand import (
    LITERAL,
    MAX_GIVEN,
    MAX_OTHERS,
    MAX_SUGGESTED,
    MAX_SYNONYMS,
    MAX_VARIANTS,
    NAMED_TRANSLATIONS,
    WEIGHTS,
    Sources,
    expand,
    groups_in,
    members,
    near_texts,
    share_of,
)
from vaultbrain.retrieve.lexicon import Lexicon, load_lexicon, parse_lexicon
from vaultbrain.retrieve.query import read_query

SMALL = parse_lexicon(
    """
[[group]]
zh = ["备份", "存档", "拷贝"]
en = ["backup", "back up"]
resources = ["网盘", "nas", "rsync", "timemachine"]
actions = ["恢复", "同步", "对拷", "演练"]
[[group]]
zh = ["备份策略", "三二一"]
[[group]]
zh = ["茶", "乌龙"]
en = ["tea"]
[[group]]
zh = ["手工", "手作"]
[[group]]
zh = ["跑步", "慢跑"]
en = ["run", "jog"]
[[group]]
zh = ["行程", "旅程"]
en = ["trip"]
[[group]]
words = ["run", "execute"]
"""
)
assert SMALL.problems == ()


def words_in(topic: str) -> list[str]:
    return [word for word, _ in groups_in(topic, SMALL)]


def texts(question: str, **sources: object) -> dict[str, str]:
    """Text → family of every variant, in order."""
    return {v.text: v.family for v in expand(read_query(question), Sources(**({"lexicon": SMALL} | sources)))}  # type: ignore[arg-type]


# which words stand there


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("备份", ["备份"]),
        ("数据备份方案", ["备份"]),  # inside a run
        ("备份策略", ["备份策略"]),  # the longest wins, no word inside it counts
        ("备份策略 备份", ["备份策略"]),
        ("茶", ["茶"]),
        ("茶 备份", ["备份", "茶"]),  # longest first
        ("奶茶店", []),  # one character inside a word is a syllable
        ("人手工作", ["手工"]),  # nothing tells where Chinese words end
        ("备 份", []),
        ("backups", ["backup"]),
        ("backed up", ["back up"]),
        ("backing  up", ["back up"]),
        ("trips", ["trip"]),
        ("strip", []),  # no English word inside another
        ("tripod", []),
        ("teas", ["tea"]),
        ("team", []),
        ("", []),
        ("？！", []),
    ],
)
def test_the_longest_words_of_the_lexicon_stand_in_a_topic(topic: str, words: list[str]) -> None:
    """Chinese ones anywhere in a run, one of a single character alone, English ones in any inflection."""
    assert words_in(topic) == words


def test_a_word_of_two_groups_brings_both() -> None:
    """Running is a sport and what a program does; each group comes once, though two words of the topic are in it."""
    assert [(word, group.words[0].text) for word, group in groups_in("running", SMALL)] == [("run", "跑步"), ("run", "run")]
    assert len(list(groups_in("jog run", SMALL))) == 2


@given(st.text("备份策略茶存档 runjogtea", max_size=14))
def test_groups_never_repeat_and_their_words_are_in_the_lexicon(topic: str) -> None:
    """Whatever is asked; and no word found stands in a longer one that was found."""
    found = list(groups_in(topic, SMALL))
    assert len({id(group) for _, group in found}) == len(found)
    for word, group in found:
        assert any(word == other.text for other in group.words)
        assert not any(word in longer and word != longer for longer, _ in found)


# shares


@pytest.mark.parametrize(
    ("word", "topic", "share"),
    [
        ("备份", "备份", 1.0),
        ("备份", "备份方案", 0.5),
        ("茶", "乌龙茶", 1 / 3),
        ("backup", "backup plan", 0.5),
        ("back up", "back up plan", 2 / 3),
        ("backup", "备份 backup", 0.5),  # an English word weighs as two characters
        ("备份策略", "备份", 1.0),  # never more than all of it
        ("备份", "", 0.0),
        ("备份", "2024", 0.0),
    ],
)
def test_the_share_of_a_word_by_hand(word: str, topic: str, share: float) -> None:
    """Chinese characters count one each, English words two."""
    assert share_of(word, topic) == pytest.approx(share)


# members


def test_members_come_in_the_groups_order_without_the_word_itself() -> None:
    """The most usual first, both languages as the group has them."""
    (group,) = SMALL.groups_for("备份")
    assert list(members("备份", group)) == ["存档", "backup", "拷贝", "back up"]
    assert list(members("backup", group)) == ["备份", "存档", "拷贝", "back up"]


@pytest.mark.parametrize(("word", "same", "other"), [("词0", "词", "word"), ("word0", "word", "词")])
def test_of_a_large_group_only_so_many_are_tried(word: str, same: str, other: str) -> None:
    """More of the question's own language than of the other one."""
    chinese, english = ([f"{stem}{n}" for n in range(15)] for stem in ("词", "word"))
    (group,) = parse_lexicon(f"[[group]]\nzh = {chinese}\nen = {english}\n").groups
    found = list(members(word, group))
    assert [text for text in found if text.startswith(same)] == [f"{same}{n}" for n in range(1, MAX_SYNONYMS + 1)]
    assert [text for text in found if text.startswith(other)] == [f"{other}{n}" for n in range(MAX_OTHERS)]


# variants


def test_families_come_in_their_order() -> None:
    """The question, the caller's words, its parts with their forms, synonyms, the dictionary, what is typical of the topic."""
    found = texts("备份 plans", given=["冷备"], tags={"备份", "存档"}, concepts=[Concept("备份", ("backup copy", "spare"))])
    assert list(found) == [
        "备份 plans", "冷备", "备份", "#备份", "plans", "plan", "planned",
        "存档", "#存档", "backup", "拷贝", "back up", "backup copy / spare", "网盘", "nas", "rsync", "恢复", "同步", "对拷",
    ]  # fmt: skip
    assert list(dict.fromkeys(found.values())) == [
        "literal", "given", "part", "tag", "form", "synonym", "related tag", "other language", "translation", "resource",
        "action",
    ]  # fmt: skip


def test_a_question_for_resources_is_asked_with_what_resources_are_called() -> None:
    """Names that resources of any topic have come last, and only for such a question."""
    lexicon = Lexicon(SMALL.groups, resources=("网站", "清单"), actions=("收藏",))
    asked = [v.text for v in expand(read_query("备份有哪些工具"), Sources(lexicon))]
    plain = [v.text for v in expand(read_query("备份"), Sources(lexicon))]
    assert asked[-3:] == ["网站", "清单", "收藏"]
    assert not {"网站", "清单", "收藏"} & set(plain)


def test_weights_and_reasons_tell_where_a_variant_comes_from() -> None:
    """The weight is the family's; the reason names the word, and whose lexicon it was."""
    variants = {v.text: v for v in expand(read_query("数据备份"), Sources(SMALL, tags={"存档"}))}
    assert all(v.weight == WEIGHTS[v.family] and v.reason for v in variants.values())
    assert variants["存档"].reason == "means nearly the same as 备份 (your lexicon)"
    assert (variants["存档"].group, variants["存档"].share) == ("备份", 0.5)
    assert variants["#存档"].family == "related tag"
    assert "backups" in variants["backup"].looked_up
    bundled = {v.text: v for v in expand(read_query("观影"), Sources(load_lexicon()))}
    assert bundled["电影"].reason == "means nearly the same as 观影 (the lexicon)"


def test_a_translation_names_a_few_and_looks_up_all() -> None:
    """Its text is for people, its words are what is looked for."""
    many = tuple(f"word{n}" for n in range(6))
    (variant,) = [v for v in expand(read_query("罗勒"), Sources(Lexicon(()), concepts=[Concept("罗勒", many)])) if v.words]
    assert variant.text == " / ".join(many[:NAMED_TRANSLATIONS])
    assert variant.looked_up == many
    assert (variant.family, variant.group) == ("translation", "罗勒")


def test_a_concept_without_translation_is_no_variant() -> None:
    """The dictionary knows the word's characters only."""
    assert texts("罗勒", lexicon=Lexicon(()), concepts=[Concept("罗勒", (), ("罗",))]) == {"罗勒": "literal"}


def test_the_other_regions_words_come_right_after_the_question() -> None:
    """硬盘 and 硬碟; and nothing twice when they are the same."""
    assert list(texts("移动硬盘", lexicon=Lexicon(())).items())[:2] == [("移动硬盘", "literal"), ("行动硬碟", "script")]
    assert "script" not in texts("罗勒").values()


def test_given_words_are_folded_blank_ones_dropped_and_all_others_kept() -> None:
    """Each costs a look-up, so that no caller can bring more than twenty."""
    given_words = ["ＩＭＡＸ", "imax", "  ", "", "觀影", *(f"g{n}" for n in range(40))]
    found = texts("备份", given=given_words)
    kept = [text for text, family in found.items() if family == "given"]
    assert kept == ["imax", "观影", *(f"g{n}" for n in range(MAX_GIVEN - 5))]


@given(
    st.lists(st.text(max_size=6), max_size=40),
    st.lists(st.text(max_size=6), max_size=40),
    st.sampled_from(["观影 备份 茶 跑步 行程 手工", "backup tea run trip plans notes", "怎么备份", "x"]),
)
def test_there_are_never_too_many_variants_and_none_twice(given_words: list[str], suggested: list[str], question: str) -> None:
    """The question first; the caller's own words come on top of the limit and change none of the question's own."""
    variants = expand(read_query(question), Sources(load_lexicon(), {"茶", "备份"}, (), given_words, suggested))
    families = [v.family for v in variants]
    assert families[0] == "literal"
    assert len({v.text for v in variants}) == len(variants)
    assert all(v.text and 0 <= v.share <= 1 for v in variants)
    assert len(variants) - families.count("given") <= MAX_VARIANTS
    assert families.count("given") <= sum(v.is_given for v in variants) <= MAX_GIVEN
    alone = expand(read_query(question), Sources(load_lexicon(), {"茶", "备份"}, (), (), suggested))
    assert {replace(v, is_given=False) for v in variants if v.family != "given"} == set(alone)
    assert families.count("suggested") <= MAX_SUGGESTED
    assert all(v.weight <= 1 and (v.weight < 1 or v.family in LITERAL) for v in variants)


# near texts


def test_near_texts_are_one_for_each_language_with_the_words_themselves() -> None:
    """All of a group in the order they are tried, the word of the question first; and how much of the question they stand for."""
    assert near_texts("备份", SMALL) == (("备份 存档 拷贝", "backup back up"), 1.0)
    assert near_texts("数据备份", SMALL) == (("备份 存档 拷贝", "backup back up"), 0.5)
    assert near_texts("手工", SMALL) == (("手工 手作",), 1.0)
    assert near_texts("tea", SMALL) == (("茶 乌龙", "tea"), 1.0)


def test_without_a_word_of_the_lexicon_there_is_no_near_text() -> None:
    """Nothing to move towards."""
    assert near_texts("罗勒", SMALL) == ((), 0.0)
    assert near_texts("备份", Lexicon(())) == ((), 0.0)


def test_a_word_of_two_groups_counts_once_in_the_share() -> None:
    """run is half of the question, whichever it means."""
    assert near_texts("run plan", SMALL)[1] == pytest.approx(0.5)
