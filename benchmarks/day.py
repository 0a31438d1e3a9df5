"""How well recall behaves on a simulated day: mentions, false ones, missed ones, rightly kept silence, and time.

    python benchmarks/day.py path/to/memobench --worst

The memos are those of the judged set memobench; ``day_bursts.json`` beside this script says what a person adds to which note, one
burst after the other, and which memos they would be glad to be reminded of. A vault is made in a temporary folder (with
``--synced`` it is a copy of one that is made once), every burst is really written at the end of its note, and after each the
product is asked what it would mention. The limit of a day is lifted to measure the decisions; what the default limit would
have let through is counted from the same run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from figures import share, times  # noqa: E402

from vaultbrain.bench.judged import read_judged_set  # noqa: E402
from vaultbrain.settings import SETTINGS_FILE, Settings  # noqa: E402
from vaultbrain.wiring import Brain, open_brain  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BURSTS = Path(__file__).with_name("day_bursts.json")
#: As many mentions as a day has bursts: the limit never decides.
NO_LIMIT = 200
#: With ``--quick``, every so manieth note is written.
QUICK_STEP = 4
#: Of the mentions, so many should be right.
TARGET = 0.8
#: The second layer was tuned on the even ones (docs/recall.md).
HALVES = ("even", "odd")
#: Characters of a memo's title, where wrong ones are listed.
TITLE = 60


@dataclass(frozen=True, slots=True)
class Burst:
    """One row of ``day_bursts.json``, whose ``form`` explains the fields. ``is_need``: it is judged, if with no memo at all."""

    id: str
    note: str
    text: str
    kind: str
    query: str
    right: frozenset[str]
    is_need: bool
    is_again: bool

    @property
    def group(self) -> str:
        if not self.is_need:
            return "chatter"
        return "need, again" if self.is_again else "need, memos" if self.right else "need, no memo"


@dataclass(frozen=True, slots=True)
class Typed:
    """A burst, what came of it, and what would have been right: ``wanted`` is empty if the same need was answered before."""

    burst: Burst
    wanted: frozenset[str]
    shown: tuple[str, ...]
    reasons: tuple[str, ...]
    query: str
    passes_gate: bool
    seconds: float

    @property
    def right(self) -> list[str]:
        return [memo_id for memo_id in self.shown if memo_id in self.wanted]

    @property
    def false(self) -> list[str]:
        return [memo_id for memo_id in self.shown if memo_id not in self.wanted]

    @property
    def is_missed(self) -> bool:
        return bool(self.wanted) and not self.burst.is_again and not self.right

    @property
    def is_rightly_silent(self) -> bool:
        return not self.shown and not self.is_missed


def read_bursts(*, quick: bool = False) -> list[Burst]:
    rows = json.loads(BURSTS.read_text(encoding="utf-8"))["bursts"]
    bursts = [
        Burst(
            row["id"],
            row["note"],
            row["text"],
            row["kind"],
            row.get("query", ""),
            frozenset(row.get("right", ())),
            "right" in row,
            row.get("again", False),
        )
        for row in rows
    ]
    notes = list(dict.fromkeys(burst.note for burst in bursts))
    written = set(notes[::QUICK_STEP] if quick else notes)
    return [burst for burst in bursts if burst.note in written]


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


def type_all(brain: Brain, vault: Path, bursts: Sequence[Burst]) -> list[Typed]:
    brain.search(bursts[0].text)  # the model is loaded, and the vectors are
    answered: set[tuple[str, str]] = set()
    typed = []
    for burst in bursts:
        append(vault / burst.note, burst.text)
        need = (burst.note, burst.query)
        wanted: frozenset[str] = frozenset() if burst.is_again and need in answered else burst.right
        begun = time.perf_counter()
        outcome = brain.recall_note(burst.note, burst.text)
        spent = time.perf_counter() - begun
        decision, _ = brain.gate(burst.text)
        typed.append(Typed(burst, wanted, outcome.shown, outcome.reasons, outcome.query, decision.recall, spent))
        if burst.query and typed[-1].right:
            answered.add(need)
    return typed


def append(note: Path, text: str) -> None:
    note.parent.mkdir(parents=True, exist_ok=True)
    with note.open("a", encoding="utf-8") as file:
        file.write(("\n" if file.tell() else "") + text + "\n")


def measure(typed: Sequence[Typed]) -> dict[str, Any]:
    return {
        "all": count(typed),
        "groups": {name: count(rows) for name, rows in grouped(typed, lambda item: item.burst.group)},
        "kinds": {name: count(rows) for name, rows in grouped(typed, lambda item: item.burst.kind)},
        "gate": measure_gate(typed),
        "default_limit": measure_limited(typed, default_limit()),
        "seconds": measure_seconds(typed),
    }


def count(typed: Sequence[Typed]) -> dict[str, int]:
    """``mentions`` are memos; ``interruptions`` are bursts with any, of which ``annoying`` ones have no right memo."""
    return {
        "bursts": len(typed),
        "mentions": sum(len(item.shown) for item in typed),
        "right": sum(len(item.right) for item in typed),
        "false": sum(len(item.false) for item in typed),
        "interruptions": sum(bool(item.shown) for item in typed),
        "annoying": sum(bool(item.shown) and not item.right for item in typed),
        "missed": sum(item.is_missed for item in typed),
        "rightly_silent": sum(item.is_rightly_silent for item in typed),
    }


def grouped(typed: Sequence[Typed], name_of: Callable[[Typed], str]) -> list[tuple[str, list[Typed]]]:
    """In the order of the alphabet."""
    names = sorted({name_of(item) for item in typed})
    return [(name, [item for item in typed if name_of(item) == name]) for name in names]


def measure_gate(typed: Sequence[Typed]) -> dict[str, int]:
    """The first layer alone. It is right to let a need in that no memo answers: there the second layer has to be silent."""
    needs = [item for item in typed if item.burst.is_need]
    chatter = [item for item in typed if not item.burst.is_need]
    return {
        "needs": len(needs),
        "needs_passed": sum(item.passes_gate for item in needs),
        "chatter": len(chatter),
        "chatter_passed": sum(item.passes_gate for item in chatter),
    }


def default_limit() -> int:
    return next(int(str(field.default)) for field in fields(Settings) if field.name == "recall_per_day")


def measure_limited(typed: Sequence[Typed], limit: int) -> dict[str, int]:
    """What the first ``limit`` mentions of the day are; every memo counts as one."""
    first = [memo_id in item.wanted for item in typed for memo_id in item.shown][:limit]
    return {"limit": limit, "mentions": len(first), "right": sum(first)}


def measure_seconds(typed: Sequence[Typed]) -> dict[str, float]:
    spent = sorted(item.seconds for item in typed)
    return {"median": statistics.median(spent), "p95": spent[int(len(spent) * 0.95)], "max": spent[-1]}


def wrong_ones(typed: Iterable[Typed], titles: dict[str, str]) -> list[dict[str, Any]]:
    """False mentions first, then missed ones, each in the order of the day."""
    wrong = [item for item in typed if item.false or item.is_missed]
    return [
        {
            "id": item.burst.id,
            "wrong": "false" if item.false else "missed",
            "note": item.burst.note,
            "kind": item.burst.kind,
            "text": item.burst.text,
            "query": item.query,
            "passes_gate": item.passes_gate,
            "reasons": item.reasons,
            "false": {memo_id: titles[memo_id] for memo_id in item.false},
            "right": {memo_id: titles[memo_id] for memo_id in item.right},
            "wanted": {memo_id: titles[memo_id] for memo_id in sorted(item.wanted)},
        }
        for item in sorted(wrong, key=lambda item: (not item.false, item.burst.id))
    ]


def shown(figures: dict[str, Any]) -> list[str]:
    total, gate, limited = figures["all"], figures["gate"], figures["default_limit"]
    lines = [
        f"mentions right         {share(total['right'], total['mentions'])}, target {TARGET:.0%}",
        f"mentions false         {total['false']}",
        f"interruptions          {total['interruptions']} of {total['bursts']} bursts, with nothing right: {total['annoying']}",
        f"needs missed           {share(total['missed'], figures['groups'].get('need, memos', total)['bursts'])}",
        f"rightly silent         {total['rightly_silent']}",
        f"gate: needs let in     {share(gate['needs_passed'], gate['needs'])}",
        f"gate: chatter let in   {share(gate['chatter_passed'], gate['chatter'])}",
        f"with {limited['limit']} a day          {share(limited['right'], limited['mentions'])} right",
        f"a burst                {times(figures['seconds'])}",
        "",
        f"{'':16}bursts  right  false  missed  silent",
    ]
    return [*lines, *_table(figures["groups"]), "", *_table(figures["kinds"])]


def _table(counts: dict[str, dict[str, int]]) -> list[str]:
    return [
        f"{name:16}{row['bursts']:6}{row['right']:7}{row['false']:7}{row['missed']:8}{row['rightly_silent']:8}"
        for name, row in counts.items()
    ]


def shown_wrong(wrong: Sequence[dict[str, Any]]) -> list[str]:
    lines = []
    for row in wrong:
        gate = "let in" if row["passes_gate"] else "held"
        lines += [
            "",
            f"{row['wrong']} {row['id']} ({row['kind']}, {row['note']}), gate: {gate}",
            f"    text    {' / '.join(row['text'].split(chr(10)))}",
        ]
        lines += [f"    query   {row['query']}", *(f"    reason  {reason}" for reason in row["reasons"])]
        for part in ("false", "right", "wanted"):
            lines += [f"    {part:7} {memo_id} {title}" for memo_id, title in row[part].items()]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="the folder of memobench, with memos.json and queries.json")
    parser.add_argument("--synced", type=Path, metavar="FOLDER", help="where the synced vault is kept that every day begins with")
    parser.add_argument("--quick", action="store_true", help=f"only every {QUICK_STEP}th note")
    parser.add_argument("--half", choices=HALVES, help="count the bursts of even or of odd place only; all are written")
    parser.add_argument("--worst", action="store_true", help="also show every false and every missed mention")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    titles = {memo.id: memo.title[:TITLE] for memo in read_judged_set(options.set).memos}
    with tempfile.TemporaryDirectory() as scratch:
        day = Path(scratch) / "day"
        if options.synced:
            make_vault(options.set, options.synced)
            shutil.copytree(options.synced, day)
        vault = make_vault(options.set, day)
        typed = type_all(open_brain(vault, recall_per_day=NO_LIMIT), vault, read_bursts(quick=options.quick))
    if options.half:
        typed = typed[HALVES.index(options.half) :: 2]
    figures = measure(typed)
    wrong = wrong_ones(typed, titles) if options.worst else []
    if options.json:
        print(json.dumps({**figures, "wrong": wrong}, ensure_ascii=False, indent=2))
    else:
        print("\n".join([*shown(figures), *shown_wrong(wrong)]))


if __name__ == "__main__":
    main()
