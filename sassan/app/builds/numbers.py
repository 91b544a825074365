"""The numbers of a function in words: what each is called, which bounds were asked for, and why one is not known."""

from fractions import Fraction

from sassan.app.builds.saved_results import BOUNDS, Measure, SavedResult


def named(result: SavedResult, measure: Measure) -> str:
    """Return the name of a number with what it depends on."""
    if measure is Measure.WCET and result.model:
        return f"WCET ({result.model} model)"
    if measure is Measure.GRID and result.grid is not None:
        return f"bound of a grid of {result.grid[0]} blocks ({result.model} model)"
    if measure is Measure.MAKESPAN and result.warps is not None:
        return f"makespan of {result.warps} warps ({result.model} model)"
    if measure is Measure.LOCAL:
        return "local memory of a thread in bytes"
    return f"number of {measure.value}" if measure not in BOUNDS else measure.value


def unknown(result: SavedResult, measure: Measure) -> str:
    """Return why a number is not known."""
    if measure is Measure.REGISTERS:
        return "it is known of a cubin only"
    if result.gaps:
        first = result.gaps[0]
        more = f" and {len(result.gaps) - 1} more" if len(result.gaps) > 1 else ""
        return f"{first.code} at 0x{first.address:04x}{more}"
    if measure is Measure.MAKESPAN and result.warps is None:
        return "how many warps share an SM is not known"
    return f"the solver ended with '{result.status}'" if measure is Measure.WCET else "it has no bound"


def first_gap(result: SavedResult) -> int | None:
    """Return the address of the first gap, None where there is none."""
    return result.gaps[0].address if result.gaps else None


def requested_bounds(result: SavedResult) -> list[Measure]:
    """Return the bounds that were asked for: a makespan where warps or the shape of a block are given, a grid where it is; known or not."""
    requested = {Measure.WCET: True, Measure.MAKESPAN: result.warps is not None or result.launched, Measure.GRID: result.grid is not None}
    return [measure for measure in BOUNDS if requested[measure]]


def growth_text(old: int, new: int) -> str:
    """Return by how much a number changed: `+3.1%`, or `+4` where it was 0."""
    if not old:
        return f"{new - old:+d}"
    # Numbers of a file may be larger than a float is.
    tenths = round(Fraction(1000 * abs(new - old), old))
    return f"{'-' if new < old else '+'}{tenths // 10}.{tenths % 10}%"
