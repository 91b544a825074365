"""From a listing to its text sections: the frame that cuobjdump and nvdisasm print around the instructions.

Where a listing was cut off is noticed as far as the text allows. cuobjdump ends each function with a dotted line, nvdisasm
with the label that `.size` names; a listing without it ended inside that function. A cut exactly between two functions
leaves a complete, shorter listing, which nothing in the text tells from a whole one.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sassan.errors import InputError
from sassan.frontend.grammar import SyntaxProblem, listing_grammar
from sassan.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token, Tree

_CODE = re.compile(r"code for (\S*)")
_TARGET = re.compile(r"\.target[ \t]+(\S*)")
_FLAG = re.compile(r"(?<!\()EF_CUDA_SM([0-9]+)")
_FUNCTION = "Function : "
_CODE_LINES = frozenset(("LINES", "LABEL"))


@dataclass(frozen=True, slots=True)
class Section:
    """One text section: its lines of code and, of nvdisasm, the symbols that it declares. `arch` is as printed, or ''."""

    name: str
    arch: str
    span: Span
    lines: "list[Token]"
    symbols: tuple[str, ...] = ()
    ends: frozenset[str] = field(default=frozenset())


def cuobjdump_sections(source: Source, text: str) -> "Iterator[Section]":
    """Yield the functions of a `cuobjdump -sass` listing; raises InputError."""
    code = ""
    for child in _frame(source, text, "cuobjdump").children:
        if isinstance(child, str):
            code = _arch_of(child) or code
        else:
            yield _cuobjdump_function(child, code)


def nvdisasm_sections(source: Source, text: str) -> "Iterator[Section]":
    """Yield the text sections of an nvdisasm listing; raises InputError."""
    arch = ""
    for child in _frame(source, text, "nvdisasm").children:
        if isinstance(child, str):
            arch = arch or _arch_of(child)
        elif child.data == "text":
            yield _nvdisasm_section(source, child, arch)


def span_of(token: "Token") -> Span:
    """Return where the printed part of a line stands."""
    text = token.strip()
    return Span(token.line or 1, token.index(text) + 1, max(1, len(text)))


def truncated(source: Source, name: str, span: Span) -> InputError:
    """Return the error for a listing that ends inside the function `name`."""
    return InputError(
        "truncated",
        f"the listing ends inside function '{name}'",
        source=source,
        span=span,
        hint="the dump was cut off: make it again, and check that the disk was not full",
    )


def _frame(source: Source, text: str, start: str) -> "Tree[Token]":
    try:
        return listing_grammar(start).parse(text, start)
    except SyntaxProblem as problem:
        raise _frame_error(source, text, problem) from None


def _frame_error(source: Source, text: str, problem: SyntaxProblem) -> InputError:
    """Return what a line that the frame has no place for, or the lack of one, means."""
    before = text[: problem.position]
    inside = before.rfind(_FUNCTION)
    if problem.at_end and inside >= 0:
        line = before.count("\n", 0, inside) + 1
        name = before[inside + len(_FUNCTION) :].partition("\n")[0]
        return truncated(source, name, Span(line, inside - before.rfind("\n", 0, inside), len(_FUNCTION) + len(name)))
    start = before.rfind("\n") + 1
    line_text = text[start:].partition("\n")[0]
    column = len(line_text) - len(line_text.lstrip()) + 1
    return InputError(
        "syntax",
        f"this line does not belong here; expected {', '.join(problem.expected)}",
        source=source,
        span=Span(before.count("\n") + 1, column, max(1, len(line_text.strip()))),
        hint="give the unchanged output of cuobjdump -sass or nvdisasm -c",
    )


def _arch_of(token: "Token") -> str:
    """Return the architecture that a line names, as printed, or ''."""
    match token.type:
        case "CODE":
            found = _CODE.search(token)
            return found[1] if found else ""
        case "TARGET":
            found = _TARGET.search(token)
            return found[1].rstrip(",") if found else ""
        case "HEADER":
            found = _FLAG.search(token)
            return f"sm_{found[1]}" if found else ""
        case _:
            return ""


def _cuobjdump_function(tree: "Tree[Token]", code: str) -> Section:
    head, *rest = [child for child in tree.children if isinstance(child, str)]
    arch = code or next((name for name in map(_arch_of, rest) if name), "")
    name = head.partition(_FUNCTION)[2][:-1]
    return Section(name, arch, span_of(head), [token for token in rest if token.type in _CODE_LINES], (name,))


def _nvdisasm_section(source: Source, tree: "Tree[Token]", arch: str) -> Section:
    head, *rest = [child for child in tree.children if isinstance(child, str)]
    name = head.partition(".text.")[2][:-1].rpartition(',"')[0]
    lines = [token for token in rest if token.type in _CODE_LINES]
    symbols: list[str] = []
    ends: set[str] = set()
    for token in rest:
        if token.type == "DIRECTIVE":
            _declare(token.strip(), symbols, ends)
    last = lines[-1] if lines else head
    if not lines or last.type != "LABEL" or label_name(last) not in ends:
        raise truncated(source, name, span_of(last))
    return Section(name, arch, span_of(head), lines, tuple(symbols), frozenset(ends))


def label_name(token: "Token") -> str:
    """Return the name that a label line defines."""
    return token.rstrip()[:-1]


def _declare(line: str, symbols: list[str], ends: set[str]) -> None:
    """Note what `.type NAME,@function` and `.size NAME,(END - NAME)` say; the names are untrusted text."""
    directive, *more = line.split(None, 1)
    rest = more[0] if more else ""
    if directive == ".type" and rest.endswith(",@function"):
        symbols.append(rest.removesuffix(",@function"))
    elif directive == ".size" and rest.endswith(")"):
        # NAME,(END - NAME): both names have one length, known from the whole.
        name, comma, expression = rest[:-1].partition(",(")
        while comma and not expression.endswith(f" - {name}"):
            part, comma, expression = expression.partition(",(")
            name = f"{name},({part}"
        ends.add(expression.removesuffix(f" - {name}"))
