"""The meaning of the names of a PTX function: declarations, scopes in braces, and the rules for texts without declarations."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sassan.frontend.ptx.literals import integer
from sassan.frontend.ptx.syntax import (
    Declarator,
    FunctionDeclaration,
    Identifier,
    InstructionStatement,
    Operand,
    OperandTuple,
    ParameterDeclaration,
    Scope,
    Statement,
    TargetTable,
    VariableDeclaration,
)
from sassan.ir import Operand as IrOperand
from sassan.ir import Symbol, Variable
from sassan.isa.ptx_table import width

_DIGITS = 9
"""Of the number of a register in a family: longer ones are no member of any."""
_FAMILY = re.compile(r"(.*?)(0|[1-9][0-9]*)", re.ASCII)
_LONG = 64
_UNKNOWN_SIZE = 1 << 62
"""The size of a parameter without a given size: no access covers it."""


@dataclass(frozen=True, slots=True)
class Family:
    """`%r<8>`: the registers %r0 to %r7, `bits` wide (`Variable.bits`)."""

    count: int
    bits: int


Bound = Variable | Symbol | Family


@dataclass(slots=True)
class Numbers:
    """Assigns numbers to variables, in order of first use."""

    next: int = 0

    def take(self) -> int:
        """Return the next number."""
        self.next += 1
        return self.next - 1

    def register(self, name: str, bits: int) -> Variable:
        """Return a register of so many bits with the next number, or the next two."""
        first = self.take()
        if bits == _LONG:
            self.take()
        return Variable(name, first, bits=bits)


@dataclass(slots=True)
class ScopeNames:
    """The names of one scope; other names are looked up in `outer`."""

    outer: "ScopeNames | None" = None
    bound: dict[str, Bound] = field(default_factory=dict[str, Bound])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, TargetTable] = field(default_factory=dict[str, TargetTable])
    operands: dict[Operand, IrOperand] = field(default_factory=dict[Operand, IrOperand])
    """A cache of lowered operands."""

    def label(self, name: str) -> int | None:
        """Return the address of a label, None where no scope has it."""
        return next((scope.labels[name] for scope in self._outwards() if name in scope.labels), None)

    def table(self, name: str) -> TargetTable | None:
        """Return the table of targets with this name, None where no scope has it."""
        return next((scope.tables[name] for scope in self._outwards() if name in scope.tables), None)

    def _outwards(self) -> Iterator["ScopeNames"]:
        scope: ScopeNames | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def variable(self, name: str, numbers: Numbers) -> Variable | Symbol | None:
        """Return the variable or symbol of a name; a register of a family gets its number at its first use."""
        family = _FAMILY.fullmatch(name)
        for scope in self._outwards():
            bound = scope.bound.get(name)
            if bound is not None and not isinstance(bound, Family):
                return bound
            members = scope.bound.get(f"{family[1]}<>") if family else None
            if family and isinstance(members, Family) and len(family[2]) <= _DIGITS and int(family[2]) < members.count:
                scope.bound[name] = register = numbers.register(name, members.bits)
                return register
        return None

    def declare(self, declaration: VariableDeclaration, numbers: Numbers, escaped: frozenset[str]) -> Iterator[Declarator]:
        """Add the names of a declaration; yield those that the scope has already."""
        self.operands.clear()
        for declarator in declaration.names:
            key = f"{declarator.name}<>" if declarator.count else declarator.name
            if key in self.bound:
                yield declarator
            self.bound[key] = self._bound(declaration.space, declaration.kinds, declarator, numbers, escaped)

    @staticmethod
    def _bound(space: str, kinds: tuple[str, ...], declarator: Declarator, numbers: Numbers, escaped: frozenset[str]) -> Bound:
        if space == ".reg":
            bits = bits_of(kinds)
            return Family(integer(declarator.count), bits) if declarator.count else numbers.register(declarator.name, bits)
        if space != ".param":
            return Symbol(declarator.name)
        if declarator.name in escaped:
            # Not the plain name: a parameter of the kernel may have it, which is constant.
            return Symbol(f"&{declarator.name}")
        return Variable(declarator.name, numbers.take(), size=size_of(kinds, declarator.dimensions))


def parameter(declared: ParameterDeclaration, numbers: Numbers) -> Variable:
    """Return the variable of a device function's parameter."""
    if declared.space == ".reg":
        return numbers.register(declared.name, bits_of(declared.kinds))
    return Variable(declared.name, numbers.take(), size=size_of(declared.kinds, declared.dimensions))


def bits_of(kinds: tuple[str, ...]) -> int:
    """Return the width of a register of a type: 1 for a predicate, 0 for a vector."""
    return (1 if kinds[0] == ".pred" else 8 * width(kinds[0][1:])) if len(kinds) == 1 else 0


def size_of(kinds: Iterable[str], dimensions: tuple[str, ...]) -> int:
    """Return the size of a declaration in bytes, at least 1; larger than any access if it is not given."""
    size = max((width(kind[1:]) for kind in kinds), default=0)
    for dimension in dimensions:
        size *= integer(dimension) if dimension else 0
    return size or _UNKNOWN_SIZE


def instructions(statements: Iterable[Statement]) -> Iterator[InstructionStatement]:
    """Yield the instructions of a body, scopes entered."""
    for statement in statements:
        if isinstance(statement, Scope):
            yield from instructions(statement.statements)
        elif isinstance(statement, InstructionStatement):
            yield statement


def declares_registers(function: FunctionDeclaration) -> bool:
    """Say whether a function declares any register: if not, names are classified by their use."""

    def any_in(statements: Iterable[Statement]) -> bool:
        return any(
            any_in(statement.statements)
            if isinstance(statement, Scope)
            else isinstance(statement, VariableDeclaration) and statement.space == ".reg"
            for statement in statements
        )

    return function.body is not None and any_in(function.body.statements)


def registers_by_use(function: FunctionDeclaration) -> frozenset[str]:
    """Return the names that must be registers in a function that declares none: guards, and whatever an instruction writes.

    As in Berezovskyi et al. 2013, Figure 11: `mov.f32 $f3, xi_addr` reads memory, because no instruction writes `xi_addr`.
    """
    registers: set[str] = set()
    if function.body is None:
        return frozenset()
    for instruction in instructions(function.body.statements):
        if instruction.guard:
            registers.add(instruction.guard.lstrip("!"))
        if instruction.operands and not instruction.opcode.startswith(("st.", "bra", "call", "red.")):
            first = instruction.operands[0]
            items = first.items if isinstance(first, OperandTuple) else (first,)
            registers |= {item.text for item in items if isinstance(item, Identifier)}
    return frozenset(registers)
