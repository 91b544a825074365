"""Words of shared memory, votes and shuffles in a run of all warps: certain where every order of the threads gives the same."""

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from listing import assemble
from sassan.ipet.loop_bounds.whole_run import whole_run
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import setting
from sassan.simt.shared import SharedMemory
from sassan.simt.values import LANES

ARCH = "sm_80"
FACTS = tables.load(ARCH).facts
START = "S2R R4, SR_TID.X\nISETP.EQ.AND P2, PT, R4, RZ, PT\nMOV R5, 0x7\n"
BARRIER = "BAR.SYNC.DEFER_BLOCKING 0x0"


def edges(text: str, threads: int = 64) -> tuple[int | None, ...] | None:
    cfg = assemble(text, ARCH).graph()
    launch = LaunchConfiguration((threads, 1, 1), (3, 1, 1), (setting(f"0x160:8={0x200000000000}"), setting("0x168=9")))
    seen = whole_run(cfg, FACTS, launch, range(len(cfg.loops)))
    return None if seen is None else seen.back_edges


def loop(limit: str, name: str = "head", body: str = "") -> str:
    return f"\nMOV R0, RZ\n{name}:\n{body}IADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, {limit}, PT\n@P0 BRA {name}\n"


def test_what_one_thread_stores_before_a_barrier_is_known_behind_it():
    assert edges(f"{START}@P2 STS [0x10], R5\n{BARRIER}\nLDS R6, [0x10]{loop('R6')}EXIT") == (6,)


def test_what_all_threads_store_alike_is_known_behind_a_barrier():
    assert edges(f"{START}STS [0x10], R5\n{BARRIER}\nLDS R6, [0x10]{loop('R6')}EXIT") == (6,)


def test_a_thread_finds_what_it_stored_itself_without_a_barrier():
    assert edges(f"{START}SHF.L.U32 R8, R4, 0x2, RZ\nSTS [R8], R5\nLDS R6, [R8]{loop('R6')}EXIT") == (6,)


def test_a_word_that_a_barrier_separates_from_its_next_store_has_both_values_in_turn():
    phases = f"""{START}MOV R10, RZ
    outer:
        IMAD R11, R10, 0x3, RZ
        @P2 STS [RZ], R11
        {BARRIER}
        LDS R6, [RZ]{loop("R6", "inner")}
        {BARRIER}
        IADD3 R10, R10, 0x1, RZ
        ISETP.LT.AND P1, PT, R10, 0x4, PT
        @P1 BRA outer
        EXIT"""
    assert edges(phases) == (3, 8)  # 3 * 3 iterations in the last phase


SHIFT = "SHF.L.U32 R8, R4, 0x2, RZ\n"
OPEN = {
    "no barrier": f"{START}@P2 STS [0x10], R5\nLDS R6, [0x10]{loop('R6')}EXIT",
    "another word": f"{START}@P2 STS [0x10], R5\n{BARRIER}\nLDS R6, [0x14]{loop('R6')}EXIT",
    "a part of the word": f"{START}@P2 STS [0x10], R5\n@P2 STS.U8 [0x12], R5\n{BARRIER}\nLDS R6, [0x10]{loop('R6')}EXIT",
    "words of several threads": f"{START}STS [0x10], R4\n{BARRIER}\nLDS R6, [0x10]{loop('R6')}EXIT",
    "a barrier of a part of the block": f"{START}@P2 STS [0x10], R5\nBAR.SYNC 0x1, 0x20\nLDS R6, [0x10]{loop('R6')}EXIT",
    "a guarded barrier": f"{START}@P2 STS [0x10], R5\n@P2 BAR.SYNC 0x0\nLDS R6, [0x10]{loop('R6')}EXIT",
    "an address of memory": f"""{START}@P2 STS [0x10], R5
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        LDG.E R9, [R2.64]
        @P2 STS [R9], R5
        {BARRIER}
        LDS R6, [0x10]{loop("R6")}EXIT""",
    "a store that data decide": f"""{START}@P2 STS [0x10], R5
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        LDG.E R9, [R2.64]
        ISETP.NE.AND P1, PT, R9, RZ, PT
        MOV R7, 0x3
        @P1 STS [0x10], R7
        {BARRIER}
        LDS R6, [0x10]{loop("R6")}EXIT""",
    "a store on a side that data decide": f"""{START}@P2 STS [0x10], R5
        {BARRIER}
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        LDG.E R9, [R2.64]
        ISETP.NE.AND P1, PT, R9, RZ, PT
        @P1 BRA join
        STS [0x10], R7
    join:
        {BARRIER}
        LDS R6, [0x10]{loop("R6")}EXIT""",
    "a store of another warp before the next barrier": f"""{START}@P2 STS [0x10], R5
        {BARRIER}
        LDS R6, [0x10]{loop("R6")}
        MOV R7, 0x3
        ISETP.EQ.AND P3, PT, R4, 0x20, PT
        @P3 STS [0x10], R7
        EXIT""",
    "an atomic operation": f"{START}@P2 STS [0x10], R5\n@P2 ATOMS.ADD R7, [R8], R5\n{BARRIER}\nLDS R6, [0x10]{loop('R6')}EXIT",
    "threads that exited on data": f"""{START}@P2 STS [0x10], R5
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        LDG.E R9, [R2.64]
        ISETP.NE.AND P1, PT, R9, RZ, PT
        @P1 BRA other
        EXIT
    other:
        {BARRIER}
        LDS R6, [0x10]{loop("R6")}EXIT""",
}


@pytest.mark.parametrize("name", OPEN)
def test_what_another_order_may_change_decides_nothing(name: str):
    found = edges(OPEN[name])
    assert found is None or None in found


class Access(NamedTuple):
    """An access of a thread between two barriers: what it stores, None for a load."""

    thread: int
    place: int
    word: int | None


def _execute(intervals: list[list[list[Access]]], order: random.Random) -> dict[tuple[int, int], int]:
    """Return what each load finds (interval, thread and number), the threads of an interval in some order."""
    memory, found = dict[int, int](), dict[tuple[int, int, int], int]()
    for number, lines in enumerate(intervals):
        left = {thread: 0 for thread in range(len(lines)) if lines[thread]}
        while left:
            thread = order.choice(list(left))
            access = lines[thread][left[thread]]
            if access.word is None:
                found[number, thread, left[thread]] = memory.get(access.place, -1)
            else:
                memory[access.place] = access.word
            left[thread] += 1
            if left[thread] == len(lines[thread]):
                del left[thread]
    return found


@pytest.mark.parametrize("seed", range(150))
def test_a_certain_word_is_found_in_every_order_of_the_threads(seed: int):
    """Oracle: one memory, and the threads between two barriers interleaved access by access."""
    draw = random.Random(seed)
    threads = draw.choice([3, 40])  # of one warp, and of two
    busy = {0, 1, threads - 1}

    def line(thread: int) -> list[Access]:
        count = draw.randrange(3) if thread in busy else 0
        return [Access(thread, draw.randrange(4), draw.choice([None, None, draw.randrange(3)])) for _ in range(count)]

    intervals = [[line(thread) for thread in range(threads)] for _ in range(draw.randrange(1, 5))]
    certain = _certain(intervals, draw)
    for order in range(12):
        found = _execute(intervals, random.Random(f"{seed} {order}"))
        assert certain.items() <= found.items()


def _certain(intervals: list[list[list[Access]]], draw: random.Random) -> dict[tuple[int, int, int], int]:
    """Return what loads find that is certain, by a run in one order, repeated until no word is found to be racy."""
    threads, racy = len(intervals[0]), set[int]()
    while True:
        before, certain = len(racy), dict[tuple[int, int, int], int]()
        memory = SharedMemory(np.zeros(-(-threads // LANES), np.intp), racy)
        where = np.zeros(-(-threads // LANES), np.int32)
        for number, lines in enumerate(intervals):
            left = {thread: 0 for thread in range(threads) if lines[thread]}
            while left:
                thread = draw.choice(list(left))
                access = lines[thread][left[thread]]
                row, lane = np.array([thread // LANES]), np.zeros((1, LANES), np.bool_)
                lane[0, thread % LANES] = True
                address = np.full((1, LANES), 4 * access.place, np.uint32)
                if access.word is None:
                    words, known = memory.load(row, lane, address)
                    if known[0, thread % LANES]:
                        certain[number, thread, left[thread]] = int(words[0, thread % LANES])
                else:
                    memory.store(row, lane, address, np.full((1, LANES), access.word, np.uint32), lane)
                left[thread] += 1
                if left[thread] == len(lines[thread]):
                    del left[thread]
            where[:] = memory.wait(np.arange(len(where)), where)
            memory.release(where, idle=False)
        if len(racy) == before:
            return certain


def test_a_memory_that_notes_no_readers_is_noticed(monkeypatch: pytest.MonkeyPatch):
    original = SharedMemory.load

    def load(self: SharedMemory, *given: Any) -> Any:
        found = original(self, *given)
        self._readers = np.broadcast_to(np.array([[[np.iinfo(np.int32).max]], [[-1]]], np.int32), self._readers.shape).copy()
        return found

    monkeypatch.setattr(SharedMemory, "load", load)

    def run_all() -> None:
        for seed in range(60):
            test_a_certain_word_is_found_in_every_order_of_the_threads(seed)

    with pytest.raises(AssertionError):
        run_all()


def test_votes_shuffles_and_reductions_of_what_is_given_are_known():
    lanes = "S2R R4, SR_LANEID\nIADD3 R4, R4, 0x3, RZ\n"
    assert edges(f"{lanes}SHFL.IDX PT, R6, R4, 0x4, 0x1f{loop('R6')}EXIT") == (6,)
    assert edges(f"{lanes}REDUX.MAX.S32 UR4, R4{loop('UR4')}EXIT") == (33,)
    vote = "ISETP.LT.AND P1, PT, R4, 0x6, PT\nVOTE.ANY R6, PT, P1"
    assert edges(f"{lanes}{vote}{loop('R6')}EXIT") == (6,)  # lanes 0 to 2: 0b111


def test_a_vote_of_what_is_not_given_is_not_known():
    data = "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nLDG.E R7, [R2.64]\nISETP.NE.AND P1, PT, R7, RZ, PT\n"
    assert edges(f"{data}VOTE.ANY R6, PT, P1{loop('R6')}EXIT") is None
    # Which lanes are here depends on data, and so does what the rest of them find.
    assert edges(f"S2R R4, SR_LANEID\n{data}@P1 EXIT\nREDUX.MAX.S32 UR4, R4{loop('UR4')}EXIT") is None
    assert edges(f"S2R R4, SR_LANEID\nVOTE.ANY R6, PT, PT{loop('R6')}EXIT") is None


def test_a_shuffle_from_a_lane_that_is_absent_is_not_known():
    text = f"S2R R4, SR_LANEID\nIADD3 R4, R4, 0x3, RZ\nSHFL.IDX PT, R6, R4, 0x1e, 0x1f{loop('R6')}EXIT"
    assert edges(text, threads=32) == (32,)
    assert edges(text, threads=48) is None  # the last warp has 16 lanes
