"""Chunker ``paragraph-v2``."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.index.chunking import MAX_EMBEDDED_CHARS, ChunkProfile, embedded_text, length_of, split_chunks, text_hash

PROFILE = ChunkProfile(160, 32)


def texts(content: str, profile: ChunkProfile = PROFILE) -> list[str]:
    return [chunk.text for chunk in split_chunks("7", content, profile)]


def test_paragraphs_are_chunks_with_ordinal_ids() -> None:
    """What stands between blank lines is a chunk; its id is memo, word and ordinal."""
    chunks = split_chunks("456", "one\ntwo\n\n\nthree\n", PROFILE)
    assert [(c.id, c.text) for c in chunks] == [("456:chunk:0", "one\ntwo"), ("456:chunk:1", "three")]


def test_an_added_paragraph_changes_no_other_text() -> None:
    """Equal paragraphs keep their text hash wherever they move, so only the new one has to be embedded."""
    before, after = texts("a b c\n\nd e f"), texts("new\n\na b c\n\nd e f")
    assert {text_hash(t) for t in before} < {text_hash(t) for t in after}


def test_long_prose_is_cut_by_overlapping_windows_at_sentences() -> None:
    """Windows are no longer than the size, cover every character, and end where a sentence ends."""
    content = "".join(f"这是第{n}句话，说的是第{n}件事。" for n in range(60))
    pieces = texts(content)
    assert all(length_of(piece) <= PROFILE.size for piece in pieces)
    assert all(piece.endswith("。") for piece in pieces)
    assert all(content[i : i + 8] in "\n".join(pieces) for i in range(0, len(content) - 8, 8))


def test_a_chunk_says_as_much_in_either_language() -> None:
    """Sizes are Chinese characters; of letters it takes two and a half to say as much, so English chunks are longer."""
    assert length_of("观影清单") == 4
    assert length_of("watchlist!") == 4
    chinese = texts("这句话说了一件事。" * 100)
    english = texts("This sentence says one thing. " * 100)
    assert 2.2 < max(map(len, english)) / max(map(len, chinese)) < 2.8


def test_code_and_tables_are_never_cut_inside() -> None:
    """A fence or table longer than the window stays one chunk, blank lines in the fence included."""
    code = "```python\n" + "\n\n".join(f"value_{n} = compute({n})" for n in range(40)) + "\n```"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| cell {n} | other {n} |" for n in range(40))
    prose = "一句普通的话。" * 60
    pieces = texts(f"{prose}\n{code}\n\n{table}\n{prose}")
    assert code in pieces
    assert table in pieces


def test_pictures_and_empty_text_make_no_chunk() -> None:
    """Data URIs, base64 and memos without a letter give nothing to embed; words around a picture stay."""
    picture = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 200_000
    assert texts(f"before ![p]({picture}) after") == ["before ![p]() after"]
    assert texts("") == texts("  \n\t\n\n") == texts("---\n\n***\n") == []
    assert texts("A" * 5_000) == []
    assert texts("#标签") == ["#标签"]


def test_an_endless_fence_is_embedded_only_in_part() -> None:
    """The chunk is whole for reading; the model is given its head, since its time grows with the length."""
    (piece,) = texts("```\n" + "some code here;\n" * 2_000)
    assert len(embedded_text(piece)) == MAX_EMBEDDED_CHARS


def test_both_scripts_and_widths_embed_alike() -> None:
    """Folding comes before hashing: the same words in the other script share a vector."""
    assert text_hash(embedded_text("觀影 ＡＢＣ")) == text_hash(embedded_text("观影 abc"))


@given(st.text(alphabet="ab 。\n`~|-#x文", max_size=600), st.integers(40, 200))
def test_no_word_is_lost_and_no_prose_chunk_too_long(content: str, size: int) -> None:
    """Every letter of the memo stands in some chunk, and only fences and tables exceed the size."""
    pieces = texts(content, ChunkProfile(size, size // 4))
    assert {c for c in content if c.isalnum()} == {c for piece in pieces for c in piece if c.isalnum()}
    assert all(length_of(p) <= size + 1e-6 or "|" in p or "`" in p or "~" in p for p in pieces)
