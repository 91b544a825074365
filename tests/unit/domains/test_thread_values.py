"""What one thread knows of its registers, its stack and its barriers."""

from collections.abc import Hashable

import pytest

from sassan.domains.thread_values import (
    LOST,
    MOST_ROUNDINGS,
    MOST_VALUES,
    YES,
    Barrier,
    BarrierCopy,
    EntryValue,
    FramePointer,
    ThreadValueDomain,
    ThreadValues,
    Values,
    enter,
    is_known_place,
    leave,
    load,
    plus,
    put,
    restore,
    restored,
    round_down,
    save,
    store,
    store_anywhere,
)

join = ThreadValueDomain().join


def test_what_only_one_path_knows_is_unknown():
    assert join(ThreadValues({2: frozenset({1}), 3: frozenset({1})}), ThreadValues({2: frozenset({7})})).registers == {2: frozenset({1, 7})}


def test_too_many_values_are_unknown():
    a, b = (ThreadValues({2: frozenset(range(start, start + MOST_VALUES))}) for start in (0, MOST_VALUES))
    assert join(a, b).registers == {}


def test_a_sum_wraps_and_a_stack_pointer_is_signed():
    assert plus(frozenset({FramePointer(0)}), 0xFFFFFFF0) == {FramePointer(-16)}
    assert plus(frozenset({0xFFFFFFFF}), 2) == {1}


STACK = ThreadValues({1: frozenset({FramePointer(-16)}), 20: frozenset({0x30})})


def test_a_slot_keeps_what_was_stored_there():
    stored = store(STACK, 1, 8, (20,))
    assert stored.slots == {FramePointer(-8): frozenset({0x30})}
    assert load(put(stored, 20, None), 1, 8) == {0x30}


def test_a_store_that_overlaps_a_slot_spoils_it():
    stored = store(STACK, 1, 8, (20,))
    assert store(stored, 1, 6, (20,)).slots == {FramePointer(-10): frozenset({0x30})}
    assert store(stored, 1, 12, (None,)).slots == {FramePointer(-8): frozenset({0x30})}


def test_a_store_at_an_unknown_address_spoils_variables():
    stored = store(STACK, 1, 8, (20,))
    assert store_anywhere(stored, frozenset()).slots == {}
    assert store_anywhere(stored, {0x30}).slots == {FramePointer(-8): frozenset({0x30})}


@pytest.mark.parametrize("saved", [BarrierCopy(0, YES), EntryValue(20)])
def test_a_store_at_an_unknown_address_leaves_what_functions_save(saved: Hashable):
    stored = store(put(STACK, 20, frozenset({saved})), 1, 8, (20,))
    assert store_anywhere(stored, frozenset()).slots == {FramePointer(-8): frozenset({saved})}


def test_a_zero_is_left_where_it_is_the_high_half_of_a_return_address():
    stored = store(put(STACK, 21, frozenset({0})), 1, 8, (20, 21))
    assert store_anywhere(stored, {0x30}).slots == {FramePointer(-8): frozenset({0x30}), FramePointer(-4): frozenset({0})}
    assert store_anywhere(store(stored, 1, 8, (None,)), {0x30}).slots == {}


def test_a_slot_that_holds_a_variable_on_one_path_is_spoilt():
    stored = store(put(STACK, 20, frozenset({0x30, 7})), 1, 8, (20,))
    assert store_anywhere(stored, {0x30}).slots == {}


def test_a_pointer_that_may_have_been_overwritten_is_none_until_it_is_the_stack_pointer():
    kept = store_anywhere(store(STACK, 1, 8, (1,)), frozenset())
    again = put(kept, 2, load(kept, 1, 8))
    assert not is_known_place(again, 2)
    assert plus(again.registers[2], 4) is None
    assert restored(again.registers[2]) == {FramePointer(-16)}


def test_a_frame_that_is_rounded_down_is_a_place_of_its_own():
    (rounded,) = round_down(frozenset({FramePointer(-40)}), 15) or ()
    assert rounded == FramePointer(0, ((-40, 15),))
    assert rounded.span == (-55, -40)
    assert round_down(frozenset({rounded, 0x37}), 15) == {rounded, 0x30}
    assert round_down(plus(frozenset({rounded}), 4), 15) == {FramePointer(0, ((-40, 15), (4, 15)))}


def test_a_frame_that_is_rounded_down_too_often_is_unknown():
    pointers: Values | None = frozenset({FramePointer(0)})
    for _ in range(MOST_ROUNDINGS):
        pointers = round_down(plus(pointers, 4), 15)
    assert pointers is not None
    assert round_down(plus(pointers, 4), 15) is None


@pytest.mark.parametrize(("offset", "slots"), [(19, 1), (18, 0), (0, 0), (-3, 0), (-4, 1)])
def test_a_store_into_a_rounded_frame_spoils_what_it_may_overlap(offset: int, slots: int):
    # The rounded pointer lies 55 to 40 bytes below the start, the word of the slot from 40 to 36.
    frame = ThreadValues({1: frozenset({FramePointer(0, ((-40, 15),))})}, {FramePointer(-40): frozenset({0x30})})
    assert len(store(frame, 1, offset, (None,)).slots) == slots


def test_a_thread_enters_a_barrier_once():
    inside, fine = enter(ThreadValues(), 0)
    assert inside.barriers == {0: Barrier(YES)}
    assert fine is None
    _, problem = enter(inside, 0)
    assert problem is not None
    assert problem.code == "overwritten-barrier"


def test_a_thread_that_left_is_as_if_it_had_never_been_there():
    left, problem = leave(enter(ThreadValues(), 0)[0], 0)
    assert left == ThreadValues()
    assert problem is None


def test_a_copy_comes_back_to_its_own_barrier_only():
    saved, _ = save(enter(ThreadValues(), 0)[0], 0, 4, clear=True)
    assert saved.registers[4] == {BarrierCopy(0, YES)}
    back, problem = restore(saved, 0, 4)
    assert back.barriers == {0: Barrier(YES)}
    assert problem is None
    _, wrong = restore(saved, 1, 4)
    assert wrong is not None
    assert wrong.code == "unknown-barrier"


def test_a_barrier_that_lies_saved_cannot_be_left():
    saved, _ = save(enter(ThreadValues(), 0)[0], 0, 4, clear=True)
    _, problem = leave(saved, 0)
    assert problem is not None
    assert problem.code == "saved-barrier"


def test_where_copies_differ_the_barrier_is_lost():
    inside = enter(ThreadValues(), 0)[0]
    saved, _ = save(inside, 0, 4, clear=True)
    assert join(inside, saved).barriers == {0: Barrier(LOST)}
