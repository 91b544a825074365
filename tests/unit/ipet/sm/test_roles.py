"""The bound of kernels whose warps wait for each other in shared memory, and for engines."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from operator import itemgetter
from random import Random

import pytest

from sassan.app.analysis import analyze
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.ipet.sm.bounds import Optima, Terms, grid_bound
from sassan.ipet.sm.residency import Grid
from sassan.ir import CompilerFacts, Parameter
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.occupancy import Resources
from sassan.machine.tensor_map import Element, MapKind, TensorMap
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from scheduled import scheduled

BOX = TensorMap(MapKind.TILED, Element("bfloat16", 16, 16), 1 << 20, (4096, 4096), (8192,), (1, 1), (64, 128))
PIPELINE = """
    S2R R0, SR_TID.X                                 | 2 w0
    ULDC.64 UR6, c[0x0][0x198]                       | 7
    UIADD3 UR8, UP0, UR6, 0x70, URZ                  | 7
    UIADD3.X UR9, URZ, UR7, URZ, UP0, !UPT           | 7
    UMOV UR4, 0x800                                  | 7
    UMOV UR5, 0x400                                  | 7
    UMOV UR12, URZ                                   | 7
    MOV R4, RZ                                       | 5
    SHF.R.U32.HI R1, RZ, 0x5, R0                     | 5 wait0
    ISETP.NE.AND P0, PT, R1, RZ, PT                  | 13
    @P0 BRA consumer                                 | 5
    ISETP.NE.AND P0, PT, R0, RZ, PT                  | 13
    @P0 EXIT                                         | 5
copies:
    USHF.L.U32 UR6, UR12, 0x6, URZ                   | 7
    SYNCS.ARRIVE.TRANS64 RZ, [UR5], R2               | 5
    UTMALDG.2D [UR4], [UR8]                          | 5
    UIADD3 UR12, UR12, 0x1, URZ                      | 7
    IADD3 R4, R4, 0x1, RZ                            | 5
    ISETP.NE.AND P1, PT, R4, 0x8, PT                 | 13
    @P1 BRA copies                                   | 5
    EXIT                                             | 5
consumer:
    NOP                                              | 1
waits:
    SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR5], R3     | 2 w1
    @!P2 BRA waits                                   | 5 wait1
    WARPGROUP.ARRIVE                                 | 5
    HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24    | 5
    WARPGROUP.DEPBAR.LE gsb0, 0x0                    | 5
    UIADD3 UR12, UR12, 0x1, URZ                      | 7
    IADD3 R4, R4, 0x1, RZ                            | 5
    ISETP.NE.AND P1, PT, R4, 0x8, PT                 | 13
    @P1 BRA consumer                                 | 5
    EXIT                                             | 5
"""
LAUNCH = LaunchConfiguration((160, 1, 1), (132, 1, 1), maps=((0x280, BOX),))


@cache
def answer(text: str = PIPELINE, launch: LaunchConfiguration = LAUNCH, cluster: int | None = None) -> AnalysisResult:
    facts = CompilerFacts(16 * 40, parameters=(Parameter(0, 0x70, 128),), parameter_base=0x210, registers=168, cluster=cluster)
    function = replace(scheduled(text, "sm_90"), kernel=True, compiler=facts)
    gpu = find("H100 SXM")
    resources = Resources(registers=168, shared=120_000, sms=132)
    settings = Settings(costs=models.model("control", Tables()), launch=launch, resources=resources, gpu=gpu, check=False)
    return analyze(function, settings)


def test_a_pipeline_has_a_bound_that_charges_its_copies_and_products_once():
    result = answer()
    assert result.gaps == ()
    assert result.makespan is not None
    assert result.makespan.terms is not None
    assert [each.warps for each in result.problem.classes] == [(0,), (1, 2, 3, 4)]
    # Eight boxes of 16 KiB that 132 blocks fetch.
    moved = next(each for each in result.problem.traffic.moved.values() if each.sectors)
    assert (moved.sectors, moved.fetched, moved.written) == (512, 16384, 0)
    gpu = result.makespan.residents.grid
    assert gpu is not None
    assert gpu.memory is not None
    assert result.makespan.terms.memory == pytest.approx(float(132 * 8 * 16384 / gpu.memory.dram), rel=0.01)
    texts = " ".join(result.makespan.grid.assumptions if result.makespan.grid is not None else ())
    assert "every wait ends" in texts
    assert "engines serve in order" in texts
    assert "moves the box of the map" in texts


def engines(text: str) -> Fraction:
    """Return what engines do for one execution of each block of code, in all."""
    parted = answer(text).problem.parted
    assert parted is not None
    return sum(parted.engines, Fraction(0))


@pytest.mark.slow
def test_engines_are_charged_a_latency_for_all_that_is_asked_between_two_waits():
    copy = "    UTMALDG.2D [UR4], [UR8]                          | 5\n"
    more = engines(PIPELINE.replace(copy, copy * 2)) - engines(PIPELINE)
    assert more == -(-16384 // 96)  # the bytes alone
    apart = engines(PIPELINE.replace(copy, copy + "    SYNCS.PHASECHK.TRANS64.TRYWAIT P3, [UR5], R3     | 2\n" + copy)) - engines(PIPELINE)
    assert apart == more + 920
    product = "    HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24    | 5\n"
    assert engines(PIPELINE.replace(product, product * 2)) - engines(PIPELINE) == Fraction(64, 4)


TENSOR_MEMORY = """
    UMOV UR4, 0x4                                        | 2
    UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR4          | 2 w0
    UTCHMMA gdesc[UR6], gdesc[UR8], tmem[UR4], tmem[UR24], idesc[UR25], UP0 | 1 r0
    UTCBAR [UR22], URZ                                   | 1 r0
waits:
    SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR5], R3         | 2 w1
    @!P2 BRA waits                                       | 5 wait1
    LDTM.x8 R12, tmem[UR6]                               | 1 w2
    UTCATOMSWS.AND URZ, UR5                              | 1 r0 wait2
    EXIT                                                 | 5
"""


def tensor_memory(text: str = TENSOR_MEMORY, blocks: int = 148) -> AnalysisResult:
    facts = CompilerFacts(16 * 40, parameters=(), parameter_base=0x380, registers=64)
    function = replace(scheduled(text, "sm_100a"), kernel=True, compiler=facts)
    launch = LaunchConfiguration((32, 1, 1), (blocks, 1, 1))
    settings = Settings(
        costs=models.model("control", Tables()), launch=launch, resources=Resources(64, 0, 148), gpu=find("B200"), check=False
    )
    return analyze(function, settings)


def test_one_warp_asks_for_products_of_tensor_memory_and_waits_for_a_latency_of_all():
    result = tensor_memory()
    assert result.gaps == ()
    asked = "    UTCHMMA gdesc[UR6], gdesc[UR8], tmem[UR4], tmem[UR24], idesc[UR25], UP0 | 1 r0\n"

    def engine(text: str) -> Fraction:
        parted = tensor_memory(text).problem.parted
        assert parted is not None
        return sum(parted.engines, Fraction(0))

    assert engine(TENSOR_MEMORY) == 128 + 367
    assert engine(TENSOR_MEMORY.replace(asked, asked * 3)) == 3 * 128 + 367
    assert engine(TENSOR_MEMORY.replace("UTCHMMA", "UTCHMMA.2CTA")) == 128 + 762


@pytest.mark.parametrize(("units", "blocks", "fits"), [("0x4", 4, True), ("0x4", 5, False), ("0x10", 1, True), ("0x10", 2, False)])
def test_blocks_whose_tensor_memory_does_not_fit_an_sm_wait_for_each_other(units: str, blocks: int, fits: bool):
    result = tensor_memory(TENSOR_MEMORY.replace("0x4", units), 148 * blocks)
    assert [gap.code for gap in result.gaps] == ([] if fits else ["tensor-memory"] * len(result.gaps))
    assert fits == (result.makespan is not None and result.makespan.bound.value is not None)


def test_a_class_is_charged_what_its_own_warps_may_do():
    whole = answer()
    assert whole.makespan is not None
    assert whole.makespan.terms is not None
    alike = answer(PIPELINE.replace("@P0 BRA consumer", "@P4 BRA consumer"))  # any warp may be either
    assert alike.makespan is not None
    assert alike.makespan.terms is not None
    assert whole.makespan.terms.drain < alike.makespan.terms.drain


def test_a_copy_by_a_map_that_is_not_known_has_a_gap():
    assert {gap.code for gap in answer(launch=replace(LAUNCH, maps=())).gaps} == {"unknown-bytes"}


def test_a_kernel_that_waits_has_no_segments_between_block_barriers():
    text = PIPELINE.replace("copies:\n", "copies:\n    BAR.SYNC 0x0 | 5\n").replace("consumer:\n", "consumer:\n    BAR.SYNC 0x0 | 5\n")
    result = answer(text)
    assert result.makespan is not None
    assert "arrives at a block barrier with all its threads" not in " ".join(result.makespan.bound.assumptions)


def test_the_blocks_of_a_cluster_are_charged_one_after_the_other():
    alone, pairs = answer(), answer(launch=replace(LAUNCH, cluster=(2, 1, 1)), cluster=2)
    assert pairs.gaps == ()
    assert alone.makespan is not None
    assert alone.makespan.terms is not None
    assert pairs.makespan is not None
    assert pairs.makespan.terms is not None
    assert pairs.makespan.terms.drain == 2 * alone.makespan.terms.drain
    assert pairs.makespan.terms.memory == alone.makespan.terms.memory


def terms(cluster: Shape, blocks: int = 132) -> Terms:
    result = answer(launch=replace(LAUNCH, cluster=cluster, grid=(blocks, 1, 1)), cluster=16)
    assert result.gaps == ()
    assert result.makespan is not None
    assert result.makespan.terms is not None
    return result.makespan.terms


def test_clusters_that_wait_for_places_follow_each_other():
    # 132 SMs in 8 groups at most: of clusters of four, 27 are resident while another one waits, for want of four SMs in any group.
    few, many = terms((4, 1, 1), 108), terms((4, 1, 1), 112)
    assert (few.chain, few.sm) == (0, 0)
    assert many.chain == Fraction(28, 27) * few.drain
    assert many.sm == 0  # one block on each SM
    pairs = terms((2, 1, 1), 1320)
    assert pairs.chain == Fraction(660, 62) * terms((2, 1, 1)).drain


@pytest.mark.parametrize("cluster", [None, (16, 2, 1)], ids=["unknown", "none may be resident"])
def test_clusters_that_may_find_no_places_have_no_bound(cluster: Shape | None):
    result = answer(launch=replace(LAUNCH, cluster=cluster), cluster=16)
    assert "cluster-launch" in {gap.code for gap in result.gaps}


@pytest.mark.parametrize("cluster", [2, 3, 4, 8])
def test_no_order_of_clusters_on_groups_takes_longer_than_the_bound(cluster: int):
    random = Random(cluster)
    for _ in range(200):
        groups = [random.randint(1, 9) * 2 for _ in range(random.randint(1, 8))]
        places, blocks = random.randint(1, 3), cluster * random.randint(1, 60)
        grid = Grid(blocks, 1, sum(groups), places, cluster=cluster, groups=len(groups))
        lives = [random.randint(1, 20) for _ in range(grid.clusters)]
        if grid.at_once or not grid.resident_clusters or max(groups) < cluster:
            continue
        optima = Optima(Fraction(max(lives), cluster), Fraction(0), Fraction(0), True, cluster=cluster)
        assert longest(groups, places, cluster, lives, random) <= grid_bound(optima, grid)


def longest(groups: list[int], places: int, cluster: int, lives: list[int], random: Random) -> int:
    """When the last of the clusters ends, each of which starts as soon as some group has a place on as many SMs, whichever."""
    free = [[places] * sms for sms in groups]
    running: list[tuple[int, int, list[int]]] = []
    now = 0
    for life in lives:
        while not (fitting := [group for group, sms in enumerate(free) if sum(map(bool, sms)) >= cluster]):
            running.sort(key=itemgetter(0))
            now, group, taken = running.pop(0)
            for sm in taken:
                free[group][sm] += 1
        group = random.choice(fitting)
        taken = random.sample([sm for sm, left in enumerate(free[group]) if left], cluster)
        for sm in taken:
            free[group][sm] -= 1
        running.append((now + life, group, taken))
    return max(end for end, _, _ in running)
