"""Loop bounds from the code itself, for a launch (docs/concepts/time.md, "Loop bounds")."""

from sassan.ipet.loop_bounds.infer import Inferred, Refutation, infer
from sassan.ipet.loop_bounds.recheck import check as check_bounds

__all__ = ["Inferred", "Refutation", "check_bounds", "infer"]
