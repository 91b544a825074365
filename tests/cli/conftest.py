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
from sassan.app import analysis, estimating
from sassan.cli import main
from sassan.executor.serial import Serial
from sassan.ipet.loop_bounds import recheck
from sassan.jit import clock
from sassan.machine.launch import LaunchConfiguration

STEPS = ((analysis, "inference"), (recheck, "seen"), (estimating, "sampled_launch"))
MOST = 400
"""Results that are kept: what the tests of some files ask for."""


def kept(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps the results of one that depends on its arguments alone."""
    results: dict[Any, Any] = {}

    def call(*arguments: Any, **named: Any) -> Any:
        asked = key(arguments), key(sorted(named.items()))
        if asked not in results:
            if len(results) > MOST:
                results.clear()
            results[asked] = run(*arguments, **named)
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


KEPT = [(module, name, kept(getattr(module, name))) for module, name in STEPS]


@pytest.fixture(autouse=True)
def steps_of_analyses_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound the loops of a launch once, and run its warps once: hundreds of commands ask for the same launches of the same samples.

    These steps are three quarters of an analysis, and what they return is held to laws elsewhere.
    """
    for module, name, step in KEPT:
        monkeypatch.setattr(module, name, step)


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
