"""The block barriers of a kernel: where a warp waits for others of its block, and whether one opens after the other for all of them.

Where it waits for other blocks of its cluster, too, which run on other SMs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sassan.errors import Gap
from sassan.ir import Immediate, Instruction, Register
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.graph import WarpCfg

_WHOLE = ("BAR.SYNC", "BAR.RED")
"""Opcodes that wait for all warps of the block where they name a barrier and no number of threads."""
_BAR = "BAR."
_CLUSTER = ("UCGABAR", "barrier.cluster")
"""Opcodes of the barrier of a cluster, of machine code and of PTX."""
_WAIT = "wait"
_GROUP = ("WARPGROUP.ARRIVE", "HGMMA", "IGMMA", "QGMMA", "BGMMA")
"""Opcodes at which four warps of a block may wait for each other: nobody says that they do not."""


@dataclass(frozen=True, slots=True)
class BlockBarriers:
    """How many instructions of each node of the graph wait; `in_order`: all warps of a block pass the same openings one after the other.

    `clusters` are the instructions of barriers of a cluster, by address, with their opcodes.
    """

    arrivals: tuple[int, ...]
    in_order: bool
    clusters: tuple[tuple[int, str], ...] = ()

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return any(self.arrivals) or bool(self.clusters)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return why nothing bounds many warps: where one waits for other blocks; where none does, what tells those to go on."""
        why = "blocks of a cluster wait for each other here, and no bound of an SM or a grid knows those on other SMs"
        waits = [one for one in self.clusters if _WAIT in one[1].lower()]
        return tuple(Gap(address, "cluster-barrier", f"{opcode}: {why}") for address, opcode in waits or self.clusters)


NO_BARRIERS = BlockBarriers((), in_order=False)


def block_barriers(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None]) -> BlockBarriers:
    """Return where the warps of a graph wait.

    They pass the same openings where all of them wait at one barrier (`BAR.SYNC 0x0`), for all warps, and nobody arrives without waiting.
    """
    code = [[one for one in node.instructions if _is_barrier(one, facts_of)] for node in cfg.nodes]
    waits = [one for row in code for one in row]
    others = any(one.opcode.startswith(_BAR) and not _is_barrier(one, facts_of) for node in cfg.nodes for one in node.instructions)
    names = {_name(one) for one in waits}
    clusters = {(one.address, one.opcode) for node in cfg.nodes for one in node.instructions if one.opcode.startswith(_CLUSTER)}
    return BlockBarriers(tuple(map(len, code)), not others and len(names) == 1 and None not in names, tuple(sorted(clusters)))


def _is_barrier(one: Instruction, facts_of: Callable[[Instruction], Facts | None]) -> bool:
    facts = facts_of(one)
    return facts is not None and (facts.flow is Flow.BLOCK_BARRIER or one.opcode.startswith(_GROUP))


def _name(one: Instruction) -> int | float | None:
    """Return the number of the barrier at which an instruction waits for all warps, None where it may do otherwise."""
    predicates = [operand for operand in one.operands if isinstance(operand, Register) and operand.file == "P"]
    numbers = [operand.value for operand in one.operands if isinstance(operand, Immediate)]
    plain = len(numbers) == 1 and len(predicates) + 1 == len(one.operands)
    return numbers[0] if plain and one.guard is None and one.opcode.startswith(_WHOLE) else None
