"""The words of generated notes, in the language and script of the question. One table; another language is one more column."""

from __future__ import annotations

from typing import Final

LANGUAGES: Final = ("zh-Hans", "zh-Hant", "en")

_TABLE: Final[dict[str, tuple[str, str, str]]] = {
    "conclusion": ("结论", "結論", "Conclusion"),
    "themes": ("按主题整理", "按主題整理", "By theme"),
    "sources": ("引用来源", "引用來源", "Sources"),
    "coverage": ("检索覆盖", "檢索覆蓋", "What was searched"),
    "强": ("强相关", "強相關", "strong"),
    "相关": ("相关", "相關", "related"),
    "弱": ("弱相关", "弱相關", "weak"),
    "matched": ("命中：", "命中：", "Matched: "),
    "by_meaning": ("语义相近", "語義相近", "close in meaning"),
    "partly": ("部分字词", "部分字詞", "some of the words"),
    "keyword": ("关键词", "關鍵詞", "keywords"),
    "semantic": ("语义", "語義", "meaning"),
    "list_join": ("、", "、", ", "),
    "clause_join": ("；", "；", "; "),
    "other_theme": ("其他", "其他", "Other"),
    "found": (
        "CFlow 中有 {total} 条相关内容，其中 {strong} 条直接相关，首先是：{best}。",
        "CFlow 中有 {total} 條相關內容，其中 {strong} 條直接相關，首先是：{best}。",
        "Related memos in CFlow: {total}, directly on the subject: {strong}. First of all: {best}.",
    ),
    "found_loosely": (
        "CFlow 中没有直接回答这个问题的内容，有 {total} 条沾边，首先是：{best}。",
        "CFlow 中沒有直接回答這個問題的內容，有 {total} 條沾邊，首先是：{best}。",
        "No memo in CFlow answers this directly; related: {total}. First of all: {best}.",
    ),
    "best": ("{title} {link}", "{title} {link}", "{title} {link}"),
    "nothing": (
        "CFlow 中没有找到和「{topic}」有关的内容。",
        "CFlow 中沒有找到和「{topic}」有關的內容。",
        "CFlow holds nothing on “{topic}”.",
    ),
    "nearest": (
        "最接近、但不足以引用的是：{links}。",
        "最接近、但不足以引用的是：{links}。",
        "Nearest, but too far off to cite: {links}.",
    ),
    "try": (
        "可以换一个说法再问，或者先运行 vaultbrain sync 取回最新的内容。",
        "可以換一個說法再問，或者先執行 vaultbrain sync 取回最新的內容。",
        "Ask in other words, or run vaultbrain sync first to fetch what is new.",
    ),
    "searched": (
        "查了 {memos} 条 memo 中的 {searched} 条，{queries} 个查询词，读了 {read} 条全文",
        "查了 {memos} 條 memo 中的 {searched} 條，{queries} 個查詢詞，讀了 {read} 條全文",
        "Searched {searched} of {memos} memos with {queries} query words, read {read} in full",
    ),
    "queries": ("查询词：{words}", "查詢詞：{words}", "Query words: {words}"),
    "original": ("{word}（原词）", "{word}（原詞）", "{word} (as asked)"),
    "channels": (
        "关键词通道：{keyword} 条；语义通道：{semantic} 条；两路都命中：{both} 条",
        "關鍵詞通道：{keyword} 條；語義通道：{semantic} 條；兩路都命中：{both} 條",
        "By keywords: {keyword}; by meaning: {semantic}; by both: {both}",
    ),
    "index": (
        "语义索引：{have} / {all} 块，模型 {model}；同步于 {when}",
        "語義索引：{have} / {all} 塊，模型 {model}；同步於 {when}",
        "Vectors: {have} of {all} chunks, model {model}; synced {when}",
    ),
    "first_sync_open": ("第一次同步还没有完成", "第一次同步還沒有完成", "the first sync is not finished"),
    "unmet": ("没有命中任何 memo 的词：{words}", "沒有命中任何 memo 的詞：{words}", "Words that stand in no memo: {words}"),
    "left_out": (
        "没有采用：{count} 条只是沾了字面，低于「弱相关」线",
        "沒有採用：{count} 條只是沾了字面，低於「弱相關」線",
        "Left out, because they only share a word: {count}",
    ),
    "more": (
        "另有 {count} 条相关内容没有列出",
        "另有 {count} 條相關內容沒有列出",
        "Related, but not listed: {count}",
    ),
    "from_server": ("全文取自服务器", "全文取自伺服器", "Full texts come from the server"),
    "from_mirror": (
        "没能从服务器取得全文（{reason}），全文取自镜像",
        "沒能從伺服器取得全文（{reason}），全文取自鏡像",
        "Full texts could not be had from the server ({reason}) and come from the mirror",
    ),
    "from_export": ("全文取自导出文件", "全文取自匯出檔", "Full texts come from the export file"),
    "changed": (
        "{links} 在服务器上刚改过，已用新的内容",
        "{links} 在伺服器上剛改過，已用新的內容",
        "Changed on the server since the last sync, the new text is used: {links}",
    ),
    "changed_unused": (
        "{links} 在服务器上刚改过，这里引用的还是镜像；运行 vaultbrain sync 后再问",
        "{links} 在伺服器上剛改過，這裡引用的還是鏡像；執行 vaultbrain sync 後再問",
        "Changed on the server, but the mirror is cited: {links}. Run vaultbrain sync and ask again",
    ),
    "gone": (
        "{links} 已不在服务器上，引用的是镜像",
        "{links} 已不在伺服器上，引用的是鏡像",
        "No longer on the server, the mirror is cited: {links}",
    ),
    "no_vectors": (
        "还没有语义索引，只查了关键词",
        "還沒有語義索引，只查了關鍵詞",
        "There are no vectors yet: only keywords were searched",
    ),
    "no_model": (
        "语义模型不可用，只查了关键词：{reason}",
        "語義模型不可用，只查了關鍵詞：{reason}",
        "The embedding model is not available, only keywords were searched: {reason}",
    ),
    "no_store": (
        "向量索引用不了，改为逐块比较：{reason}",
        "向量索引用不了，改為逐塊比較：{reason}",
        "The vector index could not be used, every chunk was compared instead: {reason}",
    ),
    # how an answer ages (changes.py)
    "stale_changed": ("引用的 memo 改过：{ids}", "引用的 memo 改過：{ids}", "cited memos were changed: {ids}"),
    "stale_gone": ("引用的 memo 已删除：{ids}", "引用的 memo 已刪除：{ids}", "cited memos were deleted: {ids}"),
    "stale_come": ("有新的 memo 可以引用：{ids}", "有新的 memo 可以引用：{ids}", "new memos would be cited now: {ids}"),
    "and_more": ("{named} 等，另有 {count} 条", "{named} 等，另有 {count} 條", "{named} and {count} more"),
    "what_changed": ("{day} 更新，和上一次相比", "{day} 更新，和上一次相比", "Updated {day}: what changed"),
    "now_cited": ("新引用：{links}", "新引用：{links}", "Now cited: {links}"),
    "now_changed": ("内容改过：{links}", "內容改過：{links}", "Text changed: {links}"),
    "no_longer_cited": ("不再引用：{links}", "不再引用：{links}", "No longer cited: {links}"),
    "now_weighs": ("相关程度变了：{links}", "相關程度變了：{links}", "Weighs differently: {links}"),
    "weighs": ("{link} 现在是{label}", "{link} 現在是{label}", "{link} is now {label}"),
    "mark_gone": ("（已删除）", "（已刪除）", " (deleted)"),
    "mark_block_gone": ("（原段落已不在）", "（原段落已不在）", " (that passage is gone)"),
}  # fmt: skip


class Words:
    """The table's column of one language: ``words("found", total=3, ...)``."""

    def __init__(self, language: str) -> None:
        self._column = LANGUAGES.index(language)

    def __call__(self, name: str, **values: object) -> str:
        return _TABLE[name][self._column].format(**values)
