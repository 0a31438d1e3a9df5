"""The first layer of the recall gate: is what a person is writing worth a look-up in their memos?

Decides by a small sum. The text is folded, pastes and log lines are taken out by their shape (``shapes``), and what is quoted
or told of others is set aside. Each sentence, alone and together with the one before it, then collects the classes of wording
it has (``cues``): needs, leanings, the collected areas it names, and what settles it against a look-up; and how it reads
with those that follow it (``reading``), which was learned from judged sentences and carries most where no class is met: from a
plain question (``cues.PLAIN``) it takes next to nothing. The best sentence decides; those near the end count in full.

Pure and deterministic. Refuses to look into the memos, and to know what was decided before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.recall.areas import Areas, found_in, masked
from vaultbrain.recall.cues import (
    AGAINST,
    ANSWERED,
    AREA,
    AREA_WEIGHT,
    FURTHER_NEED,
    GIVEN_TEXT,
    LEANINGS,
    NEEDS,
    PLAIN,
    PLAIN_FRAME,
    PLAIN_LEAST,
    READING,
    READS_LIKE_NEED,
    READS_LIKE_NOTE,
    REPORTS,
    THRESHOLD,
    Side,
    compiled,
)
from vaultbrain.recall.reading import AREA_MARK, score, strongest
from vaultbrain.recall.shapes import is_binary, prose_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vaultbrain.recall.cues import Cue

#: Characters. What is longer is a document, not something being written just now.
MAX_CHARS = 20_000
#: Characters from the end that are read: a thought that long is over.
_READ_CHARS = 900
#: Sentences from the end that count in full, and what one further up has to have more.
_NEAR_THE_END = 3
_FAR_WEIGHT = -0.2
#: Sentences from the end that are read at all.
_MOST_SENTENCES = 9
#: Characters of one sentence that are read: nobody writes longer ones.
_SENTENCE_CHARS = 240
#: Findings that hold the passage that was read; its words are looked up when they are shown.
_READINGS = frozenset({READS_LIKE_NEED, READS_LIKE_NOTE})
_NOTHING_SAID = "no need is spelled out"
#: Characters of the words shown in a reason.
_SHOWN_CHARS = 24

_SENTENCE = re.compile(r"[^。!?\n;]*?(?:[。!?\n;]+|\.{2,}|(?<![\d.])\.(?=\s|$)|$)")
#: What may end a sentence and says nothing; an exclamation mark says something of the mood, a question mark of the need.
_SILENT_STOPS = "。;.~, \n"
_STOPS = _SILENT_STOPS + "!"
_QUOTED = re.compile(r"「[^」]*」|『[^』]*』|“[^”]*”|‘[^’]{4,}’|《[^》]*》|\"[^\"\n]*\"")
#: A Chinese character counts as half a word: most words have two.
_SHORT_WORDS = 3
_WORD = re.compile(r"[\u3400-\u9fff]{1,2}|[a-z0-9'-]+")
_LETTER = re.compile(r"[a-z0-9\u3400-\u9fff]")
#: A word that a question may be about.
_SUBJECT = re.compile(r"[\u3400-\u9fff]|[a-z]{2,}")


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
        if self.name in _READINGS:
            words = "… ".join(strongest(self.words, needed=self.weight > 0))
            return f'{self.name}: "{words}"' if words else self.name
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
    if not recall and all(finding.name in _READINGS or finding.weight > 0 for finding in findings):
        weak = [finding.reason() + " alone is too little" for finding in findings if finding.weight > 0]
        shown = [*(weak or [_NOTHING_SAID]), *shown]
    reasons = tuple(shown) + (() if recall else shapes)
    return Decision(recall, reasons, tuple((finding.name, finding.weight) for finding in findings))


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
    """What each sentence has, alone and together with the sentence before it.

    It is read with those that follow: who asks and goes on to answer wants nothing.
    """
    marked = [_Marks(sentence, areas) for sentence in _sentences(own)]
    for place, marks in enumerate(marked):
        far = len(marked) - place > _NEAR_THE_END
        if not place or _stands_alone(marks.sentence):
            yield _findings((marks,), marked[place : place + _NEAR_THE_END], far=far)
        if place:
            yield _findings((marked[place - 1], marks), marked[place - 1 : place + _NEAR_THE_END], far=far)


def _stands_alone(sentence: str) -> bool:
    """Whether it says by itself what it is about; "how is that done?" goes with what was said before."""
    return len(_WORD.findall(sentence)) > _SHORT_WORDS


def _sentences(own: str) -> list[str]:
    found = [sentence.strip().rstrip(_SILENT_STOPS)[-_SENTENCE_CHARS:] for sentence in _SENTENCE.findall(_set_aside(own))]
    return [sentence for sentence in found if _LETTER.search(sentence)][-_MOST_SENTENCES:]


def own_words(text: str, areas: Areas) -> str:
    """What is read of a whole text: its last sentences, without pastes, records and reports."""
    own = "\n".join(prose_of(fold(text[-_READ_CHARS:])).lines)
    return _joined(masked(areas, each, AREA_MARK) for each in _sentences(own)[-_NEAR_THE_END:])


def _joined(sentences: Iterable[str]) -> str:
    return "。".join(filter(None, sentences))


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
        self.sentence = sentence.rstrip(_STOPS)
        self.areas = ", ".join(found_in(areas, sentence))
        self.masked = masked(areas, sentence, AREA_MARK)
        self._words: dict[str, str | None] = {}

    def words(self, cue: Cue) -> str | None:
        if cue.name not in self._words:
            self._words[cue.name] = cue.search(self.sentence)
        return self._words[cue.name]


def _findings(marks: Sequence[_Marks], passage: Sequence[_Marks], *, far: bool) -> tuple[_Finding, ...]:
    named = ", ".join(filter(None, (each.areas for each in marks)))
    found = [_Finding(AREA, Side.LEAN, AREA_WEIGHT, named)] if named else []
    _add(found, NEEDS, marks)
    _add(found, LEANINGS, marks)
    if far and _sum(found) < THRESHOLD:
        return tuple(found)
    _add(found, AGAINST, marks)
    read = _reading(_joined(each.masked for each in passage))
    plain = all(each.side is not Side.AGAINST for each in found) and _asks_plainly(marks[-1], passage[len(marks) :])
    found.append(replace(read, weight=max(read.weight, PLAIN_LEAST)) if plain else read)
    if far:
        found.append(_Finding("stands far from the end", Side.AGAINST, _FAR_WEIGHT, marks[-1].sentence))
    return tuple(found)


def _asks_plainly(marks: _Marks, after: Sequence[_Marks]) -> bool:
    """Whether it asks in so many words, of something ("how is that done?" says nothing by itself), and goes on unanswered."""
    if marks.words(PLAIN) is None or len(after) > 1 or any(compiled(ANSWERED).search(each.sentence) for each in after):
        return False
    return bool(_SUBJECT.search(compiled(PLAIN_FRAME).sub("", marks.sentence)))


@lru_cache(maxsize=32)
def _reading(passage: str) -> _Finding:
    weight = round(min(max(READING.slope * score(passage) + READING.start, READING.least), READING.most), 2)
    if weight > 0:
        return _Finding(READS_LIKE_NEED, Side.LEAN, weight, passage)
    return _Finding(READS_LIKE_NOTE, Side.AGAINST, weight, passage)


def _add(found: list[_Finding], cues: tuple[Cue, ...], marks: Sequence[_Marks]) -> None:
    """Adds those of ``cues`` that the sentences have, in their order: a class may need one that was found before it."""
    for cue in cues:
        if cue.beside and all(finding.name != cue.beside for finding in found):
            continue
        words = [each for each in (mark.words(cue) for mark in marks) if each is not None]
        if words:
            again = cue.side is Side.NEED and any(finding.side is Side.NEED for finding in found)
            found.append(_Finding(cue.name, cue.side, FURTHER_NEED if again else cue.weight, words[-1]))
