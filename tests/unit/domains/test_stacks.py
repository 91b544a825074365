"""Stacks as graphs: points are 1, 2, ...; bit 0 of a mask is the end of the stack."""

from sassan.domains.stack import BOT, Stack, StackDomain

D = StackDomain()
ONE, TWO, THREE = 1 << 1, 1 << 2, 1 << 3
TWO_ON_ONE = Stack(TWO, {1: BOT, 2: ONE})
THREE_TWO_ONE = Stack(THREE, {1: BOT, 2: ONE, 3: TWO})


def test_pushes_pile_up():
    assert D.push(D.push(D.empty, 1), 2) == TWO_ON_ONE


def test_a_point_pushed_on_itself_makes_a_cycle():
    twice = D.push(D.push(D.empty, 1), 1)
    assert twice == Stack(ONE, {1: BOT | ONE})
    assert D.cyclic(twice) == ONE


def test_a_point_on_another_is_no_cycle():
    assert D.cyclic(TWO_ON_ONE) == 0


def test_pop_leaves_what_lies_under_the_point():
    assert D.pop(TWO_ON_ONE, 2) == Stack(ONE, {1: BOT})
    assert D.pop(Stack(ONE, {1: BOT}), 1) == D.empty


def test_a_popped_cycle_may_still_hold_the_point():
    assert D.pop(Stack(ONE, {1: BOT | ONE}), 1) == Stack(BOT | ONE, {1: BOT | ONE})


def test_join_holds_the_stacks_of_both():
    assert D.join(Stack(ONE, {1: BOT}), TWO_ON_ONE) == Stack(ONE | TWO, {1: BOT, 2: ONE})


def test_join_mixes_tops_and_bottoms():
    other = Stack(THREE, {2: BOT, 3: TWO})
    assert D.join(TWO_ON_ONE, other) == Stack(TWO | THREE, {1: BOT, 2: BOT | ONE, 3: TWO})


def test_explain_names_the_first_edge_that_is_missing():
    assert D.explain(TWO_ON_ONE, Stack(ONE, {1: BOT})) == "point 2 on top"
    assert D.explain(TWO_ON_ONE, Stack(TWO, {2: BOT})) == "point 0 under 1"
    assert D.explain(TWO_ON_ONE, TWO_ON_ONE) == ""


def test_nearest_passes_over_other_points():
    assert D.nearest(THREE_TWO_ONE, ONE) == ONE
    assert D.nearest(THREE_TWO_ONE, ONE | TWO) == TWO
    assert D.nearest(D.empty, ONE) == 0


def test_threads_that_leave_to_a_token_drop_what_must_vanish_above_it():
    found = D.filter(THREE_TWO_ONE, ONE, 0, TWO | THREE, {})
    assert (found.stack, found.unmatched) == (Stack(ONE, {1: BOT}), False)


def test_threads_that_leave_to_a_token_keep_what_cannot_vanish():
    assert D.filter(THREE_TWO_ONE, ONE, TWO | THREE, 0, {}).stack == THREE_TWO_ONE


def test_what_may_vanish_is_there_or_not():
    assert D.filter(TWO_ON_ONE, ONE, 0, 0, {}).stack == Stack(ONE | TWO, {1: BOT, 2: ONE})


def test_what_a_staying_entry_is_inside_of_cannot_vanish_under_it():
    found = D.filter(THREE_TWO_ONE, ONE, THREE, 0, {3: TWO})
    assert found.stack == THREE_TWO_ONE


def test_exit_empties_a_stack_that_holds_only_its_threads():
    assert D.filter(TWO_ON_ONE, 0, 0, ONE | TWO, {}).stack == D.empty


def test_exit_may_leave_any_part_of_the_stack():
    assert D.filter(TWO_ON_ONE, 0, 0, 0, {}).stack == Stack(BOT | ONE | TWO, {1: BOT, 2: BOT | ONE})


def test_a_stack_without_the_token_is_told():
    found = D.filter(Stack(ONE | TWO, {1: BOT, 2: BOT}), TWO, 0, 0, {})
    assert found.unmatched
    assert D.nearest(found.stack, TWO) == TWO


def test_an_entry_under_the_token_stays_even_if_one_of_its_kind_vanishes_above():
    both = Stack(TWO, {1: TWO, 2: BOT | ONE})
    assert D.filter(both, ONE, 0, TWO, {}).stack == Stack(ONE, {1: TWO, 2: BOT | ONE})


def test_saturation_allows_every_order_and_height():
    assert D.saturate(TWO_ON_ONE) == Stack(BOT | ONE | TWO, {1: BOT | ONE | TWO, 2: BOT | ONE | TWO})
