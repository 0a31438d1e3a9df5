"""Whether words deny, and whether they say the opposite of others. Pure; works on folded text.

Knows no grammar: a denial is a word that denies, wherever it stands, and opposites are pairs from a list.
"""

from __future__ import annotations

import re

from vaultbrain.index.tokens import is_cjk

#: Not denials, though they hold one.
_NO_DENIAL = re.compile(
    r"不错|不仅|不但|不只|不光|不同|不少|不断|差不多|对不起|不得不|不管|不论|不如|不久|不锈|不过|不妨|没准"
    r"|无论|无线|无数|无非|未来|非常|除非|莫非|是不是|有没有|要不要|能不能|会不会|好不好"
    r"|not only|no\.? ?\d|no matter|not least"
)
_DENIAL = re.compile(
    r"[不没沒未勿]|无(?!人机)|并非|绝非|别(?=[再去买用吃做说太把让忘])"
    r"|\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|hardly|unable|lacks?|lacking|fails?|failed)\b|n['’]t\b"
)
#: One side of a line against the other.
_OPPOSITE_WORDS = """
上涨 涨 上升 增加 提高 变多 / 下跌 跌 下降 减少 降低 变少
喜欢 爱 / 讨厌 厌恶
推荐 / 劝退
便宜 / 贵 昂贵
同意 赞成 / 反对 拒绝
成功 / 失败
开始 / 结束 停止
打开 / 关闭
买 / 卖
赢 / 输
好 / 坏 差
快 / 慢
早 / 晚
冷 / 热
安全 / 危险
以前 之前 / 以后 之后
最大 最高 / 最小 最低
东 / 西
南 / 北
左 / 右
上山 / 下山
上班 / 下班
多 / 少
高 / 低
大 / 小
长 / 短
新 / 旧 老
rise rises rose rising increase increased grew / fall falls fell falling decrease decreased dropped
like liked love loved / hate hated dislike disliked
cheap cheaper / expensive dear
before / after
more / less fewer
success succeeded / failure failed
start started begin began / stop stopped end ended
buy bought / sell sold
win won / lose lost
good / bad
open opened / close closed
fast faster / slow slower
hot / cold
safe / dangerous
recommend recommended / discourage discouraged
accept accepted / reject rejected refuse refused
best / worst
east / west
north / south
left / right
up / down
high higher highest / low lower lowest
old older / new newer
long longer / short shorter
first / last
always / never
"""
_OPPOSITES = [tuple(side.split() for side in line.split("/")) for line in _OPPOSITE_WORDS.strip().split("\n")]


def denies(folded: str) -> bool:
    return bool(_DENIAL.search(_NO_DENIAL.sub(" ", folded)))


def _holds(folded: str, word: str) -> bool:
    return word in folded if is_cjk(word) else re.search(rf"\b{word}\b", folded) is not None


def turned_round(folded: str, evidence: str) -> bool:
    """Whether the sentence says the opposite word of one that the memos say, and they do not say it as well."""
    for pair in _OPPOSITES:
        for side, other in (pair, pair[::-1]):
            said = any(_holds(folded, word) for word in side)
            if said and not any(_holds(evidence, word) for word in side) and any(_holds(evidence, word) for word in other):
                return True
    return False
