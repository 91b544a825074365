"""What the names of a PTX function stand for: declarations, scopes in braces, and the rules for texts that declare nothing."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sassan.frontend.ptx.literals import integer
from sassan.frontend.ptx.syntax import Declarator, Function, Group, Instruction, Name, Operand, Parameter, Scope, Statement, Table
from sassan.frontend.ptx.syntax import Variable as Declaration
from sassan.ir import Operand as IrOperand
from sassan.ir import Symbol, Variable
from sassan.isa.ptx_table import width

_FAMILY = re.compile(r"(.*?)(0|[1-9][0-9]*)", re.ASCII)
_UNKNOWN_SIZE = 1 << 62
"""Of a parameter whose size is left open: no access covers it."""


@dataclass(frozen=True, slots=True)
class Family:
    """`%r<8>`: the registers %r0 to %r7."""

    count: int


Bound = Variable | Symbol | Family


@dataclass(slots=True)
class Numbers:
    """Hands out the numbers of variables, in order of first use."""

    next: int = 0

    def take(self) -> int:
        """Return the next number."""
        self.next += 1
        return self.next - 1


@dataclass(slots=True)
class Names:
    """The names of one scope; what it does not know, `outer` may know."""

    outer: "Names | None" = None
    bound: dict[str, Bound] = field(default_factory=dict[str, Bound])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, Table] = field(default_factory=dict[str, Table])
    operands: dict[Operand, IrOperand] = field(default_factory=dict[Operand, IrOperand])
    """What operands stand for here, once it has been found out."""

    def label(self, name: str) -> int | None:
        """Return the address of a label, None where no scope has it."""
        return next((scope.labels[name] for scope in self._outwards() if name in scope.labels), None)

    def table(self, name: str) -> Table | None:
        """Return the table of targets with this name, None where no scope has it."""
        return next((scope.tables[name] for scope in self._outwards() if name in scope.tables), None)

    def _outwards(self) -> Iterator["Names"]:
        scope: Names | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def variable(self, name: str, numbers: Numbers) -> Variable | Symbol | None:
        """Return what a name stands for; a register of a family gets its number when it is first met."""
        family = _FAMILY.fullmatch(name)
        for scope in self._outwards():
            found = scope.bound.get(name)
            if found is not None and not isinstance(found, Family):
                return found
            members = scope.bound.get(f"{family[1]}<>") if family else None
            if family and isinstance(members, Family) and int(family[2]) < members.count:
                scope.bound[name] = made = Variable(name, numbers.take())
                return made
        return None

    def declare(self, one: Declaration, numbers: Numbers, escaped: frozenset[str]) -> Iterator[Declarator]:
        """Add the names of a declaration; yield those that the scope has already."""
        self.operands.clear()
        for declarator in one.names:
            key = f"{declarator.name}<>" if declarator.count else declarator.name
            if key in self.bound:
                yield declarator
            self.bound[key] = self._bound(one.space, one.kinds, declarator, numbers, escaped)

    @staticmethod
    def _bound(space: str, kinds: tuple[str, ...], one: Declarator, numbers: Numbers, escaped: frozenset[str]) -> Bound:
        if space == ".reg":
            return Family(int(one.count.rstrip("U"))) if one.count else Variable(one.name, numbers.take())
        if space != ".param":
            return Symbol(one.name)
        if one.name in escaped:
            # Not the name alone: a parameter of the kernel may have it, and that one never changes.
            return Symbol(f"&{one.name}")
        return Variable(one.name, numbers.take(), size=size_of(kinds, one.dimensions))


def parameter(one: Parameter, numbers: Numbers) -> Variable:
    """Return the variable that a parameter of a device function is."""
    return Variable(one.name, numbers.take(), size=0 if one.space == ".reg" else size_of(one.kinds, one.dimensions))


def size_of(kinds: Iterable[str], dimensions: tuple[str, ...]) -> int:
    """Return how many bytes a declaration takes; at least 1, and more than any access where it does not say."""
    size = max((width(kind[1:]) for kind in kinds), default=0)
    for one in dimensions:
        size *= integer(one) if one else 0
    return size or _UNKNOWN_SIZE


def instructions(statements: Iterable[Statement]) -> Iterator[Instruction]:
    """Yield the instructions of a body, scopes entered."""
    for one in statements:
        if isinstance(one, Scope):
            yield from instructions(one.statements)
        elif isinstance(one, Instruction):
            yield one


def declares_registers(function: Function) -> bool:
    """Say whether a function declares any register: if none, its names are understood by where they stand."""

    def any_in(statements: Iterable[Statement]) -> bool:
        return any(
            any_in(one.statements) if isinstance(one, Scope) else isinstance(one, Declaration) and one.space == ".reg" for one in statements
        )

    return function.body is not None and any_in(function.body.statements)


def registers_by_use(function: Function) -> frozenset[str]:
    """Return the names that must be registers in a function that declares none: guards, and whatever an instruction writes.

    As the 2013 paper prints PTX (Figure 11): `mov.f32 $f3, xi_addr` reads memory, because nothing writes `xi_addr`.
    """
    found: set[str] = set()
    if function.body is None:
        return frozenset()
    for one in instructions(function.body.statements):
        if one.guard:
            found.add(one.guard.lstrip("!"))
        if one.operands and not one.opcode.startswith(("st.", "bra", "call", "red.")):
            first = one.operands[0]
            items = first.items if isinstance(first, Group) else (first,)
            found |= {item.text for item in items if isinstance(item, Name)}
    return frozenset(found)
