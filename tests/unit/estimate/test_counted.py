"""Executions of an estimate are those of warps that are run as a whole, whatever is leapt over; what is not counted says so."""

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from budget import FULL
from listing import assemble
from loop_samples import entries, sample
from samples import EVERY, PRE_VOLTA, SAMPLES, explored
from sassan.app.analysis import analyze
from sassan.app.estimating import estimated
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.estimate import sampled_launch, watch
from sassan.estimate.counted import counted
from sassan.estimate.warps import Sample
from sassan.estimate.warps import sample as warps_of
from sassan.estimate.watch import Watch
from sassan.frontend import load, read
from sassan.ipet.loop_bounds import infer
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.products import find
from sassan.simt.code import lower
from sassan.simt.decoder import TableDecoder
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import warps_at
from sassan.simt.machine import Limits, Machine
from sassan.simt.slicing import control_slice
from sassan.simt.state import RunStatus, Session, SideOrder
from sassan.simt.values import Rows
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.warpcfg.graph import WarpCfg

DECIDED = [(arch, name) for arch in EVERY for name, entry in entries().items() if set(entry.get(arch, entry["verdicts"])) == {"told"}]
"""Samples of whose loops a reader says that no memory decides them."""
LEAPT = [
    *(("sm_61", name) for name in ("double_horner", "tensor_mma")),
    *(("sm_80", name) for name in ("double_horner", "reduce_shuffle", "binary_search", "voronoi")),
    *(("sm_120", name) for name in ("nbody", "tensor_mma")),
]
"""Those of them whose iterations are leapt over, and one whose are not."""


class Visits:
    """Counts visits of nodes, and nothing else."""

    def __init__(self, cfg: WarpCfg, runs: int) -> None:
        self.nodes = {(node.context, node.start): index for index, node in enumerate(cfg.nodes)}
        self.visits = np.zeros((len(self.nodes), runs), np.int64)

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        contexts = session.warps.context[rows]
        for context in np.unique(contexts).tolist():
            node = self.nodes.get((session.contexts.strings[context], session.code.blocks[block].address))
            if node is not None:
                self.visits[node, rows[contexts == context]] += 1


def whole(cfg: WarpCfg, launch: LaunchConfiguration, chosen: Sample) -> npt.NDArray[np.int64]:
    """Return the visits of nodes by warps that are run to their end."""
    function = cfg.function
    code = control_slice(lower(function, TableDecoder(tables.load(function.arch).facts), [node.start for node in cfg.nodes]))
    place, active = warps_at(function, launch, chosen.spots, np.random.default_rng(2026))
    seen = Visits(cfg, len(chosen))
    order = SideOrder.TAKEN_FIRST if function.arch in PRE_VOLTA else SideOrder.RANDOM
    outcome = Machine(code, Integers(place), order, Limits(steps=1 << 18)).run(active, seen)
    assert (outcome.status == RunStatus.ENDED).all()
    return seen.visits


@pytest.mark.parametrize("first", [0, 60])
@pytest.mark.parametrize(("arch", "name"), DECIDED if FULL else LEAPT[::2])
def test_executions_are_those_of_warps_that_are_run_as_a_whole(arch: str, name: str, first: int, monkeypatch: pytest.MonkeyPatch):
    one = sample(arch, name)
    if one is None:
        pytest.skip("the graph has gaps")
    launch = one.launch(grid=(3, 1, 1))
    chosen = warps_of(launch.block or (1, 1, 1), launch.grid or (1, 1, 1))
    monkeypatch.setattr(watch, "_LEAPS", first)
    monkeypatch.setattr(watch, "_WORK", 1 << 30)
    found, done = sampled_launch.run(one.cfg, tables.load(arch).facts, launch, chosen, (0,) * len(one.cfg.loops))
    decided = found.leaps.values.drawn == 0
    if (arch, name) in LEAPT:
        assert decided.any()
        assert found.leapt.any() == (name != "binary_search") or first
    assert done.all()
    assert not found.leaps.guessed.any()
    assert (found.visits == whole(one.cfg, launch, chosen))[:, decided].all()


@cache
def tiles() -> AnalysisResult:
    (function,) = read(load(str(SAMPLES / "limits" / "sm_86" / "tiles.cubin"))).functions
    gpu = find("RTX 3080")
    launch = LaunchConfiguration((32, 1, 1), (12, 1, 1), (Setting("param_1", -1, 8192),))
    costs = models.model("control", Tables())
    return analyze(function, Settings(costs=costs, launch=launch, resources=Resources(sms=gpu.sms), gpu=gpu, check=False))


@cache
def run_of_tiles() -> tuple[Watch, npt.NDArray[np.bool_]]:
    result = tiles()
    no_counts = (0,) * len(result.cfg.loops)
    return sampled_launch.run(result.cfg, result.isa.facts, result.settings.launch, warps_of((32, 1, 1), (12, 1, 1)), no_counts)


def test_iterations_are_counted_where_bounds_are_far_above_them():
    result = tiles()
    chosen = warps_of((32, 1, 1), (12, 1, 1))
    facts = result.isa.facts
    found, done = run_of_tiles()
    visits = whole(result.cfg, result.settings.launch, chosen)
    assert done.all()
    assert not found.leaps.guessed.any()
    assert (found.visits == visits).all()
    inner = min(result.cfg.loops, key=lambda loop: len(loop.nodes))
    number = result.cfg.loops.index(inner)
    assert infer(result.cfg, facts, result.settings.launch)[number].bound == 3762
    assert result.bounds.of_loop[number] == 7  # by a run of all warps
    assert 100 < visits[inner.head].max() < 700
    assert not visits[inner.head][[spot.block[0] > 1 for spot in chosen.spots]].any()


def test_an_expectation_limits_only_iterations_that_memory_decides():
    result = tiles()
    chosen = warps_of((32, 1, 1), (12, 1, 1))
    found, done = run_of_tiles()
    free = counted(found, done, chosen, result.wcet.counts)
    expected = counted(found, done, chosen, result.wcet.counts, {0: 0, 1: 0})
    assert None not in free.iterations
    assert expected.executions == free.executions
    assert expected.followed == {0, 1}
    (function,) = read(load(str(SAMPLES / "sm_80" / "spmv_csr.nvdisasm.sass"))).functions
    launch, rows = LaunchConfiguration((64, 1, 1), (8, 1, 1), (Setting("", 0x160, 1 << 9, 4),)), explored(function)
    chosen = warps_of((64, 1, 1), (8, 1, 1))
    found, done = sampled_launch.run(rows, result.isa.facts, launch, chosen, (0,) * len(rows.loops))
    free = counted(found, done, chosen, (0,) * len(rows.edges))
    expected = counted(found, done, chosen, (0,) * len(rows.edges), dict.fromkeys(range(len(rows.loops)), 0))
    assert set(free.iterations) == {None}
    assert sum(expected.executions) < sum(free.executions)
    assert not expected.followed


def test_a_loop_that_some_lanes_leave_is_not_entered_again_by_the_others():
    function = assemble(
        """
        S2R R0, SR_TID.X
        IADD3 R0, R0, 0x1, RZ
loop:
        IADD3 R0, R0, -0x1, RZ
        ISETP.NE.AND P0, PT, R0, RZ, PT
        @P0 BRA loop
        EXIT
        """,
        "sm_90",
    ).function
    cfg = explored(function)
    launch = LaunchConfiguration((32, 1, 1), (1, 1, 1))
    chosen = warps_of((32, 1, 1), (1, 1, 1))
    found, done = sampled_launch.run(cfg, tables.load(function.arch).facts, launch, chosen, (0,) * len(cfg.loops))
    assert done.all()
    assert set(found.entries[0].tolist()) == {1}
    assert set(found.visits[cfg.loops[0].head].tolist()) == {32}


def test_a_launch_takes_as_long_as_its_longest_block():
    result = tiles()
    found = estimated(result).estimate
    assert found is not None
    assert result.grid_bound is not None
    assert 40 < found.us < 150
    assert found.cycles <= result.grid_bound
    assert found.assumed < 0.5
    assert any("the longest one that was run" in text for text in found.assumptions)


@pytest.mark.parametrize(("waits", "known"), [("BAR.SYNC.DEFER_BLOCKING 0x0", True), ("UCGABAR_WAIT", True), ("NOP", False)])
def test_a_loop_ends_where_shared_memory_says_so_that_others_filled_before_a_barrier(waits: str, known: bool):
    function = assemble(
        f"""
        S2R R0, SR_TID.X
        MOV R2, 0x5
        ISETP.GE.AND P0, PT, R0, 0x20, PT
        IMAD.SHL.U32 R1, R0, 0x4, RZ
        MOV R4, RZ
        @!P0 STS [R1+0x100], R2
        {waits}
        LDS R3, [0x104]
loop:
        IADD3 R4, R4, 0x1, RZ
        ISETP.LT.AND P1, PT, R4, R3, PT
        @P1 BRA loop
        EXIT
        """,
        "sm_90",
    ).function
    cfg, facts, launch = explored(function), tables.load("sm_90").facts, LaunchConfiguration((128, 1, 1), (6, 1, 1))
    chosen = warps_of((128, 1, 1), (6, 1, 1))
    found, done = sampled_launch.run(cfg, facts, launch, chosen, (0,))
    visits = found.visits[cfg.loops[0].head]
    # Warps that come there first do not wait for the others.
    assert bool((visits == 5).all()) == known
    assert done.all() or not known
    assert found.leaps.values._found.any() == known


def test_a_drawn_word_that_goes_through_shared_memory_is_still_drawn():
    function = assemble(
        """
        S2R R0, SR_TID.X
        MOV R4, RZ
        IMAD.SHL.U32 R1, R0, 0x4, RZ
        IADD3 R6, R1, c[0x0][0x210], RZ
        MOV R7, c[0x0][0x214]
        LDG.E R2, desc[UR4][R6.64]
        STS [R1+0x100], R2
        BAR.SYNC.DEFER_BLOCKING 0x0
        LDS R3, [0x104]
        ISETP.GE.AND P0, PT, R3, 0x5, PT
        @P0 EXIT
        EXIT
        """,
        "sm_90",
    ).function
    cfg, facts, launch = explored(function), tables.load("sm_90").facts, LaunchConfiguration((128, 1, 1), (6, 1, 1))
    chosen = warps_of((128, 1, 1), (6, 1, 1))
    found, done = sampled_launch.run(cfg, facts, launch, chosen, ())
    assert done.all()
    assert (found.leaps.values.drawn > 0).all()
    assert not found.leaps.values._found.any()


def test_zeros_that_are_stored_at_a_constant_address_are_noted():
    """Such a store reads no register and writes none: the estimate of a recorded merge ended with an internal error."""
    function = assemble(
        """
        MOV R4, RZ
        STS.U8 [0x100], RZ
        BAR.SYNC.DEFER_BLOCKING 0x0
        LDS.U8 R3, [0x100]
loop:
        IADD3 R4, R4, 0x1, RZ
        ISETP.LE.AND P1, PT, R4, R3, PT
        @P1 BRA loop
        ST.E [R6.64], R4
        EXIT
        """,
        "sm_90",
    ).function  # the last store may be one to shared memory, which is therefore not followed
    cfg, facts, launch = explored(function), tables.load("sm_90").facts, LaunchConfiguration((32, 1, 1), (6, 1, 1))
    found, done = sampled_launch.run(cfg, facts, launch, warps_of((32, 1, 1), (6, 1, 1)), (0,))
    assert done.all()
    assert 0x10 in found.leaps.values._noted.of
