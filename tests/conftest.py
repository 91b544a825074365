"""Settings of all tests: the same examples in every run, no deadlines, and interrupts as sent by a terminal."""

import gc
import re
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from budget import FAST, FULL, few

settings.register_profile("sassan", derandomize=True, deadline=None, max_examples=100 if FULL else 20)
settings.register_profile("fast", settings.get_profile("sassan"), max_examples=15)
settings.load_profile("fast" if FAST else "sassan")

# A job in the background of a shell ignores SIGINT, and what it starts does so, too: tests that interrupt a process would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as below nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What is read once for many tests lives as long as the process: looking through it for garbage again and again takes a tenth of the time.
gc.set_threshold(50_000, 20, 50)


SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Import no module of which every test is slow in a run that omits these: a tenth of all, with the libraries that cost most."""
    whole = FAST and collection_path.name.startswith("test_") and SLOW.search(collection_path.read_text("utf-8")) is not None
    return whole or None


def pytest_collection_finish() -> None:
    """Leave what was imported and collected, which stays to the end, out of every later collection of garbage."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Look for garbage once: pytest does so five times at its end, which takes seconds with all that was read for the tests."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run say which tests passed, so that a later one, where more is installed, runs the others only."""
    parser.addoption("--passed-to", type=Path, help="write the tests that pass, one a line")
    parser.addoption("--passed-in", type=Path, help="leave out the tests that another run wrote with --passed-to")


def pytest_configure(config: pytest.Config) -> None:
    """Write what passes, in the process that hears of every test."""
    path: Path | None = config.getoption("--passed-to")
    if path is not None and not hasattr(config, "workerinput"):
        path.write_text("", "utf-8")
        config.pluginmanager.register(_Passed(path))


class _Passed:
    """Appends the id of each test that passes to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests for a one-minute run if requested, or those that did not pass elsewhere."""
    path: Path | None = config.getoption("--passed-in")
    if path is not None:
        passed = frozenset(path.read_text("utf-8").splitlines())
        _keep(config, items, [item for item in items if item.nodeid not in passed])
    if not FAST:
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    _keep(config, items, [item for several in cases.values() for item in few(several)])


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept
