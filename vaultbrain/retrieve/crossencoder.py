"""The cross-encoder, off unless a person names one: how well each text answers a query, read together with it.

Decides which models may judge, how much of a text they read, and the scale of what they say: 0 to 1, the sigmoid of the model's
one number, whatever activation the model is configured with. A model whose last layer was never trained for this would give
another order on every start, so it is refused. Anything the model raises leaves as ``RerankerUnavailable``: results then stay in
the order of the fusion. Refuses to say what is judged and what a score changes (``retrieve.search``).

No text leaves this machine. A model named by its name is downloaded by sentence-transformers unless it is here already or
``HF_HUB_OFFLINE`` is set; code that comes with a model is never run.
"""

from __future__ import annotations

import logging
import math
import re
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vaultbrain.errors import RerankerUnavailable, UsageProblem
from vaultbrain.index.embedding import calm_openmp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Pairs in one call of the model. Chunks are short, so this is some ten megabytes of activations for a base-sized model.
BATCH = 16
#: Characters of a text. The usual models read 512 tokens, 400 to 700 Chinese characters, and stop; time grows with every token.
MAX_TEXT_CHARS = 1_000
#: Characters of a query: a longer one would leave the text no room in the model's window.
MAX_QUERY_CHARS = 200
#: Digits of a score. The last bits of a float32 depend on which other texts are in the batch, and a score must not.
DIGITS = 5

_KIND = "cross-encoder"
#: How a checkpoint says that it was trained to give one judgement: by a classifier, or by the word ``yes`` of a language model.
_JUDGES = ("ForSequenceClassification", "ForCausalLM")
_TALKERS = ("transformers", "sentence_transformers", "huggingface_hub")
_UNREADABLE = re.compile(r"[\x00\ud800-\udfff]")


class Reranker(Protocol):
    """What the search needs: a score from 0 to 1 for each text, in order, the same for the same pair whatever stands beside it.

    A blank text, or any text for a blank query, scores 0. Raises ``RerankerUnavailable``.
    """

    def scores(self, query: str, texts: Sequence[str]) -> list[float]: ...


def open_reranker(spec: str) -> Reranker:
    """Loads the model that ``spec``, ``cross-encoder:<name or folder>``, names.

    Raises ``RerankerUnavailable``, or ``UsageProblem`` for a spec that does not exist.
    """
    kind, _, name = spec.partition(":")
    if kind != _KIND or not name.strip():
        raise UsageProblem(
            what=f"There is no reranker called {spec!r}.",
            next='Set rerank to "cross-encoder:<name or folder>" in vaultbrain.toml, or to "" for none.',
        )
    return CrossEncoderReranker(spec, _load(spec, name.strip()))


class CrossEncoderReranker:
    """A sentence-transformers ``CrossEncoder`` that gives one number per pair."""

    def __init__(self, spec: str, model: Any) -> None:
        self.spec = spec
        self._model = model

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See ``Reranker``. Of a query ``MAX_QUERY_CHARS`` are read, of a text ``MAX_TEXT_CHARS``."""
        asked = _readable(query, MAX_QUERY_CHARS)
        pairs = {
            place: (asked, text) for place, given in enumerate(texts) if asked and (text := _readable(given, MAX_TEXT_CHARS))
        }
        scored = dict(zip(pairs, self._judge(list(pairs.values())), strict=True))
        return [scored.get(place, 0.0) for place in range(len(texts))]

    def _judge(self, pairs: list[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        with (
            _ours(self.spec, "Run the search again; if it stays like this, set another rerank model in vaultbrain.toml."),
            _silence(),
        ):
            # The model's own activation is passed over: some are configured to give logits, some to give probabilities.
            found = self._model.predict(pairs, batch_size=BATCH, activation_fn=_unchanged, show_progress_bar=False)
            logits = [float(logit) for logit in found]
            if not all(map(math.isfinite, logits)):
                raise ValueError("the model gave a score that is not a number")
        return [round(_sigmoid(logit), DIGITS) for logit in logits]


def _load(spec: str, name: str) -> Any:
    calm_openmp()
    place = "Give the name or the folder of a cross-encoder; without a network it must be on this machine already."
    with _ours(spec, place):
        folder = _folder(name)
    with _ours(spec, 'Run: pip install "vaultbrain[sentence-transformers]" (docs/embedding.md: a small torch first).'):
        from sentence_transformers import CrossEncoder
    with _ours(spec, place):
        with _silence(), _hidden_bars(always=folder is not None):
            model = CrossEncoder(str(folder) if folder else name)
        _refuse_others(model)
    return model


def _folder(name: str) -> Path | None:
    """The folder of that name; None for a name on the hub. Raises ``ValueError`` for a path where no folder is."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or name.startswith("."):
        raise ValueError(f"there is no folder {path}")
    return None


def _refuse_others(model: Any) -> None:
    """Raises ``ValueError`` unless the checkpoint held a trained judge of one number.

    The library turns any other checkpoint into a cross-encoder, too, with a last layer of random numbers.
    """
    trained_as = getattr(model.model.config, "architectures", None) or ["an unknown kind of model"]
    if not trained_as[0].endswith(_JUDGES):
        raise ValueError(f"it is no cross-encoder but {trained_as[0]}")
    outputs = model.num_labels
    if outputs != 1:
        raise ValueError(f"it gives {outputs} numbers for each text where one is needed")


def _readable(text: str, max_chars: int) -> str:
    """The beginning of ``text``, without characters that no model should meet; empty when nothing is left."""
    return _UNREADABLE.sub(" ", text[:max_chars]).strip()


def _unchanged(logits: Any) -> Any:
    return logits


def _sigmoid(logit: float) -> float:
    """1 / (1 + e^-logit), written so that no logit overflows."""
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    return math.exp(logit) / (1 + math.exp(logit))


@contextmanager
def _ours(spec: str, next_step: str) -> Iterator[None]:
    """Whatever a model raises leaves as ``RerankerUnavailable``: models are other people's code and raise what they like."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = error.name or "sentence_transformers"
        raise RerankerUnavailable(reranker=spec, reason=f"the package {missing} is not installed", next=next_step) from error
    except Exception as error:
        lines = str(error).strip().splitlines()
        reason = lines[0].rstrip(".") if lines else type(error).__name__
        raise RerankerUnavailable(reranker=spec, reason=reason, next=next_step) from error


@contextmanager
def _silence() -> Iterator[None]:
    """What the libraries have to say is for their own developers; what matters to a person becomes an error of ours."""
    loggers = [logging.getLogger(name) for name in _TALKERS]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _hidden_bars(*, always: bool) -> Iterator[None]:
    """No progress bars of the libraries' own. A download of minutes may show one, where somebody watches."""
    from transformers.utils.logging import disable_progress_bar, enable_progress_bar, is_progress_bar_enabled

    hides = (always or not sys.stderr.isatty()) and is_progress_bar_enabled()
    try:
        if hides:
            disable_progress_bar()
        yield
    finally:
        if hides:
            enable_progress_bar()
