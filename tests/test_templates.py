"""Templates that a vault overrides: used when they work, named and passed over when they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vaultbrain.errors import TemplateBroken
from vaultbrain.vault.sandbox import MAX_CHARS, MAX_STEPS
from vaultbrain.vault.templates import Templates

MEMO = "memo.md.j2"
BUILT_IN = Path(__file__).parent.parent / "vault_templates" / MEMO


def values(text: str = "雨停了", files: int = 0) -> dict[str, Any]:
    return {"text": text, "files": [{"label": f"f{n}", "url": "", "id": n} for n in range(files)]}


def override(folder: Path, template: str | bytes) -> Templates:
    folder.mkdir(exist_ok=True)
    (folder / MEMO).write_bytes(template.encode() if isinstance(template, str) else template)
    return Templates(folder)


def named(templates: Templates) -> list[tuple[str, int]]:
    return [(problem.path.name, problem.line) for problem in templates.problems]


def test_without_an_override_the_built_in_template_is_used(tmp_path: Path) -> None:
    """An absent folder is no problem, nor is a file where the folder should be."""
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "none", tmp_path / "file"):
        templates = Templates(folder)
        assert templates.render(MEMO, values(files=1)) == "雨停了\n\n- f0 (resource 0)"
        assert templates.problems == []


def test_an_override_is_used(tmp_path: Path) -> None:
    """Also one saved on Windows, with a byte-order mark and its line ends."""
    assert override(tmp_path, "> {{ text }}\n").render(MEMO, values()) == "> 雨停了"
    assert override(tmp_path, "\ufeffa\r\n{{ text }}\r\n").render(MEMO, values()) == "a\n雨停了"


BROKEN = {
    "syntax": ("a\n{% if %}\n", 2, "Expected an expression"),
    "unclosed": ("a\n{% for x in files %}\nb", 3, "endfor"),
    "no such filter": ("a\n{{ text|loud }}", 2, "loud"),
    "undefined name": ("x\n\n{{ titel }}", 3, "'titel' is undefined"),
    "undefined attribute": ("{{ text }}\n{{ text.foo.bar }}", 2, "foo"),
    "missing item": ("\n{{ files[99].id }}", 2, "99"),
    "in a macro": ("{% macro m(x) %}\n{{ x.foo.bar }}\n{% endmacro %}\n{{ m(text) }}", 2, "foo"),
    "type": ("a\n{{ text + 1 }}", 2, "TypeError"),
    "attribute of a filter": ("a\n{{ 5|dictsort }}", 2, "AttributeError"),
    "arithmetic": ("a\n{{ 1 / 0 }}", 2, "division by zero"),
    "sandbox": ("a\n{{ text.__class__ }}", 2, "unsafe"),
    "another template": ('a\n{% include "memo.md.j2" %}', 2, "another template"),
    "by chance": ("a\n{{ [1, 2]|random }}", 2, "random"),
    "whole marker": ("a\n%% vaultbrain:begin %%\n{{ text }}", 2, "marker"),
    "marker in pieces": ('a\n\n%% vaultbrain:{{ "end" }} %%', 3, "marker"),
    "too deep for Python": ("{% for a in files %}" * 30 + "{% endfor %}" * 30, 1, "nested"),
    "too deep for Jinja2": ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", 1, "without end"),
    "empty": (" \n", 1, "empty"),
    "not UTF-8": ("a\nb\n观".encode("gbk"), 3, "UTF-8"),
}

#: These would run for hours or take all memory.
ENDLESS = {
    "loops": ("a\n{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", 2, str(MAX_STEPS)),
    "loops over values": ("a\n" + "{% for a in text * 999 %}" * 3 + "{% endfor %}" * 3, 2, str(MAX_STEPS)),
    "calls": (
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}\n{{ f(60) }}",
        1,
        str(MAX_STEPS),
    ),
    "recursion": ("{% macro f(n) %}{{ f(n) }}{% endmacro %}\n{{ f(1) }}", 1, "itself"),
    "output": ("{% for a in range(99999) %}{{ text * 999 }}{% endfor %}", 1, str(MAX_CHARS)),
    "repetition": ('\n{{ "x" * 99999999999 }}', 2, str(MAX_CHARS)),
    "power": ("\n{{ 9 ** (9 ** 9) }}", 2, "bits"),
    "doubling by ~": (
        "{% set n = namespace(s=text) %}\n{% for i in range(90) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
        2,
        "text",
    ),
    "doubling by +": (
        "{% set n = namespace(s=text) %}\n{% for i in range(90) %}{% set n.s = n.s + n.s %}{% endfor %}",
        2,
        "text",
    ),
    "doubling by a block": (
        "{% set n = namespace(s=text) %}\n{% for i in range(90) %}{% set n.s %}{{ n.s }}{{ n.s }}{% endset %}{% endfor %}",
        2,
        "text",
    ),
    "doubling by a filter": (
        "{% set n = namespace(s=text) %}\n{% for i in range(90) %}{% set n.s = [n.s, n.s]|join %}{% endfor %}",
        2,
        "text",
    ),
    "width of a filter": ('\n{{ "x"|center(9999999999) }}', 2, "number"),
    "width of a method": ('\n{{ "x".ljust(9999999999) }}', 2, "number"),
    "width in a format": ('\n{{ "{:9999999999}".format(1) }}', 2, "width"),
    "width in %": ('\n{{ "%9999999999d" % 1 }}', 2, "width"),
    "width given to %": ('\n{{ "%*d" % (9999999999, 1) }}', 2, "number"),
    "width in format": ('\n{{ "%9999999999d"|format(1) }}', 2, "width"),
}


@pytest.mark.parametrize("name", BROKEN | ENDLESS)
def test_a_broken_override_is_named_with_its_line_and_the_built_in_one_used(tmp_path: Path, name: str) -> None:
    """The file, the line and the reason, once, however many notes there are."""
    template, line, reason = (BROKEN | ENDLESS)[name]
    templates = override(tmp_path, template)
    for files in (2, 2, 3):
        assert templates.render(MEMO, values(files=files)) == Templates(tmp_path / "none").render(MEMO, values(files=files))
    assert named(templates) == [(MEMO, line)]
    assert templates.problems[0].path == tmp_path / MEMO
    assert reason in templates.problems[0].reason


@pytest.mark.parametrize(
    "template",
    [
        "{% for f in files %}{{ loop.index }}/{{ loop.length }} {{ f.id ~ f.label }};{% else %}none{% endfor %}",
        '{% set x %}{{ text }}{% endset %}{{ x|replace("雨", "雪") }} {{ "%s-%03d" % (text, 7) }} {{ "{:>4}".format(1) }}',
        "{% for c in text recursive %}{{ c }}{% if loop.last and c|length > 1 %}{{ loop(c) }}{% endif %}{% endfor %}",
        "{{ range(3)|join('、') }}{{ 2 ** 10 }}{{ text|upper|trim }}{% filter replace('停', '下') %}{{ text }}{% endfilter %}",
        "{% macro m(x, y=1) %}[{{ x }}{{ y }}{{ caller() }}]{% endmacro %}{% call m(text, y=3) %}!{% endcall %}",
        "{% for k, v in {'a': 1}|dictsort %}{{ k }}{{ v }}{% endfor %}{{ files|map(attribute='id')|list }}",
    ],
)
def test_the_limits_change_nothing_for_ordinary_templates(tmp_path: Path, template: str) -> None:
    """Loops, blocks, filters, macros and formats print what Jinja2 prints without our counting."""
    from jinja2.sandbox import SandboxedEnvironment

    expected = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(template).render(values(files=2))
    templates = override(tmp_path, template)
    assert templates.render(MEMO, values(files=2)) == expected
    assert templates.problems == []


def test_an_override_that_fails_for_one_note_still_serves_the_others(tmp_path: Path) -> None:
    """What a note looks like does not depend on which notes were rendered before it."""
    templates = override(tmp_path, "{{ text }} {{ files[0].id.real }}")
    texts = [templates.render(MEMO, values(files=count)) for count in (1, 0, 1)]
    assert texts == ["雨停了 0", "雨停了", "雨停了 0"]
    assert named(templates) == [(MEMO, 1)]


def test_an_override_without_end_is_tried_once(tmp_path: Path) -> None:
    """Three thousand notes may not each wait for it, so even a note for which it would work gets the built-in one."""
    templates = override(tmp_path, "x{% for f in files %}{{ text * 9999999 }}{% endfor %}")
    assert templates.render(MEMO, values()) == "x"
    templates.render(MEMO, values(files=1))
    assert templates.render(MEMO, values()) == "雨停了"


def test_a_mended_override_is_used_at_once(tmp_path: Path) -> None:
    """Without a new process; a second mistake is named anew."""
    templates = override(tmp_path, "{% if %}")
    templates.render(MEMO, values())
    override(tmp_path, "\n{% for %}")
    templates.render(MEMO, values())
    override(tmp_path, "! {{ text }}")
    assert templates.render(MEMO, values()) == "! 雨停了"
    assert named(templates) == [(MEMO, 1), (MEMO, 2)]


def test_the_digest_moves_with_the_texts_and_with_nothing_else(tmp_path: Path) -> None:
    """Notes are written anew when it moves: for an override, for each edit of it, never because it does not work."""
    none = Templates(tmp_path).digest(MEMO)
    broken = override(tmp_path, "{% if %}")
    before = broken.digest(MEMO)
    broken.render(MEMO, values())
    assert broken.digest(MEMO) == before == Templates(tmp_path).digest(MEMO)
    assert len({none, before, override(tmp_path, "{{ text }}").digest(MEMO)}) == 3
    (tmp_path / MEMO).unlink()
    assert broken.digest(MEMO) == none


def test_an_override_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    """A folder of that name is the simplest of these; it is named, and no digest or note depends on it."""
    (tmp_path / MEMO).mkdir()
    templates = Templates(tmp_path)
    assert templates.render(MEMO, values()) == "雨停了"
    assert named(templates) == [(MEMO, 1)]
    assert "cannot be read" in templates.problems[0].reason
    assert templates.digest(MEMO) == Templates(tmp_path / "none").digest(MEMO)


def test_a_fault_of_the_built_in_template_is_an_error(tmp_path: Path) -> None:
    """There is nothing to fall back on; its line is told."""
    with pytest.raises(TemplateBroken) as caught:
        Templates(tmp_path).render(MEMO, {"files": []})
    assert caught.value.facts["line"] == BUILT_IN.read_text(encoding="utf-8").splitlines().index("{{ text }}") + 1
    with pytest.raises(TemplateBroken, match="marker"):
        Templates(tmp_path).render(MEMO, values("%% vaultbrain:end %%"))
