"""Arguments without which warps cannot be run: numbers that decide where control goes, or what is accessed; any other one is drawn."""

from collections.abc import Callable

from sassan.errors import SassanError
from sassan.estimate.arguments import numbers_missing
from sassan.estimate.watch import watched
from sassan.ir import Constant, Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import ParameterLocation
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
    read = _places_read(cfg, facts_of) if missing else ()
    if read is None:
        return missing
    return tuple(each for each in missing if any(first < each.offset + each.size and each.offset < last for first, last in read))


def _places_read(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None]) -> frozenset[tuple[int, int]] | None:
    """Return the bytes of the constant bank, from one on to before another, that decide branches and addresses; None: not known."""
    looked_at = watched(cfg, facts_of)
    try:
        code = lower(cfg.function, TableDecoder(facts_of, cfg.calls), [*(node.start for node in cfg.nodes), *looked_at.groups])
    except SassanError:
        return None
    code = live_slice(control_slice(code, looked_at.registers), looked_at.reads)
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
