"""The contract between block cost models and the bound engines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from sassan.errors import Gap
from sassan.ir import Instruction
from sassan.warpcfg.graph import WarpCfg

if TYPE_CHECKING:
    from sassan.timing.rates import Tables


class Quantity(StrEnum):
    """What the costs of a model count: the unit behind every bound that is made of them."""

    INSTRUCTIONS = "instructions"
    CYCLES = "cycles"


@dataclass(frozen=True, slots=True)
class BlockCosts:
    """What the blocks of one graph cost: `costs` per node, in cycles of the model, never negative; 0 where a gap says why it is not known.

    A path of the warp takes at most the sum over its blocks. `assumptions` are what that takes for granted. `pieces` say what a node with
    block barriers costs up to each of them, that one included, from the one before, and behind the last; () where that is not known.
    """

    costs: tuple[int, ...]
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    pieces: tuple[tuple[int, ...], ...] = ()

    def known(self, cfg: WarpCfg) -> tuple[int | None, ...]:
        """Return the costs, None where a gap says why one is not known: of a model that stops at its first gaps, all."""
        if not self.gaps:
            return self.costs
        places = {gap.address for gap in self.gaps} if any(self.costs) else {each.address for node in cfg.nodes for each in node.code}
        known = [places.isdisjoint(each.address for each in node.code) for node in cfg.nodes]
        return tuple(cost if sure else None for cost, sure in zip(self.costs, known, strict=True))


def barriers_of(code: Sequence[Instruction]) -> tuple[int, ...]:
    """Return where block barriers stand in a block."""
    return tuple(place for place, instruction in enumerate(code) if instruction.opcode.partition(".")[0] == "BAR")


def pieces_of(code: Sequence[Instruction], cost: Callable[[Instruction], int]) -> tuple[int, ...]:
    """Return the pieces of a block whose cost is the sum over its instructions, () where no barrier stands in it."""
    cuts = [0, *(place + 1 for place in barriers_of(code)), len(code)]
    return tuple(sum(map(cost, code[first:last])) for first, last in pairwise(cuts)) if len(cuts) > 2 else ()  # noqa: PLR2004  # both ends


NO_ACCESSES: Mapping[int, int] = MappingProxyType({})
"""The cycles for which accesses keep their unit where they are not followed: those of their opcodes."""


class CostModel(Protocol):
    """Bounds the time of one warp alone, block by block."""

    @property
    def name(self) -> str:
        """Return the name of the model on the command line and in reports."""
        ...

    @property
    def quantity(self) -> Quantity:
        """Return what the costs count."""
        ...

    @property
    def tables(self) -> "Tables | None":
        """Return the latencies and units that the costs are made of, None where they are a count or a measurement."""
        ...

    def block_costs(self, cfg: WarpCfg, busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        """Return what each block of a graph costs, whatever ran before it.

        `busy` are the cycles for which single accesses, by address, keep their unit at least.

        Raises InputError for an architecture without a table.
        """
        ...
