"""The cost model of Jeanmougin et al. 2023 (section 4.1): every instruction takes one cycle."""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.timing.model import NO_ACCESSES, BlockCosts, Quantity, pieces_of
from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class UnitCostModel:
    """Counts instructions: the bound is of the number of instructions that one warp issues."""

    @property
    def name(self) -> str:
        """Return `unit`."""
        return "unit"

    @property
    def quantity(self) -> Quantity:
        """Return instructions."""
        return Quantity.INSTRUCTIONS

    @property
    def tables(self) -> None:
        """Return None: an instruction is one, whatever its latency."""

    def block_costs(self, cfg: WarpCfg, busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        """Return the number of instructions of each block, and the one assumption that makes this a count and not a time."""
        del busy  # an instruction is one, however long it takes
        pieces = tuple(pieces_of(node.code, lambda _: 1) for node in cfg.nodes)
        return BlockCosts(tuple(len(node.code) for node in cfg.nodes), ("every instruction takes one cycle (unit cost)",), pieces=pieces)
