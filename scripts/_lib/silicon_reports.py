"""Reports of Nsight Compute: each launch with the code of its own image, its bounds, and the executions of its instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _lib.silicon_rows import Row, roofline, shape_text, slopes

from sassan import frontend, recorded
from sassan.app.settings import Settings
from sassan.errors import InputError
from sassan.frontend.image import Image
from sassan.recorded import Recording
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.validation.launches import Hardware, validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sassan.validation.launches import LaunchValidation

_NS_PER_US = 1e3


def load(path: Path) -> Recording:
    """Return the recording of a report.

    Raises InputError: what the reader refuses, `no-launches`.
    """
    recording = recorded.read(str(path))
    if not isinstance(recording, Recording):
        raise InputError("no-launches", f"{path.name} holds a tuning space, no launches")
    return recording


def rows(recording: Recording, name: str, model: str) -> Iterator[Row]:
    """Yield a row per launch. Raises InputError, MissingToolError where its code cannot be read."""
    used = sorted({launch.image for launch in recording.launches if launch.image is not None})
    functions = {index: frontend.read(Image(f"{name} (image {index})", recording.images[index])).functions for index in used}
    settings = Settings(costs=models.model(model, Tables()))
    for index, validation in enumerate(validate(recording.launches, dict(functions), settings, Hardware())):
        yield _row(name, model, index, validation)


def _row(source: str, model: str, index: int, validation: LaunchValidation) -> Row:
    launch, counts = validation.launch, validation.counts
    checked = not counts.why
    return Row(
        source,
        model,
        f"{index} {launch.kernel}",
        shape_text(launch.block),
        shape_text(launch.grid),
        validation.analysis.function.registers if validation.analysis is not None else None,
        launch.time_ns / _NS_PER_US if launch.time_ns is not None else None,
        validation.cycles,
        validation.bound,
        validation.estimated,
        roofline(validation),
        " ".join(sorted({gap.code for gap in validation.gaps})),
        counts.checked if checked else None,
        counts.equal if checked else None,
        len(counts.above) if checked else None,
        counts.consistent if checked else None,
        slopes=slopes(validation),
    )
