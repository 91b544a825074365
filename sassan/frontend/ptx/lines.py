"""From the text of one instruction to its record; a plain parser, and a fast one that is tested against it.

The plain parser parses every instruction with the grammar. The fast one splits a line at its commas and caches, for one input, each operand
and each *shape* of operand (its text without the digits): only a new shape is parsed with the grammar. A line that does not match its
pattern, an error in particular, is left to the plain parser.
"""

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

from sassan.frontend.grammar import Grammar, SyntaxProblem
from sassan.frontend.ptx.grammar import ptx_grammar
from sassan.frontend.ptx.operands import guard_text, operand_of, parts
from sassan.frontend.ptx.syntax import Address, Identifier, Not, NumericLiteral, Operand, OperandTuple, Sum


class ParsedLine(NamedTuple):
    """An instruction without its span."""

    guard: str
    opcode: str
    operands: tuple[Operand, ...]


class LineParser(Protocol):
    """Reads one instruction with its `;`; raises SyntaxProblem."""

    def parse(self, text: str) -> ParsedLine:
        """Return the instruction that a line holds."""
        ...


class PlainLines:
    """Parses every instruction with the grammar."""

    def __init__(self) -> None:
        """Load the grammar."""
        self._grammar = ptx_grammar()

    def parse(self, text: str) -> ParsedLine:
        """Return the instruction that a line holds; raises SyntaxProblem with a position in it."""
        tokens, trees = parts(self._grammar.parse(text, "instruction"))
        guard = next((guard_text(token) for token in tokens if token.type == "GUARD"), "")
        opcode = next(str(token) for token in tokens if token.type == "OPCODE")
        return ParsedLine(guard, opcode, tuple([operand_of(tree) for tree in trees]))


_NAME = r"(?:[%$][\w$]++|[_A-Za-z][\w$]*+)"
_LINE = re.compile(
    rf"[ \t]*+(?:(@!?{_NAME})[ \t]++)?([a-z][a-z0-9_]*+(?:\.[A-Za-z0-9_]++(?:::[A-Za-z0-9_]++)*)*)(?:[ \t]++([^;:\"/\n]*+))?;[ \t]*+",
    re.ASCII,
)
_PIECE = re.compile(
    r"[ \t]*+([^,()\[\]{}]++|\[[^\[\]{}]*+(?:\{[^\[\]{}]*+\}[^\[\]{}]*+)?\]|\{[^(){}]*+\}|\([^()]*+\))[ \t]*+(,|$)", re.ASCII
)
_HOLE = re.compile(
    r"(?<![\w.])0[fF][0-9a-fA-F]{8}(?![\w.])|(?<![\w.])0[dD][0-9a-fA-F]{16}(?![\w.])|(?<![\w.])0[xX][0-9a-fA-F]++(?![\w.])|[0-9]++",
    re.ASCII,
)
_MARK = 70000
"""Holes are filled with numbers from here on while a shape is parsed: five digits that no shape holds itself."""

_FLOATS = frozenset({"0f", "0F", "0d", "0D"})
_HOLES = 256
"""The numbers of the longest operand that gets a shape: what a shape costs grows with their square."""
_KINDS = ("0f" + "0" * 8, "0F" + "0" * 8, "0d" + "0" * 16, "0D" + "0" * 16, "0x", "0X", "1")
"""One number of every kind that the grammar distinguishes."""

_Fill = Callable[[list[str]], Operand]


class FastLines:
    """The fast parser; it caches the operands of one input."""

    def __init__(self) -> None:
        """Start with empty caches."""
        self._plain = PlainLines()
        self._grammar: Grammar = ptx_grammar()
        self._operands: dict[str, Operand | None] = {}
        self._shapes: dict[str, _Fill | None] = {}

    def parse(self, text: str) -> ParsedLine:
        """Return the instruction that a line holds; raises SyntaxProblem with a position in it."""
        match = _LINE.fullmatch(text)
        if match is None:
            return self._plain.parse(text)
        guard, opcode, rest = match.groups()
        operands = self._list(rest) if rest else ()
        if operands is None:
            return self._plain.parse(text)
        return ParsedLine(guard[1:] if guard else "", opcode, operands)

    def _list(self, text: str) -> tuple[Operand, ...] | None:
        """Return the operands between commas, None where the grammar is needed."""
        if "{" not in text and "[" not in text and "(" not in text:
            pieces = text.split(",")
        else:
            pieces, place = [], 0
            while match := _PIECE.match(text, place):
                pieces.append(match[1])
                place = match.end()
                if not match[2]:
                    break
            if place != len(text):
                return None
        out: list[Operand] = []
        for piece in pieces:
            operand = self._operand(piece.strip(" \t"))
            if operand is None:
                return None
            out.append(operand)
        return tuple(out)

    def _operand(self, text: str) -> Operand | None:
        operand = self._operands.get(text)
        if operand is None and text not in self._operands:
            self._operands[text] = operand = self._by_shape(text)
        return operand

    def _by_shape(self, text: str) -> Operand | None:
        holes = _HOLE.findall(text)
        shape = _HOLE.sub(_mark, text)
        if shape not in self._shapes:
            self._shapes[shape] = self._new_shape(text)
        fill = self._shapes[shape]
        return fill(holes) if fill else None

    def _new_shape(self, text: str) -> _Fill | None:
        count = 0

        def numbered(match: re.Match[str]) -> str:
            nonlocal count
            count += 1
            return _digits(match[0], count - 1)

        marked = _HOLE.sub(numbered, text)
        if count > _HOLES:
            return None
        try:
            tree = self._grammar.parse(marked, "operand")
        except SyntaxProblem:
            return None
        return _fill(operand_of(tree), count)


def _mark(match: re.Match[str]) -> str:
    """Return the mark of a number in a shape: hexadecimal numbers and floats keep their kind."""
    return _digits(match[0], 0)


def _digits(number: str, place: int) -> str:
    """Return the number that marks hole `place`, of the same kind as `number`: the grammar distinguishes kinds."""
    if number[:2] in _FLOATS:
        return f"{number[:2]}{_MARK + place:0{len(number) - 2}d}"
    if number[:2] in ("0x", "0X"):
        return f"{number[:2]}{_MARK + place}"
    return str(_MARK + place)


def _fill(operand: Operand, count: int) -> _Fill:
    """Return a function that makes an operand of this shape from the numbers of another operand."""
    marks = {_digits(kind, place): place for kind in _KINDS for place in range(count)}
    return _Filler(marks).operand(operand)


class _Filler:
    """Makes functions that put numbers in the places of their marks."""

    def __init__(self, marks: dict[str, int]) -> None:
        self._marks = marks
        longest_first = sorted(marks, key=lambda mark: (-len(mark), mark))
        self._pattern = re.compile("|".join(longest_first) or r"(?!)")

    def operand(self, operand: Operand) -> _Fill:
        match operand:
            case Identifier(value):
                name = self._text(value)
                return lambda holes: Identifier(name(holes))
            case NumericLiteral(value):
                number = self._text(value)
                return lambda holes: NumericLiteral(number(holes))
            case Not(value):
                negated = self._text(value)
                return lambda holes: Not(negated(holes))
            case Sum(value, offset):
                base, distance = self._text(value), self._text(offset)
                return lambda holes: Sum(base(holes), distance(holes))
            case OperandTuple(opening, items):
                makers = [self.operand(item) for item in items]
                return lambda holes: OperandTuple(opening, tuple([maker(holes) for maker in makers]))
            case Address():
                return self._address(operand)

    def _address(self, address: Address) -> _Fill:
        kind, value, distance = type(address.base), self._text(address.base.text), self._text(address.offset)
        makers = [self.operand(item) for item in address.items]
        return lambda holes: Address(kind(value(holes)), distance(holes), tuple([maker(holes) for maker in makers]))

    def _text(self, value: str) -> Callable[[list[str]], str]:
        fixed = self._pattern.split(value)
        places = [self._marks[mark] for mark in self._pattern.findall(value)]
        if not places:
            return lambda _: value
        if len(places) == 1:
            before, after, place = fixed[0], fixed[1], places[0]
            return lambda holes: before + holes[place] + after
        rest = list(zip(places, fixed[1:], strict=True))
        return lambda holes: fixed[0] + "".join([holes[place] + after for place, after in rest])
