"""From a text section to a function: addresses, labels, encodings, control codes; padding goes."""

from typing import TYPE_CHECKING, NamedTuple

from sassan.errors import InputError
from sassan.frontend.architectures import Architecture
from sassan.frontend.grammar import SyntaxProblem
from sassan.frontend.instructions import Parsed, Parser
from sassan.frontend.operands import UNRESOLVED
from sassan.frontend.padding import without_padding
from sassan.frontend.sections import Section, label_name, span_of, truncated
from sassan.ir import Function, Immediate, Instruction, Operand, Symbol, Target
from sassan.source import Source, Span

if TYPE_CHECKING:
    from lark import Token

# Mnemonics whose last operand, printed as a plain number, is an address in the same section. `BRX R2 -0xa0` is an offset to
# a register; absolute calls and jumps (JCAL, JMP, CALL.ABS) go where the loader decides.
_RELATIVE = frozenset(("BRA", "SSY", "PBK", "PCNT", "PRET", "CAL", "CALL", "BSSY", "RET", "WARPSYNC", "LEPC"))
_CODE_MASK = 0x1FFFFF
_BRANCH_TARGETS = '(*"BRANCH_TARGETS '
_NAME_SHOWN = 60


class _Row(NamedTuple):
    """One instruction line: where it stands and what it says; `word` is the encoding on the same line, -1 for none."""

    address: int
    parsed: Parsed
    line: int
    column: int
    word: int


class _Lines(NamedTuple):
    """A section in order: instructions, all words of the encodings, and the address of each label."""

    rows: list[_Row]
    words: list[int]
    labels: dict[str, int]


def assemble(source: Source, section: Section, arch: Architecture, parser: Parser) -> Function:
    """Return the function that a section holds; raises InputError."""
    lines = _read(source, section, arch, parser)
    if not lines.rows:
        raise truncated(source, section.name, section.span)
    words = _Words(source, section, arch, lines)
    addresses = {row.address for row in lines.rows}
    resolve = _Resolver(source, section, arch, lines.labels, addresses)
    instructions = [
        Instruction(
            row.address,
            arch.following(row.address),
            row.parsed.opcode,
            resolve.operands(row),
            row.parsed.guard,
            Span(row.line, row.column, len(row.parsed.text)),
            row.parsed.condition,
            resolve.note_targets(row) if row.parsed.notes else (),
            row.parsed.notes,
            words.encoding(row),
            words.control(row),
            row.parsed.text,
        )
        for row in lines.rows
    ]
    symbols = sorted((lines.labels.get(name, arch.first), name) for name in section.symbols if name in lines.labels or not section.ends)
    entry = lines.labels.get(section.name, arch.first)
    kept = without_padding(instructions, frozenset(address for address, _ in symbols))
    return Function(section.name, arch.name, kept, entry, tuple(symbols), section.span)


def _read(source: Source, section: Section, arch: Architecture, parser: Parser) -> _Lines:
    """Read the lines of a section in order; every instruction must stand where the one before it says."""
    rows: list[_Row] = []
    words: list[int] = []
    labels: dict[str, int] = {}
    expected = arch.first
    opened = False
    for token in section.lines:
        if token.type == "INSTRUCTION":
            row = _row(source, token, parser)
            if row.address != expected:
                raise _misplaced(source, section, arch, expected, token)
            if opened != row.parsed.closes or (opened and row.parsed.opens):
                raise _unpaired(source, token)
            opened = row.parsed.opens
            rows.append(row)
            if row.word >= 0:
                words.append(row.word)
            expected = arch.following(expected)
        elif token.type == "ENCODING":
            words.append(int(token.strip()[3:-3], 16))
        else:
            labels[label_name(token)] = expected
    if opened:
        raise _unpaired(source, section.lines[-1])
    return _Lines(rows, words, labels)


def _row(source: Source, token: "Token", parser: Parser) -> _Row:
    start = token.index("/*") + 2
    end = token.index("*/", start)
    address = int(token[start:end], 16)
    encoded = token.rfind("/* 0x")
    body = token[end + 2 : encoded] if encoded > end else token[end + 2 : -1]
    word = int(token[encoded + 3 : encoded + 21], 16) if encoded > end else -1
    line = token.line or 1
    try:
        parsed = parser.parse(body)
    except SyntaxProblem as problem:
        raise _syntax(source, line, end + 3, body, problem) from None
    column = end + 3 + _blanks(body)
    return _Row(address, parsed, line, column, word)


def _blanks(body: str) -> int:
    """Return where an instruction starts in the text behind its address."""
    return len(body) - len(body.lstrip("{ \t"))


def _syntax(source: Source, line: int, column: int, body: str, problem: SyntaxProblem) -> InputError:
    expected = f"; expected {', '.join(problem.expected)}" if problem.expected else ""
    position = min(problem.position, len(body.rstrip()))
    return InputError(
        "syntax",
        f"{problem.message}{expected}",
        source=source,
        span=Span(line, column + position, 1),
        hint="give the unchanged output of cuobjdump -sass or nvdisasm -c",
    )


def _misplaced(source: Source, section: Section, arch: Architecture, expected: int, token: "Token") -> InputError:
    return InputError(
        "missing-instructions",
        f"function '{section.name}' has an instruction of {arch.name} at 0x{expected:04x}, and it is not here",
        source=source,
        span=span_of(token),
        hint="lines are missing or out of order, or the architecture is another one (--sm)",
    )


def _unpaired(source: Source, token: "Token") -> InputError:
    return InputError(
        "syntax",
        "the braces of a dual issue do not pair up; expected '{' on one instruction and '}' on the next",
        source=source,
        span=span_of(token),
    )


class _Words:
    """Gives every instruction its encoding and its control code, as far as the text has them."""

    def __init__(self, source: Source, section: Section, arch: Architecture, lines: _Lines) -> None:
        self._words = lines.words
        self._arch = arch
        # A listing without the lines that hold nothing but an encoding is still a listing.
        self._complete = len(lines.words) == (lines.rows[-1].address + arch.size) // 8
        if not self._complete and len(lines.words) not in (0, sum(row.word >= 0 for row in lines.rows)):
            raise InputError(
                "missing-encodings",
                f"function '{section.name}' has {len(lines.words)} words of encodings for {len(lines.rows)} instructions",
                source=source,
                span=section.span,
                hint="give all lines of encodings, or none",
            )

    def encoding(self, row: _Row) -> int | None:
        if not self._complete:
            return row.word if row.word >= 0 and self._arch.control_words else None
        word = self._words[row.address >> 3]
        return word if self._arch.control_words else word | self._words[(row.address >> 3) + 1] << 64

    def control(self, row: _Row) -> int | None:
        """Return the 21-bit control code: sass.md, "Control codes"."""
        if not self._complete:
            return None
        index = row.address >> 3
        if self._arch.control_words:
            return self._words[index & ~3] >> 21 * ((index & 3) - 1) & _CODE_MASK
        return self._words[index + 1] >> 41 & _CODE_MASK


class _Resolver:
    """Turns labels and plain numbers into code addresses."""

    def __init__(self, source: Source, section: Section, arch: Architecture, labels: dict[str, int], addresses: set[int]) -> None:
        self._source = source
        self._section = section
        self._arch = arch
        self._labels = labels
        self._addresses = addresses

    def operands(self, row: _Row) -> tuple[Operand, ...]:
        """Return the operands of an instruction with every code address known, or a Symbol where it is none of this function."""
        operands = row.parsed.operands
        if not operands:
            return operands
        last = operands[-1]
        if type(last) is Target:
            return (*operands[:-1], self._label(last.label, row))
        if type(last) is Immediate and row.parsed.opcode.partition(".")[0] in _RELATIVE:
            return self._number(operands, last, row.parsed.opcode)
        return operands

    def note_targets(self, row: _Row) -> tuple[int, ...]:
        """Return the addresses that a BRANCH_TARGETS note lists."""
        for note in row.parsed.notes:
            if note.startswith(_BRANCH_TARGETS):
                names = note[len(_BRANCH_TARGETS) : -3].split(",")
                return tuple(self._address(name.strip(), row) for name in names)
        return ()

    def _number(self, operands: tuple[Operand, ...], last: Immediate, opcode: str) -> tuple[Operand, ...]:
        value = last.value
        if ".ABS" in opcode or not isinstance(value, int) or (opcode.startswith("WARPSYNC") and len(operands) == 1):
            return operands
        address = self._arch.normalise(value)
        known: Operand = Target(address) if address in self._addresses else Symbol(f"0x{value:x}")
        return (*operands[:-1], known)

    def _label(self, name: str, row: _Row) -> Operand:
        if name.startswith(".L_") or name in self._labels:
            return Target(self._address(name, row), name)
        return Symbol(name)

    def _address(self, name: str, row: _Row) -> int:
        address = self._labels.get(name, UNRESOLVED)
        if address not in self._addresses:
            raise InputError(
                "undefined-label",
                f"function '{self._section.name}' has no instruction at '{name[:_NAME_SHOWN]}'",
                source=self._source,
                span=Span(row.line, row.column, max(1, len(row.parsed.text))),
                hint="lines are missing: make the listing again",
            )
        return address
