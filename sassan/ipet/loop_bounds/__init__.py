"""Loop bounds from the code itself, for a launch (docs/concepts/time.md, "Loop bounds")."""

from sassan.ipet.loop_bounds.endings import Ending
from sassan.ipet.loop_bounds.infer import infer, inference
from sassan.ipet.loop_bounds.results import Inference, Inferred, Refutation
from sassan.ipet.loop_bounds.waits import with_extents, with_waits

__all__ = ["Ending", "Inference", "Inferred", "Refutation", "infer", "inference", "with_extents", "with_waits"]
