"""``vaultbrain bench``: how well this installation finds, in figures."""

from __future__ import annotations

import json
import os
import sys
import time
import unicodedata
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import JsonOption, answer, answer_json, on_terminal, say, stopping
from vaultbrain.errors import Interrupted, UsageProblem, WriteFailed
from vaultbrain.wiring import open_brain_anywhere
from vaultbrain.words import counted, spoken_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from vaultbrain.bench.run import BenchResult, Figures, MeasuredSet
    from vaultbrain.bench.utterances import GateFigures, QueryFigures, WrongQuery

CHANNELS = ("hybrid", "keyword", "semantic")
#: As ``retrieve.search.INGREDIENTS``, which is not imported for every ``--help``; a test holds them equal.
INGREDIENTS = (
    "lexicon", "dictionary", "whole question", "wide vector", "translated vector", "other region", "as typed", "relations",
    "rerank", "copies",
)  # fmt: skip


_STAGES = {
    "memos": "documents read",
    "gists": "documents summed up",
    "chunks": "documents cut",
    "vectors": "vectors",
    "queries": "queries asked",
}
#: Seconds between two drawings of the line that says how far it is.
_REDRAW_S = 0.2

_HEAD = ("", "queries", "nDCG@10", "", "MRR@10", "R@10", "R@50")
_GAP = "  "


def register(app: typer.Typer) -> None:
    app.command("bench", epilog="Example: vaultbrain bench judged.json --run-out run.json")(bench)


def bench(
    sets: Annotated[
        list[Path], typer.Argument(metavar="SET...", help="Files or folders with documents, queries and judgements.")
    ],
    vault: Annotated[
        str | None,
        typer.Option("--vault", metavar="PATH", help="The vault whose settings count; default: the nearest upwards, else none."),
    ] = None,
    channel: Annotated[
        str, typer.Option("--channel", metavar="|".join(CHANNELS), help="Search by words, by meaning, or both.")
    ] = "hybrid",
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", metavar="PART", help=f"Leave a part of the search out, to see what it brings: {', '.join(INGREDIENTS)}."
        ),
    ] = None,
    run_out: Annotated[
        Path | None,
        typer.Option(
            "--run-out",
            metavar="FILE",
            help="Write what was found: query id to document ids, best first. With several sets a folder, one file for each.",
        ),
    ] = None,
    cache_dir: Annotated[
        Path | None,
        typer.Option("--cache-dir", metavar="DIR", help="Where vectors are kept for the next run; default: the user's cache."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how well this installation finds, on queries whose answers are known.

    A SET is a JSON file, {"documents": [{"id", "text"}], "queries": [{"id", "text", "relevant", "kind"}]}, or a folder with
    memos.json as the server sends it and queries.json, a list of such queries. In a file, "documents_from" may name another
    set or a CFlow export beside it instead. "relevant" is a list of document ids, or an object of id and grade (2 answers
    the query, 1 is related); it is empty when nothing answers the query. "kind" is any word to group queries by; it may be left
    out.

    A folder may also hold judged utterances: gate.json, a list of {"id", "text", "recall"}, and query_generation.json, a list
    of {"id", "text", "must", "must_not", "max_terms"}. They measure whether recall is right to look something up, and which
    words it searches; what was decided wrongly is listed.

    Each set is indexed in a temporary folder and searched as vaultbrain search does, with the settings of the vault; the vault
    and its index are not touched. Figures are means over the queries that have an answer; behind nDCG@10 stands its 95 %
    interval. Times are of the search alone; what the model needs for a query stands apart.
    """
    if channel not in CHANNELS:
        raise UsageProblem(what=f"--channel {channel} is not known.", next=f"Use one of: {', '.join(CHANNELS)}")
    if unknown := [part for part in without or () if part not in INGREDIENTS]:
        raise UsageProblem(what=f"--without {unknown[0]} is not known.", next=f"Use some of: {', '.join(INGREDIENTS)}")
    files = _run_files(run_out, sets) if run_out else []
    result = _measure(sets, vault, channel, without or (), cache_dir)
    for path, one in zip(files, result.sets, strict=bool(files)):
        _write_whole(path, json.dumps(one.run, ensure_ascii=False))
    for one in result.sets:
        for shortcoming in one.shortcomings:
            say(f"note: {one.name}: {shortcoming}")
    if as_json:
        answer_json(result.as_json())
    else:
        answer("\n\n".join([*map(_shown, result.sets), *([_shown_mean(result)] if len(result.sets) > 1 else [])]))


def _measure(
    sets: Sequence[Path], vault: str | None, channel: str, without: Sequence[str], cache_dir: Path | None
) -> BenchResult:
    brain = open_brain_anywhere(vault)
    with stopping() as should_stop, _StatusLine() as progress:
        try:
            return brain.bench(
                sets,
                channel=channel,
                without=without,
                cache_dir=cache_dir.expanduser() if cache_dir else None,
                progress=progress,
                should_stop=should_stop,
                notice=lambda text: say(f"note: {text}"),
            )
        except Interrupted as error:  # whose words are of a sync
            raise KeyboardInterrupt from error


# the figures written to a file


def _run_files(run_out: Path, sets: Sequence[Path]) -> list[Path]:
    """Where each set's run goes. Looked at before minutes are spent on measuring."""
    run_out = run_out.expanduser()
    if len(sets) == 1:
        if run_out.is_dir() or not run_out.parent.is_dir():
            raise UsageProblem(what=f"--run-out {run_out} cannot be a file.", next="Name a file in a folder that exists.")
        return [run_out]
    files = [run_out / f"{path.resolve().stem}.json" for path in sets]
    if run_out.is_file() or not run_out.parent.is_dir():
        raise UsageProblem(what=f"--run-out {run_out} cannot be a folder.", next="Of several sets, name a folder.")
    if len(set(files)) < len(files):
        raise UsageProblem(what="Two sets have the same file name.", next="Measure them one by one, or rename one.")
    return files


def _write_whole(path: Path, text: str) -> None:
    """The file is the old one or the new one at any time."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise WriteFailed(path=path, reason=error.strerror or type(error).__name__) from error


# the figures shown


def _shown(measured: MeasuredSet) -> str:
    rows = [_HEAD, *(_row(kind, figures) for kind, figures in measured.by_kind().items()), _row("all", measured.figures())]
    head = f"{measured.name} ({counted(measured.documents, 'document')}, {measured.channel}, {measured.model})"
    return "\n".join([head, *_aligned(rows), *_said_nothing(measured), _shown_times(measured), *_shown_recall(measured)])


def _row(name: str, figures: Figures) -> tuple[str, ...]:
    ndcg, *others = (f"{value:.4f}" for value in figures.means)
    return (name, str(figures.queries), ndcg, f"[{figures.low[0]:.4f}, {figures.high[0]:.4f}]", *others)


def _said_nothing(measured: MeasuredSet) -> list[str]:
    none = measured.none()
    wrongly = f"wrongly in {none['wrongly_abstained']} of {none['answerable']}"
    if none["queries"]:
        return [f"nothing found: in {none['abstained']} of {none['queries']} queries without an answer; {wrongly}"]
    return [f"nothing found: {wrongly}"] if none["wrongly_abstained"] else []


def _shown_times(measured: MeasuredSet) -> str:
    times = measured.times()
    model = times["model_ms_per_query"]
    apart = "; query vectors were known" if model is None else f"; the model {model:.1f} ms more"
    spread = f"median {times['ms_p50']:.1f}, 95 % below {times['ms_p95']:.1f}"
    return f"time: {times['ms_per_query']:.1f} ms a query ({spread}){'' if measured.channel == 'keyword' else apart}"


def _shown_recall(measured: MeasuredSet) -> list[str]:
    """Of judged utterances, where there are any."""
    figures = measured.recall
    return [*_shown_gate(figures.gate), *_shown_queries(figures.query, figures.query_without_memos)] if figures else []


def _shown_gate(gate: GateFigures | None) -> list[str]:
    if not gate:
        return []
    rates = f"precision {_rate(gate.precision)}, recall {_rate(gate.recall)}"
    ids = [("let through wrongly", gate.false_mentions), ("missed", gate.missed)]
    return [
        f"recall gate: {rates} ({counted(gate.n, 'text')})",
        *(f"{_GAP}{said}: {', '.join(found)}" for said, found in ids if found),
    ]


def _shown_queries(query: QueryFigures | None, without_memos: QueryFigures | None) -> list[str]:
    if not (query and without_memos):
        return []
    rows = [_GAP + _shown_wrong(name, found) for name, found in query.wrong.items()]
    longest = f"{counted(query.most_terms, 'term')} at most"
    too_long = [f"{_GAP}too long: {', '.join(query.too_long)}"] if query.too_long else []
    right = f"{query.all_kept_none_left} of {query.n} right, {without_memos.all_kept_none_left} without the memos"
    return [f"short queries: {right}; {longest}", *too_long, *rows]


def _shown_wrong(name: str, found: WrongQuery) -> str:
    lost, left = (f"; {said} {', '.join(words)}" if words else "" for said, words in (("lost", found.lost), ("left", found.left)))
    return f"{name}: {' '.join(found.query)}{lost}{left}"


def _rate(share: float | None) -> str:
    return "none" if share is None else f"{share:.4f}"


def _shown_mean(result: BenchResult) -> str:
    means = [f"{value:.4f}" for value in result.means()]
    return "\n".join(_aligned([_HEAD[:3] + _HEAD[4:], (f"mean of {len(result.sets)} sets", "", *means)]))


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest cell; a Chinese character is two wide. The first is aligned left, figures right."""
    widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(_padded(cell, width, is_left=not place) for place, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]


def _padded(cell: str, width: int, *, is_left: bool) -> str:
    space = " " * (width - _columns(cell))
    return cell + space if is_left else space + cell


def _columns(text: str) -> int:
    """How many columns of a terminal ``text`` fills."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class _StatusLine:
    """One line on a terminal, drawn over itself: the set, how far it is, and how long it will take at the rate so far."""

    def __init__(self) -> None:
        self._is_shown = on_terminal(sys.stderr)
        self._doing = ("", "")
        self._began_at = self._drawn_at = 0.0
        self._began_with = 0

    def __enter__(self) -> _StatusLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._drawn_at:
            self._draw("")

    def __call__(self, set_name: str, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self._doing != (set_name, stage):
            self._doing, self._began_at, self._began_with = (set_name, stage), now, done
        if self._is_shown and now - self._drawn_at >= _REDRAW_S:
            self._drawn_at = now
            self._draw(f"{done} of {total} {_STAGES[stage]}{self._left(now, done, total)} ({set_name})")

    def _left(self, now: float, done: int, total: int) -> str:
        if done <= self._began_with or now - self._began_at < 1:
            return ""
        return f", about {spoken_time((total - done) * (now - self._began_at) / (done - self._began_with))} left"

    def _draw(self, text: str) -> None:
        width = get_terminal_size().columns - 1  # a full line would begin the next one
        while _columns(text) > width:
            text = text[:-1]
        sys.stderr.write(f"\r{_padded(text, width, is_left=True)}\r{text}")
        sys.stderr.flush()
