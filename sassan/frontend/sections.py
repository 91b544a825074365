"""From a listing to its text sections: the frame that cuobjdump and nvdisasm print around the instructions.

A truncated listing is detected as far as the text allows. cuobjdump ends each function with a dotted line, nvdisasm
with the label that `.size` names; a listing without it ended inside that function. A cut exactly between two functions
leaves a complete, shorter listing, which cannot be distinguished from a whole one.
"""

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sassan.errors import InputError
from sassan.frontend.grammar import SyntaxProblem, listing_grammar
from sassan.ir import Declared
from sassan.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token, Tree

_CODE = re.compile(r"code for (\S*)")
_TARGET = re.compile(r"\.target[ \t]+(\S*)")
_FLAG = re.compile(r"(?<!\()EF_CUDA_SM([0-9]+)")
_FUNCTION = "Function : "
_OPENING = re.compile(r"^[ \t]*(?:Function : ([^\n]*)|\.section[ \t]+(?:\.text\.([^\n]*))?)", re.MULTILINE)
_REGISTERS = re.compile(r'\.sectioninfo[ \t]+@"SHI_REGISTERS=([0-9]{1,3})"')
_DATA = re.compile(r'\.section[ \t]+\.nv\.(info|shared)\.([^\n]*),"[^"]*"(?:,.*)?')
_ZERO = re.compile(r"\.zero[ \t]+([0-9]{1,9})")
_CODE_LINES = frozenset(("LINES", "LABEL"))
_TEXT = ".text."


@dataclass(frozen=True, slots=True)
class TextSection:
    """A text section: its lines of code and, of nvdisasm, the symbols that it declares. `arch` is as printed, or ''.

    `original` is the name in the cubin where nvdisasm prints another one, since an earlier section has it: else ''.
    """

    name: str
    arch: str
    span: Span
    lines: "list[Token]"
    symbols: tuple[str, ...] = ()
    kernel: bool = True
    declared: Declared = field(default_factory=Declared)
    original: str = ""


def cuobjdump_sections(source: Source, text: str) -> "Iterator[TextSection]":
    """Yield the functions of a `cuobjdump -sass` listing; raises InputError."""
    code = ""
    for child in _frame(source, text, "cuobjdump").children:
        if isinstance(child, str):
            code = _arch_of(child) or code
        else:
            yield _cuobjdump_function(child, code)


def nvdisasm_sections(source: Source, text: str) -> "Iterator[TextSection]":
    """Yield the text sections of an nvdisasm listing; raises InputError."""
    arch = ""
    tree = _frame(source, text, "nvdisasm")
    shared = _shared(tree)
    for child in tree.children:
        if isinstance(child, str):
            arch = arch or _arch_of(child)
        elif child.data == "text":
            section = _nvdisasm_section(source, child, arch)
            yield replace(section, declared=replace(section.declared, shared=shared.get(section.name)))


def span_of(token: "Token") -> Span:
    """Return the span of the printed part of a line."""
    text = token.strip()
    return Span(token.line or 1, token.index(text) + 1, max(1, len(text)))


def truncated(source: Source, name: str, span: Span) -> InputError:
    """Return the error for a listing that ends inside the function `name`."""
    return InputError(
        "truncated",
        f"the listing ends inside function '{name}'",
        source=source,
        span=span,
        hint="the dump was truncated: create it again, and check that the disk is not full",
    )


def cut_line(source: Source, line: int) -> InputError:
    """Return the error for a listing whose last line is incomplete."""
    return InputError(
        "truncated",
        "the listing ends inside a line",
        source=source,
        span=Span(line, 1, max(1, len(source.line(line)))),
        hint="the dump was truncated: create it again, and check that the disk is not full",
    )


def section_name(rest: str) -> str:
    """Return NAME of the text that follows `.section .text.` on its line: `NAME,"ax",@progbits`."""
    return rest.rpartition(',"')[0] or rest


def _frame(source: Source, text: str, start: str) -> "Tree[Token]":
    try:
        return listing_grammar(start).parse(text, start)
    except SyntaxProblem as problem:
        raise _frame_error(source, text, problem) from None


def _frame_error(source: Source, text: str, problem: SyntaxProblem) -> InputError:
    """Return the error for an unexpected or a missing line."""
    before, after = text[: problem.position], text[problem.position :]
    line = before.count("\n") + 1
    if problem.at_end or (after.count("\n") == 1 and not source.text.endswith("\n")):
        return _cut_off(source, before, line)
    shown = text[before.rfind("\n") + 1 :].partition("\n")[0]
    return InputError(
        "syntax",
        f"unexpected line; expected {', '.join(problem.expected)}",
        source=source,
        span=Span(line, len(shown) - len(shown.lstrip()) + 1, max(1, len(shown.strip()))),
        hint="pass the unchanged output of cuobjdump -sass or nvdisasm -c",
    )


def _cut_off(source: Source, before: str, line: int) -> InputError:
    """Return the error for a listing that ends after `before`; it names the function in which it ends."""
    opening_match = None
    for opening_match in _OPENING.finditer(before):  # noqa: B007 - the last one is wanted
        pass
    if opening_match is None or opening_match[1] is opening_match[2] is None:
        return cut_line(source, line)
    name = opening_match[1] if opening_match[1] is not None else section_name(opening_match[2])
    opening = opening_match[0].strip()
    start = opening_match.end() - len(opening)
    return truncated(source, name, Span(before.count("\n", 0, start) + 1, start - before.rfind("\n", 0, start), len(opening)))


def _arch_of(token: "Token") -> str:
    """Return the architecture that a line names, as printed, or ''."""
    match token.type:
        case "CODE":
            match = _CODE.search(token)
            return match[1] if match else ""
        case "TARGET":
            match = _TARGET.search(token)
            return match[1].rstrip(",") if match else ""
        case "HEADER":
            match = _FLAG.search(token)
            return f"sm_{match[1]}" if match else ""
        case _:
            return ""


def _cuobjdump_function(tree: "Tree[Token]", code: str) -> TextSection:
    head, *rest = [child for child in tree.children if isinstance(child, str)]
    arch = code or next((name for name in map(_arch_of, rest) if name), "")
    name = head.partition(_FUNCTION)[2][:-1]
    return TextSection(name, arch, span_of(head), [token for token in rest if token.type in _CODE_LINES], (name,))


def _nvdisasm_section(source: Source, tree: "Tree[Token]", arch: str) -> TextSection:
    head, *rest = [child for child in tree.children if isinstance(child, str)]
    name = section_name(head.partition(".text.")[2][:-1])
    lines = [token for token in rest if token.type in _CODE_LINES]
    directives = [token.strip() for token in rest if token.type == "DIRECTIVE"]
    last = lines[-1] if lines else head
    # The kernel's size is that of the whole section, device functions included: its end label follows all code.
    renamed = dict(_renamed(directives))
    # The numbers of the section's own name and of its label differ.
    original = next((before.removeprefix(_TEXT) for before in renamed.values() if before.startswith(_TEXT)), "")
    symbols = [name, *(symbol for symbol, before in renamed.items() if original and before == original)]
    ends = [end for end in (_end_label(line, symbol) for line in directives for symbol in symbols) if end]
    if not lines or last.type != "LABEL" or label_name(last) not in ends:
        raise truncated(source, name, span_of(last))
    kernel = any(_is_entry(line, name) for line in directives)
    registers = next((int(match[1]) for line in directives if (match := _REGISTERS.fullmatch(line))), None)
    return TextSection(name, arch, span_of(head), lines, tuple(_function_symbols(directives)), kernel, Declared(registers), original)


def _shared(tree: "Tree[Token]") -> dict[str, int]:
    """Return the static shared memory, in bytes, of every function whose attributes are listed; `-c` lists neither."""
    sizes: dict[str, int] = {}
    for child in tree.children:
        if isinstance(child, str) or child.data != "data":
            continue
        head, *rest = [line.strip() for line in child.children if isinstance(line, str)]
        kind = _DATA.fullmatch(head)
        if kind is not None and kind[1] == "info":
            sizes.setdefault(kind[2], 0)
        elif kind is not None:
            sizes[kind[2]] = sizes.get(kind[2], 0) + sum(int(zero[1]) for line in rest if (zero := _ZERO.fullmatch(line)))
    return sizes


def label_name(token: "Token") -> str:
    """Return the name that a label line defines."""
    return token.rstrip()[:-1]


def _renamed(directives: list[str]) -> "Iterator[tuple[str, str]]":
    """Yield NEW and OLD of every `.map_symbolname NEW OLD`: nvdisasm prints one name once."""
    for line in directives:
        match line.split():
            case [".map_symbolname", new, old]:
                yield new, old
            case _:
                pass


def _function_symbols(directives: list[str]) -> "Iterator[str]":
    """Yield NAME of every `.type NAME,@function`; the names are untrusted text."""
    for line in directives:
        directive, _, rest = line.replace("\t", " ", 1).partition(" ")
        if directive == ".type" and rest.endswith(",@function"):
            yield rest.removesuffix(",@function").strip()


def _is_entry(line: str, name: str) -> bool:
    """Say whether a line is `.other NAME,@"STO_CUDA_ENTRY …"` for this name: only kernels have it."""
    directive, _, rest = line.replace("\t", " ", 1).partition(" ")
    return directive == ".other" and rest.strip().startswith(f'{name},@"') and "STO_CUDA_ENTRY" in rest[len(name) :]


def _end_label(line: str, name: str) -> str:
    """Return END of `.size NAME,(END - NAME)` for this name, or ''."""
    directive, _, rest = line.replace("\t", " ", 1).partition(" ")
    before, after = f"{name},(", f" - {name})"
    rest = rest.strip()
    if directive == ".size" and rest.startswith(before) and rest.endswith(after):
        return rest[len(before) : -len(after)]
    return ""
