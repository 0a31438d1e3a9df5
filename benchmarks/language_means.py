"""Computes the language means that ``vaultbrain.index.centring`` subtracts, from judged sets of questions and paragraphs.

    python benchmarks/language_means.py --passages zh.json en.json --queries zh.json en.json --short-queries zh.json en.json

Each option takes any number of set files: ``{"documents": [{"id", "text"}], "queries": [{"id", "text", "relevant"}]}``, where
``"documents_from": "other.json"`` may stand for ``documents``. Texts are told apart by language, folded as the index folds them,
and the first ``--count`` of each language are used, files in the order given. The shipped file was made from the XQuAD sets
(CC BY-SA 4.0); after writing other means, raise ``MEANS_VERSION``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vaultbrain.index import centring
from vaultbrain.index.centring import cjk_share
from vaultbrain.index.embedding import open_embedder
from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

#: Texts of at least, or at most, this share of Chinese are taken as Chinese, or as English; what lies between is neither.
CHINESE_FROM, ENGLISH_TO = 0.8, 0.05
OUT = Path(centring.__file__).with_name("language_means_e5.npz")


def main() -> None:
    options = read_options()
    embedder = open_embedder("e5")
    means = {
        "passages": language_means(texts_of(options.passages, "documents"), embedder.embed_passages, options.count),
        "long_queries": language_means(texts_of(options.queries, "queries"), embedder.embed_queries, options.count),
        "short_queries": language_means(texts_of(options.short_queries, "queries"), embedder.embed_queries, options.count),
    }
    np.savez(options.out, allow_pickle=False, **means)
    for name, (chinese, english) in means.items():
        alike = chinese @ english / (np.linalg.norm(chinese) * np.linalg.norm(english))
        print(f"{name}: lengths {np.linalg.norm(chinese):.3f} (zh) {np.linalg.norm(english):.3f} (en), cosine {alike:.3f}")
    print(f"{embedder.fingerprint} -> {options.out}")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--passages", "--queries", "--short-queries"):
        parser.add_argument(name, nargs="+", type=Path, required=True, metavar="SET")
    parser.add_argument("--count", type=int, default=50, help="texts for each mean (default: 50)")
    parser.add_argument("--out", type=Path, default=OUT, help="the file to write (default: the one that is shipped)")
    return parser.parse_args()


def texts_of(sets: Sequence[Path], field: str) -> Iterator[str]:
    for path in sets:
        judged = json.loads(path.read_text("utf-8"))
        if field == "documents" and "documents" not in judged:
            judged = json.loads(path.with_name(judged["documents_from"]).read_text("utf-8"))
        yield from (item["text"] for item in judged[field])


def language_means(texts: Iterator[str], embed: Callable[[list[str]], NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    """(2, dimension): the mean of Chinese texts, the mean of English ones. Ends the program when there are not enough texts."""
    chinese: list[str] = []
    english: list[str] = []
    for text in dict.fromkeys(map(fold, texts)):
        if cjk_share(text) >= CHINESE_FROM and len(chinese) < count:
            chinese.append(text)
        elif cjk_share(text) <= ENGLISH_TO and len(english) < count:
            english.append(text)
    if min(len(chinese), len(english)) < count:
        raise SystemExit(f"{len(chinese)} Chinese and {len(english)} English texts; {count} of each are needed")
    return np.stack([embed(chinese).mean(axis=0), embed(english).mean(axis=0)])


if __name__ == "__main__":
    main()
