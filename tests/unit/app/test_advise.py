"""Kernels with one seeded flaw each, and their mended twins (samples/advise): the remedy of the flaw is advised first, by its gain."""

import re
from functools import cache

import pytest

import sassan
from budget import some
from samples import SAMPLES
from sassan.api.advising import AdviceList
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel
from sassan.app.advise.trying import remedies

A100 = "A100-PCIE-40GB"
FLAWS = sorted(path.stem for path in (SAMPLES / "advise").glob("*.cu"))
GOOD = [name for name in FLAWS if name not in {"block_size", "reuse"}]
"""Of the others, one waits for the unit of special functions, and one computes one result per thread: both are advised, rightly."""
NEAR = 0.25
SMALL = 0.05


@cache
def header(name: str) -> str:
    return (SAMPLES / "advise" / f"{name}.cu").read_text("utf-8")


def launch(name: str, kernel: str) -> sassan.Launch:
    """The launch of the line `// Launch: [KERNEL] BLOCK GRID [PARAM=N...]`."""
    lines = [line.split() for line in re.findall("^// Launch: (.*)$", header(name), re.MULTILINE)]
    block, grid, *given = next(words[words[0] == kernel :] for words in lines if words[0] == kernel or words[0][0].isdigit())
    parameters: dict[str | int, int] = {place: int(value) for place, _, value in (word.partition("=") for word in given)}
    return sassan.Launch(gpu=A100, block=extents(block), grid=extents(grid), parameters=parameters)


def extents(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


@cache
def advised(name: str, kernel: str) -> AdviceList:
    return sassan.advise(SAMPLES / "advise" / "sm_80" / f"{name}.cubin", function=kernel, launch=launch(name, kernel))


def us(advice: AdviceList) -> float:
    estimate = advice.launches[0].estimate.estimate
    assert estimate is not None
    return estimate.us


@pytest.mark.parametrize("name", some(FLAWS))
@pytest.mark.slow
def test_the_remedy_of_the_flaw_stands_first_with_the_time_of_the_twin(name: str):
    flaw = re.search("^// Flaw: (.*)$", header(name), re.MULTILINE)
    assert flaw is not None
    first = advised(name, "flawed")[0]
    assert first.code == flaw[1]
    assert first.us == pytest.approx(us(advised(name, "mended")), rel=NEAR)


@pytest.mark.parametrize("name", some(GOOD))
@pytest.mark.slow
def test_a_good_kernel_has_no_advice_that_gains_much(name: str):
    assert [each for each in advised(name, "mended") if each.gain_of_total > SMALL] == []


def codes(path: str, *, gpu: str = A100, block: int | tuple[int, int], grid: int | tuple[int, int] = 864, **given: int) -> dict[str, float]:
    """The best share of each code that is advised for the first kernel of a sample."""
    parameters: dict[str | int, int] = dict(given)
    advice = sassan.advise(SAMPLES / path, launch=sassan.Launch(gpu=gpu, block=block, grid=grid, parameters=parameters))
    return {each.code: each.gain_of_total for each in reversed(advice)}


@pytest.mark.slow
def test_nothing_helps_a_copy_that_takes_all_of_dram():
    advice = sassan.advise(SAMPLES / "limits/sm_80/dram.cubin", launch=sassan.Launch(gpu=A100, block=256, grid=1 << 16))
    assert list(advice) == []
    assert advice.binds == "dram is busy for 99 % of the time"


@pytest.mark.slow
def test_a_detour_by_registers_costs_nothing_where_dram_binds():
    assert "async-copy" not in codes("launches/sm_80/stencil_line.cubin", block=256, param_2=32)


@pytest.mark.slow
def test_loads_of_which_addresses_are_loaded_are_not_made_ahead():
    found = {each.code for each in advised("occupancy", "flawed")}
    assert not found & {"pipeline", "unroll", "async-copy"}, "each load needs the one before it"


@pytest.mark.slow
def test_a_product_with_one_result_per_thread_should_have_several():
    assert codes("launches/sm_80/matmul_tiled.cubin", block=(16, 16), param_3=256)["reuse"] > 0.2
    assert "reuse" not in codes("launches/sm_80/matmul_registers.cubin", block=(16, 16), param_3=256)


@pytest.mark.slow
def test_other_blocks_do_the_same_work():
    assert "block-size" not in codes("launches/sm_80/reduce_warps.cubin", block=256, param_2=1024), (
        "a block is 8 warps, whatever the launch says"
    )
    assert "block-size" not in {each.code for each in advised("tail", "flawed")}, "more blocks would have less to do in all"


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "gpu", "tried"), [("sm_80", A100, False), ("sm_90", "H100 PCIe", True)])
def test_clusters_are_tried_where_there_are_some(arch: str, gpu: str, *, tried: bool):
    launch = sassan.Launch(gpu=gpu, block=(16, 16), grid=(64, 64), parameters={"param_3": 1024})
    result = sassan.advise(SAMPLES / "launches" / arch / "matmul_tiled.cubin", launch=launch).launches[0].estimate
    assert result.prepared is not None
    launched = LaunchedKernel(result.analysis, result.prepared, result.prepared.estimate())
    of_clusters = [remedy for remedy in remedies(launched) if remedy.code is AdviceCode.CLUSTER]
    assert bool(of_clusters) == tried
    assert all(remedy.changed.estimate().shares["l2"] < launched.known.shares["l2"] for remedy in of_clusters)


@pytest.mark.slow
def test_a_remedy_leaves_the_launch_as_it_is():
    result = advised("pipeline", "flawed").launches[0].estimate
    assert result.prepared is not None
    launched = LaunchedKernel(result.analysis, result.prepared, result.prepared.estimate())
    changed = [remedy.changed for remedy in remedies(launched)]
    assert len(changed) > 1
    assert all(each != result.prepared for each in changed)
    assert result.prepared.estimate().us == us(advised("pipeline", "flawed"))


def test_there_are_twelve_flaws_of_different_kinds():
    kinds = set(re.findall("^// Flaw: (.*)$", "\n".join(map(header, FLAWS)), re.MULTILINE))
    assert len(kinds) == len(FLAWS) >= 12
    assert kinds < set(AdviceCode)
    assert len(GOOD) >= 12
