"""Block cost models: what one execution of a block costs one warp that runs alone (timing.md)."""

from sassan.timing.model import CostModel, Prices
from sassan.timing.unit import Unit

__all__ = ["CostModel", "Prices", "Unit"]
