"""The words of a mention, in the language and script of what is being written, and why it is relevant in concrete words.

Pure. One table; another language is one more column. Refuses to make anything safe for a note: that is for ``recall.note``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vaultbrain.index.tokens import is_cjk
from vaultbrain.vault.words_table import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaultbrain.recall.judge import Verdict

_TABLE: Final[dict[str, tuple[str, str, str]]] = {
    # a mention
    "one": ("你之前记过一条相关的", "你之前記過一條相關的", "You noted something on this before"),
    "another": ("还有一条也相关", "還有一條也相關", "One more that bears on it"),
    "chat_one": ("你之前 CFlow 里有条相关的：", "你之前 CFlow 裡有條相關的：", "You have something on this in CFlow:"),
    "chat_two": ("你之前 CFlow 里有两条相关的：", "你之前 CFlow 裡有兩條相關的：", "You have two memos on this in CFlow:"),
    "nothing": (
        "CFlow 里没有值得在这里提起的内容。",
        "CFlow 裡沒有值得在這裡提起的內容。",
        "Nothing in CFlow is worth a mention here.",
    ),
    "colon": ("：", "：", ": "),
    "why": ("为什么相关", "為什麼相關", "Why relevant"),
    "source": ("原文", "原文", "Source"),
    "useful": ("有用", "有用", "Useful"),
    "dismissed": ("不要再提这条", "不要再提這條", "Do not bring this up again"),
    # why it is relevant
    "because": ("{doing}，这条里有{gives}。", "{doing}，這條裡有{gives}。", "{doing}; this memo has {gives}."),
    "comparison": ("你正在比较{subject}", "你正在比較{subject}", "You are comparing {subject}"),
    "priority": ("你正在给{subject}排先后", "你正在給{subject}排先後", "You are deciding what comes first with {subject}"),
    "decision": ("你正在考虑{subject}怎么定", "你正在考慮{subject}怎麼定", "You are making up your mind about {subject}"),
    "cases": ("你正在找{subject}的例子", "你正在找{subject}的例子", "You are looking for examples of {subject}"),
    "next step": ("你正在想{subject}的下一步", "你正在想{subject}的下一步", "You are working out the next step with {subject}"),
    "method": ("你正在找{subject}的做法", "你正在找{subject}的做法", "You are asking how to go about {subject}"),
    "context": ("你正在整理{subject}的头绪", "你正在整理{subject}的頭緒", "You are sorting out {subject}"),
    "earlier notes": (
        "你想找以前关于{subject}的记录",
        "你想找以前關於{subject}的記錄",
        "You are looking for what you noted on {subject}",
    ),
    "area": ("你正在写和{subject}有关的内容", "你正在寫和{subject}有關的內容", "You are working on {subject}"),
    "this": ("这件事", "這件事", "this"),
    "steps": ("步骤", "步驟", "the steps"),
    "commands": ("可以直接用的命令", "可以直接用的指令", "commands ready to use"),
    "list": ("几个要点", "幾個要點", "key points"),
    "case": ("实际试过的结果", "實際試過的結果", "how it turned out"),
    "numbers": ("具体的数字", "具體的數字", "concrete numbers"),
    "advice": ("明确的建议", "明確的建議", "definite advice"),
    "link": ("原文链接", "原文連結", "a link to the source"),
    "opinion": ("你当时的看法", "你當時的看法", "what you thought then"),
    "and": ("和", "和", " and "),
}  # fmt: skip

#: What helps most with what is asked, before the rest in its order.
_WANTED: Final[dict[str, tuple[str, ...]]] = {
    "comparison": ("case", "numbers"),
    "decision": ("case", "numbers"),
    "cases": ("case", "numbers", "link"),
    "priority": ("steps", "advice"),
    "method": ("steps", "commands", "list"),
    "next step": ("steps", "commands", "advice"),
}
#: Things that a memo gives, and words of the subject, that a sentence names.
_MOST_NAMED = 2
#: Words of the subject without which nobody can be said to do it.
_LEAST_NAMED: Final = {"comparison": 2}
_BORDER = re.compile(r"(?<=[\u3400-\u9fff])(?=[A-Za-z0-9#])|(?<=[A-Za-z0-9])(?=[\u3400-\u9fff])")


class Words(Column):
    """The table's column of one language: ``words("why")``."""

    table = _TABLE


def in_all_languages(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_TABLE[name]))


def why_relevant(kinds: Sequence[str], verdict: Verdict, language: str) -> str:
    """One sentence: what the person is doing, and what this memo gives to it. ``kinds``: as ``judge.asked_kinds`` gives them."""
    words = Words(language)
    kind = next((kind for kind in kinds if kind in _TABLE and len(verdict.subject) >= _LEAST_NAMED.get(kind, 0)), "area")
    subject = _joined([word.lstrip("#") for word in verdict.subject], words) or words("this")
    wanted = _WANTED.get(kind, ())
    gives = sorted(verdict.value.gives, key=lambda name: wanted.index(name) if name in wanted else len(wanted))
    doing = _spaced(words(kind, subject=subject))
    return words("because", doing=doing, gives=_joined([words(name) for name in gives], words))


def _joined(names: Sequence[str], words: Words) -> str:
    return words("and").join(names[:_MOST_NAMED])


def _spaced(sentence: str) -> str:
    """With a space between Chinese and Latin words, as both are set."""
    return _BORDER.sub(" ", sentence) if any(map(is_cjk, sentence)) else sentence
