"""Upper bounds on how long barriers, functional units and instructions in flight stay busy from a point of the code on, in cycles."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Residual:
    """Cycles until each barrier is clear, until each unit takes an instruction (absent: at once), until all that was issued has ended.

    What was issued has ended when its result is there and its unit is free.
    """

    barriers: tuple[int, ...]
    units: Mapping[str, int] = field(default_factory=dict[str, int])
    all: int = 0


class ResidualDomain:
    """The lattice of residuals over a number of barriers: longer times are higher. `bottom`: nothing is in flight."""

    def __init__(self, barriers: int) -> None:
        """Take the number of barriers."""
        self.bottom = Residual((0,) * barriers)

    def leq(self, a: Residual, b: Residual) -> bool:
        """Say whether `b` bounds what `a` bounds."""
        return not self.explain(a, b)

    def join(self, a: Residual, b: Residual) -> Residual:
        """Return what bounds both."""
        units = {unit: max(a.units.get(unit, 0), b.units.get(unit, 0)) for unit in {**a.units, **b.units}}
        return Residual(tuple(map(max, a.barriers, b.barriers)), units, max(a.all, b.all))

    def explain(self, a: Residual, b: Residual) -> str:
        """Return the first time that is longer in `a` than in `b`."""
        for barrier, (left, right) in enumerate(zip(a.barriers, b.barriers, strict=True)):
            if left > right:
                return f"barrier {barrier}: {left} cycles, not {right}"
        for unit, left in a.units.items():
            if left > b.units.get(unit, 0):
                return f"unit {unit}: {left} cycles, not {b.units.get(unit, 0)}"
        return f"all: {a.all} cycles, not {b.all}" if a.all > b.all else ""
