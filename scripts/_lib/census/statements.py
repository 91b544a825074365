"""Statements of PTX from the templates of instructions.toml, each in a kernel of its own whose results go to memory."""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

TEMPLATES = Path(__file__).with_name("instructions.toml")
_ALTERNATIVES = re.compile(r"<([^<>]*)>")
_OPERAND = re.compile(r"\$([hrlqpHRLQPUgsocx])")
_TYPES = {"h": "b16", "r": "b32", "l": "b64", "q": "b128", "p": "pred"}
_SIZES = {"h": 2, "r": 4, "l": 8, "q": 16}
_ADDRESSES = {"g": "%global", "s": "%shared", "o": "%local", "c": "%constant", "x": "%object"}


_MOST_OPERANDS = 3072
"""Bytes of operands in parameters: an operand has 16."""


_DIRECTIVES = ".maxntid 384 .minnctapersm 1"
"""ptxas drops setmaxnreg where it does not know how many registers a kernel begins with."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One or several PTX instructions; `section` is that of the ISA, `text` names operands as the templates do."""

    section: str
    text: str


def statements(path: Path = TEMPLATES) -> list[Statement]:
    """Return every statement of the templates, each once."""
    sections = tomllib.loads(path.read_text(encoding="utf-8"))
    found = (Statement(name, text) for name, section in sections.items() for form in section["forms"] for text in _spelled(form))
    return list(dict.fromkeys(found))


def _spelled(form: str) -> Iterator[str]:
    """Yield a template with each choice of its alternatives."""
    parts = _ALTERNATIVES.split(form)
    for chosen in product(*(part.split("|") if place % 2 else [part] for place, part in enumerate(parts))):
        yield "".join(chosen)


def module(chosen: Sequence[tuple[int, Statement]], arch: str, version: str) -> tuple[str, list[int]]:
    """Return a PTX module with two kernels for each statement, and the number of the statement on each of its lines.

    `k<number>` reads the operands from memory, `u<number>` takes them from its parameters: they are warp-uniform, and the SM may have
    other instructions for those.
    """
    lines = [f".version {version}", f".target {arch}", ".address_size 64", ".const .align 16 .b8 words[256];"]
    owners = [-1] * len(lines)
    for number, statement in chosen:
        kernel = [*_kernel(f"k{number}", statement.text, _loaded), *_kernel(f"u{number}", statement.text, _parameter)]
        lines += kernel
        owners += [number] * len(kernel)
    return "\n".join(lines) + "\n", owners


def _kernel(name: str, text: str, load: Callable[[str, str, int], list[str]]) -> list[str]:
    """Return the lines of a kernel around a statement: loads of what it reads, stores of what it writes."""
    counts = dict.fromkeys(_TYPES, 0)
    before: list[str] = []
    after: list[str] = []

    def register(match: re.Match[str]) -> str:
        letter = match[1]
        if letter in _ADDRESSES:
            return _ADDRESSES[letter]
        kind = "r" if letter == "U" else letter.lower()
        operand = f"%{kind}{counts[kind]}"
        counts[kind] += 1
        if letter.islower() or letter == "U":
            before.extend(load(kind, operand, 16 * len(before)))
        if letter.isupper():
            after.extend(_store(kind, operand, 16 * len(after)))
        return operand

    statement = _OPERAND.sub(register, text)
    declared = [f".reg .{_TYPES[kind]} %{kind}<{count}>;" for kind, count in counts.items() if count]
    addresses = [f".reg .{'b32' if address == '%shared' else 'b64'} {address};" for address in _ADDRESSES.values()]
    return [
        f".entry {name}(.param .u64 in, .param .u64 out, .param .u64 address, .param .u64 object, .param .u64 offset,",
        f".param .align 16 .b8 operands[{_MOST_OPERANDS}]) {_DIRECTIVES} {{",
        *declared,
        *addresses,
        ".reg .b64 %in, %out, %base; .reg .b32 %flag; .reg .b64 %low, %high;",
        ".shared .align 128 .b8 buffer[4096]; .local .align 16 .b8 stack[256];",
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %global, [address]; ld.param.u64 %object, [object];",
        "ld.param.u64 %base, [offset]; cvt.u32.u64 %flag, %base;",
        "mov.u32 %shared, buffer; add.u32 %shared, %shared, %flag; mov.u64 %local, stack; add.u64 %local, %local, %base;",
        "mov.u64 %constant, words; add.u64 %constant, %constant, %base;",
        *before,
        statement,
        *after,
        "ret;",
        "}",
    ]


def _loaded(kind: str, name: str, offset: int) -> list[str]:
    return _load(kind, name, "global", f"[%in+{offset}]")


def _parameter(kind: str, name: str, offset: int) -> list[str]:
    return _load(kind, name, "param", f"[operands+{offset}]")


def _load(kind: str, name: str, space: str, place: str) -> list[str]:
    if kind == "p":
        return [f"ld.{space}.b32 %flag, {place}; setp.ne.u32 {name}, %flag, 0;"]
    if kind == "q":
        return [f"ld.{space}.v2.b64 {{%low, %high}}, {place}; mov.b128 {name}, {{%low, %high}};"]
    return [f"ld.{space}.b{8 * _SIZES[kind]} {name}, {place};"]


def _store(kind: str, name: str, offset: int) -> list[str]:
    if kind == "p":
        return [f"selp.b32 %flag, 1, 0, {name}; st.global.b32 [%out+{offset}], %flag;"]
    if kind == "q":
        return [f"mov.b128 {{%low, %high}}, {name}; st.global.v2.b64 [%out+{offset}], {{%low, %high}};"]
    return [f"st.global.b{8 * _SIZES[kind]} [%out+{offset}], {name};"]
