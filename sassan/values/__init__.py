"""What the registers of a warp hold: a part that all lanes share, and a part that the lane decides. See README.md."""

from sassan.values.threads import WarpContext, warp_contexts
from sassan.values.warp_values import WarpValues, with_values

__all__ = ["WarpContext", "WarpValues", "warp_contexts", "with_values"]
