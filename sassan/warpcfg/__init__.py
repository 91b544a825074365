"""Warp-level control-flow graphs: exploration to a fixpoint, the graph, its loops."""

from sassan.warpcfg.explore import explore
from sassan.warpcfg.options import Options

__all__ = ["Options", "explore"]
