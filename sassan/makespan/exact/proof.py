"""A proof that no schedule is longer than so many slots, as a text that a small program can check (`scripts/check_proof`).

The text lists states of the processor with a number of slots each: what each warp has left, for warps in any order. It proves that the
longest makespan is at most the number of the start where

    the start is listed, and so is every state that can follow a listed one, with a number that is smaller by 1 or more;
    no number is negative, and that of the end, where no warp has anything left, is 0.

For by induction over its slots, no schedule takes more of them from a listed state on than the number says. The numbers listed here are
the longest makespans from each state, so the bound is the least one.
"""

import json
from collections.abc import Iterator

from sassan.errors import UsageError
from sassan.makespan.problem import Problem
from sassan.makespan.states import ProblemLayout, State, count_letter_states, layout, start, successors, team_sizes, work_left

MOST = 200_000
"""States of a proof: some 10 MB of text, and a minute."""


def proof(problem: Problem) -> Iterator[str]:
    """Yield the lines: the instance as JSON; then per state its number, and for each string how many warps have 0, 1, 2, ... letters done.

    Raises UsageError `too-large`, `timed-instance`, `fractional-capacity`.
    """
    if not problem.one_slot:
        message = "a proof lists states without intervals, latencies and barriers"
        raise UsageError("timed-instance", message, hint="omit --interval, --latency and B")
    states = count_letter_states(team_sizes(problem))
    if states > MOST:
        raise UsageError("too-large", f"a proof of {states} states is longer than {MOST}", hint="pass fewer warps or a shorter string")
    cut = layout(problem, "letters")
    values = longest(cut)
    strings = list(problem.shares)
    head = {
        "strings": ["".join(string.steps()) for string in strings],
        "warps": [problem.shares[string] for string in strings],
        "capacity": {letter.value: int(capacity) for letter, capacity in sorted(problem.capacity.items())},
        "issue": problem.issue,
        "upper": values[start(cut)],
    }
    yield json.dumps(head)
    sizes = [len(team.segments) for team in cut.teams]
    for state, slots in values.items():
        counts = [warps for warps, _ in state]
        rows: list[str] = []
        for team in range(len(sizes)):
            at = counts[sum(sizes[:team]) : sum(sizes[: team + 1])]
            rows.append(" ".join(map(str, (*at, len(cut.teams[team].warps) - sum(at)))))
        yield f"{slots}: {', '.join(rows)}"


def longest(cut: ProblemLayout) -> dict[State, int]:
    """Return the number of slots of the longest path from every reachable state to the end.

    Each slot runs at least one instruction, so the work that is left falls along every path, and states of less work come first.
    """
    nexts: dict[State, set[State]] = {}
    todo = [start(cut)]
    while todo:
        state = todo.pop()
        if state not in nexts:
            nexts[state] = set(successors(cut, state))
            todo += nexts[state]
    value: dict[State, int] = {}
    for state in sorted(nexts, key=lambda state: work_left(cut, state)):
        value[state] = max((value[after] + 1 for after in nexts[state]), default=0)
    return value
