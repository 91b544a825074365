"""The bound by least waste: the path of `pool`, over much finer states, searched from the start instead of tabulated from the end.

There are too many states of single letters for a table, but few of them matter: the waste of a coarser cut, which a table gives, is at
most that of the finer one, so no path through a state wastes less than its waste so far + the entry of the table. States are
expanded in the order of this sum (A*; Hart, Nilsson and Raphael 1968), and those whose sum alone brings T below the bound that is to be
refuted are never expanded.

Theorem. If every path from the start has been cut off in this way, no schedule has as many slots as the bound that was to be refuted.

Proof. By `pool` the waste w of a schedule is at least that of a path over the states of any cut, and T <= I + (W - 1) * S - w, so a
schedule of T slots or more gives a path with waste at most (W - 1) * S - (T - I). The coarser cut merges stretches of the finer one: a
path of the finer is one of the coarser with the same costs or lower (slots in which no warp leaves a coarser stretch cost at least 0), so
the table never overestimates, from any state on. A path with that little waste is cut off nowhere: the search reaches its end.
"""

from collections.abc import Callable
from itertools import accumulate
from math import comb

from sassan.makespan.bounds.pool import Cut, Pooled, compiled

MOST_STATES = 1 << 19
"""States that fit the tables of a search, a power of 2: 20 MB, filled in seconds."""
_EXPANSIONS = 1 << 10
"""States between two checks of the clock: some hundredths of a second."""


def refuted(fine: Cut, guide: Pooled, slots: int, stop: Callable[[], bool] = lambda: False, most_states: int = MOST_STATES) -> bool | None:
    """Say whether no schedule has `slots` slots or more; None if the memory or the time did not suffice.

    False: a path over the states of `fine` is that long, which is a schedule only where `fine` is exact. `guide` is a table of a cut that
    `fine` refines.
    """
    import numpy as np  # noqa: PLC0415  # with the compiler half a second, which small instances save

    from sassan.makespan.bounds import search_kernel as kernel  # noqa: PLC0415
    from sassan.makespan.bounds.pool_kernel import scratch  # noqa: PLC0415

    most = fine.most_waste(slots)
    if most < guide.waste[-1]:
        return True
    work = scratch(len(fine.unit), len(fine.capacity))
    work.up_to[:] = fine.warps
    places = (np.array(_place(cut), np.int64) for cut in (fine, guide.cut))
    ends = np.array(_ends(fine, guide.cut), np.int64)
    guided = kernel.Guide(next(places), ends, next(places), np.frombuffer(guide.waste, np.int32))
    search = kernel.SearchArrays(compiled(fine), work, guided, kernel.visited_states(most_states, most + 1))
    kernel.begin(search)
    answer = kernel.PAUSED
    while answer == kernel.PAUSED and not stop():
        answer = kernel.advance(_EXPANSIONS, search)
    return {kernel.REFUTED: True, kernel.FOUND: False}.get(answer)


def refines(fine: Cut, coarse: Cut) -> bool:
    """Say whether each stretch of the coarser cut is one or several of the finer."""
    return set(accumulate(coarse.length)) <= set(accumulate(fine.length))


def _place(cut: Cut) -> list[list[int]]:
    return [[comb(count + index, index + 1) for index in range(len(cut.unit))] for count in range(cut.warps + 1)]


def _ends(fine: Cut, coarse: Cut) -> list[int]:
    """Return the stretch of the finer cut with which each stretch of the coarser one ends."""
    index = {place: number for number, place in enumerate(accumulate(fine.length))}
    return [index[place] for place in accumulate(coarse.length)]
