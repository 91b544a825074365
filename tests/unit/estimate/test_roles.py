"""Warps of a block with paths of their own: each is simulated on its own, and a wait that nobody ends is named."""

from dataclasses import replace

import numpy as np
import pytest

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.settings import Settings
from sassan.estimate.figures import calibrated
from sassan.estimate.roles.barrier_operations import BarrierOperation
from sassan.estimate.roles.boxes import boxes_of
from sassan.estimate.roles.copies import Boxes, Copied
from sassan.estimate.roles.phases import matched
from sassan.estimate.roles.simultaneous import Simultaneous, among_blocks, simultaneous
from sassan.estimate.roles.traces import BarrierExecution, WarpTrace, traced
from sassan.estimate.traffic import copied
from sassan.ir import CompilerFacts, Parameter
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.machine.tensor_map import Element, MapKind, TensorMap
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.values.environment import PARAMETER_WINDOW
from scheduled import scheduled
from tensor_maps import encoded

ROLES = """
    S2R R0, SR_TID.X                             | 2 w0
    MOV R1, RZ                                   | 5
    ISETP.GE.AND P0, PT, R0, 0x20, PT            | 13 wait0
    @P0 BRA other                                | 5
first:
    IADD3 R1, R1, 0x1, RZ                        | 4
    ISETP.NE.AND P1, PT, R1, 0x40, PT            | 13
    @P1 BRA first                                | 5
    EXIT                                         | 5
other:
    IADD3 R1, R1, 0x2, RZ                        | 4
    ISETP.NE.AND P1, PT, R1, {limit}, PT         | 13
    @P1 BRA other                                | 5
    EXIT                                         | 5
"""


def answer(text: str) -> EstimateResult:
    settings = Settings(
        costs=models.model("control", Tables()),
        launch=LaunchConfiguration((160, 1, 1), (8, 1, 1)),
        resources=Resources(sms=108, registers=16, shared=0),
        gpu=find("A100-PCIE-40GB"),
        contention=False,
        check=False,
        loop_bound=0,
    )
    return estimated(analyze(scheduled(text), settings))


def test_warps_of_a_block_that_run_other_loops_are_simulated_each_on_its_own():
    few, many = (answer(ROLES.replace("{limit}", limit)).estimate for limit in ("0x80", "0x400"))
    assert few is not None
    assert many is not None
    assert few.rows["total"].cycles["issue"] < many.rows["total"].cycles["issue"]
    assert few.cycles < many.cycles


def test_a_loop_that_ends_at_once_is_no_role():
    assert answer(ROLES.replace("{limit}", "0x2")).estimate is not None


def trace(*met: tuple[BarrierOperation, int, int | None]) -> WarpTrace:
    """Return the trace of a warp that meets others at barriers, once in each visit."""
    several = tuple(BarrierExecution(visit, 16 * visit, kind, barrier, 1, amount) for visit, (kind, barrier, amount) in enumerate(met))
    return WarpTrace(np.zeros(len(met), np.int64), several, ended=True)


BEGIN = (1 << 20) - 1 << 1
"""The word that sets up a barrier for one arrival."""
STAGES = [(BarrierOperation.BEGIN, stage, BEGIN) for stage in range(4)]


def pipeline(turns: int, missing: int = -1) -> tuple[WarpTrace, WarpTrace]:
    """Return a producer and a consumer of two stages, without the arrival of one turn."""
    producer, consumer = list(STAGES), list[tuple[BarrierOperation, int, int | None]]()
    for turn in range(turns):
        stage, phase = turn % 2, turn // 2 % 2
        producer += [
            (BarrierOperation.TEST, 2 + stage, (1 - phase) << 31),
            (BarrierOperation.EXPECT, stage, 4096),
            (BarrierOperation.COPY, stage, None),
        ]
        consumer.append((BarrierOperation.TEST, stage, phase << 31))
        consumer += [(BarrierOperation.ARRIVE, 2 + stage, 0)] if turn != missing else []
    return trace(*producer), trace(*consumer)


@pytest.mark.parametrize("turns", [1, 2, 7])
def test_every_wait_of_a_pipeline_is_matched(turns: int):
    found = matched(pipeline(turns))
    assert found.gaps == ()
    assert found.visits == tuple(len(each.nodes) for each in pipeline(turns))
    assert {each[:2] for each in found.copies.values()} == {(4096, 4096)}


def test_a_missing_arrival_is_named_with_its_barrier():
    (gap, *_) = matched(pipeline(7, missing=2)).gaps
    assert gap.code == "unmatched-wait"
    assert "0x2 of shared memory" in gap.message


BOX = TensorMap(MapKind.TILED, Element("float32", 32, 32), 0, (256, 256), (1024,), (1, 1), (32, 64))
"""Its boxes have 8192 bytes."""
MAP = 0x1000


def copies(*met: tuple[BarrierOperation, int | None], ended: bool = True) -> WarpTrace:
    """Return the trace of a warp that announces bytes at one barrier, and lets the copy engine bring boxes of one map."""
    several = tuple(
        BarrierExecution(
            at, 0x10 if kind is BarrierOperation.EXPECT else 0x20, kind, 0, 1, amount, MAP if kind is BarrierOperation.COPY else None
        )
        for at, (kind, amount) in enumerate(met)
    )
    return WarpTrace(np.zeros(len(met), np.int64), several, ended=ended)


COPY = (BarrierOperation.COPY, None)
BOXES: Boxes = {(0x20, MAP): BOX}


def test_copies_bring_their_boxes_and_a_barrier_that_is_told_so_is_not_noted():
    found = matched([copies((BarrierOperation.EXPECT, 16384), COPY, COPY)], BOXES)
    assert {address: each[:2] for address, each in found.copies.items()} == {0x20: (8192, 8192)}
    assert found.notes == ()


@pytest.mark.parametrize(("told", "ends"), [(4096, "may end before the data are there"), (16384, "never ends")])
def test_a_barrier_that_is_told_of_other_bytes_than_its_boxes_bring_is_noted_with_both(told: int, ends: str):
    (note,) = matched([copies((BarrierOperation.EXPECT, told), COPY, (BarrierOperation.EXPECT, told), COPY)], BOXES).notes
    assert f"{told} bytes (at 0x0010)" in note
    assert "8192 (at 0x0020)" in note
    assert ends in note


def test_of_a_run_that_was_cut_short_only_whole_phases_are_compared():
    cut = copies((BarrierOperation.EXPECT, 16384), COPY, COPY, (BarrierOperation.EXPECT, 16384), COPY, ended=False)
    assert matched([cut], BOXES).notes == ()
    wrong = copies((BarrierOperation.EXPECT, 4096), COPY, (BarrierOperation.EXPECT, 4096), ended=False)
    assert len(matched([wrong], BOXES).notes) == 1


def test_nothing_is_noted_where_a_map_is_not_known_or_other_blocks_get_the_box():
    wrong = copies((BarrierOperation.EXPECT, 4096), COPY)
    assert matched([wrong], {}).notes == ()
    assert matched([wrong], BOXES, frozenset({0x20})).notes == ()
    assert matched([copies((BarrierOperation.EXPECT, None), COPY)], BOXES).notes == ()


def test_a_box_that_blocks_share_is_requested_once_and_passes_as_often_as_it_is_announced():
    shared = matched([copies((BarrierOperation.EXPECT, 16384), COPY)], BOXES, frozenset({0x20}))
    assert {address: each[:2] for address, each in shared.copies.items()} == {0x20: (16384, 8192)}


def test_either_number_of_bytes_of_a_type_that_is_padded_in_shared_memory_is_right():
    box = replace(BOX, element=Element("6 bits in bytes", 6, 8), box=(128, 64))
    for told, notes in ((6144, 0), (8192, 0), (8000, 1)):
        assert len(matched([copies((BarrierOperation.EXPECT, told), COPY)], {(0x20, MAP): box}).notes) == notes


def test_a_store_of_a_box_arrives_at_no_barrier_and_moves_its_bytes():
    store = WarpTrace(np.zeros(1, np.int64), (BarrierExecution(0, 0x20, BarrierOperation.MOVE, 0, 1, None, MAP),), ended=True)
    found = matched([store], BOXES)
    assert ([each[:2] for each in found.copies.values()], found.barriers, found.events) == ([(8192, 8192)], 0, ((),))
    ((_, tensor),) = found.copies[0x20].tensors
    assert tensor == BOX.tensor_bytes == 256 * 256 * 4
    assert matched([store]).copies == {}


TENSOR_COPIES = """
    ULDC.64 UR6, c[0x0][0x198]                       | 7
    UIADD3 UR8, UP0, UR6, 0x70, URZ                  | 7
    UIADD3.X UR9, URZ, UR7, URZ, UP0, !UPT           | 7
    ULDC.64 UR10, c[0x0][0x300]                      | 7
    S2R R0, SR_TID.X                                 | 2 w0
    ISETP.NE.AND P0, PT, R0, RZ, PT                  | 13 wait0
    @P0 EXIT                                         | 5
    MOV R1, 0x400                                    | 5
    R2UR UR5, R1                                     | 7
    UMOV UR4, 0x800                                  | 7
    SYNCS.ARRIVE.TRANS64 RZ, [UR5], R2               | 5
    UTMALDG.2D [UR4], [UR8]                          | 5
    UTMASTG.2D [UR4], [UR10]                         | 5
    UTMASTG.3D [UR4], [UR10]                         | 5
    EXIT                                             | 5
"""


def test_maps_are_found_by_the_address_that_copies_are_passed_among_parameters_and_in_memory():
    facts = CompilerFacts(16 * 15, parameters=(Parameter(0, 0x70, 128), Parameter(1, 0xF0, 8)), parameter_base=0x210)
    function = replace(scheduled(TENSOR_COPIES, "sm_90"), kernel=True, compiler=facts)
    other = replace(BOX, box=(16, 16))
    launch = LaunchConfiguration((32, 1, 1), (4, 1, 1), (Setting("", 0x300, 0x5000, 8),), maps=((0x280, BOX),))
    settings = Settings(costs=models.model("control", Tables()), launch=launch)
    result = analyze(function, settings)
    traces = traced(result.cfg, result.isa.facts, launch)
    assert traces is not None
    known = replace(launch, initial=Contents((KnownBytes(0x5000, encoded(other)),), "one"))
    load, store, of_three = 16 * 11, 16 * 12, 16 * 13
    assert boxes_of(result.cfg, known, traces) == {(load, PARAMETER_WINDOW + 0x70): BOX, (store, 0x5000): other, (of_three, 0x5000): None}
    assert set(boxes_of(result.cfg, replace(launch, maps=()), traces).values()) == {None}


SHARED_BOXES = """
    S2R R0, SR_TID.X                                 | 2 w0
    ISETP.NE.AND P0, PT, R0, RZ, PT                  | 13 wait0
    @P0 EXIT                                         | 5
    ULDC.64 UR8, c[0x0][0x300]                       | 7
    MOV R1, 0x400                                    | 5
    R2UR UR5, R1                                     | 7
    UMOV UR4, 0x800                                  | 7
    S2UR UR6, SR_CTAID.X                             | 2 w1
    USHF.R.U32.HI UR6, URZ, {shift}, UR6             | 13 wait1
    UMOV UR7, URZ                                    | 7
again:
    UTMALDG.2D [UR4], [UR8]                          | 5
    UIADD3 UR7, UR7, 0x1, URZ                        | 7
    UISETP.NE.AND UP0, PT, UR7, 0x3, PT              | 13
    @UP0 BRA again                                   | 5
    EXIT                                             | 5
"""


@pytest.mark.parametrize(("shift", "at_once", "share"), [(0, 8, 1.0), (1, 8, 0.5), (2, 4, 0.25), (3, 100, 0.125), (3, 1, 1.0)])
def test_boxes_that_blocks_ask_for_at_the_same_time_are_compared_turn_by_turn(shift: int, at_once: int, share: float):
    function = scheduled(SHARED_BOXES.replace("{shift}", hex(shift)), "sm_90")
    launch = LaunchConfiguration((64, 1, 1), (8, 1, 1), (Setting("", 0x300, 0x5000, 8),))
    result = analyze(function, Settings(costs=models.model("control", Tables()), launch=launch))
    traces = traced(result.cfg, result.isa.facts, launch)
    assert traces is not None
    assert simultaneous(result.cfg, result.isa.facts, launch, traces, at_once) == {16 * 10: (share, 1.0)}


def test_boxes_that_other_blocks_ask_for_as_well_pass_l2_sooner():
    figures = calibrated()
    own, same = (copied({0: Copied(8192, 8192, different=share)}, figures)[0].quicker for share in (1.0, 0.125))
    assert own == figures.bulk
    assert own < same < own / (1 - figures.together)


@pytest.mark.parametrize(("rows", "cycles"), [(64, 8192 / 101), (512, 512 * 1.07)])
def test_short_rows_of_a_box_keep_the_copy_engine_longer_than_their_bytes(rows: int, cycles: float):
    (moved,) = copied({0: Copied(8192, 8192, rows=rows)}, calibrated()).values()
    assert moved.cycles == pytest.approx(cycles)


def test_a_box_for_several_blocks_is_requested_by_those_that_ask_for_it():
    text = SHARED_BOXES.replace("UTMALDG.2D [UR4]", "@!UP1 UTMALDG.2D.MULTICAST [UR4]").replace(
        "    UMOV UR7, URZ ", "    ULOP3.LUT UP1, URZ, UR6, 0x1, URZ, 0xc0, !UPT | 13\n    UMOV UR7, URZ ", 1
    )
    function = scheduled(text.replace("{shift}", "0x0"), "sm_90")
    launch = LaunchConfiguration((64, 1, 1), (8, 1, 1), (Setting("", 0x300, 0x5000, 8),))
    result = analyze(function, Settings(costs=models.model("control", Tables()), launch=launch))
    traces = traced(result.cfg, result.isa.facts, launch)
    assert traces is not None
    found = simultaneous(result.cfg, result.isa.facts, launch, traces, 8)
    (address,) = found
    assert found == {address: Simultaneous(1.0, 0.5)}
    copy = Copied(8192, 8192)
    assert among_blocks({address: copy, 0: copy}, found, frozenset({address})) == {address: Copied(8192, 4096), 0: copy}
    assert among_blocks({address: copy}, found, frozenset()) == {address: copy}


def test_a_copy_that_no_thread_makes_is_no_request():
    text = SHARED_BOXES.replace("{shift}", "0x0").replace(
        "    EXIT ", "    ISETP.LT.U32.AND P2, PT, R0, RZ, PT | 13\n    @P2 UTMALDG.2D [UR4], [UR8] | 5\n    EXIT "
    )
    function = scheduled(text, "sm_90")
    launch = LaunchConfiguration((64, 1, 1), (8, 1, 1), (Setting("", 0x300, 0x5000, 8),))
    result = analyze(function, Settings(costs=models.model("control", Tables()), launch=launch))
    traces = traced(result.cfg, result.isa.facts, launch)
    assert traces is not None
    assert simultaneous(result.cfg, result.isa.facts, launch, traces, 8) == {16 * 10: (1.0, 1.0)}


def turn(kind: BarrierOperation, barrier: int, warps: int) -> tuple[BarrierOperation, int, int]:
    return kind, barrier, 32 * warps


def at_barriers(*several: tuple[BarrierOperation, int, int]) -> WarpTrace:
    met = (BarrierExecution(visit, 16 * visit, kind, barrier, 32, threads) for visit, (kind, barrier, threads) in enumerate(several))
    return WarpTrace(np.zeros(len(several), np.int64), tuple(met), ended=True)


SYNC, CHECK_IN = BarrierOperation.SYNC, BarrierOperation.CHECK_IN


def test_two_warps_in_turn_let_each_other_go_the_first_of_them_by_itself_at_first():
    # As in attention kernels: who begins arrives for the other one once, so that it arrives twice in its first turn.
    first = at_barriers(turn(CHECK_IN, 9, 2), *[turn(SYNC, 9, 2), turn(CHECK_IN, 10, 2)] * 3)
    second = at_barriers(*[turn(SYNC, 10, 2), turn(CHECK_IN, 9, 2)] * 3)
    found = matched([first, second])
    assert found.gaps == ()
    assert [event.arrivals for event in found.events[0] if event.act.name == "WAIT"] == [2, 4, 6]


def test_turns_of_a_barrier_may_take_different_numbers_of_warps():
    both = [turn(SYNC, 1, 2), turn(CHECK_IN, 1, 3)]
    several = [at_barriers(*both), at_barriers(*both, turn(SYNC, 1, 3))]
    assert matched(several).gaps == ()
    assert [event.arrivals for event in matched(several).events[1] if event.act.name == "WAIT"] == [2, 5]


def test_a_turn_that_is_never_full_is_named():
    (gap, _) = matched([at_barriers(turn(SYNC, 9, 3)), at_barriers(turn(SYNC, 9, 3))]).gaps
    assert gap.message == "warp 0 waits here for arrival 3 at barrier 9, and no warp of its block makes it"


SPILLED = """
    LDC R1, c[0x0][0x28]                             | 2 w0
    IADD3 R1, R1, -0x10, RZ                          | 5 wait0
    MOV R2, 0x3                                      | 5
    STL [R1+0x4], R2                                 | 5
    MOV R2, RZ                                       | 5
    LDL R3, [R1+0x4]                                 | 2 w0
again:
    BAR.ARV 0x1, 0x40                                | 5
    IADD3 R2, R2, 0x1, RZ                            | 5
    ISETP.LT.AND P0, PT, R2, R3, PT                  | 13 wait0
    @P0 BRA again                                    | 5
    EXIT                                             | 5
"""
DYNAMIC = """
    S2R R0, SR_TID.X                                 | 2 w0
    S2R R7, SR_CTAID.X                               | 2 w1
    ISETP.GE.AND P0, PT, R0, 0x20, PT                | 13 wait0
    @P0 BRA reader                                   | 5
writer:
    LDC.64 R2, c[0x0][0x210]                         | 2 w0
    ISETP.NE.AND P1, PT, R0, RZ, PT                  | 13
    MOV R5, 0x1                                      | 5
    @!P1 ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R5  | 5 w0 wait0
    SHFL.IDX PT, R4, R4, RZ, 0x1f                    | 5 w0 wait0
    BAR.SYNC 0x4, 0x40                               | 5 wait0
    @!P1 STS [0x40], R4                              | 5
    BAR.ARV 0x5, 0x40                                | 5
    ISETP.LT.AND P2, PT, R4, 0x10, PT                | 13
    @P2 BRA writer                                   | 5
    EXIT                                             | 5
reader:
    BAR.ARV 0x4, 0x40                                | 5
    BAR.SYNC 0x5, 0x40                               | 5
    LDS R4, [0x40]                                   | 2 w0
    ISETP.LT.AND P2, PT, R4, 0x10, PT                | 13 wait0
    @P2 BRA reader                                   | 5
    EXIT                                             | 5
"""


def traces_of(text: str, launch: LaunchConfiguration) -> tuple[WarpTrace, ...]:
    result = analyze(scheduled(text, "sm_90"), Settings(costs=models.model("control", Tables()), launch=launch))
    traces = traced(result.cfg, result.isa.facts, launch)
    assert traces is not None
    return traces


def test_a_warp_finds_what_it_has_spilled():
    several = traces_of(SPILLED, LaunchConfiguration((64, 1, 1), (4, 1, 1)))
    assert [len(trace.executions) for trace in several] == [3, 3]
    assert {met.threads for trace in several for met in trace.executions} == {32}


@pytest.mark.parametrize(("begin", "turns"), [(0, 5), (9, 3), (100, 1)])
def test_warps_go_through_the_tiles_that_one_of_them_takes_from_a_counter_and_hands_over(begin: int, turns: int):
    # Block 2 of 4 gets the values begin + 2, + 6, + 10, ...; a value from 16 on ends both warps.
    memory = Contents((KnownBytes(0x5000, begin.to_bytes(4, "little")),), f"from {begin}")
    launch = LaunchConfiguration((64, 1, 1), (4, 1, 1), (Setting("", 0x210, 0x5000, 8),), contents=memory)
    several = traces_of(DYNAMIC, launch)
    assert [len([met for met in trace.executions if met.barrier == 4]) for trace in several] == [turns, turns]
    assert all(trace.ended for trace in several)
    assert matched(several).gaps == ()
