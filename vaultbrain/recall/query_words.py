"""What people say around a subject, by kind: the words that a short query drops, and the few that it orders or weighs.

Pure: tables only. Chinese is folded to the simplified script, English without letter case. A word stands here for its kind, never
for a sentence in which it was met; what is a subject somewhere (膝盖, 咖啡) is only weighed down (``ASIDES``), not dropped.
"""

from __future__ import annotations

from vaultbrain.retrieve.concepts import STOP_WORDS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What is wanted of the subject: a way, an example, a comparison, an order of things. It stands last in a query.
INTENTS = _words("""
做法 办法 方法 方案 步骤 流程 工作流 顺序 清单 比较 对比 对比表 对照表 案例 例子 实例 范例 模板 框架 策略 规划 计划 安排 路线
路线图 思路 技巧 教程 指南 规则 规矩 规范 原则 准则 标准 注意事项 经验 心得 大纲 提纲 结构 优缺点 优点 缺点 区别 参数 配置
设置 时间表 日程表 排查 诀窍 要点 口诀 手册 指引 决策 优先级 选型 攻略 食谱 配方 公式 写法 用法 话术 套路 行程 灵感 复盘 取舍
判断 想法 问题 分工 练习 workflow workflows plan plans planning case cases step steps checklist checklists template templates
framework frameworks strategy strategies comparison comparisons example examples guide guides runbook routine routines sop
recipe recipes tips tricks order list lists ideas priority priorities schedule schedules settings setup rules outline
structure process tutorial inspiration reference references pros cons
""")

#: Chinese of no subject by itself: grammar, time, number, degree, judgement, and the verbs of doing, saying, having and finding.
_GRAMMAR = """
我 你 您 他 她 它 我们 你们 他们 她们 它们 咱 咱们 自己 我自己 大家 别人 人家 人 谁 有人 每个人 某人 那个谁 谁谁 本人 俺 们 家的
这 那 哪 这个 那个 哪个 这些 那些 哪些 这种 那种 哪种 这样 那样 这么 那么 这儿 那儿 这里 那里 哪里 哪儿 这东西 那东西 这事 那事
这回 那回 这次 那次 上次 下次 上回 下回 这篇 那篇 这条 那条 这套 那套 那几个 这几个 那几条 那几页 这边 那边 其中 其他 其它 另外
另 别的 某 各 每 每次 每个 什么 什么样 什么时候 什么地方 什么东西 多个 什么样的 什么的 啥 怎么 怎样 怎么样 怎么办 怎么做 怎么写
怎么弄 怎么说呢 如何 为什么 为何 为啥 咋 咋办 哪天 几 多少 多久 几个 几条 几招 几次 几种 几部 几天 的 地 得 了 着 著 过 尤其是
特别是 主要是 包括 是 不是 是不是 在 于 有 没有 没 无 不 非 未 别 莫 勿 和 与 跟 同 及 以及 或 或者 还是 而 而且 并 并且 但 但是
可是 可 不过 然而 却 只是 因为 因 所以 于是 如果 要是 若 的话 虽然 尽管 即使 就算 既然 既 无论 不管 除了 除 关于 有关 对于 对 把
被 让 给 叫 使 令 向 往 朝 从 自 自从 由 由于 按 按照 照 照着 跟着 顺着 根据 为 为了 以 以免 免得 省得 比 比起 到 至 直到 当
当时 等 等等
之类 之类的 左右 一样 似的 一般 一边 一下 一下子 一点 一点点 一些 有点 有点儿 有些 有的 也 都 就 就是 才 又 再 再说 还 还有 还要
已 已经 曾 曾经 正 正在 刚 刚刚 刚才 刚好 马上 立刻 立马 赶紧 赶快 快 快要 将 将要 先 然后 接着 最后 终于 结果 最终 一直 总 总是
老是 老 常 常常 经常 往往 通常 平时 偶尔 有时 有时候 从来 从不 突然 忽然 居然 竟然 竟 果然 当然 其实 实际上 究竟 到底 反正 反而
明明 偏偏 偏 幸好 好在 幸亏 可惜 毕竟 至少 起码 最多 大概 大约 差不多 几乎 可能 也许 或许 恐怕 应该 应当 该 必须 一定 肯定 真的
真正
真 假的 确实 的确 简直 尤其 主要 任何 市面上 特别 非常 十分 很 挺 蛮 太 超 超级 倒 倒是 没法 无法 当场 当下 一宿 最 更 更加 越
越来越 越想越 极 极了 比较 相当 多 多么 好多 很多 许多 不少 一堆 一批 一大堆 所有 全部 全 整 整个 整整 完全 根本 彻底 光 光是 只
只有 只要 只好 仅 仅仅 单 单单 共 一共 总共 重新 再次 一起 一块 一同 互相 亲自 随便 随手 顺便 顺手 特意 专门 故意 狠狠 好好 慢慢
渐渐 悄悄 偷偷 默默 老老实实 认真 仔细 直接 间接 分别 各自 一一 逐个 如此 甚至 连 即 便 皆 均 尚 仍 仍然 依然 依旧 并非 而是
不仅 不但 吗 呢 吧 啊 呀 哇 啦 哦 噢 喔 嘛 么 哈 嘞 咯 呗 耶 哎 唉 嗯 呃 额 诶 欸 哼 嘿 嗨 呵 哟 唔 嘘 罢了 而已 来着 算了 好了
罢 嘻嘻 哈哈 哈哈哈 呵呵 嘿嘿 呜呜 里 里面 上 上面 下 下面 中 中间 内 外 外面 前 前面 后 后面 左 右 左边 右边 旁 旁边 之 之中
之间 以上 以下 以内 以外 以来 附近 其
"""
_TIME_AND_NUMBER = """
今天 昨天 明天 前天 后天 今晚 昨晚 明晚 今早 昨夜 早上 上午 中午 下午 晚上 夜里 半夜 凌晨 清晨 傍晚 深夜 大半夜 一早 一大早 早
晚 白天 整晚 整天 整夜 一天 两天 三天 几天 天天 每天 每周 每月 每年 周末 周一 周二 周三 周四 周五 周六 周日 星期一 星期二
星期三 星期四 星期五 星期六 星期天 星期日 礼拜 礼拜天 工作日 这周 上周 下周 这个月 上个月 下个月 月底 月初 年底 年初 年末 今年
去年 明年 前年 到现在 最近 近来 近期 目前 现在 眼下 如今 此刻 以前 之前 从前 过去 先前 早先 早前 以后 之后 后来 将来 未来 随后
时候 的时候 那时 那时候 小时候 同时 当年 当天 前阵子 这阵子 这段时间 那段时间 这几天 这两天 前几天 过几天 一会 一会儿 半天
半个 片刻 分钟 小时 两小时 秒 点钟 钟头 盆 碗 杯 瓶 袋 盒 壶 桶 箱 根 颗 粒 株 棵 滴 勺 行 列 排 年 月 日 号 天 周 点 点半 刻
岁 回 次 遍 趟 下 阵 番 轮 一轮 一次 一回 一遍 两次 两回 两遍 一年 两年 三年 个月 三个月 两个月 个 一个 两个 三个 十来个 半 双
对 台 本 篇 部 件 条 张 把 只 头 间 家 座 份 位 名 群 组 块 片 段 句 页 集 章 种 类 样 项 款 批 层 级 届 所 辆 架 一段 一套 一
二 三 四 五 六 七 八 九 十 百 千 万 亿 两 俩 仨 零 第一 第二 第三 第一次 首次 万块 块钱 元 哪家 哪一家 哪位 哪部 哪本 哪招
哪一种 哪一个 一半 大半 前半 后半
"""
_DOING = """
想 想要 要 需要 需 希望 愿意 打算 准备 决定 觉得 感觉 认为 以为 知道 不知道 晓得 明白 懂 记得 不记得 记不清 记不得 记住 忘 忘了
忘记 想起 想起来 想不起来 想一想 想想 想到 看 看看 看到 看见 看完 看过 看一下 看一看 瞧 捞 捞一下 捞出来 叫出来 找 找找 找到
找出 找出来 找来 找回 查 查查 查一下 查到 翻 翻翻 翻出 翻出来 翻看 翻一下 翻到 搜 搜搜 搜索一下 参照 参考 对照 对照一下 参考一下
确认 确认一下 了解 弄清 弄清楚 搞清 搞清楚 搞懂 弄懂 帮 帮我 帮忙 帮帮 麻烦 请 请问 拜托 求 求助 能 能够 可以 能不能 可不可以 会
会不会 敢 肯 可否 是否 有没有 要不要 该不该 值不值得 值得 适合 合适 来 去 来去 上来 下来 出来 出去 回来 回去 进来 进去 起来 过来
过去 上去 下去 拿 拿来 拿出来 拿出 取 放 放哪 放到 搁 做 做过 做了 弄 搞 干 办 用 用来 使用 利用 拿去 写 写过 写下 写的 写了 记
记过 记下 记录过 记录 存 存过 保存 收藏 收藏过 收藏夹 笔记里 摘抄 摘录 抄 攒 收集 收集过 总结 总结过 整理过 整理 列 列过 列出 说
说过 说起 说起来 说来 讲 讲过 讲讲 聊 聊聊 聊过 谈 谈谈 提 提到 提过 问 问问 答 回答 告诉 叫做 叫 喊 骂 念 听 听说 听到 听过 读
读过 学 学过 教 玩 吃 喝 买 卖 送 借 还给 给我 收 付 花 坐 站 走 跑 跳 躺 睡 醒 起 起床 睡觉 吃饭 开 开始 关 关掉 打 打开 进 出
回 到了 变 变成 成 成了 成为 换 换成 改 改成 改一下 加 减 删 删掉 删除 挪 搬 选 挑 挑出 定 排 分 分成 拆 合 并入 接 带 带来 带上
戴 穿 拍 画 试 试试 试过 试一下 试一试 等着 等到 靠 当成 交 背 完 缺 欠 差点 差点儿 怼 干掉 搞定 弄完 停 停下 留 留下 留着 剩
剩下 丢 扔 掉 坏 坏了 破 补 补上 救 修 碰 碰到 遇到 遇上 发现 发生 发 发给 收到 属于 算 算是 算算 算错 算一下 好像 像 似乎
看起来 看来 听起来 继续 停止 完成 结束 出现 存在 进行 得到 获得 拿到 达到 处理 解决 负责 参加 参与 加入 开会 散会 上班 下班 加班
出差 出门 回家 在家 到家 上课 下课 放学 发信息 发消息 打电话 开口 点头 摇头 答应 拒绝了 同意 反对 推荐 介绍 建议 提醒 劝 催 催我
逼 抱怨 吐槽 吵 吵架 争 吼 哭 笑 笑我 叹气 发火 生气 发呆 犹豫 纠结 折腾 打扰 打搅 叨扰 耽误 耽搁 承认 放弃 坚持 努力 拖延 偷懒
躲 逃 抢 赶 追 醒来 睡着 趴 泡 堆 堆着 夹 盯 盯着 扯 瞎扯 装 装懂 拉 拉我 抖 晕 踩 按 守着 好不好 行不行 对不对 过得去 见效 管用
有用 没用 救回来 调出来 挖出来 拿来用 用上 用得上 沿用 套用 照抄 照搬 照做 复用 回顾 回忆 借鉴 琢磨 商量 讨论 考虑 对付 应付
面对 看懂 看清 带走 放着 出炉 上线 下线 弄好 做完 写完 做好 写好 排好 想好
"""
_SAYING = """
说实话 老实讲 老实说 讲真 讲道理 讲真的 说真的 说白了 说到底 坦白讲 坦白说 不瞒你说 我跟你讲 我跟你说 跟你讲 跟你说 你知道吗
你懂的 怎么说 这么说吧 随便说说 就随便说说 说来惭愧 说来话长 言归正传 话说回来 话说 闲话少说 长话短说 不好意思 抱歉 对不起
打扰一下 谢谢 多谢 感谢 辛苦 您好 你好 嗨喽 哈喽 早安 晚安 请教 请教一下 问一下 问个 别提了 别提 别笑我 别说了 不说这个 不说了
先不说 不管了 先不管 别管 先别管 管他 无所谓 没什么 没事 没啥 没办法 没关系 没谱 没辙 没戏 谁知道 谁知道呢 天知道 鬼知道
可能吧 好吧 好的 行吧 行 对了 对啦 对吧 也对 也对啦 有道理 大家都说 据说 听人说 依我看 在我看来 我想想 我想想啊 让我想想
等等我 怎么回事 没完没了 也不是 大事 啥大事 省事 也是醉了 我也是醉了 醉了 服了 真服了 我服了 绝了 真的会谢 会谢 谢谢大家 救命
天哪 天啊 我的天 老天爷 老天 妈呀 哎呀 唉呀 哎呀妈呀 哎哟 哇塞 哇噻 我去 卧槽 我靠 靠 晕死 笑死 无语 离谱 绝望 崩溃 心累 emo
抓狂 破防 裂开 emo了 要命 见鬼 倒霉 该死 惨 惨了 完了 完蛋 糟 糟糕 真是的 好家伙 总之 总而言之 反正就是 简单说 具体来说 比如
例如 比如说 譬如
"""
#: Feelings, states and judgements, and what people say in pictures about themselves.
_FEELING = """
烦 烦死 好烦 心烦 烦躁 累 好累 累死 累得 困 困死 犯困 饿 渴 冷 热 好热 好冷 酸 疼死 急 着急 焦急 不急 没有很急 很急 忙 好忙 闲
懒 懒得 好懒 爽 嗨 慌 心慌 怕 害怕 担心 不安 紧张 尴尬 难受 难过 伤心 开心 高兴 快乐 兴奋 激动 郁闷 沮丧 失望 后悔 内疚 惭愧
愧疚 羞愧 丢脸 丢人 害羞 委屈 嫉妒 羡慕 生气 气死 气笑 气得 火大 恼火 崩溃 疯了 快疯了 发疯 恶心 心虚 心疼 心酸 心凉 心态 心情
情绪 心里 心里话 服气 不服气 不服 得意 骄傲 自豪 感动 惊讶 吓 吓人 吓我一跳 吓死 惊 佩服 无聊 孤独 寂寞 疲惫 疲倦 疲劳感 冷静
清醒 淡定 放松下来 糊涂 迷茫 迷糊 头大 头都大 头疼得 脑子 脑袋 浆糊 魂 真哭 想哭 想睡 就想睡 不想读 不想写 不想做 不想动 不想
不听话 手一抖 一抖 嘴快 嘴上 嘴硬 脸皮 笨 笨蛋 傻 蠢 菜鸟 怀疑人生 整个人 泡在水里 压力大 打鼓 心里打鼓 天花乱坠 人山人海 夹中间
乱 有点乱 满 太满 简单 难 好难 太难 容易 复杂 麻烦死 奇怪 怪 好看 漂亮 可爱 丑 美 好 坏 差 差劲 大 小 多 少 长 短 高 低 新 旧 轻
重 贵 便宜 远 近 快 慢 深 浅 厚 薄 胖 瘦 老旧 不错 很好 真好 好棒 太棒 厉害 牛 一般般 普通 正常 严重 重要 要紧 最要紧 有趣
有意思 没意思 可怕 可怜 真实 固定 偏高 偏低 合理 舒服 不舒服 幸运 最好 最好是 更好 最差 不太 不太好 不太好意思 太好 好意思
不认得 认得 不快 对不上 说不清 记不住 分不清 搞不懂 弄不清 看不懂 用不了 打不开 睡不着 忍不住 来不及 受不了 死活 拼命 死 要死 活
命 凉 凉了 湿 干净 脏 臭 笨问题 蠢问题 傻问题 好奇 专家 外行 门外汉 小白 新手小白 记性 记性差 年纪 年纪大 更年期 画大饼 大饼
一句话 一个字 半句 两句 心血来潮 手忙脚乱 莫名其妙 乱七八糟 糊里糊涂 稀里糊涂 前言不搭后语
扎心 社死 摆烂 躺平 绷不住 笑不活 泪目 麻了 上头 下头 傻眼 厌世 没救了 没救 变态 咸鱼 打工人 牛马 丧尸 抓马 心塞 心梗 心碎
泪奔 捂脸 尬 尬死 尴尬癌 窝火 憋屈 憋 憋坏 犯愁 发愁 愁 愁死 犯懒 犯傻 冒火 窝囊 丧气 泄气 提不起劲 没劲 没精神 精神恍惚 恍惚
晕乎 晕乎乎 懵 懵了 懵逼 蒙圈 发懵 一脸懵 无奈 无力 无助 哭笑不得 哭唧唧 爆炸 炸了 炸毛 炸裂 烦人 气人 气疯 吵死 热死 冷死 饿死
撑死
笑话 丢死人 打击 吹牛 逞强 嘴贱 手贱 手滑 手欠 嘴欠 嘴馋 眼馋 犯贱 瞎忙 白忙 白忙活 瞎折腾 瞎操心 操心 闹心 糟心 走神 出神 发愣
愣住 傻笑 偷笑 苦笑 冷笑 傻乎乎 怪怪的 酸溜溜 美滋滋 乐呵 乐坏 好笑 搞笑 可笑 逗 逗死 爆笑 牢骚 唠叨 啰嗦 罗嗦 碎碎念 嘀咕 絮叨
惭愧惭愧 闷葫芦 半斤八两 三更半夜 鬼迷心窍 牛头不对马嘴 歹势 拍谢 有够 夭寿 靠北 傻爆眼 超傻眼 当机 超烦 好废 好衰 衰 衰爆
激动 得瑟 嘚瑟 臭美 感慨 感叹 唏嘘 惆怅 怀念 想念 思念 迷路 暴躁 狂躁 狼狈 心寒 心软 心烦意乱 寒酸 忐忑 惶恐 慌张 慌乱 慌得
够呛 悬 玄乎 邪门 见鬼了 离大谱 就离谱 属实 拉胯 拉垮 翻车 翻白眼 白眼狼 趁热打铁 一头雾水 一脸 满脸 满头 大汗 满头大汗
"""
#: General nouns that name no subject.
_GENERAL = """
记事 正事 急事 东西 事 事情 事儿 情况 方面 地方 时间 时 部分 内容 样子 名字 意思 话 话题 原因 结果 过程 目的 机会 关系 世界 生活
工作 人生 自己的 文字 备忘 备忘录 资料 记录 那页 这页 那张 那部 那段 一段 那本 尽头 全家 家里 家中 手里 手上 身上 心理 眼前 路上
桌上 床上 楼上 楼下 隔壁 门口 外头 屋里 地上 网上 店里 这家 这类 那类 今儿 昨儿 明儿 前儿 后儿 今儿个 昨儿个 明儿个 大清早
大早上 大晚上 大中午 大周末 大冷天 大热天 下雨天 天冷 天热
那会儿 这会儿 那阵子 头一回 头一次 头一遭 一宿 一整天 一整晚 一下午 一上午 一晚上 手头 活儿 好话 坏话 闲话 废话 破事 烦心事 糗事
怪事
现成 现成的 正好 正好有空 有空 没空 抽空 空闲 就要 快要 眼看 这部 这件 那件 件事 这条路 一条 一堆人 一群 样 种种 过程中
理由 一人 一家 一个人
"""
#: Of these, what may be the first half of a subject: 内容拆分.
GENERAL_NOUNS = _words("话题 内容 时间 情况 过程 结果 原因 工作 生活 资料 部分 关系 文字 心理")
DROPPED = _words(" ".join((_GRAMMAR, _TIME_AND_NUMBER, _DOING, _SAYING, _FEELING, _GENERAL))) - INTENTS

#: Verbs that are part of a subject between two words of it: 自动保存设置.
JOINING = _words(
    "保存 删除 收集 收藏 记录 整理 停止 打开 处理 提醒 推荐 介绍 参加 讨论 回顾 搜索 使用 确认 回答 加入 准备 抱怨 沟通"
)

#: Verbs that stay with their object where it is what is sought: 救砖, 选牙膏, 带老人旅行.
OBJECT_VERBS = frozenset("追救打删拆换砍刷选买卖送借收付加减搬挑分接带穿戴拍画补修跑教学读听吃喝养种改写讲聊谈问停留挪放试")
#: Characters that end a stretch of unknown ones: no part of a word that is not in a list. Others of ``DROPPED`` may be: 跑量.
PARTICLES = frozenset("的了着著是在和与也们都就又吗呢吧啊呀啦嘛哦很太我你他她它这那哪没不把被让给从或而但却跟及里最过")
#: A character that makes a word of the one before it.
SUFFIXES = frozenset(
    "量率法表单图器机费期度式性数级集卡本册库网课班证险税款价群店稿线点项感力员师版页包箱柜板桌站圈池树盘键码日坊间车剧章函"
)

#: They tell a story.
STORY_WORDS = _words("差点 摔 骂 吵 哭 瞎扯 吼 炫耀 推销 吐槽 沉迷 上瘾")
FEELINGS = frozenset(word for word in _words(_FEELING) if len(word) > 1)

#: People, bodies, weather, food and the places of a day: more often the colour of a story than the subject of a note.
ASIDES = _words("""
老婆 老公 丈夫 妻子 太太 先生 妈 妈妈 爸 爸爸 爸妈 父母 爷爷 奶奶 外婆 外公 公公 婆婆 岳母 岳父 女儿 儿子 哥 哥哥 姐 姐姐 弟
弟弟 妹 妹妹 亲戚 阿姨 外甥女 叔叔 舅舅 姑姑 表弟 表妹 堂哥 孩子他爸 孩子他妈 同事 老板 主管 领导 经理 上司 下属 客户 甲方 朋友
闺蜜
哥们 室友 同学 老师 教练 医生 护士 师傅 司机 邻居 房东 房客 律师 保安 物业 店员 服务员 搭档 编辑 面试官 候选人 同行 网友 群友
大人 小孩 男友 女友 男朋友 女朋友 对象 我妈 我爸 我弟 我姐 我哥 我妹 我们家 我家 孩子 他爸 他妈 人家 老人家 警察 快递员 外卖员
主任 校长 阿嬷 阿公 学长 学姐 老妈 老爸 婆家 娘家 闺女 客服 店家 小姐姐 小哥 大叔 大妈 大爷 理疗师 伴娘 伴郎 队友 组长 班主任
家长 群主 楼主 博主 路人 保姆 月嫂 媳妇 儿媳 女婿 公婆 侄子 外甥 前台 中介 柜台 司仪 导游 收银员 实习生 总监 投资人 合伙人
供应商 评委 助理 秘书 老师傅 弟兄 伙伴 小伙伴 邻桌 男生 女生 老头 老太太 嗓子 喉咙 脖子 手心 手指 手指头 手 脚 脚趾 腿 肚子 鼻子
眼睛 眼皮 嘴 嘴巴 脸 头 头发 头皮 头疼 头痛 牙 耳朵 肩膀 屁股 胃 心脏 血压 汗 眼泪 感冒 发烧 咳嗽 喷嚏 黑眼圈 天气 太阳 下雨
大雨 雨 雪 下雪 风 刮风 台风 雾 雾霾 阴天 晴天 闷热 降温 空调 窗外 彩虹 月亮 咖啡 茶 奶茶 啤酒 酒 酒桌 火锅 烧烤 外卖 泡面 零食
蛋糕 饭 早饭 午饭 晚饭 夜宵 面包 水 饮料 可乐 冰淇淋 水果 三明治 披萨 聚餐 聚会 饭局 酒局 狗 猫 鸟 蚊子 公交 地铁 捷运 出租车
飞机 高架 堵车 红绿灯 电梯 超市 电话 短信 微信 手机 群里 群聊 朋友圈 快递 包裹 门铃 电铃 电钻 闹钟 沙发 被子 床 枕头 键盘 耳机
直升机 衣服 裤子 裙子 外套 毛衣 羽绒服 背心 鞋 鞋子 鞋带 拖鞋 袜子 帽子 围巾 手套 眼镜 雨伞 伞 钥匙 钱包 书包 背包 口红 冰箱
洗衣机 微波炉 马桶 水管 水龙头 下水道 灯泡 屏幕 鼠标 打印机 投影仪 充电器 电池 插座 桌子 椅子 镜子 地板 墙 墙上 窗帘 窗户 阳光
被单 床单 毛毯 毛巾 牙刷 垃圾 垃圾桶 锅 锅子 碗 盘子 杯子 筷子 走廊 楼梯 楼道 茶水间 办公室 会议室 厕所 厨房 车站 路口 马路 医院
停车场 便利店 商场 澡堂 澡堂子 早餐 午餐 晚餐 便当 盒饭 包子 包子铺 馒头 饺子 面条 米饭 粥 汤 甜点 糖果 饼干 巧克力 西瓜 榴莲
香蕉 苹果 鸡蛋 麻将 扑克 彩票 专辑 演唱会 综艺 连续剧 红包 短裤 创可贴 智齿 肚皮 腰 背 膝 脸皮 嘴唇 舌头 骨头 皮肤 指甲 胳膊
对桌 隔壁桌 后桌 前桌 工位 熊孩子 表姐 表哥 堂姐 堂妹 堂弟 嫂子 弟妹 姑父 姨妈 姨父 舅公 长辈 晚辈 老乡 老同学
老同事 老大 老大爷 老太 阿婆 阿伯 大婶 大嫂 女同事 男同事 女儿家 小侄子 财务姐姐 门卫 清洁工 外卖小哥 快递小哥 维修小哥 顺丰
滴滴 师姐 师兄 师妹 师弟 邮差 邮递员 服务生 店长 路边摊 摊主 老板娘 网红 明星 爱豆 房客 室友们
结巴 脸红 腿软 手抖 头晕 胃痛 胃疼 肚子疼 肚子痛 牙疼 牙痛 腰酸 腰酸背痛 背痛 打嗝 哈欠 打哈欠 冒汗 出汗 流汗 鼻涕 鼻塞 咽口水
口水
鸡皮疙瘩 落枕 嘴角 眉毛 眼角 眼眶 眼袋 白头发 双下巴 小肚子 手臂 手掌 手背 脚底 脚后跟 鞋底 肩 胸口 后背 脊背 脊梁 喘气 脉搏 公里
馄饨 手抓饼 煎饼 油条 豆浆 豆腐脑 凉皮 麻辣烫 米线 螺蛳粉 酸辣粉 盖浇饭 炒饭 汉堡 薯条 炸鸡 薯片 辣条 瓜子 花生 冰棍 雪糕 冰沙
果汁 汽水 雪碧 气泡水 拿铁 美式 卤味 串串 大排档 蛋挞 布丁 泡芙 甜甜圈 月饼 粽子 汤圆 年糕 羊肉串 龙虾 小龙虾 螃蟹 西红柿炒蛋
床底 门把手 鞋柜 抽屉 茶几 电扇 风扇 热水袋 电热毯 吹风机 遥控器 电视机 纸箱 盒子 快递盒
快递盒子 塑料袋 购物袋 马路边 红灯 斑马线 天桥 地铁站 公交站 菜市场 早市 夜市 小卖部 网吧 KTV 酒吧 夜店 理发店 澡堂 健身房门口
救护车 警车 消防车 大巴 动车 车库 拖车 鞭炮 烟花 广场舞 喇叭 电锯 乌鸦 鸽子 麻雀 老鼠 蟑螂 蚂蚁 苍蝇
蜘蛛 松鼠 母鸡 公鸡 博美 脑门 额头 下巴 胡子 脚趾头 公车 轿车 单车 摩托 尾灯 交警 小姑娘 大哥 大姐 二姨 婶婶 姑妈 舅妈 侄女 孙子
前任 前同事 新同事 胖子
短视频 抖音 八卦 热搜 电视 预告 广告 会议 早会 周会 例会 流水账 投诉 白眼 长灰尘 灰尘
""") | _words("""
coffee tea beer wine juice soda sandwich sandwiches pizza toast cereal noodles soup cake cookie cookies lunch dinner breakfast
snack cat cats dog dogs hamster bird birds squirrel mosquito spider sock socks shoe shoes boots jacket umbrella keys fridge sofa
couch pillow bathtub toilet sink plumber barista cop cops toddler baby ex flatmate flatmates housemate cousin uncle nephew niece
bus train subway taxi traffic elevator hallway party playlist karaoke headphones alarm phone laptop
waiter waitress mailman cashier janitor bartender babysitter nurse dentist receptionist stranger strangers passenger
granny nan grandson granddaughter mother-in-law father-in-law in-laws stepmom stepdad bestie mate mates dude bloke lady kiddo
teenager teenagers pigeon pigeons raccoon seagull goose cow rooster rat rats moth wasp bee fly flies puppy kitten
shirt sweater hoodie trousers pants jeans sleeve sleeves scarf gloves hat heels slippers pyjamas pajamas skirt zipper
salad burger fries chips chocolate croissant donut donuts bagel muffin pancake pancakes curry ramen sushi popcorn yogurt jam
banana biscuit biscuits dumpling dumplings taco tacos burrito sausage steak cheese crumbs latte espresso cappuccino coke smoothie
bath office recruiter brunch teams whatsapp snack snacks lego standup hr pm kpi intern interns leader mute siri netflix
starbucks uber costco ikea zoom airpods ktv
kettle blanket mattress doorbell carpet curtain curtains toaster microwave lightbulb candle mug cup spoon fork
bowl plate bucket towel drawer stapler emoji emojis selfie meme memes tiktok instagram
gossip christmas easter halloween thanksgiving tram cab bench puddle ladder storm thunder hail fog
sunburn hangover cold cough sneeze hiccups chin elbow ankle toe toes ear ears hair beard eyebrow tongue tooth
teeth lip lips butt
""")

_ENGLISH_GRAMMAR = """
i'm i've i'd i'll it's that's there's what's let's don't doesn't didn't can't couldn't won't wouldn't isn't aren't wasn't
weren't haven't hasn't hadn't you're they're we're we've we'd we'll he's she's who's where's how's dont cant im ive id ill its
thats didnt doesnt wont am he him his she her hers they themselves himself herself myself yourself ourselves itself mine yours
ours whom whose whatever whoever anyone anybody someone somebody everyone everybody nobody none nothing something anything
everything thing things stuff bit lot lots kind sort couple few several many much most other others another each either neither
both same own again still yet already always never often sometimes usually usual rarely ever once twice soon now today yesterday
tomorrow tonight morning afternoon evening night nights noon midnight week weeks weekend month months year years day days hour
hours minute minutes second seconds while ago last next past recent recently lately earlier early late later before since until
till during monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
sundays january february march april may june july august september october november december spring summer autumn winter one
two three four five six seven eight nine ten dozen hundred first third half time times whole straight away back down up here
there where somewhere anywhere everywhere inside outside near around under above through across along within without against
between among toward because though although unless whether however therefore instead despite except plus via per vs versus like
unlike rather quite pretty fairly just only even also too really very super totally completely absolutely actually basically
literally honestly seriously obviously apparently probably maybe perhaps possibly definitely certainly surely anyway anyways
meanwhile otherwise exactly simply merely almost nearly enough less least more such well hence thus yes no yeah yep nope ok okay
oh ah uh um hmm hm wow ugh hey hi hello lol lmao haha hahaha tbh imo fyi omg btw meh argh phew oops wtf please thanks thank
sorry cheers alright right sure fine great good better best bad worse worst nice cool awesome terrible awful horrible lovely
amazing weird strange funny crazy silly stupid dumb embarrassing embarrassed ashamed rambling tired sleepy exhausted bored
boring sad happy glad angry mad annoyed annoying upset afraid scared worried anxious nervous stressed stressful frustrated
frustrating overwhelmed confused lost guilty lonely excited proud jealous grumpy hungry thirsty sick hopeless lazy busy panicked
panic freaking hate love loved hated feel feeling feels felt mood cry cried crying laugh laughed laughing sigh sighed sighing
yell yelled complain complains complained complaining moan rant joke joking kidding admit confess guess suppose swear bet wish
hope hoping wonder wondering believe old new little easier true false real different difficult simple certain main raining rain
rainy sunny snow windy weather brain mush eye eyes head hand hands fingers finger neck throat nose stomach leg legs foot feet
face tears
whoa boy gosh god jeez yikes welp nah duh sheesh blah else typical particular rant vent bless sideways speechless clueless
starving sweating shivering hungover jetlagged exhausting ridiculous hilarious pathetic miserable grateful drained overthinking
procrastinating drama nightmare disaster vibe vibes karma sanity dignity ego luck fault shame nonsense whatever emo chill
worked compared drew drawn copied gathered recorded logged listed sketched drafted scribbled typed compiled archived summarised
summarized documented tested promised agreed offered returning pray facts thoughts avoid hurt hurts sends sending sent wrong
rude mean loud messy numb moody cranky clumsy foolish hooray
downhill upside upstairs downstairs sidewalk apologies apologise apologize sob sobbing scream screaming screamed shout shouted
grumble mumble nod nodded shrug shrugged smile smiled grin blush fell fall falling slipped tripped burned spilled
spill splashed pretend pretending bother bothered bothering magically somehow kinda sorta
"""
_ENGLISH_DOING = """
be being been want wants wanted wanting need needs needed needing would could should might must shall ought gonna wanna gotta
going goes go went gone come comes came coming get gets getting got gotten take takes took taken taking put puts putting set
sets setting give gives gave given giving keep keeps kept keeping let lets letting make makes made making do does doing done
did try tries tried trying use uses used using look looks looked looking see sees saw seen seeing show shows showed shown find
finds found finding search searching searched dig digging dug pull pulling pulled bring bringing brought fetch grab grabbed
tell tells told telling say says said saying talk talks talked talking ask asks asked asking answer answered know knows knew
known think thinks thinking thought remember remembers remembered remembering forget forgot forgotten remind reminded write
wrote written note notes memo memos noted jot jotted save saved saving bookmark bookmarked collect collected clip clipped
store stored record recorded sum learn learned learnt read reading reread noting revisit trick tricks reuse check checking
checked compare comparing sort start started starting starts begin began stop stopped finish finished end ended happen
happened happens seem seems seemed stay stayed sit sat sitting stand stood stare stared staring walk wait waited waiting turn
turned turns leave left leaving lose loses losing become became stuff call called help helping helped fix fixing touch touched
sign signed eat ate eaten eating drink drank sleep slept sleeping wake woke died die dies dying judge judging judged flooded
knocked killing mean means meant wondering figure figured deal dealing handle handling mess messed messing supposed about able
nothing open opened closed close my mine mom dad mother father wife husband sister brother son daughter kid kids boss
colleague colleagues coworker coworkers neighbour neighbor neighbours neighbors friend friends teacher landlord lawyer doctor
guy guys people person folks family everyone aunt uncle grandma grandpa roommate client clients manager editor idea clue way
ways honest gist question questions point thing part parts story case argument deadline again
"""
#: Dropped but before a word of the subject that is asked for: low light settings, long run plan.
ENGLISH_ADJECTIVES = _words("""
big hard easy tiny huge long short high low small cold hot warm slow fast quick deep dark dry wet light heavy soft open daily
weekly monthly yearly zero
""")
#: Dropped but behind a word that is kept: screen time, day planning.
ENGLISH_GENERAL_NOUNS = _words("time times day days week part parts point points case question questions story night morning")
#: What notes are called: the place of what is sought, and a subject only where somebody keeps or sorts them.
NOTES = _words("笔记 笔记本 便签")
ENGLISH_DROPPED = STOP_WORDS | (_words(_ENGLISH_GRAMMAR + _ENGLISH_DOING) - INTENTS)

#: Modern words of several fields that neither the dictionary nor the lexicon has, kept whole.
OTHER_WORDS = _words("""
断更 复盘 拆分 拆解 选题 种草 小红书 公众号 冷启动 去重 提示词 智能体 向量库 知识库 双链 卡片盒 降噪 哄睡 切块 重排 召回 片单
影单 书单 歌单 菜量 跑量 配速 步频 心率区间 尿酸 血糖 血脂 备餐 减脂 增肌 碳水 空气炸锅 流水 押金 装修 一对一 一对多 多对多
一比一 点对点 端到端 手把手 面对面 幼升小 小升初 初升高 专升本 定投 再平衡 汇算清缴
专项附加扣除 列举扣除 标准扣除 竞业 竞业限制 存证信函 防诈骗 防灾包 留存 转化率 私域 裂变 漏斗 埋点 灰度 软路由 硬盘位 快照
异地备份 内网穿透 反向代理 显卡 固态 阵列 分离焦虑 换粮 换盆 多肉 扦插 光合作用 减数分裂 有丝分裂 指弹 和弦 横按 曝光 快门
镜头 胶片 预设 工作流 知识图谱 微调 幻觉 上下文窗口 长文本 播客 剪辑 分镜 口播 字幕组 英语启蒙 绘本 辅食 学习机 正面管教 限速
代理池 爬虫 开题报告 文献综述 读书笔记 划线 标签 连结 链接 双向链接 插件 日记 周报 拒稿 改稿 投稿 稿件 自由行 签证 民宿 转机
行李 入股 合伙 股权 期权 冷钱包 订阅 影音 记账 信封 红利 保单 医保 重疾险
""")
