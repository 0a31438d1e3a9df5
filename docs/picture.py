"""Renders an answer note as HTML, roughly as Obsidian shows it, for the pictures in the README.

python docs/picture.py "sample_vault/CFlow/Answers/2026-11-30 帮我找和观影有关的资源.md" > note.html
chromium --headless --screenshot=docs/answer-inventory.png --window-size=900,1120 note.html
(recall.png: CFlow/Recall/2026-11-30 (recall).md, 900,340)
(answer-match.png: 這三件事以前記過什麼？, 900,1010; answer-explore.png: how do I undo a git commit, 900,960)
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

STYLE = """
body { font: 15px/1.55 'Noto Sans CJK SC', sans-serif; color: #222; margin: 28px 56px; width: 788px }
h1 { font-size: 26px } h2 { font-size: 20px; margin: 20px 0 6px } h3 { font-size: 16px; margin: 12px 0 2px } p { margin: 6px 0 }
ul { margin: 2px 0; padding-left: 22px } a { color: #7852ee; text-decoration: none } code { background: #f2f2f2; padding: 0 3px }
.callout { border-radius: 6px; background: #f1f1f4; border-left: 4px solid #9a9aa5; padding: 7px 14px; margin: 9px 0 }
.callout.info { background: #e9f2fb; border-color: #3d8ede }
.callout.tip { background: #e6f6f4; border-color: #10a99a } .title { font-weight: 600 }
table.properties td { padding: 1px 14px 1px 0; color: #666; font-size: 13px; vertical-align: top }
"""
SHOWN = ("vb_for", "vb_query", "vb_mode", "vb_asked", "vb_status", "vb_strong", "vb_related", "vb_weak")

_WIKILINK = re.compile(r"\[\[[^\]|]*\|([^\]]*)\]\]")
_CALLOUT = re.compile(r"^> \[!(\w+)\]([+-]?) (.*)\n((?:> ?.*\n?)*)", re.MULTILINE)


def render(note: Path) -> str:
    _, properties, body = note.read_text(encoding="utf-8").split("---\n", 2)
    body = re.sub(r"^%% vaultbrain:\w+ %%\n", "", body, flags=re.MULTILINE)
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")

    def callout(match: re.Match[str]) -> str:
        kind, fold, title, lines = match.groups()
        inner = "" if fold == "-" else markdown.render("\n".join(re.sub("^> ?", "", line) + "  " for line in lines.split("\n")))
        mark = {"-": " ›", "+": " ⌄"}.get(fold, "")
        return f'<div class="callout {kind}"><div class="title">{markdown.renderInline(title)}{mark}</div>{inner}</div>\n\n'

    body = re.sub(r"^> - \[ \] (.*)$", r"> ☐ \1", body, flags=re.MULTILINE)
    body = _CALLOUT.sub(callout, _WIKILINK.sub(r"<a>\1</a>", body))
    rows = [line.split(": ", 1) for line in properties.splitlines() if line.split(":")[0] in SHOWN]
    table = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value.strip(chr(34)))}</td></tr>" for name, value in rows)
    heading = f"<h1>{escape(note.stem)}</h1><table class='properties'>{table}</table>"
    return f"<!doctype html><meta charset='utf-8'><style>{STYLE}</style>{heading}{markdown.render(body)}"


if __name__ == "__main__":
    print(render(Path(sys.argv[1])))
