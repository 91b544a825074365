"""The facts of a function in the language that it is written in: machine code, or PTX."""

from sassan.ir import Function
from sassan.isa import ptx, tables
from sassan.isa.ptx import PtxIsa
from sassan.isa.tables import Isa as SassIsa

Isa = SassIsa | PtxIsa


def isa_of(function: Function, letters: str = "timing") -> Isa:
    """Return the facts of a function's instructions with one mapping to letters; raises InputError (`tables.load`, `ptx.load`)."""
    return ptx.load(function, letters) if function.frames else tables.load(function.arch, letters)
