"""Frequently collected areas: subjects of which the person keeps so much that work on them is worth a look-up by itself.

Pure. The usual ones come from the product's first users; the settings and the person's own tags add theirs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import is_cjk

#: Folded: agents and workflows; search of all kinds; AI video, prompts and content; automation and tools; startups.
DEFAULT_WORDS = (
    *("openclaw", "agent", "agents", "workflow", "workflows", "open claw", "智能体", "工作流"),
    *("seo", "geo", "aeo", "ai seo", "ai search"),
    *("ai 搜索", "ai搜索", "ai 搜寻", "ai搜寻", "搜索引擎优化", "生成式引擎优化", "答案引擎"),
    *("ai video", "ai videos", "ai 视频", "ai视频", "ai 影片", "ai影片", "ai 短片", "ai短片", "文生视频", "text-to-video"),
    *("prompt", "prompts", "prompting", "提示词", "提示工程"),
    *("内容系统", "内容流水线", "content system", "content systems", "content pipeline"),
    *("automation", "automations", "自动化", "github", "github actions"),
    *("startup", "startups", "创业", "初创", "新创", "saas", "gtm", "go-to-market"),
)


@dataclass(frozen=True, slots=True)
class Areas:
    """``words`` are folded, of any length."""

    words: tuple[str, ...] = DEFAULT_WORDS

    def with_words(self, more: tuple[str, ...]) -> Areas:
        """These and ``more``, which are folded here."""
        return Areas(tuple(dict.fromkeys((*self.words, *filter(None, map(fold, more))))))


def found_in(areas: Areas, folded: str) -> tuple[str, ...]:
    """The words of ``areas`` that stand in the folded text, in the order in which they stand there.

    Latin words are met whole only: ``geo`` is not in ``geography``. Chinese ones may stand anywhere.
    """
    return tuple(dict.fromkeys(match.group(0) for match in _pattern(areas.words).finditer(folded)))


def masked(areas: Areas, folded: str, mark: str) -> str:
    """The folded text with ``mark`` where a word of ``areas`` stands."""
    return _pattern(areas.words).sub(mark, folded)


@lru_cache(maxsize=8)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(None, words), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(_whole, longest_first)) or r"(?!)")


def _whole(word: str) -> str:
    before = "" if is_cjk(word) else r"(?<![a-z0-9])"
    after = "" if is_cjk(word[-1]) else r"(?![a-z0-9])"
    return f"{before}{re.escape(word)}{after}"
