"""Kernels with one seeded flaw each, and their mended twins (samples/advise): the remedy of the flaw is advised first, by its gain."""

import re
from functools import cache

import pytest

import sassan
from budget import some
from samples import SAMPLES
from sassan.api import AdviceList
from sassan.app.advise.remedy import AdviceCode

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


def test_there_are_twelve_flaws_of_different_kinds():
    kinds = set(re.findall("^// Flaw: (.*)$", "\n".join(map(header, FLAWS)), re.MULTILINE))
    assert len(kinds) == len(FLAWS) >= 12
    assert kinds < set(AdviceCode)
    assert len(GOOD) >= 12
