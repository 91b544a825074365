"""What the concrete runs know of a launch and of memory: right bounds stand, and wrong ones are found."""

from dataclasses import replace

import numpy as np
import pytest

from assembly import instruction
from listing import assemble
from sassan.ipet.loop_bounds import Refutation, infer, recheck
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import setting
from sassan.simt.code import Operation
from sassan.simt.decoder import TableDecoder
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.values import Moment
from sassan.warpcfg.assumptions import PHASE
from sassan.warpcfg.graph import EdgeKind

ARCH = "sm_80"
FACTS = tables.load(ARCH).facts


def held(text: str, *told: str) -> tuple[tuple[int | None, ...], tuple[int, ...]]:
    """Return the inferred bounds of a listing, none of which a run contradicts, and how often threads went back."""
    cfg = assemble(text, ARCH).graph()
    launch = LaunchConfiguration((64, 1, 1), (1, 1, 1), tuple(map(setting, told)))
    found = infer(cfg, FACTS, launch)
    held = check_bounds(cfg, FACTS, launch, found)
    assert (held.ran, held.refuted) == (True, ())
    seen = recheck.back_edge_counts(cfg, FACTS, (launch,))
    assert seen is not None
    return tuple(one.bound for one in found), seen[0]


@pytest.mark.parametrize(
    ("load", "told", "turns"), [("U8", "0x162=8", 7), ("U16", "0x162=8", 7), ("S16", "0x162=-1", 0), ("U8", "0x163=8", 7)]
)
def test_a_told_part_of_a_word_stays_told(load, told, turns):
    place = told.partition("=")[0]
    text = f"""
        LDC.{load} R1, c[0x0][{place}]
        MOV R0, RZ
    head:
        IADD3 R0, R0, 0x1, RZ
        ISETP.LT.AND P0, PT, R0, R1, PT
        @P0 BRA head
        EXIT
    """
    assert held(text, told) == ((turns,), (turns,))


def test_all_lanes_load_one_word_from_one_address():
    text = """
        UMOV UR4, 0x0
    head:
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        LDG.E R4, [R2.64]
        ISETP.LT.U32.AND P0, PT, R4, 0xc, PT
        BSSY B0, join
        @P0 BRA side
        BRA turn
    side:
        NOP
    turn:
        UIADD3 UR4, UR4, 0x1, URZ
        BSYNC B0
    join:
        MOV R5, UR4
        ISETP.NE.AND P1, PT, R5, 0x3, PT
        @P1 BRA head
        EXIT
    """
    assert held(text) == ((2,), (2,))


def test_a_call_that_keeps_no_return_address_is_a_far_jump_and_threads_meet_behind_it():
    # As ptxas leaves a loop of 64 KiB: some threads by a branch, the others by a call that nothing returns from.
    text = """
        S2R R4, SR_TID.X
        MOV R0, RZ
        BSSY B0, after
    head:
        IADD3 R0, R0, 0x1, RZ
        ISETP.EQ.AND P0, PT, R4, R0, PT
        ISETP.GE.AND P1, PT, R0, 0x5, PT
        @P0 BRA out
        @P1 CALL.REL.NOINC `(out)
        BRA head
    out:
        BSYNC B0
    after:
        MOV R0, RZ
    again:
        IADD3 R0, R0, 0x1, RZ
        ISETP.LT.AND P0, PT, R0, 0x3, PT
        @P0 BRA again
        EXIT
    """
    assert held(text) == ((4, 2), (4, 2))


def words(text: str, addresses: list[int]) -> list[int]:
    """Return what a load draws for lanes with these addresses."""
    one = TableDecoder(FACTS).decode(instruction(text))
    assert isinstance(one, Operation)
    lanes = np.resize(np.array(addresses, dtype=np.uint32), (1, 32))
    at = Moment(np.array([0]), np.array([5], dtype=np.uint32), np.ones((1, 32), dtype=np.bool_))
    place = WarpInputs(np.array([7], dtype=np.uint32), {}, lambda offset: np.array([offset], dtype=np.uint32))
    (drawn, *_) = Integers(place).outputs(one, tuple(lanes for _ in one.reads), at)
    return drawn[0].tolist()


def test_a_load_draws_a_word_per_address_and_an_atomic_operation_one_per_lane():
    plain = words("LDG.E R4, [R2.64]", [16, 32])
    assert (len(set(plain)), plain[0] == plain[2], plain[0] != plain[1]) == (2, True, True)
    assert len(set(words("ATOMG.E.ADD PT, R4, [R2.64], R6", [16]))) > 2


def test_a_run_is_long_enough_for_a_bound_that_is_wrong_by_little():
    # Long blocks: without the bound in view a run ends after some eighty turns.
    cfg = assemble(
        "MOV R0, RZ\nhead:\n" + "IADD3 R0, R0, 0x1, RZ\n" * 20 + "ISETP.LT.AND P0, PT, R0, 0x7d0, PT\n@P0 BRA head\nEXIT", ARCH
    ).graph()
    (one,) = infer(cfg, FACTS, LaunchConfiguration())
    assert one.bound == 99
    assert check_bounds(cfg, FACTS, LaunchConfiguration(), [one]).results == (one,)
    (refuted,) = check_bounds(cfg, FACTS, LaunchConfiguration(), [replace(one, bound=97)]).refuted
    assert (refuted.head, refuted.bound, refuted.refutation) == (0x10, None, Refutation(97, 99, one.reason))


def test_a_bound_that_nobody_could_wait_for_makes_no_run_longer():
    cfg = assemble("MOV R0, RZ\nhead:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, 0x7d00, PT\n@P0 BRA head\nEXIT", ARCH).graph()
    assert (
        recheck.back_edge_counts(cfg, FACTS, (LaunchConfiguration(),), bounds=(31999,))
        == recheck.back_edge_counts(cfg, FACTS, (LaunchConfiguration(),))
        != ((31999,),)
    )


PARTED = """
    S2R R2, SR_TID.X
    MOV R3, RZ
    UMOV UR4, 0x0
    UMOV UR5, 0x8
head:
    LDG.E R4, [R2.64]
    ISETP.LT.U32.AND P0, PT, R4, 0xc, PT
    @P0 BRA side
    BRA turn
side:
    NOP
turn:
    UIADD3 UR4, UR4, 0x1, URZ
    UISETP.NE.U32.AND UP0, UPT, UR4, UR5, UPT
    PLOP3.LUT P1, PT, PT, PT, UP0, 0x80, 0x8
    @P1 BRA head
    EXIT
"""


def test_threads_that_drawn_words_part_step_no_uniform_counter_for_each_other():
    # ptxas counts so only where it knows that no threads part; graphs assume that no two sides use UR4 at a time.
    assert held(PARTED) == ((7,), (7,))


def test_a_wrong_bound_on_a_uniform_counter_of_parted_threads_is_refuted():
    cfg, launch = assemble(PARTED, ARCH).graph(), LaunchConfiguration((64, 1, 1), (1, 1, 1))
    (one,) = infer(cfg, FACTS, launch)
    (refuted,) = check_bounds(cfg, FACTS, launch, [replace(one, bound=6)]).refuted
    assert refuted.refutation == Refutation(6, 7, one.reason)


def test_a_wait_for_a_barrier_in_shared_memory_parts_no_threads():
    cfg = assemble(
        """
        UMOV UR4, URZ
        UMOV UR17, 0x400
        MOV R2, RZ
    head:
        SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR17], R2
        @!P0 BRA again
    on:
        UIADD3 UR4, UR4, 0x1, URZ
        MOV R3, UR4
        ISETP.NE.AND P1, PT, R3, 0x8, PT
        @P1 BRA head
        EXIT
    again:
        SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR17], R2
        @!P0 BRA again
        BRA on
        """,
        "sm_90",
    ).graph()
    assert not any(edge.kind is EdgeKind.DIVERGE for edge in cfg.edges)
    assert PHASE in cfg.assumptions
