"""Run samples on a GPU, one warp alone and every SM full, and bound the same cubins."""

from __future__ import annotations

import datetime as dt
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from _lib.validate_kernels import THREADS, Sample
from _lib.validate_records import Record

from sassan.app.analysis import analyze
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.errors import InputError
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.measure.sampling.cuda_source import timed
from sassan.measure.sampling.device import DATA_BYTES, MeasureArgument
from sassan.measure.sampling.gpu import scalar, small_integers
from sassan.timing.control import ControlCostModel
from sassan.timing.table import TableCostModel

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Iterator

    from _lib.validate_driver import Device, Driver
    from _samples.tools import Nvrtc

    from sassan.app.result import AnalysisResult
    from sassan.measure.sampling.cuda_source import CudaKernel

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "kernels"
MODELS = (TableCostModel(), ControlCostModel())
REPEATS = 20
_LONG = 8


@dataclass(frozen=True)
class Bench:
    """A GPU, and the compiler for it."""

    driver: Driver
    device: Device
    nvrtc: Nvrtc

    @property
    def arch(self) -> str:
        """Return the target architecture."""
        return "sm_{}{}".format(*self.device.capability)


def records(bench: Bench, sample: Sample) -> Iterator[Record]:
    """Yield the measured time and the bounds of a sample, per cost model and launch.

    Raises ToolError, DriverError, SassanError.
    """
    text = timed((SAMPLES / f"{sample.name}.cu").read_text(encoding="utf-8"), sample.name)
    cubin, _ = bench.nvrtc.compile(text.source, f"{sample.name}.cu", [f"-arch={bench.arch}", "-std=c++17", "-diag-suppress=128"])
    alone = {model.name: _bounds(cubin, sample, text, model, 32) for model in MODELS}
    full = {model.name: _bounds(cubin, sample, text, model, THREADS) for model in MODELS}
    occupancy = next(iter(full.values())).residency
    resident = occupancy.occupancy if occupancy is not None else None
    yield from _compared(bench, sample, alone, ("warp", 32, 1, 1), _measured(bench, sample, text, cubin, (1, 32)))
    if resident is not None:
        blocks = resident.blocks * bench.device.sms
        longest = _measured(bench, sample, text, cubin, (blocks, THREADS))
        yield from _compared(bench, sample, full, ("sm", THREADS, blocks, resident.warps), longest)


def _compared(
    bench: Bench, sample: Sample, bounds: dict[str, AnalysisResult], launch: tuple[str, int, int, int], longest: int
) -> Iterator[Record]:
    device, today = bench.device, dt.datetime.now(tz=dt.UTC).date().isoformat()
    launch_kind, block, blocks, warps = launch
    for model, result in bounds.items():
        bound = result.wcet.value if launch_kind == "warp" else result.makespan and result.makespan.bound.value
        yield Record(
            device.name,
            "{}.{}".format(*device.capability),
            device.driver,
            today,
            sample.name,
            model,
            launch_kind,
            block,
            blocks,
            warps,
            REPEATS,
            longest,
            bound,
            " ".join(sorted({gap.code for gap in result.gaps})),
        )


def _bounds(cubin: bytes, sample: Sample, text: CudaKernel, model: TableCostModel | ControlCostModel, threads: int) -> AnalysisResult:
    """Return the analysis of the cubin that runs."""
    parameters = tuple(
        Setting(f"param_{place}", -1, int(sample.scalars[parameter.name]))
        for place, parameter in enumerate(text.parameters)
        if parameter.kind == "int"
    )
    launch = LaunchConfiguration(block=(threads, 1, 1), parameters=parameters)
    settings = Settings(loop_bound=sample.loop_bound, launch=launch, costs=model, resources=Resources(shared=0))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, f"{sample.name}.cubin")
        path.write_bytes(cubin)
        functions = {function.name: function for function in read_program(str(path), cached=False).functions}
    if text.name not in functions:
        raise InputError("no-kernel", f"the cubin of {sample.name} has no kernel '{text.name}'")
    return analyze(functions[text.name], settings)


def _measured(bench: Bench, sample: Sample, text: CudaKernel, cubin: bytes, launch: tuple[int, int]) -> int:
    """Return the longest time of a thread, in cycles. The first run only fills caches, since the bounds assume warm caches."""
    blocks, threads = launch
    driver, kernel = bench.driver, bench.driver.kernel(cubin, text.name)
    data = small_integers(DATA_BYTES)
    pointers = [driver.buffer(data) for parameter in text.parameters if parameter.kind == "pointer"]
    times = driver.buffer(bytes(_LONG * blocks * threads))
    longest = 0
    for run in range(REPEATS + 1):
        for pointer in pointers:
            driver.fill(pointer, data)
        driver.launch(kernel, blocks, threads, _arguments(sample, text, pointers, times))
        cycles = struct.unpack(f"{blocks * threads}q", driver.read(times, _LONG * blocks * threads))
        longest = max(longest, *cycles) if run else 0
    return longest


def _arguments(sample: Sample, text: CudaKernel, pointers: list[ctypes.c_uint64], times: ctypes.c_uint64) -> list[object]:
    remaining = iter(pointers)
    arguments = [
        next(remaining)
        if parameter.kind == "pointer"
        else scalar(MeasureArgument(parameter.name, parameter.kind, sample.scalars[parameter.name]))
        for parameter in text.parameters
    ]
    return [*arguments, times]
