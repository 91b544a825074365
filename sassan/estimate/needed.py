"""Arguments without which warps cannot be run: numbers that decide where control goes, or what is accessed; any other one is drawn."""

from collections.abc import Callable, Collection

from sassan.errors import SassanError
from sassan.estimate.arguments import POINTER, numbers_missing
from sassan.estimate.watch import watched
from sassan.ir import Constant, Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import ParameterLocation, places
from sassan.simt.code import lower
from sassan.simt.decoder import TableDecoder
from sassan.simt.slicing import control_slice, live_slice
from sassan.warpcfg.graph import WarpCfg

_PAIR = 8
"""Bytes that an instruction reads of the constant bank, at most, unless its opcode says more."""


def numbers_needed(
    cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: LaunchConfiguration
) -> tuple[ParameterLocation, ...]:
    """Return the parameters that are not given, and that a branch or an address may depend on, without those that may be pointers."""
    missing = numbers_missing(cfg.function, launch)
    read = _places_read(cfg, facts_of, accesses=True) if missing else ()
    return tuple(each for each in missing if _reads(read, each))


def pointers_decide(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: LaunchConfiguration) -> bool:
    """Say whether a branch may depend on a parameter that is not given and may be a pointer, or a number of 64 bits."""
    given = {place.offset for _, place in launch.placed(cfg.function)}
    missing = [each for each in places(cfg.function) if each.offset not in given and each.size == POINTER]
    if not missing:
        return False
    read = _places_read(cfg, facts_of, accesses=False)
    return any(_reads(read, each) for each in missing)


def _reads(read: Collection[tuple[int, int]] | None, place: ParameterLocation) -> bool:
    """Say whether bytes are those of a parameter; where it is not known which they are, they may be."""
    return read is None or any(first < place.offset + place.size and place.offset < last for first, last in read)


def _places_read(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], *, accesses: bool) -> Collection[tuple[int, int]] | None:
    """Return the bytes of the constant bank, from one on to before another, that decide branches (and addresses); None: not known."""
    looked_at = watched(cfg, facts_of)
    try:
        code = lower(cfg.function, TableDecoder(facts_of, cfg.calls, stack=True), [*(node.start for node in cfg.nodes), *looked_at.groups])
    except SassanError:
        return None
    code = live_slice(control_slice(code, looked_at.registers), looked_at.reads) if accesses else live_slice(control_slice(code), {})
    constants = [
        (operand, operation.instruction)
        for block in code.blocks
        for operation in block.operations
        for operand in operation.instruction.operands
        if isinstance(operand, Constant) and operand.bank == 0
    ]
    if any(register.index is not None for operand, _ in constants for register in operand.base):
        return None
    return frozenset((operand.offset, operand.offset + _width(instruction)) for operand, instruction in constants)


def _width(instruction: Instruction) -> int:
    return max([_PAIR, *(int(part) // 8 for part in instruction.opcode.split(".") if part in {"128", "256"})])
