"""Themes of an answer: what belongs together stands together, under a word that people use."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.answer.material import Material
from vaultbrain.answer.themes import MAX_THEMES, group_by_theme
from vaultbrain.retrieve.expand import Variant
from vaultbrain.retrieve.search import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.answer.themes import Theme


def make_hit(memo_id: str, title: str = "", label: str = "相关", met: tuple[Variant, ...] = ()) -> Hit:
    return Hit(memo_id, label, 0.5, title, title, "", "", "", (), ("keyword",), 0, 0.5, None, met=met)


def make_hits(*titles: str) -> list[Hit]:
    return [make_hit(str(number), title) for number, title in enumerate(titles, 1)]


def alike(*groups: str, near: float = 0.9, far: float = 0.1) -> dict[tuple[str, str], float]:
    """The likeness of memos named by single characters: ``near`` within a group, ``far`` between groups."""
    owner = {memo_id: group for group in groups for memo_id in group}
    return {(a, b): near if owner[a] == owner[b] else far for a, b in combinations(sorted(owner), 2)}


def shown(themes: Sequence[Theme]) -> list[tuple[str, str]]:
    """(name, the ids of its hits in a row)."""
    return [(theme.name, "".join(hit.memo_id for hit in theme.hits)) for theme in themes]


def material(tags: Mapping[str, tuple[str, ...]], known: str = "", **others: object) -> Material:
    return Material(tags=tags, is_topic=frozenset(known.split()).__contains__, **others)  # type: ignore[arg-type]


def test_shared_tags_make_and_name_themes() -> None:
    """Memos with a tag in common stand under it, in the order of the search; the theme of the best hit comes first."""
    tags = {"1": ("厨房",), "2": ("旅行",), "3": ("厨房",), "4": ("旅行",), "5": ("旅行",), "6": ("厨房",)}
    assert shown(group_by_theme(make_hits(*"abcdef"), material(tags), "清单")) == [("厨房", "136"), ("旅行", "245")]


def test_levels_of_tags_name_what_they_share() -> None:
    """``AI/提示词`` and ``AI/评测`` are both of AI; a theme is called by the level that all of its memos have."""
    tags = {"1": ("AI/提示词",), "2": ("AI/评测",), "3": ("AI",), "4": ("旅行/海岛",), "5": ("旅行/签证",), "6": ("旅行",)}
    assert shown(group_by_theme(make_hits(*"abcdef"), material(tags), "笔记")) == [("AI", "123"), ("旅行", "456")]


def test_a_tag_that_all_have_divides_nothing() -> None:
    """The division comes from what else there is, and the common tag is no name."""
    tags = {str(n): ("资源", "厨房" if n < 4 else "旅行") for n in range(1, 7)}
    assert shown(group_by_theme(make_hits(*"abcdef"), material(tags), "清单")) == [("厨房", "123"), ("旅行", "456")]


def test_the_question_in_another_language_names_no_theme() -> None:
    """A question about 观影 that met film and movie has no theme film beside a theme 观影."""
    met = (Variant("film", "other language", 0.6, "", "观影", 1.0, ("film", "films")),)
    hits = [
        make_hit(str(n), text, met=met) for n, text in enumerate(("film a", "film b", "观影 c", "观影 d", "film e", "观影 f"), 1)
    ]
    found = material(dict.fromkeys("125", ("film",)) | dict.fromkeys("346", ("观影",)), "film 观影", likeness=alike("125", "346"))
    assert not {"film", "观影"} & {theme.name for theme in group_by_theme(hits, found, "观影")}


def test_known_words_name_what_tags_do_not() -> None:
    """Without tags and vectors the words that are known, and not general, make the themes; unknown ones do not."""
    hits = make_hits("硬盘响了一个", "硬盘换了一个", "照片丢了一个", "照片找到了", "硬盘满了一个", "照片很多")
    assert shown(group_by_theme(hits, material({}, "硬盘 照片 一个"), "备份")) == [("硬盘", "125"), ("照片", "346")]
    assert shown(group_by_theme(hits, material({}), "备份")) == [("", "123456")]


def test_english_words_meet_in_any_inflection() -> None:
    """Photo and photos are one word, shown as the memos have it."""
    hits = make_hits("photo lost", "Photos found", "disk full", "disks gone", "old photos", "a disk")
    themes = group_by_theme(hits, material({}, "photo disk"), "backup")
    assert [ids for _, ids in shown(themes)] == ["125", "346"]
    assert [name.lower().rstrip("s") for name, _ in shown(themes)] == ["photo", "disk"]


def test_a_name_is_in_the_script_of_the_question() -> None:
    """廚房 and 厨房 are one tag, shown as the person asks."""
    tags = {"1": ("廚房",), "2": ("厨房",), "3": ("廚房",), "4": ("旅行",), "5": ("旅行",), "6": ("旅行",)}
    hits = make_hits(*"abcdef")
    assert group_by_theme(hits, material(tags), "清单")[0].name == "厨房"
    assert group_by_theme(hits, material(tags), "備份")[0].name == "廚房"


def test_meaning_alone_divides_and_the_best_title_gives_the_name() -> None:
    """Where no word is shared, a theme is called by the first clause of its best memo that is short enough."""
    hits = make_hits(
        "这一句实在是太长太长太长太长了没有停顿，后面", "慢炖牛肉：番茄一半先炒", "c，d", "Used drives: ask hours", "e", "f"
    )
    themes = group_by_theme(hits, material({}, likeness=alike("123", "456")), "备忘")
    assert shown(themes) == [("慢炖牛肉", "123"), ("Used drives", "456")]


def test_a_long_clause_is_cut_and_marked() -> None:
    """A name is never longer than a dozen Chinese characters or four words, and says when something is missing."""
    hits = make_hits(*["一二三四五六七八九十一二三四五"] * 3, *["one two three four five six"] * 3)
    names = [theme.name for theme in group_by_theme(hits, material({}, likeness=alike("123", "456")), "备忘")]
    assert names == ["一二三四五六七八九十一二…", "one two three four…"]


def test_copies_do_not_share_a_name() -> None:
    """Two themes of the same words have names that differ: the second goes to what has no name."""
    hits = make_hits(*["一样的话"] * 6)
    themes = group_by_theme(hits, material({}, likeness=alike("123", "456")), "备忘")
    assert shown(themes) == [("一样的话", "123"), ("", "456")]


def test_what_fits_nowhere_stands_last_without_a_name() -> None:
    """Two memos that are near nothing make the rest, even when one is ranked first."""
    pairs = (
        alike("2345", "6789")
        | {pair: 0.0 for n in "1a" for m in "23456789" for pair in [tuple(sorted((n, m)))]}
        | {("1", "a"): 0.0}
    )
    tags = dict.fromkeys("2345", ("厨房",)) | dict.fromkeys("6789", ("旅行",))
    hits = [make_hit(memo_id, memo_id * 2) for memo_id in "123456789a"]
    assert shown(group_by_theme(hits, material(tags, likeness=pairs), "清单")) == [("厨房", "2345"), ("旅行", "6789"), ("", "1a")]
    strong = [make_hit("1", "11", "强"), *hits[1:]]
    assert "1" in shown(group_by_theme(strong, material(tags, likeness=pairs), "清单"))[0][1]


def test_few_hits_are_divided_only_when_each_half_has_a_word() -> None:
    """Up to three are one theme; four are two if both have a name that memos share or bear."""
    tags = {"1": ("厨房",), "2": ("旅行",), "3": ("厨房",), "4": ("旅行",)}
    hits = make_hits(*"abcd")
    assert shown(group_by_theme(hits[:3], material(tags), "清单")) == [("", "123")]
    assert shown(group_by_theme(hits, material(tags), "清单")) == [("厨房", "13"), ("旅行", "24")]
    assert shown(group_by_theme(hits, material({}, likeness=alike("13", "24")), "清单")) == [("", "1234")]
    assert group_by_theme([], material({}), "清单") == []


def test_a_diary_counts_only_for_what_is_cited() -> None:
    """The other paragraphs of a long memo are about something else, and put it nowhere."""
    hits = make_hits("硬盘", "硬盘", "照片", "照片", "日记硬盘", "照片")
    diary = [("a", "照片。" + "别的" * 300)]
    found = Material(blocks={"5": diary}, is_topic=frozenset({"硬盘", "照片"}).__contains__)
    assert shown(group_by_theme(hits, found, "备份")) == [("硬盘", "125"), ("照片", "346")]


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


@settings(deadline=None, max_examples=60)
@given(answers())
def test_whatever_is_found_is_divided_well(answer: tuple[list[Hit], Material]) -> None:
    """Every hit once and in order, no theme of one, at most six, each name once and none the question's; twice the same."""
    hits, found = answer
    themes = group_by_theme(hits, found, "清单")
    assert sorted(hit.memo_id for theme in themes for hit in theme.hits) == [hit.memo_id for hit in hits]
    for theme in themes:
        assert [hit.memo_id for hit in theme.hits] == sorted(hit.memo_id for hit in theme.hits)
        assert len(theme.hits) > 1 or len(hits) == 1
    names = [theme.name for theme in themes]
    assert len(names) <= MAX_THEMES
    assert len(set(names)) == len(names)
    assert "清单" not in names
    assert all(names[:-1])
    firsts = [theme.hits[0].memo_id for theme in themes if theme.name]
    assert firsts == sorted(firsts)
    assert themes == group_by_theme(hits, found, "清单")
