"""From the lines of a text section to rows: addresses checked, instructions parsed, encodings and labels in order."""

import re
from typing import TYPE_CHECKING, NamedTuple

from sassan.arch import Architecture
from sassan.errors import InputError
from sassan.frontend.grammar import SyntaxProblem
from sassan.frontend.instructions import ParsedInstruction, Parser
from sassan.frontend.sections import TextSection, label_name
from sassan.source import Source, Span

if TYPE_CHECKING:
    from lark import Token

_HINT = "pass the unchanged output of cuobjdump -sass or nvdisasm -c"

# Address and text of an instruction with its encoding, if any; or an encoding alone. Possessive, groups apart: Python
# before 3.11.5 loses matches of possessive groups (python/cpython#106052).
_LINE = re.compile(
    r"[ \t]*+/\*(?:([0-9a-f]{4,16}+)\*/((?:[^/]++|/(?!\* 0x))*)(?:/\* (0x[0-9a-f]{16}) \*/[ \t]*+)?"
    r"| (0x[0-9a-f]{16}) \*/[ \t]*+)"
)


class InstructionLine(NamedTuple):
    """One instruction line; `column` is where its text starts, `word` the encoding on the same line, -1 for none."""

    address: int
    parsed: ParsedInstruction
    line: int
    column: int
    word: int


class SectionLines(NamedTuple):
    """A section in order: its instructions, all words of the encodings, and the address of each label."""

    rows: list[InstructionLine]
    words: list[int]
    labels: dict[str, int]


class LineReader:
    """Reads the lines of one section."""

    def __init__(self, source: Source, section: TextSection, arch: Architecture, parser: Parser) -> None:
        """Read a section of a source with this parser."""
        self._source = source
        self._section = section
        self._arch = arch
        self._parser = parser
        self._rows: list[InstructionLine] = []
        self._words: list[int] = []

    def read(self) -> SectionLines:
        """Return all lines; every instruction must directly follow the previous one. Raises InputError."""
        labels: dict[str, int] = {}
        following, rows = self._arch.following, self._rows
        for token in self._section.lines:
            if token.type == "LINES":
                self._run(token)
            else:
                name = label_name(token)
                if name in labels:
                    raise self._twice(token, name)
                labels[name] = following(rows[-1].address) if rows else self._arch.first
        if rows and rows[-1].parsed.opens:
            raise self._unpaired(rows[-1])
        return SectionLines(rows, self._words, labels)

    def _run(self, token: "Token") -> None:
        """Read a run of lines of code."""
        rows, words, match, parse = self._rows, self._words, _LINE.fullmatch, self._parser.parse
        following = self._arch.following
        expected = following(rows[-1].address) if rows else self._arch.first
        opened = bool(rows) and rows[-1].parsed.opens
        for number, text in enumerate(token.split("\n"), token.line or 1):
            matched = match(text)
            if matched is None:
                if not text.strip():
                    continue
                raise self._malformed(number, text)
            address, body, encoding, alone = matched.groups()
            if alone is not None:
                words.append(int(alone, 16))
                continue
            try:
                parsed = parse(body)
            except SyntaxProblem as problem:
                raise self._syntax(number, matched.start(2), body, problem) from None
            word = -1
            if encoding is not None:
                word = int(encoding, 16)
                words.append(word)
            row = InstructionLine(int(address, 16), parsed, number, matched.start(2) + 1 + parsed.indent, word)
            if row.address != expected:
                raise self._misplaced(expected, row)
            if opened is not parsed.closes or (opened and parsed.opens):
                raise self._unpaired(row)
            opened = parsed.opens
            rows.append(row)
            expected = following(expected)

    def _twice(self, token: "Token", name: str) -> InputError:
        span = Span(token.line or 1, 1, max(1, len(name)))
        return InputError("duplicate-label", f"the label '{name}' is defined twice", source=self._source, span=span, hint=_HINT)

    def _malformed(self, number: int, text: str) -> InputError:
        shown = text.strip()
        return InputError(
            "syntax",
            "this is not a line of code; expected an address and an instruction, or an encoding",
            source=self._source,
            span=Span(number, text.index(shown) + 1, len(shown)),
            hint=_HINT,
        )

    def _syntax(self, number: int, start: int, body: str, problem: SyntaxProblem) -> InputError:
        expected = f"; expected {', '.join(problem.expected)}" if problem.expected else ""
        position = min(problem.position, len(body.rstrip()))
        return InputError(
            "syntax",
            f"{problem.message}{expected}",
            source=self._source,
            span=Span(number, start + position + 1, 1),
            hint=_HINT,
        )

    def _misplaced(self, expected: int, row: InstructionLine) -> InputError:
        name, arch = self._section.name, self._arch.name
        return InputError(
            "missing-instructions",
            f"function '{name}' ({arch}): expected an instruction at 0x{expected:04x}, found 0x{row.address:04x}",
            source=self._source,
            span=span_of_row(row),
            hint="lines are missing or out of order, or the architecture is wrong (--sm)",
        )

    def _unpaired(self, row: InstructionLine) -> InputError:
        return InputError(
            "syntax",
            "the braces of a dual issue do not pair up; expected '{' on one instruction and '}' on the next",
            source=self._source,
            span=span_of_row(row),
            hint=_HINT,
        )


def span_of_row(row: InstructionLine) -> Span:
    """Return the span of an instruction's text."""
    return Span(row.line, row.column, len(row.parsed.text))
