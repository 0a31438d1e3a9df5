"""Themes of an answer: what belongs together stands together, under a word that people use."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.answer.material import Material, Relative
from vaultbrain.answer.themes import MAX_THEMES, group_by_theme
from vaultbrain.retrieve.expand import Variant
from vaultbrain.retrieve.query import language_of
from vaultbrain.retrieve.search import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.answer.themes import Theme

#: A theme with more hits may have one that its name is not true of.
LARGE = 4


def make_hit(memo_id: str, title: str = "", label: str = "相关", met: tuple[Variant, ...] = ()) -> Hit:
    return Hit(memo_id, label, 0.5, title, title, "", "", "", (), ("keyword",), 0, 0.5, None, met=met)


def make_hits(*titles: str) -> list[Hit]:
    return [make_hit(str(number), title) for number, title in enumerate(titles, 1)]


def alike(*groups: str, near: float = 0.9, far: float = 0.1) -> dict[tuple[str, str], float]:
    """The likeness of memos named by single characters: ``near`` within a group, ``far`` between groups."""
    owner = {memo_id: group for group in groups for memo_id in group}
    return {(a, b): near if owner[a] == owner[b] else far for a, b in combinations(sorted(owner), 2)}


def shown(themes: Sequence[Theme]) -> list[tuple[str, str]]:
    """(names, the ids of its hits in a row)."""
    return [("、".join(theme.names), "".join(hit.memo_id for hit in theme.hits)) for theme in themes]


def material(tags: Mapping[str, tuple[str, ...]], known: str = "", **others: object) -> Material:
    return Material(tags=tags, is_topic=frozenset(known.split()).__contains__, **others)  # type: ignore[arg-type]


def themes_of(hits: Sequence[Hit], found: Material, topic: str) -> list[Theme]:
    return group_by_theme(hits, found, topic, language_of(topic))


def test_shared_tags_make_and_name_themes() -> None:
    """Memos with a tag in common stand under it, in the order of the search; the theme of the best hit comes first."""
    tags = {"1": ("厨房",), "2": ("旅行",), "3": ("厨房",), "4": ("旅行",), "5": ("旅行",), "6": ("厨房",)}
    assert shown(themes_of(make_hits(*"abcdef"), material(tags), "清单")) == [("厨房", "136"), ("旅行", "245")]


def test_levels_of_tags_name_what_they_share() -> None:
    """``AI/提示词`` and ``AI/评测`` are both of AI; a theme is called by the level that all of its memos have."""
    tags = {"1": ("AI/提示词",), "2": ("AI/评测",), "3": ("AI",), "4": ("旅行/海岛",), "5": ("旅行/签证",), "6": ("旅行",)}
    assert shown(themes_of(make_hits(*"abcdef"), material(tags), "笔记")) == [("AI", "123"), ("旅行", "456")]


def test_a_tag_that_all_have_divides_nothing() -> None:
    """The division comes from what else there is, and the common tag is no name."""
    tags = {str(n): ("资源", "厨房" if n < 4 else "旅行") for n in range(1, 7)}
    assert shown(themes_of(make_hits(*"abcdef"), material(tags), "清单")) == [("厨房", "123"), ("旅行", "456")]


def test_the_question_in_another_language_names_no_theme() -> None:
    """A question about 观影 that met film and movie has no theme film beside a theme 观影."""
    met = (Variant("film", "other language", 0.6, "", "观影", 1.0, ("film", "films")),)
    hits = [
        make_hit(str(n), text, met=met) for n, text in enumerate(("film a", "film b", "观影 c", "观影 d", "film e", "观影 f"), 1)
    ]
    found = material(dict.fromkeys("125", ("film",)) | dict.fromkeys("346", ("观影",)), "film 观影", likeness=alike("125", "346"))
    assert not {"film", "Film", "观影"} & {name for theme in themes_of(hits, found, "观影") for name in theme.names}


def test_known_words_name_what_tags_do_not() -> None:
    """Without tags and vectors the words that are known, and not general, make the themes; unknown ones do not."""
    hits = make_hits("硬盘响了一个", "硬盘换了一个", "照片丢了一个", "照片找到了", "硬盘满了一个", "照片很多")
    assert shown(themes_of(hits, material({}, "硬盘 照片 一个"), "备份")) == [("硬盘", "125"), ("照片", "346")]
    assert shown(themes_of(hits, material({}), "备份")) == [("", "123456")]


def test_english_words_meet_in_any_inflection() -> None:
    """Photo and photos are one word, shown as the memos have it."""
    hits = make_hits("photo lost", "Photos found", "disk full", "disks gone", "old photos", "a disk")
    themes = themes_of(hits, material({}, "photo disk"), "backup")
    assert [ids for _, ids in shown(themes)] == ["125", "346"]
    assert [name.lower().rstrip("s") for name, _ in shown(themes)] == ["photo", "disk"]


def test_a_name_is_in_the_script_of_the_question() -> None:
    """廚房 and 厨房 are one tag, shown as the person asks."""
    tags = {"1": ("廚房",), "2": ("厨房",), "3": ("廚房",), "4": ("旅行",), "5": ("旅行",), "6": ("旅行",)}
    hits = make_hits(*"abcdef")
    assert themes_of(hits, material(tags), "清单")[0].names == ("厨房",)
    assert themes_of(hits, material(tags), "備份")[0].names == ("廚房",)


def test_meaning_alone_makes_no_heading() -> None:
    """Memos that are alike and share no word stand under no clause of one of them, which would be false of the others."""
    hits = make_hits("慢炖牛肉：番茄先炒", "客人六个人的菜量", "冷冻饭", "Used drives: ask hours", "e", "f")
    assert shown(themes_of(hits, material({}, likeness=alike("123", "456")), "备忘")) == [("", "123456")]


def test_the_title_of_a_work_names_no_subject() -> None:
    """《纸月亮修理店》 has nothing to do with repairs; memos that begin with the same title are about that work."""
    hits = make_hits("《修理店》好看", "修理水管", "《修理店》再看", "水管漏水", "《修理店》三刷", "换水管")
    assert shown(themes_of(hits, material({}, "修理 水管"), "周末")) == [("《修理店》", "135"), ("水管", "246")]


def test_a_comment_stands_with_what_it_is_about() -> None:
    """A memo that says nothing by itself belongs to the memo that it comments on, under that one's name."""
    hits = make_hits("《雾港》二刷", "硬盘响", "三刷补一句", "硬盘坏", "硬盘换了", "硬盘满")
    found = material({}, "硬盘", relatives={"3": [Relative("1", "COMMENT", "", "", "")]})
    assert shown(themes_of(hits, found, "周末")) == [("《雾港》", "13"), ("硬盘", "2456")]


def test_words_that_mean_the_same_make_one_theme() -> None:
    """纪录片 and documentary are one theme, named in the language of the question; 硬盘 is 硬碟 where that is what people say."""
    hits = make_hits("纪录片 a", "厨房", "documentary b", "厨房 c", "documentary d", "厨房 e")
    found = material({}, "纪录片 documentary 厨房 硬盘")
    assert shown(themes_of(hits, found, "周末")) == [("纪录片", "135"), ("厨房", "246")]
    assert shown(themes_of(hits, found, "weekend"))[0] == ("Documentary", "135")
    hits = make_hits("硬盘 a", "厨房", "硬盘 b", "厨房 c", "硬盘 d", "厨房 e")
    assert shown(themes_of(hits, found, "週末見"))[0] == ("硬碟", "135")


def test_names_in_latin_letters_stay_as_written() -> None:
    """No product is translated into a Chinese word for what it does."""
    tags = dict.fromkeys("135", ("git",)) | dict.fromkeys("246", ("obsidian",))
    assert shown(themes_of(make_hits(*"abcdef"), material(tags), "周末")) == [("git", "135"), ("obsidian", "246")]


def test_two_names_make_a_theme_that_each_is_half_true_of() -> None:
    """Memos that are near each other, of which one is tagged so and one so, stand under both."""
    tags = dict.fromkeys("1234", ("厨房",)) | {"5": ("亲子",), "6": ("纪录片",)}
    found = material(tags, likeness=alike("1234", "56"))
    assert shown(themes_of(make_hits(*"abcdef"), found, "周末")) == [("厨房", "1234"), ("亲子、纪录片", "56")]


def test_content_names_what_no_subject_does() -> None:
    """Links are links; a memo that has a subject's name stands under that."""
    hits = make_hits("厨房", "https://example.com/a", "厨房", "https://example.com/b", "厨房", "厨房")
    tags = dict.fromkeys("1356", ("厨房",))
    assert shown(themes_of(hits, material(tags), "周末")) == [("厨房", "1356"), ("网站与链接", "24")]
    assert shown(themes_of(hits, material(tags), "週末見"))[1] == ("網站與連結", "24")
    assert shown(themes_of(hits, material(tags), "weekend"))[1] == ("Links", "24")


def test_weak_hits_make_no_theme_of_their_own() -> None:
    """What only weak hits have names nothing: they join the rest, or a theme that others are in."""
    tags = dict.fromkeys("125", ("厨房",)) | dict.fromkeys("34", ("旅行",)) | dict.fromkeys("67", ("跑步",))
    hits = [make_hit(memo_id, memo_id * 2, "弱" if memo_id in "567" else "相关") for memo_id in "1234567"]
    assert shown(themes_of(hits, material(tags), "清单")) == [("厨房", "125"), ("旅行", "34"), ("", "67")]


def test_what_is_said_of_the_subject_alone_is_named_by_it() -> None:
    """Hits that answer and share no narrower name are the theme of the question itself, never of the rest."""
    tags = dict.fromkeys("345", ("厨房",))
    hits = [make_hit(memo_id, memo_id * 2, "强") for memo_id in "123456"]
    themes = themes_of(hits, material(tags), "清单")
    assert [(theme.is_subject, ids) for theme, (_, ids) in zip(themes, shown(themes), strict=True)] == [
        (True, "126"),
        (False, "345"),
    ]


def test_what_fits_nowhere_stands_last_without_a_name() -> None:
    """Two memos that are near nothing make the rest, even when one is ranked first; one that answers is never among them."""
    pairs = (
        alike("2345", "6789")
        | {pair: 0.0 for n in "1a" for m in "23456789" for pair in [tuple(sorted((n, m)))]}
        | {("1", "a"): 0.0}
    )
    tags = dict.fromkeys("2345", ("厨房",)) | dict.fromkeys("6789", ("旅行",))
    hits = [make_hit(memo_id, memo_id * 2) for memo_id in "123456789a"]
    assert shown(themes_of(hits, material(tags, likeness=pairs), "清单")) == [("厨房", "2345"), ("旅行", "6789"), ("", "1a")]
    strong = [make_hit("1", "11", "强"), *hits[1:]]
    themes = themes_of(strong, material(tags, likeness=pairs), "清单")
    assert [theme.is_subject for theme in themes if "1" in {hit.memo_id for hit in theme.hits}] == [True]


def test_few_hits_are_divided_only_when_each_half_has_a_word() -> None:
    """Up to three are one theme; four are two if both have a name that memos share or bear."""
    tags = {"1": ("厨房",), "2": ("旅行",), "3": ("厨房",), "4": ("旅行",)}
    hits = make_hits(*"abcd")
    assert shown(themes_of(hits[:3], material(tags), "清单")) == [("", "123")]
    assert shown(themes_of(hits, material(tags), "清单")) == [("厨房", "13"), ("旅行", "24")]
    assert shown(themes_of(hits, material({}, likeness=alike("13", "24")), "清单")) == [("", "1234")]
    assert themes_of([], material({}), "清单") == []


def test_a_diary_counts_only_for_what_is_cited() -> None:
    """The other paragraphs of a long memo are about something else, and put it nowhere."""
    hits = make_hits("硬盘", "硬盘", "照片", "照片", "日记硬盘", "照片")
    diary = [("a", "照片。" + "别的" * 300)]
    found = Material(blocks={"5": diary}, is_topic=frozenset({"硬盘", "照片"}).__contains__)
    assert shown(themes_of(hits, found, "备份")) == [("硬盘", "125"), ("照片", "346")]


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[Hit], Material]:
    count = draw(st.integers(0, 12))
    ids = [f"{n:02}" for n in range(count)]
    words = st.sampled_from(["硬盘", "照片", "photo", "backup", "AI", "清单", "", "一段没有人写过的很长的话"])
    hits = [make_hit(n, " ".join(draw(st.lists(words, max_size=3))), draw(st.sampled_from(["强", "相关", "弱"]))) for n in ids]
    tags = {n: tuple(draw(st.lists(st.sampled_from(["AI/提示词", "AI", "清单", "旅行"]), max_size=2, unique=True))) for n in ids}
    cosines = st.floats(-1, 1)
    likeness = {pair: draw(cosines) for pair in combinations(ids, 2)} if draw(st.booleans()) else {}
    return hits, Material(tags=tags, likeness=likeness, is_topic={"硬盘", "照片", "photo", "清单"}.__contains__)


def is_true_of(hit: Hit, names: Sequence[str], found: Material) -> bool:
    """Whether the memo has one of the words or tags, by letters alone; 照片 and photo are one."""
    text = f"{hit.title} {' '.join(found.tags[hit.memo_id])}".replace("photo", "照片 photo").casefold()
    return any(name.casefold() in text for name in names)


@settings(deadline=None, max_examples=60)
@given(answers())
def test_whatever_is_found_is_divided_well(answer: tuple[list[Hit], Material]) -> None:
    """Every hit once and in order, no theme of one, at most six, each name once and none the question's; twice the same."""
    hits, found = answer
    themes = themes_of(hits, found, "清单")
    assert sorted(hit.memo_id for theme in themes for hit in theme.hits) == [hit.memo_id for hit in hits]
    for theme in themes:
        assert [hit.memo_id for hit in theme.hits] == sorted(hit.memo_id for hit in theme.hits)
        assert len(theme.hits) > 1 or len(hits) == 1
    named = [theme for theme in themes if theme.names or theme.is_subject]
    names = [name for theme in themes for name in theme.names]
    assert len(themes) <= MAX_THEMES
    assert len(set(names)) == len(names)
    assert "清单" not in names
    assert sum(theme.is_subject for theme in themes) <= 1
    assert named == themes[: len(named)]
    assert len(themes) - len(named) <= 1
    if len(themes) > 1:
        assert all(hit.label != "强" for theme in themes[len(named) :] for hit in theme.hits)
    for theme in named:
        strangers = [hit for hit in theme.hits if not theme.is_subject and not is_true_of(hit, theme.names, found)]
        assert len(strangers) <= (len(theme.hits) > LARGE)
    firsts = [theme.hits[0].memo_id for theme in named]
    assert firsts == sorted(firsts)
    assert themes == themes_of(hits, found, "清单")
