"""Fusion: how evidence becomes a score and a label, when nothing was found, and the promise to exact matches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.retrieve.fusion import (
    E5_PROFILE,
    EXCLUDED,
    RELATED,
    STRONG,
    WEAK,
    Evidence,
    boost,
    fuse,
    highest_bm25,
    hold_exact,
    inverse_document_frequency,
    label,
    specificity,
    standing,
)

SHORT = 1.0
SCORES = st.floats(0, 1)


def test_bm25_bounds_by_hand() -> None:
    """idf of 1 in 7 memos is ln(6.5 / 1.5); an unseen word counts six tenths of ln(7.5 / 0.5); times k1 + 1."""
    assert inverse_document_frequency(7, 1) == pytest.approx(1.4663, abs=1e-4)
    assert highest_bm25(["a", "b"], {"a": 1}, 7) == pytest.approx((1.4663 + 0.6 * 2.7081) * 2.2, abs=1e-3)
    assert inverse_document_frequency(7, 7) == 1e-6


@given(st.integers(1, 10_000), st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_fewer_memos_have_a_term_the_more_specific_it_is(documents: int, one: int, other: int) -> None:
    """1 for a term that one memo has, or none; never above 1 nor below 0."""
    fewer, more = sorted(min(n, documents) for n in (one, other))
    assert 1 >= specificity(documents, fewer) >= specificity(documents, more) > 0
    assert specificity(documents, 0) == specificity(documents, 1) == 1


def test_given_words_need_as_much_consent_as_there_is_doubt() -> None:
    """Without doubt they count as literal ones, whatever the meaning says; with nothing but doubt, as far as it agrees."""
    sure = fuse(Evidence(cosine=0.0, given=0.64), SHORT, E5_PROFILE)
    assert sure == fuse(Evidence(0.64, cosine=0.0), SHORT, E5_PROFILE)
    words = [fuse(Evidence(cosine=cosine, given=0.64, doubt=1.0), SHORT, E5_PROFILE).literal for cosine in (-0.1, 0.25, 0.5, 0.9)]
    assert words == [0.0, pytest.approx(sure.literal / 2), pytest.approx(sure.literal), pytest.approx(sure.literal)]
    assert Evidence(given=0.9).sure_words == 0.9
    assert Evidence(given=0.9, doubt=1.0).sure_words == 0


def test_the_surer_of_literal_and_given_words_counts() -> None:
    """They are not added up; and a long question's boost is for its own words alone."""
    for cosine in (0.5, None):
        asked, both = (fuse(Evidence(0.64, cosine=cosine, given=given), SHORT, E5_PROFILE) for given in (0.0, 0.5))
        assert asked == both
    assert fuse(Evidence(cosine=0.5, given=0.5), 2.5, E5_PROFILE) == fuse(Evidence(cosine=0.5, given=0.5), SHORT, E5_PROFILE)


def test_without_a_vector_doubtful_given_words_count_as_near_ones_do() -> None:
    """Nothing can consent."""
    assert fuse(Evidence(given=0.5, doubt=1.0), SHORT, E5_PROFILE).score == fuse(Evidence(near=0.5), SHORT, E5_PROFILE).score
    assert fuse(Evidence(given=0.9), SHORT, E5_PROFILE).score == fuse(Evidence(0.9), SHORT, E5_PROFILE).score


def test_fusion_by_hand() -> None:
    """Six parts of words (0.64 to the power 1.5 is 0.512), four of the cosine over 0.6; more of the words without a vector."""
    assert fuse(Evidence(0.64, cosine=0.3), SHORT, E5_PROFILE).score == pytest.approx(0.6 * 0.512 + 0.4 * 0.5)
    assert fuse(Evidence(0.64), SHORT, E5_PROFILE).score == pytest.approx(0.8 * 0.64**1.2)
    assert fuse(Evidence(cosine=-0.4), SHORT, E5_PROFILE).score == 0.0


def test_near_words_count_as_far_as_the_meaning_agrees() -> None:
    """In full from a cosine of 0.5 on, half at 0.25, not at all at 0; translations need no consent."""
    near = [fuse(Evidence(near=1.0, cosine=cosine), SHORT, E5_PROFILE).near for cosine in (0.7, 0.5, 0.25, 0.0)]
    assert near == pytest.approx([0.6 * 0.15, 0.6 * 0.15, 0.6 * 0.075, 0.0])
    assert fuse(Evidence(translated=1.0, cosine=0.0), SHORT, E5_PROFILE).translated == pytest.approx(0.6 * 0.25)


def test_without_a_vector_the_surest_kind_of_word_counts() -> None:
    """One synonym of the whole question is a half: 0.6 times its root, to the power 1.2."""
    assert fuse(Evidence(near=0.5), SHORT, E5_PROFILE).score == pytest.approx(0.8 * (0.6 * 0.5**0.5) ** 1.2)
    assert fuse(Evidence(0.9, near=0.5, translated=0.2), SHORT, E5_PROFILE).score == pytest.approx(0.8 * 0.9**1.2)


def test_the_literal_words_of_a_long_question_count_more() -> None:
    """No memo says all of them: from two tokens to ten the worth grows to two and a half times, and no further."""
    assert [boost(tokens, E5_PROFILE) for tokens in (1, 2, 6, 10, 40)] == pytest.approx([1.0, 1.0, 1.75, 2.5, 2.5])
    assert fuse(Evidence(0.25, cosine=0.0), 2.5, E5_PROFILE).literal == pytest.approx(0.6 * 2.5 * 0.125)
    assert fuse(Evidence(1.0, cosine=0.0), 2.5, E5_PROFILE).literal == pytest.approx(0.6)


@given(SCORES, SCORES, SCORES, st.none() | st.floats(-1, 1), st.floats(1, 3))
def test_a_score_is_the_sum_of_its_parts(
    literal: float, near: float, translated: float, cosine: float | None, boosted: float
) -> None:
    """Between 0 and 1, whatever the evidence, so that every point of it can be explained."""
    fused = fuse(Evidence(literal, near, translated, cosine), boosted, E5_PROFILE)
    assert 0 <= fused.score <= 1
    assert fused.score == pytest.approx(min(1.0, fused.literal + fused.near + fused.translated + fused.meaning))


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(SCORES, SCORES), min_size=2), st.sets(st.sampled_from("abcdefgh")))
def test_expansion_never_pushes_an_exact_match_down(scores: dict[str, tuple[float, float]], exact: set[str]) -> None:
    """Whoever stood below an exact match without expansion stands below it with expansion."""
    exact &= scores.keys()
    plain = {memo: before for memo, (before, _) in scores.items()}
    held = hold_exact({memo: after for memo, (_, after) in scores.items()}, plain, exact)
    for firm in exact:
        assert held[firm] >= plain[firm]
        for other in scores.keys() - exact:
            if plain[other] < plain[firm]:
                assert held[other] < held[firm]


def test_without_an_exact_match_nothing_is_held() -> None:
    """The scores stay as they are."""
    scores = {"a": 0.4, "b": 0.9}
    assert hold_exact(scores, {"a": 0.8, "b": 0.1}, set()) == scores


def test_standing_is_the_best_score_and_its_lead() -> None:
    """Over the one ten places down, or the middle one of few; a single memo has no lead."""
    scores = [0.5, *[0.4] * 9, 0.2, 0.1]
    assert standing(scores, 1_000, E5_PROFILE) == pytest.approx(0.5 + 0.9 * 0.3)
    assert standing(scores, 12, E5_PROFILE) == pytest.approx(0.5 + 0.9 * 0.1)
    assert standing([0.5], 1, E5_PROFILE) == 0.5
    assert standing([0.5], 1_000, E5_PROFILE) == pytest.approx(0.5 + 0.9 * 0.5)
    assert standing([], 1_000, E5_PROFILE) == 0.0


def test_labels_by_score_and_by_sure_words() -> None:
    """The limits belong to the better label; very sure words are strong whatever the model says."""
    p = E5_PROFILE
    assert [label(s, 0.0, p) for s in (p.strong, p.related, p.weak, p.weak - 0.001)] == [STRONG, RELATED, WEAK, EXCLUDED]
    assert label(0.3, p.strong_words, p) == STRONG
