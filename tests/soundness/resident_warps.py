"""The longest execution of small kernels on small SMs, found by trying everything: paths, order of warps, places of blocks.

Written apart from `sassan.ipet` and `sassan.makespan`. A path is a text: a letter runs on its unit for one slot, `.` is a slot of
latency, `B` waits for all warps of the block. A unit of capacity 1/n is held for n slots; a block keeps its place until its units are free.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING

from sassan.alphabet import UNITS, Letter
from sassan.ipet.sm.bounds import Optima
from sassan.ipet.sm.shares import of_letters
from sassan.machine import Multiprocessor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from random import Random

Block = tuple[tuple[str, ...], tuple[tuple[str, int], ...]]
"""What its warps have yet to run, and which slow units it holds for how many slots more; both sorted."""
Sm = tuple[Block, ...]


@dataclass(frozen=True)
class Kernel:
    """The paths that a warp may take, on an SM with these capacities (a negative n is 1/n) and this issue limit."""

    paths: tuple[str, ...]
    capacity: tuple[tuple[str, int], ...]
    issue: int

    @property
    def machine(self) -> Multiprocessor:
        lanes = {unit: 32 * number if number > 0 else 32 // -number for unit, number in self.capacity}
        compute = lanes["C"]
        return Multiprocessor(
            "0.0",
            compute,
            compute,
            lanes["D"],
            32,
            lanes["L"],
            self.issue,
            1,
            64,
            32,
            65536,
            (48, 48),
            (),
            "a test",
            fp16=0,
            tex=0,
            conv64=0,
        )


@dataclass(frozen=True)
class Search:
    """All executions of one kernel; answers are kept."""

    kernel: Kernel

    def residents(self, blocks: int, warps: int) -> int:
        """Return the longest time of so many blocks that start together on one SM, whatever paths their warps take."""
        every = combinations_with_replacement(self._starts(warps), blocks)
        longest = _longest(self.kernel)
        return max(longest((tuple(sorted(some)),), 0) for some in every)

    def partitions(self, warps: int) -> int:
        """Return the longest time of so many warps on an SM with two partitions: every other warp has the units C of its own, all share L.

        E are the units C of the second partition; `.capacity` holds both, and the issue limit must not bind.
        """
        first = combinations_with_replacement(self.kernel.paths, -(-warps // 2))
        second = list(combinations_with_replacement([path.replace("C", "E") for path in self.kernel.paths], warps // 2))
        longest = _longest(self.kernel)
        return max(longest((((tuple(sorted((*some, *others))), ()),),), 0) for some in first for others in second)

    def grid(self, blocks: int, warps: int, sms: int, places: int) -> int:
        """Return the longest time of a grid, whichever SM with a free place each block goes to."""
        starts = self._starts(warps)
        longest = _longest(self.kernel, starts, places)
        return longest(((),) * sms, blocks)

    def _starts(self, warps: int) -> tuple[Block, ...]:
        return tuple((tuple(sorted(some)), ()) for some in combinations_with_replacement(self.kernel.paths, warps))


def _longest(kernel: Kernel, starts: tuple[Block, ...] = (), places: int = 0) -> Callable[[tuple[Sm, ...], int], int]:
    @cache
    def step(sm: Sm) -> tuple[Sm, ...]:
        return tuple(_next(kernel, sm))

    @cache
    def after(sms: tuple[Sm, ...], waiting: int) -> int:
        if waiting:
            free = [index for index, sm in enumerate(sms) if len(sm) < places]
            if free:
                return max(
                    after(tuple(sorted((*sms[:index], tuple(sorted((*sms[index], start))), *sms[index + 1 :]))), waiting - 1)
                    for index in free
                    for start in starts
                )
        if not any(sms):
            return 0
        return 1 + max(after(tuple(sorted(some)), waiting) for some in set(product(*(step(sm) for sm in sms))))

    return after


def _next(kernel: Kernel, sm: Sm) -> Iterator[Sm]:
    """Yield every state of an SM after one slot in which a maximal set of warps ran."""
    blocks = [(_opened(warps), held) for warps, held in sm]
    held = {unit for _, some in blocks for unit, _ in some}
    capacity = {unit: 0 if unit in held else max(1, number) for unit, number in kernel.capacity}
    ready = Counter((index, warp) for index, (warps, _) in enumerate(blocks) for warp in warps if warp[0] not in "B.")
    on = Counter[str]()
    for (_, warp), count in ready.items():
        on[warp[0]] += count
    due = min(kernel.issue, sum(min(count, capacity[unit]) for unit, count in on.items()))
    slow = {unit: -number for unit, number in kernel.capacity if number < 0}
    seen: set[Sm] = set()
    for run in _choices(sorted(ready.items()), capacity, due):
        state = _ran(blocks, run, slow)
        if state not in seen:
            seen.add(state)
            yield state


def _opened(warps: tuple[str, ...]) -> tuple[str, ...]:
    while warps and all(warp[0] == "B" for warp in warps):
        warps = tuple(sorted(warp[1:] for warp in warps if warp != "B"))
    return warps


def _choices(ready: list[tuple[tuple[int, str], int]], capacity: dict[str, int], due: int) -> Iterator[dict[tuple[int, str], int]]:
    """Yield how many of each kind of ready warps run, `due` in all."""
    if not ready:
        if due == 0:
            yield {}
        return
    (kind, count), rest = ready[0], ready[1:]
    unit = kind[1][0]
    for some in range(min(count, capacity[unit], due) + 1):
        left = capacity | {unit: capacity[unit] - some}
        for others in _choices(rest, left, due - some):
            yield {kind: some} | others


def _ran(blocks: list[Block], run: dict[tuple[int, str], int], slow: dict[str, int]) -> Sm:
    after: list[Block] = []
    for index, (warps, held) in enumerate(blocks):
        new: list[str] = []
        holds = [(unit, left - 1) for unit, left in held if left > 1]
        for warp, count in Counter(warps).items():
            runs = count if warp[0] == "." else run.get((index, warp), 0)
            new += [warp[1:]] * runs + [warp] * (count - runs)
            if runs and slow.get(warp[0], 1) > 1:
                holds.append((warp[0], slow[warp[0]] - 1))
        block = (_opened(tuple(sorted(warp for warp in new if warp))), tuple(sorted(holds)))
        if block != ((), ()):
            after.append(block)
    return tuple(sorted(after))


def optima(kernel: Kernel, *, segments: bool) -> Optima:
    """Return the maxima over the paths, by looking at each path; `segments`: also those from barrier to barrier."""
    machine = kernel.machine

    def alone(path: str) -> int:
        return len(path.replace("B", "")) + int(of_letters(machine, counts(path)).self_stall)

    shares = [of_letters(machine, counts(path)) for path in kernel.paths]
    mine = max(share.scheduler_stall for share in shares)
    longest = max(map(alone, kernel.paths))
    if not segments:
        return Optima(type(mine)(longest), mine, mine)
    pieces = max(alone(piece) for path in kernel.paths for piece in path.split("B"))
    return Optima(type(mine)(longest), mine, mine, segment=type(mine)(pieces), openings=max(path.count("B") for path in kernel.paths))


def exact(kernel: Kernel, *, segments: bool, rest: bool = True) -> Optima:
    """Return the same of a cost model that knows the units, as `control` does: a path takes what it takes alone.

    `rest`: until its units are free.
    """
    machine = kernel.machine
    shares = [of_letters(machine, counts(path)).scheduler_stall for path in kernel.paths]
    slow = {unit: -number for unit, number in kernel.capacity if number < 0}
    alone, mine = (max(_alone(path, slow, rest=rest) for path in kernel.paths), max(shares))
    if not segments:
        return Optima(type(mine)(alone), mine, mine)
    pieces = max(_alone(piece, slow, rest=rest) for path in kernel.paths for piece in path.split("B"))
    return Optima(type(mine)(alone), mine, mine, segment=type(mine)(pieces), openings=max(path.count("B") for path in kernel.paths))


def _alone(path: str, slow: dict[str, int], *, rest: bool) -> int:
    """Return how long a warp alone takes; a barrier waits until its units are free."""
    now, free = 0, dict[str, int]()
    for letter in path:
        now = max(now, *free.values(), 0) if letter == "B" else max(now, free.get(letter, 0)) + 1
        if letter != "B":
            free[letter] = now - 1 + slow.get(letter, 1)
    return max(now, *free.values(), 0) if rest else now


def counts(path: Iterable[str]) -> dict[Letter, int]:
    """Return how often each letter occurs."""
    found = Counter(path)
    return {letter: found[letter.value] for letter in UNITS}


def kernel(random: Random, paths: int, longest: int, *, barriers: bool) -> Kernel:
    """Return a kernel with two units in use, some of them slow or wide."""
    letters = random.choice(("LC", "LC", "CD", "LD", "LC."))
    capacity = tuple((unit, random.choice((1, 1, 1, 2, 3, -2, -4) if unit != "C" else (1, 1, 2, 4, -2))) for unit in "LCD")
    some = tuple(sorted({_path(random, letters, longest, barriers=barriers) for _ in range(paths)}))
    return Kernel(some, capacity, random.choice((1, 2, 2, 3, 8)))


def _path(random: Random, letters: str, longest: int, *, barriers: bool) -> str:
    text = "".join(random.choices(letters, k=random.randint(1, longest)))
    for _ in range(random.randint(0, 2) if barriers else 0):
        place = random.randint(0, len(text))
        text = text[:place] + "B" + text[place:]
    return text
