"""The options that every analysis of whole files has, declared once: a command takes them as one value."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, cast

from sassan.app import project as projects
from sassan.app.options import AnalysisOptions
from sassan.app.project import Project, Value
from sassan.app.reading import architecture
from sassan.app.request import AnalysisRequest
from sassan.cli.options.inputs import Arch, Files, Functions, NoCache, ProjectFile, Quiet, Sm
from sassan.cli.options.launch import (
    BlockDim,
    Bounds,
    Distinct,
    Gpu,
    Grid,
    LaunchesFile,
    LoopBound,
    Parameters,
    PartitionBound,
    Registers,
    Shared,
    Sms,
    Warps,
)
from sassan.cli.options.models import (
    Ablate,
    CallDepth,
    Latencies,
    Letters,
    LettersOption,
    MachineFile,
    Measurements,
    ModelOption,
    OrderOption,
    PaperExperiment,
)
from sassan.cli.options.project import added, project_of
from sassan.cli.options.views import Solve
from sassan.cli.output.observer import CommandObserver
from sassan.cli.output.terminal import note, safe
from sassan.compilers.source import SUFFIX
from sassan.timing import Unit

_PLACE, _FILES, _OCCUPANCY, _INPUTS, _OFFERED = "asked", "files", "occupancy", "inputs", "offered"
_INTERNAL = (_OCCUPANCY, _INPUTS, _OFFERED)
"""What a command tells `_asked` of itself: no options."""
_FIELDS = {"bounds": "facts", "block_dim": "block", "param": "parameters", "solve": "solver"}
"""Options whose name in `AnalysisOptions` is another one."""
_NO_OPTIONS = ("files", "function", "sm", "arch", "no_cache", "quiet", "project", *_INTERNAL)
"""What is no part of the options of an analysis."""
_OF_AN_SM = frozenset({"distinct", "warps", "registers", "shared", "sms", "partition"})
_OF_COSTS = frozenset({"model", "machine", "latency", "measurements", "paper_experiment"})
_SOLVER = frozenset({"solve"})
_OF_PATHS = frozenset({"bounds", "loop_bound", "ablate"})

Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class AnalysisCommand:
    """A request, the options that it was made from, and who observes it.

    `project` is the project file that gave some of them, None for none; `whole`: its inputs are those of the project.
    """

    options: AnalysisOptions
    request: AnalysisRequest
    observer: CommandObserver
    project: Project | None = None
    whole: bool = False
    given: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """The options by their long names."""
    of_project: frozenset[str] = frozenset()
    """Those that the project gave."""


def _giving(*, without: frozenset[str]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command the options of an analysis, behind those of its own: it takes them as one value, `asked`.

    A command with arguments of its own names its inputs by them: `asked.request.files` is empty.
    """

    def decorate(command: Command) -> Command:
        parameters = [parameter for parameter in inspect.signature(command).parameters.values() if parameter.name != _PLACE]
        arguments = [parameter for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        omitted = without | {*_INTERNAL, *([_FILES] if arguments else ())}
        common = {name: parameter for name, parameter in inspect.signature(_asked).parameters.items() if name not in omitted}
        first = [parameter for parameter in common.values() if parameter.name == _FILES]
        several = [parameter for parameter in parameters if parameter not in arguments] + [
            parameter for parameter in common.values() if parameter.name != _FILES
        ]
        signature = inspect.Signature([*arguments, *first, *several])

        @wraps(command)
        def run(**given: object) -> None:
            named = [given[parameter.name] for parameter in arguments] if arguments else [given[_FILES]]
            about = {_INPUTS: tuple(_texts(named)), _OFFERED: frozenset(common), _OCCUPANCY: not without & _OF_AN_SM}
            asked = _asked(**about, **{name: given[name] for name in common})  # type: ignore[arg-type]  # typer has held them to this signature
            command(asked, **{parameter.name: given[parameter.name] for parameter in parameters})

        # What typer reads: the command as if every option stood in its own head.
        run.__dict__["__signature__"] = signature
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
        return run

    return decorate


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from _texts(cast("list[object]", value))


def _asked(
    files: Files = None,
    *,
    function: Functions = None,
    warps: Warps = None,
    bounds: Bounds = None,
    loop_bound: LoopBound = None,
    block_dim: BlockDim = None,
    grid: Grid = None,
    param: Parameters = None,
    distinct: Distinct = None,
    launches: LaunchesFile = None,
    registers: Registers = None,
    shared: Shared = None,
    sms: Sms = None,
    gpu: Gpu = None,
    partition: PartitionBound = False,
    model: ModelOption = None,
    machine: MachineFile = None,
    latency: Latencies = None,
    measurements: Measurements = None,
    letters: LettersOption = Letters.TIMING,
    order: OrderOption = None,
    call_depth: CallDepth = None,
    ablate: Ablate = None,
    paper_experiment: PaperExperiment = False,
    solve: Solve = None,
    sm: Sm = None,
    arch: Arch = None,
    no_cache: NoCache = False,
    quiet: Quiet = False,
    project: ProjectFile = None,
    occupancy: bool = True,
    inputs: tuple[str, ...] = (),
    offered: frozenset[str] = frozenset(),
) -> AnalysisCommand:
    given = {name: value for name, value in locals().items() if name not in _NO_OPTIONS and value is not None and value is not False}
    file = project_of(project, inputs)
    names, options_offered = ({name.replace("_", "-") for name in of} for of in (given, offered))
    unused = frozenset({"gpu"} if "model" not in offered and not _compiled(inputs or (file.files if file is not None else ())) else ())
    added_options = added(file, names, options_offered, _idle(given, offered, unused), quiet=quiet)
    values = {**{name.replace("-", "_"): value for name, value in added_options.items()}, **given}
    if unused & values.keys() and not quiet:
        note(f"note: --gpu {safe(str(values['gpu']))} is not used: what is printed is the same on every GPU\n")
    recording = file.recording if file is not None and "launches" in added_options else None
    options = _options(values, offered, occupancy=occupancy)
    whole = file is not None and not inputs
    request = AnalysisRequest(
        tuple(files or (file.files if file is not None else ())),
        options.settings(),
        tuple(function or (file.functions if file is not None and whole else ())),
        architecture(sm),
        not no_cache,
        recording or options.recording(),
        str(values.get("launches", "")),
        partial=file is not None and not whole and "bounds" in added_options,
        whole=not occupancy,
        spare_parameters="param" in added_options,
        target=architecture(arch or (file.arch if file is not None else None)),
    )
    known = {name.replace("_", "-"): value for name, value in values.items() if name.replace("_", "-") in projects.OPTIONS}
    return AnalysisCommand(options, request, CommandObserver(quiet=quiet), file, whole, known, frozenset(added_options))


def _options(values: Mapping[str, Any], offered: frozenset[str], *, occupancy: bool) -> AnalysisOptions:
    """The options of values by their names on the command line; a command without a choice of the model counts instructions."""
    fields: dict[str, Any] = {_FIELDS.get(name, name): tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    if "model" not in offered:
        fields["model"] = Unit().name
    return AnalysisOptions(occupancy=occupancy, **fields)


def _compiled(inputs: Iterable[str]) -> bool:
    """Whether a GPU says for which architecture an input is compiled."""
    return any(name.endswith(SUFFIX) for name in inputs)


def _idle(given: Mapping[str, Any], offered: frozenset[str], unused: frozenset[str]) -> Callable[[Mapping[str, Value]], frozenset[str]]:
    """What says which options of a project have no effect beside those `given`, by their long names."""

    def idle(of_project: Mapping[str, Value]) -> frozenset[str]:
        values = {**{name.replace("-", "_"): value for name, value in of_project.items()}, **given}
        fields = {name: long for long, name in _FIELDS.items()}
        without = _options(values, offered, occupancy=True).without_effect()
        return unused | frozenset(fields.get(name, name).replace("_", "-") for name in without)

    return idle


analysis = _giving(without=_SOLVER)
"""All options, for results of whole files."""
wcet_analysis = _giving(without=_OF_AN_SM)
"""Those of a single warp, for the WCET and its integer program."""
listing_analysis = _giving(without=_OF_AN_SM | _OF_COSTS | _SOLVER | _OF_PATHS)
"""Those on which the rows of a listing depend."""
graph_analysis = _giving(without=_OF_AN_SM | _OF_COSTS | _SOLVER)
"""Those of a single warp whose instructions cost one each."""
