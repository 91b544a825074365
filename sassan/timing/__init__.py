"""Block cost models: what one execution of a block costs one warp that runs alone (docs/concepts/time.md)."""

from sassan.timing.model import BlockCosts, CostModel, Quantity
from sassan.timing.unit import UnitCostModel

__all__ = ["BlockCosts", "CostModel", "Quantity", "UnitCostModel"]
