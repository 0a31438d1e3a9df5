"""The lexicon: the bundled one keeps its own rules, a person's own file adds to it, and a mistake there costs only itself."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut, is_cjk
from vaultbrain.retrieve.lexicon import MAX_OWN_BYTES, MAX_PROBLEMS, MAX_WORD_CHARS, load_lexicon, parse_lexicon, read_plain

if TYPE_CHECKING:
    from pathlib import Path

#: Words of one character that mean one thing, whatever stands around them.
PLAIN_CHARACTERS = frozenset("猫狗茶酒诗梦")
#: So general that nearly every memo would be met.
TOO_GENERAL = frozenset("事情 东西 问题 时候 内容 方面 关于 有没有 thing good do make use get day time people way".split())


@pytest.fixture(scope="module")
def bundled() -> dict[str, Any]:
    return tomllib.loads(files("vaultbrain.retrieve").joinpath("lexicon.toml").read_text(encoding="utf-8"))


def words_of(group: dict[str, list[str]]) -> list[str]:
    return group["zh"] + group["en"]


# the bundled lexicon


def test_the_bundled_lexicon_covers_a_life(bundled: dict[str, Any]) -> None:
    """Everyday life needs many hundred groups; each has both languages and at least three words to choose from."""
    assert len(bundled["group"]) >= 900
    assert [group for group in bundled["group"] if not group["zh"] or not group["en"] or len(words_of(group)) < 3] == []
    assert {key for group in bundled["group"] for key in group} <= {"zh", "en", "resources", "actions"}
    assert bundled["resources"]["words"]
    assert bundled["actions"]["words"]


def test_bundled_words_stand_as_the_product_folds_them(bundled: dict[str, Any]) -> None:
    """They are never folded when read: each is simplified, in lower case, without a space too many, in its language's list."""
    every = [w for group in bundled["group"] for words in group.values() for w in words]
    every += bundled["resources"]["words"] + bundled["actions"]["words"]
    assert [word for word in every if " ".join(fold(word).split()) != word or not cut(word) or len(word) > MAX_WORD_CHARS] == []
    assert [word for group in bundled["group"] for word in group["en"] if not word.isascii()] == []
    assert [word for group in bundled["group"] for word in group["zh"] if not any(map(is_cjk, word)) and not plain(word)] == []


def plain(word: str) -> bool:
    """Said like this in Chinese, too: 12306 sells train tickets, emo is a mood."""
    return word.isdecimal() or word == "emo"


def test_the_bundled_file_is_in_the_form_that_is_read_quickly(bundled: dict[str, Any]) -> None:
    """Whoever edits it may not use more of TOML than its quick reader knows: both see the same tables in the same order."""
    tables = read_plain(files("vaultbrain.retrieve").joinpath("lexicon.toml").read_text(encoding="utf-8"))
    assert [table for name, table in tables if name == "group"] == bundled["group"]
    assert {name: table for name, table in tables if name != "group"} == {
        name: bundled[name] for name in ("resources", "actions")
    }


def test_bundled_words_repeat_sparingly(bundled: dict[str, Any]) -> None:
    """Never within a list or a group, and in three groups at most: a word that is everywhere says nothing."""
    for group in bundled["group"]:
        for words in (words_of(group), group.get("resources", []), group.get("actions", [])):
            assert len(set(words)) == len(words), words
    counted = Counter(word for group in bundled["group"] for word in words_of(group))
    assert [word for word, count in counted.items() if count > 3] == []


def test_bundled_words_are_specific(bundled: dict[str, Any]) -> None:
    """No word that suits any memo, and of one character only those that are not usually a part of others."""
    every = {word for group in bundled["group"] for word in words_of(group)}
    assert every & TOO_GENERAL == set()
    assert {word for word in every if len(word) == 1} <= PLAIN_CHARACTERS


def test_bundled_english_words_are_in_their_base_form(bundled: dict[str, Any]) -> None:
    """The plural of a word is found without standing beside it."""
    pairs = [(word, f"{word}s") for group in bundled["group"] for word in group["en"] if f"{word}s" in group["en"]]
    assert pairs == []


def test_no_two_bundled_groups_are_nearly_the_same(bundled: dict[str, Any]) -> None:
    """Groups that share more than half of the smaller one ought to be one group."""
    groups = [set(words_of(group)) for group in bundled["group"]]
    twins = [
        (sorted(left), sorted(right))
        for number, left in enumerate(groups)
        for right in groups[:number]
        if len(left & right) > min(len(left), len(right)) / 2
    ]
    assert twins == []


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("观影", ["movie", "片单", "影院", "票房"]),
        ("sleep", ["失眠", "午睡", "melatonin"]),
        ("llm", ["大模型", "语言模型"]),
        ("ai", ["大模型"]),
        ("rag", ["语义搜索", "向量数据库"]),
        ("第二大脑", ["pkm", "zettelkasten"]),
        ("大模型", ["ai", "gpt"]),
        ("定投", ["指数基金", "每月扣款", "dollar-cost averaging"]),
        ("萤幕", ["显示器", "monitor"]),
        ("writer's block", ["写不出来", "卡文"]),
    ],
)
def test_words_lead_to_what_people_call_it_too(word: str, others: list[str]) -> None:
    """Synonyms, narrower words, short forms and the other language are in a group of the word."""
    met = {other.text for group in load_lexicon().groups_for(word) for other in group.words}
    assert set(others) <= met


# what is read of it


def test_a_group_gives_words_of_both_languages_early() -> None:
    """Two Chinese words, one English, in the order of the file; each with its language."""
    first = load_lexicon().groups_for("观影")[0]
    assert [word.language for word in first.words[:6]] == ["zh", "zh", "en"] * 2
    assert first.words[0].text == "观影"
    assert not first.is_own
    assert "豆瓣" in first.resources
    assert "想看" in first.actions


def test_an_unknown_word_has_no_group() -> None:
    """Neither has a part of a known one."""
    lexicon = load_lexicon()
    assert lexicon.groups_for("蒸汽朋克管弦") == ()
    assert lexicon.groups_for("影") == ()
    assert lexicon.problems == ()


# a person's own file


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_own_groups_come_first_and_are_folded(tmp_path: Path) -> None:
    """Written in any script, case or width; the bundled groups stay, and the general words of both are joined."""
    own = write(
        tmp_path / "lexicon.toml",
        '[[group]]\nzh = ["觀影", "刷片"]\nen = ["ＭＵＢＩ"]\nwords = ["Kino", "映画"]\n'
        'resources = ["Trakt"]\nactions = ["重看"]\n\n'
        '[resources]\nwords = ["書單", "网站"]\n[actions]\nwords = ["囤"]\n',
    )
    lexicon, bundled = load_lexicon(own), load_lexicon()
    assert lexicon.problems == ()
    mine, theirs = lexicon.groups_for("观影")
    assert [(word.text, word.language) for word in mine.words] == [
        ("kino", "en"),
        ("映画", "zh"),
        ("观影", "zh"),
        ("刷片", "zh"),
        ("mubi", "en"),
    ]
    assert (mine.resources, mine.actions, mine.is_own) == (("trakt",), ("重看",), True)
    assert theirs in bundled.groups
    assert lexicon.groups[1:] == bundled.groups
    assert lexicon.resources == ("书单", "网站", *[word for word in bundled.resources if word != "网站"])
    assert lexicon.actions == ("囤", *bundled.actions)


def test_words_that_fold_to_one_count_once() -> None:
    """A word in two scripts or cases is the same word to the search."""
    lexicon = parse_lexicon('[[group]]\nzh = ["觀影", "观影", "看片"]\nwords = ["看片", "IMAX", "imax"]')
    assert [word.text for word in lexicon.groups[0].words] == ["看片", "imax", "观影"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('\n[[group]]\nzh = "观影"\n', "line 2: `zh` must be a list of words in quotes"),
        ("[[group]]\nen = [1, 2]", "line 1: `en` must be a list of words in quotes"),
        ('[[group]]\nzh = ["甲子", "乙丑"]\n[[group]]\nzh = ["独"]', "line 3: a group needs two words that differ"),
        ('[[group]]\nzh = ["觀影", "观影"]', "line 1: a group needs two words that differ"),
        ('[[group]]\nzh = ["甲子", "！"]', "line 1: `zh` holds a word without a letter or digit"),
        (f'[[group]]\nwords = ["a", "{"b" * 41}"]', "line 1: `words` holds a word longer than 40 characters"),
        ('[[group]]\nzn = ["甲子", "乙丑"]', "line 1: `zn` is not known; a group has zh, en, words, resources, actions"),
        ('group = [{zh = ["独"]}]', "group 1: a group needs two words that differ"),
        ('[group]\nzh = ["甲子", "乙丑"]', "a group begins with [[group]], in two pairs of brackets"),
        ('synonyms = ["a", "b"]', "`synonyms` is not known here; write [[group]], [resources] or [actions]"),
        ("\n[resources]\nwords = 3", "line 2: `words` must be a list of words in quotes"),
        ('[actions]\nzh = ["看"]', "line 1: [actions] holds `words` and nothing else"),
        ('resources = ["网站"]', "[resources]: [resources] holds `words` and nothing else"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, problem: str) -> None:
    """So that the person finds the line; nothing is raised."""
    assert parse_lexicon(text).problems == (problem,)


def test_a_file_that_is_not_toml_is_named_with_its_place() -> None:
    """In the words of Python's own reader, which end with the place."""
    (problem,) = parse_lexicon("\n[[group]\n").problems
    assert problem.startswith("it is not valid TOML: ")
    assert "line 2" in problem


def test_a_mistake_costs_only_its_own_group(tmp_path: Path) -> None:
    """The right groups beside it are used, and all the bundled ones."""
    own = write(
        tmp_path / "own.toml", '[[group]]\nzh = ["甲子", "乙丑"]\n\n[[group]]\nzh = 1\n\n[[group]]\nen = ["kino", "flick"]\n'
    )
    lexicon = load_lexicon(own)
    assert lexicon.problems == ("line 4: `zh` must be a list of words in quotes",)
    assert [len(lexicon.groups_for(word)) for word in ("甲子", "flick", "观影")] == [1, 1, 1]


def test_a_file_full_of_mistakes_names_the_first_ones(tmp_path: Path) -> None:
    """Nobody reads a thousand lines of complaints."""
    own = write(tmp_path / "own.toml", "[[group]]\nzh = 1\n" * 100)
    assert len(load_lexicon(own).problems) == MAX_PROBLEMS


def test_a_file_that_cannot_be_read_leaves_the_bundled_groups(tmp_path: Path) -> None:
    """Missing, a folder, not UTF-8, or far too long: one problem each, and the search goes on."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "gbk.toml").write_bytes('[[group]]\nzh = ["观影", "电影"]'.encode("gbk"))
    (tmp_path / "huge.toml").write_bytes(b"#" * (MAX_OWN_BYTES + 1))
    found = {name: load_lexicon(tmp_path / name) for name in ("absent.toml", "folder", "gbk.toml", "huge.toml")}
    assert {lexicon.groups for lexicon in found.values()} == {load_lexicon().groups}
    for name in ("absent.toml", "folder"):
        (problem,) = found[name].problems
        assert problem.startswith("it cannot be read: ")
    assert found["gbk.toml"].problems == ("it is not text in UTF-8",)
    assert found["huge.toml"].problems == (f"it is longer than {MAX_OWN_BYTES} bytes",)


def test_an_empty_file_and_a_byte_order_mark_are_no_mistakes(tmp_path: Path) -> None:
    """Editors on Windows write the mark."""
    assert load_lexicon(write(tmp_path / "empty.toml", "")).problems == ()
    marked = write(tmp_path / "marked.toml", '\ufeff[[group]]\nzh = ["甲子", "乙丑"]')
    assert len(load_lexicon(marked).groups_for("甲子")) == 1


def test_a_changed_file_is_read_again_and_only_then(tmp_path: Path) -> None:
    """An agent that runs for days sees an edit; between edits nothing is read."""
    own = write(tmp_path / "own.toml", '[[group]]\nzh = ["甲子", "乙丑"]\n')
    first = load_lexicon(own)
    assert load_lexicon(own) is first
    write(own, '[[group]]\nzh = ["甲子", "丙寅"]\n')
    os.utime(own, (1, 1))
    assert [word.text for word in load_lexicon(own).groups_for("甲子")[0].words] == ["甲子", "丙寅"]
    own.unlink()
    assert load_lexicon(own).groups_for("甲子") == ()
