"""Every situation that ends a command early, with its facts, and the one table that turns it into words and an exit code.

Raise the situation where it is met; never phrase a message there. ``explain`` gives the three parts that a person needs: what
happened, what was left untouched, what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_PARTLY = 3
EXIT_INTERRUPTED = 130


class VaultbrainError(Exception):
    """Base of all situations. Facts are attributes; ``str()`` is for logs and tests only."""

    exit_code = EXIT_FAILED

    def __init__(self, **facts: object) -> None:
        super().__init__(", ".join(f"{name}={value!r}" for name, value in facts.items()))
        self.facts: dict[str, Any] = facts

    def fact(self, name: str) -> str:
        """The fact as text; empty when it is not known."""
        value = self.facts.get(name)
        return "" if value is None else str(value)


class SettingsInvalid(VaultbrainError):
    """Facts: ``path``, ``problems`` (one sentence each, all of them)."""

    exit_code = EXIT_USAGE


class VaultNotFound(VaultbrainError):
    """No ``vaultbrain.toml`` here or above. Facts: ``path``, ``is_missing`` when there is not even such a folder."""

    exit_code = EXIT_USAGE


class OwnFault(VaultbrainError):
    """Something was raised that nobody expected. Facts: ``next``."""


class UsageProblem(VaultbrainError):
    """Facts: ``what``, ``next``."""

    exit_code = EXIT_USAGE


class VaultGone(VaultbrainError):
    """The vault, or our notes in it, disappeared. Facts: ``path``, ``missing``, ``known``."""


class VaultAway(VaultbrainError):
    """The vault's folder, or the settings file in it, is not there just now: unmounted, moved or deleted. Facts: ``path``."""


class WatcherRunning(VaultbrainError):
    """Another watcher serves this vault. Facts: ``pid``, ``since``; both may be missing."""


class ServiceUnavailable(VaultbrainError):
    """The system's service manager cannot be used. Facts: ``reason``, ``next``."""


class PortUnavailable(VaultbrainError):
    """Nothing can be served there. Facts: ``address``, ``reason``."""


class HttpTokenUnusable(VaultbrainError):
    """The token that guards the tools over HTTP. Facts: ``origin`` (file or variable, not the token), ``reason``, ``next``."""

    exit_code = EXIT_USAGE


class SourceError(VaultbrainError):
    """Base of everything a source may refuse. Facts always hold ``address`` (never a token)."""


class SourceUnreachable(SourceError):
    """No answer after all tries. Facts: ``address``, ``reason``, ``tries``."""


class SourceRefused(SourceError):
    """A clear no. Facts: ``address``, ``status``, ``message``."""


class LoginRefused(SourceError):
    """Token missing, wrong or expired. Facts: ``address``, ``status``, ``has_token``."""


class SourceOverloaded(SourceError):
    """429 or 5xx after all tries. Facts: ``address``, ``status``, ``tries``."""


class NotMemos(SourceError):
    """Something answered, but not with memos. Facts: ``address``, ``status``, ``content_type``, ``detail``."""


class ListingNotWhole(SourceError):
    """Memos came, but the proof that these are all failed. Facts: ``address``, ``detail``."""


class ServerUnsupported(SourceError):
    """A generation this release does not read. Facts: ``address``, ``generation``, ``version``."""


class OriginChanged(SourceError):
    """The login or the server is not the one of the last sync. Facts: ``address``, ``before``, ``now``."""


class ExportUnreadable(SourceError):
    """The export file is missing or not the expected JSON. Facts: ``address``, ``detail``."""


class JudgedSetUnreadable(VaultbrainError):
    """A set of queries and judgements that cannot be measured with. Facts: ``path``, ``detail``."""

    exit_code = EXIT_USAGE


class MemoNotFound(VaultbrainError):
    """Facts: ``memo_id``, ``address``."""


class AnswerNotFound(VaultbrainError):
    """Facts: ``path``, ``reason``."""

    exit_code = EXIT_USAGE


class StateBusy(VaultbrainError):
    """Another process is writing. Facts: ``pid``, ``since``, ``command``, ``waited_s``; the first three may be missing."""


class StateUnreadable(VaultbrainError):
    """Our own database cannot be used. Facts: ``path``, ``reason``."""


class EmbeddingUnavailable(VaultbrainError):
    """The model cannot be loaded or the embedding server does not answer. Facts: ``embedding``, ``reason``, ``next``."""


class RerankerUnavailable(VaultbrainError):
    """The cross-encoder cannot be loaded or fails. Facts: ``reranker``, ``reason``, ``next``."""


class SuggestionsUnavailable(VaultbrainError):
    """The chat model proposed no variants of the question. Facts: ``model``, ``address``, ``reason``, ``next``."""


class ChatFailed(VaultbrainError):
    """The chat model gave no answer that can be used. Facts: ``model``, ``address``, ``reason``, ``next``."""


class VectorStoreFailed(VaultbrainError):
    """Chroma refused or broke. Facts: ``path``, ``reason``."""


class WriteFailed(VaultbrainError):
    """A file could not be written. Facts: ``path``, ``reason``."""


class NoteUnreadable(VaultbrainError):
    """A note that we may not change now. Facts: ``path``, ``reason``."""


class NoteBeingEdited(NoteUnreadable):
    """The note was changed a moment ago, so nothing may be written into it yet. Facts: ``path``, ``reason``, ``next``."""


class TemplateBroken(VaultbrainError):
    """Facts: ``path``, ``line``, ``reason``."""


class Interrupted(VaultbrainError):
    """Ctrl-C or SIGTERM, met at a safe point. Facts: ``left`` (chunks without a vector), ``notices`` of what was done."""

    exit_code = EXIT_INTERRUPTED


@dataclass(frozen=True, slots=True)
class Explanation:
    what: str
    untouched: str
    next: str


_NOTHING_CHANGED = "Vault and index are unchanged."
_INDEX_STAYS = "Your notes and what is already indexed are unchanged."


def _login(error: VaultbrainError) -> Explanation:
    if error.facts.get("has_token"):
        what = f"{error.fact('address')} refuses the token (status {error.fact('status')})."
        return Explanation(
            what, _NOTHING_CHANGED, "Make a new access token in the server's settings and put it into CFLOW_API_TOKEN."
        )
    what = f"{error.fact('address')} answers only with a login (status {error.fact('status')}), and no token is set."
    return Explanation(what, _NOTHING_CHANGED, "Set CFLOW_API_TOKEN, or token_file in vaultbrain.toml, then run: vaultbrain sync")


def _busy(error: VaultbrainError) -> Explanation:
    owner = f"process {error.fact('pid')}" if error.fact("pid") else "another process"
    since = f" since {error.fact('since')}" if error.fact("since") else ""
    command = f" ({error.fact('command')})" if error.fact("command") else ""
    return Explanation(
        f"{owner.capitalize()}{command} is writing to this vault's index{since}; waited {error.fact('waited_s')} s.",
        _NOTHING_CHANGED,
        "Let it finish, then run the command again.",
    )


def _no_vault(error: VaultbrainError) -> Explanation:
    if error.facts.get("is_missing"):
        what = f"There is no folder {error.fact('path')}."
        return Explanation(what, "Nothing was written.", "Correct the path of the vault, or connect the disk that it is on.")
    return Explanation(
        f"There is no vaultbrain.toml in {error.fact('path')} or in a folder above it.",
        "Nothing was written.",
        "Go into your vault, or run: vaultbrain init VAULT --source http://127.0.0.1:5230",
    )


_WORDS: dict[type[VaultbrainError], Callable[[VaultbrainError], Explanation]] = {
    SettingsInvalid: lambda e: Explanation(
        f"{e.fact('path')} has settings that cannot be used:\n" + "\n".join(f"  - {p}" for p in _lines(e.facts.get("problems"))),
        "Nothing was read or written.",
        "Correct these lines, then run: vaultbrain config show",
    ),
    VaultNotFound: _no_vault,
    OwnFault: lambda e: Explanation("vaultbrain met a fault of its own.", "What was finished before it is kept.", e.fact("next")),
    UsageProblem: lambda e: Explanation(e.fact("what"), "Nothing was written.", e.fact("next")),
    VaultGone: lambda e: Explanation(
        f"{e.fact('missing')} of {e.fact('known')} mirrored notes are missing below {e.fact('path')}.",
        "The index still answers; nothing was deleted or written anew.",
        "Bring the notes back (is the vault mounted?). To have them written anew, run: vaultbrain sync --restore",
    ),
    SourceUnreachable: lambda e: Explanation(
        f"Cannot reach {e.fact('address')} ({e.fact('reason')}; tried {_times(e)}).",
        _NOTHING_CHANGED,
        "Check that the server runs and that `source` in vaultbrain.toml is its address, then run: vaultbrain sync",
    ),
    SourceRefused: lambda e: Explanation(
        f"{e.fact('address')} refuses the request (status {e.fact('status')}: {e.fact('message')}).",
        _NOTHING_CHANGED,
        "Open the address in a browser and compare it with `source` in vaultbrain.toml.",
    ),
    LoginRefused: _login,
    SourceOverloaded: lambda e: Explanation(
        f"{e.fact('address')} asks to slow down or is failing (status {e.fact('status')}, tried {_times(e)}).",
        _NOTHING_CHANGED,
        "Wait a minute, then run: vaultbrain sync",
    ),
    NotMemos: lambda e: Explanation(
        f"{e.fact('address')} answered with status {e.fact('status')}, {e.fact('content_type') or 'no content type'}:"
        f" {e.fact('detail')}.",
        _NOTHING_CHANGED,
        "Open the address in a browser: a login page or another program may stand in front of the memo server.",
    ),
    ListingNotWhole: lambda e: Explanation(
        f"The listing from {e.fact('address')} cannot be trusted to be whole: {e.fact('detail')}.",
        _NOTHING_CHANGED,
        "Run vaultbrain sync again; if it stays like this, check the server.",
    ),
    ServerUnsupported: lambda e: Explanation(
        f"{e.fact('address')} is a Memos server of generation {e.fact('generation')} {e.fact('version')}".rstrip()
        + ", which this release cannot read.",
        _NOTHING_CHANGED,
        "CFlow and Memos 0.13 to 0.21 are supported; or point `source` at a CFlow export file.",
    ),
    OriginChanged: lambda e: Explanation(
        f"{e.fact('address')} answers as {e.fact('now')}, but the last sync was with {e.fact('before')}.",
        _NOTHING_CHANGED,
        "If that is right (a new login, a new server), use a new state_dir or a new vault; else correct source or token.",
    ),
    ExportUnreadable: lambda e: Explanation(
        f"The export {e.fact('address')} cannot be used: {e.fact('detail')}.",
        _NOTHING_CHANGED,
        "Export again from the server, or correct `source` in vaultbrain.toml.",
    ),
    JudgedSetUnreadable: lambda e: Explanation(
        f"The judged set {e.fact('path')} cannot be used: {e.fact('detail')}.",
        "Nothing was indexed or written.",
        "Correct the file; what it may hold says: vaultbrain bench --help",
    ),
    MemoNotFound: lambda e: Explanation(
        f"There is no memo {e.fact('memo_id')} on {e.fact('address')} or in the mirror.",
        "Nothing was written.",
        "Find its id with: vaultbrain search WORDS",
    ),
    AnswerNotFound: lambda e: Explanation(
        f"{e.fact('path')} cannot be refreshed: {e.fact('reason')}.",
        "Nothing was written.",
        "Give the path of an answer note in the vault, or run vaultbrain refresh for all stale ones.",
    ),
    StateBusy: _busy,
    StateUnreadable: lambda e: Explanation(
        f"The catalog {e.fact('path')} cannot be used ({e.fact('reason')}).",
        "Notes and server are unchanged.",
        "Move that file aside and run vaultbrain sync: it is rebuilt from the server and the notes.",
    ),
    EmbeddingUnavailable: lambda e: Explanation(
        f"The embedding model {e.fact('embedding')} cannot be used ({e.fact('reason')}).",
        _INDEX_STAYS,
        e.fact("next") or 'Set embedding = "e5" in vaultbrain.toml to use the bundled model.',
    ),
    RerankerUnavailable: lambda e: Explanation(
        f"The cross-encoder {e.fact('reranker')} cannot be used ({e.fact('reason')}).",
        "The index is unchanged; results are in the order of the search itself.",
        e.fact("next") or 'Set rerank = "" in vaultbrain.toml to search without one.',
    ),
    SuggestionsUnavailable: lambda e: Explanation(
        f"The chat model {e.fact('model')} at {e.fact('address')} proposed no other wordings ({e.fact('reason')}).",
        "The index is unchanged; the search used your own words and the lexicon.",
        e.fact("next") or "Set expand = false below [llm] in vaultbrain.toml to search without it.",
    ),
    ChatFailed: lambda e: Explanation(
        f"The chat model {e.fact('model')} at {e.fact('address')} gave no answer that can be used ({e.fact('reason')}).",
        _NOTHING_CHANGED,
        e.fact("next") or "Try again later, or set write = false below [llm] in vaultbrain.toml to do without it.",
    ),
    VectorStoreFailed: lambda e: Explanation(
        f"The vector index {e.fact('path')} failed ({e.fact('reason')}).",
        "Notes, keyword search and all computed vectors are unchanged.",
        "Run vaultbrain sync again: the index is rebuilt from the catalog.",
    ),
    WriteFailed: lambda e: Explanation(
        f"Cannot write {e.fact('path')} ({e.fact('reason')}).",
        "What was written before it is whole; nothing was half-written.",
        "Make room or correct the permissions, then run the same command again: it goes on where it stopped.",
    ),
    VaultAway: lambda e: Explanation(
        f"The vault {e.fact('path')} is not there just now.",
        _NOTHING_CHANGED,
        "Mount it or move it back, then run the same command again.",
    ),
    WatcherRunning: lambda e: Explanation(
        "Another watcher serves this vault already"
        + (f": process {e.fact('pid')}, started {e.fact('since')}." if e.fact("pid") else "."),
        "It goes on; nothing was changed.",
        "See what it does with: vaultbrain status",
    ),
    ServiceUnavailable: lambda e: Explanation(
        f"The background service cannot be set up: {e.fact('reason')}.",
        "Nothing was changed.",
        e.fact("next") or "Run the watcher yourself instead: vaultbrain watch",
    ),
    PortUnavailable: lambda e: Explanation(
        f"Cannot listen on {e.fact('address')} ({e.fact('reason')}).",
        "Nothing was started; vault and index are unchanged.",
        "If another program listens there, stop it, or take any free port: vaultbrain mcp --http --port 0",
    ),
    HttpTokenUnusable: lambda e: Explanation(
        f"The token in {e.fact('origin')} cannot be used: {e.fact('reason')}.",
        "Nothing was started; vault and index are unchanged.",
        e.fact("next") or "Put a long random token there, or take it away: then vaultbrain mcp --http makes one and keeps it.",
    ),
    NoteUnreadable: lambda e: Explanation(
        f"{e.fact('path')} cannot be read: {e.fact('reason')}.",
        "It is unchanged; what was written before it is whole.",
        "Open it in Obsidian or correct its permissions, then run the same command again.",
    ),
    NoteBeingEdited: lambda e: Explanation(
        f"{e.fact('path')} was changed a moment ago: somebody may be writing in it.",
        "It is unchanged; what was written before it is whole.",
        e.fact("next") or "Run the same command again when nobody has written in it for a minute.",
    ),
    TemplateBroken: lambda e: Explanation(
        f"The template {e.fact('path')} has a mistake in line {e.fact('line')}: {e.fact('reason')}.",
        _NOTHING_CHANGED,
        "Correct that line, or move the file away to use the built-in template.",
    ),
    Interrupted: lambda e: Explanation(
        "Stopped." if not e.fact("left") else f"Stopped; {e.fact('left')} chunks still wait for a vector.",
        "Everything finished so far is kept.",
        "Go on with: vaultbrain sync",
    ),
}


def _times(error: VaultbrainError) -> str:
    return "once" if error.facts.get("tries") == 1 else f"{error.fact('tries')} times"


def _lines(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else [value]


def explain(error: VaultbrainError) -> Explanation:
    """The three parts of the message for ``error``; the nearest base class's words serve where a class has none."""
    for kind in type(error).__mro__:
        if kind in _WORDS:
            return _WORDS[kind](error)
    return Explanation(str(error), _NOTHING_CHANGED, "Run the command again with --debug.")
