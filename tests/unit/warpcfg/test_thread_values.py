"""What one thread knows of its registers, its stack and its barriers."""

from hypothesis import given
from hypothesis import strategies as st

from sassan.isa.moves import Add, Load, Put, RestoreBarrier, SaveBarrier, Store
from sassan.warpcfg.thread_values import (
    LOST,
    MAYBE,
    MOST_VALUES,
    NO,
    YES,
    Barrier,
    BarrierCopy,
    Env,
    FramePointer,
    enter,
    join,
    leave,
    leq,
    move,
    restore,
    save,
)

values = st.frozensets(st.sampled_from([0x30, 0x60, FramePointer(0), FramePointer(8)]), min_size=1)
maps = st.dictionaries(st.integers(0, 3), values, max_size=4)
barriers = st.dictionaries(
    st.integers(0, 2),
    st.builds(Barrier, st.sampled_from([YES, MAYBE]), st.sampled_from([(), (NO,), (YES,)])) | st.just(Barrier(LOST)),
    max_size=3,
)
envs = st.builds(Env, maps, maps, barriers)


@given(a=envs, b=envs)
def test_join_is_above_both_and_commutative(a: Env, b: Env):
    both = join(a, b)
    assert leq(a, both)
    assert leq(b, both)
    assert both == join(b, a)


@given(a=envs, b=envs, c=envs)
def test_join_is_associative_and_idempotent(a: Env, b: Env, c: Env):
    assert join(join(a, b), c) == join(a, join(b, c))
    assert join(a, a) == a


@given(a=envs, b=envs)
def test_leq_means_that_join_adds_nothing(a: Env, b: Env):
    assert leq(a, b) == (join(a, b) == b)


def test_what_only_one_way_knows_is_unknown():
    assert join(Env({2: frozenset({1}), 3: frozenset({1})}), Env({2: frozenset({7})})).registers == {2: frozenset({1, 7})}


def test_too_many_values_are_unknown():
    a, b = (Env({2: frozenset(range(start, start + MOST_VALUES))}) for start in (0, MOST_VALUES))
    assert join(a, b).registers == {}


def test_a_sum_wraps_and_a_stack_pointer_is_signed():
    env = Env({1: frozenset({FramePointer(0)}), 2: frozenset({0xFFFFFFFF})})
    assert move(env, Add(1, 1, 0xFFFFFFF0)).registers[1] == {FramePointer(-16)}
    assert move(env, Add(2, 2, 2)).registers[2] == {1}


STACK = Env({1: frozenset({FramePointer(-16)}), 20: frozenset({0x30})})


def test_a_slot_keeps_what_was_stored_there():
    stored = move(STACK, Store(1, 8, (20,)))
    assert stored.slots == {-8: frozenset({0x30})}
    assert move(move(stored, Put(20, 0)), Load(20, 1, 1, 8)).registers[20] == {0x30}


def test_a_store_that_overlaps_a_slot_spoils_it():
    stored = move(STACK, Store(1, 8, (20,)))
    assert move(stored, Store(1, 6, (20,))).slots == {-10: frozenset({0x30})}
    assert move(stored, Store(1, 12, (None,))).slots == {-8: frozenset({0x30})}


def test_a_store_to_nobody_knows_where_spoils_all_slots():
    stored = move(STACK, Store(1, 8, (20,)))
    assert move(stored, Store(2, 0, (20,))).slots == {}
    assert move(stored, Store(None, 0, ())).slots == {}


def test_a_thread_enters_a_barrier_once():
    inside, fine = enter(Env(), 0)
    assert inside.barriers == {0: Barrier(YES)}
    assert fine is None
    _, problem = enter(inside, 0)
    assert problem is not None
    assert problem.code == "overwritten-barrier"


def test_a_thread_that_left_is_as_if_it_had_never_been_there():
    left, problem = leave(enter(Env(), 0)[0], 0)
    assert left == Env()
    assert problem is None


def test_a_copy_comes_back_to_its_own_barrier_only():
    saved, _ = save(enter(Env(), 0)[0], SaveBarrier(4, 0, clear=True))
    assert saved.registers[4] == {BarrierCopy(0, YES)}
    back, problem = restore(saved, RestoreBarrier(0, 4))
    assert back.barriers == {0: Barrier(YES)}
    assert problem is None
    _, wrong = restore(saved, RestoreBarrier(1, 4))
    assert wrong is not None
    assert wrong.code == "unknown-barrier"


def test_a_barrier_that_lies_saved_cannot_be_left():
    saved, _ = save(enter(Env(), 0)[0], SaveBarrier(4, 0, clear=True))
    _, problem = leave(saved, 0)
    assert problem is not None
    assert problem.code == "saved-barrier"


def test_where_copies_differ_the_barrier_is_lost():
    inside = enter(Env(), 0)[0]
    saved, _ = save(inside, SaveBarrier(4, 0, clear=True))
    assert join(inside, saved).barriers == {0: Barrier(LOST)}
