"""Settings of all tests: the same examples in every run, no deadlines, and interrupts as sent by a terminal."""

import gc
import signal

import pytest
from hypothesis import settings

from budget import FAST, FULL, few

settings.register_profile("sassan", derandomize=True, deadline=None, max_examples=100 if FULL else 50)
settings.register_profile("fast", settings.get_profile("sassan"), max_examples=20)
settings.load_profile("fast" if FAST else "sassan")

# A job in the background of a shell ignores SIGINT, and what it starts does so, too: tests that interrupt a process would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is read once for many tests lives as long as the process: looking through it for garbage again and again takes a tenth of the time.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests for a one-minute run if requested."""
    if not FAST:
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = [item for several in cases.values() for item in few(several)]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept
