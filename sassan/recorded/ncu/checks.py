"""Consistency checks of a report: each compares two numbers of a launch that were recorded independently, and yields a note if they differ.

A difference does not show which number is wrong: both are kept, with the note.
"""

from collections.abc import Iterator, Sequence
from math import prod

from sassan.recorded.ncu.metrics import Metrics
from sassan.recorded.ncu.sources import RecordedCubin
from sassan.recorded.types import RecordedLaunch, Size

_NEAR = 0.05
"""Relative tolerance of cycles against time x clock: profiler passes are separate runs, with or without locked clocks."""
_CLOSE = 1e-6
_WARP = 32
_ENCODING = 8
"""Alignment of instruction addresses in bytes; 16 since Volta."""


def check_launch(launch: RecordedLaunch, metrics: Metrics, cubin: RecordedCubin | None) -> Iterator[str]:
    """Yield each contradiction between the numbers of a launch."""
    yield from _shape(launch, metrics)
    yield from _shared(metrics)
    yield from _executed(metrics)
    yield from _threads(metrics)
    yield from _time(launch, metrics)
    yield from _code(launch, cubin)


def _shape(launch: RecordedLaunch, metrics: Metrics) -> Iterator[str]:
    for name, size in (("grid", launch.grid), ("block", launch.block)):
        if size is None:
            continue
        for axis, extent in zip("xyz", size, strict=True):
            yield from _same(f"the {name} in {axis}", extent, f"launch__{name}_dim_{axis}", metrics)
        yield from _same(f"the size of the {name}", prod(size), f"launch__{name}_size", metrics)
    if launch.grid and launch.block:
        yield from _same("grid x block", _total(launch.grid, launch.block), "launch__thread_count", metrics)


def _total(grid: Size, block: Size) -> int:
    return prod(grid) * prod(block)


def _shared(metrics: Metrics) -> Iterator[str]:
    whole, *parts = (metrics.number(f"launch__shared_mem_per_block{part}") for part in ("", "_static", "_dynamic", "_driver"))
    known = [part for part in parts if part is not None]
    if whole is not None and len(known) == len(parts) and whole != sum(known):
        yield f"launch__shared_mem_per_block is {whole:g} bytes, its parts are {sum(known):g}"


def _executed(metrics: Metrics) -> Iterator[str]:
    """Compare the total number of executed instructions with the sums per instruction and per opcode."""
    totals: list[tuple[str, float]] = []
    for name in ("smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed", "sass__inst_executed_per_opcode"):
        value = metrics.number(name)
        if value is not None:
            totals.append((name, value))
    for name in (
        "inst_executed",
        "sass__inst_executed_per_opcode",
        "sass__inst_executed_per_opcode_with_modifier_all",
        "sass__inst_executed_per_opcode_with_modifier_selective",
    ):
        parts = [value for value in metrics.instances(name).values() if isinstance(value, int | float)]
        if parts:
            totals.append((f"the sum over {name}", sum(parts)))
    yield from _equal(totals)


def _threads(metrics: Metrics) -> Iterator[str]:
    warps, threads = (metrics.addresses(name) for name in ("inst_executed", "thread_inst_executed"))
    total = metrics.number("thread_inst_executed")
    if threads and total is not None:
        yield from _equal([("thread_inst_executed", total), ("the sum over thread_inst_executed", sum(threads.values()))])
    if warps and threads and warps.keys() != threads.keys():
        yield "inst_executed and thread_inst_executed count different instructions"
    for address, count in threads.items():
        if address in warps and not warps[address] <= max(count, warps[address] * (count == 0)) <= _WARP * warps[address]:
            yield f"{count} threads in {warps[address]} warps executed the instruction at {address:#x}"


def _time(launch: RecordedLaunch, metrics: Metrics) -> Iterator[str]:
    for name in ("gpu__time_duration", "sm__cycles_elapsed", "gpc__cycles_elapsed"):
        least, mean, most, total = (metrics.number(f"{name}.{part}") for part in ("min", "avg", "max", "sum"))
        ordered = [value for value in (least, mean, most, total) if value is not None]
        if ordered != sorted(ordered):
            yield f"{name}: the shortest, mean, longest and sum are {', '.join(f'{value:g}' for value in ordered)}, out of order"
    if launch.time_ns is None:
        return
    for name in ("sm__cycles_elapsed", "gpc__cycles_elapsed"):
        for part in ("max", "avg"):
            cycles, rate = metrics.number(f"{name}.{part}"), metrics.number(f"{name}.{part}.per_second")
            rate = rate if rate is not None else metrics.number(f"{name}.avg.per_second")
            if cycles and rate and not abs(cycles / rate * 1e9 - launch.time_ns) <= _NEAR * launch.time_ns:
                took = f"{cycles / rate * 1e9:g} ns at {rate / 1e9:g} GHz, but the launch took {launch.time_ns:g} ns"
                yield f"{name}.{part} is {cycles:g} cycles, {took}"
    if launch.cycles and launch.device and launch.device.clock_hz:
        longest = launch.time_ns * launch.device.clock_hz / 1e9
        if launch.cycles > 2 * longest:
            yield f"{launch.cycles:g} cycles in {launch.time_ns:g} ns are more than twice the cycles of the device at its highest clock"


def _code(launch: RecordedLaunch, cubin: RecordedCubin | None) -> Iterator[str]:
    if cubin is None:
        return
    if cubin.addresses and launch.mangled not in cubin.addresses:
        yield f"the kernel '{launch.mangled}' is not among the functions of its cubin"
    if any(offset % _ENCODING for offset in (*launch.counts, *launch.thread_counts)):
        yield "a count belongs to an address that is not the start of an instruction"
    capability = launch.device.capability if launch.device else None
    if capability and capability[0] != cubin.capability[0]:
        yield f"the cubin is for sm_{cubin.capability[0]}{cubin.capability[1]}, the device is {launch.device.arch if launch.device else ''}"


def _same(quantity: str, value: int, name: str, metrics: Metrics) -> Iterator[str]:
    recorded = metrics.number(name)
    if recorded is not None and recorded != value:
        yield f"{quantity} is {value}, {name} is {recorded:g}"


def _equal(totals: Sequence[tuple[str, float]]) -> Iterator[str]:
    """Yield a note where totals of executed instructions differ; hardware counters and instrumented code are separate runs."""
    for name, value in totals[1:]:
        first, expected = totals[0]
        if abs(value - expected) > _CLOSE * max(abs(expected), 1):
            yield f"{name} is {value:.0f}, {first} is {expected:.0f}"
