"""Settings: defaults < ``vaultbrain.toml`` < environment < flags, the same order for all, and where each value came from.

The one place that knows names, defaults and limits of settings, in the file and in the environment. The token is
never a setting: it comes from ``CFLOW_API_TOKEN`` or from the file that ``token_file`` names, because a vault is shared and
synced and a token is not.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import SettingsInvalid, VaultNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SETTINGS_FILE = "vaultbrain.toml"
ENVIRONMENT_PREFIX = "VAULTBRAIN_"
TOKEN_VARIABLE = "CFLOW_API_TOKEN"  # noqa: S105  (the name of the variable, not a token)
EMBEDDING_KEY_VARIABLE = "VAULTBRAIN_EMBEDDING_API_KEY"
LLM_KEY_VARIABLE = "VAULTBRAIN_LLM_API_KEY"
#: The person's own words, in our folder of the vault.
LEXICON_FILE = "lexicon.toml"

_HEADINGS = "headings"

#: The package that holds e5 has no wheel for Windows.
DEFAULT_EMBEDDING = "use" if sys.platform == "win32" else "e5"

_EMBEDDING_SPEC = re.compile(r"e5|use|sentence-transformers:.+|openai:.+")
_RERANK_SPEC = re.compile(r"(cross-encoder:.+)?")
#: Capitals only: hardly any key is written like that, so a key put here by mistake is refused and not shown by ``config show``.
_VARIABLE_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """One value with where it came from: ``default``, the file's path, a variable's name, or ``flag``.

    ``name`` as in the file; a key of a table with the table's name before it: ``llm.model``.
    """

    name: str
    value: Any
    origin: str


def _key(default: Any, doc: str, table: str = "") -> Any:
    """A setting; with ``table``, a key below ``[table]``, whose field and variable have the table's name before it."""
    return field(default=default, metadata={"doc": doc, "table": table})


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked values. ``vault`` is the vault's real path; every other field is a key of ``vaultbrain.toml``.

    ``llm_model`` is the key ``model`` of the table ``[llm]`` there, and so on.
    """

    vault: Path
    source: str = _key("", "address of a CFlow or Memos server, or path of an export file (relative to the vault)")
    folder: str = _key("CFlow", "our folder in the vault")
    public_url: str = _key("", "address for links to memos, when it is not the one in `source`")
    token_file: str = _key("", "file that holds the server's access token; CFLOW_API_TOKEN wins")
    state_dir: str = _key("", "where the catalog and the vector index live; default: the user's data folder, per vault")
    timezone: str = _key("local", "IANA name of the zone for dates in notes, or `local`")
    language: str = _key("auto", "language of answer notes: auto (that of the question), zh-Hans, zh-Hant or en")
    embedding: str = _key(DEFAULT_EMBEDDING, "e5, use, sentence-transformers:<name or path>, or openai:<model>")
    embedding_url: str = _key("", "address of the OpenAI-compatible server, for openai:<model>")
    chunk_size: int = _key(
        80, "longest chunk in Chinese characters (of other scripts 2.5 times as many), unless it is one code fence or table"
    )
    chunk_overlap: int = _key(16, "of these so many that neighbouring windows of one long paragraph share")
    chroma_url: str = _key("", "address of a Chroma server to use instead of the local vector index")
    exact_search_limit: int = _key(40_000, "up to so many chunks are compared one by one; beyond, Chroma proposes candidates")
    timeout: int = _key(20, "seconds to wait for one answer of the memo server")
    lock_timeout: int = _key(10, "seconds to wait for another vaultbrain that is writing")
    poll_interval: str = _key("60s", "how often the watcher asks the memo server: seconds, or a number with s, m or h")
    lexicon: str = _key(
        "", f"file with words of your own that mean the same (relative to the vault); default: {LEXICON_FILE} in `folder`"
    )
    rerank: str = _key("", "cross-encoder:<name or path> reads the best hits again and puts them in order; empty for none")
    llm_base_url: str = _key("", "address of an OpenAI-compatible chat server, such as http://127.0.0.1:11434/v1", "llm")
    llm_model: str = _key("", "name of the chat model at that address", "llm")
    llm_api_key_env: str = _key(LLM_KEY_VARIABLE, "the variable of the environment that holds the key, never the key", "llm")
    llm_timeout: int = _key(20, "seconds to wait for one answer of the chat model", "llm")
    llm_expand: bool = _key(False, "send each question to the chat model, which proposes other words to search with", "llm")
    llm_write: bool = _key(True, "let the chat model write the sentences of answers; each one is checked", "llm")
    llm_exclude_tags: tuple[str, ...] = _key((), "memos with one of these tags are never sent to the chat model", "llm")
    llm_exclude_visibilities: tuple[str, ...] = _key((), 'nor memos of these visibilities, such as ["PRIVATE"]', "llm")
    llm_exclude_folders: tuple[str, ...] = _key((), "nor memos whose notes stand in these folders of the vault", "llm")
    recall_enabled: bool = _key(True, "let the watcher mention old memos while you write", "recall")
    recall_per_day: int = _key(6, "mentions of one day, at most", "recall")
    recall_areas: tuple[str, ...] = _key((), "subjects that you collect: work on them is worth a look-up by itself", "recall")
    recall_exclude_folders: tuple[str, ...] = _key((), "nothing is mentioned for notes in these folders of the vault", "recall")
    recall_exclude_tags: tuple[str, ...] = _key((), "nor for notes with one of these tags", "recall")
    canvas: bool = _key(False, "write a canvas beside each answer: question, themes, memos")
    daily_link: bool = _key(False, "link each answer from the day's daily note, as the vault's own settings say where that is")
    headings_conclusion: str = _key("", "heading of the conclusion in answer notes; empty for the language's own", _HEADINGS)
    headings_themes: str = _key("", "heading of the themes", _HEADINGS)
    headings_sources: str = _key("", "heading of the sources", _HEADINGS)
    headings_coverage: str = _key("", "heading of what was searched", _HEADINGS)
    headings_contradictions: str = _key("", "heading of what contradicts itself", _HEADINGS)
    headings_gaps: str = _key("", "heading of what the memos do not say", _HEADINGS)
    headings_next: str = _key("", "heading of what to look at next", _HEADINGS)

    @property
    def memos_folder(self) -> str:
        return f"{self.folder}/Memos"

    @property
    def answers_folder(self) -> str:
        return f"{self.folder}/Answers"

    @property
    def recall_folder(self) -> str:
        return f"{self.folder}/Recall"

    @property
    def inbox_folder(self) -> str:
        return f"{self.folder}/Ask"

    @property
    def poll_interval_s(self) -> float:
        return interval_s(self.poll_interval)

    @property
    def headings(self) -> dict[str, str]:
        """The person's own headings by their names in ``[headings]``; those left empty are left out."""
        names = [f.name for f in fields(self) if f.metadata.get("table") == _HEADINGS]
        return {name.removeprefix(f"{_HEADINGS}_"): text for name in names if (text := getattr(self, name).strip())}

    @property
    def own_lexicon(self) -> Path | None:
        """The person's own words, or None. A file that is named in the settings counts though it may be missing."""
        if self.lexicon:
            return self.vault / Path(self.lexicon).expanduser()
        usual = self.vault / self.folder / LEXICON_FILE
        return usual if usual.is_file() else None

    @property
    def state_folder(self) -> Path:
        """Outside the vault, so that no sync service meets a database half-written. Not created here."""
        if self.state_dir:
            return (self.vault / Path(self.state_dir).expanduser()).resolve()
        from platformdirs import user_data_path

        digest = hashlib.blake2b(str(self.vault).encode(), digest_size=5).hexdigest()
        return user_data_path("vaultbrain", appauthor=False) / f"{self.vault.name}-{digest}"


_DEFAULTS = {f.name: f.default for f in fields(Settings) if "doc" in f.metadata}
_TABLES = {f.name: str(f.metadata["table"]) for f in fields(Settings) if f.metadata.get("table")}
#: The name that a person knows of each field, ``llm.model`` of ``llm_model``.
NAMES = {name: f"{_TABLES[name]}.{name.removeprefix(f'{_TABLES[name]}_')}" if name in _TABLES else name for name in _DEFAULTS}
_FIELDS = {name: field_name for field_name, name in NAMES.items()}
DOCS = {NAMES[f.name]: str(f.metadata["doc"]) for f in fields(Settings) if "doc" in f.metadata}


def find_vault(start: Path) -> Path:
    """The nearest folder upwards from ``start`` with a settings file. Raises ``VaultNotFound``."""
    start = start.expanduser().resolve()
    for folder in (start, *start.parents):
        if (folder / SETTINGS_FILE).is_file():
            return folder
    raise VaultNotFound(path=start, is_missing=not start.exists())


def load_settings(
    vault: Path, *, environment: Mapping[str, str] = os.environ, flags: Mapping[str, Any] | None = None
) -> tuple[Settings, tuple[Setting, ...]]:
    """The settings of the vault that has its settings file at ``vault``, and each with its origin.

    Raises:
        VaultNotFound: there is no settings file.
        SettingsInvalid: the file is not TOML, or values cannot be used; all problems at once.
    """
    path = vault / SETTINGS_FILE
    problems: list[str] = []
    found = _without_tables(_read_file(path), problems)
    problems += [f"`{name}` is not a setting{_nearest(name)}" for name in found if name not in _FIELDS]
    merged = {name: Setting(NAMES[name], default, "default") for name, default in _DEFAULTS.items()}
    merged |= {_FIELDS[name]: Setting(name, value, str(path)) for name, value in found.items() if name in _FIELDS}
    for name in _DEFAULTS:
        variable = ENVIRONMENT_PREFIX + name.upper()
        if variable in environment:
            merged[name] = Setting(NAMES[name], environment[variable], variable)
    merged |= {name: Setting(NAMES.get(name, name), value, "flag") for name, value in (flags or {}).items() if value is not None}
    checked = {name: _checked(name, setting, problems) for name, setting in merged.items()}
    problems += _across(checked)
    if problems:
        raise SettingsInvalid(path=path, problems=problems)
    settings = Settings(vault=vault.resolve(), **checked)
    return settings, tuple(Setting(NAMES[name], checked[name], merged[name].origin) for name in _DEFAULTS)


def _without_tables(found: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """The keys of known tables with the table's name before them, and all others as they are."""
    flat: dict[str, Any] = {}
    for name, value in found.items():
        if name not in _TABLES.values():
            flat[name] = value
        elif isinstance(value, dict):
            flat |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            problems.append(f"`{name}` must be a table: a line [{name}], and its settings below")
    return flat


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise VaultNotFound(path=path.parent) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(path=path, problems=[f"it is not valid TOML: {error}"]) from error
    except OSError as error:
        raise SettingsInvalid(path=path, problems=[f"it cannot be read: {error.strerror}"]) from error


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    table, _, key = name.partition(".")
    if table in _TABLES.values() and key in _FIELDS:
        return f"; `{key}` must stand above the line [{table}]"
    close = get_close_matches(name, _FIELDS, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _checked(name: str, setting: Setting, problems: list[str]) -> Any:
    """The value of the field ``name``, or its default and a problem more."""
    default, value = _DEFAULTS[name], setting.value
    from_environment = setting.origin.startswith(ENVIRONMENT_PREFIX)
    shown = setting.origin if from_environment else setting.name
    if isinstance(default, bool):
        value = _TRUTH.get(value.strip().lower(), value) if from_environment else value
    elif isinstance(default, tuple):
        value = _as_texts(value, from_environment=from_environment)
    elif isinstance(default, int) and isinstance(value, str) and value.isdecimal():
        value = int(value)
    if type(value) is not type(default):
        problems.append(f"`{shown}` must be {_kind_of(default)}")
        return default
    if complaint := complaint_about(name, value):
        problems.append(f"`{shown}` {complaint}")
        return default
    return value


def _as_texts(value: Any, *, from_environment: bool) -> Any:
    """A list of texts as a tuple; from the environment, where commas part them. Anything else comes back as it is."""
    if from_environment and isinstance(value, str):
        return tuple(part for text in value.split(",") if (part := text.strip()))
    return tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value


def _kind_of(default: object) -> str:
    if isinstance(default, bool):
        return "true or false, without quotes"
    if isinstance(default, tuple):
        return 'a list of texts, such as ["one", "two"]'
    return "a whole number" if isinstance(default, int) else "text in quotes"


def complaint_about(name: str, value: Any) -> str:
    """Why ``value`` cannot be the setting ``name``, to follow its name; empty when it can."""
    return _RULES.get(name, _no_complaint)(value)


def _heading_complaint(value: str) -> str:
    return "must be one line of words, without # or %%" if "\n" in value or "#" in value or "%%" in value else ""


def _across(values: Mapping[str, Any]) -> list[str]:
    problems = []
    if values["chunk_overlap"] * 2 > values["chunk_size"]:
        problems.append("`chunk_overlap` must be at most half of `chunk_size`")
    if values["embedding"].startswith("openai:") and not values["embedding_url"]:
        problems.append("`embedding_url` must be set when `embedding` is openai:<model>")
    if values["llm_base_url"] and not values["llm_model"].strip():
        problems.append("`llm.model` must be set when `llm.base_url` is")
    if values["llm_expand"] and not values["llm_base_url"]:
        problems.append("`llm.base_url` must be set when `llm.expand` is true")
    return problems


def _no_complaint(value: object) -> str:  # noqa: ARG001
    return ""


def _folder_complaint(value: str) -> str:
    parts = PurePosixPath(value).parts
    if not parts or value.startswith(("/", "~")) or "\\" in value or any(part.startswith(".") for part in parts):
        return "must be a folder inside the vault, without dots at the start of a name"
    return 'must not hold any of # ^ [ ] | : * ? < > "' if re.search(r'[#^\[\]|:*?<>"]|%%', value) else ""


def _zone_complaint(value: str) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if value == "local":
        return ""
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"must be `local` or a time zone such as Asia/Shanghai, not {value!r}"
    return ""


def _source_complaint(value: str) -> str:
    """A vault is shared and synced, and messages show the address."""
    has_login = re.match(r"https?://[^/?#]*@", value, re.IGNORECASE)
    return f"must not hold a name or password before the @; the token goes into {TOKEN_VARIABLE}" if has_login else ""


def _url_complaint(value: str) -> str:
    return "" if not value or re.match(r"https?://[^/]", value) else "must start with http:// or https://"


def _llm_url_complaint(value: str) -> str:
    """The file is shared, and messages show the address; a login or a key in it would be, too."""
    if re.match(r"[^/?#]*//[^/?#]*@|[^?#]*[?#]", value):
        return "must be an address without a name, password or ?; the key goes into the variable that `llm.api_key_env` names"
    return _url_complaint(value)


def _variable_complaint(value: str) -> str:
    """Says nothing of the value: it may be the key."""
    if value == TOKEN_VARIABLE:
        return f"must not be {TOKEN_VARIABLE}: that is for the memo server alone"
    return "" if _VARIABLE_NAME.fullmatch(value) else "must be the name of a variable in capitals; the key itself goes into that"


_INTERVAL = re.compile(r"(\d{1,6})\s*([smh]?)")
_SHORTEST_POLL_S, _LONGEST_POLL_S = 5, 86_400


def interval_s(text: str) -> float:
    """Seconds of ``90``, ``90s``, ``5m`` or ``1h``. Raises ``ValueError``."""
    found = _INTERVAL.fullmatch(text.strip())
    if not found:
        raise ValueError(text)
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3_600}[found[2]]


def _interval_complaint(value: str) -> str:
    try:
        is_fine = _SHORTEST_POLL_S <= interval_s(value) <= _LONGEST_POLL_S
    except ValueError:
        is_fine = False
    return "" if is_fine else f"must be seconds, or a number with s, m or h, from {_SHORTEST_POLL_S}s to 24h"


def _between(low: int, high: int) -> Callable[[int], str]:
    return lambda value: "" if low <= value <= high else f"must be between {low} and {high}"


_RULES: dict[str, Callable[[Any], str]] = {
    "source": _source_complaint,
    "folder": _folder_complaint,
    "timezone": _zone_complaint,
    "public_url": _url_complaint,
    "embedding_url": _url_complaint,
    "chroma_url": _url_complaint,
    "language": lambda value: "" if value in ("auto", "zh-Hans", "zh-Hant", "en") else "must be auto, zh-Hans, zh-Hant or en",
    "embedding": lambda value: (
        "" if _EMBEDDING_SPEC.fullmatch(value) else "must be e5, use, sentence-transformers:<name> or openai:<model>"
    ),
    "rerank": lambda value: "" if _RERANK_SPEC.fullmatch(value) else "must be cross-encoder:<name or path>, or empty",
    "llm_base_url": _llm_url_complaint,
    "llm_api_key_env": _variable_complaint,
    "llm_timeout": _between(1, 600),
    **{name: _heading_complaint for name, table in _TABLES.items() if table == _HEADINGS},
    "chunk_size": _between(20, 2_000),
    "chunk_overlap": _between(0, 1_000),
    "exact_search_limit": _between(0, 1_000_000),
    "timeout": _between(1, 600),
    "poll_interval": _interval_complaint,
    "recall_per_day": _between(0, 200),
    "lock_timeout": _between(0, 3_600),
}


def read_token(settings: Settings, *, environment: Mapping[str, str] = os.environ) -> str:
    """The access token of the memo server, or an empty string. Raises ``SettingsInvalid`` when the named file cannot be read."""
    token = environment.get(TOKEN_VARIABLE, "").strip()
    if token or not settings.token_file:
        return token
    path = settings.vault / Path(settings.token_file).expanduser()
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = f"`token_file` {path} cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}"
        raise SettingsInvalid(path=settings.vault / SETTINGS_FILE, problems=[problem]) from error


def read_embedding_key(*, environment: Mapping[str, str] = os.environ) -> str:
    """The key for an OpenAI-compatible embedding server, or an empty string. A key for somewhere else is never borrowed."""
    return environment.get(EMBEDDING_KEY_VARIABLE, "").strip()


def read_llm_key(settings: Settings, *, environment: Mapping[str, str] = os.environ) -> str:
    """The key for the chat server, from the variable that the settings name and no other, or an empty string."""
    return environment.get(settings.llm_api_key_env, "").strip()
