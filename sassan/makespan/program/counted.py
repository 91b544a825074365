"""A smaller program for the same problem: warps of one string are counted, not named (not in the papers).

Unknowns: r[g,i,t], the warps of string g that run instruction i in slot t; n[g,i,t], those that are ready for it then; a[t], 1 where
some warp is not done before slot t. The makespan is sum_t a[t].

A solution is a schedule: whichever r[g,i,t] of the n[g,i,t] warps run, the others are as they were. A schedule is a solution. There is
one solution where the paper's program has W! of them.
"""

from collections.abc import Iterator

from sassan.ilp.model import Terms
from sassan.makespan.program.build import ModelBuilder, add_capacities, excuses

Ready = dict[tuple[int, int, int], int]


def fill(build: ModelBuilder) -> Terms:
    """Add unknowns and rows; return the objective."""
    ready: Ready = {}
    for group in range(len(build.groups)):
        for index, unit in enumerate(build.units(group)):
            letter = build.case.letters[unit].value
            for slot in range(build.horizon):
                name = f"{build.name(group, index, slot)}_{letter}"
                build.runs[group, index, slot] = build.unknown(f"r_{name}")
                ready[group, index, slot] = build.unknown(f"n_{name}")
    for group in range(len(build.groups)):
        _flow(build, ready, group)
    add_capacities(build)
    _busy(build, ready)
    return tuple(_slots(build, ready))


def _flow(build: ModelBuilder, ready: Ready, group: int) -> None:
    """Add the flow of warps from instruction to instruction."""
    warps = len(build.groups[group])
    for index in range(len(build.units(group))):
        first = warps if index == 0 else 0
        build.row(f"begin_{build.name(group, index)}", ((ready[group, index, 0], 1),), "=", first, f"n[g,{index + 1},1] = {first}")
        for slot in range(build.horizon):
            run, wait = build.runs[group, index, slot], ready[group, index, slot]
            name = build.name(group, index, slot)
            build.row(f"some_{name}", ((run, 1), (wait, -1)), "<=", 0, "r[g,i,t] <= n[g,i,t]")
            if slot + 1 < build.horizon:
                before = ((build.runs[group, index - 1, slot], -1),) if index else ()
                terms = ((ready[group, index, slot + 1], 1), (wait, -1), (run, 1), *before)
                build.row(f"flow_{name}", terms, "=", 0, "n[g,i,t+1] = n[g,i,t] - r[g,i,t] + r[g,i-1,t]")
        total = ((build.runs[group, index, slot], 1) for slot in range(build.horizon))
        build.row(f"once_{build.name(group, index)}", total, "=", warps, f"sum_t r[g,{index + 1},t] = {warps}")


def _busy(build: ModelBuilder, ready: Ready) -> None:
    """Add work conservation: a warp that is ready for a unit and does not run has an excuse."""
    for slot in range(build.horizon):
        for unit, letter in enumerate(build.case.letters):
            places = [
                (group, index)
                for group in range(len(build.groups))
                for index, instruction_unit in enumerate(build.units(group))
                if instruction_unit == unit
            ]
            waiting = [(ready[group, index, slot], 1) for group, index in places]
            running = [(build.runs[group, index, slot], -1) for group, index in places]
            terms = (*waiting, *running, *excuses(build, unit, slot, -build.case.warps))
            math = f"sum_i n[i,{slot + 1}] - r[i,{slot + 1}] <= W (full, or issue full), i over {letter.value}"
            build.row(f"busy_{letter.value}_{build.name(slot=slot)}", terms, "<=", 0, math)


def _slots(build: ModelBuilder, ready: Ready) -> Iterator[tuple[int, int]]:
    """Yield the unknowns of the slots that begin before all warps are done."""
    for slot in range(build.horizon):
        used = build.unknown(f"a_{build.name(slot=slot)}", f"1: slot {slot + 1} belongs to the schedule")
        build.row(f"slot_{build.name(slot=slot)}", ((used, 1),), "<=", 1, "a[t] <= 1")
        left: list[tuple[int, int]] = []
        for group in range(len(build.groups)):
            left.extend((ready[group, index, slot], -1) for index in range(len(build.units(group))))
        # Every warp that is not done is ready for exactly one instruction.
        build.row(f"left_{build.name(slot=slot)}", ((used, 1), *left), "<=", 0, "a[t] <= sum_i n[i,t]")
        yield used, 1
