"""From the rows of a text section to a function: code addresses resolved, encodings and control codes attached."""

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sassan.arch import Architecture
from sassan.errors import InputError
from sassan.frontend.addresses import with_unknown_addresses
from sassan.frontend.instructions import Parser, ends_in_address
from sassan.frontend.lines import InstructionLine, LineReader, SectionLines, span_of_row
from sassan.frontend.operands import UNRESOLVED
from sassan.frontend.padding import without_padding
from sassan.frontend.sections import TextSection, truncated
from sassan.ir import CodeAddress, Function, Immediate, Instruction, Operand, Symbol, Target
from sassan.isa import control
from sassan.isa.encodings import encodings
from sassan.source import Source, Span

_BRANCH_TARGETS = '(*"BRANCH_TARGETS '
_CODE_ADDRESS = re.compile(r"32@(?P<half>lo|hi)\(\((?P<base>.*) \+ (?P<label>\.L_x_[0-9]+)@srel\)\)")
_NAME_SHOWN = 60
_NOP_MAXWELL, _NOP_VOLTA = 0x50B0 >> 3, 0x918
"""Opcode bits of a NOP: the upper 13 of the word up to sm_62, the lower 12 of the lower word since."""
_INDIRECT = frozenset({"BRX", "BRXU", "JMX", "JMXU"})

_Codes = tuple[list[int | None], list[int | None]]
"""The encoding and the control code of every instruction."""


@dataclass(frozen=True, slots=True)
class SectionFacts:
    """The facts of a cubin about a section: the bytes of its code, and the targets of its indirect branches."""

    code: bytes
    targets: Mapping[int, tuple[int, ...]]


def assemble(source: Source, section: TextSection, arch: Architecture, parser: Parser, facts: SectionFacts | None = None) -> Function:
    """Return the function of a section; encodings, and tables that the listing lacks, come from `facts`. Raises InputError."""
    lines = LineReader(source, section, arch, parser).read()
    if not lines.rows:
        raise truncated(source, section.name, section.span)
    if facts is not None:
        lines = lines._replace(words=_words(source, section, arch, lines, facts.code))
    codes = _encodings(source, section, arch, lines)
    instructions = _instructions(lines.rows, codes, _Resolver(source, section, arch, lines), arch)
    contradiction, unchecked = _compared(arch, instructions) if facts is None else (None, 0)
    relocated = 0
    if facts is not None:
        # The text of a cubin comes from its code.
        instructions = [_with_table(instruction, facts) for instruction in instructions]
    elif not lines.labels:
        instructions, relocated = with_unknown_addresses(arch.name, instructions)
    labels = lines.labels or {section.name: arch.first}
    symbols = tuple(sorted((labels[name], name) for name in section.symbols if name in labels))
    entry = labels.get(section.name, arch.first)
    code = without_padding(instructions, frozenset(address for address, _ in symbols))
    function = Function(section.name, arch.name, code, entry, symbols, section.span, kernel=section.kernel, declared=section.declared)
    if contradiction is not None or unchecked or relocated:
        return replace(function, contradiction=contradiction, unchecked=unchecked, relocated=relocated)
    return function


def _words(source: Source, section: TextSection, arch: Architecture, lines: SectionLines, code: bytes) -> list[int]:
    """Return the words of the listed code; raises InputError unless only padding is omitted, as nvdisasm does after CONT."""
    words = [word for (word,) in struct.iter_unpack("<Q", code[: len(code) // 8 * 8])]
    listed = lines.rows[-1].address + arch.instruction_bytes
    left = range(arch.following(lines.rows[-1].address), len(code), arch.instruction_bytes)
    if listed > len(code) or not all(_is_nop(words[at >> 3], arch) for at in left if arch.normalise(at) == at):
        message = f"the disassembler lists 0x{listed:x} bytes of '{section.name}'; the cubin has 0x{len(code):x} bytes"
        raise InputError("listing-differs", message, source=source, span=section.span, hint="try another version of nvdisasm")
    return words[: listed >> 3]


def _is_nop(word: int, arch: Architecture) -> bool:
    return word >> 51 == _NOP_MAXWELL if arch.control_words else word & 0xFFF == _NOP_VOLTA


def _with_table(instruction: Instruction, facts: SectionFacts) -> Instruction:
    """Return an indirect branch with the compiler's table where the listing has none; each target once, as nvdisasm prints them."""
    if instruction.targets or instruction.opcode.partition(".")[0] not in _INDIRECT:
        return instruction
    return replace(instruction, targets=tuple(dict.fromkeys(facts.targets.get(instruction.address, ()))))


def _instructions(rows: list[InstructionLine], codes: _Codes, resolve: "_Resolver", arch: Architecture) -> list[Instruction]:
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


def _compared(arch: Architecture, instructions: list[Instruction]) -> tuple[tuple[int, str] | None, int]:
    """Compare texts with their encodings.

    Returns the first instruction whose text is not what its encoding says, by its address, with a message, None where there is none; and
    of how many it is not known.
    """
    unchecked = 0
    if not any(instruction.encoding is not None for instruction in instructions):
        return None, unchecked
    differences = encodings(arch).difference
    for instruction in instructions:
        difference = differences(instruction)
        if difference:
            where = f"the text of the instruction at 0x{instruction.address:04x}"
            return (instruction.address, f"{where} contradicts its encoding, which has {difference}"), unchecked
        unchecked += difference is None
    return None, unchecked


def refuse_contradictions(source: Source, functions: Sequence[Function]) -> None:
    """Raise InputError where the text of no function is what its encodings say; of several, one that contradicts itself is a gap alone."""
    first = functions[0].contradiction if all(function.contradiction for function in functions) else None
    if first is not None:
        address, message = first
        span = next((instruction.span for instruction in functions[0].instructions if instruction.address == address), None)
        hint = "the listing was changed: create it again, or remove all encodings"
        raise InputError("text-differs", message, source=source, span=span or functions[0].span, hint=hint)


def _encodings(source: Source, section: TextSection, arch: Architecture, lines: SectionLines) -> _Codes:
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
        # A listing without the lines that hold only an encoding is accepted.
        return [row.word for row in rows] if arch.control_words else unknown, unknown
    raise InputError(
        "missing-encodings",
        f"function '{section.name}' has {len(words)} words of encodings, fewer than its {len(rows)} instructions have",
        source=source,
        span=section.span,
        hint="keep all lines of encodings, or none",
    )


class _Resolver:
    """Resolves labels and plain numbers to code addresses."""

    def __init__(self, source: Source, section: TextSection, arch: Architecture, lines: SectionLines) -> None:
        """Remember which addresses hold an instruction."""
        self._source = source
        self._section = section
        self._arch = arch
        self._labels = lines.labels
        self._addresses = {row.address for row in lines.rows}

    def operands(self, row: InstructionLine) -> tuple[Operand, ...]:
        """Return the operands with code addresses resolved: a Target, or a Symbol where it is not an address of this function."""
        last = row.parsed.operands[-1]
        out = [self._label(operand, row) if type(operand) is Target else operand for operand in row.parsed.operands]
        if ends_in_address(row.parsed.opcode, row.parsed.operands) and isinstance(last, Immediate) and isinstance(last.value, int):
            address = self._arch.normalise(last.value)
            out[-1] = Target(address) if address in self._addresses else Symbol(f"0x{last.value:x}")
        return tuple(out)

    def relocations(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Return the operands with `32@lo((f + .L_x_0@srel))` resolved, where the label is one of this section."""
        return tuple(self._relocation(operand) if isinstance(operand, Symbol) else operand for operand in operands)

    def _relocation(self, symbol: Symbol) -> Operand:
        match = _CODE_ADDRESS.fullmatch(symbol.name)
        if match is None or match["base"] != self._section.name or self._labels.get(match["label"]) not in self._addresses:
            return symbol
        return CodeAddress(self._labels[match["label"]], match["half"] == "hi")

    def _label(self, target: Target, row: InstructionLine) -> Operand:
        name = target.label
        if name.startswith(".L_") or name in self._labels:
            return Target(self._address(name, row), name)
        return Symbol(name)

    def note_targets(self, row: InstructionLine) -> tuple[int, ...]:
        """Return the addresses that a BRANCH_TARGETS note lists."""
        for note in row.parsed.notes:
            if note.startswith(_BRANCH_TARGETS):
                names = note[len(_BRANCH_TARGETS) : -3].split(",")
                return tuple(self._address(name.strip(), row) for name in names)
        return ()

    def _address(self, name: str, row: InstructionLine) -> int:
        address = self._labels.get(name, UNRESOLVED)
        if address not in self._addresses:
            raise InputError(
                "undefined-label",
                f"function '{self._section.name}' has no instruction at '{name[:_NAME_SHOWN]}'",
                source=self._source,
                span=span_of_row(row),
                hint="lines are missing; create the listing again",
            )
        return address
