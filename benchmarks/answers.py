"""How good answer notes are on a judged set: links, excerpts, sources, themes, silence where nothing answers, and time.

    python benchmarks/answers.py path/to/set --process

The set is a folder with ``memos.json`` and ``queries.json``, as ``vaultbrain bench`` reads it. A vault is made of it in a
temporary folder, or in ``--vault`` once and used again from then on; every query is asked as a person asks, so that each leaves
a note. What a note claims is checked by the reader of vaults in ``tests/obsidian.py``, which shares nothing with the product.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from figures import share, times  # noqa: E402
from obsidian import Vault, as_read  # noqa: E402

from vaultbrain.bench.judged import JudgedQuery, read_judged_set  # noqa: E402
from vaultbrain.settings import SETTINGS_FILE  # noqa: E402
from vaultbrain.wiring import Brain, open_brain  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from obsidian import Note

    from vaultbrain.answer.ask import Asked

VAULTBRAIN = ("-c", "from vaultbrain.cli.main import run; run()")
#: The grade of a memo that answers by itself; and how many sources are looked at.
DIRECT, FIRST = 2, 10
#: An answer with so many sources should have from two to six themes.
MANY_SOURCES = 6
FEWEST_THEMES, MOST_THEMES = 2, 6
#: Runs of a whole process, of which the median counts.
RUNS = 5
#: Queries that miss most, as shown without ``--json``.
SHOWN_MISSES = 10


@dataclass(frozen=True, slots=True)
class Answered:
    """One query and the note that came of it. ``seconds`` are of the call alone; ``copies`` are named with the first sources."""

    query: JudgedQuery
    asked: Asked
    seconds: float

    @property
    def sources(self) -> list[str]:
        return [source["memo_id"] for source in self.asked.as_json["sources"]]

    @property
    def copies(self) -> set[str]:
        return {copy for hit in self.asked.result.hits[:FIRST] for copy in hit.copies}

    @property
    def direct(self) -> set[str]:
        return {memo_id for memo_id, grade in self.query.grades.items() if grade >= DIRECT}

    @property
    def missing(self) -> set[str]:
        return self.direct - set(self.sources[:FIRST])

    @property
    def theme_sizes(self) -> list[int]:
        return [len(theme["memo_ids"]) for theme in self.asked.as_json["themes"]]


def make_vault(judged: Path, folder: Path) -> Path:
    """A vault of the set's memos below ``folder``, if there is none yet; synced."""
    vault = folder / "vault"
    if not (vault / SETTINGS_FILE).exists():
        vault.mkdir(parents=True)
        shutil.copyfile(judged / "memos.json", folder / "export.json")
        settings = 'source = "../export.json"\nstate_dir = "../state"\ntimezone = "UTC"\n'
        (vault / SETTINGS_FILE).write_text(settings, encoding="utf-8")
    open_brain(vault).sync()
    return vault


def ask_all(brain: Brain, queries: Sequence[JudgedQuery]) -> list[Answered]:
    brain.search(queries[0].text)  # the model is loaded, and the vectors are
    answered = []
    for query in queries:
        begun = time.perf_counter()
        asked = brain.ask(query.text)
        answered.append(Answered(query, asked, time.perf_counter() - begun))
    return answered


def check_notes(vault: Vault, answered: Sequence[Answered]) -> dict[str, Any]:
    """What the written notes claim and what of it holds. A source without a quote in the note counts as one that does not."""
    notes = [vault.notes[item.asked.path] for item in answered if item.asked.path]
    links = [leads_somewhere(vault, note, n) for note in notes for n in range(len(note.links))]
    quotes = [(excerpt, vault.block_text(excerpt.target, excerpt.anchor)) for note in notes for excerpt in vault.excerpts(note)]
    sources = sum(len(item.sources) for item in answered)
    paths = tuple(f"{note.path}:" for note in notes)
    return {
        "notes": len(notes),
        "problems": [problem for problem in vault.problems() if problem.startswith(paths)],
        "links": len(links),
        "links_resolve": sum(links),
        "sources": sources,
        "sources_with_block": sum(bool(source["anchor"]) for item in answered for source in item.asked.as_json["sources"]),
        "excerpts": max(sources, len(quotes)),
        "excerpts_verbatim": sum(block is not None and stands_in(excerpt.text, block) for excerpt, block in quotes),
    }


def leads_somewhere(vault: Vault, note: Note, number: int) -> bool:
    link = note.links[number]
    path = vault.resolve(note, link.path)
    target = vault.notes.get(path) if path else None
    if target is None or not link.subpath:
        return path is not None
    return target.anchor(link.anchor) is not None if link.anchor else target.has_heading(link.subpath)


def stands_in(excerpt: str, block: str) -> bool:
    shown = as_read(block)
    rows = [as_read(row).strip("… ") for row in excerpt.split("\n")]
    return any(rows) and all(row in shown for row in rows)


def measure_sources(answered: Sequence[Answered]) -> dict[str, Any]:
    """The share of the memos that answer directly among the first sources, over all queries together (micro).

    ``recall_capped``: of as many as the first sources have room for; ``..._with_copies``: a memo that is named as the copy of a
    source is found, too. ``queries`` lists those that miss any, the worst first.
    """
    judged = [item for item in answered if item.direct]
    found = sum(len(item.direct) - len(item.missing) for item in judged)
    with_copies = sum(min(FIRST, len(item.direct - (item.missing - item.copies))) for item in judged)
    room = sum(min(FIRST, len(item.direct)) for item in judged)
    missed = sorted(judged, key=lambda item: (len(item.direct) - min(FIRST, len(item.direct)) - len(item.missing), item.query.id))
    return {
        "direct_memos": sum(len(item.direct) for item in judged),
        "room": room,
        "found": found,
        "recall_capped": found / room,
        "recall_capped_with_copies": with_copies / room,
        "recall": found / sum(len(item.direct) for item in judged),
        "mean_sources": statistics.fmean(len(item.sources) for item in judged),
        "not_judged_relevant": sum(memo_id not in item.query.grades for item in judged for memo_id in item.sources),
        "queries": [
            {"id": item.query.id, "text": item.query.text, "direct": len(item.direct), "missing": sorted(item.missing)}
            for item in missed
            if len(item.direct) - len(item.missing) < min(FIRST, len(item.direct))
        ],
    }


def measure_themes(answered: Sequence[Answered]) -> dict[str, Any]:
    """Of notes with many sources, how many have neither one theme nor a heap of them; and themes of a single memo."""
    many = [item for item in answered if len(item.sources) >= MANY_SOURCES]
    sizes = [size for item in answered if len(item.theme_sizes) > 1 for size in item.theme_sizes]
    return {
        "notes_with_many_sources": len(many),
        "with_good_number": sum(_is_good(len(item.theme_sizes)) for item in many),
        "others": [f"{item.query.text}: {len(item.theme_sizes)}" for item in many if not _is_good(len(item.theme_sizes))],
        "themes_beside_others": len(sizes),
        "themes_of_one": sizes.count(1),
    }


def _is_good(themes: int) -> bool:
    return FEWEST_THEMES <= themes <= MOST_THEMES


def measure_silence(answered: Sequence[Answered]) -> dict[str, Any]:
    """Whether nothing was said to be found exactly where nothing answers."""
    unanswerable = [item for item in answered if not item.query.grades]
    answerable = [item for item in answered if item.query.grades]
    return {
        "unanswerable": len(unanswerable),
        "rightly_nothing": sum(not item.sources for item in unanswerable),
        "answered_all_the_same": [f"{item.query.text}: {len(item.sources)} sources" for item in unanswerable if item.sources],
        "answerable": len(answerable),
        "wrongly_nothing": [item.query.text for item in answerable if not item.sources],
    }


def measure_seconds(answered: Sequence[Answered]) -> dict[str, float]:
    spent = sorted(item.seconds for item in answered)
    return {"median": statistics.median(spent), "p95": spent[int(len(spent) * 0.95)], "max": spent[-1]}


def measure_processes(vault: Path, question: str) -> dict[str, float]:
    """Medians of whole processes in seconds; the three take turns, because a shared machine is never the same twice."""
    commands = {
        "ask": [*VAULTBRAIN, "ask", question, "--vault", str(vault.resolve())],
        "version": [*VAULTBRAIN, "--version"],
        "python": ["-c", "pass"],
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            begun = time.perf_counter()
            subprocess.run([sys.executable, *command], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
            spent[name].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in spent.items()}


def shown(figures: dict[str, Any]) -> list[str]:
    lines = [*_shown_notes(figures["notes"]), *_shown_sources(figures["sources"]), *_shown_themes(figures["themes"])]
    lines += [*_shown_silence(figures["silence"]), f"an ask, in process     {times(figures['seconds'])}"]
    if "processes" in figures:
        lines.append(f"a whole process        {times(figures['processes'])}")
    lines += [f"problem: {problem}" for problem in figures["notes"]["problems"]]
    return lines + [
        f"misses {len(query['missing'])} of {query['direct']}: {query['text']} ({', '.join(query['missing'])})"
        for query in figures["sources"]["queries"][:SHOWN_MISSES]
    ]


def _shown_notes(notes: dict[str, Any]) -> list[str]:
    return [
        f"notes written          {notes['notes']}, problems in them: {len(notes['problems'])}",
        f"links that resolve     {share(notes['links_resolve'], notes['links'])}",
        f"excerpts verbatim      {share(notes['excerpts_verbatim'], notes['excerpts'])}",
        f"sources with a block   {share(notes['sources_with_block'], notes['sources'])}",
    ]


def _shown_sources(sources: dict[str, Any]) -> list[str]:
    return [
        f"direct memos found     {share(sources['found'], sources['room'])} among the first {FIRST} sources",
        f"    with their copies  {sources['recall_capped_with_copies']:.1%}",
        f"    of all of them     {sources['recall']:.1%} of {sources['direct_memos']}",
        f"sources of an answer   {sources['mean_sources']:.1f}; not judged relevant: {sources['not_judged_relevant']} in all",
    ]


def _shown_themes(themes: dict[str, Any]) -> list[str]:
    good = share(themes["with_good_number"], themes["notes_with_many_sources"])
    return [
        f"{FEWEST_THEMES} to {MOST_THEMES} themes          {good} of the notes with {MANY_SOURCES} or more sources",
        f"themes of one memo     {share(themes['themes_of_one'], themes['themes_beside_others'])}",
        *(f"    {other}" for other in themes["others"]),
    ]


def _shown_silence(silence: dict[str, Any]) -> list[str]:
    return [
        f"rightly nothing        {share(silence['rightly_nothing'], silence['unanswerable'])}",
        *(f"    {text}" for text in silence["answered_all_the_same"]),
        f"wrongly nothing        {share(len(silence['wrongly_nothing']), silence['answerable'])}",
        *(f"    {text}" for text in silence["wrongly_nothing"]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="folder with memos.json and queries.json")
    parser.add_argument("--vault", type=Path, metavar="FOLDER", help="where export, state and vault are kept for the next time")
    parser.add_argument("--process", action="store_true", help="also time whole processes")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    judged = read_judged_set(options.set)
    with ExitStack() as stack:
        folder = options.vault or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        vault = make_vault(options.set, folder)
        answered = ask_all(open_brain(vault), judged.queries)
        figures = {
            "set": judged.name,
            "notes": check_notes(Vault.load(vault), answered),
            "sources": measure_sources(answered),
            "themes": measure_themes(answered),
            "silence": measure_silence(answered),
            "seconds": measure_seconds(answered),
        }
        if options.process:
            figures["processes"] = measure_processes(vault, judged.queries[0].text)
    print(json.dumps(figures, ensure_ascii=False, indent=2) if options.json else "\n".join(shown(figures)))


if __name__ == "__main__":
    main()
