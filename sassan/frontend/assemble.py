"""From the rows of a text section to a function: code addresses resolved, encodings and control codes attached."""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sassan.arch import Architecture
from sassan.errors import InputError
from sassan.frontend.instructions import Parser, ends_in_address
from sassan.frontend.lines import LineReader, Lines, Row, span_of_row
from sassan.frontend.operands import UNRESOLVED
from sassan.frontend.padding import without_padding
from sassan.frontend.sections import Section, truncated
from sassan.ir import CodeAddress, Function, Immediate, Instruction, Operand, Symbol, Target
from sassan.isa import control
from sassan.source import Source, Span

_BRANCH_TARGETS = '(*"BRANCH_TARGETS '
_CODE_ADDRESS = re.compile(r"32@(?P<half>lo|hi)\(\((?P<base>.*) \+ (?P<label>\.L_x_[0-9]+)@srel\)\)")
_NAME_SHOWN = 60
_NOP_MAXWELL, _NOP_VOLTA = 0x50B0 >> 3, 0x918
"""Opcode bits of a NOP: the upper 13 of the word up to sm_62, the lower 12 of the lower word since."""
_INDIRECT = frozenset({"BRX", "BRXU", "JMX", "JMXU"})

_Codes = tuple[list[int | None], list[int | None]]
"""Of every instruction the encoding and the control code."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a cubin says of a section: the bytes of its code, and where its indirect branches go."""

    code: bytes
    targets: Mapping[int, tuple[int, ...]]


def assemble(source: Source, section: Section, arch: Architecture, parser: Parser, known: Known | None = None) -> Function:
    """Return the function that a section holds; encodings, and tables that the listing has not, come from `known`. Raises InputError."""
    lines = LineReader(source, section, arch, parser).read()
    if not lines.rows:
        raise truncated(source, section.name, section.span)
    if known is not None:
        lines = lines._replace(words=_words(source, section, arch, lines, known.code))
    codes = _encodings(source, section, arch, lines)
    instructions = _instructions(lines.rows, codes, _Resolver(source, section, arch, lines), arch)
    if known is not None:
        instructions = [_with_table(one, known) for one in instructions]
    labels = lines.labels or {section.name: arch.first}
    symbols = tuple(sorted((labels[name], name) for name in section.symbols if name in labels))
    entry = labels.get(section.name, arch.first)
    kept = without_padding(instructions, frozenset(address for address, _ in symbols))
    return Function(section.name, arch.name, kept, entry, symbols, section.span, kernel=section.kernel, declared=section.declared)


def _words(source: Source, section: Section, arch: Architecture, lines: Lines, code: bytes) -> list[int]:
    """Return the words of the listed code; raises InputError unless only padding is left out, as nvdisasm does behind CONT."""
    words = [word for (word,) in struct.iter_unpack("<Q", code[: len(code) // 8 * 8])]
    listed = lines.rows[-1].address + arch.instruction_bytes
    left = range(arch.following(lines.rows[-1].address), len(code), arch.instruction_bytes)
    if listed > len(code) or not all(_is_nop(words[at >> 3], arch) for at in left if arch.normalise(at) == at):
        message = f"the disassembler lists 0x{listed:x} bytes of '{section.name}'; the cubin has 0x{len(code):x}"
        raise InputError("listing-differs", message, source=source, span=section.span, hint="try another version of nvdisasm")
    return words[: listed >> 3]


def _is_nop(word: int, arch: Architecture) -> bool:
    return word >> 51 == _NOP_MAXWELL if arch.control_words else word & 0xFFF == _NOP_VOLTA


def _with_table(one: Instruction, known: Known) -> Instruction:
    """Return an indirect branch with the compiler's table where the listing notes none; each target once, as nvdisasm does."""
    if one.targets or one.opcode.partition(".")[0] not in _INDIRECT:
        return one
    return replace(one, targets=tuple(dict.fromkeys(known.targets.get(one.address, ()))))


def _instructions(rows: list[Row], codes: _Codes, resolve: "_Resolver", arch: Architecture) -> list[Instruction]:
    following = arch.following
    out: list[Instruction] = []
    for row, encoding, code in zip(rows, *codes, strict=True):
        address, parsed, line, column, _ = row
        text, guard, opcode, condition, operands, notes = parsed[:6]
        if parsed.leads:
            operands = resolve.operands(row)
        elif "32@" in text:
            operands = resolve.relocations(operands)
        targets = resolve.note_targets(row) if notes else ()
        span = Span(line, column, len(text))
        after = following(address)
        out.append(Instruction(address, after, opcode, operands, guard, span, condition, targets, notes, encoding, code, text))
    return out


def _encodings(source: Source, section: Section, arch: Architecture, lines: Lines) -> _Codes:
    """Return the encoding and the control code of every instruction, as far as the text has them."""
    rows, words = lines.rows, lines.words
    unknown: list[int | None] = [None] * len(rows)
    indices = [row.address >> 3 for row in rows]
    if len(words) == (rows[-1].address + arch.instruction_bytes) >> 3:
        controls: list[int | None] = [*control.codes(arch, words, [row.address for row in rows])]
        if arch.control_words:
            return [words[index] for index in indices], controls
        return [words[index] | words[index + 1] << 64 for index in indices], controls
    if not words:
        return unknown, unknown
    if len(words) == len(rows) and all(row.word >= 0 for row in rows):
        # A listing without the lines that hold nothing but an encoding is still a listing.
        return [row.word for row in rows] if arch.control_words else unknown, unknown
    raise InputError(
        "missing-encodings",
        f"function '{section.name}' has {len(words)} words of encodings, and its {len(rows)} instructions have more",
        source=source,
        span=section.span,
        hint="give all lines of encodings, or none",
    )


class _Resolver:
    """Turns labels and plain numbers into code addresses."""

    def __init__(self, source: Source, section: Section, arch: Architecture, lines: Lines) -> None:
        """Remember which addresses hold an instruction."""
        self._source = source
        self._section = section
        self._arch = arch
        self._labels = lines.labels
        self._addresses = {row.address for row in lines.rows}

    def operands(self, row: Row) -> tuple[Operand, ...]:
        """Return the operands with code addresses resolved: a Target, or a Symbol where it is no address of this function."""
        last = row.parsed.operands[-1]
        out = [self._label(one, row) if type(one) is Target else one for one in row.parsed.operands]
        if ends_in_address(row.parsed.opcode, row.parsed.operands) and isinstance(last, Immediate) and isinstance(last.value, int):
            address = self._arch.normalise(last.value)
            out[-1] = Target(address) if address in self._addresses else Symbol(f"0x{last.value:x}")
        return tuple(out)

    def relocations(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Return the operands with `32@lo((f + .L_x_0@srel))` resolved, where the label is one of this section."""
        return tuple(self._relocation(one) if isinstance(one, Symbol) else one for one in operands)

    def _relocation(self, symbol: Symbol) -> Operand:
        found = _CODE_ADDRESS.fullmatch(symbol.name)
        if found is None or found["base"] != self._section.name or self._labels.get(found["label"]) not in self._addresses:
            return symbol
        return CodeAddress(self._labels[found["label"]], found["half"] == "hi")

    def _label(self, target: Target, row: Row) -> Operand:
        name = target.label
        if name.startswith(".L_") or name in self._labels:
            return Target(self._address(name, row), name)
        return Symbol(name)

    def note_targets(self, row: Row) -> tuple[int, ...]:
        """Return the addresses that a BRANCH_TARGETS note lists."""
        for note in row.parsed.notes:
            if note.startswith(_BRANCH_TARGETS):
                names = note[len(_BRANCH_TARGETS) : -3].split(",")
                return tuple(self._address(name.strip(), row) for name in names)
        return ()

    def _address(self, name: str, row: Row) -> int:
        address = self._labels.get(name, UNRESOLVED)
        if address not in self._addresses:
            raise InputError(
                "undefined-label",
                f"function '{self._section.name}' has no instruction at '{name[:_NAME_SHOWN]}'",
                source=self._source,
                span=span_of_row(row),
                hint="lines are missing: make the listing again",
            )
        return address
