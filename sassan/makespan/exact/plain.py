"""The longest path over the states in plain Python: the kernels are tested against it, and it solves small instances (no compiler)."""

from sassan.makespan.states import Layout, State, start, successors, work_left


def longest(cut: Layout) -> dict[State, int]:
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


def path(cut: Layout, value: dict[State, int]) -> list[State]:
    """Return the states of one longest path, the first in order of the states."""
    states = [start(cut)]
    while value[states[-1]]:
        states.append(min(after for after in successors(cut, states[-1]) if value[after] == value[states[-1]] - 1))
    return states
