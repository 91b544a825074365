"""The units of the metrics of Nsight Compute by name; reports do not contain them.

Reports hold base units (nanoseconds, bytes, hertz). Source: Nsight Compute documentation, "Kernel Profiling Guide", Metrics Structure and
Metrics Reference. A metric without a rule has the unit '': unknown.
"""

import re

from sassan.recorded.types import Metric

_RULES = tuple(
    (re.compile(pattern), unit)
    for pattern, unit in (
        (r"\.(pct|ratio_pct|pct_of_peak_\w+)$|_pct$", "%"),
        (r"__cycles_\w+\.(avg|min|max|sum)\.per_second$", "hz"),
        (r"\.(per_second|per_cycle_\w+)$|\.per_\w+$|\.ratio$", ""),
        (r"^gpu__time_duration(\.|$)", "ns"),
        (r"__cycles_(elapsed|active)(\.|$)", "cycle"),
        (r"^(inst_executed|thread_inst_executed(_true)?|smsp?__inst_(executed|issued)\.(avg|min|max|sum))$", "inst"),
        (r"^launch__registers_per_thread(_allocated)?$", "register/thread"),
        (r"^launch__shared_mem_per_block\w*$", "byte/block"),
        (r"^launch__(shared_mem_config_size|persisting_l2_cache_size)$", "byte"),
        (r"^launch__thread_count$", "thread"),
        (r"^launch__occupancy_limit_\w+$", "block"),
        (r"^(dram|lts|l1tex|fbpa|sm|smsp)__\w*bytes\w*\.(avg|min|max|sum)$", "byte"),
    )
)


def unit_of(metric: str) -> str:
    """Return the unit of a metric, '' if it is unknown or there is none."""
    return next((unit for pattern, unit in _RULES if pattern.search(metric)), "")


MILLISECONDS = {
    "nanoseconds": 1e-6,
    "microseconds": 1e-3,
    "milliseconds": 1.0,
    "seconds": 1e3,
    "ns": 1e-6,
    "us": 1e-3,
    "ms": 1.0,
    "s": 1e3,
}
"""Milliseconds per unit of time, by the names used by tuners."""

_SHORT = {"second": "s", "nsecond": "ns", "usecond": "us", "msecond": "ms", "sec": "s"}
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_PREFIX = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SCALED = re.compile(r"([kKMGT])(hz|byte|cycle|inst|sector|thread|warp)((?:/\w+)?)")


def base(value: float, unit: str) -> Metric:
    """Return a printed value in its base unit: ns for times, and without K, M, G; a rounded byte count keeps its printed unit."""
    plain = _SHORT.get(unit.strip(), unit.strip())
    if plain in _NS:
        return Metric(value * _NS[plain], "ns")
    match = _SCALED.fullmatch(plain)
    if match is None or match[2] == "byte":
        return Metric(value, plain)
    return Metric(value * _PREFIX[match[1]], f"{match[2]}{match[3]}")
