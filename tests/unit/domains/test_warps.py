"""The product of stack, groups and agreement: registers are bits 0, 1, 2, ..."""

import pytest

from sassan.domains.agreement import Agreement, AgreementDomain
from sassan.domains.groups import ACTIVE
from sassan.domains.stack import BOT, Stack
from sassan.domains.warp import Warp, WarpDomain

D = WarpDomain()
TOKEN, SIDE = 1, 2
A, B, C = 1, 2, 4


def split(domain: WarpDomain = D) -> Warp:
    """Return a warp that agrees on A and B, with a token for all and one side waiting."""
    return domain.diverge(domain.push(domain.start(A | B), TOKEN), SIDE, 0)


def resumed(domain: WarpDomain, warp: Warp, tag: int) -> dict[int | None, Warp]:
    return {outcome.point: outcome.warp for outcome in domain.leave(warp, tag)[0]}


def test_agreement_is_inherited_by_every_point():
    assert split().agreement.on == {ACTIVE: A | B, TOKEN: A | B, SIDE: A | B}


def test_a_strong_update_of_the_active_a_weak_one_below_and_none_apart():
    after = D.execute(split(), lambda _: A | C, B | C)
    assert after.agreement.on == {ACTIVE: A | C, TOKEN: A, SIDE: A | B}


def test_a_group_inside_the_active_one_runs_along():
    after = D.execute(D.push(D.start(A), TOKEN), lambda agreed: agreed | B, B)
    assert after.agreement.on == {ACTIVE: A | B, TOKEN: A | B}


def test_the_waiting_side_learns_what_it_is_told_and_the_running_one_does_not():
    warp = D.diverge(D.start(A), SIDE, C)
    assert warp.agreement.on == {ACTIVE: A, SIDE: A | C}


def test_leaving_to_the_token_resumes_the_side_first():
    after = resumed(D, split(), 1 << TOKEN)
    assert list(after) == [SIDE]
    assert after[SIDE].stack == Stack(1 << TOKEN, {TOKEN: BOT})


def test_the_side_that_leaves_last_resumes_the_token():
    side = resumed(D, split(), 1 << TOKEN)[SIDE]
    after = resumed(D, side, 1 << TOKEN)
    assert list(after) == [TOKEN]
    assert after[TOKEN] == D.start(A | B)


def test_an_exit_of_all_ends_the_warp():
    assert list(resumed(D, D.push(D.start(0), TOKEN), 0)) == [None]


def test_an_exit_of_one_side_resumes_the_other_and_keeps_the_token():
    after = resumed(D, split(), 0)
    assert list(after) == [SIDE]
    assert list(after[SIDE].stack.below) == [TOKEN]


def test_threads_that_stay_learn():
    stay, unmatched = D.leave_some(D.push(D.start(A), TOKEN), 1 << TOKEN, C)
    assert stay is not None
    assert (stay.active, unmatched) == (A | C, False)
    assert list(stay.stack.below) == [TOKEN]


def test_a_missing_token_is_told():
    outcomes, unmatched = D.leave(D.start(0), 1 << TOKEN)
    assert (list(outcomes), unmatched) == ([], True)
    assert D.leave_some(D.start(0), 1 << TOKEN, 0) == (None, True)


def test_without_group_facts_the_token_may_vanish_under_the_side():
    domain = WarpDomain(frozenset({"no-groups"}))
    assert list(resumed(domain, split(domain), 0)) == [TOKEN, SIDE, None]


def test_without_agreement_nothing_is_agreed():
    domain = WarpDomain(frozenset({"no-agreement"}))
    assert domain.execute(split(domain), lambda _: A, A).agreement.on == {ACTIVE: 0, TOKEN: 0, SIDE: 0}
    assert domain.learn(domain.start(A), B).active == 0


def test_active_only_forgets_what_the_waiting_agree_on():
    domain = WarpDomain(frozenset({"active-only"}))
    assert split(domain).agreement.on == {ACTIVE: A | B, TOKEN: 0, SIDE: 0}


def test_an_acyclic_stack_answers_a_cycle_with_every_stack():
    domain = WarpDomain(frozenset({"acyclic-stack"}))
    twice = domain.push(domain.push(domain.start(0), TOKEN), TOKEN)
    assert twice.stack == Stack(BOT | 1 << TOKEN, {TOKEN: BOT | 1 << TOKEN})


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        (D.start(A), D.start(A | B), "group 0 on register bit 1"),
        (D.push(D.start(A), TOKEN), D.start(A), "point 1 on top"),
        (D.start(A | B), D.start(A), ""),
    ],
)
def test_explain_asks_stack_groups_and_agreement_in_turn(left: Warp, right: Warp, why: str):
    assert D.explain(left, right) == why
    assert D.leq(left, right) is (why == "")


def test_an_agreement_of_a_group_that_is_absent_is_no_loss():
    domain = AgreementDomain()
    assert domain.join(Agreement({0: A | B}), Agreement({0: A, 1: C})) == Agreement({0: A, 1: C})
    assert domain.explain(Agreement({1: A}), Agreement({0: A})) == "group 1 is empty on the right"
