"""The units of the metrics of Nsight Compute, which a report does not hold: its own reader knows them by name, and so does this table.

Reports hold base units (nanoseconds, bytes, hertz). Source: Nsight Compute documentation, "Kernel Profiling Guide", Metrics Structure and
Metrics Reference. A metric that no rule names has the unit '': unknown.
"""

import re

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
        (r"^launch__(shared_mem_config_size|persisting_l2_cache_size|stack_size)$", "byte"),
        (r"^launch__thread_count$", "thread"),
        (r"^launch__occupancy_limit_\w+$", "block"),
        (r"^(dram|lts|l1tex|fbpa|sm|smsp)__\w*bytes\w*(\.|$)", "byte"),
    )
)


def unit_of(metric: str) -> str:
    """Return the unit of a metric, '' where it is not known or the metric has none."""
    return next((unit for pattern, unit in _RULES if pattern.search(metric)), "")
