"""The rows of Berezovskyi et al. 2011, Figure 3: an unknown per warp, instruction and slot.

The paper has two unknowns (LS, CC) where one is fixed to 0 by (17); here there is one, x[w,i,t], on the unit of instruction i. Its
auxiliary TL[w,i,t] ("warp w does not wait for instruction i in slot t") is a disjunction of two sums that exclude each other, hence
their sum, and needs no unknown:

    TL[w,i,t] = sum_{t' >= t} x[w,i-1,t'] + sum_{t' <= t} x[w,i,t'], the first sum absent for i = 1

(22) then says TL[w,i,t] = 1 or the unit is full in t: TL[w,i,t] + E[t] >= 1, the upper half of (32); its lower half always holds.
"""

from collections.abc import Iterator

from sassan.ilp.model import Terms, combine
from sassan.makespan.program.build import Form, ModelBuilder, add_capacities, excuses


def fill(build: ModelBuilder, form: Form) -> Terms:
    """Add unknowns and rows; return the objective."""
    for warp in range(len(build.groups)):
        for index, unit in enumerate(build.units(warp)):
            letter = build.case.letters[unit].value
            for slot in range(build.horizon):
                build.runs[warp, index, slot] = build.unknown(f"x_{build.name(warp, index, slot)}_{letter}")
    for warp in range(len(build.groups)):
        _order(build, warp)
    add_capacities(build)
    for warp in range(len(build.groups)):
        if form is Form.SHORT:
            _short(build, warp)
        else:
            _long(build, warp)
    return _objective(build)


def _order(build: ModelBuilder, warp: int) -> None:
    length = len(build.units(warp))
    for index in range(length):
        terms = ((build.runs[warp, index, slot], 1) for slot in range(build.horizon))
        build.row(f"once_{build.name(warp, index)}", terms, "=", 1, f"(17) sum_t x[{warp + 1},{index + 1},t] = 1")
    for index in range(length - 1):
        moments = (*build.moment(warp, index + 1), *build.moment(warp, index, -1))
        build.row(f"order_{build.name(warp, index)}", moments, ">=", 1, f"(18) Y[{warp + 1},{index + 1}] < Y[{warp + 1},{index + 2}]")
    for slot in range(build.horizon):
        terms = ((build.runs[warp, index, slot], 1) for index in range(length))
        build.row(f"one_{build.name(warp, slot=slot)}", terms, "<=", 1, f"(16) sum_i x[{warp + 1},i,{slot + 1}] <= 1")


def _not_waiting(build: ModelBuilder, warp: int, index: int, slot: int) -> Iterator[tuple[int, int]]:
    """Yield TL as a linear form."""
    if index:
        yield from ((build.runs[warp, index - 1, moment], 1) for moment in range(slot, build.horizon))
    yield from ((build.runs[warp, index, moment], 1) for moment in range(slot + 1))


def _short(build: ModelBuilder, warp: int) -> None:
    for index, unit in enumerate(build.units(warp)):
        for slot in range(build.horizon):
            math = f"(32),(35) TL[{warp + 1},{index + 1},{slot + 1}] + E[{slot + 1}] >= 1"
            terms = (*_not_waiting(build, warp, index, slot), *excuses(build, unit, slot))
            build.row(f"busy_{build.name(warp, index, slot)}", terms, ">=", 1, math)


def _long(build: ModelBuilder, warp: int) -> None:
    units = build.units(warp)
    for unit in sorted(set(units)):
        indices = [index for index, instruction_unit in enumerate(units) if instruction_unit == unit]
        letter = build.case.letters[unit].value
        for slot in range(build.horizon):
            math = f"(31),(34) sum_i TL[{warp + 1},i,{slot + 1}] + {len(indices)} E[{slot + 1}] >= {len(indices)}, i over {letter}"
            ready = (term for index in indices for term in _not_waiting(build, warp, index, slot))
            terms = (*ready, *excuses(build, unit, slot, len(indices)))
            build.row(f"busy_{build.name(warp, slot=slot)}_{letter}", terms, ">=", len(indices), math)


def _objective(build: ModelBuilder) -> Terms:
    """Return the slot in which the last warp ends, as objective; of the warps of one string the last is chosen (Section 5.1)."""
    last: dict[tuple[int, ...], int] = {build.units(warp): warp for warp in range(len(build.groups)) if build.units(warp)}
    for warp in range(len(build.groups)):
        named = last.get(build.units(warp), warp)
        if warp != named:
            terms = (*build.moment(warp, -1 + len(build.units(warp))), *build.moment(named, len(build.units(named)) - 1, -1))
            build.row(f"last_{build.name(warp)}", terms, "<=", 0, f"(5.1) Y[{warp + 1},I] <= Y[{named + 1},I]")
    if not last:
        return ()
    if len(last) == 1:
        (only,) = last.values()
        return combine(build.moment(only, len(build.units(only)) - 1))
    return _latest(build, tuple(last.values()))


def _latest(build: ModelBuilder, named: tuple[int, ...]) -> Terms:
    """Return an unknown below the end of one of these warps, which the solver chooses: the largest of their ends."""
    end = build.unknown("makespan", "the last slot of the chosen warp")
    chosen = [(build.unknown(f"chosen_{build.name(warp)}", f"1: warp {warp + 1} ends last"), warp) for warp in named]
    build.row("chosen", ((unknown, 1) for unknown, _ in chosen), "=", 1, "one of them ends last")
    for unknown, warp in chosen:
        terms = ((end, 1), (unknown, build.horizon), *build.moment(warp, len(build.units(warp)) - 1, -1))
        build.row(f"latest_{build.name(warp)}", terms, "<=", build.horizon, f"makespan <= Y[{warp + 1},I] + T (1 - chosen)")
    return ((end, 1),)
