"""Hypothesis strategies and the concrete machine against which the domain laws are checked.

A concrete warp state is what the domains abstract: active lanes, a stack of (point, lanes), and register values per lane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from sassan.domains.bits import bits
from sassan.domains.groups import ACTIVE
from sassan.domains.lanes import LANES as WARP
from sassan.domains.lanes import LAST, UNKNOWN, LaneDomain, LaneState, LaneWord, word
from sassan.domains.pending import NO_COVER, Pending, PendingAccess, PendingKind, PendingResult
from sassan.domains.ranges import SIZE, Range, span
from sassan.domains.residuals import Residual
from sassan.domains.stack import BOT
from sassan.domains.thread_values import LOST, MAYBE, NO, WRITTEN, YES, Barrier, FramePointer, ThreadValues
from sassan.domains.warp import Warp, WarpDomain

LANES = 4
TOKENS = (1, 2)
SIDES = (3, 4)
TAG = sum(1 << point for point in TOKENS)
REGISTERS = 3


@dataclass(frozen=True)
class Concrete:
    """One concrete state; `values[r][lane]` are register contents, `stack[-1]` is the top."""

    active: frozenset[int]
    stack: tuple[tuple[int, frozenset[int]], ...]
    values: tuple[tuple[int, ...], ...]

    def agreed(self, lanes: frozenset[int]) -> int:
        """Return the registers with the same value in these lanes."""
        return sum(1 << r for r in range(REGISTERS) if len({self.values[r][lane] for lane in lanes}) <= 1)


def described(warp: Warp, state: Concrete) -> str:
    """Return '' if the abstract state includes the concrete one, else the excluded part."""
    return _stack_described(warp, state) or _groups_described(warp, state) or _agreement_described(warp, state)


def _stack_described(warp: Warp, state: Concrete) -> str:
    under = 0
    for point, _ in state.stack:
        if not (warp.stack.below.get(point, 0) >> under & 1):
            return f"{under} under {point}"
        under = point
    return "" if warp.stack.top >> under & 1 else f"{under} on top"


def _groups_described(warp: Warp, state: Concrete) -> str:
    sets = {ACTIVE: state.active}
    for point, lanes in state.stack:
        sets[point] = sets.get(point, frozenset()) | lanes
    for name, lanes in sets.items():
        for other in bits(warp.groups.inside[name]):
            if not lanes <= sets.get(other, frozenset()):
                return f"{name} inside {other}"
        for other in bits(warp.groups.apart[name]):
            if lanes & sets.get(other, frozenset()):
                return f"{name} apart from {other}"
    return ""


def _agreement_described(warp: Warp, state: Concrete) -> str:
    for point, lanes in ((ACTIVE, state.active), *state.stack):
        if lost := warp.agreement.on[point] & ~state.agreed(lanes):
            return f"{point} agrees on {lost:b}"
    return ""


def successors(domain: WarpDomain, warp: Warp, state: Concrete, move: tuple[str, int, int]) -> tuple[Warp, Concrete] | None:
    """Return both states after one machine step, None when the machine ends or the step does not apply.

    A step is (what, point, tag set or register, lanes as bits). The abstract side is the outcome that belongs to the concrete one.
    """
    kind, name, chosen = move
    lanes = frozenset(lane for lane in range(LANES) if chosen >> lane & 1) & state.active
    match kind:
        case "push":
            return domain.push(warp, name), replace(state, stack=(*state.stack, (name, state.active)))
        case "diverge" if lanes and lanes != state.active:
            side = (name, state.active - lanes)
            return domain.diverge(warp, name, 0), replace(state, active=lanes, stack=(*state.stack, side))
        case "write":
            return _write(domain, warp, state, name, chosen)
        case "leave" | "exit":
            return _leave(domain, warp, state, name if kind == "leave" else 0, lanes or state.active)
        case _:
            return None


def _write(domain: WarpDomain, warp: Warp, state: Concrete, name: int, chosen: int) -> tuple[Warp, Concrete]:
    """Copy register `chosen` to `name` in all active lanes, or write the lane id when `chosen` names no register."""
    copied = chosen if chosen < REGISTERS else None
    values = [list(row) for row in state.values]
    for lane in state.active:
        values[name][lane] = lane if copied is None else state.values[copied][lane]
    bit = 1 << name

    def transform(agreed: int) -> int:
        return agreed | bit if copied is not None and agreed >> copied & 1 else agreed & ~bit

    return domain.execute(warp, transform, bit), replace(state, values=tuple(map(tuple, values)))


def _leave(domain: WarpDomain, warp: Warp, state: Concrete, tag: int, lanes: frozenset[int]) -> tuple[Warp, Concrete] | None:
    stack = list(state.stack)
    for place in range(len(stack) - 1, -1, -1):
        if tag >> stack[place][0] & 1:
            break
        stack[place] = (stack[place][0], stack[place][1] - lanes)
    else:
        if tag:
            return None
    left = tuple(entry for entry in stack if entry[1])
    if lanes != state.active:
        stay, _ = domain.leave_some(warp, tag, 0)
        assert stay is not None
        return stay, replace(state, active=state.active - lanes, stack=left)
    point, active = left[-1] if left else (None, frozenset[int]())
    outcomes, _ = domain.leave(warp, tag)
    result = [outcome.warp for outcome in outcomes if outcome.point == point]
    assert result, f"nothing resumes {point}"
    return (result[0], Concrete(active, left[:-1], state.values)) if left else None


moves = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.sampled_from(TOKENS), st.just(0)),
        st.tuples(st.just("diverge"), st.sampled_from(SIDES), st.integers(1, 2**LANES - 1)),
        st.tuples(st.just("write"), st.integers(0, REGISTERS - 1), st.integers(0, REGISTERS)),
        st.tuples(st.just("leave"), st.sampled_from([TAG, *(1 << token for token in TOKENS)]), st.integers(0, 2**LANES - 1)),
        st.tuples(st.just("exit"), st.just(0), st.integers(0, 2**LANES - 1)),
    ),
    max_size=14,
)
"""A run of the machine: inapplicable steps are skipped."""

values = st.tuples(*[st.tuples(*[st.integers(0, 1)] * LANES)] * REGISTERS)


def start(register_values: tuple[tuple[int, ...], ...], domain: WarpDomain) -> tuple[Warp, Concrete]:
    """Return the abstract and the concrete initial warp, with all lanes active."""
    state = Concrete(frozenset(range(LANES)), (), register_values)
    return domain.start(state.agreed(state.active)), state


def run(domain: WarpDomain, warp: Warp, state: Concrete, steps: list[tuple[str, int, int]]) -> list[tuple[Warp, Concrete]]:
    """Return every pair of states along a run, the first included."""
    out = [(warp, state)]
    for move in steps:
        after = successors(domain, warp, state, move)
        if after is None:
            continue
        warp, state = after
        out.append(after)
    return out


@st.composite
def reached(draw: st.DrawFn) -> Warp:
    """Draw a state that the machine can reach, joined with up to two others."""
    domain = WarpDomain()
    warp = run(domain, *start(draw(values), domain), draw(moves))[-1][0]
    for _ in range(draw(st.integers(0, 2))):
        warp = domain.join(warp, run(domain, *start(draw(values), domain), draw(moves))[-1][0])
    return warp


def stack_is_normal(warp: Warp) -> bool:
    """Return whether only reachable points are kept, and all parts of the product have the same names."""
    points = warp.stack.points
    seen, todo = 0, warp.stack.top
    while todo := todo & ~seen:
        seen |= todo
        for point in bits(todo & ~BOT):
            todo |= warp.stack.below[point]
    names = {ACTIVE, *bits(points)}
    return seen & ~BOT == points and set(warp.groups.inside) == names == set(warp.groups.apart) == set(warp.agreement.on)


_register_values = st.frozensets(st.sampled_from([0x30, 0x60, FramePointer(0), FramePointer(8)]), min_size=1)
_registers = st.dictionaries(st.integers(0, 3), _register_values, max_size=4)
_places = st.builds(FramePointer, st.integers(0, 3), st.sampled_from([(), ((4, 15),)]))
_slots = st.dictionaries(_places, _register_values, max_size=4)
_barriers = st.dictionaries(
    st.integers(0, 2),
    st.builds(Barrier, st.sampled_from([YES, MAYBE]), st.sampled_from([(), (NO,), (YES,)]))
    | st.sampled_from([Barrier(WRITTEN), Barrier(LOST)]),
    max_size=3,
)
thread_values = st.builds(ThreadValues, _registers, _slots, _barriers)

_condition = st.sampled_from([None, "P0", "!P0"])
_results = st.builds(PendingResult, st.integers(0, 7), st.integers(0, 3), _condition)
_covers = st.tuples(st.integers(NO_COVER, 2), st.integers(NO_COVER, 2))
_accesses = st.builds(PendingAccess, st.integers(0, 7), st.integers(0, 3), _covers, _condition)
pending = st.builds(
    Pending,
    st.dictionaries(st.tuples(st.integers(0, 1), st.integers(0, 1)), _results, max_size=3),
    st.dictionaries(st.tuples(st.integers(0, 1), st.sampled_from(PendingKind)), _accesses, max_size=3),
)

_cycles = st.integers(0, 3)
residuals = st.builds(
    Residual, st.tuples(_cycles, _cycles), st.dictionaries(st.sampled_from(["fma", "lsu"]), st.integers(1, 3), max_size=2), _cycles
)


@st.composite
def _short_range(draw: st.DrawFn) -> Range:
    step = draw(st.sampled_from([1, 2, 3, 4, SIZE >> 2, SIZE >> 1, SIZE - 6]))
    low, count = draw(st.integers(-6, 6)), draw(st.integers(0, 1 if step > SIZE >> 1 else 12))
    return span(low, low + count * step, step)


short_ranges = _short_range()
"""Few words around 0, some spelled the long distance around the circle."""
_words = st.integers(0, SIZE - 1)
ranges = short_ranges | st.builds(span, _words, st.integers(SIZE, 2 * SIZE), st.sampled_from([1, 2, 3, 4, 5, 257, SIZE >> 3]))


_patterns = st.sampled_from([tuple(range(WARP)), tuple(lane >> 4 for lane in range(WARP)), tuple(LAST - 4 * lane for lane in range(WARP))])
_lanes = st.none() | _patterns | st.lists(st.integers(0, 3), min_size=WARP, max_size=WARP).map(tuple)
moduli = st.sampled_from([1, 2, 8, 32, 96, 1 << 31, SIZE, 0])
_bounds = st.just((0, LAST)) | st.lists(st.integers(0, 5) | st.sampled_from([31, LAST - 1, LAST]), min_size=2, max_size=2).map(sorted)


@st.composite
def _lane_word(draw: st.DrawFn) -> LaneWord:
    low, high = draw(_bounds)
    return word(
        draw(st.sampled_from([0, 1, 5, 32, LAST])), draw(moduli), draw(_lanes), (low, high), draw(st.sampled_from(["", "", "p", "q"]))
    )


lane_words = _lane_word()
"""Words in normal form; those that are known, too."""
_lane_registers = st.dictionaries(st.integers(0, 2), lane_words.filter(lambda value: value != UNKNOWN), max_size=3)
lane_states = st.builds(LaneState, _lane_registers) | st.just(LaneDomain.bottom)
