"""Facts about sets of threads, spelled `1<2` for inside and `1#2` for apart; `a` is the active set."""

from sassan.domains.bits import bits
from sassan.domains.groups import GroupDomain, Groups

D = GroupDomain()
ONE, TWO = 1 << 1, 1 << 2


def facts(groups: Groups) -> str:
    """Return every fact, in order."""
    names = {name: str(name or "a") for name in groups.inside}
    inside = [f"{names[one]}<{names[two]}" for one in sorted(names) for two in bits(groups.inside[one])]
    apart = [f"{names[one]}#{names[two]}" for one in sorted(names) for two in bits(groups.apart[one]) if one < two]
    return " ".join(inside + apart)


def token() -> Groups:
    return D.push_token(D.start, 1)


def side() -> Groups:
    return D.push_side(token(), 2)


def test_a_token_holds_exactly_the_active_threads():
    assert facts(token()) == "a<1 1<a"


def test_a_divergence_splits_the_token_into_two_sides_that_are_apart():
    assert facts(side()) == "a<1 2<1 a#2"


def test_a_token_under_a_side_is_inside_the_outer_token():
    assert facts(D.push_token(side(), 3)) == "a<1 a<3 2<1 3<a 3<1 a#2 2#3"


def test_a_second_push_at_one_point_unites_the_groups():
    assert facts(D.push_token(token(), 1)) == "a<1 1<a"
    assert facts(D.push_side(D.push_side(D.start, 1), 1)) == "a#1"


def test_a_second_side_at_one_point_stays_inside_what_holds_both():
    assert facts(D.push_side(side(), 2)) == "a<1 2<1 a#2"


def test_join_keeps_what_both_sides_know():
    assert facts(D.join(token(), D.push_token(D.push_side(D.start, 2), 1))) == "a<1 1<a a#2 1#2"


def test_an_absent_group_is_empty_so_that_nothing_is_inside_it():
    joined = D.join(token(), D.start)
    assert facts(joined) == "1<a"
    assert D.leq(token(), joined)
    assert D.leq(D.start, joined)


def test_join_with_a_state_without_the_side_keeps_the_side_apart():
    assert facts(D.join(token(), side())) == "a<1 2<1 a#2"


def test_explain_names_the_fact_that_is_lost():
    assert D.explain(side(), token()) == "1 inside 0"
    assert D.explain(D.push_side(D.start, 1), D.start) == "group 1 is empty on the right"
    assert D.explain(D.join(token(), D.start), token()) == "0 inside 1"
    assert D.explain(D.push_token(D.start, 1), D.push_side(D.start, 1)) == "0 apart from 1"


def test_those_who_stay_after_some_left_are_still_inside_the_token_below():
    assert facts(D.leave(token(), 0, ONE, some=True)) == "a<1"


def test_after_an_exit_of_some_the_token_is_what_stays():
    assert facts(D.leave(token(), ONE, 0, some=True)) == "a<1 1<a"


def test_a_side_that_waits_is_still_inside_its_token_when_the_others_exit():
    assert facts(D.leave(side(), ONE | TWO, 0, some=False)) == "a<1 2<1 a#2"


def test_a_resumed_side_takes_its_facts_along():
    assert facts(D.resume(side(), 2, ONE)) == "a<1"


def test_a_resumed_token_leaves_nothing():
    assert facts(D.resume(token(), 1, 0)) == ""


def test_a_point_that_may_remain_gives_an_upper_bound_only():
    cycle = D.push_side(D.push_side(D.push_token(D.start, 1), 2), 2)
    assert facts(D.resume(cycle, 2, ONE | TWO)) == "a<1 2<1"
