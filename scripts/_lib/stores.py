"""Published times of kernels that store whole sectors and parts of them, beside bounds and estimates of our own kernels for them.

`store_figures.toml` has the launches with their sources, `store_kernels.cu` the kernels; NVRTC compiles them for the SM of each product.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from _lib import silicon_compile

from sassan import frontend
from sassan.access.transactions import HALF
from sassan.app.settings import Settings
from sassan.errors import MissingToolError, SassanError
from sassan.evolve.compilation.compilers import CompileProblem
from sassan.frontend.image import Image
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.products import find
from sassan.recorded import RecordedLaunch
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.validation.launches import Hardware, LaunchValidation, validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FOLDER = Path(__file__).resolve().parent


class Row(NamedTuple):
    """One launch; times in us, ratios over the measured time, None where there is no bound or estimate."""

    kernel: str
    stride: int
    gpu: str
    size: str
    measured_us: float
    bound_us: float | None
    bound: float | None
    estimate: float | None
    fetched_by_stores: int | None
    gaps: str


def validated(figure: Mapping[str, object], source: silicon_compile.KernelSource) -> LaunchValidation:
    """Return a published launch with its bound and estimate; raises SassanError."""
    gpu, kernel = find(str(figure["gpu"])), str(figure["kernel"])
    cubin = silicon_compile.compiled(source, gpu.architecture, {"STRIDE": int(str(figure["stride"]))}, {})
    functions = [each for each in frontend.read(Image(f"{kernel}.cubin", cubin)).functions if each.name == kernel]
    block, grid, arguments = figure["block"], figure["grid"], figure["arguments"]
    assert isinstance(block, list)
    assert isinstance(grid, list)
    assert isinstance(arguments, dict)
    launch = RecordedLaunch(kernel, block=(*block,), grid=(*grid,), time_ns=float(str(figure["us"])) * 1e3)
    given = LaunchConfiguration(parameters=tuple(Setting(name, -1, value) for name, value in arguments.items()))
    settings = Settings(costs=models.model("control", Tables()), launch=given)
    return next(validate([launch], {None: functions}, settings, Hardware(gpu=gpu, clock_hz=gpu.boost_clock * 1e6)))


def figures(names: Sequence[str] = ()) -> list[Mapping[str, object]]:
    """Return the published launches of the products with these names, all where there are none."""
    table = tomllib.loads((_FOLDER / "store_figures.toml").read_text("utf-8"))
    return [each for each in table["launch"] if not names or each["gpu"] in names]


def rows(some: Sequence[Mapping[str, object]]) -> Iterator[Row]:
    """Yield a row per published launch.

    Raises MissingToolError where there is no compiler or no disassembler.
    """
    source = silicon_compile.load(_FOLDER / "store_kernels.cu")
    for figure in some:
        us = float(str(figure["us"]))
        head = str(figure["kernel"]), int(str(figure["stride"])), str(figure["gpu"]), str(figure["size"]), us
        try:
            found = validated(figure, source)
        except MissingToolError:
            raise
        except CompileProblem:
            yield Row(*head, None, None, None, None, "compile-failed")
            continue
        except SassanError as error:
            yield Row(*head, None, None, None, None, error.code)
            continue
        clock = find(head[2]).boost_clock
        bound = found.bound / clock if found.bound is not None else None
        made = found.estimated / clock if found.estimated is not None else None
        accesses = found.analysis.accesses if found.analysis is not None else None
        stores = [each.partial for each in accesses or () if each.opcode.startswith("ST")]
        fetched = None if not stores or None in stores else HALF * sum(each for each in stores if each)
        gaps = " ".join(sorted({gap.code for gap in found.gaps}))
        yield Row(*head, bound, bound and bound / us, made and made / us, fetched, gaps)
