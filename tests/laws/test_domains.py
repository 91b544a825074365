"""The laws that `analysis.lattice` promises, and the soundness of every machine step against a concrete warp of four lanes."""

import pkgutil
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sassan.domains
from budget import part
from sassan.analysis.lattice import Widening
from sassan.domains.agreement import AgreementDomain
from sassan.domains.groups import GroupDomain
from sassan.domains.lanes import LaneDomain
from sassan.domains.live import LiveDomain
from sassan.domains.pending import PendingDomain
from sassan.domains.ranges import RangeDomain
from sassan.domains.residuals import ResidualDomain
from sassan.domains.stack import StackDomain
from sassan.domains.thread_values import ThreadValueDomain
from sassan.domains.warp import Warp, WarpDomain
from tests.strategies import (
    SIDES,
    TAG,
    TOKENS,
    described,
    lane_states,
    moves,
    pending,
    ranges,
    reached,
    residuals,
    run,
    stack_is_normal,
    start,
    thread_values,
    values,
)

LATTICES = {
    "agreement": (AgreementDomain(), reached().map(lambda warp: warp.agreement)),
    "groups": (GroupDomain(), reached().map(lambda warp: warp.groups)),
    "lanes": (LaneDomain(), lane_states),
    "live": (LiveDomain(), st.integers(0, 2**12 - 1)),
    "pending": (PendingDomain(), pending),
    "residuals": (ResidualDomain(2), residuals),
    "stack": (StackDomain(), reached().map(lambda warp: warp.stack)),
    "thread_values": (ThreadValueDomain(), thread_values),
    "warp": (WarpDomain(), reached()),
}
"""Every domain that keeps the laws of a lattice, and a strategy for its values: a new domain joins the laws by one line."""
PREORDERED = {
    "ranges": (RangeDomain(), ranges),
}
"""Every domain whose joins are upper bounds, not always the least."""
DOMAINS = {**LATTICES, **PREORDERED}
every_domain = pytest.mark.parametrize(("domain", "elements"), DOMAINS.values(), ids=DOMAINS)
every_lattice = pytest.mark.parametrize(("domain", "elements"), LATTICES.values(), ids=LATTICES)
CHAIN = 100
"""No chain of widenings is longer."""
EXAMPLES = part(200, of=16)


def test_every_domain_is_listed():
    modules = [import_module(f"sassan.domains.{module.name}") for module in pkgutil.iter_modules(sassan.domains.__path__)]
    defined = {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and hasattr(kind, "leq") and hasattr(kind, "join")
    }
    assert defined == {type(domain) for domain, _ in DOMAINS.values()}


@every_domain
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_leq_is_a_preorder_and_bottom_is_least_and_neutral(domain, elements, data):
    a, b, c = (data.draw(elements) for _ in range(3))
    assert domain.leq(a, a)
    assert domain.leq(domain.bottom, a)
    assert domain.join(domain.bottom, a) == domain.join(a, domain.bottom) == a
    if domain.leq(a, b) and domain.leq(b, c):
        assert domain.leq(a, c)
    assert domain.leq(a, domain.join(domain.join(a, b), c))


@every_domain
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_join_is_commutative_idempotent_and_above_both(domain, elements, data):
    a, b = data.draw(elements), data.draw(elements)
    both = domain.join(a, b)
    assert both == domain.join(b, a)
    assert domain.join(a, a) == a
    assert domain.join(both, a) == both
    assert domain.leq(a, both)
    assert domain.leq(b, both)


@every_domain
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_explain_is_silent_exactly_below(domain, elements, data):
    a, b = data.draw(elements), data.draw(elements)
    for left, right in ((a, b), (a, domain.join(a, b)), (a, domain.bottom)):
        assert domain.leq(left, right) == (domain.explain(left, right) == "")


@every_lattice
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_leq_is_antisymmetric_and_means_that_join_adds_nothing(domain, elements, data):
    a, b = data.draw(elements), data.draw(elements)
    if domain.leq(a, b) and domain.leq(b, a):
        assert a == b
    for left, right in ((a, b), (a, domain.join(a, b)), (a, domain.bottom)):
        assert domain.leq(left, right) == (domain.join(left, right) == right)


@every_lattice
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_join_is_associative_and_least(domain, elements, data):
    a, b, c = (data.draw(elements) for _ in range(3))
    left = domain.join(domain.join(a, b), c)
    assert left == domain.join(a, domain.join(b, c))
    if domain.leq(a, c) and domain.leq(b, c):
        assert domain.leq(domain.join(a, b), c)


@every_domain
@given(data=st.data())
@settings(max_examples=part(100))
def test_widening_is_above_both_and_ends(domain, elements, data):
    if not isinstance(domain, Widening):
        return
    state, changes = data.draw(elements), 0
    for later in data.draw(st.lists(elements, min_size=CHAIN, max_size=CHAIN)):
        widened = domain.widen(state, later)
        assert domain.leq(state, widened)
        assert domain.leq(later, widened)
        changes += widened != state
        state = widened
    assert changes < CHAIN


@given(first=values, steps=moves)
@settings(max_examples=part(1500, of=16))
def test_every_step_describes_the_concrete_warp(first, steps):
    domain = WarpDomain()
    for warp, state in run(domain, *start(first, domain), steps):
        assert described(warp, state) == ""
        assert stack_is_normal(warp)


@pytest.mark.slow
@given(first=values, steps=moves, other=reached(), more=moves)
@settings(max_examples=part(1500, of=16))
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
@settings(max_examples=part(400, of=16))
def test_pushes_are_monotone(a: Warp, c: Warp, point: int):
    domain = WarpDomain()
    b = domain.join(a, c)
    assert domain.explain(domain.push(a, point), domain.push(b, point)) == ""
    assert domain.explain(domain.diverge(a, point, 1), domain.diverge(b, point, 1)) == ""


@given(a=reached(), c=reached(), tag=st.sampled_from([TAG, 0, 1 << TOKENS[0]]))
@settings(max_examples=part(1000, of=16))
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


@given(first=values, steps=moves, other=reached())
@settings(max_examples=part(400, of=16))
def test_a_remembered_step_is_the_step_computed_anew(first, steps, other: Warp):
    remembering, plain = WarpDomain(), WarpDomain(remember=False)
    for domain in (remembering, plain):
        domain.join(run(domain, *start(first, domain), steps)[-1][0], other)
    again, anew = (run(domain, *start(first, domain), steps) for domain in (remembering, plain))
    assert again == anew
    assert remembering.join(again[-1][0], other) == plain.join(anew[-1][0], other)
