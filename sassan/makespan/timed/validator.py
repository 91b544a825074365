"""The validator of schedules with intervals, latencies and barriers: the rules of the model, from the slots of the instructions alone.

The slots of a warp say when it has ended its part between two barriers, and the slowest warp of its block when the next barrier opens. So
each instruction has a slot from which its warp was ready for it. What is ready, held and free changes only in slots in which an instruction
gets ready, begins, or leaves its unit: these, and the slots behind them, are all that is looked at.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from sassan.alphabet import Letter
from sassan.makespan.problem import Problem

Rows = Sequence[Sequence[int]]
Parts = list[list[Letter]]
"""The instructions of a warp before, between and behind its barriers."""


def refusal(problem: Problem, rows: Rows, end: int | None) -> str:
    """Return why these slots, a row per warp, and this end are not a schedule of the problem; '' if they are."""
    if [string.length for string in problem.strings] != [len(row) for row in rows]:
        return "it does not hold each instruction of each warp once"
    ready, last = readiness(problem, rows)
    for warp, (row, of_row) in enumerate(zip(rows, ready, strict=True)):
        if any(slot < since for slot, since in zip(row, of_row, strict=True)):
            return f"warp {warp} does not run its instructions in order, each when the one before has ended and its barrier is open"
    if end != last:
        return f"it ends after {last} slots, not {end}"
    return _first_violation(problem, rows, ready)


def readiness(problem: Problem, rows: Rows) -> tuple[list[list[int]], int]:
    """Return from which slot each warp was ready for each of its instructions, and the number of slots until all of them have ended."""
    ready: list[list[int]] = []
    last = first = 0
    for size in problem.blocks or (1,) * problem.warps:
        block = range(first, first + size)
        of_block, finished = _ready([_parts(problem, warp) for warp in block], [rows[warp] for warp in block], problem)
        ready += of_block
        last = max(last, finished)
        first += size
    return ready, last


def _parts(problem: Problem, warp: int) -> Parts:
    parts: Parts = [[]]
    for letter in problem.strings[warp].steps():
        if letter is Letter.BARRIER:
            parts.append([])
        else:
            parts[-1].append(letter)
    return parts


def _ready(block: Sequence[Parts], rows: Rows, problem: Problem) -> tuple[list[list[int]], int]:
    """Return from which slot each warp of a block was ready for each instruction, and when all of them have ended."""
    ready: list[list[int]] = [[] for _ in rows]
    opened = 0
    for number in range(max(map(len, block))):
        finished = opened
        for parts, row, since in zip(block, rows, ready, strict=True):
            at = opened
            for letter in parts[number] if number < len(parts) else ():
                since.append(at)
                at = row[len(since) - 1] + problem.latency.get(letter, 1)
            finished = max(finished, at)
        opened = finished
    return ready, opened


def _first_violation(problem: Problem, rows: Rows, ready: Sequence[Sequence[int]]) -> str:
    begins: dict[int, Counter[Letter]] = defaultdict(Counter)
    arrivals: dict[int, Counter[Letter]] = defaultdict(Counter)
    leaves: dict[int, Counter[Letter]] = defaultdict(Counter)
    for letter, slot, since in _instructions(problem, rows, ready):
        begins[slot][letter] += 1
        arrivals[since][letter] += 1
        leaves[slot + problem.interval.get(letter, 1)][letter] += 1
    waiting, held = Counter[Letter](), Counter[Letter]()
    for slot in sorted({*begins, *arrivals, *leaves, *(slot + 1 for slot in begins)}):
        waiting.update(arrivals.get(slot, ()))
        held.subtract(leaves.get(slot, ()))
        began = begins.get(slot, Counter())
        free = {letter: int(problem.capacity[letter]) - held[letter] for letter in problem.capacity}
        for letter, count in sorted(began.items()):
            if count > free[letter]:
                return f"slot {slot + 1} begins {count} {letter}, more than the capacity that is free"
        most = sum(min(waiting[letter], free[letter]) for letter in free)
        due = most if problem.issue is None else min(problem.issue, most)
        if began.total() != due:
            return f"slot {slot + 1} begins {began.total()} instructions where work conservation demands {due}"
        waiting.subtract(began)
        held.update(began)
    return ""


def _instructions(problem: Problem, rows: Rows, ready: Sequence[Sequence[int]]) -> Iterator[tuple[Letter, int, int]]:
    for string, row, since in zip(problem.strings, rows, ready, strict=True):
        yield from zip(string.expand(), row, since, strict=True)
