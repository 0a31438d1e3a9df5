"""``vaultbrain search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import JsonOption, VariantOption, VaultOption, answer, answer_json, refuse_blank, say
from vaultbrain.errors import UsageProblem
from vaultbrain.gist.summary import is_from
from vaultbrain.retrieve.fusion import LABEL_NAMES
from vaultbrain.wiring import open_brain

if TYPE_CHECKING:
    from vaultbrain.retrieve.search import Hit, SearchResult

CHANNELS = ("hybrid", "keyword", "semantic")

#: Characters of a query that are shown again; a whole passage may have been searched for.
_LONGEST_ECHO = 80


def register(app: typer.Typer) -> None:
    app.command("search", epilog='Example: vaultbrain search "观影" -k 5')(search)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in Chinese, English or both.")],
    vault: VaultOption = None,
    top_k: Annotated[int, typer.Option("-k", min=1, max=1_000, metavar="N", help="How many memos at most.")] = 10,
    variant: VariantOption = None,
    channel: Annotated[
        str, typer.Option("--channel", metavar="|".join(CHANNELS), help="Search by words, by meaning, or both.")
    ] = "hybrid",
    explain: Annotated[bool, typer.Option("--explain", help="Say why each memo was found, and what was searched.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Find memos by words and by meaning.

    Filters may stand in the query: tag:film, after:2026-01, before:2026, visibility:private, is:pinned, has:link, "exact words",
    -word. Put -- before a query that begins with a minus.
    """
    if channel not in CHANNELS:
        raise UsageProblem(what=f"--channel {channel} is not known.", next=f"Use one of: {', '.join(CHANNELS)}")
    refuse_blank(query, "query")
    result = open_brain(vault).search(query, top_k=top_k, variants=variant or (), channel=channel)
    if as_json:
        answer_json(result.as_json(explain=explain))
        return
    for shortcoming in (
        *result.coverage.degraded,
        *map("this is no filter: {}".format, result.coverage.filters_ignored),
    ):
        say(f"note: {shortcoming}")
    if any(condition.startswith("not ") for condition in result.coverage.filters) and not explain:
        say(f"note: only memos with: {'; '.join(result.coverage.filters)}")
    answer("\n\n".join(_shown(result, explain=explain)))


def _shown(result: SearchResult, *, explain: bool) -> list[str]:
    if not result.hits:
        nearest = "; ".join(f"#{hit.memo_id} {hit.title[:40]}" for hit in result.nearest)
        unmet = f" No memo has: {', '.join(result.coverage.unmet)}." if result.coverage.unmet else ""
        if result.coverage.filters and not result.coverage.memos_searched:
            return [f"No memo meets: {'; '.join(result.coverage.filters)}.", *([_searched(result)] if explain else [])]
        shown = [
            f"Nothing found for {result.query.text[:_LONGEST_ECHO]!r}.{unmet}"
            + (f" Nearest, but too far off: {nearest}" if nearest else "")
        ]
    else:
        shown = []
    for number, hit in enumerate(result.hits, 1):
        title = "" if hit.excerpt.startswith(hit.title) else f" · {hit.title[:60]}"
        head = f"{number}. #{hit.memo_id} · {LABEL_NAMES[hit.label]}{title}"
        body = "\n".join(f"   {line}" for line in hit.excerpt.split("\n"))
        where = f"   {hit.note}" + (f"#^{hit.anchor}" if hit.anchor else "")
        copies = [f"   the same: {', '.join(f'#{memo_id}' for memo_id in hit.copies)}"] if hit.copies else []
        why = _why(hit) if explain and result.query.topic else []
        shown.append("\n".join([head, body, *shown_gist(hit), where, *copies, *why]))
    return shown + ([_searched(result)] if explain else [])


def shown_gist(hit: Hit) -> list[str]:
    """What the memo says in a sentence, and where it comes from; each only where the excerpt does not show it."""
    summary = [f"   also: {hit.summary}"] if hit.summary and not is_from(hit.summary, hit.excerpt) else []
    is_seen = hit.source == hit.url or hit.source in hit.excerpt
    return summary if is_seen else [*summary, f"   source: {hit.source}"]


def _why(hit: Hit) -> list[str]:
    """How the score came about, and which variants stand in the memo."""
    parts = " ".join(f"{'-' if worth < 0 else '+'} {name} {abs(worth):.3f}" for name, worth in hit.why.items())
    likeness = "no vector" if hit.cosine is None else f"likeness {hit.cosine:.3f}"
    families: dict[str, list[str]] = {}
    for variant in hit.met:
        families.setdefault(variant.family, []).append(variant.text)
    met = "; ".join(f"{family}: {', '.join(texts)}" for family, texts in families.items())
    return [f"   score {hit.score:.3f} = {parts.removeprefix('+ ')} ({likeness})", f"   met {met or 'no variant whole'}"]


def _searched(result: SearchResult) -> str:
    coverage = result.coverage
    searched = (
        f"Searched {coverage.memos_searched} of {coverage.memos} memos; {coverage.chunks_with_vector} of {coverage.chunks} chunks"
        f" have vectors ({coverage.model}); synced {coverage.checked_at or 'never'}."
    )
    found = (
        f"Found {coverage.found}: {coverage.keyword_memos} by words, {coverage.semantic_memos} by meaning, {coverage.both_memos}"
        f" by both; {coverage.copies} copies folded; {coverage.left_out} with a word of the question left out as too far off."
    )
    filters = [f"Only memos with: {'; '.join(coverage.filters)}."] if coverage.filters else []
    tried = [f"  {v.text} ({v.family}, {v.weight}): {_memos(v.memos)}; {v.reason}" for v in coverage.variants]
    return "\n".join([searched, found, *filters, *(["Tried:"] if tried else []), *tried])


def _memos(count: int) -> str:
    return "1 memo" if count == 1 else f"{count} memos"
