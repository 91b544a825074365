"""The bound by overlap: work conservation forces other warps on while one waits; a linear program that does not grow with the problem.

Let w be the warp that finishes last. Put the places of the strings into groups of one letter each (`L`; `C` early and `C` late in its
stretch). Of the other warps keep only, for each group, whether 0, 1, ... or at least sigma stand there, and whether 0, 1 or at least 2 are
alive. A slot is then one step between such states: w waits for a unit or runs a letter, some number of letters of each group run, as the
model demands, and each warp that runs goes to a group that follows its own somewhere in its string.

Theorem. T <= I_w + the largest number of steps in which w waits, over all flows through the graph of these steps from the start to the
end in which the others go from group g to group h exactly as often as their strings do, w runs each unit as often as its string does, and
while at most a of the others are alive, they go from g to h at most as often as the a of them that do so most.

Proof. A schedule is such a flow: count its steps up to slot T, in which w ends and before or in which all others end. What stands at "at
least sigma" may be any number that the number alive allows, so every state that may follow is a target. Who is alive when a of the others
are left makes all their later steps. The slots are those in which w waits and the I_w in which it runs. Each warp may be the one that
finishes last: the bound is the largest over the different strings.

The maximum over flows is bounded by weak duality in exact arithmetic (`ilp.upper_bound`). Neither I nor W changes the size of the program:
it takes counts of neighbours, which run-length code gives without being expanded.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from math import floor

from sassan.alphabet import UNITS, Letter
from sassan.ilp.model import IntegerVariable, Model, Row, combine
from sassan.ilp.solve import upper_bound
from sassan.makespan.bounds.waiting import waiting_slots_of
from sassan.makespan.problem import Problem
from sassan.strings.kernel_string import KernelString, LetterRun

MOST_ARCS = 8_000
"""Limit on the arcs of a linear program: about a second to solve."""
MOST_STRINGS = 8
"""Different strings, each of which may be that of the last warp."""
_ALIVE = 2
_ANY = 1 << 62
_END = -1
_COVER = 0
"""The number of the row that covers all variables."""

Step = tuple[int, int]
"""From a group to a group, or to `_END`."""
State = tuple[tuple[int, ...], int, tuple[int, ...]]
"""Warps per group, up to the capacity of its unit; warps alive, up to 2; and of those, who has still to run in this slot."""


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups by number, with the unit of each; units have capacities, all together an issue limit."""

    of: Mapping[Letter, tuple[int, ...]]
    unit: tuple[int, ...]
    capacity: tuple[int, ...]
    issue: int

    @property
    def top(self) -> tuple[int, ...]:
        """Return the number from which on the warps of each group are no longer counted."""
        return tuple(self.capacity[unit] for unit in self.unit)


@dataclass(frozen=True, slots=True)
class Path:
    """A string in groups: the first one, and how often a warp goes from one to another, the last time to `_END`."""

    first: int
    steps: Mapping[Step, int]


@dataclass(frozen=True, slots=True)
class _Rules:
    """What arcs depend on: the groups, what follows each in the others, the units of w, and where `alive` begins to mean "at least"."""

    groups: _Groups
    follows: Mapping[int, Sequence[int]]
    own: Sequence[int]
    alive: int


@dataclass(frozen=True, slots=True)
class _Arc:
    """One variable: the begin of a slot (`waits`, or w runs unit `runs`), or a step of one other warp in it."""

    source: State
    target: State
    step: Step | None = None
    runs: int | None = None
    waits: bool = False


def overlap(problem: Problem, pieces: int = 1, stop: Callable[[], bool] = lambda: False) -> int | None:
    """Return the bound, with each stretch of a unit that runs several letters per slot in so many pieces.

    None if that is too large, or if `stop`, which is polled, ended it early.
    """
    shares = {string: count for string, count in problem.shares.items() if string.parts}
    if len(shares) > MOST_STRINGS:
        return None
    groups = groups_of(problem, pieces)
    paths = {string: path_of(string, groups) for string in shares}
    total = {letter: sum(count * string.counts()[letter] for string, count in shares.items()) for letter in UNITS}
    best = 0
    for last, path in paths.items():
        others = [(paths[string], count - (string is last)) for string, count in shares.items() if count > (string is last)]
        program = _program(groups, path, others, stop)
        if program is None or stop():
            return None
        waits = upper_bound(program, _COVER, stop=stop)
        if waits is None and stop():
            return None
        # Without multipliers (a warp that cannot be the last leaves no flow at all) the bound of the waiting slots stands.
        waiting_bound = waiting_slots_of(problem, last.counts(), total)
        best = max(best, waiting_bound if waits is None else min(waiting_bound, last.length + floor(waits)))
    return best


def groups_of(problem: Problem, pieces: int) -> _Groups:
    """Return the groups: one per letter, `pieces` for a letter that runs several times per slot."""
    letters = sorted({letter for string in problem.shares for letter, count in string.counts().items() if count})
    limit = problem.issue or sum(int(problem.capacity[letter]) for letter in letters)
    capacity = tuple(min(limit, int(problem.capacity[letter])) for letter in letters)
    of: dict[Letter, tuple[int, ...]] = {}
    unit: list[int] = []
    for index, letter in enumerate(letters):
        parts = pieces if capacity[index] > 1 else 1
        of[letter] = tuple(range(len(unit), len(unit) + parts))
        unit += [index] * parts
    return _Groups(of, tuple(unit), capacity, min(limit, sum(capacity)))


def path_of(string: KernelString, groups: _Groups) -> Path:
    """Return the steps of a string, counted in its run-length code: each run is cut into equal pieces, one per group of its letter."""
    steps: Counter[Step] = Counter()
    first, last = _count(string, 1, groups, steps)
    steps[last, _END] += 1
    return Path(first, {step: count for step, count in sorted(steps.items()) if count})


def _count(string: KernelString, times: int, groups: _Groups, steps: Counter[Step]) -> Step:
    """Add the steps inside `times` copies of the string, and return its first and last group."""
    ends: list[Step] = []
    for part in string.parts:
        if isinstance(part, LetterRun):
            ends.append(_count_run(part, times, groups.of[part.letter], steps))
        else:
            first, last = _count(part.body, times * part.times, groups, steps)
            steps[last, first] += times * (part.times - 1)
            ends.append((first, last))
    for (_, before), (after, _) in pairwise(ends):
        steps[before, after] += times
    return ends[0][0], ends[-1][1]


def _count_run(run: LetterRun, times: int, groups: Sequence[int], steps: Counter[Step]) -> Step:
    parts = min(len(groups), run.count)
    for index, group in enumerate(groups[:parts]):
        steps[group, group] += times * (run.count // parts + (index < run.count % parts) - 1)
    for before, after in pairwise(groups[:parts]):
        steps[before, after] += times
    return groups[0], groups[parts - 1]


def _program(groups: _Groups, last_path: Path, others: Sequence[tuple[Path, int]], stop: Callable[[], bool]) -> Model | None:
    """Return the linear program if a warp of path `last_path` finishes last; None above `MOST_ARCS` arcs, or if `stop` ended it."""
    alive = min(_ALIVE, sum(count for _, count in others))
    starts: Counter[int] = Counter()
    for path, count in others:
        starts[path.first] += count
    idle = (0,) * len(groups.unit)
    start: State = (tuple(min(starts[group], top) for group, top in enumerate(groups.top)), alive, idle)
    rules = _Rules(groups, {group: _after(group, others) for group in range(len(groups.unit))}, _units(groups, last_path), alive)
    arcs = _arcs(rules, start, stop)
    return None if arcs is None or stop() else _model(groups, last_path, others, arcs, start)


def _units(groups: _Groups, last_path: Path) -> tuple[int, ...]:
    return tuple(sorted({groups.unit[group] for group, _ in last_path.steps}))


def _after(group: int, others: Sequence[tuple[Path, int]]) -> tuple[int, ...]:
    steps = {step for path, _ in others for step in path.steps}
    return tuple(sorted(after for before, after in steps if before == group))


def _arcs(rules: _Rules, start: State, stop: Callable[[], bool]) -> list[_Arc] | None:
    """Return every arc that can be reached; None if there are more than `MOST_ARCS`, or if `stop` ended it."""
    arcs: list[_Arc] = []
    reached = {start}
    todo = [start]
    while todo:
        if stop():
            return None
        state = todo.pop()
        outgoing = _moves(rules, state) if any(state[2]) else _begins(rules, state)
        for arc in islice(outgoing, MOST_ARCS + 1 - len(arcs)):
            arcs.append(arc)
            if arc.target not in reached:
                reached.add(arc.target)
                todo.append(arc.target)
        if len(arcs) > MOST_ARCS:
            return None
    return arcs


def _begins(rules: _Rules, state: State) -> Iterator[_Arc]:
    """Yield how a slot can begin: w waits for a unit or runs it, and so many others of each group run."""
    bins, alive, _ = state
    groups = rules.groups
    ranges = _ranges(groups.top, bins, alive, rules.alive)
    assert ranges is not None
    low = [least for least, _ in ranges]
    ready = [
        sum(least for least, group_unit in zip(low, groups.unit, strict=True) if group_unit == unit) for unit in range(len(groups.capacity))
    ]
    for unit in rules.own:
        due = min(
            groups.issue, sum(min(count + (group_unit == unit), groups.capacity[group_unit]) for group_unit, count in enumerate(ready))
        )
        for runs in (0, 1):
            free = [fits - runs * (group_unit == unit) for group_unit, fits in enumerate(groups.capacity)]
            for left in _picks(groups.unit, low, free, due - runs):
                yield _Arc(state, (bins, alive, left), runs=unit if runs else None, waits=not runs)


def _picks(units: Sequence[int], low: Sequence[int], free: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """Yield how many warps run of each group, `total` in all, within the warps there are and the free capacity of each unit."""
    if sum(low) < total or not low:
        if total == 0:
            yield ()
        return
    unit = units[0]
    for count in range(min(low[0], free[unit], total) + 1):
        less = [limit - count * (index == unit) for index, limit in enumerate(free)]
        for rest in _picks(units[1:], low[1:], less, total - count):
            yield (count, *rest)


def _moves(rules: _Rules, state: State) -> Iterator[_Arc]:
    """Yield the steps that the next warp of this slot can make."""
    bins, alive, left = state
    groups, most = rules.groups, rules.alive
    ranges = _ranges(groups.top, bins, alive, most)
    assert ranges is not None
    group = next(index for index, count in enumerate(left) if count)
    rest = tuple(count - (index == group) for index, count in enumerate(left))
    for after in rules.follows[group]:
        change = [(index == after) - (index == group) for index in range(len(bins))]
        choices = (
            range(min(top, low + by), min(top, high + by) + 1) for (low, high), by, top in zip(ranges, change, groups.top, strict=True)
        )
        gone = after == _END
        alives = range(alive - gone, (alive if alive == most else alive - gone) + 1)
        for target, now in product(product(*choices), alives):
            fits = _ranges(groups.top, target, now, most)
            if fits is not None and all(count <= high for count, (_, high) in zip(rest, fits, strict=True)):
                yield _Arc(state, (target, now, rest), step=(group, after))


def _ranges(top: Sequence[int], bins: Sequence[int], alive: int, most: int) -> list[tuple[int, int]] | None:
    """Return the least and the largest number of warps per group in the states that `bins` represents; None if there are none."""
    low = list(bins)
    high = [count if count < cap else _ANY for count, cap in zip(bins, top, strict=True)]
    least, largest = alive, alive if alive < most else _ANY
    if sum(low) > largest or sum(high) < least:
        return None
    ranges = [(max(down, least - sum(high) + up), min(up, largest - sum(low) + down)) for down, up in zip(low, high, strict=True)]
    return ranges if all(down <= up for down, up in ranges) else None


def _model(groups: _Groups, last_path: Path, others: Sequence[tuple[Path, int]], arcs: Sequence[_Arc], start: State) -> Model:
    variables = tuple(IntegerVariable(f"y_{index:05d}") for index in range(len(arcs)))
    end: State = ((0,) * len(groups.unit), 0, (0,) * len(groups.unit))
    rows = [
        _cover(last_path, others, len(arcs)),
        *_balances(arcs, start, end),
        *_last_warp_rows(groups, last_path, arcs),
        *_steps(others, arcs, start[1]),
    ]
    return Model(
        "overlap", variables, tuple((index, 1) for index, arc in enumerate(arcs) if arc.waits), tuple(rows), math="slots in which w waits"
    )


def _cover(last_path: Path, others: Sequence[tuple[Path, int]], size: int) -> Row:
    # Every arc that begins a slot has a letter of w or of another warp; every other arc is a letter: no schedule has more arcs.
    letters = sum(count * sum(path.steps.values()) for path, count in others)
    return Row(
        "all", tuple((index, 1) for index in range(size)), "<=", 2 * letters + sum(last_path.steps.values()), "arcs <= 2 letters + I_w"
    )


def _balances(arcs: Sequence[_Arc], start: State, end: State) -> Iterator[Row]:
    # sum(y out of a state) - sum(y into it) = 1 at the start, -1 at the end, else 0
    terms: dict[State, list[tuple[int, int]]] = {start: [], end: []}
    for index, arc in enumerate(arcs):
        terms.setdefault(arc.source, []).append((index, 1))
        terms.setdefault(arc.target, []).append((index, -1))
    for index, state in enumerate(sorted(terms)):
        yield Row(f"state_{index:05d}", combine(terms[state]), "=", (state == start) - (state == end))


def _last_warp_rows(groups: _Groups, last_path: Path, arcs: Sequence[_Arc]) -> Iterator[Row]:
    # sum(y in which w runs U) = I_w,U
    for unit in range(len(groups.capacity)):
        terms = tuple((index, 1) for index, arc in enumerate(arcs) if arc.runs == unit)
        letters = sum(count for (group, _), count in last_path.steps.items() if groups.unit[group] == unit)
        yield Row(f"own_{unit}", terms, "=", letters)


def _steps(others: Sequence[tuple[Path, int]], arcs: Sequence[_Arc], most: int) -> Iterator[Row]:
    # sum(y from g to h) = how often the others go there; while at most a are alive, <= that of the a that do so most
    for step in sorted({arc.step for arc in arcs if arc.step}):
        counts = sorted((path.steps.get(step, 0) for path, count in others for _ in range(min(count, most))), reverse=True)
        total = sum(path.steps.get(step, 0) * count for path, count in others)
        arcs_of_step = [(index, arc.source[1]) for index, arc in enumerate(arcs) if arc.step == step]
        name = f"step_{step[0]}_{'end' if step[1] == _END else step[1]}"
        yield Row(name, tuple((index, 1) for index, _ in arcs_of_step), "=", total)
        for alive in range(1, most):
            terms = tuple((index, 1) for index, source_alive in arcs_of_step if source_alive <= alive)
            yield Row(f"{name}_last_{alive}", terms, "<=", sum(counts[:alive]))
