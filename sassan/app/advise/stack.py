"""Remedies of code that keeps in local memory what registers could hold: spills, and local arrays."""

from collections.abc import Iterator
from dataclasses import replace

from sassan.app.advise.changes import with_places
from sassan.app.advise.code import editable, instructions_of, without
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.errors import UsageError
from sassan.ir import Instruction, Memory
from sassan.machine import machine_of
from sassan.machine.occupancy import occupancy
from sassan.plurals import count_of

_STACK = 1
"""R1 is the stack pointer."""
_WORD = 4
_WIDE = {"64": 2, "128": 4}


def kept_in_registers(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy of accesses of local memory: registers in their place, as far as the launch holds with so many more."""
    prepared = launched.prepared
    local = {at: each for at, each in instructions_of(prepared.kernel).items() if each.opcode.startswith(("LDL", "STL"))}
    if not local or not editable(prepared):
        return
    indexed = not all(_at_constant(each) for each in local.values())
    code = AdviceCode.LOCAL_MEMORY if indexed else AdviceCode.SPILL
    loads = sum(each.opcode.startswith("LDL") for each in local.values())
    kinds = f"{count_of(loads, 'load')} and {count_of(len(local) - loads, 'store')}"
    why = (
        f"a local array that is indexed at run time lies in local memory: {kinds}"
        if indexed
        else f"registers do not suffice, or variables have an address: {kinds} of the stack"
    )
    words = len({(memory.offset + _WORD * word) for each in local.values() for memory in _memories(each) for word in range(_words(each))})
    changed, text = _with_registers(launched, without(prepared, local), words)
    yield Remedy(code, tuple(sorted(local)), why, changed, text, EXAMPLES[code])


def _with_registers(launched: LaunchedKernel, changed: Prepared, words: int) -> tuple[Prepared, str]:
    """Return a launch whose threads have so many registers more, with what that means for its blocks."""
    known = launched.result.residency
    resident = known.occupancy if known is not None else None
    if resident is None:
        return changed, "upper limit: the registers that take the place of local memory are not counted"
    machine = machine_of(launched.result.function.arch, launched.result.settings.machine)
    registers = resident.demand.registers + words
    try:
        blocks = occupancy(machine, replace(resident.demand, registers=registers)).blocks
    except UsageError:
        text = f"upper limit: {count_of(words, 'word')} more per thread do not fit the registers of an SM, and the launch is kept as it is"
        return changed, text
    text = f"likely: {registers} registers per thread are counted, with which {count_of(blocks, 'block')} of {resident.blocks} are resident"
    return with_places(changed, min(launched.prepared.grid.places, blocks)), text


def _memories(instruction: Instruction) -> tuple[Memory, ...]:
    return tuple(operand for operand in instruction.operands if isinstance(operand, Memory))


def _at_constant(instruction: Instruction) -> bool:
    """Say whether an access is at a constant place of the stack."""
    return all([register.index for register in memory.base] in ([_STACK], []) for memory in _memories(instruction))


def _words(instruction: Instruction) -> int:
    return next((_WIDE[part] for part in instruction.opcode.split(".") if part in _WIDE), 1)
