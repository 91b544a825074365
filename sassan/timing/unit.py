"""The cost model of the 2023 paper (section 4.1): every instruction takes one cycle."""

from dataclasses import dataclass

from sassan.warpcfg.graph import Node


@dataclass(frozen=True, slots=True)
class Unit:
    """Counts instructions: the bound is of the number of instructions that one warp issues."""

    @property
    def name(self) -> str:
        """Return `unit`."""
        return "unit"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return the one assumption that makes this a count and not a time."""
        return ("every instruction takes one cycle (unit cost)",)

    def cost(self, node: Node) -> int:
        """Return the number of instructions of the block."""
        return len(node.instructions)
