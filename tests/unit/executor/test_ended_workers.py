"""Processes that their parent ends clean up behind themselves."""

import os
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sassan.executor import Processes, processes


def held_or_seen(item: tuple[str, bool]) -> None:
    """Hold a temporary folder, or return as soon as the other one has it."""
    place, holds = Path(item[0]), item[1]
    if holds:
        with TemporaryDirectory(dir=place):
            (place / "ready").touch()
            time.sleep(1200)
    while not (place / "ready").exists():
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends processes without a word")
def test_a_process_that_is_ended_removes_its_temporary_folder(tmp_path: Path):
    results = Processes(2).map(held_or_seen, [(str(tmp_path), False), (str(tmp_path), True)])
    assert next(results) is None
    results.close()  # type: ignore[attr-defined]
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]


class Gone:
    """A parent that has ended."""

    def join(self) -> None:
        pass


def test_a_worker_in_compiled_code_ends_with_its_parent_all_the_same(monkeypatch: pytest.MonkeyPatch):
    done: list[tuple[str, int]] = []
    monkeypatch.setattr("multiprocessing.process.parent_process", Gone)
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 0.0)

    def kill(_: int, sent: int) -> None:
        done.append(("kill", sent))

    def leave(status: int) -> None:
        done.append(("exit", status))

    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr(os, "_exit", leave)
    processes._end_with_parent()  # pyright: ignore[reportPrivateUsage]
    assert done == [("kill", signal.SIGTERM), ("exit", 143)]
