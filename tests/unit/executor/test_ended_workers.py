"""Processes that their parent ends clean up behind themselves."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sassan.executor import Processes


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
