"""The facts of a function in the language that it is written in: machine code, or PTX."""

from collections.abc import Callable

from sassan.ir import Function
from sassan.isa import ptx, registers, tables
from sassan.isa.ptx import PtxIsa
from sassan.isa.tables import Isa as SassIsa

Isa = SassIsa | PtxIsa


def isa_of(function: Function, letters: str = "timing") -> Isa:
    """Return the facts of a function's instructions with one mapping to letters; raises InputError (`tables.load`, `ptx.load`)."""
    return ptx.load(function, letters) if function.frames else tables.load(function.arch, letters)


def namer(function: Function) -> Callable[[int], tuple[str, ...]]:
    """Return what spells out a set of the function's registers, in the fixed order of the bits."""
    if not function.frames:
        return lambda members: tuple(registers.names(members))
    known = sorted(ptx.variable_names(function).items())
    return lambda members: tuple(name for number, name in known if members >> number & 1)
