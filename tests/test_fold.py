"""Folding: width, letter case and script go, positions stay where they are asked to."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.index.fold import fold, fold_keeping_offsets, to_simplified

ANY_TEXT = st.text(st.characters())
#: Chinese in both scripts, full-width forms and ASCII: folding changes none of their lengths.
MEMO_TEXT = st.text(
    st.one_of(
        st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF),
        st.characters(min_codepoint=0xFF01, max_codepoint=0xFF5E),
        st.characters(min_codepoint=0x20, max_codepoint=0x7E),
        st.sampled_from("，。：；！？、…—「」於乾著徵麼裡後發"),
    )
).filter(lambda text: all(len(unicodedata.normalize("NFKC", character)) == 1 for character in text))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        ("Docker Compose", "docker compose"),
        ("觀影資源", "观影资源"),
        ("观影资源", "观影资源"),
        ("ＡＢＣ１２３", "abc123"),
        ("ﬁlm №5", "film no5"),
        ("Cafe\u0301", "caf\u00e9"),
        ("Straße", "strasse"),
        ("ΟΔΟΣ", "οδοσ"),
        ("第二行\n資料庫", "第二行\n资料库"),
        ("乾隆與乾杯", "乾隆与干杯"),
        ("全角　空格", "全角 空格"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("a\0後", "a\0后"),
        ("\U0001f3ac 影評", "\U0001f3ac 影评"),
    ],
)
def test_fold_makes_equal_what_people_take_for_the_same(text: str, folded: str) -> None:
    """Script, width, case and composed forms are folded; line ends, emoji and phrases that keep their character are not."""
    assert fold(text) == folded


def test_phrases_that_convert_only_after_their_neighbours_are_converted_too() -> None:
    """OpenCC leaves 於 here in its first pass; 于 in a query must still meet it."""
    assert fold("坐落於倫敦") == "坐落于伦敦"


@given(ANY_TEXT)
def test_folding_twice_is_folding_once(text: str) -> None:
    """Text that went through two folding parts of the product is the same as text that went through one."""
    assert fold(fold(text)) == fold(text)


def test_folding_every_character_twice_is_folding_it_once() -> None:
    """No single character in all of Unicode folds on when folded again."""
    folded = [fold(chr(code)) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) != "Cn"]
    assert [text for text in folded if fold(text) != text] == []


def test_every_character_keeps_its_length_where_offsets_matter() -> None:
    """Each character of Unicode becomes exactly one, alone and among others."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if chr(code) != "\n"]
    folded = fold_keeping_offsets("\n".join(characters)).split("\n")
    assert len(folded) == len(characters)
    assert {len(character) for character in folded} == {1}


@given(ANY_TEXT)
def test_offsets_stay_valid_in_any_text(text: str) -> None:
    """The folded text is as long as the original, whatever stands in it."""
    assert len(fold_keeping_offsets(text)) == len(to_simplified(text)) == len(text)


@given(MEMO_TEXT)
def test_both_foldings_agree_where_no_length_changes(text: str) -> None:
    """What the search finds in Chinese, full-width and English text can also be highlighted."""
    assert fold_keeping_offsets(text) == fold(text)


def test_a_match_is_found_at_its_place_in_the_original() -> None:
    """A folded word's position in the folded text is its position in the original."""
    original = "今晚看ﬁlm，寫《觀影》筆記：ＶＬＯＧ"
    for word, shown in [("观影", "觀影"), ("vlog", "ＶＬＯＧ"), ("笔记", "筆記")]:
        start = fold_keeping_offsets(original).index(fold(word))
        assert original[start : start + len(shown)] == shown


@pytest.mark.parametrize(
    ("character", "kept"), [("ß", "ß"), ("ﬁ", "ﬁ"), ("İ", "İ"), ("Ⅳ", "ⅳ"), ("㎏", "㎏"), ("\ud800", "\ufffd")]
)
def test_what_cannot_be_folded_in_one_character_keeps_what_it_can(character: str, kept: str) -> None:
    """A longer form is refused; lower case alone is taken where it is one character."""
    assert fold_keeping_offsets(character) == kept


def test_simplifying_changes_the_script_and_nothing_else() -> None:
    """Case, width and broken characters stay: the result tells whether a text was written in traditional script."""
    assert to_simplified("ＡＢＣ 觀影 \ud800") == "ＡＢＣ 观影 \ud800"
    assert to_simplified("观影 OK") == "观影 OK"


def test_threads_may_fold_at_the_same_time() -> None:
    """Every thread gets what one alone gets."""
    texts = [f"第{number}則：觀影與資料庫備份，坐落於倫敦" for number in range(300)]
    alone = [fold(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: [fold(text) for text in texts], range(4))) == [alone] * 4


def test_english_needs_no_converter() -> None:
    """OpenCC is loaded when the first text that may need it is folded, not before."""
    program = (
        "import sys; from vaultbrain.index.fold import fold; fold('Plain Words'); early = 'opencc' in sys.modules;"
        " fold('觀影'); print(early, 'opencc' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-X", "utf8", "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False True\n"
