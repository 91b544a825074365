"""The contract between block cost models and the bound engines."""

from typing import Protocol

from sassan.warpcfg.graph import Node


class CostModel(Protocol):
    """An upper bound of the cost of each block, in cycles of the model, for one warp alone; never negative."""

    @property
    def name(self) -> str:
        """Return the name of the model on the command line and in reports."""
        ...

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what a bound from this model takes for granted."""
        ...

    def cost(self, node: Node) -> int:
        """Return the cost of one execution of the block."""
        ...
