"""Warps that are run: what their accesses touch is what the analysis of addresses says, and how often they visit nodes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from budget import some
from samples import SAMPLES
from sassan.access import accesses, transactions
from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, Prepared, estimated
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.estimate import sampled_launch, warps, watch
from sassan.estimate.accesses import contents, lanes, pieces
from sassan.estimate.launch import ALONE, LongerPath
from sassan.estimate.path import PathSource, nested
from sassan.estimate.watch import watched
from sassan.frontend import load, read
from sassan.ir import Function
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from scheduled import scheduled

LANES = 32


@cache
def kernel_of(name: str, kernel: str = "") -> Function:
    functions = read(load(str(SAMPLES / "sm_80" / f"{name}.cubin"))).functions
    return next(each for each in functions if each.kernel and kernel in each.name)


@cache
def analysed(name: str, launch: LaunchConfiguration, kernel: str = "", loop_bound: int | None = 10) -> AnalysisResult:
    gpu = find("A100-PCIE-40GB")
    costs, resources = models.model("control", Tables()), Resources(sms=gpu.sms)
    settings = Settings(costs=costs, launch=launch, resources=resources, gpu=gpu, loop_bound=loop_bound, check=False)
    return analyze(kernel_of(name, kernel), settings)


def seen(name: str, launch: LaunchConfiguration, kernel: str = "") -> tuple[AnalysisResult, sampled_launch.SampledLaunch]:
    result = analysed(name, launch, kernel)
    found = sampled_launch.sampled_launch(result.cfg, result.isa.facts, launch, result.wcet.counts, 1000.0)
    assert found is not None
    return result, found


@pytest.mark.parametrize("seed", range(20))
def test_transactions_of_lanes_are_those_that_are_counted_one_by_one(seed: int):
    dice = Random(seed)
    size = dice.choice((4, 8, 16))
    addresses = [size * dice.randrange(dice.choice((4, 64, 4096))) for _ in range(LANES)]
    row, everyone = np.array([addresses], np.uint32), np.ones((1, LANES), np.bool_)
    assert lanes.passes(row, everyone, size).tolist() == [transactions.passes(addresses, size)]
    assert lanes.distinct(row // transactions.SECTOR, everyone).tolist() == [transactions.sectors(addresses, size)]


def test_who_does_not_access_touches_nothing():
    row, some = np.arange(LANES, dtype=np.uint32)[None] * 32, np.arange(LANES)[None] < 5
    assert lanes.distinct(row, some).tolist() == [5]
    assert lanes.passes(row, ~np.ones((1, LANES), np.bool_), 4).tolist() == [0]


@pytest.mark.parametrize("kernel", ["array_of_structures", "structure_of_arrays", "vector_copy"])
def test_known_accesses_touch_what_the_analysis_of_addresses_says(kernel: str):
    result, found = seen("memory_patterns", LaunchConfiguration((256, 1, 1), (64, 1, 1)), kernel)
    assert result.values is not None
    exact = {each.address: each.sectors.least for each in accesses(result.values) if each.sectors is not None and each.sectors.exact}
    compared = {address: one.sectors for (address, _), one in found.accessed.items() if address in exact and not one.drawn}
    assert compared
    assert compared == {address: exact[address] for address in compared}


@pytest.mark.parametrize(("kernel", "part"), [("vector_copy", 0.0), ("array_of_structures", 0.0), ("transpose_naive", 1.0)])
def test_l2_fetches_sectors_that_are_stored_in_part_unless_the_block_has_read_them(kernel: str, part: float):
    """`p[i].x += 1` stores a quarter of what it has just read: it was taken to be fetched twice, and estimated above its bound on a T4."""
    _, found = seen("memory_patterns", LaunchConfiguration((32, 1, 1), (64, 64, 1), (Setting("param_2", -1, 2048),)), kernel)
    assert found.parts == part


@pytest.mark.parametrize(("n", "runs"), [(64 * 256, 1.0), (0, 0.0)])
def test_a_guard_is_passed_by_who_passes_it(n: int, runs: float):
    launch = LaunchConfiguration((256, 1, 1), (64, 1, 1), (Setting("param_0", -1, n), Setting("param_1", -1, 0)))
    result, found = seen("saxpy", launch)
    body = max(range(len(result.cfg.nodes)), key=lambda node: len(result.cfg.nodes[node].code))
    assert found.counted.executions[result.cfg.entry] == 1
    assert found.counted.executions[body] == (1.0 if body == result.cfg.entry else runs)


def test_numbers_that_are_not_given_are_those_of_the_grid():
    result = analysed("saxpy", LaunchConfiguration((256, 1, 1), (64, 1, 1)))
    found = sampled_launch.sampled_launch(result.cfg, result.isa.facts, result.settings.launch, result.wcet.counts, 1000.0)
    assert found is not None
    assert 0x160 in {place.offset for place in found.assumed}
    assert found.counted.executions[result.cfg.entry] == 1
    known = estimated(result).estimate
    assert known is not None
    assert known.source is PathSource.SAMPLED


SHORT = {"memory_patterns": 128, "matmul_tiled": 256}
"""Numbers of those samples that iterate long for 1024."""
LAUNCHES: list[tuple[str, Shape, Shape]] = [
    ("saxpy", (256, 1, 1), (4096, 1, 1)),
    ("reduce_shared", (128, 1, 1), (300, 1, 1)),
    ("histogram_atomic", (256, 1, 1), (50, 1, 1)),
    ("matmul_tiled", (16, 16, 1), (1, 1, 1)),
    ("stencil2d_halo", (16, 16, 1), (32, 32, 1)),
    ("memory_patterns", (256, 1, 1), (1000, 1, 1)),
]


GROUPED = [
    ("saxpy", "", (Setting("param_0", -1, 1 << 14), Setting("param_1", -1, 0))),
    ("memory_patterns", "array_of_structures", ()),
    ("memory_patterns", "structure_of_arrays", ()),
]


@pytest.mark.parametrize(("name", "kernel", "parameters"), GROUPED, ids=[name + kernel for name, kernel, _ in GROUPED])
def test_accesses_in_groups_touch_what_they_touch_alone(
    name: str, kernel: str, parameters: tuple[Setting, ...], monkeypatch: pytest.MonkeyPatch
):
    launch = LaunchConfiguration((256, 1, 1), (64, 1, 1), parameters)
    result, together = seen(name, launch, kernel)
    groups = watched(result.cfg, result.isa.facts)
    assert len(groups.groups) < len(groups.accesses)
    monkeypatch.setattr(warps, "watched", lambda cfg, _: watched(cfg, lambda _: None))
    found = sampled_launch.sampled_launch(result.cfg, result.isa.facts, launch, result.wcet.counts, 1000.0)
    assert found is not None
    known = [key for key, each in together.accessed.items() if not each.drawn]
    assert known
    for key in known:
        one, other = together.accessed[key], found.accessed[key]
        assert (one.sectors, one.lines, one.passes) == pytest.approx((other.sectors, other.lines, other.passes))


def with_numbers(name: str, block: Shape, grid: Shape) -> LaunchConfiguration:
    """Return a launch of a sample whose parameters of four bytes are all one number."""
    compiler = kernel_of(name).compiler
    assert compiler is not None
    numbers = [place for place, each in enumerate(compiler.parameters) if each.size == 4]
    return LaunchConfiguration(block, grid, tuple(Setting(f"param_{place}", -1, SHORT.get(name, 1 << 10)) for place in numbers))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "block", "grid"), some(LAUNCHES, of=3), ids=[name for name, _, _ in some(LAUNCHES, of=3)])
def test_an_estimate_is_never_above_the_bound(name: str, block: Shape, grid: Shape):
    result = analysed(name, with_numbers(name, block, grid))
    found = estimated(result).estimate
    assert found is not None
    assert result.grid_bound is not None
    assert found.cycles <= result.grid_bound


@pytest.mark.slow
@pytest.mark.parametrize(("name", "block", "grid"), some(LAUNCHES, of=4), ids=[name for name, _, _ in some(LAUNCHES, of=4)])
def test_warps_that_compute_only_what_is_read_do_the_same(name: str, block: Shape, grid: Shape, monkeypatch: pytest.MonkeyPatch):
    launch = with_numbers(name, block, grid)
    result, less = seen(name, launch)
    slices = warps.live_slice
    monkeypatch.setattr(warps, "live_slice", lambda code, read: code if read else slices(code, read))
    assert sampled_launch.sampled_launch(result.cfg, result.isa.facts, launch, result.wcet.counts, 1000.0) == less


@pytest.mark.parametrize("seed", range(20))
def test_addresses_of_warps_and_their_copies_are_compared_lane_by_lane(seed: int):
    numbers = np.random.default_rng(seed)
    chosen = warps.Sample((), np.array([True] * 4 + [False] * 2), ((0, 4), (2, 5)), 4)
    parts = []
    for _ in range(int(numbers.integers(1, 5))):
        rows = np.flatnonzero(numbers.random(6) < 0.8)
        shape = len(rows), LANES
        some = numbers.integers(0, 2 if seed % 2 else 1, shape).astype(np.uint32)
        parts.append(watch.Executions(rows, np.zeros(len(rows), np.uint32), some, numbers.random(shape) < 0.1))
    joined = watch.joined(parts)
    differ = False
    for lane, pair in product(range(LANES), chosen.pairs):
        one, other = ([row for row in np.flatnonzero(joined.warps == warp) if joined.active[row, lane]] for warp in pair)
        differ = differ or any(joined.addresses[a, lane] != joined.addresses[b, lane] for a, b in zip(one, other, strict=False))
    assert contents.differ({(0, 0): parts}, {(0, 0): joined}, chosen, np.full(6, 1)) == {(0, 0): differ}


def test_accesses_of_a_group_may_have_addresses_of_fewer_lanes():
    """`LDSM.x2` in one group with `LDSM.x4`: an estimate ended with an index beyond its 16 addresses."""
    chosen = warps.Sample((), np.array([True, False]), ((0, 1),), 1)
    rows, steps = np.array([0, 1]), np.zeros(2, np.uint32)
    wide, narrow = (
        watch.Executions(rows, steps, np.arange(2 * lanes, dtype=np.uint32).reshape(2, lanes), np.ones((2, lanes), np.bool_))
        for lanes in (LANES, LANES // 2)
    )
    known = {(0, 0): wide, (16, 0): narrow}
    assert contents.differ({key: [each] for key, each in known.items()}, known, chosen, np.full(2, 1)) == {(0, 0): True, (16, 0): True}


@pytest.mark.parametrize("kernel", ["l1", "fma", "latency"])
def test_warps_that_leap_over_iterations_visit_what_they_would_visit(kernel: str, monkeypatch: pytest.MonkeyPatch):
    (function,) = read(load(str(SAMPLES / "limits" / "sm_80" / f"{kernel}.cubin"))).functions
    launch = LaunchConfiguration((256, 1, 1), (8, 1, 1), tuple(Setting(f"param_{number}", -1, number << 28) for number in range(2)))
    result = analyze(function, Settings(costs=models.model("control", Tables()), launch=launch, contention=False, check=False))
    counted: list[tuple[float, ...]] = []
    for first in (0, 1 << 30):
        monkeypatch.setattr(watch, "_LEAPS", first)
        found = sampled_launch.sampled_launch(result.cfg, result.isa.facts, launch, result.wcet.counts, 1000.0)
        assert found is not None
        counted.append(found.counted.executions)
    assert counted[0] == pytest.approx(counted[1])


LAST_LANE_GOES_ON = """
    S2R R0, SR_TID.X                       | 2 w0
    MOV R6, RZ                             | 5
    MOV R7, RZ                             | 5
    ISETP.EQ.AND P1, PT, R0, 0x1f, PT      | 13 wait0
    MOV R3, 0xc                            | 5
    @P1 MOV R3, 0x14                       | 5
loop:
    IADD3 R6, P0, R6, 0x4, RZ              | 5
    IADD3.X R7, RZ, R7, RZ, P0, !PT        | 5
    ISETP.GE.U32.AND P0, PT, R6, R3, PT    | 13
    @!P0 BRA loop                          | 5
    EXIT                                   | 5
"""


def test_iterations_are_guessed_up_to_a_comparison_and_not_until_a_word_wraps(monkeypatch: pytest.MonkeyPatch):
    """A launch of 1 ms was estimated at 268 s: the last thread of a grid had some bytes more than others."""
    launch = LaunchConfiguration((LANES, 1, 1), (1, 1, 1))
    result = analyze(
        replace(scheduled(LAST_LANE_GOES_ON, "sm_80"), kernel=True),
        Settings(costs=models.model("control", Tables()), launch=launch, contention=False, check=False),
    )
    for name in ("_LEAPS", "_GUESSES"):
        monkeypatch.setattr(watch, name, 0)
    found = sampled_launch.sampled_launch(result.cfg, result.isa.facts, launch, (0,) * len(result.cfg.edges), 1000.0)
    assert found is not None
    assert found.counted.executions == (1.0, 5.0, 2.0)


@pytest.mark.parametrize(("bits", "table"), [("0xff", True), ("0xffffffff", False)])
def test_a_table_that_few_bits_index_is_found_in_l1(bits: str, table: bool):
    text = f"""
        S2R R0, SR_TID.X                       | 2 w0
        MOV R4, 0x4                            | 5
        IMAD.WIDE.U32 R2, R0, R4, c[0x0][0x160]| 5 wait0
        MOV R9, RZ                             | 5
        LDG.E R5, [R2.64]                      | 2 w1
    loop:
        LOP3.LUT R6, R5, {bits}, RZ, 0xc0, !PT | 5 wait1
        IMAD.WIDE.U32 R6, R6, R4, c[0x0][0x168]| 5
        LDG.E R5, [R6.64]                      | 2 w1
        IADD3 R9, R9, 0x1, RZ                  | 5
        ISETP.NE.AND P0, PT, R9, 0x20, PT      | 13
        @P0 BRA loop                           | 5
        STG.E [R2.64], R5                      | 5 wait1
        EXIT                                   | 5
    """
    pointers = (Setting("", 0x160, 1 << 28, 8), Setting("", 0x168, 1 << 29, 8))
    launch = LaunchConfiguration((LANES, 1, 1), (64, 1, 1), pointers)
    result = analyze(
        replace(scheduled(text, "sm_80"), kernel=True),
        Settings(costs=models.model("control", Tables()), launch=launch, contention=False, check=False),
    )
    found = sampled_launch.sampled_launch(result.cfg, result.isa.facts, launch, result.wcet.counts, 1000.0)
    assert found is not None
    looked_up = next(each for (address, _), each in found.accessed.items() if address == 0x70)
    assert looked_up.drawn != table
    assert looked_up.random == table
    if table:
        assert 512 < looked_up.span < 1024
        assert looked_up.fresh < 0.2 * looked_up.sectors


def rows_of_a_matrix(lengths: list[int], block: Shape, grid: Shape) -> EstimateResult:
    """A sparse product with a thread for each row, whose row pointers are known when it begins, but bound no loop."""
    starts = [sum(lengths[:row]) for row in range(len(lengths) + 1)]
    known = Contents((KnownBytes(1 << 20, np.array(starts, np.uint32).tobytes()),), "rows")
    values = (len(lengths), *((1 + place) << 20 for place in range(5)))
    parameters = tuple(Setting(f"param_{place}", -1, value) for place, value in enumerate(values))
    return estimated(analysed("spmv_csr", LaunchConfiguration(block, grid, parameters, initial=known), loop_bound=None))


def executed(result: EstimateResult, executions: Sequence[float]) -> float:
    """How many instructions these executions of nodes are."""
    return sum(len(node.code) * count for node, count in zip(result.analysis.cfg.nodes, executions, strict=True))


def test_an_expectation_does_not_stand_for_iterations_that_known_contents_decide():
    """Sums over rows that data at hand said to be long were estimated at a few iterations each: 400 times too short on an H100."""
    result = rows_of_a_matrix([4000] * 512, (256, 1, 1), (2, 1, 1))
    assert result.prepared is not None
    found = result.prepared.kernel.sampled
    assert found is not None
    assert executed(result, found.counted.executions) > 4000
    assert found.counted.followed
    assert not [text for text in result.assumptions if "are expected where runs do not count them" in text]


def test_a_launch_takes_as_long_as_its_longest_warp():
    """The first thread of a grid summed up an array, and no other one did: estimated 7000 times too short on an H100."""
    made = estimated(analysed("saxpy", LaunchConfiguration((256, 1, 1), (64, 1, 1)))).prepared
    assert made is not None
    assert made.kernel.sampled is not None
    executions = [10_000 * count for count in made.kernel.sampled.counted.executions]
    alone = LongerPath(nested(made.kernel.cfg, executions), replace(made.grid, blocks=1, block_warps=1, places=1), ALONE)
    longer = replace(made, kernel=replace(made.kernel, longer=(alone,)))
    assert longer.estimate().cycles > 10_000 > made.estimate().cycles
    assert (ALONE in longer.estimate().assumptions, ALONE in made.estimate().assumptions) == (True, False)


@pytest.mark.parametrize("warps_of_block", [1, 2, 6, 7, 32])
def test_warps_of_a_block_that_are_run_stand_for_all_of_them_and_the_first_one_is_among_them(warps_of_block: int):
    chosen = warps.sample((LANES * warps_of_block, 1, 1), (4, 1, 1))
    places = [place for place, spot in enumerate(chosen.spots[: len(chosen.inner) - len(chosen.pairs)]) if spot.block == (0, 0, 0)]
    assert chosen.spots[places[0]].warp == 0
    assert len({chosen.spots[place].warp for place in places}) == len(places)
    assert chosen.weights[places].sum() == pytest.approx(warps_of_block)


@pytest.mark.parametrize(("number", "bytes_of_all"), [(1 << 12, 1 << 14), (1 << 20, 1 << 22), (1 << 24, 1 << 26)])
def test_what_iterations_touch_that_are_leapt_over_is_read_as_well(number: int, bytes_of_all: int):
    launch = LaunchConfiguration(
        (256, 1, 1), (16, 1, 1), (Setting("param_0", -1, 1 << 28), Setting("param_1", -1, 2 << 28), Setting("param_2", -1, number))
    )
    _, found = seen("reduce_shuffle", launch)
    assert found.footprint[0] == pytest.approx(bytes_of_all, rel=0.02)


@pytest.mark.parametrize("grid", [(256, 256, 1), (40, 3000, 1), (64, 16, 64)])
def test_blocks_that_are_run_are_spread_over_every_extent(grid: Shape):
    """Of a kernel over pairs half of the blocks do nothing: with two thirds of those that ran it was estimated at 1.9 times its time."""
    chosen = warps.sample((64, 1, 1), grid)
    blocks = {spot.block for spot, inner in zip(chosen.spots, chosen.inner, strict=False) if inner}
    first, last = (axis for axis in (0, 1, 2) if grid[axis] > 1 and axis in {0, max(each for each in range(3) if grid[each] > 1)})
    above = sum(block[first] / grid[first] > block[last] / grid[last] for block in blocks)
    assert above / len(blocks) == pytest.approx(0.5, abs=0.16)


def transposed(tile: int, kernel: str) -> tuple[AnalysisResult, sampled_launch.SampledLaunch]:
    number, pointers = 1 << 14, [Setting(f"param_{place}", -1, 1 << 29 + place) for place in (0, 1)]
    launch = LaunchConfiguration((tile, tile, 1), (number // tile, number // tile, 1), (*pointers, Setting("param_2", -1, number)))
    return seen("memory_patterns", launch, kernel)


def test_neighbouring_blocks_that_write_columns_touch_pieces_and_read_whole_rows():
    _, found = transposed(LANES, "transpose_pad")
    assert found.pieces == (np.inf, 4 * LANES)


def test_neighbouring_blocks_that_touch_the_same_sectors_touch_no_short_pieces():
    """Blocks of one sample each of a dedispersion read the same sectors: estimated at 2.7 times its time where these were short pieces."""
    numbers = [np.arange(0, 4096, 8, np.uint32) + np.uint32(step) for step in (0, 1)]
    shared, others = np.array([0, 1, 2, 3], np.uint32), np.array([8, 9, 10, 11], np.uint32)
    assert pieces.of_neighbours([(numbers[0], numbers[0])]) == np.inf
    assert pieces.of_neighbours([(numbers[0], numbers[1])]) == np.inf
    assert pieces.of_neighbours([(numbers[0], numbers[0] + np.uint32(4))]) == 32
    assert pieces.of_neighbours([(shared, others)]) == 128


def test_dram_takes_as_long_for_a_short_piece_as_for_a_row():
    result, found = transposed(LANES, "transpose_pad")
    kernel = made_of(result).kernel
    assert kernel.slower(4.0 * LANES, 100, 0.0) == 1
    # Half of the bytes are in pieces that take four times as long.
    assert kernel.slower(16.0 * LANES, 100, 0.0) == pytest.approx(2.5, rel=0.01)
    # Blocks of the next row of the grid go on where those of this one end.
    assert kernel.slower(16.0 * LANES, found.across, 0.0) == 1
    # As many bytes again, in sectors of which DRAM gives twice as much.
    assert kernel.slower(4.0 * LANES, 100, sum(found.footprint)) == pytest.approx(1.5)


def made_of(result: AnalysisResult) -> Prepared:
    made = estimated(result).prepared
    assert made is not None
    return made


def of_two_buffers(pinned: tuple[tuple[int, int], ...]) -> EstimateResult:
    size, first, second = 1 << 24, 1 << 28, 1 << 29
    pointers = (Setting("param_0", -1, first), Setting("param_1", -1, second))
    return estimated(
        analysed("memory_patterns", LaunchConfiguration((256, 1, 1), (size // 4096, 1, 1), pointers, pinned=pinned), "vector_copy")
    )


def test_memory_of_the_host_is_read_over_the_link():
    """The sum of two such arrays was estimated at 0.05 of its time."""
    size, second = 1 << 24, 1 << 29
    here, there = of_two_buffers(()), of_two_buffers(((second, size),))
    assert here.estimate is not None
    assert there.estimate is not None
    assert "host" not in here.estimate.shares
    assert there.estimate.bound_by == "host"
    assert there.estimate.us == pytest.approx(size / 24_600, rel=0.1)
    assert [text for text in there.assumptions if "bytes come from memory of the host, 0 go there" in text]
