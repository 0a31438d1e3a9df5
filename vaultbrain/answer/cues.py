"""By which words a piece of a memo speaks to a sub-question, and by which a question asks one itself.

Pure tables and their reading: Chinese cues are folded, so that both scripts meet them, and stand beside English ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import ADDRESS, ATOM, OPEN_TASK
from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from vaultbrain.answer.pieces import Piece

#: Cues of one kind beyond these say nothing more.
_MOST_CUES = 2

#: Sub-question → (worth of a cue, the cues), in the order in which they stand in a note. Read with ``re.VERBOSE``,
#: on folded text, in which the full-width marks , : ; ! ? are narrow.
_CUES: dict[str, tuple[float, str]] = {
    "what": (
        1.0,
        r"""
            是一[种个款套类] | 是指 | 指的是 | 所谓 | 意思是 | 原理是 | 本质上?是 | 定义 | 和.{1,12}的区别 | 相当于 | 简称
          | 全称 | 就是把 | \bis\s(?:an?|the)\s\w+\s(?:that|which|for|of)\b | ^[\w\s-]{1,24}\smeans\b | \brefers?\sto\b
          | \bstands\sfor\b | \bdifference\sbetween\b | \bdefined\sas\b
        """,
    ),
    "how": (
        1.0,
        r"""
            ^先 | [,。:;\s]先(?!生|前|后) | 步骤 | 第[一二三四]步 | 做法 | 方法 | 办法 | 流程 | 怎么 | 如何 | 然后
          | 的时候先 | 设置 | 配置 | 打开.{0,12}[里中] | 运行 | 执行 | 命令 | 记得 | 每次 | 每天 | 每晚 | 每周 | 分成
          | 按.{1,8}(?:来|排|分) | 改一下 | 用.{1,12}(?:来|去|把|代替) | 把.{1,14}(?:放|改|换|写|设|调|装|拆|切|加) | 顺序
          | 模板 | (?:规则|原则|规矩|顺序)[^,。]{0,8}[:是]
          | \bfirst\b | \bthen\b | \bsteps?\b | \bhow\sto\b | ^use\b | ^run\b | ^set\b | ^open\b | ^add\b | ^put\b
          | ^keep\b | ^make\b | ^try\b | ^ask\b | \bmake\ssure\b | \bby\s\w+ing\b | \bevery\s(?:day|night|week|morning)\b
          | \binstead\sof\b | \btemplate\b
        """,
    ),
    "experience": (
        1.0,
        r"""
            试了 | 试过 | 第一次 | 适合 | 用了[^\s,。]{0,6}(?:年|月|周|天|次) | 发现 | 感觉 | 体验 | 效果 | 看完 | 读完
          | 听完 | 觉得 | 坚持 | 果然 | 居然 | 终于 | 亲测 | 实测 | 有用 | 管用 | 好用 | 好多了 | 舒服 | 喜欢 | 满意
          | 最打动 | 好看 | 好吃 | 值得 | 省了?一 | 比.{1,10}(?:好|快|省|强|准|稳) | 之后.{0,10}(?:好|少|多)了
          | \bi\stried\b | \btried\b | \bworked\b | \bworks\s(?:well|fine|great)\b | \bturn(?:s|ed)\sout\b | \bfelt\b
          | \bresult\b | \bfinally\b | \bfound\sthat\b | \blearn(?:ed|t)\b | \bloved?\b | \bliked\b | \bworth\b
          | \bbetter\sthan\b | \bgreat\b
        """,
    ),
    "problems": (
        1.0,
        r"""
            坑(?!人) | (?:出|有|遇到|毛病|小)问题 | 问题(?:是|在|出|:) | 缺点 | 毛病 | 报错 | 失败 | 出错 | 千万别
          | 别[再在用买把让拿放碰开关吃喝太乱去怪反热揉嫌] | [,。;\s]别(?!的|人|处|名|墅|称) | ^别(?!的|人|处|名|墅|称)
          | 不要 | 不能 | 注意 | 小心 | 风险 | 陷阱 | 避免 | 崩 | (?<!不)疼 | (?<!不)痛 | 卡住 | 卡死 | 变慢 | 越来越慢
          | 难用 | 不好用 | 没用 | 不管用 | 没效果 | 不够 | 太[贵吵慢重大长] | 后悔 | 踩 | 丢了 | 坏了 | 误 | 炸
          | \bproblems?\b | \bfail(?:s|ed|ure)?\b | \bbugs?\b | \berrors?\b | \bdon'?t\b | \bdo\snot\b | \bavoid\b
          | \bcareful\b | \bbeware\b | \bpitfalls?\b | \bissues?\b | \bbroken?\b | \bdrawback | \bdownside | \bnever\b
          | \bdoes(?:n't|\snot)\b | \btoo\s(?:slow|long|loud|expensive)\b | \bregret\b
        """,
    ),
    "cost": (
        1.0,
        r"""
            \d+(?:\.\d+)?\s*(?:元|块(?!钱?硬盘)|万|美元|刀) | [¥￥$]\s*\d | 免费 | 费用 | 价格 | 预算
          | 花了.{0,6}(?:钱|元|块) | 便宜 | 成本 | 年费 | 月费 | \bcosts?\b | \bprices?\b | [$€£]\s?\d | \bfree\b
          | \bbudget\b | \bcheap
        """,
    ),
    "tools": (
        1.2,
        r"""
            工具 | 软件 | 插件 | 网站 | 教程 | 课程 | 资源(?!限制|占用|消耗) | 清单 | 合集 | 书单 | 片单 | 推荐 | 收藏
          | \btools?\b | \bplugins?\b | \bwebsites?\b | \btutorials?\b | \bcourses?\b | \brepos?\b | \bwatchlist\b
          | \breading\slist\b | \bresources?\b | \brecommend
        """,
    ),
    "plans": (
        1.3,
        r"""
            打算 | 计划 | 准备(?:把|去|买|做|试|周|下) | 下周 | 下个?月 | 明天(?:去|再|要|把) | 周末(?:去|做|试|把)
          | 以后(?:再|要) | 想(?:试|买|做|学|补|把|去) | 待办 | 还没 | 有空 | 回头 | 改天 | todo | 待看 | 待读
          | \bplan(?:s|ned|ning)?\b | \btodo\b | \bto\sdo\b | \bnext\s(?:week|month|time|year)\b | \bwant\sto\b
          | \bsomeday\b | \bshould\stry\b | \bgoing\sto\b | \blater\b
        """,
    ),
    "decisions": (
        1.3,
        r"""
            决定 | 定了 | 最后(?:选|用|还是|定|买) | 选了 | 换成 | 改成 | 改用 | 放弃 | 不再 | 换到 | 退回 | 先不 | 就用
          | 只留 | 只用 | \bdecided?\b | \bchose\b | \bswitched\b | \bsettled\son\b | \bwent\swith\b | \bgave\sup\b
          | \bno\slonger\b | \bmoved\s(?:everything\s)?to\b | \bsticking\swith\b
        """,
    ),
}
SUBQUESTIONS = tuple(_CUES)
_PATTERNS = {name: (worth, re.compile(cues, re.VERBOSE)) for name, (worth, cues) in _CUES.items()}
_CODE = re.compile(r"`[^`]+`")
#: A quantity; one may stand anywhere, two in one piece are its point.
_QUANTITY = re.compile(
    r"\d+(?:\.\d+)?\s?(?:分钟|小时|天(?!前)|公斤|公里|克|毫升|度|%|页|(?:minutes?|min|hours?|days?|weeks?|gb|tb|mb|kg|km|g|ml)\b)"
)
#: How a question asks for one of them, folded.
_ASKS = {
    "what": re.compile(r"是什么|什么是|啥是|\bwhat (?:is|are)\b"),
    "how": re.compile(r"怎么(?!样|看)|如何|办法|步骤|方法|流程|\bhow (?:to|do|can|should)\b|\bsteps?\b"),
    "experience": re.compile(r"经验|体验|效果|怎么样|评价|值不值|\bexperiences?\b|\bresults?\b|\bworth\b"),
    "problems": re.compile(r"注意|问题|缺点|避坑|的坑|风险|\bproblems?\b|\bpitfalls?\b|\bissues?\b"),
    "cost": re.compile(r"多少|几[个次天]|价格|预算|\bhow (?:much|many|long)\b|\bcosts?\b|\bbudget\b"),
    "tools": re.compile(r"工具|资源|推荐|网站|\btools?\b|\bresources?\b"),
    "plans": re.compile(r"计划|打算|待办|\bplans?\b|\btodos?\b"),
}


def asked_for(question: str) -> tuple[str, ...]:
    """The sub-questions that a question asks by itself."""
    folded = fold(question)
    return tuple(name for name in SUBQUESTIONS if name in _ASKS and _ASKS[name].search(folded))


def cues(piece: Piece) -> dict[str, float]:
    """Sub-question → how clearly the piece speaks to it, those only to which it does."""
    text = fold(piece.text)
    bare = ATOM.sub(" ", text)
    found: dict[str, float] = {}
    for name, (worth, pattern) in _PATTERNS.items():
        met = len({match.group().strip() for match in pattern.finditer(bare)})
        met += name == "how" and bool(_CODE.search(text))
        met += name == "cost" and len(_QUANTITY.findall(bare)) > 1
        met += name == "tools" and bool(ADDRESS.search(text))
        met += 2 * (name == "plans" and piece.task == OPEN_TASK)
        if met:
            found[name] = worth * min(met, _MOST_CUES)
    return found
