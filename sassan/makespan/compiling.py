"""Whether a compiled search may begin: its first use after an installation compiles it, for seconds that no clock interrupts."""

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sassan.makespan.engine import Budget

ENOUGH = 1.5
"""Seconds of time left from which a first use compiles, past the limit if need be: the next run finds the search compiled."""
NOTE = "left out what is compiled at its first use after an installation: that takes some seconds"
_ENTRIES = {
    "anneal_kernel": "advance",
    "beam_kernel": "advance",
    "bounds_pool_kernel": "fill",
    "bounds_search_kernel": "advance",
    "exact_dive": "dive",
    "exact_kernel": "fill",
    "exact_sums": "fill",
}
"""What each module of kernels is entered by: this is compiled last, with all that it calls."""


def may_begin(module: str, left: float) -> bool:
    """Say whether the kernels of a module are compiled, or `left`, in seconds, is enough to begin with that."""
    return left >= ENOUGH or compiled(module)


def compile_first(module: str, budget: Budget, use: Callable[[], object]) -> Budget:
    """Let `use` compile the kernels of a module where they are not; return the budget with the seconds that this took added."""
    if compiled(module):
        return budget
    begin = time.monotonic()
    use()
    return budget if budget.deadline is None else replace(budget, deadline=budget.deadline + time.monotonic() - begin)


def compiled(module: str) -> bool:
    """Say whether the kernels of a module have been compiled, in this process or, since the module changed, in another."""
    kernels = import_module(f"{__package__}.{module}")
    entry: Any = getattr(kernels, _ENTRIES[module])
    if not hasattr(entry, "py_func"):
        return True  # numba is told to compile nothing
    if entry.signatures:
        return True
    assert kernels.__file__ is not None
    changed = Path(kernels.__file__).stat().st_mtime
    pattern = f"{module}.{_ENTRIES[module]}-{entry.py_func.__code__.co_firstlineno}.*.nbi"
    folder = entry.stats.cache_path
    return folder is not None and any(index.stat().st_mtime >= changed for index in Path(folder).glob(pattern))
