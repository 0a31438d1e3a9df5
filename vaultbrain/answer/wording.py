"""The words of generated notes, in the language and script of the question. One table; another language is one more column."""

from __future__ import annotations

from typing import Final

from vaultbrain.vault.words_table import LANGUAGES, Column

__all__ = ["HEADINGS", "LANGUAGES", "Words"]

#: Headings that a person may name otherwise.
HEADINGS: Final = ("conclusion", "themes", "contradictions", "gaps", "next", "sources", "coverage")

_TABLE: Final[dict[str, tuple[str, str, str]]] = {
    "conclusion": ("结论", "結論", "Conclusion"),
    "themes": ("按主题整理", "按主題整理", "By theme"),
    "sources": ("引用来源", "引用來源", "Sources"),
    "coverage": ("检索覆盖", "檢索覆蓋", "What was searched"),
    "强": ("强相关", "強相關", "strong"),
    "相关": ("相关", "相關", "related"),
    "弱": ("弱相关", "弱相關", "weak"),
    "matched": ("命中：", "命中：", "Matched: "),
    "by_meaning": ("意思相近", "意思相近", "close in meaning"),
    "partly": ("部分字词", "部分字詞", "some of the words"),
    "list_join": ("、", "、", ", "),
    "clause_join": ("；", "；", "; "),
    "count_join": ("，", "，", ", "),
    "other_theme": ("其他", "其他", "Other"),
    "quoted": ("「{text}」", "「{text}」", "“{text}”"),
    "sentence_join": ("", "", " "),
    "found": (
        "CFlow 中有 {total} 条相关内容，其中 {strong} 条直接相关。",
        "CFlow 中有 {total} 條相關內容，其中 {strong} 條直接相關。",
        "CFlow holds {total} related memos, {strong} of them directly on the subject.",
    ),
    "found_with_one": (
        "CFlow 中有 {total} 条相关内容，其中 1 条直接相关。",
        "CFlow 中有 {total} 條相關內容，其中 1 條直接相關。",
        "CFlow holds {total} related memos, one of them directly on the subject.",
    ),
    "found_one": (
        "CFlow 中有 1 条直接相关的内容：{best}。",
        "CFlow 中有 1 條直接相關的內容：{best}。",
        "CFlow holds one memo directly on the subject: {best}.",
    ),
    "found_all": (
        "CFlow 中有 {total} 条直接相关的内容。",
        "CFlow 中有 {total} 條直接相關的內容。",
        "CFlow holds {total} memos directly on the subject.",
    ),
    "found_loosely": (
        "CFlow 中没有说这件事的内容，只有 {total} 条沾边。",
        "CFlow 中沒有說這件事的內容，只有 {total} 條沾邊。",
        "No memo in CFlow is on this subject; memos that touch on it: {total}.",
    ),
    "found_near": (
        "CFlow 中没有直接说这件事的内容，相近的有 {total} 条。",
        "CFlow 中沒有直接說這件事的內容，相近的有 {total} 條。",
        "No memo in CFlow is directly on this subject; memos close to it: {total}.",
    ),
    "found_filtered": (
        "CFlow 中符合条件的有 {total} 条（{filters}）。",
        "CFlow 中符合條件的有 {total} 條（{filters}）。",
        "CFlow holds {total} memos that meet the conditions ({filters}).",
    ),
    "found_filtered_one": (
        "CFlow 中符合条件的有 1 条（{filters}）。",
        "CFlow 中符合條件的有 1 條（{filters}）。",
        "CFlow holds one memo that meets the conditions ({filters}).",
    ),
    "say_best": ("最切题的是：{best}。", "最切題的是：{best}。", "Closest to the point: {best}."),
    "say_newest": ("最新的是：{best}。", "最新的是：{best}。", "The newest: {best}."),
    "say_addresses": (
        "里面共有 {addresses} 个网址，分在 {memos} 条里。",
        "裡面共有 {addresses} 個網址，分在 {memos} 條裡。",
        "Links in them: {addresses}, in {memos} memos.",
    ),
    "say_addresses_one": (
        "其中有 {addresses} 个网址。",
        "其中有 {addresses} 個網址。",
        "Links in it: {addresses}.",
    ),
    "say_subquestions": ("这些内容里，{names}。", "這些內容裡，{names}。", "They cover {names}."),
    "short_counted": ("{count} 条讲{what}", "{count} 條講{what}", "{what} ({count})"),
    "matched_parts": (
        "CFlow 中有 {total} 条内容和这段文字接近；文字分成 {parts} 部分，其中 {touched} 部分找得到对应的内容。",
        "CFlow 中有 {total} 條內容和這段文字接近；文字分成 {parts} 部分，其中 {touched} 部分找得到對應的內容。",
        "Memos in CFlow close to this text: {total}. Parts of it that are met: {touched} of {parts}.",
    ),
    "matched_all": (
        "CFlow 中有 {total} 条内容和这段文字接近，文字的 {parts} 部分都找得到对应的内容。",
        "CFlow 中有 {total} 條內容和這段文字接近，文字的 {parts} 部分都找得到對應的內容。",
        "Memos in CFlow close to this text: {total}. Each of its {parts} parts is met.",
    ),
    "matched_whole": (
        "CFlow 中有 {total} 条内容和这段文字接近。",
        "CFlow 中有 {total} 條內容和這段文字接近。",
        "Memos in CFlow close to this text: {total}.",
    ),
    "matched_loosely": (
        "CFlow 中没有哪一条和这段文字对得上，只有 {total} 条沾边。",
        "CFlow 中沒有哪一條和這段文字對得上，只有 {total} 條沾邊。",
        "No memo in CFlow matches this text; memos that touch on it: {total}.",
    ),
    "say_closest": ("最接近的是：{best}。", "最接近的是：{best}。", "The closest: {best}."),
    "best": ("{text}{link}", "{text}{link}", "{text} {link}"),
    "nothing": (
        "CFlow 中没有找到和「{topic}」有关的内容。",
        "CFlow 中沒有找到和「{topic}」有關的內容。",
        "CFlow holds nothing on “{topic}”.",
    ),
    "nothing_close": (
        "CFlow 中没有和这段文字接近的内容。",
        "CFlow 中沒有和這段文字接近的內容。",
        "CFlow holds nothing close to this text.",
    ),
    "nothing_filtered": (
        "CFlow 中没有符合条件的内容：{filters}。",
        "CFlow 中沒有符合條件的內容：{filters}。",
        "No memo in CFlow meets the conditions: {filters}.",
    ),
    "nearest": (
        "最接近、但还不足以引用的是：{links}。",
        "最接近、但還不足以引用的是：{links}。",
        "Nearest, but not near enough to cite: {links}.",
    ),
    "try": ("可以试试：{ways}。", "可以試試：{ways}。", "What you could try: {ways}."),
    "try_other_words": ("换个说法", "換個說法", "other words for it"),
    "try_without": (
        "去掉 memo 里没有出现过的词（{words}）",
        "去掉 memo 裡沒有出現過的詞（{words}）",
        "leaving out the words that no memo contains ({words})",
    ),
    "try_shorter": (
        "问得短一些，只留一两个关键词",
        "問得短一些，只留一兩個關鍵詞",
        "a shorter question, just one or two key words",
    ),
    "try_filters": ("去掉一个条件", "去掉一個條件", "dropping one of the conditions"),
    "try_one_more_word": ("多写一个词，说得更具体", "多寫一個詞，說得更具體", "one more word that says what exactly"),
    "try_sync": (
        "先运行 `vaultbrain sync`，取回最新的内容",
        "先執行 `vaultbrain sync`，取回最新的內容",
        "running `vaultbrain sync` first, to fetch new memos",
    ),
    # an exploration (explore.py)
    "this": ("这件事", "這件事", "this"),
    "short_what": ("是什么", "是什麼", "what it is"),
    "short_how": ("怎么做", "怎麼做", "steps and methods"),
    "short_experience": ("经验和效果", "經驗和效果", "experience and results"),
    "short_problems": ("问题和注意事项", "問題和注意事項", "problems and pitfalls"),
    "short_cost": ("花费和数字", "花費和數字", "costs and figures"),
    "short_tools": ("工具和资源", "工具和資源", "tools and resources"),
    "short_plans": ("接下来的打算", "接下來的打算", "plans"),
    "short_decisions": ("做过的决定", "做過的決定", "decisions"),
    "loosely": ("关系较远的", "關係較遠的", "Only loosely related"),
    "besides": ("另外还提到", "另外還提到", "Also mentioned"),
    "contradictions": ("说法不一", "說法不一", "Where memos disagree"),
    "contradicts": (
        "{new_date} 写的是{newer}，{old_date} 写的是{older}",
        "{new_date} 寫的是{newer}，{old_date} 寫的是{older}",
        "{new_date} says {newer}; {old_date} says {older}",
    ),
    "gaps": ("还缺什么", "還缺什麼", "What is missing"),
    "gap_silent": ("这些内容里没有谈到：{names}", "這些內容裡沒有談到：{names}", "Not covered by these memos: {names}"),
    "gap_words": (
        "问题里的这些词，没有一条 memo 出现过：{words}",
        "問題裡的這些詞，沒有一條 memo 出現過：{words}",
        "Words of the question that no memo contains: {words}",
    ),
    "gap_old": (
        "最新的一条写于 {date}，可能已经过时",
        "最新的一條寫於 {date}，可能已經過時",
        "The newest memo is from {date} and may be out of date",
    ),
    "gap_parts": (
        "没有找到对应内容的部分：{parts}",
        "沒有找到對應內容的部分：{parts}",
        "Parts that no memo is close to: {parts}",
    ),
    "next": ("接下来看什么", "接下來看什麼", "What to look at next"),
    "next_tasks": ("还没做完的：{pieces}", "還沒做完的：{pieces}", "Open to-dos: {pieces}"),
    "next_relatives": ("引用来源里提到的：{links}", "引用來源裡提到的：{links}", "Mentioned by the sources: {links}"),
    "next_hits": (
        "也相关、这里没有展开的：{links}",
        "也相關、這裡沒有展開的：{links}",
        "Also related, not covered here: {links}",
    ),
    "next_tags": ("可以翻看的标签：{tags}", "可以翻看的標籤：{tags}", "Tags worth browsing: {tags}"),
    "counted_tag": ("`{tag}`（{count} 条）", "`{tag}`（{count} 條）", "`{tag}` ({count})"),
    # a match
    "whole_passage": ("和整段文字接近", "和整段文字接近", "Close to the text as a whole"),
    "shared": ("都说到：{words}", "都說到：{words}", "both mention: {words}"),
    "more_lines": ("…另有 {count} 个", "…另有 {count} 個", "… and {count} more"),
    # sources
    "copies": ("同样的内容：{links}", "同樣的內容：{links}", "The same text: {links}"),
    "comments_on": ("回应：{links}", "回應：{links}", "Comments on: {links}"),
    "refers_to": ("引用：{links}", "引用：{links}", "Refers to: {links}"),
    # what the person should know before trusting the answer
    "notice": ("请注意", "請注意", "Please note"),
    "mirror_old": (
        "镜像是 {days} 天前的，运行 `vaultbrain sync` 后再问会更准",
        "鏡像是 {days} 天前的，執行 `vaultbrain sync` 後再問會更準",
        "The mirror is {days} days old; run `vaultbrain sync` and ask again",
    ),
    "too_broad": (
        "范围很大：有 {count} 条相关内容，这里只引用了 {cited} 条。可以缩小：{ways}",
        "範圍很大：有 {count} 條相關內容，這裡只引用了 {cited} 條。可以縮小：{ways}",
        "This is broad: {count} related memos, of which {cited} are cited. To narrow it: {ways}",
    ),
    "since_year": ("`{filter}`（只看 {year} 年以来的）", "`{filter}`（只看 {year} 年以來的）", "`{filter}` (since {year} only)"),
    "filtered": ("只看：{filters}", "只看：{filters}", "Only: {filters}"),
    "filter_ignored": (
        "看不懂这个条件，没有用它：{text}（{hint}）",
        "看不懂這個條件，沒有用它：{text}（{hint}）",
        "Not understood as a condition and not used: {text} ({hint})",
    ),
    "hint_after": (
        "日期写成 2026、2026-01 或 2026-01-31",
        "日期寫成 2026、2026-01 或 2026-01-31",
        "write 2026, 2026-01 or 2026-01-31",
    ),
    "hint_before": (
        "日期写成 2026、2026-01 或 2026-01-31",
        "日期寫成 2026、2026-01 或 2026-01-31",
        "write 2026, 2026-01 or 2026-01-31",
    ),
    "hint_tag": ("标签紧跟在冒号后面", "標籤緊跟在冒號後面", "write the tag right behind the colon"),
    "hint_visibility": (
        "可见性是 private、protected 或 public",
        "可見性是 private、protected 或 public",
        "visibility is private, protected or public",
    ),
    "hint_is": ("只有 is:pinned", "只有 is:pinned", "only is:pinned"),
    "hint_has": ("只有 has:link", "只有 has:link", "only has:link"),
    "filter_tag": ("标签 {value}", "標籤 {value}", "tag {value}"),
    "filter_excluded_tag": ("没有标签 {value}", "沒有標籤 {value}", "without the tag {value}"),
    "filter_after": ("{value} 起", "{value} 起", "from {value} on"),
    "filter_before": ("{value} 之前", "{value} 之前", "before {value}"),
    "filter_visibility": ("可见性 {value}", "可見性 {value}", "visibility {value}"),
    "filter_excluded_visibility": ("可见性不是 {value}", "可見性不是 {value}", "visibility other than {value}"),
    "filter_pinned": ("置顶的", "置頂的", "pinned"),
    "filter_not_pinned": ("没有置顶的", "沒有置頂的", "not pinned"),
    "filter_has_link": ("带链接的", "帶連結的", "with a link"),
    "filter_has_no_link": ("不带链接的", "不帶連結的", "without a link"),
    "filter_phrase": ("含「{value}」", "含「{value}」", "holding “{value}”"),
    "filter_excluded_phrase": ("不含「{value}」", "不含「{value}」", "without “{value}”"),
    # a language model's text
    "written": (
        "结论和主题下的句子由模型写成，依据这些 memo：{links}",
        "結論和主題下的句子由模型寫成，依據這些 memo：{links}",
        "Conclusion and theme sentences were written by a model from these memos: {links}",
    ),
    "written_given": ("交给模型的 memo：{links}", "交給模型的 memo：{links}", "Memos given to the model: {links}"),
    "written_marks": (
        "模型标的 {count} 个出处不成立，已去掉",
        "模型標的 {count} 個出處不成立，已去掉",
        "Sources named by the model that do not hold, taken off: {count}",
    ),
    "written_dropped": (
        "模型的 {count} 句话没有依据，已去掉",
        "模型的 {count} 句話沒有依據，已去掉",
        "Sentences of the model that its sources do not support, left out: {count}",
    ),
    "written_tokens": (
        "用了 {total} 个 token（提示 {prompt}，回答 {completion}）",
        "用了 {total} 個 token（提示 {prompt}，回答 {completion}）",
        "Tokens: {total} (prompt {prompt}, completion {completion})",
    ),
    "written_withheld": (
        "按设置没有交给模型的：{count} 条",
        "按設定沒有交給模型的：{count} 條",
        "Withheld from the model by the settings: {count}",
    ),
    "writer_failed": (
        "没有用上模型（{reason}），以下全部是 memo 的原文",
        "沒有用上模型（{reason}），以下全部是 memo 的原文",
        "The model was not used ({reason}); everything is quoted from the memos",
    ),
    "searched": (
        "在 {memos} 条 memo 中查了符合条件的 {searched} 条{using}，读了 {read} 条全文",
        "在 {memos} 條 memo 中查了符合條件的 {searched} 條{using}，讀了 {read} 條全文",
        "Searched {searched} of {memos} memos{using}, read {read} in full",
    ),
    "searched_all": (
        "查遍全部 {memos} 条 memo{using}，读了 {read} 条全文",
        "查遍全部 {memos} 條 memo{using}，讀了 {read} 條全文",
        "Searched all {memos} memos{using}, read {read} in full",
    ),
    "using": ("，用了 {queries} 个查询词", "，用了 {queries} 個查詢詞", " with {queries} query words"),
    "using_one": ("，用了 1 个查询词", "，用了 1 個查詢詞", " with one query word"),
    "queries": ("查询词：{words}", "查詢詞：{words}", "Query words: {words}"),
    "original": ("{word}（原词）", "{word}（原詞）", "{word} (as asked)"),
    "channels": (
        "按字词找到 {keyword} 条，按意思找到 {semantic} 条，其中两种方式都找到的 {both} 条",
        "按字詞找到 {keyword} 條，按意思找到 {semantic} 條，其中兩種方式都找到的 {both} 條",
        "Found by their words: {keyword}; by their meaning: {semantic}; by both: {both}",
    ),
    "synced": (
        "语义索引：{have} / {all} 块，模型 {model}；同步于 {when}",
        "語義索引：{have} / {all} 塊，模型 {model}；同步於 {when}",
        "Searched by meaning: {have} of {all} pieces, model {model}; last synced {when}",
    ),
    "synced_open": (
        "语义索引：{have} / {all} 块，模型 {model}；第一次同步还没有完成",
        "語義索引：{have} / {all} 塊，模型 {model}；第一次同步還沒有完成",
        "Searched by meaning: {have} of {all} pieces, model {model}; the first sync is not finished",
    ),
    "unmet": ("没有一条 memo 出现过的词：{words}", "沒有一條 memo 出現過的詞：{words}", "Words that no memo contains: {words}"),
    "left_out": (
        "没有采用：{count} 条只有个别字词相同",
        "沒有採用：{count} 條只有個別字詞相同",
        "Left out, because they only share a word or two: {count}",
    ),
    "more": ("另有 {count} 条相关内容没有列出", "另有 {count} 條相關內容沒有列出", "Related, but not listed here: {count}"),
    "more_filtered": (
        "另有 {count} 条符合条件的没有列出",
        "另有 {count} 條符合條件的沒有列出",
        "They meet the conditions, too, but are not listed here: {count}",
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
    "some_vectors": (
        "{missing} 块还没有语义索引，这些内容只查了关键词",
        "{missing} 塊還沒有語義索引，這些內容只查了關鍵詞",
        "Pieces without a vector, searched by keywords only: {missing}",
    ),
    "no_dictionary": (
        "词典还没有建好，没有查另一种语言的说法",
        "詞典還沒有建好，沒有查另一種語言的說法",
        "There is no dictionary yet: words of the other language were not looked up",
    ),
    "no_suggestions": (
        "模型没有给出查询词，用的是自带的：{reason}",
        "模型沒有給出查詢詞，用的是自帶的：{reason}",
        "The model proposed no query words, the built-in ones were used: {reason}",
    ),
    "no_reranker": (
        "精排模型不可用，用的是原来的顺序：{reason}",
        "精排模型不可用，用的是原來的順序：{reason}",
        "The cross-encoder is not available, the order is that of the fusion: {reason}",
    ),
    "own_lexicon": (
        "自己的词表有错，出错的行没有用：{reason}",
        "自己的詞表有錯，出錯的行沒有用：{reason}",
        "Your own lexicon has mistakes, which were passed over: {reason}",
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


class Words(Column):
    """The table's column of one language: ``words("found", total=3, ...)``."""

    table = _TABLE
