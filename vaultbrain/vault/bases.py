"""``CFlow.base``: our notes as Obsidian's own tables, and how the file is brought up to date under the person's hands.

Pure. Decides the views, and what is whose: compared are the file as we wrote it last, as it stands, and as we would write it now.
What only one side changed is taken from that side; where both changed the same value, the person's stays. So views, formulas
and properties of the person's own are kept, a view of ours that they deleted or renamed does not come back, and their order of
views and columns stays. Refuses to touch what it cannot read.

Assumes of recall notes: ``vb_useful`` is true when the person ticked that it helped, false when they ticked that it shall not be
mentioned again, and absent before. The facts about the syntax are Obsidian's help pages on Bases.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from vaultbrain.vault.generated import Generated, words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    _Merge = Callable[[Any, Any, Any], Any]

#: Read as text without quotes by every version of YAML, unless it is one of ``_NO_WORDS``.
_PLAIN_WORD = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_NO_WORDS = frozenset("y n yes no on off true false null".split())

#: YAML refuses these, or takes them for line ends, where they are not escaped.
_UNPRINTABLE = re.compile("[\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff\\ufeff\\ufffe\\uffff]")

#: The least ``vb_worth`` of a memo that is shown as worth coming back to: a quarter to a third of memos that say something.
_WORTH_COMING_BACK = 60

_WORDS: Final[dict[str, tuple[str, str, str]]] = {
    "by_month": ("memo · 按月", "memo · 按月", "Memos by month"),
    "by_tag": ("memo · 按标签", "memo · 按標籤", "Memos by tag"),
    "worth_it": ("memo · 值得回看", "memo · 值得回看", "Memos worth coming back to"),
    "answers": ("回答 · 按状态", "回答 · 按狀態", "Answers by status"),
    "recalls": ("回想 · 按是否有用", "回想 · 按是否有用", "Recalls by usefulness"),
    "month": ("月份", "月份", "Month"),
    "tag": ("标签", "標籤", "Tag"),
    "untagged": ("无标签", "無標籤", "no tag"),
    "usefulness": ("是否有用", "是否有用", "Usefulness"),
    "useful": ("有用", "有用", "useful"),
    "unwanted": ("不要再提", "不要再提", "not again"),
    "unjudged": ("还没评", "還沒評", "not judged yet"),
    "created": ("记录时间", "記錄時間", "Written"),
    "updated": ("更新时间", "更新時間", "Updated"),
    "summary": ("摘要", "摘要", "Summary"),
    "source": ("来源", "來源", "Source"),
    "worth": ("分量", "份量", "Worth"),
    "gives": ("里面有", "裡面有", "Has"),
    "question": ("问题", "問題", "Question"),
    "asked": ("提问时间", "提問時間", "Asked"),
    "status": ("状态", "狀態", "Status"),
    "stale": ("过时的原因", "過時的原因", "Why stale"),
    "strong": ("强", "強", "Strong"),
    "related": ("相关", "相關", "Related"),
    "for": ("写在哪里", "寫在哪裡", "Mentioned in"),
    "query": ("检索", "檢索", "Query"),
}  # fmt: skip
#: The entries of ``vb_gives`` as a person reads them.
_GIVES: Final[dict[str, tuple[str, str, str]]] = {
    "steps": ("步骤", "步驟", "steps"),
    "commands": ("命令", "指令", "commands"),
    "list": ("要点", "要點", "key points"),
    "case": ("实例", "實例", "a case"),
    "numbers": ("数字", "數字", "numbers"),
    "advice": ("建议", "建議", "advice"),
    "link": ("链接", "連結", "a link"),
}  # fmt: skip


def build_base(folder: str, standing: str | None, last_written: str | None, language: str = "en") -> Generated:
    """The text of the base for our notes in ``folder`` of the vault; ``language`` is that of the names in it.

    ``standing`` is the file as it is (None: there is none), ``last_written`` what we wrote last (None: unknown, then nothing that
    stands is changed, and only what is missing is put in). A file that the person deleted is not made again: forget
    ``last_written`` to have it back.
    """
    wanted = _definition(folder, language)
    text = _emit(wanted)
    if standing is None:
        return Generated(text if last_written is None else None)
    if standing == last_written:
        return Generated(text if text != standing else None)
    found = _read(standing)
    if isinstance(found, str):
        return Generated(None, found)
    base = _read(last_written) if last_written is not None else {}
    merged = _merge_file(base if isinstance(base, dict) else {}, found, wanted)
    if merged == found:
        return Generated(None)
    return Generated(_with_line_ends_of(standing, _emit(merged)))


def _definition(folder: str, language: str) -> dict[str, Any]:
    words = words_in(language, _WORDS)
    return {
        "filters": {"and": [f"file.inFolder({_literal(folder)})", 'file.hasProperty("vb_kind")']},
        "formulas": _formulas(words, words_in(language, _GIVES)),
        "properties": _properties(words),
        "views": _views(words),
    }


def _formulas(words: Mapping[str, str], gives: Mapping[str, str]) -> dict[str, str]:
    useful, unwanted, unjudged = (_literal(words[name]) for name in ("useful", "unwanted", "unjudged"))
    in_words = "".join(f".replace({_literal(name)}, {_literal(word)})" for name, word in gives.items() if word != name)
    return {
        "vb_month": 'if(vb_created, vb_created.format("YYYY-MM"), "")',
        "vb_tag": f"if(note.tags, list(note.tags)[0], {_literal(words['untagged'])})",
        "vb_usefulness": f'if(file.hasProperty("vb_useful"), if(vb_useful, {useful}, {unwanted}), {unjudged})',
        "vb_in_it": f'if(note.vb_gives, list(note.vb_gives).join(" · "){in_words}, "")',
    }


def _properties(words: Mapping[str, str]) -> dict[str, dict[str, str]]:
    shown = {
        "formula.vb_month": "month",
        "formula.vb_tag": "tag",
        "formula.vb_usefulness": "usefulness",
        "formula.vb_in_it": "gives",
        "note.vb_summary": "summary",
        "note.vb_source": "source",
        "note.vb_worth": "worth",
        "note.vb_created": "created",
        "note.vb_updated": "updated",
        "note.vb_question": "question",
        "note.vb_asked": "asked",
        "note.vb_status": "status",
        "note.vb_stale": "stale",
        "note.vb_strong": "strong",
        "note.vb_related": "related",
        "note.vb_for": "for",
        "note.vb_query": "query",
    }
    return {key: {"displayName": words[name]} for key, name in shown.items()}


def _views(words: Mapping[str, str]) -> list[dict[str, Any]]:
    memo_columns = ["file.name", "note.vb_summary", "note.vb_created", "note.tags", "note.vb_source", "note.vb_updated"]
    answer_columns = ["file.name", "note.vb_question", "note.vb_asked", "note.vb_strong", "note.vb_related", "note.vb_stale"]
    return [
        _view(words["by_month"], "memo", memo_columns, ("formula.vb_month", "DESC"), "note.vb_created"),
        _view(words["by_tag"], "memo", memo_columns, ("formula.vb_tag", "ASC"), "note.vb_created"),
        _worth_it(words["worth_it"]),
        _view(words["answers"], "answer", answer_columns, ("note.vb_status", "DESC"), "note.vb_asked"),
        _view(
            words["recalls"],
            "recall",
            ["file.name", "note.vb_for", "note.vb_query", "note.vb_created"],
            ("formula.vb_usefulness", "ASC"),
            "note.vb_created",
        ),
    ]


def _view(name: str, kind: str, columns: Sequence[str], group: tuple[str, str], newest_by: str) -> dict[str, Any]:
    return {
        "type": "table",
        "name": name,
        "filters": {"and": [f'vb_kind == "{kind}"']},
        "groupBy": {"property": group[0], "direction": group[1]},
        "order": list(columns),
        "sort": [{"property": newest_by, "direction": "DESC"}],
    }


def _worth_it(name: str) -> dict[str, Any]:
    """The best first, in one list: groups would tear it apart."""
    return {
        "type": "table",
        "name": name,
        "filters": {"and": ['vb_kind == "memo"', f"vb_worth >= {_WORTH_COMING_BACK}"]},
        "order": ["file.name", "note.vb_summary", "formula.vb_in_it", "note.vb_source", "note.vb_worth", "note.vb_created"],
        "sort": [{"property": "note.vb_worth", "direction": "DESC"}, {"property": "note.vb_created", "direction": "DESC"}],
    }


def _literal(text: str) -> str:
    """A text within an expression."""
    return json.dumps(text, ensure_ascii=False)


class _Plain(str):
    """A scalar as it stands in the file without quotes, so that ``200`` and ``true`` stay what they are."""

    __slots__ = ()


def _read(text: str) -> dict[str, Any] | str:
    """The file's values, every scalar as text; or why it is left alone."""
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            return "it uses YAML aliases"
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return f"it is no YAML (line {mark.line + 1})" if mark else "it is no YAML"
    except RecursionError:
        return "it is nested too deeply"
    if node is None:  # Obsidian and sync services empty a file before they write it
        return "it is empty"
    found = _value(node)
    return found if isinstance(found, dict) else "it is no YAML mapping"


def _value(node: Any) -> Any:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return {_scalar(key): _value(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    return _scalar(node)


def _scalar(node: Any) -> str:
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        return _Plain("?")  # a key that is a list: no base has one
    is_text = node.style is not None or node.tag == "tag:yaml.org,2002:str"
    return str(node.value) if is_text else _Plain(node.value)


def _emit(values: Mapping[str, Any]) -> str:
    return "\n".join([*_map_lines(values, 0), ""])


def _map_lines(values: Mapping[str, Any], indent: int) -> list[str]:
    lines: list[str] = []
    for key, value in values.items():
        below = _lines_below(value, indent + 2)
        written = key if isinstance(key, _Plain) else _written(key)
        lines += [f"{' ' * indent}{written}:", *below] if below else [f"{' ' * indent}{written}: {_written(value)}".rstrip()]
    return lines


def _lines_below(value: Any, indent: int) -> list[str]:
    """The lines of a map or list that has something in it; none for all else."""
    if isinstance(value, dict):
        return _map_lines(value, indent)
    if not isinstance(value, list):
        return []
    lines: list[str] = []
    for item in value:
        below = _lines_below(item, indent + 2) or [f"{' ' * (indent + 2)}{_written(item)}"]
        lines += [f"{' ' * indent}- {below[0][indent + 2 :]}", *below[1:]]
    return lines


def _written(value: Any) -> str:
    """A scalar, or an empty map or list, as YAML 1.1 and 1.2 read it alike: what is more than a plain word is quoted."""
    if isinstance(value, (dict, list)):
        return "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, _Plain) or (_PLAIN_WORD.fullmatch(value) and value.casefold() not in _NO_WORDS):
        return str(value)
    return _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(value, ensure_ascii=False))


def _with_line_ends_of(standing: str, text: str) -> str:
    return text.replace("\n", "\r\n") if "\r\n" in standing else text


def _merge_file(base: Mapping[str, Any], standing: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    special = {"filters": _merge_filters, "views": _merge_views}
    return _merge_maps(base, standing, wanted, special)


def _merge_maps(
    base: Any, standing: Mapping[str, Any], wanted: Mapping[str, Any], special: Mapping[str, _Merge] = MappingProxyType({})
) -> dict[str, Any]:
    """In the order of ``standing``, what is new behind it."""
    base = base if isinstance(base, dict) else {}
    merged: dict[str, Any] = {}
    for key, value in standing.items():
        if key in wanted:
            merged[key] = special.get(key, _merge)(base.get(key), value, wanted[key])
        elif key not in base or value != base[key]:
            merged[key] = value
    return merged | {key: value for key, value in wanted.items() if key not in standing and key not in base}


def _merge(base: Any, standing: Any, wanted: Any) -> Any:
    """One value; ``base`` None is an unknown one."""
    if base is not None and standing == base:
        return wanted
    if isinstance(standing, dict) and isinstance(wanted, dict):
        return _merge_maps(base, standing, wanted)
    if isinstance(standing, list) and isinstance(wanted, list) and isinstance(base, list):
        kept = [item for item in standing if item in wanted or item not in base]
        return kept + [item for item in wanted if item not in base and item not in standing]
    return standing


def _merge_filters(base: Any, standing: Any, wanted: Any) -> Any:
    """A filter has one of ``and``, ``or`` and ``not``: under another than ours, it is the person's as a whole."""
    alike = isinstance(standing, dict) and isinstance(base, dict) and standing.keys() == wanted.keys() == base.keys()
    return _merge(base, standing, wanted) if alike or standing == base else standing


def _merge_views(base: Any, standing: Any, wanted: list[dict[str, Any]]) -> Any:
    """Views are the same when they have the same name. One that we never wrote is the person's, whatever its name."""
    if not isinstance(standing, list):
        return standing
    before, now, met = _by_name(base), _by_name(wanted), _by_name(standing)
    merged = []
    for view in standing:
        name = _name(view)
        is_ours = name in before and view is met[name]
        if is_ours and name in now:
            merged.append(_merge_maps(before[name], view, now[name], {"filters": _merge_filters}))
        elif not is_ours or view != before[name]:
            merged.append(view)
    return merged + [view for name, view in now.items() if name not in met and name not in before]


def _by_name(views: Any) -> dict[str, dict[str, Any]]:
    """The first view of each name."""
    found: dict[str, dict[str, Any]] = {}
    for view in views if isinstance(views, list) else ():
        if isinstance(view, dict):
            found.setdefault(_name(view), view)
    return found


def _name(view: Any) -> str:
    return str(view.get("name", "")) if isinstance(view, dict) else ""
