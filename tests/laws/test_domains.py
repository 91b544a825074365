"""The laws that `domains.lattice` promises, and the soundness of every machine step against a concrete warp of four lanes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import part
from sassan.domains.agreement import AgreementDomain
from sassan.domains.groups import GroupDomain
from sassan.domains.stack import StackDomain
from sassan.domains.warp import Warp, WarpDomain
from tests.strategies import SIDES, TAG, TOKENS, described, moves, reached, run, stack_is_normal, start, values

DOMAINS = {
    "stack": (StackDomain(), lambda warp: warp.stack),
    "groups": (GroupDomain(), lambda warp: warp.groups),
    "agreement": (AgreementDomain(), lambda warp: warp.agreement),
    "warp": (WarpDomain(), lambda warp: warp),
}
every_domain = pytest.mark.parametrize(("domain", "part"), DOMAINS.values(), ids=DOMAINS)


@every_domain
@given(a=reached())
def test_leq_is_reflexive_and_bottom_is_least(domain, part, a: Warp):
    assert domain.leq(part(a), part(a))
    assert domain.leq(domain.bottom, part(a))
    assert domain.join(domain.bottom, part(a)) == part(a)


@every_domain
@given(a=reached(), b=reached())
def test_join_is_commutative_idempotent_and_above_both(domain, part, a: Warp, b: Warp):
    both = domain.join(part(a), part(b))
    assert both == domain.join(part(b), part(a))
    assert domain.join(both, part(a)) == both
    assert domain.leq(part(a), both)
    assert domain.leq(part(b), both)


@every_domain
@given(a=reached(), b=reached(), c=reached())
def test_join_is_associative_and_least(domain, part, a: Warp, b: Warp, c: Warp):
    left = domain.join(domain.join(part(a), part(b)), part(c))
    assert left == domain.join(part(a), domain.join(part(b), part(c)))
    if domain.leq(part(a), part(c)) and domain.leq(part(b), part(c)):
        assert domain.leq(domain.join(part(a), part(b)), part(c))


@every_domain
@given(a=reached(), b=reached())
def test_leq_means_that_join_adds_nothing_and_explain_is_silent(domain, part, a: Warp, b: Warp):
    below = domain.leq(part(a), part(b))
    assert below == (domain.join(part(a), part(b)) == part(b))
    assert below == (domain.explain(part(a), part(b)) == "")


@given(first=values, steps=moves)
@settings(max_examples=part(1500))
def test_every_step_describes_the_concrete_warp(first, steps):
    domain = WarpDomain()
    for warp, state in run(domain, *start(first, domain), steps):
        assert described(warp, state) == ""
        assert stack_is_normal(warp)


@given(first=values, steps=moves, other=reached(), more=moves)
@settings(max_examples=part(1500))
def test_every_step_after_a_join_still_describes_the_concrete_warp(first, steps, other: Warp, more):
    domain = WarpDomain()
    warp, state = run(domain, *start(first, domain), steps)[-1]
    for joined, after in run(domain, domain.join(warp, other), state, more):
        assert described(joined, after) == ""
        assert stack_is_normal(joined)


@pytest.mark.parametrize("ablated", ["acyclic-stack", "no-groups", "no-agreement", "active-only"])
@given(first=values, steps=moves, other=reached(), more=moves)
@settings(max_examples=part(200))
def test_an_ablated_domain_is_still_sound(ablated, first, steps, other: Warp, more):
    domain = WarpDomain(frozenset({ablated}))
    warp, state = run(domain, *start(first, domain), steps)[-1]
    for joined, after in run(domain, domain.join(warp, other), state, more):
        assert described(joined, after) == ""


@given(a=reached(), c=reached(), point=st.sampled_from(TOKENS + SIDES))
@settings(max_examples=part(400))
def test_pushes_are_monotone(a: Warp, c: Warp, point: int):
    domain = WarpDomain()
    b = domain.join(a, c)
    assert domain.explain(domain.push(a, point), domain.push(b, point)) == ""
    assert domain.explain(domain.diverge(a, point, 1), domain.diverge(b, point, 1)) == ""


@given(a=reached(), c=reached(), tag=st.sampled_from([TAG, 0, 1 << TOKENS[0]]))
@settings(max_examples=part(1000))
def test_leaving_is_monotone(a: Warp, c: Warp, tag: int):
    domain = WarpDomain()
    b = domain.join(a, c)
    above = {outcome.point: outcome.warp for outcome in domain.leave(b, tag)[0]}
    for outcome in domain.leave(a, tag)[0]:
        assert domain.explain(outcome.warp, above[outcome.point]) == ""
    stay, over = domain.leave_some(a, tag, 1)[0], domain.leave_some(b, tag, 1)[0]
    if stay is not None:
        assert over is not None
        assert domain.explain(stay, over) == ""
