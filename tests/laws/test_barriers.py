"""Convergence barriers: every step of the domain describes the concrete warp of `tests.barriers`, and is monotone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import part
from sassan.domains.groups import ACTIVE
from sassan.domains.warp import Warp, WarpDomain
from tests.barriers import DONE, MEETING, WAITING, WHOLE, barrier_moves, reached_volta, run_volta, start_volta
from tests.strategies import TAG, TOKENS, described, stack_is_normal, values

tags = st.sampled_from([TAG, *(1 << token for token in TOKENS)])


@given(first=values, steps=barrier_moves)
@settings(max_examples=part(1500, of=16))
def test_every_step_describes_the_concrete_warp(first, steps):
    domain = WarpDomain()
    for warp, state in run_volta(domain, *start_volta(first, domain), steps):
        assert described(warp, state) == ""
        assert stack_is_normal(warp)


@pytest.mark.slow
@given(first=values, steps=barrier_moves, other=reached_volta(), more=barrier_moves)
@settings(max_examples=part(1500, of=16))
def test_every_step_after_a_join_still_describes_the_concrete_warp(first, steps, other: Warp, more):
    domain = WarpDomain()
    warp, state = run_volta(domain, *start_volta(first, domain), steps)[-1]
    for joined, after in run_volta(domain, domain.join(warp, other), state, more):
        assert described(joined, after) == ""
        assert stack_is_normal(joined)


@pytest.mark.parametrize("ablated", ["acyclic-stack", "no-groups", "no-agreement", "active-only"])
@given(first=values, steps=barrier_moves, other=reached_volta(), more=barrier_moves)
@settings(max_examples=part(200))
def test_an_ablated_domain_is_still_sound(ablated, first, steps, other: Warp, more):
    domain = WarpDomain(frozenset({ablated}))
    warp, state = run_volta(domain, *start_volta(first, domain), steps)[-1]
    for joined, after in run_volta(domain, domain.join(warp, other), state, more):
        assert described(joined, after) == ""


@given(a=reached_volta(), c=reached_volta(), tag=tags, sure=st.booleans())
@settings(max_examples=part(500, of=16))
def test_withdrawing_is_monotone(a: Warp, c: Warp, tag: int, sure: bool):
    domain = WarpDomain()
    b = domain.join(a, c)
    assert domain.explain(domain.withdraw(a, tag, ACTIVE, sure=sure), domain.withdraw(b, tag, ACTIVE, sure=sure)) == ""


@given(a=reached_volta(), c=reached_volta(), tag=tags, inside=st.booleans())
@settings(max_examples=part(500, of=16))
def test_narrowing_to_members_is_monotone(a: Warp, c: Warp, tag: int, inside: bool):
    domain = WarpDomain()
    b = domain.join(a, c)
    small, big = domain.members(a, tag), domain.members(b, tag)
    assert small.all <= big.all
    assert small.none <= big.none
    assert small.some <= big.some
    if small.all if inside else small.none:
        assert domain.explain(domain.narrow(a, tag, small, inside=inside), domain.narrow(b, tag, big, inside=inside)) == ""


@given(a=reached_volta(), c=reached_volta(), point=st.sampled_from(sorted(DONE)))
@settings(max_examples=part(500, of=16))
def test_meeting_is_monotone(a: Warp, c: Warp, point: int):
    domain = WarpDomain()
    b = domain.join(a, c)
    small, small_resumed = domain.gather(a, point, WHOLE, sides=WAITING, others=MEETING)
    big, big_resumed = domain.gather(b, point, WHOLE, sides=WAITING, others=MEETING)
    if small is not None:
        assert big is not None
        assert domain.explain(small, big) == ""
    above = {outcome.point: outcome.warp for outcome in big_resumed}
    for outcome in small_resumed:
        assert domain.explain(outcome.warp, above[outcome.point]) == ""
