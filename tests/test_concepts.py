"""A topic is cut into words that mean something, and each knows how the other language says it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from vaultbrain.retrieve.concepts import CHARACTER_WEIGHT, MAX_GLOSSES, Concept, concepts, segment, translated
from vaultbrain.retrieve.dictionary import Dictionary, open_dictionary

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def dictionary() -> Iterator[Dictionary]:
    """The real one."""
    opened = open_dictionary()
    assert opened
    yield opened
    opened.close()


def words(found: tuple[Concept, ...]) -> list[str]:
    return [concept.word for concept in found]


def nothing_in_use(word: str) -> bool:
    return False


def test_segmenting_takes_few_words_and_avoids_lone_characters(dictionary: Dictionary) -> None:
    """研究生命 is research on life, not a graduate student and a leftover; Latin letters may belong to a word."""
    assert segment("空气炸锅土豆", dictionary) == ["空气炸锅", "土豆"]
    assert segment("研究生命", dictionary) == ["研究", "生命"]
    assert segment("u盘备份", dictionary) == ["u盘", "备份"]
    assert segment("docker镜像", dictionary) == ["docker", "镜像"]
    assert segment("", dictionary) == []


def test_extra_words_are_kept_whole(dictionary: Dictionary) -> None:
    """What the lexicon knows and the dictionary does not is a word."""
    assert segment("稍后读清单", dictionary) == ["稍后", "读", "清单"]
    assert segment("稍后读清单", dictionary, {"稍后读"}) == ["稍后读", "清单"]


def test_chinese_words_have_glosses_and_lone_characters_count_less(dictionary: Dictionary) -> None:
    """慢 and 炖 are in the dictionary, but a character is often only a syllable; empty ones are left out."""
    slow, stew, beef = concepts("慢炖 的 牛肉", dictionary)
    assert (slow.word, stew.word, beef.word) == ("慢", "炖", "牛肉")
    assert (slow.weight, beef.weight) == (CHARACTER_WEIGHT, 1.0)
    assert "beef" in beef.translations
    assert all(" " not in gloss for gloss in slow.translations + stew.translations)


def test_no_word_has_more_glosses_than_are_looked_up(dictionary: Dictionary) -> None:
    """The limit holds for a word with many senses."""
    (concept,) = concepts("意思", dictionary)
    assert len(concept.translations) == MAX_GLOSSES < len(dictionary.senses("意思"))


def test_an_english_phrase_comes_first_and_its_words_carry_its_translations(dictionary: Dictionary) -> None:
    """Knowing air fryer takes nothing from air and fryer."""
    found = concepts("air fryer potatoes", dictionary)
    assert words(found) == ["air fryer", "air", "fryer", "potatoes"]
    phrase, air, _, potatoes = found
    assert phrase.translations == ("空气炸锅",)
    assert air.translations[:2] == ("空气炸锅", "空气")
    assert potatoes.translations[0] == "土豆"


def test_stop_words_count_in_phrases_only(dictionary: Dictionary) -> None:
    """Check in is a phrase, and check alone is not meant; the in of anything else is dropped."""
    assert words(concepts("check in at the hotel", dictionary)) == ["check in", "hotel"]
    assert words(concepts("list of movies in 2024", dictionary)) == ["list", "movies"]
    assert "生活费" in concepts("cost of living", dictionary)[0].translations


def test_things_of_one_character_stand_apart(dictionary: Dictionary) -> None:
    """猫 is the word for cat, and too short to be looked up like others."""
    (cat,) = concepts("cats", dictionary)
    assert cat.characters == ("猫",)
    assert "猫" not in cat.translations


def test_forms_to_look_up(dictionary: Dictionary) -> None:
    """English translations in all their forms, Chinese ones as they are; the same for the word itself."""
    (backup,) = concepts("备份", dictionary)
    assert {"backup", "backups"} <= set(backup.looked_up)
    assert backup.own_forms == ("备份",)
    (stopping,) = concepts("stopping", dictionary)
    assert {"stop", "stops", "stopped"} <= set(stopping.own_forms)
    assert set(stopping.looked_up) == set(stopping.translations)


def test_each_concept_is_there_once(dictionary: Dictionary) -> None:
    """Saying a word twice does not make it two."""
    assert words(concepts("备份 硬盘 备份", dictionary)) == ["备份", "硬盘"]


def test_a_topic_reads_in_the_other_language(dictionary: Dictionary) -> None:
    """Chinese by its first glosses; the English of a mixture stays."""
    assert translated(concepts("备份 硬盘", dictionary), nothing_in_use) == "backup hard disk"
    assert translated(concepts("docker 镜像", dictionary), nothing_in_use) == "docker mirror image"


def test_an_english_topic_takes_the_headwords_in_use(dictionary: Dictionary) -> None:
    """What the person writes goes before what the dictionary puts first."""
    hotel = concepts("hotel kitchen", dictionary)
    assert "酒店" not in translated(hotel, nothing_in_use)
    assert translated(hotel, {"酒店", "后厨"}.__contains__) == "酒店 后厨"
    assert translated(concepts("cats", dictionary), {"猫"}.__contains__) == "猫"


def test_what_cannot_be_translated_gives_nothing(dictionary: Dictionary) -> None:
    """No words, no translation."""
    assert translated(concepts("qwertz", dictionary), nothing_in_use) == ""
    assert translated(concepts("", dictionary), nothing_in_use) == ""
    assert translated(concepts("的 2024 !?", dictionary), nothing_in_use) == ""


def test_a_question_waits_only_milliseconds(dictionary: Dictionary) -> None:
    """Topics that were never asked before take less than 3 ms each."""
    english = "garden tax lamp bread knee boat river paint wool noise cough sugar roof brick lake".split()
    chinese = "花园 税务 台灯 面包 膝盖 小船 河流 油漆 羊毛 噪音 咳嗽 白糖 屋顶 砖头 湖泊".split()
    started = time.perf_counter()
    for first, second in zip(english, chinese, strict=True):
        concepts(f"repairing the old {first} at night {second}保养", dictionary)
    assert (time.perf_counter() - started) / len(english) < 0.003
