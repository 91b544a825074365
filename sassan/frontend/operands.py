"""From parse trees to operands, in two steps so that a tree can serve many operands of one shape.

A *maker* is an operand with holes: called with the digits that fill the holes, it returns the operand. The plain parser makes
operands without holes; the fast parser (`instructions.py`) parses one operand of each shape and fills in the digits of the others.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from sassan.frontend.grammar import SyntaxProblem
from sassan.ir import Constant, Immediate, Memory, Operand, Register, Special, Symbol, Target, Word

if TYPE_CHECKING:
    from lark import Token, Tree

_Made = TypeVar("_Made")
Digits = Sequence[str]
Maker = Callable[[Digits], Operand]

UNRESOLVED = -1
"""Address of a Target whose label has not been looked up yet."""

_REGISTER = re.compile(r"([-~!]?)(UR|UP|SB|CC|[RPB])")
_LAST = {"R": 254, "UR": 254, "P": 15, "UP": 7, "B": 15, "SB": 15, "CC": 0}
_LABEL_DIGITS = re.compile(r"`\(\.L_x_(?=[0-9]+\)$)")
_LONGEST_INTEGER = 40
_NONFINITE = {"INF": math.inf, "-INF": -math.inf}
_NAN = {False: math.nan, True: -math.nan}


class Makers:
    """Converts the trees of one `operands` node to makers; `holes` maps a position in the parsed text to the number of a hole."""

    def __init__(self, holes: Mapping[int, int]) -> None:
        """Start with no hole used."""
        self._holes = holes
        self.filled = 0
        """The number of holes that the makers use: a shape is reusable only if they use all."""

    def operand(self, tree: "Tree[Token]") -> Maker:
        """Return the maker of one operand."""
        special = {
            "register": self._register,
            "number": self._immediate,
            "absolute": self._absolute,
            "constant": self._constant,
            "memory": self._memory,
            "label": self._label,
        }.get(str(tree.data))
        return special(tree) if special else _fixed(_plain(tree))

    def _digits(self, text: str, position: int, base: int) -> Callable[[Digits], int]:
        """Return the maker of the integer whose digits are at `position`."""
        hole = self._holes.get(position)
        if hole is None:
            value = int(text, base)
            return lambda _: value
        self.filled += 1
        return lambda digits: int(digits[hole], base)

    def _register(
        self, tree: "Tree[Token]", *, absolute: bool = False, negated: bool = False, suffix: tuple[str, ...] = ()
    ) -> Callable[[Digits], Register]:
        token, *rest = _tokens(tree)
        match = _REGISTER.match(token)
        assert match is not None
        sign, file = match.groups()
        modifiers = _suffix(rest) + suffix
        minus, tilde = negated or sign in ("-", "!"), sign == "~"
        start = _start(token) + match.end()
        number = token[match.end() :]
        if not number.isdigit():
            index = 0 if file == "CC" else None
            return _fixed(Register(file, index, minus, absolute, tilde, modifiers))
        digits, last = self._digits(number, start, 10), _LAST[file]

        def make(holes: Digits) -> Register:
            index = digits(holes)
            if index > last:
                raise SyntaxProblem(f"there is no register {file}{index}", start, ())
            return Register(file, index, minus, absolute, tilde, modifiers)

        return make

    def _number(self, tree: "Tree[Token]") -> Callable[[Digits], int | float]:
        token = _tokens(tree)[0]
        minus = token.startswith("-")
        if token.type == "HEX":
            digits = self._digits(token[2 + minus :], _start(token) + 2 + minus, 16)
            return (lambda holes: -digits(holes)) if minus else digits
        if token.type == "NONFINITE":
            value = _NAN[minus] if token.endswith("NAN") else _NONFINITE[token.lstrip("+")]
            return _fixed(value)
        if token.lstrip("-").isdigit() and len(token) <= _LONGEST_INTEGER:
            return _fixed(int(token))
        hole = self._holes.get(_start(token) + minus)
        if hole is None:
            return _fixed(float(token))
        self.filled += 1
        return (lambda holes: -float(holes[hole])) if minus else (lambda holes: float(holes[hole]))

    def _immediate(self, tree: "Tree[Token]") -> Maker:
        number, modifiers = self._number(tree), _suffix(_tokens(tree)[1:])
        return lambda holes: Immediate(number(holes), modifiers)

    def _label(self, tree: "Tree[Token]") -> Maker:
        token = _tokens(tree)[0]
        name = token[2:-1]
        match = _LABEL_DIGITS.match(token)
        hole = self._holes.get(_start(token) + match.end()) if match else None
        if hole is None:
            return _fixed(Target(UNRESOLVED, name))
        self.filled += 1
        return lambda holes: Target(UNRESOLVED, ".L_x_" + holes[hole])

    def _absolute(self, tree: "Tree[Token]") -> Maker:
        tokens, trees = _tokens(tree), _trees(tree)
        negated = tokens[0].startswith("-")
        if trees[0].data == "register":
            return self._register(trees[0], absolute=True, negated=negated, suffix=_suffix(tokens))
        return self._constant(tree, absolute=True, negated=negated)

    def _constant(self, tree: "Tree[Token]", *, absolute: bool = False, negated: bool = False) -> Maker:
        tokens = _tokens(tree)
        (bank_base, bank_offset), (base, offset) = (self._bracket(bracket) for bracket in _trees(tree))
        opening = next(token for token in tokens if token.type == "BANK")
        minus, tilde, modifiers = negated or opening.startswith("-"), opening.startswith("~"), _suffix(tokens)

        def make(holes: Digits) -> Constant:
            bank = bank_base[0](holes) if bank_base else offset_of(bank_offset, holes)
            registers = tuple([register(holes) for register in base])
            return Constant(bank, registers, offset_of(offset, holes), minus, absolute, tilde, modifiers)

        return make

    def _memory(self, tree: "Tree[Token]") -> Maker:
        tokens = _tokens(tree)
        prefix = next((str(token) for token in tokens if token.type == "SPACE"), "")
        brackets = [self._bracket(bracket) for bracket in _trees(tree)]
        if prefix == "desc" and len(brackets) == 1:
            brackets.append(((), ()))
        base, offset = brackets[-1]
        descriptor = brackets[0][0] if len(brackets) > 1 else ()
        modifiers = _suffix(tokens)

        def make(holes: Digits) -> Memory:
            registers = tuple([register(holes) for register in base])
            return Memory(registers, offset_of(offset, holes), tuple([register(holes) for register in descriptor]), prefix, modifiers)

        return make

    def _bracket(self, tree: "Tree[Token]") -> "tuple[tuple[Callable[[Digits], Register], ...], tuple[Callable[[Digits], int], ...]]":
        base = tuple(self._register(part) for part in _trees(tree) if part.data == "register")
        offset = tuple(self._offset(part) for part in _trees(tree) if part.data == "number")
        return base, offset

    def _offset(self, tree: "Tree[Token]") -> Callable[[Digits], int]:
        token = _tokens(tree)[0]
        number = self._number(tree)
        if token.type != "HEX" and (not token.lstrip("-").isdigit() or len(token) > _LONGEST_INTEGER):
            raise SyntaxProblem(f"an address cannot hold {str(token)[:40]!r}", _start(token), ("HEX", "REGISTER"))
        return lambda holes: int(number(holes))


def offset_of(parts: Sequence[Callable[[Digits], int]], holes: Digits) -> int:
    """Return the byte offset between two brackets, the sum of its numbers."""
    return sum([part(holes) for part in parts])


def _fixed(value: _Made) -> Callable[[Digits], _Made]:
    return lambda _: value


def _plain(tree: "Tree[Token]") -> Operand:
    """Return an operand without numbers."""
    tokens = _tokens(tree)
    match tree.data:
        case "special":
            return Special(tokens[0].upper())
        case "relocation":
            return Symbol(str(tokens[0]))
        case _:
            return Word("".join(tokens))


def _tokens(tree: "Tree[Token]") -> "list[Token]":
    return [child for child in tree.children if isinstance(child, str)]


def _trees(tree: "Tree[Token]") -> "list[Tree[Token]]":
    return [child for child in tree.children if not isinstance(child, str)]


def _suffix(tokens: "Sequence[Token]") -> tuple[str, ...]:
    """Return `("H1", "reuse")` for the token `.H1.reuse`, if there is one."""
    for token in tokens:
        if token.type == "SUFFIX":
            return tuple(token[1:].split("."))
    return ()


def _start(token: "Token") -> int:
    return token.start_pos or 0
