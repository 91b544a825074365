"""Loops at the peak rate of one unit (samples/peak): bounds of 32 warps of 1000 x 8 instructions against published peaks."""

from fractions import Fraction

import pytest

import sassan
from budget import some
from samples import SAMPLES
from sassan.alphabet import Letter
from sassan.errors import InputError
from sassan.frontend.cubin.tools import tools
from sassan.ipet.sm.shares import of_letters
from sassan.isa.tables import unit
from sassan.machine import load

GUIDE = "CUDA C++ Programming Guide 12.9, throughput of native arithmetic instructions"
V100 = "V100 whitepaper: 125 TFLOPS, 80 SMs, 1530 MHz"
RTX_2080_TI = "Turing whitepaper: 53.8 TFLOPS with single-precision sums, 215.2 TOPS, 68 SMs, 1545 MHz"
A100 = "A100 whitepaper: 312 TFLOPS, 624 TOPS, 19.5 TFLOPS of double precision, 108 SMs, 1410 MHz"
RTX_3080 = "GA102 whitepaper: 59.5 TFLOPS with single-precision sums, 238 TOPS, 68 SMs, 1710 MHz"
RTX_4090 = "Ada whitepaper: 165.2 TFLOPS with single-precision sums, 660.6 TOPS, 128 SMs, 2520 MHz"
H100 = "H100 whitepaper: 989.4 TFLOPS, 1978.9 TOPS, 132 SMs, 1830 MHz; double precision 66.9 TFLOPS at 1980 MHz"
B200 = "B200: 2250 TFLOPS, 4500 TOPS, 148 SMs; double precision 40 TFLOPS"
RTX_5090 = "RTX Blackwell whitepaper: 209.5 TFLOPS with single-precision sums, 838 TOPS, 170 SMs, 2407 MHz"

# Operations of one instruction of a warp, and how many an SM does per clock.
PEAKS = [
    ("sm_52", "dfma", 32, 4, GUIDE),
    ("sm_61", "dfma", 32, 4, GUIDE),
    ("sm_70", "dfma", 32, 32, GUIDE),
    ("sm_75", "dfma", 32, 2, GUIDE),
    ("sm_80", "dfma", 32, 32, GUIDE),
    ("sm_86", "dfma", 32, 2, GUIDE),
    ("sm_89", "dfma", 32, 2, GUIDE),
    ("sm_90", "dfma", 32, 64, GUIDE),
    ("sm_100", "dfma", 32, 64, GUIDE),
    ("sm_120", "dfma", 32, 2, GUIDE),
    ("sm_52", "mufu", 32, 32, GUIDE),
    ("sm_61", "mufu", 32, 32, GUIDE),
    ("sm_70", "mufu", 32, 16, GUIDE),
    ("sm_75", "mufu", 32, 16, GUIDE),
    ("sm_80", "mufu", 32, 16, GUIDE),
    ("sm_86", "mufu", 32, 16, GUIDE),
    ("sm_89", "mufu", 32, 16, GUIDE),
    ("sm_90", "mufu", 32, 16, GUIDE),
    ("sm_100", "mufu", 32, 16, GUIDE),
    ("sm_120", "mufu", 32, 16, GUIDE),
    ("sm_70", "hmma", 4 * 8 * 8 * 4, 512, V100),
    ("sm_75", "hmma", 16 * 8 * 8, 256, RTX_2080_TI),
    ("sm_80", "hmma", 16 * 8 * 16, 1024, A100),
    ("sm_86", "hmma", 16 * 8 * 16, 256, RTX_3080),
    ("sm_89", "hmma", 16 * 8 * 16, 256, RTX_4090),
    ("sm_90", "hmma", 16 * 8 * 16, 2048, H100),
    ("sm_100", "hmma", 16 * 8 * 16, 4096, B200),
    ("sm_120", "hmma", 16 * 8 * 16, 256, RTX_5090),
    ("sm_75", "imma", 8 * 8 * 16, 1024, RTX_2080_TI),
    ("sm_80", "imma", 16 * 8 * 32, 2048, A100),
    ("sm_86", "imma", 16 * 8 * 32, 1024, RTX_3080),
    ("sm_89", "imma", 16 * 8 * 32, 1024, RTX_4090),
    ("sm_90", "imma", 16 * 8 * 32, 4096, H100),
    ("sm_100", "imma", 16 * 8 * 32, 8192, B200),
    ("sm_120", "imma", 16 * 8 * 32, 1024, RTX_5090),
    ("sm_80", "dmma", 8 * 8 * 4, 64, A100),
    ("sm_86", "dmma", 8 * 8 * 4, 2, GUIDE),
    ("sm_90", "dmma", 8 * 8 * 4, 128, H100),
    ("sm_100", "dmma", 8 * 8 * 4, 64, B200),
    ("sm_90a", "hgmma", 64 * 64 * 16 // 4, 2048, H100),
]
NAMES = [f"{loop} {arch}" for arch, loop, *_ in PEAKS]


@pytest.mark.parametrize(("arch", "loop", "operations", "rate", "source"), some(PEAKS, of=9), ids=some(NAMES, of=9))
def test_a_loop_at_the_peak_takes_as_long_as_the_published_rate(arch: str, loop: str, operations: int, rate: int, source: str) -> None:
    needed = Fraction(32 * 1000 * 8 * operations, rate)
    # The latency of a product of a warpgroup is the user's to say: one that adds nothing to the time of its unit.
    latency = {"wgmma": 1} if loop == "hgmma" else {}
    path = SAMPLES / "peak" / arch / f"{loop}.cubin"
    number = int(arch.removeprefix("sm_").rstrip("af"))
    if not any(number in tool.reads for tool in tools("nvdisasm")):
        pytest.skip(f"no nvdisasm that reads {arch} is installed")
    kernel = sassan.analyze(path, warps=32, model="control", latency=latency)[0]
    assert kernel.makespan is not None
    assert kernel.makespan >= needed, source


@pytest.mark.skipif(not any(80 in tool.reads for tool in tools("nvdisasm")), reason="no nvdisasm that reads sm_80 is installed")
def test_the_loop_of_an_a100_needs_half_a_million_cycles() -> None:
    kernel = sassan.analyze(SAMPLES / "peak" / "sm_80" / "hmma.cubin", warps=32)[0]
    # By letters: 31 of the 32 warps wait 20.6 slots per iteration, 16 of them for products.
    assert (kernel.worst_path, kernel.makespan) == ("C19(C8T8C1)^1000CSC41LC", 661_619)


def test_a_product_has_no_slots_on_an_sm_without_tensor_cores() -> None:
    with pytest.raises(InputError) as caught:
        of_letters(load("sm_61"), {Letter.TENSOR: 1})
    assert caught.value.code == "no-unit"


# Cycles from one product of a warp to the next.
@pytest.mark.parametrize(
    ("arch", "opcode", "cycles"),
    [
        ("sm_70", "HMMA.884.F32.F32.STEP0", 2),
        ("sm_70", "HMMA.884.F16.F16.STEP1", 4),
        ("sm_75", "HMMA.1688.F16", 8),
        ("sm_75", "HMMA.1688.F32", 16),
        ("sm_80", "HMMA.16816.F32.BF16", 8),
        ("sm_80", "HMMA.1688.F32.TF32", 8),
        ("sm_80", "HMMA.SP.16832.F32", 8),
        ("sm_80", "IMMA.16864.S4.S4", 8),
        ("sm_80", "IMMA.SP.168128.S4.S4.SAT", 8),
        ("sm_80", "BMMA.168256.AND.POPC", 8),
        ("sm_80", "DMMA.884", 16),
        ("sm_86", "HMMA.16816.F16", 16),
        ("sm_86", "HMMA.16816.F32", 32),
        ("sm_86", "HMMA.1688.F32.TF32", 32),
        ("sm_86", "DMMA.884", 128),
        ("sm_89", "QMMA.16832.F16.E4M3.E4M3", 32),
        ("sm_89", "QMMA.16832.F32.E4M3.E4M3", 32),
        ("sm_90", "HGMMA.64x256x16.F32", 128),
        ("sm_90", "HGMMA.64x256x8.F32.TF32", 128),
        ("sm_90", "IGMMA.64x256x32.S8.S8", 128),
        ("sm_90", "HGMMA.64x8x16.F32", 32),
        ("sm_90", "DMMA.16x8x16", 64),
    ],
)
def test_a_product_keeps_its_unit_by_its_shape_and_type(arch: str, opcode: str, cycles: int) -> None:
    assert (unit(arch, opcode), load(arch).interval("tensor", opcode)) == ("tensor", cycles)


def test_a_product_without_a_shape_has_no_published_rate() -> None:
    pipe = load("sm_80").pipe("tensor", "HMMA.F32")
    assert pipe is not None
    assert (pipe.cycles, pipe.unsure) == (128, True)
