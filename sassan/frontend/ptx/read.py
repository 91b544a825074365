"""From PTX text to functions: frames of `cuobjdump -ptx` are skipped, modules read one after the other."""

import re
from collections.abc import Callable, Iterator

from sassan.arch import architecture, unknown
from sassan.errors import InputError
from sassan.frontend.ptx.build import Text, build
from sassan.frontend.ptx.declarations import check
from sassan.frontend.ptx.lines import FastLines, LineParser
from sassan.frontend.ptx.link import Linker
from sassan.frontend.ptx.syntax import Header, Module
from sassan.ir import Function
from sassan.source import Source, Span

_MAXWELL = 50
_VERSION = re.compile(r"^[ \t]*\.version\b", re.MULTILINE)
_FRAME = re.compile(r"^(?:Fatbin (?:elf|ptx) code:|member [^\n]*|[^\n]*\.cubin:)[ \t]*$", re.MULTILINE)
_START = re.compile(r"^[ \t]*(?:\.visible[ \t]+|\.weak[ \t]+)?\.(?:target|entry|func)\b", re.MULTILINE)
_TARGET = re.compile(r"(?:sm|compute)_([0-9]{2,3}[af]?)")


def read_ptx(source: Source, arch: str | None = None, make_lines: Callable[[], LineParser] = FastLines) -> tuple[Function, ...]:
    """Return the functions of a PTX text in its order; `arch` overrides its targets.

    Raises InputError with one of the codes syntax, truncated, no-function, no-architecture, undeclared-name, undefined-label,
    duplicate-label, duplicate-name, bad-declaration, bad-number.
    """
    functions: list[Function] = []
    for text, module in modules(source, make_lines()):
        check(text, module)
        functions += Linker(text, module, arch or _arch(text, module)).functions()
    if not functions:
        raise InputError("no-function", "the PTX contains no code; expected .entry or .func with a body", source=source, span=Span(1, 1, 1))
    return tuple(functions)


def modules(source: Source, lines: LineParser) -> Iterator[tuple[Text, Module]]:
    """Yield the modules of a text with their positions; raises InputError."""
    text = source.text.removeprefix("\ufeff").replace("\r\n", "\n")
    starts = [match.start() for match in _VERSION.finditer(text)]
    if not starts:
        start = "module" if _START.search(text) else "fragment"
        part = Text(source, text, 0)
        yield part, build(part, lines, start=start)
        return
    for begin, end in zip([0, *starts[1:]], [*starts[1:], len(text)], strict=True):
        first = starts[0] if begin == 0 and _FRAME.search(text, 0, starts[0]) else begin
        frame = _FRAME.search(text, first, end)
        part = Text(source, text[first : frame.start() if frame else end] + "\n", text.count("\n", 0, first))
        yield part, build(part, lines)


def _arch(text: Text, module: Module) -> str:
    for item in module.items:
        if isinstance(item, Header) and item.keyword == ".target":
            number = next((match[1] for word in item.words if (match := _TARGET.fullmatch(word))), None)
            if number:
                _check_described(text, item.span, f"sm_{number}")
                return f"sm_{number}"
            raise _no_arch(text, item.span, "the target has no architecture; expected sm_NN")
    raise _no_arch(text, text.span(1, 1, 1), "the architecture of the PTX is missing; expected .target sm_NN")


def _check_described(text: Text, span: Span, arch: str) -> None:
    """Refuse the target of an SM that no file describes; PTX of before Maxwell is read, though not its machine code."""
    if architecture(arch) is None and int(re.sub(r"\D", "", arch)) >= _MAXWELL:
        raise unknown(arch, text.source, span)


def _no_arch(text: Text, span: Span, message: str) -> InputError:
    return InputError("no-architecture", message, source=text.source, span=span, hint="pass --sm")
