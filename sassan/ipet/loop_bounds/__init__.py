"""Loop bounds from the code itself, for a launch (timing.md, "Loop bounds")."""

from sassan.ipet.loop_bounds.infer import Inferred, infer

__all__ = ["Inferred", "infer"]
