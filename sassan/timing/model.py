"""The contract between block cost models and the bound engines."""

from dataclasses import dataclass
from typing import Protocol

from sassan.errors import Gap
from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class Prices:
    """What the blocks of one graph cost: `costs` per node, in cycles of the model, never negative; 0 where a gap says why it is not known.

    A path of the warp takes at most the sum over its blocks. `assumptions` are what that takes for granted.
    """

    costs: tuple[int, ...]
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


class CostModel(Protocol):
    """Bounds the time of one warp alone, block by block."""

    @property
    def name(self) -> str:
        """Return the name of the model on the command line and in reports."""
        ...

    def price(self, cfg: WarpCfg) -> Prices:
        """Return what each block of a graph costs, whatever ran before it.

        Raises InputError for an architecture without a table.
        """
        ...
