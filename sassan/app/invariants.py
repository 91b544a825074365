"""What must hold of every estimate: it is never above the bound of its launch, and never below its work at peak rates."""

from sassan.app.estimating import EstimateResult
from sassan.estimate.launch import WAITS

_ROUNDING = 1e-6


def broken(result: EstimateResult) -> tuple[str, ...]:
    """Return what does not hold, each with the term that is to blame; where no bound is known, only the work is checked."""
    known, bound = result.estimate, result.analysis.grid_bound
    if known is None:
        return ()
    busy = {name: share * known.cycles for name, share in known.shares.items() if name not in WAITS}
    out: list[str] = []
    if bound is not None and known.cycles > bound * (1 + _ROUNDING):
        term = max(busy, key=lambda name: busy[name])
        name = f"{term} alone takes {busy[term]:.0f}" if busy[term] > bound else f"it is bound by {known.bound_by}"
        out.append(f"the estimate, {known.cycles:.0f} cycles, is above the bound of the launch, {bound} cycles: {name}")
    out += [
        f"the estimate, {known.cycles:.0f} cycles, is below its work: {name} takes {cycles:.0f} at its peak rate"
        for name, cycles in sorted(busy.items())
        if cycles > known.cycles * (1 + _ROUNDING)
    ]
    return tuple(out)
