"""`launches`: the recorded launches of a program, each with its bound and its estimate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import fspath
from typing import Unpack, overload

from sassan.api import checking, tables
from sassan.api.choices import Choices, Path, checked, options_of
from sassan.api.subjects import Subject, inputs_of
from sassan.app import program_times
from sassan.app.documents import tool
from sassan.app.estimate_fields import LaunchFields, TimedLaunch
from sassan.app.estimating import estimated_launches, expected_time
from sassan.app.options import ASSUME_NONE, library
from sassan.app.program_times import KernelTime
from sassan.app.request import AnalysisRequest
from sassan.fields.field import NONE, Value, document
from sassan.fields.kinds import microseconds


@dataclass(frozen=True, slots=True, repr=False)
class RecordedLaunches(Sequence[TimedLaunch]):
    """The launches of a recording in their order, each `launch` with its bound, and its `estimate`, None where there is none.

    `found` are its entries: equal launches in a row are one, with their `count`. `cut` says why the recording ends early, '' where it does
    not; `file` is its name. Bounds are in cycles and microseconds, estimates in microseconds.
    """

    file: str
    found: tuple[TimedLaunch, ...]
    cut: str = ""

    def __repr__(self) -> str:
        """Return how many there are and their time in a line."""
        return f"<RecordedLaunches {self.file!r}: {len(self)} entries, {self.us:.2f} us estimated>"

    def __len__(self) -> int:
        """Return how many entries there are; equal launches in a row are one."""
        return len(self.found)

    @overload
    def __getitem__(self, key: int) -> TimedLaunch: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[TimedLaunch, ...]: ...
    def __getitem__(self, key: int | slice) -> TimedLaunch | tuple[TimedLaunch, ...]:
        """Return an entry by its place; raises IndexError."""
        return self.found[key]

    @property
    def kernels(self) -> tuple[KernelTime, ...]:
        """The kernels, those that take most time first: `name`, how many `launches`, and the microseconds `us` of all of them."""
        return program_times.kernels([each.launch for each in self.found], [each.expected for each in self.found])

    @property
    def us(self) -> float:
        """The expected microseconds of all launches that have an estimate, one after the other, without the time between them."""
        return sum(each.us for each in self.kernels)

    @property
    def bound_us(self) -> float | None:
        """The bound of all launches in microseconds, one after the other, without the time between them; None where one has none."""
        return program_times.program_bound([each.launch for each in self.found]).us

    def to_dict(self) -> Mapping[str, Value]:
        """Return the document of `sassan estimate --launches --json`: `launches` in order, each with `bound` and `estimate`, and sums."""
        rows = [document(LaunchFields, each) for each in self.found]
        times = program_times.document([each.launch for each in self.found], [each.expected for each in self.found])
        return {**tool(), "launches": rows, **times, "functions": []}

    def _repr_html_(self) -> str:
        return _table(self.kernels)


def launches(
    subject: Subject,
    recording: Path,
    *,
    function: str | None = None,
    data: bool = True,
    run_before: bool = False,
    **choices: Unpack[Choices],
) -> RecordedLaunches:
    """Return every launch of a recording (`sassan record` writes such a file) of the kernels of an input, with its bound and its estimate.

    `subject` is what `analyze` takes, the code that ran; `recording` is the path of the file. `choices` are those of `analyze`:
    `launch=sassan.Launch(gpu=...)` says the GPU, without which there is no estimate; block, grid and arguments are those of the recording.
    `function`: only kernels of this name or glob. `data` False does not use contents of memory that were recorded; `run_before` runs
    earlier launches, so that memory is known which they wrote. Numbers are those of `sassan estimate --launches`.
    Raises what `analyze` raises, and InputError for a recording that is refused.
    """
    path = fspath(checking.path("recording", recording))
    options = replace(
        options_of(checked(choices)),
        launches=path,
        data=None if checking.flag("data", data) else ASSUME_NONE,
        run_before=checking.flag("run_before", run_before),
    )
    settings, known = options.settings(library), options.recording()
    patterns = () if function is None else (checking.text("function", function),)
    request = AnalysisRequest((), settings, patterns, recording=known, launches=path, run_before=run_before)
    results = tuple(request.launch_results(inputs_of(subject, settings, None)))
    rows = tuple(TimedLaunch(*each) for each in zip(results, estimated_launches(results), strict=True))
    return RecordedLaunches(path, rows, known.cut if known is not None else "")


def _table(kernels_by_time: Sequence[KernelTime]) -> str:
    """Return the kernels of a program by time, and their sum."""
    rows = [(each.name, str(each.launches), microseconds(each.us), *_expected_of(each)) for each in kernels_by_time]
    total = sum(each.us for each in kernels_by_time)
    last = ("all, one after the other", str(sum(each.launches for each in kernels_by_time)), microseconds(total), "", "")
    return tables.of_rows(("kernel", "launches", "us", "longest us", "bound by"), [*rows, last])


def _expected_of(each: KernelTime) -> tuple[str, str]:
    known = expected_time(each.longest)
    return (NONE if known.us is None else microseconds(known.us), known.bound_by or NONE)
