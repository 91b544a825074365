"""What may still be open when a block is entered: a fixpoint over the edges of the warp-level graph, reactivations included.

Times are counted from the moment at which the warp may issue the first instruction of the block, as far as the one before it says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sassan.isa.control import BARRIERS
from sassan.timing.control_ops import Op


@dataclass(frozen=True, slots=True)
class Residual:
    """Upper bounds in cycles: until each barrier is clear, until each unit takes an instruction, until all that was issued has ended."""

    barriers: tuple[int, ...] = (0,) * BARRIERS
    units: Mapping[str, int] = field(default_factory=dict[str, int])
    all: int = 0

    def join(self, other: "Residual") -> "Residual":
        """Return what bounds both."""
        units = {unit: max(self.units.get(unit, 0), other.units.get(unit, 0)) for unit in {**self.units, **other.units}}
        barriers = tuple(map(max, self.barriers, other.barriers))
        return Residual(barriers, units, max(self.all, other.all))


NOTHING = Residual()
"""Nothing is open when a warp starts."""


def anything(ops: Sequence[Op]) -> Residual:
    """Return a bound on what any execution of these instructions leaves open, in any order."""
    barriers = [0] * BARRIERS
    units: dict[str, int] = {}
    for op in ops:
        for barrier, cycles in op.sets:
            barriers[barrier] = max(barriers[barrier], cycles)
        units[op.unit] = max(units.get(op.unit, 0), op.interval)
    return Residual(tuple(barriers), units, max((op.ends for op in ops), default=0))


def leaves(block: Sequence[Op], entered: Residual) -> Residual:
    """Return what is open behind a block, given what was open before it.

    Only what surely passes is taken off: the stalls. A wait may be over at once, and a block barrier may be passed before loads have ended.
    """
    barriers, units, rest = list(entered.barriers), dict(entered.units), entered.all
    for op in block:
        barriers = [0 if op.clears >> barrier & 1 else left for barrier, left in enumerate(barriers)]
        for barrier, cycles in op.sets:
            barriers[barrier] = max(barriers[barrier], cycles)
        units[op.unit] = op.interval
        barriers = [max(left - op.least, 0) for left in barriers]
        units = {unit: left - op.least for unit, left in units.items() if left > op.least}
        rest = max(rest - op.least, op.ends - op.least, 0)
    return Residual(tuple(barriers), units, rest)


def residuals(
    blocks: Sequence[Sequence[Op]], successors: Sequence[Sequence[int]], entry: int, fixed: Mapping[int, Residual]
) -> tuple[Residual, ...]:
    """Return what may be open at the start of each block; `fixed` holds blocks behind which so much is open, whatever was before them."""
    states: dict[int, Residual] = {entry: NOTHING}
    todo = [entry]
    while todo:
        block = todo.pop()
        left = fixed[block] if block in fixed else leaves(blocks[block], states[block])
        for after in successors[block]:
            new = states[after].join(left) if after in states else left
            if states.get(after) != new:
                states[after] = new
                todo.append(after)
    return tuple(states.get(block, NOTHING) for block in range(len(blocks)))
