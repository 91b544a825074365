"""The longest work-conserving schedule by trying every one, for tests: shares no code with any engine."""

from functools import cache
from itertools import combinations

from sassan.alphabet import UNITS
from sassan.makespan.problem import Problem


def longest(problem: Problem) -> int:
    """Return the largest makespan of all work-conserving schedules."""
    strings = tuple(tuple(one.expand()) for one in problem.strings)
    limit = len(strings) if problem.issue is None else problem.issue

    @cache
    def remaining(done: tuple[int, ...]) -> int:
        ready = [warp for warp, string in enumerate(strings) if done[warp] < len(string)]
        if not ready:
            return 0
        return 1 + max(remaining(_after(done, run)) for run in _maximal(ready, done))

    def _maximal(ready: list[int], done: tuple[int, ...]) -> list[tuple[int, ...]]:
        units = {letter: sum(strings[warp][done[warp]] is letter for warp in ready) for letter in UNITS}
        count = min(limit, sum(min(units[letter], int(problem.capacity[letter])) for letter in UNITS if units[letter]))
        return [run for run in combinations(ready, count) if _fits(run, done)]

    def _fits(run: tuple[int, ...], done: tuple[int, ...]) -> bool:
        letters = [strings[warp][done[warp]] for warp in run]
        return all(letters.count(letter) <= int(problem.capacity[letter]) for letter in set(letters))

    return remaining((0,) * len(strings))


def _after(done: tuple[int, ...], run: tuple[int, ...]) -> tuple[int, ...]:
    # Warps of one string can change places: sorting would merge their states, but strings may differ here.
    return tuple(at + (warp in run) for warp, at in enumerate(done))
