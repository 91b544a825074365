"""The facts of a function in the language that it is written in: machine code, or PTX."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sassan.ir import Function, Instruction, Language
from sassan.isa import ptx, registers, tables
from sassan.isa.computations import NEVER_HOLDS
from sassan.isa.facts import Facts, Flow, WriteEffect
from sassan.isa.ptx import PtxIsa
from sassan.isa.stack import StackMove, with_move
from sassan.isa.tables import Isa as SassIsa


@dataclass(frozen=True, slots=True)
class FunctionIsa:
    """The facts of a function in which the calls at some addresses end the threads that make them, and some queries are never true.

    `stack` is what instructions copy to words of the stack and from them, by address.
    """

    isa: SassIsa | PtxIsa
    ending: frozenset[int] = frozenset()
    false: frozenset[int] = frozenset()
    stack: Mapping[int, StackMove] = field(default_factory=dict[int, StackMove], hash=False)

    def facts(self, instruction: Instruction) -> Facts | None:
        """Return the facts, or None when the table has no row for the opcode, its modifiers or its operands."""
        known = self.isa.facts(instruction)
        if known is not None and instruction.address in self.ending:
            return known._replace(flow=Flow.EXIT, target=None, tag="")
        if known is not None and instruction.address in self.false:
            return known._replace(reads=0, effects=(WriteEffect(known.writes, 0),), computes=NEVER_HOLDS)
        return known

    def variables(self, instruction: Instruction) -> Facts | None:
        """Return the same as `facts`, with the words of the stack as registers."""
        known, move = self.facts(instruction), self.stack.get(instruction.address)
        return known if known is None or move is None else with_move(known, move)


Isa = SassIsa | PtxIsa | FunctionIsa


def ending(isa: Isa, addresses: frozenset[int]) -> Isa:
    """Return the facts in which these calls end threads, beside those that do so already."""
    if not addresses:
        return isa
    known = isa if isinstance(isa, FunctionIsa) else FunctionIsa(isa)
    return replace(known, ending=known.ending | addresses)


def answering(isa: Isa, addresses: frozenset[int]) -> Isa:
    """Return the facts in which these queries are never true, beside what they know already."""
    if not addresses:
        return isa
    known = isa if isinstance(isa, FunctionIsa) else FunctionIsa(isa)
    return replace(known, false=known.false | addresses)


def spilling(isa: Isa, moves: Mapping[int, StackMove]) -> Isa:
    """Return the facts in which instructions copy words of the stack, by address."""
    if not moves:
        return isa
    known = isa if isinstance(isa, FunctionIsa) else FunctionIsa(isa)
    return replace(known, stack=moves)


def variables(isa: Isa) -> Callable[[Instruction], Facts | None]:
    """Return the facts over all that a thread holds: its registers, and those words of its stack that are followed."""
    return isa.variables if isinstance(isa, FunctionIsa) else isa.facts


def ended(isa: Isa) -> frozenset[int]:
    """Return the addresses of the calls that end threads."""
    return isa.ending if isinstance(isa, FunctionIsa) else frozenset()


def isa_of(function: Function, letters: str = "timing") -> Isa:
    """Return the facts of a function's instructions with one mapping to letters; raises InputError (`tables.load`, `ptx.load`)."""
    return ptx.load(function, letters) if function.language is Language.PTX else tables.load(function.arch, letters)


def namer(function: Function) -> Callable[[int], tuple[str, ...]]:
    """Return what spells out a set of the function's registers, in the fixed order of the bits."""
    if function.language is Language.SASS:
        return lambda members: tuple(registers.names(members))
    known = sorted(ptx.variable_names(function).items())
    return lambda members: tuple(name for number, name in known if members >> number & 1)
