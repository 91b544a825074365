"""Convergence barriers on the concrete warp of `strategies`: BREAK, BSYNC with members, WARPSYNC, and the abstract outcome of each.

The rules are those of docs/concepts/warp-machine.md, and are written without a look at how the domain carries them out.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from sassan.domains.groups import ACTIVE
from sassan.domains.warp import Warp, WarpDomain
from tests.strategies import LANES, SIDES, TAG, TOKENS, Concrete, start, successors, values

WHOLE = 5
DONE = {6: 8, 7: 9}
"""The points of WARPSYNCs, and where their threads wait after it has opened while others run first."""
MEETING = sum(1 << point for point in DONE)
WAITING = sum(1 << point for point in (*SIDES, *DONE.values()))
Move = tuple[str, int, int]
Stacked = tuple[tuple[int, frozenset[int]], ...]

_TAGS = st.sampled_from([TAG, *(1 << token for token in TOKENS)])
_LANES = st.integers(0, 2**LANES - 1)
barrier_moves = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.sampled_from(TOKENS), st.just(0)),
        st.tuples(st.just("diverge"), st.sampled_from(SIDES), st.integers(1, 2**LANES - 1)),
        st.tuples(st.just("diverge"), st.sampled_from(SIDES), st.integers(1, 2**LANES - 1)),
        st.tuples(st.just("write"), st.integers(0, 2), st.integers(0, 3)),
        st.tuples(st.just("break"), _TAGS, _LANES),
        st.tuples(st.just("late"), st.sampled_from([side | after for side in SIDES for after in (0, 8)]), _LANES),
        st.tuples(st.just("sync"), _TAGS, _LANES),
        st.tuples(st.just("meet"), st.sampled_from(sorted(DONE)), st.integers(0, 5)),
        st.tuples(st.just("exit"), st.just(0), _LANES),
    ),
    max_size=18,
)


def start_volta(register_values: tuple[tuple[int, ...], ...], domain: WarpDomain) -> tuple[Warp, Concrete]:
    """Return an initial warp, with an entry of all its threads at the bottom of the stack."""
    warp, state = start(register_values, domain)
    return domain.push(warp, WHOLE), replace(state, stack=((WHOLE, state.active),))


def nearest(state: Concrete, tag: int) -> int | None:
    """Return the position of the nearest entry of the set `tag`, counted from the bottom."""
    return next((place for place in range(len(state.stack) - 1, -1, -1) if tag >> state.stack[place][0] & 1), None)


def step(domain: WarpDomain, warp: Warp, state: Concrete, move: Move) -> tuple[Warp, Concrete] | None:
    """Return both states after one machine step, None when the machine ends or the step does not apply."""
    kind, name, chosen = move
    lanes = frozenset(lane for lane in range(LANES) if chosen >> lane & 1) & state.active
    match kind:
        case "break":
            return _break(domain, warp, state, name, lanes)
        case "late":
            return _late(domain, warp, state, name, lanes)
        case "sync":
            return _sync(domain, warp, state, name, lanes)
        case "meet":
            return _meet(domain, warp, state, name, chosen)
        case "exit":
            return _exit(domain, warp, state, lanes)
        case _:
            return successors(domain, warp, state, move)


def _without(stack: Stacked, place: int, lanes: frozenset[int]) -> Stacked:
    """Return the stack after lanes left the entry at a position; an empty entry is removed."""
    point, mask = stack[place]
    left = ((point, mask - lanes),) if mask - lanes else ()
    return (*stack[:place], *left, *stack[place + 1 :])


def _break(domain: WarpDomain, warp: Warp, state: Concrete, tag: int, lanes: frozenset[int]) -> tuple[Warp, Concrete]:
    """No lanes chosen: all active threads leave, surely; else those lanes."""
    place = nearest(state, tag)
    stack = state.stack if place is None else _without(state.stack, place, lanes or state.active)
    return domain.withdraw(warp, tag, ACTIVE, sure=not lanes), replace(state, stack=stack)


def _late(domain: WarpDomain, warp: Warp, state: Concrete, name: int, lanes: frozenset[int]) -> tuple[Warp, Concrete] | None:
    """The active threads diverge, and those of one side leave the nearest token: the running or the waiting side."""
    side, waiting = name & 7, bool(name & 8)
    after = successors(domain, warp, state, ("diverge", side, sum(1 << lane for lane in lanes)))
    if after is None:
        return None
    place = nearest(after[1], TAG)
    who = after[1].stack[-1][1] if waiting else after[1].active
    stack = after[1].stack if place is None else _without(after[1].stack, place, who)
    sure = not waiting or domain.outside(warp, side, TAG)
    return domain.withdraw(after[0], TAG, side if waiting else ACTIVE, sure=sure), replace(after[1], stack=stack)


def _sync(domain: WarpDomain, warp: Warp, state: Concrete, tag: int, lanes: frozenset[int]) -> tuple[Warp, Concrete] | None:
    """BSYNC under a guard that holds for `lanes` (none chosen: for all): members of the nearest token leave to it."""
    members, place = domain.members(warp, tag), nearest(state, tag)
    guarded = bool(lanes)
    mask = frozenset[int]() if place is None else state.stack[place][1]
    leaving = (lanes or state.active) & mask
    if not leaving:
        assert guarded or members.none
        return (warp if guarded else domain.narrow(warp, tag, members, inside=False)), state
    assert place is not None
    above = tuple((point, entry - leaving) for point, entry in state.stack[place + 1 :])
    stack = (*state.stack[: place + 1], *(entry for entry in above if entry[1]))
    if leaving != state.active:
        assert members.some or (guarded and members.all)
        stay, _ = domain.leave_some(domain.holding(warp, tag), tag, 0)
        assert stay is not None
        after = stay if guarded else domain.narrow(stay, tag, members, inside=False)
        return after, replace(state, active=state.active - leaving, stack=stack)
    assert members.all
    outcomes, _ = domain.leave(domain.narrow(warp, tag, members, inside=True), tag)
    return _resumed(domain, {outcome.point: outcome.warp for outcome in outcomes}, state, stack)


def _exit(domain: WarpDomain, warp: Warp, state: Concrete, lanes: frozenset[int]) -> tuple[Warp, Concrete] | None:
    """No lanes chosen: all active threads end; else those lanes."""
    left = tuple((point, mask - (lanes or state.active)) for point, mask in state.stack)
    stack = tuple(entry for entry in left if entry[1])
    if lanes and lanes != state.active:
        stay, _ = domain.leave_some(warp, 0, 0)
        assert stay is not None
        return stay, replace(state, active=state.active - lanes, stack=stack)
    return _resumed(domain, {outcome.point: outcome.warp for outcome in domain.leave(warp, 0)[0]}, state, stack)


def _meet(domain: WarpDomain, warp: Warp, state: Concrete, point: int, chosen: int) -> tuple[Warp, Concrete] | None:
    """WARPSYNC: wait below all sides, joined with the threads waiting there above the nearest token.

    `chosen` orders the sides that are lifted, and those who wait at WARPSYNCs.
    """
    at_once, resumed = domain.gather(warp, point, WHOLE, sides=WAITING, others=MEETING)
    height = len(state.stack)
    while WAITING >> state.stack[height - 1][0] & 1:
        height -= 1
    run, rest = state.stack[height:], state.stack[:height]
    token = height
    while MEETING >> rest[token - 1][0] & 1:
        token -= 1
    meeting = dict(rest[token:])
    lifted = tuple(entry for entry in rest if WAITING >> entry[0] & 1)
    if not run and not lifted and point not in meeting:
        assert at_once is not None
        return _opened(domain, at_once, state)
    meeting[point] = meeting.get(point, frozenset()) | state.active
    under = tuple(entry for entry in rest[:token] if not WAITING >> entry[0] & 1)
    stack = (*under, *_turned(tuple(meeting.items()), chosen), *(_turned((*run, *lifted), chosen) if lifted else run))
    return _resumed(domain, {outcome.point: outcome.warp for outcome in resumed}, state, stack)


def _turned(entries: Stacked, by: int) -> Stacked:
    place = by % len(entries)
    return (*entries[place:], *entries[:place])


def _resumed(domain: WarpDomain, warps: dict[int | None, Warp], state: Concrete, stack: Stacked) -> tuple[Warp, Concrete] | None:
    if not stack or stack[-1][0] == WHOLE:
        assert not stack
        return None
    point, active = stack[-1]
    assert point in warps, f"nothing resumes {point}"
    after = Concrete(active, stack[:-1], state.values)
    return _opened(domain, warps[point], after) if point in DONE else (warps[point], after)


def _opened(domain: WarpDomain, warp: Warp, state: Concrete) -> tuple[Warp, Concrete]:
    """A WARPSYNC opens: all threads have arrived, and the sets of threads waiting at it are no longer joined."""
    return domain.rename(warp, DONE), replace(state, stack=tuple((DONE.get(point, point), mask) for point, mask in state.stack))


def run_volta(domain: WarpDomain, warp: Warp, state: Concrete, steps: list[Move]) -> list[tuple[Warp, Concrete]]:
    """Return every pair of states along a run, the first included."""
    out = [(warp, state)]
    for move in steps:
        after = step(domain, warp, state, move)
        if after is not None:
            warp, state = after
            out.append(after)
    return out


@st.composite
def reached_volta(draw: st.DrawFn) -> Warp:
    """Draw a state that the machine with barriers can reach, joined with up to two others."""
    domain = WarpDomain()
    warp = run_volta(domain, *start_volta(draw(values), domain), draw(barrier_moves))[-1][0]
    for _ in range(draw(st.integers(0, 2))):
        warp = domain.join(warp, run_volta(domain, *start_volta(draw(values), domain), draw(barrier_moves))[-1][0])
    return warp
