"""What a command takes from a project file where its command line says nothing."""

import os
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from sassan.app import project as projects
from sassan.app.options import command_line
from sassan.app.project import Project, Value
from sassan.cli.output.terminal import note, safe
from sassan.errors import UsageError

Idle = Callable[[Mapping[str, Value]], AbstractSet[str]]
"""What says which of a project's options have no effect."""
_MISSING: tuple[object, ...] = (None, False, (), [])


def _all_used(_: Mapping[str, Value]) -> AbstractSet[str]:
    return frozenset()


def task_project(name: str | None, inputs: tuple[str, ...], task: str | None) -> Project | None:
    """Return the project of a task: where an input is named and no task, the project file without its tasks; else that of the task.

    Raises UsageError, InputError.
    """
    file = _project_file(name, inputs)
    if task is None and inputs:
        return file
    if file is None:
        message = "missing argument 'FILE...'" if task is None else f"there is no project file with the task '{task}'"
        raise UsageError("usage", message, hint=f"name the program, or describe the task in a {projects.NAME}: [task.NAME]")
    return file.of_task(task)


def project_of(name: str | None, inputs: tuple[str, ...]) -> Project | None:
    """Return the project file that is named, or that of the folder of the first input, which may be one; without an input one is needed.

    Raises UsageError, InputError.
    """
    file = _project_file(name, inputs)
    if not inputs and (file is None or not file.files):
        hint = f"name a file, or write a {projects.NAME} ('sassan init FILE'); '--help' lists the options, with examples"
        raise UsageError(
            "usage", "missing argument 'FILE...'" + (f", and {file.path} names no files" if file is not None else ""), hint=hint
        )
    return file


def _project_file(name: str | None, inputs: tuple[str, ...]) -> Project | None:
    start = Path(inputs[0]) if inputs and inputs[0] != "-" else Path()
    # `is_dir` of a path raises what `os.path` takes for "no": a name that is too long, a folder that may not be entered.
    start = start if os.path.isdir(start) else start.parent  # noqa: PTH112
    path = projects.find(start) if name is None else name if name != projects.NONE else None
    return projects.read(path) if path is not None else None


def added(
    file: Project | None, given: AbstractSet[str], offered: AbstractSet[str], idle: Idle = _all_used, *, quiet: bool
) -> Mapping[str, Value]:
    """Return the options that a project adds to those `given`, by their long names; a note names them, and those that have no effect here.

    Without effect are those that the command does not offer, and those that `idle` names.
    """
    if file is None:
        return {}
    every = file.options_beside(frozenset(given))
    values = {name: value for name, value in every.items() if name in offered}
    values = {name: value for name, value in values.items() if name not in idle(values)}
    unused = {name: value for name, value in every.items() if name not in values}
    if every and not quiet:
        parts = (_spelled(values), f"not used: {_spelled(unused)}" if unused else "")
        note(f"note: {safe(file.path)}: {safe('; '.join(filter(None, parts)))}\n")
    return values


def _spelled(values: Mapping[str, Value]) -> str:
    return ", ".join(
        command_line(name) if value is True else f"{command_line(name)} {' '.join(value) if isinstance(value, tuple) else value}"
        for name, value in values.items()
    )


def completed(file: Project | None, options: Mapping[str, object], *, quiet: bool) -> Mapping[str, Any]:
    """Return all the options that a command offers, by their long names, with those of the project where the command line has none."""
    given = {name for name, value in options.items() if value not in _MISSING}
    return {**options, **added(file, given, options.keys(), quiet=quiet)}
