"""The fixture that runs the command line in process."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cli.shell import Input, Result, Sassan
from docs.pages import documented
from json_schemas import violations
from sassan.app import estimating
from sassan.cli import main
from sassan.executor.serial import Serial
from sassan.ipet.loop_bounds import recheck
from sassan.jit import clock
from sassan.machine.launch import LaunchConfiguration

MOST = 400
"""Results that are kept: what the tests of some files ask for."""


def kept(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps the results of one that depends on its arguments alone."""
    results: dict[Any, Any] = {}

    def call(*arguments: Any) -> Any:
        asked = key(arguments)
        if asked not in results:
            if len(results) > MOST:
                results.clear()
            results[asked] = run(*arguments)
        return results[asked]

    return call


def key(value: Any) -> Any:
    """Return what is equal for equal arguments."""
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return tuple(map(key, value))
    if isinstance(value, dict):
        return frozenset(value.items())
    # The contents of memory before the first launch do not count where launches are compared.
    return (value, value.initial) if isinstance(value, LaunchConfiguration) else value


@pytest.fixture(scope="session", autouse=True)
def runs_of_warps_are_kept() -> Iterator[None]:
    """Run the warps of a launch once, which is half of an analysis: hundreds of commands ask for the same launches of the same samples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recheck, "seen", kept(recheck.seen))
        patch.setattr(estimating, "sampled_launch", kept(estimating.sampled_launch))
        yield


def gap_codes(value: Any) -> Iterator[str]:
    """Yield the code of every gap in a document."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "gaps" and isinstance(inner, list):
            yield from (gap["code"] for gap in inner if isinstance(gap, dict))
        yield from gap_codes(inner)


@pytest.fixture
def sassan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sassan:
    """Return a function that runs one command line: `sassan("cfg", "x.sass", stdin=b"")`.

    JSON that it prints is held to its schema, and codes of errors and gaps to their pages. `sassan serve` analyzes in this process, too: a
    worker imports for longer than it analyzes a sample. Tests that start `python -m sassan serve` have its workers.
    """
    monkeypatch.setattr("sassan.cli.commands.serve.Processes", lambda: nullcontext(Serial()))

    def call(*arguments: str | Path, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", Input(stdin))
        capsys.readouterr()
        status = main.run([str(one) for one in arguments])
        seen = capsys.readouterr()
        if "--json" in arguments and seen.out.startswith("{"):
            assert violations(str(arguments[0]), json.loads(seen.out)) == []
            assert set(gap_codes(json.loads(seen.out))) <= documented("reference/gap-codes.md")
        result = Result(status, seen.out, seen.err)
        assert set(result.codes) <= documented("reference/error-codes.md", "reference/gap-codes.md")
        return result

    return call


@pytest.fixture
def counted_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let limits on the time of a search count looks at the clock, a hundred to the second: it does the same work on a busy machine."""
    looks = count()
    monkeypatch.setattr(clock, "now", lambda: next(looks) / 100)
