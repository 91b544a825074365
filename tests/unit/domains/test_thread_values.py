"""What one thread knows of its registers, its stack and its barriers."""

from sassan.domains.thread_values import (
    LOST,
    MOST_VALUES,
    YES,
    Barrier,
    BarrierCopy,
    FramePointer,
    ThreadValueDomain,
    ThreadValues,
    enter,
    leave,
    load,
    plus,
    put,
    restore,
    save,
    store,
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
    assert stored.slots == {-8: frozenset({0x30})}
    assert load(put(stored, 20, None), 1, 8) == {0x30}


def test_a_store_that_overlaps_a_slot_spoils_it():
    stored = store(STACK, 1, 8, (20,))
    assert store(stored, 1, 6, (20,)).slots == {-10: frozenset({0x30})}
    assert store(stored, 1, 12, (None,)).slots == {-8: frozenset({0x30})}


def test_a_store_to_an_unknown_address_spoils_all_slots():
    stored = store(STACK, 1, 8, (20,))
    assert store(stored, 2, 0, (20,)).slots == {}
    assert store(stored, None, 0, ()).slots == {}


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
