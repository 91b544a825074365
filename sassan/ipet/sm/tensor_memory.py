"""Whether the blocks of an SM wait for each other's tensor memory, of which an SM since Blackwell has 512 columns.

A block takes columns (tcgen05.alloc), and waits while there are too few. Where those of all blocks on an SM fit, none waits for another one
(docs/proofs/warps-with-roles.md).
"""

from sassan.errors import Gap
from sassan.ir import Instruction, Register
from sassan.warpcfg.graph import Node, WarpCfg
from sassan.warpcfg.moved_numbers import moved_number

_TAKES = "UTCATOMSWS.FIND_AND_SET"
_ALL = 16
"""The tensor memory of an SM, in units of 32 columns (PTX ISA 8.8, tcgen05.alloc)."""
_UNIT = 32


def columns_gap(cfg: WarpCfg, blocks: int) -> Gap | None:
    """Return the gap where some of `blocks` blocks on an SM may wait for the columns of others; None where all of them fit."""
    taken = {each.address: _units(cfg, node, each) for node in cfg.nodes for each in node.code if each.opcode.startswith(_TAKES)}
    units = min(_ALL, sum(taken.values()))
    if units * blocks <= _ALL or blocks <= 1:
        return None
    message = f"blocks of an SM may wait for each other's tensor memory: {blocks} of them take up to {units * _UNIT} columns each, of 512"
    return Gap(min(taken), "tensor-memory", message)


def takes_columns(cfg: WarpCfg) -> bool:
    """Return whether some block takes tensor memory."""
    return any(each.opcode.startswith(_TAKES) for node in cfg.nodes for each in node.code)


def _units(cfg: WarpCfg, node: Node, instruction: Instruction) -> int:
    """Return how many units an instruction takes at most."""
    columns = instruction.operands[-1]
    number = moved_number(cfg, node, instruction, columns) if isinstance(columns, Register) else None
    return number if number is not None and 0 <= number <= _ALL else _ALL
