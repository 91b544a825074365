"""What a report says twice: each check compares two numbers of one launch that were recorded apart, and tells where they differ.

A difference does not say which of the two is wrong: the numbers stay, and the note goes with them.
"""

from collections.abc import Iterator, Sequence
from math import prod

from sassan.recorded.metrics import Metrics
from sassan.recorded.sources import Cubin
from sassan.recorded.types import RecordedLaunch, Size

_NEAR = 0.05
"""How far cycles may lie from time x clock: the passes of a profile are separate runs, on clocks that are locked or not."""
_CLOSE = 1e-6
_WARP = 32
_ENCODING = 8
"""Bytes that the address of an instruction is a multiple of; 16 since Volta."""


def check_launch(launch: RecordedLaunch, metrics: Metrics, cubin: Cubin | None) -> Iterator[str]:
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
        for axis, own in zip("xyz", size, strict=True):
            yield from _same(f"the {name} in {axis}", own, f"launch__{name}_dim_{axis}", metrics)
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
    """Compare the total of executed instructions with what the parts sum up to: per instruction, per opcode."""
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
                took = f"{cycles / rate * 1e9:g} ns at {rate / 1e9:g} GHz, and the launch took {launch.time_ns:g} ns"
                yield f"{name}.{part} is {cycles:g} cycles, {took}"
    if launch.cycles and launch.device and launch.device.clock_hz:
        longest = launch.time_ns * launch.device.clock_hz / 1e9
        if launch.cycles > 2 * longest:
            yield f"{launch.cycles:g} cycles in {launch.time_ns:g} ns are more than twice what the device has at its highest clock"


def _code(launch: RecordedLaunch, cubin: Cubin | None) -> Iterator[str]:
    if cubin is None:
        return
    if cubin.addresses and launch.mangled not in cubin.addresses:
        yield f"the kernel '{launch.mangled}' is not among the functions of its cubin"
    if any(offset % _ENCODING for offset in (*launch.counts, *launch.thread_counts)):
        yield "a count belongs to an address where no instruction begins"
    capability = launch.device.capability if launch.device else None
    if capability and capability[0] != cubin.capability[0]:
        yield f"the cubin is for sm_{cubin.capability[0]}{cubin.capability[1]}, the device {launch.device.arch if launch.device else ''}"


def _same(what: str, own: int, name: str, metrics: Metrics) -> Iterator[str]:
    recorded = metrics.number(name)
    if recorded is not None and recorded != own:
        yield f"{what} is {own}, {name} is {recorded:g}"


def _equal(totals: Sequence[tuple[str, float]]) -> Iterator[str]:
    """Yield a note where totals of executed instructions differ; hardware counters and instrumented code are separate runs."""
    for name, value in totals[1:]:
        first, expected = totals[0]
        if abs(value - expected) > _CLOSE * max(abs(expected), 1):
            yield f"{name} is {value:.0f}, {first} is {expected:.0f}"
