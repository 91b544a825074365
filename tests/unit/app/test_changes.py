"""What became of functions between two builds, on plain results."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sassan.app.builds.changes import ChangeState, FunctionChange, NumberChange, changes, counterparts
from sassan.app.builds.saved_results import Measure, SavedResult

BASE = SavedResult("k", "sm_80", "k.sass", "sha256:1", (10,) * len(Measure), "unit", "optimal", None, "L", (), (), ("a", "b"))
RESULTS = st.builds(
    lambda name, arch, text, wcet: replace(BASE, name=name, arch=arch, text=text, numbers=(wcet, *BASE.numbers[1:])),
    st.sampled_from("abc"),
    st.sampled_from(["sm_61", "sm_80"]),
    st.sampled_from(["sha256:1", "sha256:2", None]),
    st.one_of(st.none(), st.integers(0, 3)),
)
BUILDS = st.lists(RESULTS, max_size=6)


def states(*found: FunctionChange) -> list[tuple[str, ChangeState]]:
    return [(one.latest.name, one.state) for one in found]


@given(BUILDS)
def test_a_build_does_not_differ_from_itself(build: list[SavedResult]):
    assert {one.state for one in changes(build, build)} <= {ChangeState.SAME}


@given(BUILDS, BUILDS)
def test_every_function_is_told_once(old: list[SavedResult], new: list[SavedResult]):
    found = changes(old, new)
    assert sorted(id(one.old) for one in found if one.old) == sorted(map(id, old))
    assert [id(one.new) for one in found if one.new] == [id(one) for one in new]


@given(BUILDS, BUILDS)
def test_what_was_added_one_way_was_removed_the_other_way(old: list[SavedResult], new: list[SavedResult]):
    there, back = changes(old, new), changes(new, old)
    assert sorted(id(one.new) for one in there if one.state is ChangeState.ADDED) == sorted(
        id(one.old) for one in back if one.state is ChangeState.REMOVED
    )


@given(BUILDS, BUILDS)
def test_every_function_of_a_baseline_holds_one_of_its_name_or_none(old: list[SavedResult], new: list[SavedResult]):
    held, missing = counterparts(old, new)
    assert len(held) == len(new)
    assert all((was.name, was.arch) == (now.name, now.arch) for some, now in zip(held, new, strict=True) for was in some)
    assert sorted({id(was) for some in held for was in some} | set(map(id, missing))) == sorted(map(id, old))


def test_functions_of_one_name_hold_their_own_file_then_their_code_then_each_other():
    a, b = replace(BASE, file="a"), replace(BASE, file="b", text="sha256:2")
    assert counterparts([a, b], [replace(b, text="sha256:3"), a]) == (((b,), (a,)), ())
    assert counterparts([a, b], [replace(b, file="c"), replace(a, file="d")]) == (((b,), (a,)), ())
    assert counterparts([a, b], [replace(a, file="c", text="sha256:3")]) == (((a, b),), ())
    assert counterparts([a, b], [a]) == (((a,),), (b,))
    assert counterparts([a], [a, b]) == (((a,), ()), ())


def test_a_new_name_of_the_same_code_is_a_rename():
    assert states(*changes([BASE], [replace(BASE, name="n")])) == [("n", ChangeState.RENAMED)]


def test_a_rename_that_could_be_two_is_none():
    twins = [replace(BASE, name="x"), replace(BASE, name="y")]
    assert states(*changes([BASE], twins)) == [("x", ChangeState.ADDED), ("y", ChangeState.ADDED), ("k", ChangeState.REMOVED)]


def test_code_that_is_not_told_is_no_rename():
    assert states(*changes([replace(BASE, text=None)], [replace(BASE, name="n", text=None)])) == [
        ("n", ChangeState.ADDED),
        ("k", ChangeState.REMOVED),
    ]


def test_functions_of_one_name_are_paired_in_order():
    second = replace(BASE, text="sha256:2")
    assert states(*changes([BASE, second], [BASE, second])) == [("k", ChangeState.SAME), ("k", ChangeState.SAME)]


def test_a_number_is_told_with_both_of_its_values():
    (one,) = changes([BASE], [replace(BASE, numbers=(12, *BASE.numbers[1:]))])
    assert one.numbers == (NumberChange(Measure.WCET, 10, 12),)
    assert one.code is False


def test_lines_are_told_once_for_each_time_that_they_are_listed():
    (one,) = changes([BASE], [replace(BASE, assumptions=("b", "b", "c"))])
    assert [(each.what, each.removed, each.added) for each in one.lines] == [("assumptions", ("a",), ("b", "c"))]


def test_a_file_that_came_does_not_take_the_place_of_another_with_the_same_kernel():
    old = replace(BASE, file="b.sass", numbers=(22, *BASE.numbers[1:]))
    came = replace(BASE, file="a.sass", text="sha256:2", numbers=(10, *BASE.numbers[1:]))
    grown = replace(old, text="sha256:3", numbers=(30, *BASE.numbers[1:]))
    assert [(one.state, one.old) for one in changes([old], [came, grown])] == [(ChangeState.ADDED, None), (ChangeState.CHANGED, old)]


def test_of_several_with_one_name_those_with_the_same_instructions_are_the_same():
    one, two, three = (replace(BASE, file=f"old/{name}", text=f"sha256:{name}") for name in "123")
    moved, other = replace(two, file="new/2"), replace(three, file="new/3")
    assert [(each.state, each.old) for each in changes([one, two], [moved, other])] == [(ChangeState.SAME, two), (ChangeState.CHANGED, one)]
