"""The first layer of the recall gate: is what a person is writing worth a look-up in their memos?

Decides by a small sum. The text is folded, pastes and log lines are taken out by their shape (``shapes``), and what is quoted
or told of others is set aside. Each sentence, alone and together with the one before it, then collects the classes of wording
it has (``cues``): needs, leanings, the collected areas it names, moods, and what settles it against a look-up. The best
sentence decides; those near the end count in full. Silence is the default: a text without a need scores nothing.

Pure and deterministic. Refuses to look into the memos, and to know what was decided before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.recall.areas import Areas, found_in
from vaultbrain.recall.cues import (
    AGAINST,
    AREA,
    AREA_WEIGHT,
    GIVEN_TEXT,
    LEANINGS,
    MOODS,
    NEEDS,
    REPORTS,
    THRESHOLD,
    Side,
    compiled,
)
from vaultbrain.recall.shapes import is_binary, prose_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vaultbrain.recall.cues import Cue

#: Characters. What is longer is a document, not something being written just now.
MAX_CHARS = 20_000
#: Characters from the end that are read: a thought that long is over.
_READ_CHARS = 900
#: Sentences from the end that count in full, and what one further up has to have more.
_NEAR_THE_END = 3
_FAR_WEIGHT = -0.2
#: Sentences from the end that are read at all.
_MOST_SENTENCES = 12
#: Characters of one sentence that are read: nobody writes longer ones.
_SENTENCE_CHARS = 240
#: Characters of the words shown in a reason.
_SHOWN_CHARS = 24

_SENTENCE = re.compile(r"[^。!?\n;]*?(?:[。!?\n;]+|\.{2,}|(?<![\d.])\.(?=\s|$)|$)")
#: What may end a sentence and says nothing; a question mark does.
_STOPS = "。!;.~, \n"
_QUOTED = re.compile(r"「[^」]*」|『[^』]*』|“[^”]*”|‘[^’]{4,}’|《[^》]*》|\"[^\"\n]*\"")
#: A Chinese character counts as half a word: most words have two.
_SHORT_WORDS = 4
_WORD = re.compile(r"[\u3400-\u9fff]{1,2}|[a-z0-9'-]+")
_LETTER = re.compile(r"[a-z0-9\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Decision:
    """``recall`` holds if the weights of ``features`` add up to ``cues.THRESHOLD``; ``reasons`` says the same in words."""

    recall: bool
    reasons: tuple[str, ...]
    features: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class _Finding:
    """One class of wording with the words that showed it."""

    name: str
    side: Side
    weight: float
    words: str

    def reason(self) -> str:
        words = self.words.strip(" ,.?!。:;") or self.words
        shown = words if len(words) <= _SHOWN_CHARS else words[:_SHOWN_CHARS].rstrip() + "…"
        return f'{self.name}: "{shown}"'


def decide(text: str, areas: Areas = Areas()) -> Decision:  # noqa: B008  a frozen value
    """Whether ``text`` is worth a look-up, and what spoke for and against it."""
    if not text.strip():
        return Decision(False, ("nothing is written",))
    if len(text) > MAX_CHARS:
        return Decision(False, (f"longer than a passage: {len(text)} characters",))
    if is_binary(text[-_READ_CHARS:]):
        return Decision(False, ("not a text",))
    prose = prose_of(fold(text[-_READ_CHARS:]))
    own = "\n".join(prose.lines)
    if not _LETTER.search(own):
        return Decision(False, tuple(_shape_reasons(prose.pasted, prose.logged)) or ("no words",))
    best = _best(_candidates(own, areas))
    return _decided(best, tuple(_shape_reasons(prose.pasted, prose.logged)))


def _decided(findings: tuple[_Finding, ...], shapes: tuple[str, ...]) -> Decision:
    recall = _sum(findings) >= THRESHOLD
    shown = [finding.reason() for finding in findings if (finding.weight > 0) == recall]
    weak = [] if recall or shown else [finding.reason() + " alone is too little" for finding in findings]
    reasons = tuple(shown or weak) + (() if recall else shapes)
    return Decision(recall, reasons or ("no need is spelled out",), tuple((finding.name, finding.weight) for finding in findings))


def _shape_reasons(pasted: tuple[str, ...], logged: tuple[str, ...]) -> Iterator[str]:
    if pasted:
        yield _Finding("paste", Side.AGAINST, 0.0, pasted[0]).reason()
    if logged:
        yield _Finding("log line", Side.AGAINST, 0.0, logged[0]).reason()


def _sum(findings: Iterable[_Finding]) -> float:
    return round(sum(finding.weight for finding in findings), 6)


def _best(candidates: Iterable[tuple[_Finding, ...]]) -> tuple[_Finding, ...]:
    """The findings with the greatest sum; of equals those with more to say, then the later ones."""
    return max(enumerate(candidates), key=lambda each: (_sum(each[1]), len(each[1]), each[0]), default=(0, ()))[1]


def _candidates(own: str, areas: Areas) -> Iterator[tuple[_Finding, ...]]:
    """What each sentence has, alone and together with the sentence before it."""
    before = _Marks("", Areas(()))
    sentences = _sentences(_set_aside(own))
    for place, sentence in enumerate(sentences):
        marks = _Marks(sentence, areas)
        far = len(sentences) - place > _NEAR_THE_END
        if not place or _stands_alone(sentence):
            yield _findings(marks, far=far)
        if place:
            yield _findings(before, marks, far=far)
        before = marks


def _stands_alone(sentence: str) -> bool:
    """Whether it says by itself what it is about; "how is that done?" goes with what was said before."""
    return len(_WORD.findall(sentence)) > _SHORT_WORDS


def _sentences(own: str) -> list[str]:
    found = [sentence.strip().rstrip(_STOPS)[-_SENTENCE_CHARS:] for sentence in _SENTENCE.findall(own)]
    return [sentence for sentence in found if _LETTER.search(sentence)][-_MOST_SENTENCES:]


def _set_aside(own: str) -> str:
    """Without what is quoted, given to be translated or corrected, or told of others: none of it is the writer's own need."""
    given = compiled(GIVEN_TEXT).search(own)
    if given:
        own = own[: given.end()]
    unquoted = _QUOTED.sub("□", own)
    own = unquoted if _LETTER.search(unquoted) else own
    return "\n".join(compiled(REPORTS).sub(_opening_mark, line) for line in own.split("\n"))


def _opening_mark(report: re.Match[str]) -> str:
    """The comma or stop before a report stays, so that what stands around it does not run together."""
    first = report.group(0)[0]
    return first if first in ",:。!?;." else ""


class _Marks:
    """The wordings found in one sentence, looked up when they are asked for: most sentences have none that need more."""

    def __init__(self, sentence: str, areas: Areas) -> None:
        self.sentence = sentence
        self.areas = ", ".join(found_in(areas, sentence))
        self._words: dict[str, str | None] = {}

    def words(self, cue: Cue) -> str | None:
        if cue.name not in self._words:
            self._words[cue.name] = cue.search(self.sentence)
        return self._words[cue.name]


def _findings(*marks: _Marks, far: bool) -> tuple[_Finding, ...]:
    named = ", ".join(filter(None, (each.areas for each in marks)))
    found = [_Finding(AREA, Side.LEAN, AREA_WEIGHT, named)] if named else []
    _add(found, NEEDS, marks)
    _add(found, LEANINGS, marks)
    if far and _sum(found) < THRESHOLD:
        return tuple(found)
    if not any(finding.side is Side.NEED for finding in found):
        _add(found, MOODS, marks)
    _add(found, AGAINST, marks)
    if far:
        found.append(_Finding("stands far from the end", Side.AGAINST, _FAR_WEIGHT, marks[-1].sentence))
    return tuple(found)


def _add(found: list[_Finding], cues: tuple[Cue, ...], marks: tuple[_Marks, ...]) -> None:
    """Adds those of ``cues`` that the sentences have, in their order: a class may need one that was found before it."""
    for cue in cues:
        if cue.beside and all(finding.name != cue.beside for finding in found):
            continue
        words = [each for each in (mark.words(cue) for mark in marks) if each is not None]
        if words:
            found.append(_Finding(cue.name, cue.side, cue.weight, words[-1]))
