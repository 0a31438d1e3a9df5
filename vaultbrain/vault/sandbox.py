"""Jinja2, shut in: a template sees its values and nothing else, comes to an end, and fails as one kind of situation.

Decides how much a template may do. Counted are steps and sizes, not seconds, so that a template fails on every machine or on
none. Not every way to fill the memory is counted: a vault's template is its owner's, so the limits are against slips, not
against an attack.
"""

from __future__ import annotations

import re
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

#: Rounds of loops and calls of one rendering, about half a second's worth. A long memo with a hundred files needs a few hundred.
MAX_STEPS = 1_000_000
#: A call takes as long as so many rounds.
_STEPS_OF_A_CALL = 20
#: Characters of one rendering, and of each text made on the way. The longest memo of a server has some 100,000.
MAX_CHARS = 4_000_000
#: Bits of a whole number made by ``**``.
MAX_BITS = 4_096
#: Jinja2 names compiled templates like this in tracebacks.
_TEMPLATE = "<template>"
#: A width in a format, of seven digits or more.
_HUGE_WIDTH = re.compile(r"\d{7}")
#: What makes a note differ from one run to the next.
_BY_CHANCE = ("lipsum", "random")


class TemplateFault(Exception):
    """A template that does not work. ``line`` counts from 1; ``has_no_end`` when it was stopped for doing too much."""

    def __init__(self, line: int, reason: str, *, has_no_end: bool = False) -> None:
        super().__init__(reason)
        self.line = max(1, line)
        self.reason = reason
        self.has_no_end = has_no_end


class _TooMuch(Exception):
    """Inside Jinja2, on the way to a ``TemplateFault``."""


class _Budget:
    def __init__(self) -> None:
        self.steps_left: float = MAX_STEPS

    def spend(self, steps: int) -> None:
        self.steps_left -= steps
        if self.steps_left < 0:
            raise _TooMuch(f"it does not come to an end within {MAX_STEPS} rounds of its loops and calls")

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.spend(1)
            yield item

    def refill(self, steps: float) -> None:
        self.steps_left = steps


def _sized(value: Any) -> Any:
    """``value``, unless it is an absurdly long text or list."""
    if isinstance(value, (str, list, tuple)) and len(value) > MAX_CHARS:
        raise _TooMuch(f"it makes a text or list of more than {MAX_CHARS} characters or items")
    return value


def _check_sizes(arguments: Sequence[Any], *, is_format: bool = False) -> None:
    """Before a call: a width of a billion is spent before its result could be looked at. A format comes first."""
    if any(isinstance(argument, int) and abs(argument) > MAX_CHARS for argument in arguments):
        raise _TooMuch(f"it calls something with a number above {MAX_CHARS}")
    if is_format and _HUGE_WIDTH.search(str(arguments[0])):
        raise _TooMuch("it formats with a width of millions")


def _check_operation(operator: str, left: Any, right: Any) -> None:
    """Refuses what would make an absurdly large number or text before it is made."""
    if operator == "**" and isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > MAX_BITS:
        raise _TooMuch(f"it makes a number of more than {MAX_BITS} bits")
    if operator == "*":
        for text, times in ((left, right), (right, left)):
            if isinstance(text, (str, list, tuple)) and isinstance(times, int) and len(text) * times > MAX_CHARS:
                raise _TooMuch(f"it makes a text of more than {MAX_CHARS} characters")
    if operator == "%":
        _check_sizes((left, *(right if isinstance(right, tuple) else (right,))), is_format=isinstance(left, str))


def _sized_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # with the attributes by which Jinja2 knows what to hand over
    def sized(*arguments: Any, **named: Any) -> Any:
        is_format = name == "format"
        _check_sizes((*arguments[0 if is_format else 1 :], *named.values()), is_format=is_format)
        return _sized(function(*arguments, **named))

    return sized


class Sandbox:
    """Compiles and renders templates. Jinja2 is loaded by the first one."""

    def __init__(self) -> None:
        self._budget = _Budget()
        self._environment: Any = None

    def compile(self, text: str) -> Any:
        """A template to hand to ``render``. Raises ``TemplateFault``."""
        try:
            environment = self._loaded()
            return environment.from_string(_instrumented(environment.parse(text)))
        except _faults() as error:
            raise _fault(error) from error

    def render(self, template: Any, values: Mapping[str, Any], *, is_bounded: bool = True) -> str:
        """What the template prints. Raises ``TemplateFault``."""
        self._budget.refill(MAX_STEPS if is_bounded else float("inf"))
        pieces, length = [], 0
        try:
            for piece in template.generate(values):
                pieces.append(piece)
                length += len(piece)
                if is_bounded and length > MAX_CHARS:
                    raise _TooMuch(f"it prints more than {MAX_CHARS} characters")
        except _faults() as error:
            raise _fault(error) from error
        return "".join(pieces)

    def _loaded(self) -> Any:
        if self._environment is None:
            self._environment = _make_environment(self._budget)
        return self._environment


def _bounded_class(budget: _Budget) -> Any:
    """The class of environments whose calls and operations are counted and measured."""
    from jinja2.sandbox import SandboxedEnvironment

    class Bounded(SandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**", "%", "+"})

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            _check_operation(operator, left, right)
            return _sized(super().call_binop(context, operator, left, right))

        def call(self, context: Any, function: Any, *arguments: Any, **named: Any) -> Any:
            budget.spend(_STEPS_OF_A_CALL)
            if function is not self.globals["range"]:  # has a limit of its own
                _check_sizes((*arguments, *named.values()))
            return _sized(super().call(context, function, *arguments, **named))

        def wrap_str_format(self, value: Any) -> Any:
            wrapped = super().wrap_str_format(value)
            if wrapped is not None:
                _check_sizes((value.__self__,), is_format=True)
            return wrapped

    return Bounded


def _make_environment(budget: _Budget) -> Any:
    from jinja2 import FunctionLoader, StrictUndefined, TemplateRuntimeError

    def no_other(name: str) -> NoReturn:
        raise TemplateRuntimeError(f"it takes in another template ({name}); each stands alone")

    # Notes are Markdown, not HTML: escaping is done where text becomes part of a note.
    environment = _bounded_class(budget)(
        undefined=StrictUndefined,
        loader=FunctionLoader(no_other),
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    for name in _BY_CHANCE:
        environment.globals.pop(name, None)
        environment.filters.pop(name, None)
    environment.filters = {name: _sized_filter(name, function) for name, function in environment.filters.items()}
    environment.filters |= {
        "_counted": budget.counted,
        "_sized": _sized,
        "_joined": lambda pieces: _sized("".join(map(str, pieces))),
    }
    return environment


def _instrumented(tree: Any) -> Any:
    """The parsed template with each loop counted and each text measured that is put together from others."""
    from jinja2 import nodes
    from jinja2.visitor import NodeTransformer

    def through(node: Any, name: str, line: int) -> Any:
        return nodes.Filter(node, name, [], [], None, None, lineno=line)

    class Instrument(NodeTransformer):
        def visit_For(self, node: Any) -> Any:  # noqa: N802  (Jinja2 finds it by this name)
            self.generic_visit(node)
            node.iter = through(node.iter, "_counted", node.iter.lineno)
            return node

        def visit_Concat(self, node: Any) -> Any:  # noqa: N802
            self.generic_visit(node)
            return through(nodes.List(node.nodes, lineno=node.lineno), "_joined", node.lineno)

        def visit_AssignBlock(self, node: Any) -> Any:  # noqa: N802
            self.generic_visit(node)
            node.filter = through(node.filter, "_sized", node.lineno)
            return node

    tree = Instrument().visit(tree)
    return tree.set_environment(tree.environment)


def _faults() -> tuple[type[Exception], ...]:
    """Everything that a template can run into: what Jinja2 raises, and what Python does for its expressions and filters."""
    from jinja2 import TemplateError

    return (
        _TooMuch,
        TemplateError,
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        MemoryError,
        RuntimeError,
        SyntaxError,
        TypeError,
        ValueError,
    )


def _fault(error: Exception) -> TemplateFault:
    from jinja2 import TemplateError, TemplateSyntaxError

    if isinstance(error, TemplateSyntaxError):
        return TemplateFault(error.lineno, str(error.message))
    line = _line_in_template(error)
    if isinstance(error, _TooMuch):
        return TemplateFault(line, str(error), has_no_end=True)
    if isinstance(error, RecursionError):
        return TemplateFault(line, "it calls itself without end", has_no_end=True)
    if isinstance(error, TemplateError):
        return TemplateFault(line, str(error))
    if isinstance(error, SyntaxError):  # from Python, for what Jinja2 made of it
        return TemplateFault(1, error.msg)
    return TemplateFault(line, f"{type(error).__name__}: {error}".rstrip(": "))


def _line_in_template(error: Exception) -> int:
    """The template's innermost line on the way to the failure; 0 when there is none."""
    line, step = 0, error.__traceback__
    while step:
        if step.tb_frame.f_code.co_filename == _TEMPLATE:
            line = step.tb_lineno
        step = step.tb_next
    return line
