"""Programs with recorded times (`programs/measured.csv`): the place where they join the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from _lib.silicon_rows import Row


def rows(folder: Path, models: tuple[str, ...]) -> list[Row]:
    """Return a row per recorded launch and model; none so far: programs have to be compiled and their arguments recorded first."""
    del models
    if (folder / "measured.csv").is_file():
        print(f"{folder.name}/measured.csv: skipped, programs are not compared yet")
    return []
