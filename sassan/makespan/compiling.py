"""Whether a compiled search may begin: its first use after an installation compiles it, for seconds that no limit counts (`clock`).

With little time left, a search that is not compiled yet is not started.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

ENOUGH = 1.5
"""Seconds of time left from which a first use compiles: the next run finds the search compiled."""
NOTE = "skipped a search that is compiled at its first use after an installation: compiling takes some seconds"
_ENTRIES = {
    "anneal.kernel": "advance",
    "beam.kernel": "advance",
    "bounds.pool_kernel": "fill",
    "bounds.search_kernel": "advance",
    "exact.dive": "dive",
    "exact.kernel": "fill",
    "exact.sums": "fill",
}
"""What each module of kernels is entered by: this is compiled last, with all that it calls."""
SEARCHES = tuple(_ENTRIES)
"""The modules of compiled searches."""


def may_begin(module: str, left: float) -> bool:
    """Say whether the kernels of a module are compiled, or `left`, in seconds, is enough to begin with that."""
    return left >= ENOUGH or compiled(module)


def compiled(module: str) -> bool:
    """Say whether the kernels of a module have been compiled, in this process or, since the module changed, in another."""
    if loaded(module):
        return True
    kernels = import_module(f"{__package__}.{module}")
    entry: Any = getattr(kernels, _ENTRIES[module])
    assert kernels.__file__ is not None
    changed = Path(kernels.__file__).stat().st_mtime
    pattern = f"{module.rpartition('.')[2]}.{_ENTRIES[module]}-{entry.py_func.__code__.co_firstlineno}.*.nbi"
    folder = entry.stats.cache_path
    return folder is not None and any(index.stat().st_mtime >= changed for index in Path(folder).glob(pattern))


def loaded(module: str) -> bool:
    """Say whether the kernels of a module are ready in this process."""
    entry: Any = getattr(import_module(f"{__package__}.{module}"), _ENTRIES[module])
    return not hasattr(entry, "py_func") or bool(entry.signatures)  # without `py_func`, numba's compilation is switched off
