"""Settings of the optional parts: the table ``[llm]``, switches, the place of the lexicon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from vaultbrain.errors import SettingsInvalid, VaultbrainError, explain
from vaultbrain.settings import DOCS, NAMES, Settings, load_settings, read_llm_key

if TYPE_CHECKING:
    from pathlib import Path

LLM = '[llm]\nbase_url = "http://127.0.0.1:11434/v1"\nmodel = "small"\n'
KEY = "sk-Test-0123456789"


def load(vault: Path, text: str = "", *, environment: dict[str, str] | None = None, **flags: Any) -> Settings:
    vault.mkdir(exist_ok=True)
    (vault / "vaultbrain.toml").write_text(text, encoding="utf-8")
    return load_settings(vault, environment=environment or {}, flags=flags)[0]


def problems_of(vault: Path, text: str = "", **environment: str) -> list[str]:
    with pytest.raises(SettingsInvalid) as refused:
        load(vault, text, environment=environment)
    return list(refused.value.facts["problems"])


def test_everything_optional_is_off(tmp_path: Path) -> None:
    """Without a word in the file no model beyond the default one is asked, and nothing is sent anywhere."""
    settings = load(tmp_path)
    assert (settings.rerank, settings.llm_base_url, settings.llm_model, settings.llm_expand) == ("", "", "", False)
    assert settings.llm_timeout == 20
    assert settings.own_lexicon is None


def test_keys_of_a_table_are_read_and_named_with_it(tmp_path: Path) -> None:
    """``model`` below ``[llm]`` is ``llm.model`` to people and ``llm_model`` to programs; each says where it came from."""
    vault = tmp_path
    settings = load(vault, f"timeout = 30\n{LLM}expand = true\ntimeout = 9\n")
    assert (settings.llm_model, settings.llm_expand, settings.llm_timeout, settings.timeout) == ("small", True, 9, 30)
    _, shown = load_settings(vault, environment={"VAULTBRAIN_LLM_MODEL": "large"}, flags={"llm_timeout": 7})
    by_name = {setting.name: (setting.value, setting.origin) for setting in shown}
    assert list(by_name) == list(DOCS) == list(NAMES.values())
    assert by_name["llm.base_url"] == ("http://127.0.0.1:11434/v1", str(vault / "vaultbrain.toml"))
    assert by_name["llm.model"] == ("large", "VAULTBRAIN_LLM_MODEL")
    assert by_name["llm.timeout"] == (7, "flag")
    assert by_name["llm.api_key_env"] == ("VAULTBRAIN_LLM_API_KEY", "default")
    assert by_name["timeout"][0] == 30


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f'{LLM}modle = "x"', "`llm.modle` is not a setting; did you mean `llm.model`?"),
        (f'{LLM}folder = "x"', "`llm.folder` is not a setting; `folder` must stand above the line [llm]"),
        ('llm_model = "x"', "`llm_model` is not a setting; did you mean `llm.model`?"),
        ('llm = "http://127.0.0.1"', "`llm` must be a table: a line [llm], and its settings below"),
        ('[ll]\nmodel = "x"', "`ll` is not a setting"),
        (f"{LLM}[llm.more]\nx = 1", "`llm.more` is not a setting; did you mean `llm.model`?"),
        (f'{LLM}expand = "true"', "`llm.expand` must be true or false, without quotes"),
        (f"{LLM}expand = 1", "`llm.expand` must be true or false, without quotes"),
        (f"{LLM}timeout = true", "`llm.timeout` must be a whole number"),
        (f"{LLM}timeout = 0", "`llm.timeout` must be between 1 and 600"),
        ('[llm]\nbase_url = "http://127.0.0.1/v1"', "`llm.model` must be set when `llm.base_url` is"),
        ("[llm]\nexpand = true", "`llm.base_url` must be set when `llm.expand` is true"),
        ('[llm]\nmodel = "x"\nbase_url = "127.0.0.1/v1"', "`llm.base_url` must start with http:// or https://"),
        ('rerank = "bge"', "`rerank` must be cross-encoder:<name or path>, or empty"),
        ('rerank = "cross-encoder:"', "`rerank` must be cross-encoder:<name or path>, or empty"),
        ('lexicon = ["a"]', "`lexicon` must be text in quotes"),
    ],
)
def test_a_mistake_is_named_as_people_write_it(text: str, problem: str, tmp_path: Path) -> None:
    """With the table before the key, and what was probably meant."""
    assert problem in problems_of(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        f'{LLM}api_key_env = "{KEY}"',
        f'[llm]\nmodel = "x"\nbase_url = "https://me:{KEY}@example.com/v1"',
        f'[llm]\nmodel = "x"\nbase_url = "https://example.com/v1?key={KEY}"',
        f'{LLM}api_key = "{KEY}"',
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(text: str, tmp_path: Path) -> None:
    """A vault is shared and synced; the message says where the key belongs."""
    with pytest.raises(VaultbrainError) as refused:
        load(tmp_path, text)
    said = explain(refused.value).what
    assert KEY not in said
    assert "variable" in said or "did you mean `llm.api_key_env`?" in said


def test_the_key_comes_from_the_named_variable_alone(tmp_path: Path) -> None:
    """A key for somewhere else is never borrowed, and the memo server's token cannot be named at all."""
    environment = {"OPENAI_API_KEY": "a", "VAULTBRAIN_LLM_API_KEY": " b\n", "CFLOW_API_TOKEN": "c"}
    usual, named = load(tmp_path, LLM), load(tmp_path, f'{LLM}api_key_env = "OPENAI_API_KEY"')
    assert read_llm_key(usual, environment=environment) == "b"
    assert read_llm_key(usual, environment={"OPENAI_API_KEY": "a"}) == ""
    assert read_llm_key(named, environment=environment) == "a"
    assert problems_of(tmp_path, f'{LLM}api_key_env = "CFLOW_API_TOKEN"') == [
        "`llm.api_key_env` must not be CFLOW_API_TOKEN: that is for the memo server alone"
    ]


@pytest.mark.parametrize(
    ("said", "meant"), [("true", True), ("1", True), ("Yes", True), ("on", True), ("0", False), ("off", False)]
)
def test_a_switch_in_the_environment_is_a_word(said: str, meant: bool, tmp_path: Path) -> None:
    """A variable is always text."""
    assert load(tmp_path, LLM, environment={"VAULTBRAIN_LLM_EXPAND": said}).llm_expand is meant


def test_a_switch_in_the_environment_that_is_no_word_is_named_by_its_variable(tmp_path: Path) -> None:
    """Neither on nor off: nothing is guessed."""
    assert problems_of(tmp_path, LLM, VAULTBRAIN_LLM_EXPAND="maybe") == [
        "`VAULTBRAIN_LLM_EXPAND` must be true or false, without quotes"
    ]


def test_all_problems_are_said_at_once(tmp_path: Path) -> None:
    """Those of a table among the others."""
    assert problems_of(tmp_path, 'foldr = "x"\n[llm]\nexpand = 3\nmodle = "x"\n') == [
        "`foldr` is not a setting; did you mean `folder`?",
        "`llm.modle` is not a setting; did you mean `llm.model`?",
        "`llm.expand` must be true or false, without quotes",
    ]


def test_the_own_lexicon_is_where_it_is_said_or_in_our_folder_if_there(tmp_path: Path) -> None:
    """A named file counts even if it is missing, so that its absence is noticed; the usual one is used when it exists."""
    vault = tmp_path / "vault"
    assert load(vault, 'lexicon = "Words/mine.toml"').own_lexicon == vault.resolve() / "Words/mine.toml"
    assert load(vault, f'lexicon = "{(tmp_path / "mine.toml").as_posix()}"').own_lexicon == tmp_path / "mine.toml"
    settings = load(vault, 'folder = "Brain"')
    assert settings.own_lexicon is None
    (vault / "Brain").mkdir()
    (vault / "Brain/lexicon.toml").touch()
    assert settings.own_lexicon == vault.resolve() / "Brain/lexicon.toml"
