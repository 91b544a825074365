"""Divisions by a register or a parameter, as ptxas spells them, found in the code of a block.

    m = reciprocal of d in single precision, less a little, as an integer;   m += high(m * -(m * d))
    q = high(m * x);   r = x - q * d;   twice: if r >= d: r -= d, q += 1

Where d is known, m lies between 2^32 / d - 2 and 2^32 / d, whatever the special-function unit returns within one ulp. Then q is at first at
most 2 below the quotient: high(m * x) <= x / d, and high(m * x) > x / d - 2 x / 2^32 - 1 > x / d - 3. So r is below 3 d, and nothing wraps
around; what two corrections leave is quotient and remainder.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from sassan.domains import floats
from sassan.domains.bits import bits
from sassan.domains.lanes import LAST, SIZE, LaneWord
from sassan.ir import Constant, Immediate, Instruction, Operand, Register
from sassan.isa.computations import Apply, Certain, Fixed, Number, Read, StepValue, Term, Write
from sassan.isa.facts import Facts
from sassan.isa.registers import bit
from sassan.values.environment import LaunchEnvironment

NO_WORDS: Mapping[int, Mapping[int, LaneWord]] = MappingProxyType({})
"""Where no words of registers are known."""
DIVIDENDS = 1024
"""The first bit number of names that hold a dividend until its division is done: no register has it."""
_TERMS = 4
_PLAIN = frozenset({"reuse", "64"})
_FOLLOWED = frozenset({"high", "abs", "float_of", "reciprocal", "integer_of"})


class Dividend(NamedTuple):
    """A dividend: the register that holds it before an instruction, and the name that keeps it."""

    register: int
    name: int


class DivisionResult(NamedTuple):
    """What a register holds behind an instruction, whether its guard holds or not: quotient or remainder of the dividend with a name."""

    register: int
    name: int
    divisor: int
    remainder: bool


class Divisions(NamedTuple):
    """The dividends and the results of divisions, by the address of their instruction."""

    dividends: Mapping[int, Dividend]
    results: Mapping[int, DivisionResult]


NO_DIVISIONS = Divisions(MappingProxyType({}), MappingProxyType({}))


def divisions(
    blocks: Iterable[Sequence[Instruction]],
    facts: Mapping[int, Facts],
    environment: LaunchEnvironment,
    starts: Mapping[int, Mapping[int, LaneWord]] = NO_WORDS,
) -> Divisions:
    """Return the divisions of blocks by divisors that are known for the launch.

    `starts` are the words of registers where blocks begin, by their address, as far as they are known.
    """
    dividends: dict[int, Dividend] = {}
    results: dict[int, DivisionResult] = {}
    for block in blocks:
        if any(each.opcode == "MUFU.RCP" for each in block) and any(each.opcode.startswith("IMAD.HI") for each in block):
            _Reader(facts, environment, dividends, results, starts.get(block[0].address, {})).read(block)
    return Divisions(dividends, results)


class _Sum(NamedTuple):
    """A word: nodes by number with their factors, and a constant, modulo 2^32."""

    terms: frozenset[tuple[int, int]]
    constant: int = 0


_Node = tuple[object, ...]


class _Multiplier(NamedTuple):
    """high(m * x), by the address of its instruction, with the registers that it reads."""

    address: int
    reads: Mapping[_Sum, int]


@dataclass(slots=True)
class _Reader:
    """Names the words of one block by what computes them; equal computations have one name."""

    facts: Mapping[int, Facts]
    environment: LaunchEnvironment
    dividends: dict[int, Dividend]
    results: dict[int, DivisionResult]
    first: Mapping[int, LaneWord]
    nodes: list[_Node] = field(default_factory=list[_Node])
    numbers: dict[_Node, int] = field(default_factory=dict[_Node, int])
    held: dict[int, _Sum] = field(default_factory=dict[int, _Sum])
    multipliers: dict[int, _Multiplier] = field(default_factory=dict[int, _Multiplier])

    def node(self, *node: object) -> _Sum:
        number = self.numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return _Sum(frozenset({(number, 1)}))

    def fresh(self) -> _Sum:
        return self.node("unknown", len(self.nodes))

    def register(self, name: int) -> _Sum:
        if name not in self.held:
            self.held[name] = self.node("register", name)
        return self.held[name]

    def read(self, block: Sequence[Instruction]) -> None:
        for instruction in block:
            facts = self.facts[instruction.address]
            guard = instruction.guard
            if guard is not None and guard.index is None:
                continue
            new = dict.fromkeys(bits(facts.writes)) | dict(self.computed(instruction, facts))
            condition = None if guard is None else self.operand(Register(guard.file, guard.index, negated=guard.negated), 0)
            reads = {self.register(name): name for name in bits(facts.reads)}
            for name, value in new.items():
                value = self.fresh() if value is None or (guard is not None and condition is None) else value  # noqa: PLW2901 - named
                if condition is not None:
                    value = self.choice(condition, value, self.register(name))  # noqa: PLW2901 - the same value
                elif (number := _single(value)) is not None and self.nodes[number][0] == "high":
                    self.multipliers.setdefault(number, _Multiplier(instruction.address, reads))
                new[name] = value
            written = {name: value for name, value in new.items() if value is not None}
            self.held.update(written)
            if guard is not None and len(written) == 1:
                for name, value in written.items():
                    self.note(instruction.address, name, value)

    def computed(self, instruction: Instruction, facts: Facts) -> Iterable[tuple[int, _Sum]]:
        local: dict[str, _Sum] = {}
        for step in facts.computes.of(instruction) if facts.computes is not None else ():
            if isinstance(step, Write) and (value := self.term(step.value, local)) is not None:
                local[step.name] = value
                yield from ((target, value) for target in step.targets)

    def term(self, term: Term, local: Mapping[str, _Sum]) -> _Sum | None:
        match term:
            case Number(value):
                return _Sum(frozenset(), value & LAST)
            case Certain(value):
                return _Sum(frozenset(), int(value))
            case Read(operand, place):
                return self.operand(operand, place)
            case StepValue(name):
                return local.get(name)
            case Apply(function, arguments):
                fixed = [each.value if isinstance(each, Fixed) else self.term(each, local) for each in arguments]
                return None if None in fixed else self.applied(function, fixed)
            case _:
                return None

    def operand(self, operand: Operand, place: int) -> _Sum | None:
        match operand:
            case Register(index=None, file="P" | "UP"):
                return _Sum(frozenset(), int(not operand.negated))
            case Register(index=None, inverted=False):
                return _Sum(frozenset())
            case Register(file="P"):
                value = self.register(_name(operand))
                return _added(_Sum(frozenset(), 1), value, -1) if operand.negated else value
            case Register(file="R", absolute=False, inverted=False) if _PLAIN.issuperset(operand.modifiers):
                value = self.register(_name(operand) + place)
            case Immediate(value=int() as number, modifiers=()):
                return _Sum(frozenset(), number >> 32 * place & LAST)
            case Constant(bank=0, absolute=False, inverted=False, modifiers=()) if all(each.index is None for each in operand.base):
                value = self.node("constant", operand.offset + 4 * place)
            case _:
                return None
        return _added(_Sum(frozenset()), value, -1) if operand.negated else value

    def applied(self, function: str, arguments: list[object]) -> _Sum | None:
        match function, arguments:
            case "add", [_Sum() as a, _Sum() as b]:
                return _added(a, b)
            case "subtract", [_Sum() as a, _Sum() as b]:
                return _added(a, b, -1)
            case "multiply", [_Sum() as a, _Sum() as b]:
                return self.product(a, b)
            case "compare", ["GE" | "LT" as relation, _Sum() as a, _Sum() as b, False]:
                return self.at_least(a, b, holds=relation == "GE")
            case "compare", ["LE" | "GT" as relation, _Sum() as a, _Sum() as b, False]:
                return self.at_least(b, a, holds=relation == "LE")
            case _:
                return self.node(function, *arguments) if function in _FOLLOWED else None

    def at_least(self, a: _Sum, b: _Sum, *, holds: bool) -> _Sum:
        value = self.node("at least", a, b)
        return value if holds else _added(_Sum(frozenset(), 1), value, -1)

    def choice(self, condition: _Sum, first: _Sum, second: _Sum) -> _Sum:
        number, negative = _single(condition), _single(_added(_Sum(frozenset(), 1), condition, -1))
        if number is None and negative is not None:
            return self.node("choice", negative, second, first)
        return self.fresh() if number is None else self.node("choice", number, first, second)

    def product(self, a: _Sum, b: _Sum) -> _Sum | None:
        total = _Sum(frozenset(), a.constant * b.constant & LAST)
        for number, factor in a.terms:
            total = _added(total, _Sum(frozenset({(number, 1)})), factor * b.constant)
            for other, times in b.terms:
                total = _added(total, self.node("product", *sorted((number, other))), factor * times)
        for number, factor in b.terms:
            total = _added(total, _Sum(frozenset({(number, 1)})), factor * a.constant)
        return total if len(total.terms) <= _TERMS else None

    def of(self, value: _Sum) -> _Node:
        number = _single(value)
        return ("",) if number is None else self.nodes[number]

    def note(self, address: int, name: int, value: _Sum) -> None:
        """Note the result of a division, where this value is one."""
        match self.of(value):
            case ("choice", int() as condition, _Sum() as first, _Sum() as second):
                pass
            case _:
                return
        match self.nodes[condition]:
            case ("at least", _Sum() as rest, _Sum() as divisor):
                pass
            case _:
                return
        remainder = second == rest and first == _added(rest, divisor, -1)
        if not remainder and first != _added(second, _Sum(frozenset(), 1)):
            return
        before = self.corrected(rest, divisor)
        if before is None:
            return
        for number, multiplier in self.multipliers.items():
            quotient = _Sum(frozenset({(number, 1)}))
            dividend = self.dividend(quotient, before, divisor)
            once = self.choice(self.at_least(before, divisor, holds=True), _added(quotient, _Sum(frozenset(), 1)), quotient)
            known = self.constant(divisor, {})
            if (
                dividend is not None
                and dividend in multiplier.reads
                and known
                and (remainder or second == once)
                and self.precise(quotient, dividend, known)
            ):
                kept = Dividend(multiplier.reads[dividend], DIVIDENDS + len(self.dividends))
                kept = self.dividends.setdefault(multiplier.address, kept)
                self.results[address] = DivisionResult(name, kept.name, known, remainder)

    def corrected(self, rest: _Sum, divisor: _Sum) -> _Sum | None:
        """Return the rest of which a rest is the first correction."""
        match self.of(rest):
            case ("choice", int() as condition, _Sum() as first, _Sum() as second):
                right = first == _added(second, divisor, -1) and self.nodes[condition] == ("at least", second, divisor)
                return second if right else None
            case _:
                return None

    def dividend(self, quotient: _Sum, rest: _Sum, divisor: _Sum) -> _Sum | None:
        """Return x, where a rest is x - quotient * divisor."""
        product = self.product(quotient, divisor)
        return None if product is None else _added(rest, product)

    def precise(self, quotient: _Sum, dividend: _Sum, divisor: int) -> bool:
        """Say whether a quotient is high(m * dividend), with m as near to 2^32 / divisor as it must be."""
        match self.of(quotient):
            case ("high", _Sum() as a, _Sum() as b, _Sum(constant=0) as low, _Sum(constant=0) as top, False) if not low.terms | top.terms:
                multiplier = b if a == dividend else a
            case _:
                return False
        if dividend not in {a, b}:
            return False
        exact = [number for number, node in enumerate(self.nodes) if node[0] == "reciprocal"]
        for number in exact:
            given = self.constant(self.nodes[number][1], {})
            if given is None or not floats.NORMAL <= given <= floats.GREATEST_INVERTED:
                continue
            first, last = floats.approximated(given)
            candidates = [self.constant(multiplier, {number: word}) for word in range(first, last + 1)]
            if all(each is not None and each * divisor <= SIZE <= (each + 2) * divisor for each in candidates):
                return True
        return False

    def constant(self, value: object, given: Mapping[int, int]) -> int | None:
        """Return a word that is known for the launch where some nodes are given."""
        if not isinstance(value, _Sum):
            return None
        total = value.constant
        for number, factor in value.terms:
            known = given.get(number)
            known = self.evaluated(self.nodes[number], given) if known is None else known
            if known is None:
                return None
            total += factor * known
        return total & LAST

    def evaluated(self, node: _Node, given: Mapping[int, int]) -> int | None:  # noqa: PLR0911 - one for each function
        if node[0] == "register" and isinstance(node[1], int):
            return self.first[node[1]].constant if node[1] in self.first else None
        if node[0] == "constant" and isinstance(node[1], int):
            return self.environment.constant(node[1]).value.constant
        if node[0] == "product":
            return _multiplied([self.constant(_Sum(frozenset({(part, 1)})), given) for part in node[1:] if isinstance(part, int)])
        words = [self.constant(each, given) for each in node[1:] if isinstance(each, _Sum)]
        known = [each for each in words if each is not None]
        if len(known) < len(words):
            return None
        match node[0], known, node[1 + len(words) :]:
            case "high", [a, b, low, top], (False,):
                return a * b + (top << 32 | low) >> 32 & LAST
            case "abs", [a], ():
                return SIZE - a if a >> 31 else a
            case "float_of", [a], (is_signed, str() as rounding) if not (is_signed and a >> 31):
                return floats.rounded(a, rounding)
            case "integer_of", [a], (False, str() as rounding) if a <= floats.INFINITY:
                return floats.whole(a if a >= floats.NORMAL else 0, rounding, LAST)
            case _:
                return None


def _multiplied(factors: Sequence[int | None]) -> int | None:
    a, b = factors
    return None if a is None or b is None else a * b & LAST


def _single(value: _Sum) -> int | None:
    """Return the number of the node that a word is."""
    return next((number for number, factor in value.terms if factor == 1), None) if len(value.terms) == 1 and not value.constant else None


def _added(a: _Sum, b: _Sum, times: int = 1) -> _Sum:
    terms = dict(a.terms)
    for number, factor in b.terms:
        terms[number] = terms.get(number, 0) + times * factor & LAST
    return _Sum(frozenset([term for term in terms.items() if term[1]]), a.constant + times * b.constant & LAST)


def _name(register: Register) -> int:
    return bit(register.file, register.index).bit_length() - 1
