"""The schedule of a pseudo-precedence string where instructions take several slots, or warps wait at barriers.

Slot by slot, of the warps that are ready, those begin whose instructions come first in the string, as many as may. Proof that these are all
schedules: docs/proofs/makespan-strings.md, "Strings with intervals and barriers".
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from sassan.alphabet import Letter
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule
from sassan.strings.kernel_string import KernelString


def construct(problem: Problem, precedence: Sequence[int]) -> Schedule:
    """Return the schedule of a string that names each warp once per instruction."""
    turns: list[list[int]] = [[] for _ in range(problem.warps)]
    for turn, warp in enumerate(precedence):
        turns[warp].append(turn)
    run = _Run(problem)
    while not run.over:
        run.open_barriers()
        run.begin(sorted(run.ready(), key=lambda warp: turns[warp][len(run.rows[warp])]))
    return Schedule(tuple(map(tuple, run.rows)), max(run.since, default=0))


@lru_cache(maxsize=64)
def _steps(string: KernelString) -> tuple[Letter, ...]:
    return tuple(string.steps())


class _Run:
    """A schedule up to `slot`: what each warp has begun, the step that it is at, and since when its last instruction has ended."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._strings = [_steps(string) for string in problem.strings]
        self._capacity = {letter: int(capacity) for letter, capacity in problem.capacity.items()}
        self._held: dict[Letter, list[int]] = {letter: [] for letter in problem.capacity}
        ends = list(accumulate(problem.blocks))
        self._blocks = [range(end - size, end) for size, end in zip(problem.blocks, ends, strict=True)]
        self._at = [0] * problem.warps
        self.since = [0] * problem.warps
        self.rows: list[list[int]] = [[] for _ in range(problem.warps)]
        self._slot = 0

    @property
    def over(self) -> bool:
        """Say whether all instructions have begun and no warp waits at a barrier."""
        return all(at == len(string) for at, string in zip(self._at, self._strings, strict=True))

    def open_barriers(self) -> None:
        """Let the warps of each block go on that have all come to a barrier, or ended."""
        for block in self._blocks:
            while True:
                waiting = [warp for warp in block if self._at[warp] < len(self._strings[warp])]
                here = all(self._strings[warp][self._at[warp]] is Letter.BARRIER for warp in waiting)
                if not waiting or not here or any(self.since[warp] > self._slot for warp in block):
                    break
                for warp in waiting:
                    self._at[warp] += 1

    def ready(self) -> list[int]:
        """Return the warps that can begin an instruction in this slot."""
        return [
            warp
            for warp, (at, string) in enumerate(zip(self._at, self._strings, strict=True))
            if at < len(string) and self.since[warp] <= self._slot and string[at] is not Letter.BARRIER
        ]

    def begin(self, warps: Sequence[int]) -> None:
        """Begin as many of these as may, in this order; go on to the next slot in which something can change."""
        self._held = {letter: [end for end in ends if end > self._slot] for letter, ends in self._held.items()}
        begun = 0
        for warp in warps:
            letter = self._strings[warp][self._at[warp]]
            if begun == self._problem.issue or len(self._held[letter]) == self._capacity[letter]:
                continue
            self._held[letter].append(self._slot + self._problem.interval.get(letter, 1))
            self.rows[warp].append(self._slot)
            self._at[warp] += 1
            self.since[warp] = self._slot + self._problem.latency.get(letter, 1)
            begun += 1
        later = [slot for slots in (self.since, *self._held.values()) for slot in slots if slot > self._slot]
        self._slot = self._slot + 1 if begun else min(later, default=self._slot)
