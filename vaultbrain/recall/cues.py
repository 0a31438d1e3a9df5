"""The words by which the recall gate tells a need from talk: classes of wording in Chinese and English, each with one weight.

Decides which wordings belong to one class and how much a class weighs. How classes are put together is decided in ``gate``.
Pure. All words are folded (simplified script, lower case, NFKC: so the comma and the question mark are the ASCII ones).

Patterns are written over lists of words: ``{METHOD}`` stands for any word of that list, ``{GAP}`` for a stretch of the same
clause. They are compiled on first use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

#: The class of texts that name a collected area (``areas.found_in``), and its weight: work on one is enough, its name is not.
AREA = "names a collected area"
AREA_WEIGHT = 0.6
#: A text is worth a look-up from this sum of weights on.
THRESHOLD = 1.0
#: What a further class of need adds to the first: a need is no greater for being said twice.
FURTHER_NEED = 0.1


@dataclass(frozen=True, slots=True)
class Line:
    """How the score of ``reading`` becomes a weight: ``slope`` times the score and ``start``, from ``least`` to ``most``."""

    slope: float
    start: float
    least: float
    most: float


#: The class that ``reading`` makes of a passage, under one of two names.
READS_LIKE_NEED, READS_LIKE_NOTE = "reads like a need", "reads like a note"
READING = Line(slope=0.5, start=0.2, least=-2.0, most=1.2)
#: What the reading may take from a plain question that nothing speaks against: what its class is above the threshold.
PLAIN_LEAST = -0.05


class Side(StrEnum):
    """What a class of wording says: a need, something that only leans towards one, or the opposite."""

    NEED = "need"
    LEAN = "lean"
    AGAINST = "against"


@dataclass(frozen=True, slots=True)
class Cue:
    """One class of wording: ``name`` as it is shown, ``weight`` (below zero: against), what it is recognised by.

    ``beside`` names a class without which this one says nothing.
    """

    name: str
    side: Side
    weight: float
    patterns: str
    beside: str = ""

    def search(self, sentence: str) -> str | None:
        """The words that show this class, or None. "" is a match as well: a question mark may be all there is."""
        match = None
        if _CHINESE.search(sentence) and (chinese := chinese_of(self.patterns)):
            match = chinese.search(sentence)
        if match is None and _ENGLISH.search(sentence) and (english := english_of(self.patterns)):
            match = english.search(sentence)
        return match.group(0) if match else None


def _any_of(words: str) -> str:
    """An alternation of the lines' words, longest first; a space inside an English term is written ``_``."""
    return (
        "(?:"
        + "|".join(sorted((word.replace("_", "[ -]?") for word in words.split()), key=lambda word: (-len(word), word)))
        + ")"
    )


#: 法 as in 排法 or 记账法: a way of doing nearly any verb, but no law and no opinion.
_WAY = (
    r"法(?![国院律官语文师定兰庭规治令事器务则案])"
    r"(?<![没无想看说书语合违宪魔司立执枪戏]法)"
)
LISTS = {
    "GAP": r"[^,。!?;:\n]",
    "HOW": r"(?:怎么样?|怎样|怎麽|如何|咋样?|点样|怎生)",
    # What can be asked for when a way of doing is wanted.
    "METHOD": _any_of(
        _WAY + " "
        "做法 作法 方法 办法 法子 方式 思路 套路 路数 路子 打法 章法 招数 招式 妙招 高招 诀窍 窍门 技巧 心法 要领 要诀 "
        "秘诀 门道 攻略 指南 教程 流程 步骤 工序 程序 规范 准则 守则 原则 规矩 规则 规程 惯例 约定 框架 骨架 架构 结构 "
        "模板 模版 范本 范式 样板 格式 清单 检查表 核对表 蓝图 方案 体系 机制 玩法 公式 配方 路径 路线图 工作流 手册 口诀 "
        "最佳实践 实践 经验 标准做法 脚手架 提纲 大纲 撇步 小撇步 眉角 "
        "逻辑 环节 阶段 注意事项 事项 要点 关键点 手法 好招 招 话术 分工 "
        "计划表 时间表 字段 方针 维度 模型 配比 机关 作业方式 动线 作战手册 心得 "
        "讲究 节奏 日程 排期 打卡表 评分表 量表 sop checklist workflow framework playbook template routine pipeline "
        "cookbook boilerplate best_practices? guideline method tips?"
    ),
    # Not "hardly", "however" or "no matter how".
    "OWN_HOW": r"(?=[怎如咋点])(?<!没)(?<!不)(?<!再)(?<!不管)(?<!无论)(?<!不论)(?<!任凭)(?<!不知)(?<!没有)",
    # Followed by something to do, not by what makes it an outcry, a greeting or a phrase.
    "REAL_HOW": (
        r"(?:如何|怎样才|怎样)(?!了|啦|都|也|呢?\W*$|的人)\S|怎么样(?:才|去|把|做|让)|(?:怎么|怎麽|咋|点样|怎生)(?!样|了|"
        r"啦|会|还|又|老|总|都|也|这么|那么|没|不|就|回事|啊|呢|地|个事|说呢|说好|突然|从来|好意思|舍得|敢|偏偏|可能|"
        r"可以(?!将|把|让|做|快|更|用|在)|样子|搞的|来的?$|来着|能(?!让|把|更|够|在|做到|快|提高|给|从|用)|(?:他|她|你|"
        r"咱)(?:这|那|就|又|还|们)|走到|着|有(?:这|那)|这种|那种|想的|办(?:啊|呀|呢|才好|吧)?\W*(?:$|,|。))[^\s?]"
    ),
    # English "how" that is asked, not told: "I know how to" is no question.
    "ASKED_HOW": (
        r"(?=how )(?<!know )(?<!knew )(?<!knows )(?<!that's )(?<!learned )(?<!learnt )(?<!taught )(?<!explained )"
        r"(?<!explains )(?<!remember )(?<!about )(?<!see )(?<!matter )(?<!shows )(?<!showed me )(?<!told me )"
        r"(?<!asked me )(?<!on )(?<!of )how "
    ),
    "CASES": _any_of(
        "案例 例子 实例 范例 样例 示例 样本 先例 个案 事例 故事 灵感 参考 参照 素材 资料 范文 样稿 样品 榜样 借鉴 启发 "
        "佳作 作品 项目 文章 书单 片单 书籍 书 帖子 博客 论文 写法 版本 数据 出处 纪录片 对照 对标 前例 经历 实战 demo "
        "case cases examples? samples? references? inspiration showcase"
    ),
    "CHOICE": _any_of(
        "策略 战略 优先级 优先次序 优先顺序 先后 顺序 次序 取舍 权衡 利弊 优缺点 优劣 好坏 得失 利害 选型 决策 决定 对比 "
        "差别 区别 差异 异同 trade_?offs? pros_and_cons priority priorities strategy roadmap"
    ),
    "ASK": _any_of(
        "有没有 有木有 有冇 有无 有啥 有什么 有甚么 有哪些 有何 是否有 可有 求(?<![要需追请寻恳力征谋乞]求) 想要 需要 "
        "给我 给个 给份 给点 来个 来份 来点 来套 来一 来几 来张 缺 想找 要找 找个 找份 找套 找些 找点 找几 找一 找找 寻找 "
        "在找 征求 推荐 分享 想套 套个 想看 看看 想参考 想借鉴 想学 想了解 搜一 翻翻 列几 列一 举几 举个 举一 提供 帮我找 "
        "帮找 谁有 哪有 哪里有 哪儿有 想抄 想照 要一 要几 要个 要份"
    ),
    "DO_ME": _any_of("帮我 帮忙 给我 替我 帮 请 麻烦 劳烦 可否 能否 能不能 可不可以 想请"),
    "SORT": _any_of(
        "梳理 理清 厘清 捋清 捋一捋 捋捋 捋 理一理 理理 理顺 理出 盘点 盘一盘 盘盘 盘一下 复盘 串起来 串一串 归纳 拆解 "
        "拆开看 摊开来?看 摊开来?捋 归拢 归整 捋顺 拼起来 拼到一起 汇总 想清楚 想想清楚 想明白 想通 搞清楚 弄清楚 弄明白 "
        "搞明白 搞懂 弄懂 看清 看清楚 分清 定位 诊断 排查 找出 找找原因 找原因 揪出 收敛 聚焦 列一列 列一下 回顾 归类 "
        "对齐 抓重点 找规律 找找规律 找出规律 看看还 整理思路 整理一下思路 反思 分析"
    ),
    "KEEP": _any_of(
        "写 记 存 收藏 收集 收录 保存 整理 总结 摘 摘抄 抄 剪藏 剪 归纳 标记 标注 列 画 做 建 留 贴 归档 备注 转存 码 mark"
    ),
    "PAST": _any_of(
        "记得 好像 似乎 应该有 应该 印象中 印象里 印象 以前 之前 从前 去年 前年 上次 上回 上个月 上周 上半年 年初 曾经 "
        "早前 先前 前阵子 前段时间 当时 早先 过去 明明 隐约 依稀 不是 那会儿 那次"
    ),
    "OTHERS": _any_of(
        "同事 同学 朋友 邻居 邻桌 隔壁桌 隔壁 老板 上司 领导 主管 客户 甲方 妈妈 爸爸 爸妈 我妈 我爸 老妈 老爸 外婆 奶奶 "
        "爷爷 外公 阿姨 叔叔 舅舅 哥哥 姐姐 弟弟 妹妹 我哥 我姐 我弟 我妹 表弟 表妹 表哥 表姐 堂弟 堂妹 堂哥 堂姐 老公 "
        "老婆 先生 太太 女儿 儿子 孩子 娃 室友 房东 老师 教练 司机 店员 店主 医生 网友 群里 亲戚 前任 有人 有个人 某人 "
        "他们 她们 他 她 路人 主播 博主 主持人 作者 嘉宾 大叔 大妈 两个人"
    ),
    "SAYS": _any_of(
        "说 讲 讲过 问 聊 谈 提 提到 觉得 认为 告诉 抱怨 炫耀 吹 吹嘘 念叨 嚷 喊 笑 问我 教我 教会 给我讲 安利 总爱 老爱 "
        "想报 取名 叫 起的 养的 在用 吵 争 讨论 改名 发誓 转发 晒 写道 介绍"
    ),
    # What children ask about; how they do it is written in any book.
    "CREATURES": _any_of(
        "动物 蜜蜂 蚂蚁 蝴蝶 萤火虫 蜘蛛 蝙蝠 候鸟 小鸟 鸟儿 企鹅 鲸鱼? 海豚 章鱼 鲨鱼 骆驼 长颈鹿 大象 狮子 老虎 恐龙 青蛙 "
        "彩虹 闪电 地震 火山 台风 极光 月亮 太阳 星星 地球 宇宙 潜艇 古人 原始人 古埃及人"
    ),
    "CREATURES_EN": _any_of(
        "animals? bees? ants? butterfl(?:y|ies) firefl(?:y|ies) spiders? bats? birds? penguins? whales? dolphins? "
        "octopus(?:es)? sharks? camels? giraffes? elephants? lions? tigers? dinosaurs? frogs? rainbows? lightning "
        "earthquakes? volcano(?:es)? hurricanes? stars? planes? airplanes? submarines? magnets?"
    ),
    # "How come": what is or was, not what to do.
    "ASTONISHED": (
        r"怎[么麽](?:[你您我他她它咱谁]|到处|突然|忽然|哪|今天|昨天|这|那|就|全都|是|感觉|才(?:周|星期|礼拜|[一二三四五六七八九十\d几]))|"
        r"怎[么麽][^,。!?;\n]{0,16}(?:都(?:不|没|是|在|有)|(?:得|成)(?:这|那)|(?<![除为])了(?:呢|啊|呀|吗)?(?:\?|$))"
    ),
    # One's own earlier notes, asked for.
    "MY_NOTES": (
        r"(?:我(?:们)?(?:自己)?(?:以前|之前|从前|过去|曾经|去年|上次|上个月|原来|当时)?(?:有没有|是否|到底|都|"
        r"好像|应该)?(?:在笔记里)?(?:记|写|存|收藏|收集|整理|总结|摘抄|摘|抄)(?:过|了|下)(?:来)?(?!错|多少|大过)"
        r"[^,。!?;\n]{0,24}(?:吗|没有?|么|嘛|什么|哪些|啥|来着|几条|哪几)(?:笔记|东西|内容|想法|呢|啊)?(?:\?|$)|"
        r"我(?:们)?有没有(?:在笔记里)?(?:记|写|存|收藏|收集|整理|总结|摘抄|摘|抄)(?:过|下)(?!错|大过)[^,。!?;\n]{2,}|"
        r"(?:关于|有关|对)[^。!?;\n]{1,20}我(?:们)?(?:以前|之前|过去|都|曾经)*(?:记|写|存|收藏|整理|总结)(?:过|了|下)"
        r"(?:什么|哪些|啥|些什么)|"
        r"我(?:们)?(?:以前|之前|过去|上次|去年|当时|曾经)(?:是)?(?:怎么|如何|怎样)(?:记|写|总结|整理|处理|解决|做|配|设)"
        r"[^,。!?;\n]{0,20}的)"
    ),
    # English
    "MY_NOTES_EN": (
        r"(?:what(?:ever)? (?:did|have|had|do) (?:i|we) (?:ever |already |once |previously )?(?:write|written|note|noted|"
        r"save|saved|jot|jotted|record|recorded|bookmark|bookmarked|clip|clipped|collect|collected|keep|kept|log|logged|have|"
        r"got) (?:down |up )?(?:about|(?<!save )(?<!saved )on|regarding|concerning)(?! (?:today|tonight|tomorrow|monday|"
        r"friday|my plate|your|his|her|the (?:card|board|wall|table|agenda))\b) \w|"
        r"what (?:notes?|memos?|bookmarks?) (?:did|do|have) (?:i|we)\b|"
        r"(?:did|have) (?:i|we) (?:ever |already |once )?(?:write|written|note|noted|save|saved|jot|jotted|record|"
        r"recorded|bookmark|bookmarked|clip|clipped|collect|collected) (?:down |up )?(?:anything|something|some|any|a (?:note|"
        r"memo|list)|notes?|about)\b|"
        r"do (?:i|we) (?:already )?have (?:any |some |a )?(?:notes?|memos?|bookmarks?|anything) (?:on|about|for|from)\b|"
        r"what do my (?:old |earlier )?(?:notes?|memos?) say\b|where are my (?:old )?(?:notes?|memos?)\b)"
    ),
    "METHOD_EN": _any_of(
        "way ways method methods approach approaches process processes procedure procedures protocol workflow workflows "
        "framework frameworks playbook playbooks template templates checklist checklists recipe recipes blueprint routine "
        "routines system systems sop sops guide guides guideline guidelines tutorial how_to tips? tricks? technique "
        "techniques steps? structure outline skeleton format formula pattern patterns practices? rule_of_thumb "
        "rules_of_thumb heuristics? principles? convention conventions pipeline setup strategy strategies plan tactics? "
        "advice pointers suggestions? cadence boilerplate walkthrough cheat_?sheet "
        "runbook ritual scaffold rubric sheet spreadsheet scorecard roadmap"
    ),
    "CASES_EN": _any_of(
        "examples? cases? case_stud(?:y|ies) samples? references? inspiration ideas? stories precedents? showcases? "
        "write_?ups? articles? reading books? resources? recommendations? role_models? models? benchmarks? comparisons? "
        "teardowns? projects? literature essays? posts? material success_stories"
    ),
    "ASK_EN": (
        r"(?:is there|are there|any(?:one|body)? (?:know|have|has|got|seen|tried|familiar)|does any(?:one|body)|do (?:you|"
        r"we) (?:have|know|use)|have you (?:got|seen)|got any|any|\bneed(?=(?:ing)? (?:an?|some|your|good|ideas)\b)|"
        r"teach me|outline|describe|(?:can|could|would) you (?:please )?(?:share|give|show|find|suggest|recommend|sketch|"
        r"outline|describe|list|draft|explain)|looking for|look for|searching for|search for|hunting for|(?:i|"
        r"we) (?:could |would |do )?(?:really |just |also |only )?(?:need|want|could use|would like|would love|'d like|"
        r"'d love)|i'd (?:like|love)|i'm after|in search of|give me|show me|send me|find me|find|list|collect(?:ing)?|"
        r"gather(?:ing)?|point me (?:to|at|towards?)|recommend|suggest|share|please share|want to see|can you (?:share|"
        r"give|show|find|suggest|recommend)|what(?:'s| is| are| would be)(?: a| an| the| some| your)?|which|who has|"
        r"seeking|wanted:?|pull (?:up|together))"
    ),
    "ME": (
        r"(?:i|we|you|one|people|others|other people|other teams|teams|folks|everyone|anyone|someone|writers?|companies|"
        r"families|parents)"
    ),
}

#: Wordings of a need, from any of which alone a question or request reaches the threshold.
NEEDS = (
    Cue(
        "asks for a way of doing",
        Side.NEED,
        1.05,
        r"""
        多[^,。!?\s了]{1,4}(?:才|比较|最好) | {OWN_HOW}(?:{REAL_HOW}){GAP}*(?:,{GAP}*){0,3}\?
        | (?:^|[,:;。] ?|请问|到底|究竟|想知道|想学|想了解|想请教|求问|不知道?|不晓得|不清楚|没想好|想不出|该|应该|可以|
            一般|通常|大家|别人|人家){OWN_HOW}(?:{REAL_HOW}) | {OWN_HOW}(?:{REAL_HOW}){GAP}{0,5}(?<!的)$
        | {OWN_HOW}(?:{REAL_HOW}){GAP}{0,6}才 | {HOW}才(?:能|会|可以|算|不会|好|最|肯|不)
        | (?:应该|该|要|得|可以|一般|通常|都是?|大家|别人|人家|同行|各位|你们|其他人|前辈|高手)(?:是|都|会|
            该)?{HOW}(?!了|啦|回事|这么|那么|说$|想的)
        | {HOW}(?:[^,。!?;:\n]{0,14})(?:比较好|更好|才好|最好|最稳|好呢|合适|稳一点|稳妥|划算|省事|高效|更快|靠谱|
            算规范) | {ASK}{GAP}{0,28}{METHOD}
        | {DO_ME}{GAP}{0,16}(?:排|列|拟|定|做|设计|规划|搭|写|出|画){GAP}{0,10}{METHOD}
        | (?:什么样的|什么|啥|哪种|哪些|哪套|怎样的|何种){GAP}{0,6}{METHOD}
        | {METHOD}{GAP}{0,8}(?:是什么|是啥|有什么|是怎样|是怎么|怎样的|有哪些|分别是|给我|捋一捋|长什么样|长啥样|发我|
            求)
        | (?:想|打算)(?:搞|立|弄|做|定|建|搭|写|设计|制定|整|找|学|有)(?:一|个|套|份|点|些|出){GAP}{0,14}{METHOD}
        | (?:想|希望|(?<!主)要|需要|打算){GAP}{0,16}(?:一套|一份|一张|一个|一种|一版|一些|几条|几个|套|
            份){GAP}{0,14}{METHOD}
        | (?:要|该|应该|得|需要|可以|能|会){GAP}{0,6}(?:哪些|哪几|什么样|什么|哪){GAP}{0,8}(?:\?|$)
        | (?:几|多少|什么|哪|谁|多){GAP}{0,10}(?:比较好|合适|才够|为宜|最好|才算|才好|更好|妥当|合理|稳妥|科学|靠谱)
        | 有{GAP}{0,8}{METHOD}(?:吗|么|没|可以|能) | (?:拿|用|按|照|靠)(?:什么|啥|哪)
        | 到(?:多(?:细|深|长|大|少|远)|什么程度)(?:\?|才|$) | (?:哪几步|哪些步|分几步|几个步骤|第一步)
        | 从(?:哪|何|什么地方)(?:儿|里|处|一步|几步|个|块|边)?{GAP}{0,6}(?:开始|下手|入手|动手|着手|切入|排查|做起|学起|
            起步|查起|讲起|写起) | (?:无从|不知从何)(?:下手|着手|入手)
        | (?:还要|需要|要|该)(?:准备|注意|考虑)(?:些|点)?(?:什么|啥|哪些|东西) | 注意(?:些)?(?:什么|哪些)
        | {ASKED_HOW}(?:do(?:es)?|should|would|could|can|might|to|are|is|did|have)\b(?: {ME}\b)?(?! you\b(?: (?:doing|
            feeling|today|all|these)|\?|$)) | (?:figur\w+|work\w*|find\w*|sort\w*) out (?:exactly |just )?(?:is )?how
        | wonder(?:ing)? how | curious how
        | (?:not|\w*n't|no) (?:sure|know|clue|idea|understand|see)(?: yet| quite| exactly)?(?: of| about| on)? how\b
        | (?:want|like|love|need|trying) to (?:know|learn|see|understand|find out) how\b | (?:tell|show|teach) me how
        | question is how
        | (?:advice|ideas|tips|thoughts|suggestions|pointers|guidance|opinions?)(?: on| about| for)? how
        | {ASK_EN}(?: [\w'-]+){0,5} {METHOD_EN}\b
        | (?:best|right|proper|sane|good|better|cleanest|smartest|simplest|easiest|recommended|sensible|reliable|
            standard|usual|practical|realistic|fastest|cheapest|safest) (?:way|approach|method|practices?|strategy|
            workflow|process|setup|structure|routine)\b(?! (?:possible|ever)\b)
        | (?:walk|talk|guide|take|lead|step) me through | step[- ]by[- ]step | best[- ]practices?\b | rules? of thumb
        | (?:^|[,:] ?|\b(?:any|some|new|smart|good|better|other|cheap|simple|clever) )ways (?:to|of|for)\b
        | steps (?:for|to|involved)\b
        | what(?:'s| is) (?:your|the) (?:usual |normal |typical )?(?:process|approach|routine|trick|secret|workflow|
            system|procedure|method|setup|recipe|drill)\b
        | what (?:do|does|would|should) {ME} (?:usually |normally |actually |typically )?(?:use|do|recommend|suggest|
            rely on|follow)\b | what (?:does|would) (?:a|an|your|the) (?:[\w'-]+ ){1,6}look like
        | what makes (?:a|an|for)\b | what goes into | how would you\b
        | how (?:others|people|teams|other people|other teams)\b
        | (?:^|[,:] ?)(?:advice|tips|tricks|pointers) (?:on|for|about)\b
        """,
    ),
    Cue(
        "asks for cases or references",
        Side.NEED,
        1.05,
        r"""
        (?:^|[,。] ?)(?:哪些|哪几|哪家|哪位) | (?:想看|看看|给我看|想知道){GAP}{0,16}(?:什么样|啥样)
        | {ASK}{GAP}{0,32}{CASES}
        | (?:有没有|有无|有冇|是否有)(?:人|谁|哪家|团队|公司|朋友|同学|大佬|前辈){GAP}{0,24}(?:过|成功|做到|可以|分享|
            经验|的\?|吗)
        | (?<!你)(?<!他)(?<!她)(?<!您)(?<!问)(?<!自己)(?<!看看)(?:有没有|有冇)(?!吃|喝|睡|到|空|人在|错|语病|带|在|下雨|
            想我|听|发现|觉得|一种可能|搞错|天理|良心|意思|完){GAP}{4,}
        | (?:类似|这种|这样|这类|同类|别的|其他){GAP}{0,12}还有(?:吗|么|没|哪|什么)
        | 还有(?:哪些|什么(?:类似|别的|好)|别的|类似)
        | (?<![要需追请寻恳力征谋乞])求(?:几|一|个|些|推|份|篇|本|款|套|点|张)
        | (?:有人|有谁){GAP}{0,10}(?:过|成功|做到|用|试|靠){GAP}{0,16}(?:吗|么|没有?|\?)
        | 有{GAP}{0,8}{CASES}(?:吗|么|没|可以)
        | 给我(?:看|来|发|找|列|推荐)?(?:看)?(?:两|三|几|一些|些|点)(?!钱|水|时间|吃)
        | 谁(?:有过?|做过|试过|用过|走过|干过|经历过|知道有)
        | (?:想|要|去|先)?(?:看看|参考|借鉴|借镜|学学|学习一下|了解一下|研究一下|瞧瞧|观摩|对照|取经|
            偷师){GAP}{0,6}(?:别人|别家|人家|同行|其他人|大家|高手|前辈|业内|其他家|别的|大厂|竞品|友商|有经验)
        | (?:找|求|来|给|要)(?:点|些|一些|一点|个|几个|几条)?(?:灵感|感觉|启发|借鉴|参考|思路|点子)
        | (?:想|当|做|作|供|拿来|用来|可以|可)(?:一下|个|为)?(?:参考|借鉴|借镜|对照|抄作业|取经|模仿|效仿)
        | (?:推荐|安利|介绍)(?:一下|一?(?:些|点|个|本|部|款|套|篇)|几|两|三) | 求推荐 | 有(?:什么|啥|没有)?推荐
        | 推荐(?:吗|么|的吗|下|\?|看|读|用) | 有哪些 | (?:有没有谁|有谁|谁家|哪家)
        | (?:你|你们|大家|各位)(?:有没有)?(?:见过|看过|读过|用过){GAP}{0,4}(?:哪些|什么|有意思|好的|不错|类似)
        | (?:找|搜集|收集|搜罗|挑|举|列)(?:上|出)?(?:一些|些|几|两三|三五|一波|一批|一组|一堆|若干)(?!个?人)(?:个|篇|本|
            条|部|种|位|份|款|家|段|句|张)?{GAP}{0,24}(?:的|类似|好|例)
        | {ASK_EN}(?: [\w'-]+){0,6} {CASES_EN}\b(?! (?:club|sensitive))
        | (?:want|love|like|curious|keen|hoping) to (?:read|hear|learn|know|see|find) (?:about|more|how|what|some|a few|
            examples|out)\b
        | \bany (?:good|great|decent|recommended|solid|nice|useful|favou?rite|other|similar|known|cheap|interesting|
            notable|clever|proven) [^.?!]{3,}\?
        | \bwhich (?!country|planet|year|river|city|actor|day|month|platform|gate|bus|train|exit|team won|animal|
            language)\w+ [^?.!]{8,}\?
        | \b(?:anything|something|somewhere) (?:i|we|good|worth|to|on|like|similar|about)\b[^?]*\?
        | who(?:'s|'ve| has| have| else| here| did| does)(?: [\w'-]+){0,3} (?:done|tried|managed|made|built|written|
            quit|lived|gone|moved|switched|succeeded|use|uses|does)\b
        | \b(?:send|give|show|find|list|collect|gather|recommend|suggest|share)\b (?:me |us )?(?:a few|some|several|
            a couple of|a handful of|\d+|two|three|four|five|ten) (?!minutes|hours|days|water|time|space|credit)
        | (?:case stud(?:y|ies)|inspiration|examples?|references?) (?:of|for|on|from|where|that|
            about)\b(?=[^.]{0,80}(?:\?|$|please|welcome|wanted)) | (?:recommend|suggest)(?:ations?|ions?)?\b[^.]{0,60}\?
        | what (?:have|did) (?:others|other people|people|teams) (?:done|do|use|try)
        | (?:learn|steal|borrow|copy) from (?:how )?(?:others|people|other|teams|companies|those)
        | how (?:have|did) {ME}\b
        """,
    ),
    Cue(
        "compares",
        Side.NEED,
        1.05,
        r"""
        谁{GAP}{0,6}(?:更|比较|最){GAP}{1,4}
        | (?:is|are|does|do|would|will) [^.?!]{2,60} (?:better|worse|more \w+|less \w+|\w{3,}er) than\b[^.?!]*\?
        | 哪(?:一)?(?:个|种|款|家|套|条|边|样|本|门|支|者|份|部|类|台|版|路){GAP}{0,8}(?:更|比较|最|较|好|适合|值|划算|
            靠谱|合适|省|牢|稳|强|先进) | (?:对比|比较|比|比对|权衡|衡量|横评|对照)(?:一下|下|看看|一比|一番|个)
        | (?:做|作|列|来|想|要|给我|帮我|横向|详细)(?:个|一个|张|份|些)?(?:对比|比较|横评)
        | (?:^|[,:] ?)(?:对比|比较)(?:这|那|两|三|几|下) | 对比(?:[,。]|$) | 横向对比
        | (?:有|是|各有)(?:什么|何|啥|哪些|多大|什么样的)(?:的)?(?:区别|不同|差别|差异|优缺点|优劣|利弊|好处|坏处|优势|
            劣势|短板) | (?:区别|差别|差异|不同|利弊|优劣|差)(?:到底|究竟|主要)?(?:在哪|有多大|是什么|在什么|多少|各是)
        | (?:相比|比起来|对比起来|比起|对比){GAP}{0,16}[,]?{GAP}{0,10}(?:哪|如何|怎么|什么|谁|好在|差在)
        | 各(?:自)?有(?:什么|啥|哪些|何)
        | (?:^|[,:;] ?|\b(?:help me|to|let's|please|can you|could you|want a|need a|quick|should) )(?:compare|
            comparison|comparing)\b | ^(?:\S+ ){0,8}\S+ (?:vs|versus)\b\.? (?:\S+ ?){1,9}$ | \b(?:vs|versus)\b[^?]*\?
        | pros (?:and|&|vs) cons | trade-?offs? (?:of|between|are|here|do|should)
        | what(?:'s| is| are)? the trade-?offs? | differences? between
        | how (?:do|does|would) [^.?]{2,60} (?:compare|differ|stack up|hold up)
        | which (?:\w+ ){0,4}(?:is|are|one|works?|would|should|converts?|performs?|fits?|gives?|makes?|scales?|lasts?|
            do|does|to|better|holds?|wins?|suits?)\b
        """,
    ),
    Cue(
        "weighs a decision",
        Side.NEED,
        1.0,
        r"""
        只(?:能|够|许|可以)(?:选|保|留|挑|做|写|买|带|学|顾)(?:一|两|其) | [二三四两]选一 | 要不要 | 该不该 | 应不应该
        | 应唔应该 | 值不值得? | 值得{GAP}{0,16}(?:吗|么|嘛|\?) | (?:选|挑|信|押|跟)谁 | (?:应该|该)是(?:哪|什么|谁)
        | 有没有必要 | 有必要(?:吗|么|嘛|再|继续) | 需不需要
        | 是否(?:应该|应当|应|该|值得|要|需要|有必要|适合|继续|换|还) | 划不划算 | 划算(?:吗|么) | 合不合适 | 值回票价
        | 行得通(?:吗|么) | (?:可行|现实|靠谱|来得及|合理|够用|明智|稳妥|保险|有意义|值)(?:吗|么) | 可行性
        | (?:^|[,:;。 ])[^,。!?;:\n]{0,6}?(?:是|要|该|应该|先|选|用|拿|去|换|继续|留|走|投|买|租|做|写|学|搬|保|砍|给|
            从|让|按|自己|直接)[^,。!?;:\n了过着完]{1,16},?[^,。!?;:\n了过着完]{0,4}还是(?!很|老|那|没|不|会|得|觉得|
            一样|太|挺|好的|喜欢|算|这样|有点|想) | (?:是不是|会不会|算不算)(?:太|过于|不够|有点|不太)
        | 想{GAP}{1,14},?又(?:舍不得|怕|担心|不敢|放不下)
        | \bwould you (?!like|mind|please|be|kindly|want|believe|care|look|happen|help|ever|
            please)\w+ (?!me\b)[^.?!]{3,}\? | 是不是(?:就|也)?(?:该|要|应该|应当|得|干脆|可以考虑)
        | \b(?:overkill|a (?:good|bad|terrible|great|smart|dumb) (?:idea|move)|a waste|too (?:early|late|soon|
            risky))\b[^?]*\? | (?P<verb>[\u4e00-\u9fff]{1,2})还是不(?P=verb)
        | (?:还是|或者?)(?:先)?(?:不|算了|放弃|等){GAP}{0,10}\? | (?:该|应该|应当){GAP}{1,16}(?:吗|么|嘛)(?:\?|$)
        | (?P<act>[签换买搬接做学续卖投离报升开割砍留辞养装修拆租贷借退转考推发上停加改删写弃追])不(?P=act)(?!\S{0,3}(?:都|也))
        | 是{GAP}{1,24},?{GAP}{0,6}还是(?!很|老|那|没|会|得|觉得|一样|太|挺|好的|这样|不){GAP}{2,}$ | 选哪
        | 挑哪|用哪(?!里)|走哪(?:条|一|个)|押哪|投哪|买哪|换哪|砍哪|留哪|保哪|报哪|学哪|做哪|该哪
        | (?:哪些|哪个|哪件|哪块|哪项|哪一|哪条|哪几){GAP}{0,10}(?:该|应该|应|优先|先|值得|能砍|可以砍|必须|要留|留下|
            保留|放弃) | (?:取舍|抉择|权衡|拍板|定夺)(?:一下|上|时|\?|$) | (?:怎么|如何|怎样)(?:取舍|抉择|权衡|选|决定)
        | 到底值 | \bshould (?:i|we|he|she|they|my|our|it|the)\b
        | \b(?:is|are|was|would) (?:it|that|this|they|\w+ \w+|\w+) (?:really |still |even |actually )?worth\b
        | \bworth (?:it|the|doing|\w+ing)\b[^.]*\? | do (?:i|we) (?:really |actually |even )?(?:need|want|have) to
        | would you (?:rather|choose|go|pick|keep|take|recommend)
        | would (?:it|that) be (?:a mistake|wise|smart|smarter|crazy|better|foolish|worth|wrong|too|enough|overkill|
            silly|sensible|fair) | does it make sense
        | is (?:now|this|it|today) (?:really )?(?:the |a )?(?:right |good |best |wrong |bad )?(?:time|moment|place|
            year)\b | the right (?:time|moment) to | is it (?:better|smarter|wiser|safer|time|too) to?
        | \bbetter (?:to|off)\b[^.]*\bor\b | \bwhen (?:should|would) (?:i|we) | makes? more sense
        """,
    ),
    Cue(
        "has alternatives",
        Side.NEED,
        0.8,
        r"""
        (?:是|该|应该|应当|先|选|用|拿|去|换|继续|留|走|投|买|租|做|写|学|搬|保|砍|给|从|让|按|自己|
            直接){GAP}{0,24},?{GAP}{0,8}还是(?!很|老|那|没(?!有)|会|得|觉得|一样|太|挺|好的)
        | [\u4e00-\u9fffa-z0-9]{2,}还是(?!很|老样|那|没|不|会|要|得|觉得|有点|一样|这|好|太|挺|想|在|蛮|喜欢|比较|有些|
            照旧|忍|个|被|让人){GAP}{2,18}\? | [a-z0-9] ?还是 ?[a-z0-9]{GAP}*,?{GAP}*(?:\?|$)
        | [\u4e00-\u9fff]{2,}还是(?!很|老样|那|没|不|会|要|得|觉得|有点|一样|这|好|太|挺|想|在|蛮|喜欢|比较|有些|照旧|
            忍|个|被|让人){GAP}{2,18},{GAP}*\?
        | (?:两|二|三|四|几|2|3)(?:个岗位|个机会|个offer|个工作|个学校|个城市|条路|种方案|个方案|个方向|种做法|个选项|
            种选择|个版本|条路线|种路线|套方案|个备选|个选题|份工作)
        | 一(?:边|个|种|条|份|家|款|是){GAP}{1,30}?,?(?:另)?(?:一|二)(?:边|个|种|条|份|家|款|是){GAP}
        | (?:^|[,:;。] ?)[\u4e00-\u9fff]{1,3}还是(?!很|老|那|没|不|会|得|太|挺)[\u4e00-\u9fff]{1,4}(?:\?|$)
        | \b(?:do|should|shall|would|could|is it|are we|am i|either|whether)\b[^.?!]{2,80}\bor\b[^.?!]{2,60}\?
        | (?:^|[.!?:] )[^.?!,]{2,60}\bor\b[^.?!]{2,50}\?
        | \b(?:two|three|2|3|several|few|both) (?:\w+ )?(?:options|routes|paths|directions|choices|ways forward|
            candidates|drafts|versions|alternatives|offers)\b | \bwhether (?:to|or not|i|we|it|that|this|the|my|our)\b
        | \bon (?:the )?one hand\b | \beither\b[^.?!]{2,60}\bor\b
        """,
    ),
    Cue(
        "is undecided about it",
        Side.NEED,
        1.05,
        r"""
        (?:不确定|不太确定|在?考虑|琢磨|盘算|拿不准|拿不定|吃不准|不清楚|没想好|没想清楚|犹豫|纠结|不知道|不知|不晓得|
            唔知|难以决定|不好判断|在想|摇摆|发愁|苦恼|分不清|没主意|想不好|想不清|顾虑|没把握|挣扎|卡在|困在|
            愁){GAP}{0,12}(?:要不要|该不该|是否|该|应该|哪个|哪种|哪条|哪边|先|还是|从哪|从何|值不值|如何|怎么(?!了|啦|
            回事|就|走到|会|搞的|地|想的|想$|看我)|怎样|是不是|选|之间)
        | (?:要不要|该不该|还是|是否|值不值){GAP}{2,40}[,。]?{GAP}{0,8}(?:犹豫|纠结|拿不准|拿不定|没结论|没想好|想了|
            卡住|两难|发愁|下不了|定不下|说不准|摇摆|没底|想不好)
        | (?:犹豫|纠结|拿不准|拿不定|两难|定不下|举棋不定|左右为难|卡住|没结论|没定论|
            没想好){GAP}{0,24}[,。?]?{GAP}{0,30}(?:要不要|该不该|还是|是否|选哪|哪个)
        | (?:想了|考虑了|纠结了|犹豫了|写了){GAP}{1,10}(?:还是)?(?:没结论|没想好|没定|定不下|没主意|决定不了)
        | (?:选|挑|定|决定|取舍)不(?:出来?|下来?|了) | (?:算|想|比|看|挑|选)来(?:算|想|比|看|挑|选)去
        | (?:下不了|下不定|没下定)决心 | 做不(?:了|出)决定 | 左右为难 | 进退两难 | 举棋不定 | 拿不定主意
        | 难以?(?:抉择|取舍|选择) | 选择困难 | torn (?:between|about|on|over)
        | (?:can't|cannot|can not|couldn't|unable to|hard to|struggling to) (?:decide|choose|pick|settle|make up)
        | on the fence | undecided | \bdebating (?:whether|between|if)\b | back and forth (?:on|about|between)
        | in two minds | second[- ]guessing | (?:weighing|juggling) (?:up )?(?:whether|two|my|the|a|if|between|options)
        | (?:not|\w*n't|un)(?: entirely| really| quite| at all)?(?: be)? ?(?:sure|certain|know|
            clear)(?: yet| anymore)? (?:about )?(?:whether|which|if (?:i|we|it)|where to|what to (?!say|think|feel|
            expect)|when to|who to)
        | (?:can't|cannot|couldn't|hard to|difficult to) (?:tell|say|judge|see) (?:whether|if|which|what)
        | no (?:idea|clue) (?:where|what|which|whether) (?:to|i|we)
        | (?:stuck|wavering|hesitating|choosing|deciding|caught|split) between
        | stuck (?:on|at) (?:how|what|which|whether|the) | having (?:doubts|second thoughts) about | toss-?up between
        | leaning towards?\b[^.]*\bbut\b | thinking (?:through|over) (?:whether|how|which)
        """,
    ),
    Cue(
        "asks for an order",
        Side.NEED,
        1.0,
        r"""
        先{GAP}{0,8}(?:哪|什么|谁|啥){GAP}{0,8}(?:\?|$|,) | 先{GAP}{1,14}(?:还是|或者){GAP}{0,4}先
        | 先{GAP}{1,14}再{GAP}{1,12}还是
        | (?:优先级|优先次序|优先顺序|先后|顺序|次序|排序|轻重缓急|轻重){GAP}{0,8}(?:怎么|如何|怎样|该|应该|是什么|咋|
            影响|怎么定|怎么排|\?)
        | (?:怎么|如何|怎样|该|帮我|重新|想){GAP}{0,6}(?:排|定|分|划){GAP}{0,6}(?:优先级|优先|先后|顺序|次序|主次|轻重)
        | (?:最|应该|该|要|值得|必须)(?:应该|该)?(?:优先|先)(?:做|处理|考虑|解决|投|写|学|保|还|动|搞|弄|办|搬|买|修|补|
            砍|上){GAP}{0,12}(?:哪|什么|啥|是|还是) | 抓不(?:到|住)重点 | 哪(?:个|件|样|项|块|门)(?:排)?(?:在)?(?:前|先)
        | (?:what|which|who|where)\b[^.?!]{0,60}\b(?:first|priorit\w+|come first)\b
        | priorit(?:ise|ize|ising|izing|y order)\b | in (?:what|which) order | first or\b
        | \border of (?:attack|priority|work|operations)\b | \brank (?:these|them|the|my|our)\b
        | (?:do|tackle|build|fix|ship|learn|write|start with) [^.?!]{1,40} (?:first|before) [^.?!]{0,40}\?
        """,
    ),
    Cue(
        "sorts out context",
        Side.NEED,
        1.05,
        r"""
        (?:想|要|帮我|帮|请|得|需要|打算|先|一起|试着|尝试|希望|该|好好|给我|陪我|我把|把){GAP}{0,24}{SORT}(?!了|过|完|
            得|机)
        | (?:想|打算|得|要|准备|需要)要?把{GAP}{1,20}(?:策略|流程|结构|框架|顺序|优先级|方案|规则|体系|计划|思路|分类|
            模板|制度|步骤|架构|逻辑|方向){GAP}{0,8}(?:重|再|改|排|定|理|顺|调|优化|拆|简化|梳)
        | (?:想|要|得|先|该|帮我|需要)[^。!?;:\n]{0,24}(?:理|捋|盘|梳|想|列|归|写|画|说|算|分|搞|弄)(?:一遍|一轮|明白|
            通|清楚|清)(?!单|晰|淡|楚楚)
        | (?:想|打算|希望|要|准备|需要|帮我|请|替我)把{GAP}{2,24}(?:整理|理|排|归纳|归并|整合|统一|串|提炼|总结|梳理|
            沉淀|浓缩|压缩|转化|变|改造|加工|组织|合并)(?:成|为|出|到)
        | (?:问题|原因|毛病|症结|瓶颈|根子|根源|漏洞|卡点|错){GAP}{0,8}(?:出在|在|卡在)(?:哪|什么|谁)
        | (?:出在|卡在|败在|断在|输在|差在)(?:哪|什么地方|哪儿|什么环节)
        | (?:可能|会)?是(?:什么|哪些)(?:原因|问题|环节|因素)
        | (?:真正|根本|主要|背后)的?(?:原因|问题|症结){GAP}{0,6}(?:是|在|\?)
        | (?:找|挖|查)(?:一下|找|出)?{GAP}{0,6}(?:原因|症结|根源|规律|根因|病根)
        | (?:看看?|列|查|数|盘|想想?|我)[^。!?;:\n]{0,8}还(?:缺|剩|差|漏)(?:了)?(?:什么|哪些|啥|点什么|哪)
        | 还(?:缺|剩|差|漏)了?(?:什么|哪些|啥|点什么|哪){GAP}{0,6}\?
        | (?:哪里|哪儿|什么地方|哪一?步)(?:对不上|不对|出了?错|有问题|出问题|卡住|漏了)
        | (?:思路|头绪|脉络|线头|来龙去脉|条理|全貌){GAP}{0,8}(?:理|捋|串|整|乱|散|断|不清|拉|搭)
        | (?:帮我|一起|先){GAP}{0,10}(?:理|捋|盘|看)(?:一)?(?:理|捋|盘|看|下)
        | (?:摆|列|写|摊|画|铺|拉)(?:出来|开|开来|一起),?(?:看看|看清|再|想)
        | (?:找|理|拎|抓)(?:找|出)?{GAP}{0,6}(?:主线|共性|共同点|规律|脉络|头绪)
        | 是不?是?(?:我|我的|我们|因为){GAP}{1,14}(?:错|不对|问题|不够)了?(?:吗|么|\?)
        | (?:我|也|有点)怀疑{GAP}{2,}(?:问题|不对|错|原因|不够|毛病)
        | \blost (?:track|sight) of (?:what|why|how|where|the) | \blost the (?:plot|thread)\b
        | (?:总觉得|感觉|老觉得|好像){GAP}{0,8}(?:少了|缺了|差了|漏了|哪里|哪儿|不对)(?:点|些)?{GAP}{0,6}(?:什么|不对|
            问题|说不)
        | \bi keep (?:losing|failing|forgetting|getting|rewriting|running|hitting|struggling|ending|coming|circling|
            going|making|missing|dropping|falling)\b | 分不清{GAP}{0,10}(?:是|哪|谁|还是|该)
        | 越(?:想|看|做|写|理)越(?:乱|散|糊涂|没底|迷) | 前后矛盾|自相矛盾
        | (?:help(?:ing)? me|trying to|want to|need to|let me|let's|can you|could you|try to|have to|going to|like to|
            time to|hoping to|i'll|please|struggling to) (?:[\w']+ ){0,3}?(?:figure|sort|map|work|lay|straighten|break|
            untangle|disentangle|clarify|diagnose|debug|troubleshoot|organi[sz]e my|structure|make sense|get clear|pin|
            narrow|take stock|think|see what|see where|see why|understand (?:what|why|where)|get to the bottom|
            find (?:out )?(?:the|what|why|where)|reconcile|connect|review|step back|plan|choose|decide|pick|frame|
            outline|prioriti[sz]e|weigh|compare|summari[sz]e what|brainstorm|shape)\b
        | (?:figur(?:e|ing)|sort(?:ing)?|work(?:ing)?) out (?:what|why|where|which|whether|if|the)\b | make sense of
        | making sense of | root cause | get(?:ting)? to the bottom of
        | what(?:'s| is| am i| are we| could be| might be)? (?:i'm |actually |really |still |we're )*(?:wrong|broken|
            missing|causing|holding|blocking|going wrong|doing wrong|overlooking)\b
        | where (?:does|do|did|is|are|would|should|could|am) [^.?!]{2,40}(?:go wrong|break|fail|start|begin|stuck|leak|
            lose|losing|come from|look)\w* | nobody knows why | keeps? (?:failing|breaking|happening)[^.]*\?
        | why (?:do|does|did|is|are) (?:my|our|the|this|these|it|i|we) [^.?!]{6,}(?:keep|always|never|every|still|
            so (?:slow|hard|often)|again)[^.?!]*\?
        """,
    ),
    Cue(
        "looks for the next step",
        Side.NEED,
        1.0,
        r"""
        下一步{GAP}{0,10}(?:怎|该|要|先|干|做|是什么|往哪|动|走|如何|什么|哪|应)
        | (?:该|往|想|定|找|确定|明确|搞清|规划){GAP}{0,6}下一步
        | (?:接下来|接着|之后|然后|后面|往后|后续){GAP}{0,12}(?:该|要先|先|怎么|如何|往哪|干什么|做什么|做啥|干啥|干嘛|
            哪){GAP}{0,14}(?:\?|$|,|。) | (?:往|朝)哪(?:儿|里|个方向|边|条路)?(?:走|使|发展|推进|努力)
        | 哪个(?:方向)?值得(?:往下|继续|深)
        | \b(?:next|first) (?:steps?|moves?)\b(?=[^.]*\?)|(?:what|which|my|our|clear|decide|find|plan|
            define)[^.?!]{0,30}\bnext (?:steps?|moves?)\b
        | what(?:'s| is| should| comes| do| would| to do)?[^.?!]{0,24}\bnext\b | what now\b
        | where (?:do|should|can|would) (?:i|we) (?:go|take|start|begin|even)
        | what (?:should|can|could|would|do) (?:i|we|you) (?!wear|eat|cook|have|say|watch|call)\w+
        | what to (?:do|keep|cut|drop|focus|change|tackle|try|build|write)\b(?=[^.]*(?:\?|next|first|about|with))
        """,
    ),
    Cue(
        "points back at earlier notes",
        Side.NEED,
        1.05,
        r"""
        {PAST}{GAP}{0,20}(?:记|存|收藏|收录|保存|摘抄|摘|剪藏|抄|总结|归纳|归档|整理|备注|转存|标记|标注|mark|写|列|画|
            做)(?:过|下(?!来了)|了)(?=[^。!?]{0,20}(?:一|条|篇|份|版|张|个|笔记|文|清单|记录|表|些|资料|教训|东西|关于|
            怎么|如何|[,。?]|$))
        | {PAST}{GAP}{0,24}(?:记|存|收藏|摘抄|摘|抄|总结|整理|写|列|画|做|剪)(?:过|下来?)?的(?!时候|人|话|很|好|不)
        | (?:在哪|放哪|哪去了|哪里|哪儿|叫什么|怎么说|什么)(?:儿|里|了)?来着
        | {PAST}{GAP}{0,16}(?:看|读|刷|翻|听|见|学)过(?:一|几|那|某)?(?:篇|条|份|帖|文|资料|教程|图|表|本讲|期讲|讲)
        | 是不是{GAP}{0,8}(?:记|写|存|收藏|整理|总结|保存|抄)(?:过|下|了|在)
        | \bi(?:'ve| have) (?:\w+ )?(?:noted|saved|bookmarked|written (?:about|down|up)|collected|kept|clipped|filed|
            jotted)\b | (?:memos?|bookmarks?|lists?|posts?|drafts?|write-?ups?) of mine\b
        | i remember (?:jotting|writing|noting|saving|making|keeping|reading|bookmarking|collecting)
        | (?:记得|好像|应该|印象中|印象里|明明|似乎){GAP}{0,12}(?:{KEEP}过|有(?:存|记|写|收|收藏|抄|留)(?:过|下|着)?|
            收(?:过|在|藏))
        | (?:我的|我|以前的|之前的|旧|老)?(?:笔记|收藏夹?|书签|备忘录?|剪藏|记录)(?:里|中|库|本里){GAP}{0,14}(?:有|找|
            翻|搜|查|哪|那)
        | (?:翻|找|调|拿|搜|捞)(?:一?(?:翻|找|下)|出来?|回)?{GAP}{0,8}(?:以前|之前|从前|旧|老|去年|上次|上个月|
            过去)的?{GAP}{0,10}(?:笔记|记录|清单|总结|资料|文章|收藏|条|篇|版)
        | 把{GAP}{0,10}(?:上个月|上周|去年|之前|以前|过去|这几年|今年|这几个月|半年){GAP}{0,16}(?:记录|笔记|收藏|总结|
            日记|条目) | 我(?:写|记|存|收藏|整理|总结)过(?:一|几|些|关于|类似|这|那)
        | \bi (?:\w+ )?(?:know|think|remember|recall|swear|believe|guess|suspect|'m sure|am sure|must have|may have|
            might have|could have sworn|definitely|already)(?: that| once)?(?: i)?(?:'d| had| have| once)? ?(?:wr(?:ote|
            iting|itten)|sav(?:ed|ing)|not(?:ed|ing)|bookmark(?:ed|ing)|jott(?:ed|ing)|kept|keeping|clipp(?:ed|ing)|
            filed|filing|collect(?:ed|ing)|record(?:ed|ing)|captur(?:ed|ing)|summari[sz](?:ed|ing)|highlight(?:ed|ing)|
            stor(?:ed|ing)|have (?:a )?notes?)\b
        | \b(?:need|find|want|looking for|get|pull up|open|reread|use|check) (?:the|my|those|
            these) (?:[\w'-]+ ){0,3}notes?\b
        | \bwhat i (?:learn(?:ed|t)|noted|wrote|saved|figured out|found out|tried) (?:about|on|in|from|last|back)\b
        | \bin my (?:notes?|bookmarks?|memos?|archive|journal|vault)\b
        | \bi once (?:made|wrote|kept|drew|put|saved|noted|had|did|collected|built|compiled)\b | notes? of mine\b
        | \bmy (?:old )?notes?\b[^.?!]{0,30}(?:\?|somewhere|again)
        | i'm (?:pretty |quite |fairly )?sure i (?:had |have |once )?\w+(?:ed|pt|ote|ept)\b
        | didn't i (?:save|write|note|bookmark|keep|jot|clip|collect|make|have)
        | (?:my|those|the|that) (?:old|earlier|past|previous|existing|last year's)? ?(?:notes?|bookmarks?|memos?|
            clippings?|journal entries)\b (?:on|about|from|said|say|for)
        | where did i (?:put|save|write|note|keep|store|file)
        | i (?:wrote|saved|noted|bookmarked|jotted|clipped|collected|wrote down)[^.?!]{2,70}(?:last|before|ago|a while|
            once|years?|somewhere|earlier|back|at some point|find it|where)
        | (?:dig|pull|bring|find|look) (?:up|out|for)?[^.?!]{0,20}\bi (?:wrote|saved|noted|kept|bookmarked|clipped)
        | {MY_NOTES} | \b{MY_NOTES_EN}
        """,
    ),
    Cue(
        "asks for advice",
        Side.NEED,
        1.0,
        r"""
        (?:给|求|来|提|想听|有什么|有没有|有啥|有哪些)(?:我|点|些|一些|一点|个|听)?(?:好的?)?(?:建议|意见|主意|高见|
            支招|指点|看法) | 支(?:个|几)?招 | 出(?:个|点)?主意
        | (?:帮我|替我|帮忙|陪我)(?:再|先|一起)?(?P<try>[\u4e00-\u9fff])一?(?P=try)
        | (?:帮我|替我|一起)(?:想想|想一想|参谋|参考|出出主意|合计|拿个主意|规划|策划|设计|判断|选|挑|定一下|评估|分析|
            拆解|头脑风暴) | (?:any|your|some) (?:thoughts|advice|suggestions|ideas|input|opinions?)\b
        | \bhelp me (?!up\b|out\b|with (?:the|my) (?:bags?|door)|carry|god|find my|remember to|move)\w+
        """,
    ),
)

#: Wordings that say something only beside others.
LEANINGS = (
    Cue(
        "asks openly",
        Side.LEAN,
        0.4,
        r"""
        (?:为什么|为何|为啥|什么(?!时候|时间|意思)|啥(?!时候|意思)|哪(?!天)|怎么办|怎么样|怎样|如何|到底|究竟|(?:能不能|
            可不可以)(?!帮|请|麻烦|告诉|给我|借|来|教|劳驾|辛苦|把|安静|别|快|不)){GAP}{0,40}(?:\?|吗|呢)
        | \b(?:why|what(?:'s)?|which|how|where(?:'s)?)\b[^.?!]{6,}\? | (?:怎么办|咋办|点算)
        """,
    ),
    Cue(
        "hesitates",
        Side.LEAN,
        0.45,
        r"""
        犹豫 | 纠结 | 拿不准 | 拿不定 | 举棋不定 | 两难 | 左右为难 | 卡住 | 卡在 | 卡壳 | 没头绪 | 没思路 | 没主意
        | 想不清 | 没想好 | 吃不准 | 不确定 | 没把握 | 顾虑 | 担心 | 没结论 | 来来回回 | 一团乱 | 没方向 | 摇摆 | 踌躇
        | 困惑 | 迷茫 | 到底(?:该|要|值|应|怎) | \bstuck\b(?! in) | struggling | unsure | hesitat\w+
        | dilemma | confused about | afraid (?:that )?(?:i|we|it) | worried (?:that|about)
        """,
    ),
    Cue("names a strategy word", Side.LEAN, 0.3, r"{CHOICE} | \b(?:strategy|priorit\w+|trade-?offs?|decision|roadmap)\b"),
    Cue(
        "wants to know or to build",
        Side.LEAN,
        0.4,
        r"""
        想(?:知道|了解|学|看看|听听|弄|搞|做|搭|建|定|找|把|给|要|套|请教|写) | 需要 | 希望 | 求教 | 请教
        | \b(?:i|we) (?:want|need|wish|hope|would like) | i'd like | looking to | wondering
        """,
    ),
    Cue(
        "at work",
        Side.LEAN,
        0.5,
        r"""
        写到 | 下一?(?:段|节|章|篇)(?:讲|写|说) | 准备(?:一|这|下|明天|今天|周)?(?:场|个|份|次|篇|期) | 重新
        | 在(?:写|做|改|搭|整理|重构|测|调|搞|弄|跑|准备|设计|规划|研究|优化|迁|接|建|开发|收尾|拆|补|给|试|翻译|打磨|
            推|拟|画|录|剪|比较|评估|学|赶|想(?:把|给|怎))
        | 正(?:在|准备)(?!吃|睡|休息|下班|用|放|下|被|流行|崩|走|跑步|聊|看|听) | (?:打算|准备|计划)用
        | (?:打算|准备|计划|想|要|着手|开始|继续|接着|先|刚|动手|今天|明天|这周|本周|下周|来|去|得|该|
            再){GAP}{0,12}?(?:写|改|做成|做一|做个|整理|重构|重写|搭|拆|迁|搬|接入|接上|设计|规划|梳理|优化|发布|上线|
            部署|测试|起草|拟|补|翻新|研究|调研|记一下|展开|落地|建|跑通|验证|对比|复盘|拍|录|剪|汇总|归类|试(?!了))
        | 把{GAP}{1,24}?(?:改|拆|搬|接|迁|整理|做|写|换|挪|合并|重写|翻|串|升级|收敛|抽|分|压|加|归|汇总|放)(?:成|到|进|
            为|完|好|出|在|一|上|了) | 给{GAP}{1,16}(?:加|写|接|补|做|搭|配|定)(?:一|个|上|了|套|份|层)?
        | 把{GAP}{1,20}(?:合并|迁移|重构|拆分|改版|更新|补齐|上线|自动化|下线|归档|重写|统一) | (?:任务|目标|重点)是
        | 准备(?:一|这|下|明天|今天|周)?(?:场|个|份|次|篇|期)?{GAP}{0,16}(?:分享|演讲|讲稿|培训|报告|文档|方案|材料|
            提案|课|稿) | 重构 | 重写 | 改写 | 撰写 | 起草 | 草稿 | 初稿 | 大纲 | 提纲 | 刚开头 | 顺手写 | 展开讲
        | 待发布 | 迭代 | 打磨 | 落地页 | 写一(?:篇|份|个|版|节|章|段) | 改成{GAP}{1,}
        | 第[一二三四五六七八九十]+(?:节|章|版|稿|步)
        | (?:^|[,:;] ?|\b(?:i'm|i am|we're|we are|am|are|currently|now|today|still|been|started|start|finished|keep|and|
            busy|spent \w+(?: \w+)?|of|by|on) )(?:draft|refin|improv|creat|finali[sz]|finish|fix|brainstorm|explor|
            compos|redesign|rebuild|deploy|publish|expand|experiment|audit|benchmark|rework|writ|plan|build|prepar|
            refactor|rewrit|rework|outlin|work|organi[sz]|structur|design|migrat|test|ship|polish|sketch|research|edit|
            revis|document|automat|prototyp|implement|integrat|sett|wir|review|evaluat|compil|collect|clean|split|mov|
            convert|port|add|updat|tun|restructur|simplif|merg|map|launch|record|measur|tweak|turn|replac|debug|script|
            iterat|assembl|consolidat)\w*ing\b
        | \b(?:i|we|i'm|we're|i'll|we'll|let's|going|need|want|plan|planning|decided|have|time|about|trying|
            todo:?)(?: to|'ll)? (?:draft|write|plan|build|prepare|refactor|rewrite|rework|outline|organi[sz]e|design|
            migrate|test|ship|polish|document|automate|prototype|implement|integrate|set up|review|split|move|convert|
            port|restructure|launch|publish|update|turn|map|sketch|finish|record)\b
        | (?:first|second|third|rough|new|next) (?:draft|version|section|outline|chapter)
        | \b(?:draft|outline|plan|spec|notes|write-?up|roadmap) (?:for|of|on)\b
        | \b(?:drafted|rewrote|refactored|migrated|split|automated|restructured|prototyped|outlined)\b
        """,
        beside=AREA,
    ),
)

#: What settles the matter against a look-up, however it is asked.
AGAINST = (
    Cue(
        "an errand",
        Side.AGAINST,
        -3.0,
        r"""
        (?:定|设|设置|调|开|订|来)(?:一?个|好)?{GAP}{0,10}(?:闹钟|闹铃|倒计时|计时器?|定时器?)
        | 提醒(?:我|一下|他|她)(?!(?:自己|们)) | 叫我起床 | 倒计时
        | (?:天气|气温|下雨|下雪|刮风|台风|带伞|紫外线|空气质量|湿度){GAP}{0,6}(?:怎么样|如何|吗|么(?=\?|$)|嘛|多少|
            几度|几级|\?) | (?:会不会|会|有没有|要不要)(?:下)?(?:雨|雪|带伞|打伞)
        | (?:今天|明天|后天|周末|这周|外面|现在){GAP}{0,10}(?:热不热|冷不冷|热吗|冷吗|几度|多少度|天气)
        | 几点(?:了|钟|开|关|到|下|上|钟到)?{GAP}{0,4}(?:\?|$) | (?:现在|今天|明天|那边|当地|北京|时间)几点 | 今天几号
        | 几月几号 | 星期几 | 周几(?:\?|$|啊|来着) | 礼拜几 | (?:是|在)(?:哪天|哪一天|几号|几月) | 农历几
        | (?:等于|合|折合|换成|换算|是|换|约|兑|兑换)(?:多少|几)(?!人|家|种|个项目|钱(?:算|才|合适)) | 换算
        | (?:换成|转换成|转成|折成|兑成)(?:平方|公|英|美元|人民币|台币|日元|欧元|摄氏|华氏|克|千|毫升|米|厘米|斤|磅|
            人民|港币|日币) | 汇率(?:是|多少|怎么算|\?) | 华氏 | 摄氏
        | (?:兑|对)(?:人民币|美元|日元|港币|台币|欧元|英镑) | 翻(?:成|为)[^,。!?;]{0,6}(?:文|语|:)
        | (?:翻译|译)(?:成|为|一下|下|过来|到)(?:[^,。!?;]{0,6})(?:文|语|英|中|日|法|韩|德|西|粤|:|\?|$|一下|,)
        | (?:用|的)?(?:英文|英语|中文|日文|日语|法文|法语|韩文|韩语|德文|德语|西班牙语?|粤语|台语|
            普通话){GAP}{0,12}(?:怎么|如何|怎样|咋)(?:说|讲|写|拼|读|念|翻|表达|称呼) | 什么意思(?:\?|$|啊|呀)
        | {CREATURES}(?:们)?(?:们|都|是|又是)?{HOW}(?!养|喂|做|治|画|拍|防|赶|驱|洗|处理|抓|捉|吃|选|挑|买|烧|煮|教|写|种|保|
            看待|解释|样)
        | \bhow (?:do|does|did|can) (?:an? |the |wild |baby )?{CREATURES_EN}\b
        | {HOW}(?:换?算|换|折)成{GAP}{0,4}(?:米|公里|公分|公斤|克|斤|两|磅|升|度|元|币|英)
        | □的?[\u4e00-\u9fff]?{HOW}(?:写|读|念|拼|说)(?:\?|$) | \bhow (?:do|would|should) (?:i|we|you) (?:write|express) \d
        | {HOW}(?:读|念|拼|发音)(?!书|论文|文|完|懂|过) | (?:字|词){HOW}(?:写|读|念|打)
        | (?:拼音|声调|笔顺|笔画|部首|读音|发音|同义词|反义词|近义词)(?:是|怎|有|\?|$) | 第几声
        | (?:错别字|错字|语病|标点|大小写|语法错|拼写){GAP}{0,12}(?:改|检查|查|纠|吗|没有|\?|$|:)
        | (?:改|检查|查|挑|纠正|修正|看看){GAP}{0,10}(?:错别字|错字|语病|标点|拼写|语法) | 有没有(?:错字|错别字|语病)
        | 改成(?:小写|大写|繁体|简体|全角|半角) | (?:转|换)成?(?:小写|大写|繁体|简体)
        | (?:\d|[一二三四五六七八九十百千万])(?:加|减|乘|除以|乘以|的平方|开方|百分之){GAP}{0,12}(?:等于|是多少|得多少|
            几\?|算) | (?:算一下|帮我算|算算|计算){GAP}{0,20}(?:\d|加|减|乘|除|总共|多少|一共)
        | \d\s*[*x×/+%]\s*\d+.{0,12}(?:多少|几|\?) | (?:打|拨)(?:一?个|通)?(?:电话|视频)?给
        | (?:给|帮我给|跟){GAP}{1,8}(?:发|打|回|拨)(?:个|条|一?[个条封])?(?:电话|微信|短信|消息|讯息|信息|语音|视频|
            line) | 回拨 | (?:地铁|公交|中心|轻轨|捷运|高铁)(?:怎么|如何|咋)(?:坐|搭|走|转|换)
        | (?:国|省|市|州)(?:花|鸟|歌|旗|徽|树)(?:是|叫)
        | (?:站|店|院|馆|寺|庙|山|园|场|校|厦|楼|局|口|港|桥|街|村|镇|城|区|厅|宫|塔|所|这里|这儿|那里|那儿)(?:要|该|
            应该)?(?:怎么|如何|咋)(?:走|去|坐车|搭车|到|过去)
        | (?:去|到|从|回){GAP}{1,12}(?:怎么|如何|咋)(?:走|去|坐车|搭车|过去)(?!才|更)
        | 最近的(?:地铁|厕所|药店|便利店|超市|加油|公交|医院|停车|银行|洗手间|充电) | 导航(?:到|去|回)
        | 打车{GAP}{0,6}(?:多久|多少)|(?:走路|开车|坐车|打车|骑车|高铁|飞机)(?:去|到|要|过去)?{GAP}{0,8}(?:多久|
            多长时间|几个小时|几点) | 堵不堵|路况
        | (?:放|播放|播|来|听|切)(?:一?首|点|下一首|上一首|一?段)?{GAP}{0,10}(?:的歌|音乐|歌(?:曲|单)?|曲子|白噪音|电台|
            广播)(?:\?|$|,|。|来|听|吧) | 下一首 | 上一首 | 暂停播放 | 音量 | 静音 | 单曲循环
        | (?:开|关|打开|关上|关掉|调高|调低|调亮|调暗|调到|锁|拉上)(?:一下)?{GAP}{0,8}(?:灯|空调|电视|窗帘|蓝牙|wifi|
            wi-fi|暖气|风扇|手电筒?|亮度|飞行模式|勿扰|热点|门|扫地机|热水器|加湿器)
        | (?:灯|空调|亮度|屏幕|温度|字体|窗帘|暖气|电视|手机){GAP}{0,6}(?:调|关|开)(?:到|成|低|高|亮|暗|大|小|一|掉|上|
            下) | 截(?:个)?图 | 拍张照
        | (?:订|买|预订|预约|叫|点|下单|约|取消)(?:一|两|三|几|个|份|张|间|辆)?{GAP}{0,14}(?:票|外卖|餐厅|酒店|机票|
            车票|位子|座位|出租车|专车|网约车|奶茶|咖啡|披萨|快递|闪送|挂号|号源|桌)(?=\?|$|,|。|吧|吗|谢)
        | 快递(?:到哪|到了|单号|在哪)
        | 查(?:一?下)?{GAP}{0,10}(?:快递|航班|余额|账单|话费|流量|天气|车次|物流|电话|地址|邮编|股价|油价|限行|彩票|
            比分|汇率) | (?:加|放|添加|记)(?:到|进|入)?{GAP}{0,6}(?:购物清单|购物车|待办|日历|日程|采购单)(?:里|上|中)?
        | (?:股价|油价|金价|房价|票价|比分|门票|邮编|区号|电话号码|身高|年龄|生日|首都|面积|人口|海拔|国歌|国旗|省会|
            货币|密度|沸点|熔点){GAP}{0,6}(?:是|多|几|什么|哪|怎么|\?)
        | 谁(?:发明|写的|演的|唱的|导演|画的|创立|创办|建的|提出|主演|赢了|是{GAP}{2,10}(?:总统|作者|导演|主演|创始人|
            首相|国王|皇帝)) | (?:作者|导演|主演|创始人|总统|首相|皇帝|原唱|主唱|发明者?)是谁
        | (?:有|是)?多(?:高|远|重|深|宽|长|大年纪|大岁数|少岁|少米|少人口|少公里|少卡|少克)(?=\?|$|啊|呢|来着)
        | 哪(?:一)?年(?:出生|成立|去世|上映|建|发明|开始|的|发生|统一|结束) | 首都(?:是|在|叫) | 属什么 | 什么星座
        | (?:世界上?|全世界|全球|全国|中国|亚洲|欧洲|美国|历史上|太阳系|人类)(?:上|里|中)?最{GAP}{0,20}(?:\?|哪|谁|什么)
        | 哪(?:一)?(?:个国家|个朝代|座山|条河|颗星|个星球|位皇帝|国人|届)
        | 是什么(?:颜色|动物|植物|牌子|味道|日子|节日?|字|单位|星座) | 有什么新闻 | (?:公里|千米|英里|热量|卡路里)\?
        | 重命名|文件名{GAP}{0,6}改 | 复制(?:到|一份)
        | 打开(?!思路|局面|市场|话题|脑洞|销路|视野|新){GAP}{0,8}(?:文件|网页|链接|应用|app|微信|浏览器|相机|设置|日历|
            邮箱) | \b(?:set|start|stop|cancel|snooze|put)\b[^.?!]{0,24}\b(?:timer|alarm|reminder|countdown|stopwatch)\b
        | \bremind me\b | \bwake me\b
        | (?:what(?:'s| is) the|check the|how(?:'s| is) the|today's|tomorrow's|local) (?:weather|forecast|temperature)
        | \bweather (?:today|tomorrow|like|forecast|in|for|this)\b | need an umbrella
        | (?:will|is|gonna|going to|does|supposed to|if) (?:it |there be )?(?:going to |be )?(?:\w+ )?(?:rain|snow|
            sunny|windy|raining|snowing)\b | how (?:hot|cold|warm) is it
        | what(?:'s| is)? ?(?:the )?(?:time|date|day)(?: is it| of the week| today| now|'s|\?| in)
        | what (?:time|day|date)\b
        | when (?:is|does|do|did|was|were) (?!it (?:make|worth|better)|a good|the (?:best|
            right))(?:[\w']+ ){0,5}(?:open|close|closes|start|end|holiday|easter|christmas|ramadan|birthday|arrive|
            leave|born|die|built|sunset|sunrise|game|match|due)\b | days? until | how much (?:is|are) [^?]{0,6}\d
        | time difference | \bwhat year\b
        | what(?:'s| is| are) the (?:best-?selling|most (?:popular|expensive|common|famous)|oldest|fastest|richest|
            rarest|deadliest|hottest|coldest|busiest) (?!way|approach|method|option|step|thing)
        | 第[一二三四五六七八九十\d]+(?:个|位|任|名|颗|首){GAP}{0,4}是(?:什么|谁|哪)
        | \bin (?:yen|euros?|dollars?|pounds|usd|eur|gbp|kilos|kg|celsius|fahrenheit|miles|km)\b[^.]*\?
        | \b(?:convert(?! (?:my|our)\b)|conversion)\b[^.?!]{0,40}\b(?:to|into|in)\b (?!a\b|an\b|html|markdown|notes|pdf|the)
        | how many (?:\w+ )?(?:cups?|grams?|ounces?|miles?|kilomet\w+|feet|inches|pounds?|kilos?|met(?:er|re)s|lit(?:er|
            re)s|m?l|days?|hours?|minutes?|seconds?|weeks?|calories|people live|countries|planets|states|bones|
            teaspoons?|tablespoons?|stone|gallons?|pints?|yards?|euros?|dollars?|bytes|mb|gb|players)\b
        | \b(?:fahrenheit|celsius|exchange rate)\b | \btranslat\w+\b[^.?!]{0,60} (?:in)?to\b | \btranslate\b
        | \b(?:french|spanish|german|chinese|japanese|english|italian|korean|latin|greek|russian|portuguese) (?:word|
            name|term|phrase) for | \bword for [^?]* in \w+\?
        | how (?:do|would|can|should) (?:you|i|we|one) (?:properly |correctly |actually )?(?:say|spell|pronounce|
            write) (?:["'\u201c\u2018(]|this|that|the (?:word|name)|it|\w+ in|\w+(?:\?|$)|\u25a1)
        | how to (?:say|spell|pronounce)\b | how (?:is|are) [^.?!]{1,30} (?:spelled|spelt|pronounced|said|written)
        | \b(?:spell|pronounce|spelling of|pronunciation of|synonyms? (?:for|of)|antonym|meaning of|define|
            definition of|conjugat\w+)\b | what does [^.?!]{1,40} (?:mean|stand for)\b
        | what(?:'s| is) [^.?!]{1,30} in (?:french|spanish|german|chinese|japanese|english|italian|korean|portuguese|
            mandarin|cantonese)
        | \b(?:fix|correct|check|proofread|spot)\b[^.?!]{0,30}\b(?:typos?|spelling|grammar|punctuation|
            capitali[sz]ation)\b | any typos | (?:uppercase|lowercase|title case)
        | what(?:'s| is)? \d[\d.,]*\s*(?:%|percent|plus|minus|times|divided|x|\*|\+|-|/) | \b\d+ ?(?:%|percent) of \d
        | square root | add (?:these|up) (?:\w+ )?numbers | \d+ (?:plus|times|minus|divided by) \d+
        | \b(?:call|ring|phone|text|message|dial)\b (?:my |the |up )?(?:mum|mom|dad|wife|husband|brother|sister|boss|
            office|doctor|dentist|him|her|taxi|cab|uber|them|landlord|plumber|grandma)\b
        | \b(?:send|shoot)\b [^.?!]{0,20}\b(?:text|message|sms)\b (?:to|saying)
        | (?:how do (?:i|we|you) get|directions|way|navigate|route|drive|walk|bus|train) (?:to|from) (?:the |
            my )?(?:nearest|airport|station|home|hotel|museum|downtown|hospital|city|office|beach|stadium|centre|center|
            platform)\b
        | nearest (?:\w+ )?(?:station|pharmacy|toilet|atm|gas|petrol|shop|store|bank|restroom|cafe|supermarket|bus stop|
            hospital|exit) | how (?:long|far) (?:is|does it take|to|will|would it) [^.?!]{0,40}
        | \bplay\b (?:some|a|the|my|me|that|next|something) (?!role|part|with|book)(?:[\w']+ ){0,4}?(?:jazz|music|song|
            songs|playlist|album|podcast|radio|track|rock|lullaby|rain|noise|piano|classical)\b
        | \b(?:skip|pause|resume|shuffle)\b (?:this|the|my)? ?(?:song|track|music|playlist) | volume (?:up|down|to)
        | \b(?:turn|switch|dim|lower|raise)\b (?:on|off|up|down|the) ?[^.?!]{0,30}\b(?:lights?|lamp|ac|air con\w*|
            heating|heater|tv|fan|thermostat|volume|brightness|bluetooth|wi-?fi|screen)\b | \block the (?:door|screen)
        | \b(?:book|order|reserve|buy|get)\b (?:me |us )?(?:a |an |two |three |some |\d )?(?:[\w']+ ){0,3}?(?:table|
            tickets?|taxi|cab|uber|pizza|flight|room|seat|appointment|sushi|takeaway|coffee)\b[^.?!]{0,40}(?:for|at|on|
            to|please|tonight|tomorrow|$)
        | (?:add|put) [^.?!]{1,40} (?:to|on) (?:my |the )?(?:shopping|grocery|to-?do|packing) list
        | (?:add|put) [^.?!]{1,40} (?:to|on|in) (?:my |the )?calendar
        | what(?:'s| is| are) the (?:\w+ )?(?:capital|population|height|boiling point|currency|tallest|largest|longest|
            highest|smallest|national|area code|zip code|score|distance|atomic|phone number|address|price of|
            stock price|speed of|chemical|plural)\b
        | who (?:wrote|invented|painted|discovered|composed|directed|sang|won|founded|played|is the (?:president|king|
            queen|ceo|prime|author|director|mayor)|was the)
        | how (?:tall|old|big|deep|heavy|high|fast|wide) (?:is|are|was|were|do|does|can)
        | (?:what|which) (?:year|country|planet|river|city|actor) (?:is|was|did|has|won|won't|were)\b
        | where (?:is|was) [^.?!]{1,30}(?:located|born|from|airport|bathroom|remote)\b
        | rename (?:this|the|that|my) (?:file|folder|document)
        | (?:open|close|launch) (?:the |my )?(?:browser|camera|calendar|settings|email|spotify|maps|calculator)
        | track my (?:package|parcel|order) | flip a coin | roll (?:a |the )?(?:die|dice)| 抛硬币|掷骰子
        """,
    ),
    Cue(
        "asks in form only",
        Side.AGAINST,
        -2.0,
        r"""
        得{HOW}(?:了|啦)?\??$ | 怎么[^,。!?;]{0,8}(?:得|成)(?:这么|那么|这样\W*$|这副) | 怎么连[^,。!?;]{1,10}(?:也|都)
        | 怎么(?:一(?:转眼|眨眼|下子|晃)|说变就变|说走就走)
        | (?:是)?(?:怎么|如何|怎样)(?:形成|产生|诞生|灭绝|起源|演化|进化|发现|发明|冬眠|呼吸|繁殖)(?:出来)?的
        | (?:怎么|怎样)(?:能|可以|好意思)(?:这|那)(?:样|么|种)
        | \bhow do (?:i|we) (?:look|sound|seem|smell)\b(?! (?:up|for|after|at|into|back)\b) | \bhow do you do\b
        | \bhow do (?:i|we|they) (?:always|still|ever|already|even (?!start|begin|get|approach|choose)|manage to|
            make it look|love|hate|adore|miss|have no)\b | \bhow do you (?:sleep at night|live with yourself|even find)\b
        | \bhow do (?:i|we) know (?:you|it's you)\b | \bhow do i tell you\b
        | \bhow (?:can|could) (?:it|that|this) be\b(?! \w+ed\b) | \bhow could (?:he|she|they|you)\b
        | \bhow can you (?:sleep|say|be so|do this|do that|eat|think|not)\b
        | \bhow can one (?:cat|dog|person|child|kid|man|woman|family|house|day)\b
        | \bhow could (?:i|we) (?:ever|forget|refuse|resist|say no)\b | \bhow can (?:i|we) ever (?:thank|repay|forget)\b
        | \bhow (?:would|should) (?:i|we) know\b(?! (?:when|if|whether|which|what)\b)
        | \bhow dare\b | \bhow (?:was|were) (?:i|we) (?:supposed|meant)\b
        | \bwhat did (?:i|we) (?:ever )?do (?:wrong|to deserve)\b
        """,
    ),
    Cue(
        "already decided",
        Side.AGAINST,
        -0.8,
        r"""
        已经?决定 | 决定(?:了|用(?!哪|什么|不)|不(?!下|了)|保留|续|先用|就) | 就这么(?:定|办) | (?:^|[,。] ?)定了
        | 定下来了 | 选好了 | 结论(?:是|:) | 最后(?:选了?|用了?|还是(?!不知)|决定) | 敲定 | 拍板了 | 不再(?:折腾|纠结)
        | 不纠结了 | 婉拒 | 果断 | \b(?:decided|chose|agreed|opted) (?:to|on|not|for|that|against)\b | \bwent with\b
        | \bsettled on\b | \bfinal decision\b
        """,
    ),
)


#: A need asked for in so many words: a way of doing something, a recommendation, one's own notes. How it reads takes it back
#: only as far as ``PLAIN_LEAST``. Not questions of others' doings, of how something came about, of talk or of a day's needs.
PLAIN = Cue(
    "is a plain question",
    Side.LEAN,
    0.0,
    r"""
    (?<![你您他她它谁咱])(?<!你们)(?<!他们)(?<!她们)(?!{ASTONISHED}){OWN_HOW}(?:{REAL_HOW})(?<!怎么[看想知说走坐穿称联过吃喝玩])(?<!怎样[看想过])
        (?<!如何[看称])(?<!怎么[觉舍认])(?!(?<=才)算){GAP}*(?:,{GAP}*){0,2}\?
    | (?:推荐|建议)(?:吗|么|的吗?|没有?)?\?$ | 有(?:没有|什么|啥)?(?:好的?|值得)?推荐(?:的|吗|么)?(?:\?|$) | 求推荐
    | {MY_NOTES}
    | \b(?<!know )(?<!that's )how (?:do|can|should|could|would|might) (?:i|we)\b (?:even |best |properly |actually )?
        (?!look\b|feel\b|seem\b|sound\b|know you\b|put (?:this|it)\b|say\b|do (?:it|this|that)?\?)\w+ [^?]*\w
    | (?:^|[,:.;?] ?|\band )how (?:to|do you (?!do\b|like\b|feel\b|know\b|say\b|spell\b|think\b|mean\b|want\b|
        even (?!start|begin)|dare\b|take your\b)|would you (?!like\b|feel\b|say\b|know\b))(?!say\b|spell\b|pronounce\b)\w+ [^?]*\w
    | what(?:'s| is| are| would be) (?:the|a|some|your) (?:\w+ )?ways? (?:to|of|for)\b
    | \b(?:any|some) (?:\w+ )?(?:recommendations?|suggestions|tips|advice)(?: (?:for|on|about|to|with|how|when|regarding)\b|\?|$)
    | {MY_NOTES_EN}
""",
)
#: What follows a question and says that it was answered, or was none.
ANSWERED = r"""
    [了过他她它]|还好|后来|最后|终于|已经?|原来|其实|因为|由于|答案|结果|回答|不想|不用|没人|都在|就是|才是|说|哈哈|而是|只是|也许|大概
    | \b(?:\w+ed|was|were|did|had|went|got|ate|took|made|came|found|bought|said|told|kept|turned|because|answer|nobody|no one|
        they|he|she|never mind|anyway|who cares|haha|lol|apparently|simple|easy|by)\b
"""
#: What is left of a plain question without these is what it is about.
PLAIN_FRAME = r"""
    怎么样?|怎样|怎麽|如何|咋|请问|应该|可以|才能|比较|有没有|什么|推荐|现在|今天|到底|究竟|这个|那个|这样|那样|东西|事情|一下
    | [我你您他她它们该要能会才得去来做办弄搞好呢啊呀吗么嘛的了着过是在这那个些和跟把给帮都也就再还对请]
    | \b(?:how|do|does|did|can|could|should|would|might|what|what's|is|are|be|have|i|we|you|one|me|my|our|your|it|this|that|
        these|those|them|the|a|an|to|of|for|on|about|in|with|at|any|some|way|ways|best|good|best|even|properly|actually|
        recommendations?|suggestions?|tips|advice|write|note|save|now|today|here|there|so|and|or|thing|things|stuff)\b
"""

#: What follows is the object of an errand: a text to translate or to correct.
GIVEN_TEXT = r"""
    (?:翻译?成|翻译|译成|错别字|错字|语病|润色|标点|改写一下|translate|proofread|typos?|spelling|grammar|
        rephrase)[^。!?\n:]{0,40}:
"""
#: A clause about what others do, say or were seen doing, up to the next comma; with what they say, if that follows a colon.
REPORTS = r"""
    (?:作者|这本书|书里|电影|片子|演讲|讲座|节目|播客)[^。!?;\n]{0,8}(?:讲|说|写)[^。!?;\n]{0,40}(?=[。!;\n]|$)
    | (?:^|[,:。!?;] ?|今天|昨天|刚才|刚刚|昨晚|早上|中午|下午|晚上|听|看见|看到|遇到|碰到)(?:我|我们|我家|那个|一个|
        有个|某个)?的?{OTHERS}(?:们|家|俩)?[^,。!?;:\n我]{0,12}?{SAYS}(?:[:,] ?)?[^,。!?;\n]*
    | (?:^|[,。!?;] ?)(?:今天|昨天|刚才|刚|昨晚|早上)?[^,。!?;\n我]{0,8}?(?:听说|听见|听到|看见|看到|刷到|路过|梦到|
        梦见|据说|偷听|有人在|传闻|里在讲|广告)[^,。!?;\n]*
    | (?:(?<!不)(?<!想)知道|学会|学到|教会|讲的|讲了|写了|写的|解释|说明了|演示|示范|聊到|聊了|谈到|终于(?:知道|明白|懂|
        搞懂|弄懂)|明白了|懂了|记录了|描述|回忆|介绍了)[^,。!?;:\n]{0,10}{HOW}[^,。!?;:\n]*(?=[,。!;\n]|$)
    | (?:^|[,.;] ?)(?:my |our |the |a |an |some |this |that )?(?:someone|somebody|neighbou?r|friend|boss|colleague|
        coworker|co-worker|cousin|sister|brother|mum|mom|dad|father|mother|grandpa|grandma|wife|husband|roommate|guy|
        girl|man|woman|kid|uncle|aunt|teacher|ceo|he|she|they|people at|everyone at|
        the people)\b(?:'s)?[^,.;?]{0,30}?\b(?:says?|said|told|asked|asks|named|names|calls|called|had|has|was|were|is|
        are|left|keeps|thinks|wants|wanted|talked|talking|mentioned|bragg\w+|wears?|wore|bought|likes?|loves?|got|gave|
        showed|works?|taught|explained|knows)\b[^,.;?]*
    | \b(?:overheard|heard|saw|passed|noticed|dreamt|dreamed) (?:a|an|some|my|the|two|someone|somebody|that|
        about)\b[^,.;?]* | (?:the|that) words? \w+\s
    | \b(?:taught|showed|told|asked|explained to|reminded) (?:me|us|him|her|them) (?:how|what|why|whether|which|
        where)\b[^,.;?]*
"""


@cache
def chinese_of(patterns: str) -> re.Pattern[str] | None:
    """The alternatives with Chinese in them."""
    chinese = [each for each in map(_filled, _alternatives(patterns)) if _CHINESE.search(each)]
    return re.compile("|".join(chinese)) if chinese else None


@cache
def english_of(patterns: str) -> re.Pattern[str] | None:
    """The alternatives without Chinese; they may begin only where a word does, which is faster."""
    english = [each for each in map(_filled, _alternatives(patterns)) if not _CHINESE.search(each)]
    return re.compile(rf"(?:\b|(?=[^\w\s]))(?:{'|'.join(english)})", re.ASCII) if english else None


@cache
def compiled(patterns: str) -> re.Pattern[str]:
    """All alternatives as one pattern."""
    return re.compile("|".join(map(_filled, _alternatives(patterns))))


_CHINESE = re.compile(r"[\u4e00-\u9fff]")
#: English at all; a question mark alone goes with the English patterns.
_ENGLISH = re.compile(r"[a-z]{2}|\?")


def _alternatives(patterns: str) -> list[str]:
    """Line breaks and the spaces around a bar are layout."""
    text = re.sub(r"\s*\n\s*\| ", " | ", "\n" + patterns.strip())
    return [each for each in re.sub(r"\s*\n\s*", "", text).split(" | ") if each]


def _filled(pattern: str) -> str:
    for name, words in LISTS.items():
        pattern = pattern.replace("{" + name + "}", words)
    return pattern
