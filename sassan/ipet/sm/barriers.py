"""The barriers of a kernel: where a warp waits for others of its block, and whether block barriers open in the same order for all warps.

Also waits for phases of barriers in shared memory and for registers, the barriers of a cluster, where a warp waits for blocks on other SMs,
and waits for words of memory, which any block may write.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sassan.errors import Gap
from sassan.ir import Immediate, Instruction, Register
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.looks import looks
from sassan.warpcfg.waits import is_try

_WHOLE = ("BAR.SYNC", "BAR.RED")
"""Opcodes that wait for all warps of the block where they name a barrier and no number of threads."""
_BAR = "BAR."
_CLUSTER = ("UCGABAR", "barrier.cluster")
"""Opcodes of the barrier of a cluster, of machine code and of PTX."""
_WAIT = "wait"
_GROUP = ("WARPGROUP.ARRIVE", "HGMMA", "IGMMA", "QGMMA", "BGMMA")
"""Opcodes at which four warps of a block may wait for each other: no source excludes it."""


@dataclass(frozen=True, slots=True)
class BlockBarriers:
    """`arrivals` count the waiting instructions per node; `in_order`: all warps of a block pass the same openings in the same order.

    `tries` are the addresses of instructions that try whether another wait is over; `clusters` are the instructions of barriers of a
    cluster, by address, with their opcodes.
    """

    arrivals: tuple[int, ...]
    in_order: bool
    clusters: tuple[tuple[int, str], ...] = ()
    tries: tuple[int, ...] = ()
    looks: tuple[int, ...] = ()
    """The addresses of loads of words for which warps wait until others write them."""
    outside: bool = False
    """Whether blocks wait for words that other blocks write, on whatever SM."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        return any(self.arrivals) or bool(self.clusters) or bool(self.tries) or bool(self.looks)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Why there is no bound of many warps: the waits for other blocks; without a wait, the arrivals that release other blocks."""
        reason = "blocks of a cluster wait for each other here, and those on other SMs are unknown to the bounds of an SM and of a grid"
        waits = [(address, opcode) for address, opcode in self.clusters if _WAIT in opcode.lower()]
        return tuple(Gap(address, "cluster-barrier", f"{opcode}: {reason}") for address, opcode in waits or self.clusters)


NO_BARRIERS = BlockBarriers((), in_order=False)


def block_barriers(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None]) -> BlockBarriers:
    """The places where the warps of a graph wait.

    They pass the same openings where all of them wait at one barrier (`BAR.SYNC 0x0`), for all warps, and none arrives without waiting.
    """
    waits = [[instruction for instruction in node.instructions if waits_for_block(instruction, facts_of)] for node in cfg.nodes]
    code = [instruction for node in cfg.nodes for instruction in node.instructions]
    others = any(instruction.opcode.startswith(_BAR) and not waits_for_block(instruction, facts_of) for instruction in code)
    numbers = {_number(instruction) for of_node in waits for instruction in of_node}
    clusters = {(instruction.address, instruction.opcode) for instruction in code if instruction.opcode.startswith(_CLUSTER)}
    tries = tuple(sorted({instruction.address for instruction in code if is_try(instruction)}))
    looked = looks(cfg, facts_of).values()
    in_order = not others and not tries and not looked and len(numbers) == 1 and None not in numbers
    loads = tuple(sorted(look.load.address for look in looked))
    return BlockBarriers(tuple(map(len, waits)), in_order, tuple(sorted(clusters)), tries, loads, any(look.outside for look in looked))


def waits_for_block(instruction: Instruction, facts_of: Callable[[Instruction], Facts | None]) -> bool:
    """Whether a warp waits at an instruction for others of its block."""
    facts = facts_of(instruction)
    return facts is not None and (facts.flow is Flow.BLOCK_BARRIER or instruction.opcode.startswith(_GROUP))


def _number(instruction: Instruction) -> int | float | None:
    """The number of the barrier at which an instruction waits for all warps, None where it may behave otherwise."""
    predicates = [operand for operand in instruction.operands if isinstance(operand, Register) and operand.file == "P"]
    numbers = [operand.value for operand in instruction.operands if isinstance(operand, Immediate)]
    plain = len(numbers) == 1 and len(predicates) + 1 == len(instruction.operands)
    return numbers[0] if plain and instruction.guard is None and instruction.opcode.startswith(_WHOLE) else None
