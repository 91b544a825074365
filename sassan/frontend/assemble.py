"""From the rows of a text section to a function: code addresses resolved, encodings and control codes attached."""

from sassan.errors import InputError
from sassan.frontend.architectures import Architecture
from sassan.frontend.instructions import Parser, ends_in_address
from sassan.frontend.lines import LineReader, Lines, Row, span_of_row
from sassan.frontend.operands import UNRESOLVED
from sassan.frontend.padding import without_padding
from sassan.frontend.sections import Section, truncated
from sassan.ir import Function, Immediate, Instruction, Operand, Symbol, Target
from sassan.isa import control
from sassan.source import Source, Span

_BRANCH_TARGETS = '(*"BRANCH_TARGETS '
_NAME_SHOWN = 60

_Codes = tuple[list[int | None], list[int | None]]
"""Of every instruction the encoding and the control code."""


def assemble(source: Source, section: Section, arch: Architecture, parser: Parser) -> Function:
    """Return the function that a section holds; raises InputError."""
    lines = LineReader(source, section, arch, parser).read()
    if not lines.rows:
        raise truncated(source, section.name, section.span)
    codes = _encodings(source, section, arch, lines)
    instructions = _instructions(lines.rows, codes, _Resolver(source, section, arch, lines), arch)
    labels = lines.labels or {section.name: arch.first}
    symbols = tuple(sorted((labels[name], name) for name in section.symbols if name in labels))
    entry = labels.get(section.name, arch.first)
    kept = without_padding(instructions, frozenset(address for address, _ in symbols))
    return Function(section.name, arch.name, kept, entry, symbols, section.span)


def _instructions(rows: list[Row], codes: _Codes, resolve: "_Resolver", arch: Architecture) -> list[Instruction]:
    following = arch.following
    out: list[Instruction] = []
    for row, encoding, code in zip(rows, *codes, strict=True):
        address, parsed, line, column, _ = row
        text, guard, opcode, condition, operands, notes = parsed[:6]
        if parsed.leads:
            operands = resolve.operands(row)
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
    if len(words) == (rows[-1].address + arch.size) >> 3:
        controls: list[int | None] = [*control.codes(arch.name, words, [row.address for row in rows])]
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
