"""The bound by pooled stretches: how much of the weight that `waiting_slots` counts every schedule must waste.

Cut the string, which all W warps share, into stretches of one letter each (each maximal run of a letter, or several pieces of it). Keep
of a state only how many warps stand in each stretch, not how far in it. Over these pooled states the least waste is a shortest path.

Theorem. T <= I + floor((W - 1) * S - waste), with the weight 1/min(sigma_U, sigma) of each letter, S the weight of the string, and waste
that of a cheapest path from all warps in the first stretch to none in any.

Proof. Let p be the place of the warp furthest behind. In each slot p stays or moves on by 1 (each warp runs at most one letter), from
0 to I: T = I + the slots in which p stays. Weight each slot by the letters that it runs. Where p stays, a warp at p is ready and does not
run, so its unit U runs sigma_U letters, or sigma run in all: the weight is at least 1. Where p moves on, a warp at p runs: the weight is at
least that of the letter at p. The weight of a slot beyond these is its waste, >= 0. All letters together weigh W * S, the least weights of
the slots in which p moves on add up to S, so (T - I) * 1 + S + all waste = W * S.

A schedule is a path over pooled states: a slot lets as many letters of each unit run as the model demands of these counts, which the
pooled state knows; some of the warps that run leave their stretch, the others stay in it, which in a stretch of one letter none can.
The pooled slot costs at most the waste of the real one: if it may leave a warp of the first stretch waiting, its weight - 1 (the weight of
a letter is at most 1), else every warp in the first stretch runs, p moves on, and it is the weight less that letter. Slots in
which no warp leaves cost at least 0 and are omitted, which makes the path cheaper still. So all waste >= waste of the cheapest path.

The same holds from any state on, with the letters that the warps have left: that is why the table can guide `search`.
With stretches of one letter the pooled states are the states, and the bound is the longest makespan itself.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations_with_replacement, product
from math import comb, lcm
from typing import TYPE_CHECKING

from sassan.makespan.problem import Problem, runs_of
from sassan.strings.kernel_string import LetterRun

if TYPE_CHECKING:
    from sassan.makespan.bounds.pool_kernel import CutArrays

MOST_STATES = 1 << 17
"""Default limit on the pooled states of a cut: some tenths of a second."""
SMALL = 400
"""States up to which the plain table is filled before the compiler is loaded for it."""
_CHUNK = 1 << 13
"""States between two checks of the clock: some hundredths of a second."""
_SEVERAL = 2
_NUMBERS = 1 << 62
"""States of any cut: their numbers must fit into 64 bits."""
_HIGHEST = 1 << 30
"""Wastes stay below it: a path has at most a slot per warp and stretch, and a slot costs at most one per unit, of which there are five."""
_UNREACHED = 1 << 62
"""Replaces binomials larger than every state number: with many stretches and few warps some exceed 64 bits."""
_BINOMIALS = 1 << 20
"""Entries of their table: 8 MB, a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One string in stretches, and the units, numbered; weights are whole numbers of 1/`scale`."""

    warps: int
    unit: tuple[int, ...]
    length: tuple[int, ...]
    capacity: tuple[int, ...]
    weight: tuple[int, ...]
    scale: int
    issue: int

    @property
    def states(self) -> int:
        """Return the number of pooled states."""
        return comb(self.warps + len(self.unit), len(self.unit))

    @property
    def exact(self) -> bool:
        """Say whether nothing is pooled: the bound is then the longest makespan."""
        return max(self.length, default=1) == 1

    def upper(self, waste: int) -> int:
        """Return the bound of the theorem for this waste."""
        return sum(self.length) + (self._other_weight - waste) // self.scale

    def most_waste(self, slots: int) -> int:
        """Return the most waste with which `upper` still allows so many slots."""
        return self._other_weight - (slots - sum(self.length)) * self.scale

    @property
    def _other_weight(self) -> int:
        return (self.warps - 1) * sum(length * self.weight[unit] for unit, length in zip(self.unit, self.length, strict=True))


def cuts(problem: Problem, most_states: int = MOST_STATES) -> Iterator[Cut]:
    """Yield finer and finer cuts with at most so many states: the runs whole, then in 2, 3, ... pieces; none for different strings.

    Runs of a unit that runs several letters per slot are cut first: there, pooling lets the path skip most.
    """
    if not problem.identical:
        return
    runs = _runs(problem, most_states)
    if not runs:
        return
    wide = max((run.count for run in runs if problem.capacity[run.letter] >= _SEVERAL), default=1)
    narrow = max((run.count for run in runs if problem.capacity[run.letter] < _SEVERAL), default=1)
    tried: set[tuple[int, ...]] = set()
    for several, single in (*((pieces, 1) for pieces in range(1, wide + 1)), (wide, narrow)):
        parts = [(run.letter, several if problem.capacity[run.letter] >= _SEVERAL else single, run.count) for run in runs]
        if _too_many(problem.warps, sum(min(count, pieces) for _, pieces, count in parts), most_states):
            return
        stretches = [LetterRun(letter, length) for letter, pieces, count in parts for length in _pieces(count, pieces)]
        lengths = tuple(stretch.count for stretch in stretches)
        if lengths not in tried:
            tried.add(lengths)
            finer = cut_string(problem, stretches)
            if 5 * finer.scale * problem.warps * len(lengths) >= _HIGHEST:
                return
            yield finer


def finest(problem: Problem, *, whole: bool) -> Cut | None:
    """Return the cut in single letters; with `whole`, runs of units that run one letter per slot stay in one piece. None as in `cuts`."""
    runs = _runs(problem, _NUMBERS) if problem.identical else None
    if not runs:
        return None
    pieces = [1 if whole and problem.capacity[run.letter] < _SEVERAL else run.count for run in runs]
    if _too_many(problem.warps, sum(pieces), _NUMBERS - 1):
        return None
    return cut_string(
        problem, [LetterRun(run.letter, length) for run, many in zip(runs, pieces, strict=True) for length in _pieces(run.count, many)]
    )


def _runs(problem: Problem, most_states: int) -> list[LetterRun] | None:
    """Return the maximal runs of the string, or None as soon as there are too many of them."""
    runs: list[LetterRun] = []
    for run in runs_of(problem.strings[0]):
        if _too_many(problem.warps, len(runs) + 1, most_states):
            return None
        runs.append(run)
    return runs


def _too_many(warps: int, stretches: int, most_states: int) -> bool:
    """Say whether the warps can be spread over the stretches in more ways than this, or need too many binomials."""
    # At least two to the power of the smaller number, which may be beyond counting.
    many = min(warps, stretches) >= most_states.bit_length() or comb(warps + stretches, warps) > most_states
    return many or (warps + stretches) * stretches > _BINOMIALS


def _pieces(count: int, pieces: int) -> list[int]:
    pieces = min(count, pieces)
    return [count // pieces + (index < count % pieces) for index in range(pieces)]


def cut_string(problem: Problem, stretches: Sequence[LetterRun]) -> Cut:
    """Return the cut of the common string into these stretches, which spell it."""
    letters = sorted({stretch.letter for stretch in stretches})
    capacity = tuple(int(problem.capacity[letter]) for letter in letters)
    issue = min(problem.issue or sum(capacity), sum(capacity))
    fits = [min(most, issue) for most in capacity]
    scale = lcm(*fits)
    return Cut(
        problem.warps,
        tuple(letters.index(stretch.letter) for stretch in stretches),
        tuple(stretch.count for stretch in stretches),
        capacity,
        tuple(scale // fit for fit in fits),
        scale,
        issue,
    )


@dataclass(frozen=True, slots=True)
class Pooled:
    """The filled table: `waste[number]` of every pooled state, in 1/`cut.scale` slot.

    The number of a state is the sum over the stretches g of C(c_g + g, g + 1), c_g warps in the stretches up to g; the last number is that
    of all warps in the first stretch.
    """

    cut: Cut
    waste: "array[int]"

    @property
    def bound(self) -> int:
        """Return the bound of the whole problem."""
        return self.cut.upper(self.waste[-1])


def pooled(cut: Cut, stop: Callable[[], bool] = lambda: False) -> Pooled | None:
    """Return the filled table of a cut, or None if `stop` ended it early."""
    if cut.states <= SMALL:
        return Pooled(cut, array("i", waste_plain(cut)))
    import numpy as np  # noqa: PLC0415  # with the compiler half a second, which small instances save

    from sassan.makespan.bounds.pool_kernel import fill, scratch  # noqa: PLC0415

    tables = compiled(cut)
    work = scratch(len(cut.unit), len(cut.capacity))
    waste = np.zeros(cut.states, np.int32)
    for start in range(1, cut.states, _CHUNK):
        if stop():
            return None
        fill(waste, start, min(start + _CHUNK, cut.states), tables, work)
    return Pooled(cut, array("i", waste.tobytes()))


def compiled(cut: Cut) -> "CutArrays":
    """Return the cut as arrays for the kernels."""
    import numpy as np  # noqa: PLC0415  # see `pooled`

    from sassan.makespan.bounds.pool_kernel import CutArrays  # noqa: PLC0415

    rows = (cut.unit, cut.length, cut.capacity, cut.weight, (cut.scale, cut.issue), _binomials(cut.warps + len(cut.unit), len(cut.unit)))
    return CutArrays(*(np.array(row, np.int64) for row in rows))


def _binomials(rows: int, columns: int) -> list[tuple[int, ...]]:
    """Return row after row of Pascal's triangle, as far as the state numbers need them."""
    out = [[1] * rows]
    for _ in range(1, columns):
        # C(n, k) is the sum of C(m, k - 1) over m < n.
        out.append([0, *(min(entry, _UNREACHED) for entry in accumulate(out[-1][:-1]))])
    return list(zip(*out, strict=True))


def waste_plain(cut: Cut) -> list[int]:
    """Return the waste of a cheapest path from every pooled state, by number (see `Pooled`)."""
    waste: dict[tuple[int, ...], int] = {}
    reach = combinations_with_replacement(range(cut.warps + 1), len(cut.unit))
    for up_to in sorted(reach, key=lambda row: row[::-1]):
        counts = tuple(reached - before for before, reached in zip((0, *up_to), up_to, strict=False))
        slots = (cost + waste[_after(counts, gone)] for cost, gone in _slots(cut, counts) if any(gone))
        waste[counts] = min(slots) if any(counts) else 0
    return list(waste.values())


def _after(counts: tuple[int, ...], gone: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(count - out + into for count, out, into in zip(counts, gone, (0, *gone), strict=False))


def _slots(cut: Cut, counts: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the cost of each pooled slot, and how many warps leave each stretch."""
    first = next(index for index, count in enumerate(counts) if count)
    ready = [sum(count for count, unit in zip(counts, cut.unit, strict=True) if unit == index) for index in range(len(cut.capacity))]
    most = [min(limit, capacity) for limit, capacity in zip(ready, cut.capacity, strict=True)]
    due = min(cut.issue, sum(most))
    for runs in product(*(range(limit + 1) for limit in most)):
        if sum(runs) != due:
            continue
        weight = sum(run * letter_weight for run, letter_weight in zip(runs, cut.weight, strict=True))
        for gone in product(*(range(min(count, runs[unit]) + 1) for count, unit in zip(counts, cut.unit, strict=True))):
            waits = _first_may_wait(cut, counts, first, runs, gone)
            if waits is not None:
                yield weight - (cut.scale if waits else cut.weight[cut.unit[first]]), gone


def _first_may_wait(cut: Cut, counts: tuple[int, ...], first: int, runs: tuple[int, ...], gone: tuple[int, ...]) -> bool | None:
    """Say whether a warp of the first stretch may have to wait; None if so many letters cannot run unless more warps leave."""
    stay = [count - out if length > 1 else 0 for count, out, length in zip(counts, gone, cut.length, strict=True)]
    answer = False
    for unit, run in enumerate(runs):
        stretches = [index for index, stretch_unit in enumerate(cut.unit) if stretch_unit == unit]
        inside = run - sum(gone[index] for index in stretches)
        staying = sum(stay[index] for index in stretches)
        if not 0 <= inside <= staying:
            return None
        if unit == cut.unit[first]:
            forced = max(0, inside - (staying - stay[first]))
            answer = counts[first] - gone[first] - forced > 0
    return answer
