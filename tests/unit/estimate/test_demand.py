"""The program of a path: barriers are met by all warps, and a fast division is tested faster than it is computed."""

from fractions import Fraction

import pytest

from sassan.estimate.demand import Demands, MemoryShare
from sassan.estimate.figures import usual
from sassan.estimate.path import Visits
from sassan.estimate.program import RowField, WarpProgram
from sassan.estimate.work import ResourceWork
from sassan.isa.tables import load
from sassan.timing.rates import Tables
from sassan.warpcfg import explore
from scheduled import scheduled


def demands(text: str, arch: str = "sm_80", **latency: int) -> Demands:
    cfg = explore(scheduled(text, arch), load(arch).facts)
    return Demands(cfg, usual(arch, Tables(None, latency)), {}, MemoryShare(Fraction(64), Fraction(16), 0.0, 1.0))


def program(text: str, shares: tuple[float, ...]) -> WarpProgram:
    known = demands(text)
    count = len(known.cfg.nodes)
    return known.program(Visits(tuple(range(count)), (1.0,) * count, shares, (0,) * count))


@pytest.mark.parametrize(("code", "weight", "below"), [("BAR.SYNC 0x0 | 6", 0.25, 1 << 32), ("NOP | 6", 1.0, 1 << 30)])
def test_no_warp_skips_a_barrier(code: str, weight: float, below: int):
    made = program(f"@P0 BRA end | 5\n{code}\nend:\nEXIT | 5", (1.0, 0.25, 1.0))
    assert made.weights.tolist() == [1.0, weight, 1.0]
    assert made.below.tolist() == [1 << 32, below, 1 << 32]


def test_every_instruction_takes_an_issue_slot_beside_its_unit():
    known, walked = demands("IADD3 R0, R2, R3, RZ | 4\nFADD R1, R0, R0 | 5\nNOP | 6\nEXIT | 5"), Visits((0,), (2.0,), (1.0,), (0,))
    cycles = ResourceWork(known.program(walked), tuple(known.pools), 4).cycles(walked)
    assert (cycles["issue"], cycles["alu"], cycles["fma"]) == (10.0, 4.0, 4.0)


def test_the_test_of_a_fast_division_keeps_its_unit_for_less_time():
    made = program("MUFU.RCP R0, R1 | 1 w0\nFCHK P0, R0, R1 | 1 w1\nEXIT | 5 wait01", (1.0,))
    assert made.rows[:2, RowField.INTERVAL].tolist() == [8, 2]


@pytest.mark.parametrize(("latency", "assumed"), [({}, 0), ({"global": 300}, 1)])
def test_a_latency_of_the_user_counts_as_assumed(latency: dict[str, int], assumed: int):
    known = demands("LDG.E R0, [R2.64] | 1 w0\nIADD3 R1, R0, R0, RZ | 4 wait0\nEXIT | 5", **latency)
    made = known.program(Visits((0,), (1.0,), (1.0,), (0,)))
    assert made.rows[0, RowField.ASSUMED] == assumed


@pytest.mark.parametrize(("arch", "together"), [("sm_75", True), ("sm_86", True), ("sm_89", True), ("sm_80", False), ("sm_90", False)])
def test_conversions_of_64_bits_wait_for_double_precision_where_an_sm_has_few_lanes_for_both(arch: str, together: bool):
    known = demands("F2F.F64.F32 R0, R2 | 1 w0\nDADD R4, R0, R6 | 1 w1 wait0\nF2I.TRUNC R9, R8 | 1 w2\nEXIT | 5 wait12", arch)
    assert (known.pool("F2F.F64.F32") == known.pool("DADD")) == together
    assert known.pool("F2I.TRUNC") != known.pool("DADD")


@pytest.mark.parametrize(("lines", "stalls"), [(255, {4}), (257, {4, 34})])
def test_code_that_an_sm_does_not_keep_comes_from_l2_as_a_prefetcher_asks_for_it(lines: int, stalls: set[int]):
    """The SM of an RTX 3060 keeps 32 KiB, 256 lines of 8 instructions; 240 cycles of L2 for 8 lines that are on their way at once."""
    text = "\n".join(["IADD3 R0, R2, R3, RZ | 4"] * (8 * lines - 1)) + "\nEXIT | 4"
    known = demands(text, "sm_86")
    rows = known.program(Visits((0,), (1.0,), (1.0,), (0,))).rows
    assert set(rows[:-1, RowField.STALL].tolist()) == stalls


@pytest.mark.parametrize(
    ("descriptor", "left", "cycles"),
    [("0x8400010", "gdesc", 128), ("0x8200490", "gdesc", 64), ("0x8100010", "gdesc", 48), ("0x8100010", "tmem", 32)],
)
def test_a_product_of_tensor_memory_takes_the_time_of_its_columns(descriptor: str, left: str, cycles: int):
    product = f"UTCHMMA {left}[UR6], gdesc[UR8], tmem[UR4], tmem[UR24], idesc[UR25], UP0 | 1"
    known = demands(f"UMOV UR25, {descriptor} | 2\n{product}\nEXIT | 5", "sm_100")
    assert list(known.products.values()) == [cycles]
    assert known.pool("UTCHMMA")[1]  # the tensor cores of all schedulers
    other = demands(f"R2UR UR25, R0 | 2\n{product}\nEXIT | 5", "sm_100")
    assert not other.products
