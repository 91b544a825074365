"""A project file, `sassan.toml`: what every command takes where its command line does not say otherwise, and what `sassan check` holds.

Keys are the long options of an analysis. Paths in it are relative to its folder. docs/reference/files.md lists the keys.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sassan.app.reading import read_text
from sassan.checked import Fields, Format
from sassan.errors import UsageError
from sassan.launches import Launches, launches_of

if TYPE_CHECKING:
    from sassan.app.builds.gates import PatternGates

NAME = "sassan.toml"
NONE = "none"
"""The name of no project file."""
_HINT = "sassan init writes such a file; --project none reads none"
_FORMAT = Format("bad-project", _HINT)
_TEXTS = (
    "block-dim",
    "bounds",
    "clock",
    "co-runners",
    "dram-share",
    "gpu",
    "grid",
    "launches",
    "machine",
    "measurements",
    "model",
    "order",
    "solve",
)
_NUMBERS = ("call-depth", "loop-bound", "registers", "shared", "sms", "warps")
_LISTS = ("distinct", "latency", "param")
_FLAGS = ("partition",)
OPTIONS = (*_TEXTS, *_NUMBERS, *_LISTS, *_FLAGS)
"""The options that a project may have."""
_KEYS = ("files", "function", "arch", *OPTIONS)
_TABLES = ("check", "gates", "launch", "task")
TASK_OPTIONS = ("launches", "gpu", "deadline", "period", "copies", "clock", "dram-share", "co-runners", "beside")
"""The options that a task may have."""
_OF_TASK = ("program", *TASK_OPTIONS)
_CHECK = ("baseline", "control", "max-growth", "max-code-growth")
_PATHS = frozenset({"bounds", "launches", "measurements"})
_PATHS_BY_SUFFIX = frozenset({"gpu", "machine"})
"""Options that name something known, or a TOML file."""
_ONE_OF = (
    ({"launches"}, {"block-dim", "grid", "param", "shared", "warps"}),
    ({"gpu"}, {"sms", "machine"}),
    ({"model"}, {"measurements", "latency"}),
    ({"dram-share"}, {"co-runners"}),
)
"""Options that exclude each other: what the command line says of one side, the project says nothing of the other."""

Value = str | int | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProjectTask:
    """A task of a project file: its program, and its options by their long names."""

    program: str
    options: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Project:
    """A project file. `options` are those of an analysis by their long names; `recording` are launches that stand in the file itself."""

    path: str
    files: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    options: Mapping[str, Value] | None = None
    recording: Launches | None = None
    demands: "tuple[PatternGates, ...]" = ()
    control: bool = False
    baseline: str | None = None
    growth: str | None = None
    code_growth: str | None = None
    arch: str | None = None
    """What CUDA source is compiled for."""
    tasks: "Mapping[str, ProjectTask]" = field(default_factory=dict[str, "ProjectTask"])

    @property
    def deadline(self) -> float | None:
        """Return the microseconds that all recorded launches together may take (`max-total-us` of `check`), None where nothing says it."""
        held = (gate for demand in self.demands if demand.pattern == "*" for gate in demand.gates)
        return min((gate.limit for gate in held if gate.rule == "max-total-us" and gate.limit is not None), default=None)

    def of_task(self, name: str | None) -> "Project":
        """Return the project of one of its tasks: with the program and the options of that; of the only one where none is named.

        Raises UsageError where there is no such task, or several and none is named.
        """
        known = ", ".join(self.tasks)
        if name is None and len(self.tasks) != 1:
            message = f"{self.path} has {f'several tasks: {known}' if self.tasks else 'no [task.NAME]'}"
            raise UsageError(
                "usage", message, hint="name one with --task NAME" if self.tasks else "name the program, or describe the task there"
            )
        if name is not None and name not in self.tasks:
            raise UsageError(
                "usage", f"{self.path} has no task '{name}'", hint=f"it has {known}" if known else "describe it in [task.NAME]"
            )
        name = known if name is None else name
        task = self.tasks[name]
        options = {key: value for key, value in (self.options or {}).items() if key not in _exclusive(task.options)}
        chosen = {"task": name, **task.options}
        recording = None if "launches" in chosen else self.recording
        return replace(self, files=(task.program,), functions=(), options={**options, **chosen}, recording=recording)

    def options_beside(self, given: frozenset[str]) -> Mapping[str, Value]:
        """Return the options that count where the command line has those of `given`."""
        excluded = {
            name for sides in _ONE_OF for side, other in (sides, sides[::-1]) if given & side for name in other if name not in given
        }
        options = dict(self.options or {})
        if self.recording is not None:
            options["launches"] = self.path
        return {name: value for name, value in options.items() if name not in given | excluded}


def find(start: Path) -> str | None:
    """Return the path of the project file of a folder, its own or that of the nearest folder above, None where there is none."""
    try:
        folder = start.absolute()
    except OSError:  # the current folder is gone
        return None
    # Path.is_file raises where a folder may not be entered.
    path_found = next((path for place in (folder, *folder.parents) if os.path.isfile(path := place / NAME)), None)  # noqa: PTH113
    return None if path_found is None else os.path.relpath(path_found)


def read(path: str) -> Project:
    """Return the project of a file.

    Raises InputError `cannot-read` or `bad-project`.
    """
    from sassan.app.builds import gates  # noqa: PLC0415 - start-up: most commands have no project

    text = read_text(path, _FORMAT.code, _HINT)
    file, folder = _FORMAT.toml(path, text), Path(path).parent
    file.only(*_KEYS, *_TABLES)
    held, tasks = file.table("check"), file.table("task")
    held.only(*_CHECK, *gates.IN_FILES)
    if "launches" in file and "launch" in file:
        raise file.fail("launch", "and launches exclude each other")
    return Project(
        path,
        tuple(_files(file, folder)),
        file.texts("function"),
        dict(_options(file, folder)),
        launches_of(file) if "launch" in file else None,
        (*gates.demand("*", held, besides=_CHECK), *gates.demands(file.table("gates"))),
        held.flag("control"),
        _within(folder, held.text("baseline")) if "baseline" in held else None,
        held.text("max-growth") if "max-growth" in held else None,
        held.text("max-code-growth") if "max-code-growth" in held else None,
        file.text("arch") if "arch" in file else None,
        {name: _task(tasks.table(name), folder) for name in tasks.values},
    )


def _task(table: Fields, folder: Path) -> ProjectTask:
    """Return a task; its keys may be written with `_` as other tables have them, or with `-` as options."""
    spelled = Fields(table.format, table.name, {key.replace("_", "-"): value for key, value in table.values.items()}, table.where)
    spelled.only(*_OF_TASK)
    return ProjectTask(_within(folder, spelled.text("program")), dict(_task_options(spelled, folder)))


def _task_options(table: Fields, folder: Path) -> Iterator[tuple[str, Value]]:
    for key in TASK_OPTIONS:
        if key == "beside" and key in table:
            yield key, table.texts(key)
        elif key in table:
            text = table.text(key)
            named = key == "launches" or (key == "gpu" and text.endswith(".toml"))
            yield key, _within(folder, text) if named else text


def _options(file: Fields, folder: Path) -> Iterator[tuple[str, Value]]:
    for key in file.values:
        if key in _TEXTS:
            text = file.text(key)
            named = key in _PATHS or (key in _PATHS_BY_SUFFIX and text.endswith(".toml"))
            yield key, _within(folder, text) if named else text
        elif key in _NUMBERS:
            yield key, file.whole(key, least=0, most=2**31 - 1)
        elif key in _LISTS:
            yield key, file.texts(key)
        elif key in _FLAGS:
            yield key, file.flag(key)


def _files(file: Fields, folder: Path) -> Iterator[str]:
    """Yield the inputs: names, or patterns such as `build/**/*.cubin`, which have to match something."""
    for text in file.texts("files"):
        if not any(char in text for char in "*?["):
            yield _within(folder, text)
            continue
        try:
            matches = sorted(path for path in folder.glob(text) if path.is_file())
        except (ValueError, NotImplementedError) as error:
            raise file.fail("files", f"'{text}' is not a pattern: {error}") from None
        if not matches:
            raise file.fail("files", f"no file matches '{text}'")
        yield from map(str, matches)


def _exclusive(options: Mapping[str, Value]) -> frozenset[str]:
    """Return the options that exclude each other with some of these."""
    return frozenset(name for sides in _ONE_OF for side, other in (sides, sides[::-1]) if options.keys() & side for name in other)


def _within(folder: Path, text: str) -> str:
    return str(folder / text)
