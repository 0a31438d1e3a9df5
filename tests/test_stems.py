"""Forms of one English word meet, different words do not, and the forms looked up are words."""

from __future__ import annotations

import pytest

from vaultbrain.retrieve.stems import inflections, stem, stem_phrase

FAMILIES = [
    "resume resumes resumed resuming",
    "stop stops stopped stopping",
    "baby babies",
    "movie movies",
    "cookie cookies",
    "bake bakes baked baking",
    "car cars",
    "care cares cared caring",
    "file files filed filing",
    "fill fills filled filling",
    "plan plans planned planning",
    "plane planes",
    "hop hops hopped hopping",
    "hope hopes hoped hoping",
    "box boxes",
    "bus buses",
    "virus viruses",
    "potato potatoes",
    "photo photos",
    "shoe shoes",
    "house houses housing",
    "watch watches watched watching",
    "travel travels traveled travelled traveling travelling",
    "install installs installed installing",
    "study studies studied studying",
    "try tries tried trying",
    "fly flies flew flying",
    "dance dances danced dancing",
    "handle handles handled handling",
    "taste tastes tasted tasting",
    "test tests tested testing",
    "sleep sleeps slept sleeping",
    "child children",
    "knife knives",
    "leaf leaves",
    "add adds added adding",
    "egg eggs",
    "die dies died dying",
    "wedding weddings",
    "lens lenses",
    "quiz quizzes",
    "quit quits quitting",
    "edit edits edited editing",
    "invite invites invited inviting",
    "colour colours color colors",
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.split()[0])
def test_forms_of_a_word_have_one_stem_and_are_all_looked_up(family: str) -> None:
    """Whatever form is asked for, and whatever form is written, they meet."""
    forms = family.split()
    assert {stem(form) for form in forms} == {stem(forms[0])}
    assert set(forms) <= set(inflections(forms[0]))


def test_different_words_keep_apart() -> None:
    """No two of the families share a stem, however alike they look: car and care, plan and plane, file and fill."""
    stems = [stem(family.split()[0]) for family in FAMILIES]
    assert len(set(stems)) == len(stems)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.split()[0])
def test_every_looked_up_form_has_the_stem_of_its_word(family: str) -> None:
    """A look-up never brings in another word; and what was asked for comes first."""
    for form in family.split():
        assert {stem(other) for other in inflections(form)} == {stem(form)}
        assert inflections(form)[0] == form


@pytest.mark.parametrize("word", ["during", "evening", "nothing", "news", "this", "hundred", "string", "need", "class", "bed"])
def test_words_that_only_look_inflected_are_whole(word: str) -> None:
    """Nothing is taken off that is part of the word."""
    assert stem(word) in {word, word.rstrip("s"), word + "e"}
    assert stem(word) != stem(word[:-3]) or len(word) < 6


def test_inflected_words_lead_back_to_real_ones() -> None:
    """A form that is shown to a person is a word: edit, not edite; decide, not decid."""
    assert inflections("editing")[:4] == ("editing", "edit", "edits", "edited")
    assert inflections("decided") == ("decided", "decide", "decides", "deciding")
    assert inflections("managed") == ("managed", "manage", "manages", "managing")


def test_a_phrase_varies_in_its_first_or_its_last_word() -> None:
    """Backed up and air fryers are found."""
    assert stem_phrase("air-fryers") == stem_phrase("Air fryer".lower())
    assert "backed up" in inflections("back up")
    assert "air fryers" in inflections("air fryer")


def test_accents_are_no_difference_and_other_scripts_stay() -> None:
    """Résumé is found by resume; Chinese has no forms."""
    assert stem("résumé") == stem("resume")
    assert stem("备份") == "备份"
    assert inflections("备份") == ("备份",)
    assert inflections("") == ()
