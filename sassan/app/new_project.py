"""The text of a new project file: what is given, what passes today, and what is left to say."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sassan.app.analysis_fields import AnalysisFields
from sassan.app.builds import profile, saved_results
from sassan.app.builds.build import Build
from sassan.app.builds.numbers import requested_bounds
from sassan.app.project import NAME, Value
from sassan.app.request import AnalysisRequest
from sassan.app.result import AnalysisResult
from sassan.app.views import check_control
from sassan.checked import quoted
from sassan.errors import Gap
from sassan.estimate.arguments import numbers_missing
from sassan.fields.field import document
from sassan.launches import Launches, table

BASELINE = "sassan-baseline.json"
_HEAD = f"""# {NAME}: what sassan takes where its command line does not say otherwise. Every long option of an analysis may stand here,
# without dashes; paths are relative to this file. 'sassan check' alone then holds the files to the gates below."""
_PREPARED = 3
"""Kernels whose launch is prepared."""


UNSEEN = (
    "no launch is given: conflicts and coalescing are held as a usual block makes them ({}), occupancy and the time of a grid not at all; "
    "pass --gpu, --block-dim, --grid and --param, or --launches"
)
"""What `init` says where no block is given."""


def text(request: AnalysisRequest, options: Mapping[str, Value], build: Build, folder: Path, kept: Launches | None = None) -> str:
    """Return the file for a folder; `options` are those of the request, by their long names, `build` what it found.

    `kept` are launches that stood in the file that it replaces.
    """
    others = {name: value for name, value in options.items() if not (kept is not None and name == "launches")}
    return "\n".join([_HEAD, *_inputs(request, others, folder), *_launches(options, build.results, kept), *_gates(build)]) + "\n"


def unseen(results: Sequence[AnalysisResult]) -> str:
    """Return what is not seen of functions without a launch, '' where there are none."""
    blocks = {profile.block_of(result): None for result in results if result.settings.launch.block is None and result.function.kernel}
    return UNSEEN.format(" or ".join(" x ".join(map(str, block)) for block in blocks)) if blocks else ""


def _inputs(request: AnalysisRequest, options: Mapping[str, Value], folder: Path) -> Iterator[str]:
    yield f"files = {_spelled(tuple(_relative(file, folder) for file in request.files))}"
    if request.target is not None:
        yield f"arch = {_spelled(request.target)}"
    if request.patterns:
        yield f"function = {_spelled(request.patterns)}"
    for name, value in options.items():
        path = isinstance(value, str) and (name in {"bounds", "launches", "measurements"} or value.endswith(".toml"))
        yield f"{name} = {_spelled(_relative(str(value), folder) if path else value)}"
    if "gpu" not in options:
        yield '# gpu = "T4"                    # sassan gpus lists them: bounds in cycles and us, memory included'
    if "bounds" not in options:
        yield '# bounds = "facts.toml"         # sassan ipet FILE --facts-template > facts.toml'


def _launches(options: Mapping[str, Value], results: Sequence[AnalysisResult], kept: Launches | None) -> Iterator[str]:
    for launch in kept.launches if kept is not None else ():
        yield from table(launch)
    if {"launches", "block-dim", "grid"} & options.keys():
        return
    if unheld := unseen(results):
        yield f"# {unheld}"
    yield '# launches = "launches.toml"    # sassan record -o launches.toml -- ./program'
    yield ""
    yield "# Or the launch of each kernel by hand:"
    kernels = {result.function.name: result for result in results if result.function.kernel}
    for name, result in list(kernels.items())[:_PREPARED]:
        yield "# [[launch]]"
        yield f"# kernel = {quoted(name)}"
        yield f"# grid = [1, 1, 1]\n# block = {list(profile.block_of(result))}"
        numbers = numbers_missing(result.function, result.settings.launch)
        if numbers:
            yield f"# param = [{', '.join(quoted(f'{place.called}=1024') for place in numbers)}]"
        yield "#"


def _gates(build: Build) -> Iterator[str]:
    """Yield the gates; one that does not pass today is a comment that says why."""
    results = [result for result in build.results if id(result) not in build.idle]
    yield ""
    yield "[check]"
    yield f"baseline = {quoted(BASELINE)}   # sassan check --update-baseline"
    yield 'max-growth = "5%"        # of bounds; of registers and instructions, too, of accesses, conflicts and branches not at all'
    yield from _gate("require-bounded", _unbounded(results))
    gaps = [gap for result in results for gap in result.gaps]
    yield from _gate("no-gaps", _counted(gaps))
    reports = [check_control(result.function) for result in build.results]
    findings = sum(len(report.findings) for report in reports)
    unread = sum(bool(report.gaps) for report in reports)
    yield from _gate("control", f"not checked in {unread} functions" if unread else f"{findings} findings" if findings else "")
    yield "# max-us = 50                  # also max-wcet, max-total-us, max-registers, max-waste, …: sassan check --help"
    yield ""
    yield '# [gates."my_kernel*"]         # the same keys, for single functions'


def _unbounded(results: Sequence[AnalysisResult]) -> str:
    """Return how many functions lack a bound that was asked for, and which, '' where none does."""
    known = [saved_results.of(document(AnalysisFields, result)) for result in results]
    missing = [next((measure for measure in requested_bounds(each) if each.number(measure) is None), None) for each in known]
    count = Counter(measure for measure in missing if measure is not None)
    return ", ".join(f"{number} of {len(results)} functions have no {measure}" for measure, number in count.items())


def _gate(name: str, fails: str) -> Iterator[str]:
    yield f"# {name} = true   # {fails}" if fails else f"{name} = true"


def _counted(gaps: Sequence[Gap]) -> str:
    return ", ".join(f"{count} {code}" for code, count in sorted(Counter(gap.code for gap in gaps).items()))


def _spelled(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int():
            return str(value)
        case _:
            return f"[{', '.join(map(quoted, value))}]"


def _relative(path: str, folder: Path) -> str:
    return os.path.relpath(path, folder)
