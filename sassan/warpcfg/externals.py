"""Calls of functions that the input does not hold, such as `vprintf`: what they do is not known, what they leave alone is assumed."""

from collections.abc import Iterable

from sassan.ir import Instruction, Symbol
from sassan.isa.facts import Facts, Flow, WriteEffect
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.graph import External

_CLOBBERED = WriteEffect((1 << 1024) - 1, None)
"""Every register of every file."""

SAVED = frozenset({2, *range(16, 20), *range(22, 32), *(first + each for first in range(36, 255, 8) for each in range(4))})
"""The registers that a called function leaves as they were, since Volta.

NVRTC 12.9 stores just these at the begin of a function that keeps 80 numbers over a call, for each SM from sm_70 to sm_121. Of R20 and
R21, where callers put the return address, nothing is taken for granted."""


NEVER_RETURN = frozenset({"__assertfail"})
"""Functions behind whose calls no thread goes on: a failed assertion ends the launch (CUDA C++ programming guide, "Assertion")."""


def callee(instruction: Instruction) -> str:
    """Return the name of the external function that a call names, '' where it names none or only some threads may call it."""
    if instruction.guard is not None:
        return ""
    return next((operand.name for operand in instruction.operands if isinstance(operand, Symbol) and not operand.name.startswith("0x")), "")


def calls(instructions: Iterable[tuple[Instruction, Facts]]) -> tuple[External, ...]:
    """Return the external functions that the last instructions of blocks call, by address."""
    ends = {
        instruction.address: callee(instruction) for instruction, facts in instructions if facts.flow is Flow.CALL and facts.target is None
    }
    return tuple(External(address, name) for address, name in sorted(ends.items()) if name)


def assumption(externals: Iterable[External]) -> tuple[str, ...]:
    """Return what is taken for granted of external functions."""
    names = sorted({external.name for external in externals})
    if not names:
        return ()
    left = "stack, barriers, active threads and the registers that callees save as they were"
    return (f"external functions return to where they were called, wait at no block barrier, and leave {left}: {', '.join(names)}",)


def clobbering(facts_of: FactsOf, externals: Iterable[External]) -> FactsOf:
    """Return facts that say of each of these calls that it may write every register: nothing is known of a value behind it."""
    addresses = {external.address for external in externals}

    def facts(instruction: Instruction) -> Facts | None:
        known = facts_of(instruction)
        return known if known is None or instruction.address not in addresses else known._replace(effects=(*known.effects, _CLOBBERED))

    return facts if addresses else facts_of
