"""The facts of a function in the language that it is written in: machine code, or PTX."""

from collections.abc import Callable
from dataclasses import dataclass

from sassan.ir import Function, Instruction
from sassan.isa import ptx, registers, tables
from sassan.isa.facts import Facts, Flow
from sassan.isa.ptx import PtxIsa
from sassan.isa.tables import Isa as SassIsa


@dataclass(frozen=True, slots=True)
class EndingIsa:
    """The facts of a function in which the calls at some addresses end the threads that make them."""

    isa: SassIsa | PtxIsa
    ending: frozenset[int]

    def facts(self, instruction: Instruction) -> Facts | None:
        """Return the facts, or None when the table has no row for the opcode, its modifiers or its operands."""
        known = self.isa.facts(instruction)
        return known if known is None or instruction.address not in self.ending else known._replace(flow=Flow.EXIT, target=None, tag="")


Isa = SassIsa | PtxIsa | EndingIsa


def ending(isa: Isa, addresses: frozenset[int]) -> Isa:
    """Return the facts in which these calls end threads, beside those that do so already."""
    if not addresses:
        return isa
    return EndingIsa(isa.isa, isa.ending | addresses) if isinstance(isa, EndingIsa) else EndingIsa(isa, addresses)


def ended(isa: Isa) -> frozenset[int]:
    """Return the addresses of the calls that end threads."""
    return isa.ending if isinstance(isa, EndingIsa) else frozenset()


def isa_of(function: Function, letters: str = "timing") -> Isa:
    """Return the facts of a function's instructions with one mapping to letters; raises InputError (`tables.load`, `ptx.load`)."""
    return ptx.load(function, letters) if function.frames else tables.load(function.arch, letters)


def namer(function: Function) -> Callable[[int], tuple[str, ...]]:
    """Return what spells out a set of the function's registers, in the fixed order of the bits."""
    if not function.frames:
        return lambda members: tuple(registers.names(members))
    known = sorted(ptx.variable_names(function).items())
    return lambda members: tuple(name for number, name in known if members >> number & 1)
