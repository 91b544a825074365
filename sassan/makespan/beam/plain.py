"""Beam search over slots in plain Python: `kernel` is tested against it, and it runs small instances (it needs no compiler).

A state is a row of places, one per warp, in which the warps of a team ascend by the letters that they have left; of warps in one place the
first ones run. That keeps the order, so a column is one warp from the start to the end, and the warps that run are the bits of a mask.

Of the states of a slot those with the largest score stay: SCALE times the slots that the warp furthest behind has left, and for each letter
of the others the part of a slot in which its unit can make that warp wait (`bounds.waiting`, without rounding). Ties are broken by
hashes that depend on the seed, so that equal seeds keep equal states.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sassan.makespan.states import ProblemLayout

SCALE = 5040
"""Parts of a slot; divisible by the capacities up to 10."""
TIE = 20
"""Bits of a key below the score."""
_WORD = (1 << 64) - 1


class BeamRules(NamedTuple):
    """A layout of single letters as rows over its places; the places of a team are its letters from the end, preceded by "done"."""

    unit: tuple[int, ...]
    """-1: done."""
    reach: tuple[int, ...]
    """The score of a warp there if it is the one furthest behind, less the weights of its letters."""
    zobrist: tuple[int, ...]
    """Random words of 64 bits: the hash of a state is the sum over its warps."""
    weight: tuple[int, ...]
    """Per unit, the weight of a letter that is left."""
    capacity: tuple[int, ...]
    issue: int
    start: tuple[int, ...]
    """Per warp the place before its first letter."""
    warps: tuple[int, ...]
    """Per column the warp of the problem."""


class BeamState(NamedTuple):
    """A state; `base` is the score of all letters left, `parent` its index among the states kept a slot before, `mask` which warps ran."""

    places: tuple[int, ...]
    hash: int
    base: int
    parent: int = 0
    mask: int = 0


def rules(cut: ProblemLayout, seed: int) -> BeamRules:
    """Return the rules of a layout of single letters."""
    weight = tuple(SCALE // min(capacity, cut.issue) for capacity in cut.capacity)
    unit: list[int] = []
    reach: list[int] = []
    start: list[int] = []
    for team in cut.teams:
        unit.append(-1)
        reach.append(0)
        for segment in reversed(team.segments):
            unit.append(segment.unit)
            reach.append(reach[-1] + SCALE - weight[segment.unit])
        start += [len(unit) - 1] * len(team.warps)
    zobrist = tuple(mixed((seed * 0x2545F4914F6CDD1D + place * 0x9E3779B97F4A7C15) & _WORD) for place in range(1, len(unit) + 1))
    columns = tuple(warp for team in cut.teams for warp in team.warps)
    return BeamRules(tuple(unit), tuple(reach), zobrist, weight, cut.capacity, cut.issue, tuple(start), columns)


def mixed(word: int) -> int:
    """Return 64 bits mixed (the finalizer of splitmix64)."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


def first(rule: BeamRules, cut: ProblemLayout) -> BeamState:
    """Return the state before the first slot."""
    total = sum(rule.weight[segment.unit] * segment.length * len(team.warps) for team in cut.teams for segment in team.segments)
    return BeamState(rule.start, sum(rule.zobrist[place] for place in rule.start) & _WORD, total)


def key(rule: BeamRules, state: BeamState, salt: int) -> int:
    """Return the sort key of a state: the score, then a random word."""
    score = state.base + max(rule.reach[place] for place in state.places)
    return (score << TIE) | (mixed(state.hash ^ salt) >> (64 - TIE))


def advance(rule: BeamRules, states: Sequence[BeamState], width: int, salt: int) -> list[BeamState]:
    """Return the `width` states of largest key that can follow these a slot later, each once; none if all warps of all states are done."""
    candidates: dict[int, BeamState] = {}
    for parent, state in enumerate(states):
        for after in successors(rule, state, parent):
            candidates.setdefault(after.hash, after)
    return sorted(candidates.values(), key=lambda state: (key(rule, state, salt), state.hash), reverse=True)[:width]


def successors(rule: BeamRules, state: BeamState, parent: int) -> Iterator[BeamState]:
    """Yield every state that can follow one slot later."""
    groups: list[tuple[int, int]] = []
    for warp, place in enumerate(state.places):
        if groups and state.places[groups[-1][0]] == place:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        elif rule.unit[place] >= 0:
            groups.append((warp, 1))
    ready = [0] * len(rule.capacity)
    for warp, size in groups:
        ready[rule.unit[state.places[warp]]] += size
    limit = [min(pair) for pair in zip(ready, rule.capacity, strict=True)]
    total = min(rule.issue, sum(limit))
    for runs in _runs(rule, state, groups, limit, total) if total else ():
        places, word, base, mask = list(state.places), state.hash, state.base, 0
        for (warp, _), run in zip(groups, runs, strict=True):
            place = state.places[warp]
            places[warp : warp + run] = [place - 1] * run
            word += run * (rule.zobrist[place - 1] - rule.zobrist[place])
            base -= run * rule.weight[rule.unit[place]]
            mask |= ((1 << run) - 1) << warp
        yield BeamState(tuple(places), word & _WORD, base, parent, mask)


def _runs(rule: BeamRules, state: BeamState, groups: Sequence[tuple[int, int]], limit: list[int], total: int) -> Iterator[tuple[int, ...]]:
    if not groups:
        if total == 0:
            yield ()
        return
    warp, size = groups[0]
    unit = rule.unit[state.places[warp]]
    for run in range(min(size, limit[unit], total) + 1):
        limit[unit] -= run
        for rest in _runs(rule, state, groups[1:], limit, total - run):
            yield (run, *rest)
        limit[unit] += run
