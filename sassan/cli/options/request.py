"""The options that every analysis of whole files has, declared once: a command takes them as one value."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
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
    Clock,
    CoRunners,
    DataChoice,
    Distinct,
    DramShare,
    Gpu,
    Grid,
    LaunchesFile,
    LoopBound,
    Parameters,
    PartitionBound,
    Registers,
    RunBefore,
    Shared,
    Sms,
    Warps,
)
from sassan.cli.options.models import (
    Ablate,
    CallDepth,
    Latencies,
    LettersChoice,
    LettersOption,
    MachineFile,
    Measurements,
    ModelOption,
    OrderOption,
    PaperExperiment,
)
from sassan.cli.options.project import added, project_of, task_project
from sassan.cli.options.task import Beside, Copies, Period, TaskDeadline, TaskName
from sassan.cli.options.views import Solve
from sassan.cli.output.observer import CommandObserver
from sassan.cli.output.terminal import note, safe
from sassan.compilers.source import SUFFIX
from sassan.errors import UsageError
from sassan.timing import UnitCostModel

_FIELDS = {"bounds": "facts", "block_dim": "block", "param": "parameters", "solve": "solver"}
"""Options whose name in `AnalysisOptions` is another one."""
_OF_THE_REQUEST = frozenset({"function", "sm", "arch", "no_cache", "quiet", "project"})
"""Options of a request that are no part of the options of an analysis."""

_OF_TASK = ("task", "deadline", "period", "copies", "beside")
"""Options of a task that are no part of the options of an analysis."""

_OF_GPU = ("gpu", "clock", "dram-share", "co-runners")
"""Options that tasks on one GPU have in common."""

_FILES = inspect.Parameter("files", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Files)

Command = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingFlags:
    """The options on which the rows of a listing depend."""

    function: Functions = None
    block_dim: BlockDim = None
    grid: Grid = None
    param: Parameters = None
    launches: LaunchesFile = None
    data: DataChoice = None
    run_before: RunBefore = False
    gpu: Gpu = None
    letters: LettersOption = LettersChoice.TIMING
    order: OrderOption = None
    call_depth: CallDepth = None
    sm: Sm = None
    arch: Arch = None
    no_cache: NoCache = False
    quiet: Quiet = False
    project: ProjectFile = None

    @classmethod
    def names(cls) -> frozenset[str]:
        """All the options of the command."""
        return frozenset(option.name for option in fields(cls))

    def given(self) -> Mapping[str, Any]:
        """The options of the analysis that the command line has, by name."""
        values = {option.name: getattr(self, option.name) for option in fields(self) if option.name not in _OF_THE_REQUEST}
        return {name: value for name, value in values.items() if value is not None and value is not False}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFlags(ListingFlags):
    """Those of a single warp whose instructions cost one each."""

    bounds: Bounds = None
    loop_bound: LoopBound = None
    ablate: Ablate = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFlags(GraphFlags):
    """Those of a single warp, for what its blocks cost."""

    model: ModelOption = None
    machine: MachineFile = None
    latency: Latencies = None
    measurements: Measurements = None
    paper_experiment: PaperExperiment = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WcetFlags(CostFlags):
    """Those of a single warp, for the WCET and its integer program."""

    solve: Solve = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisFlags(CostFlags):
    """All of them, for results of whole files."""

    warps: Warps = None
    distinct: Distinct = None
    registers: Registers = None
    shared: Shared = None
    sms: Sms = None
    clock: Clock = None
    dram_share: DramShare = None
    co_runners: CoRunners = None
    partition: PartitionBound = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFlags(AnalysisFlags):
    """Those of a task beside all of them."""

    task: TaskName = None
    deadline: TaskDeadline = None
    period: Period = None
    copies: Copies = None
    beside: Beside = None


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
    of_task: Mapping[str, str] = field(default_factory=dict[str, str])
    """The options of a task by their long names, and its own name."""
    beside: tuple[str, ...] = ()
    """The names of the tasks that share the GPU."""


def _with(flags: type[ListingFlags]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command these options, behind those of its own: it takes them as its first argument, made a request.

    A command with arguments of its own names its inputs by them; any other has FILE.
    """

    def decorate(command: Command) -> Command:
        _, *after = inspect.signature(command).parameters.values()
        arguments = [parameter for parameter in after if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        options = [parameter for parameter in after if parameter not in arguments]
        common = inspect.signature(flags).parameters

        @wraps(command)
        def run(**given: object) -> None:
            chosen = flags(**{name: given.pop(name) for name in common})  # type: ignore[arg-type]  # typer has held them to this signature
            files = () if arguments else tuple(_texts([given.pop(_FILES.name)]))
            inputs = files or tuple(_texts(given[argument.name] for argument in arguments))
            command(_command(chosen, files, inputs), **given)

        # What typer reads: the command as if every option stood in its own head.
        signature = inspect.Signature([*(arguments or [_FILES]), *options, *common.values()])
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


def _command(flags: ListingFlags, files: tuple[str, ...], inputs: tuple[str, ...]) -> AnalysisCommand:
    """Return what the options ask for, with those of the project."""
    given, offered, occupancy = flags.given(), flags.names(), isinstance(flags, AnalysisFlags)
    file = task_project(flags.project, inputs, flags.task) if isinstance(flags, TaskFlags) else project_of(flags.project, inputs)
    names, options_offered = ({name.replace("_", "-") for name in of} for of in (given, offered))
    unused = frozenset({"gpu"} if "model" not in offered and not _compiled(inputs or (file.files if file is not None else ())) else ())
    added_options = added(file, names, options_offered, _idle(given, offered, unused), quiet=flags.quiet)
    values = {**{name.replace("-", "_"): value for name, value in added_options.items()}, **given}
    if unused & values.keys() and not flags.quiet:
        note(f"note: --gpu {safe(str(values['gpu']))} is not used: what is printed is the same on every GPU\n")
    recording = file.recording if file is not None and "launches" in added_options else None
    options = _options(values, offered, occupancy=occupancy)
    whole = file is not None and not inputs
    request = AnalysisRequest(
        files or (file.files if file is not None else ()),
        options.settings(),
        tuple(flags.function or (file.functions if file is not None and whole else ())),
        architecture(flags.sm),
        not flags.no_cache,
        recording or options.recording(),
        str(values.get("launches", "")),
        partial=file is not None and not whole and "bounds" in added_options,
        whole=not occupancy,
        spare_parameters="param" in added_options,
        run_before=options.run_before,
        target=architecture(flags.arch or (file.arch if file is not None else None)),
    )
    known = {name.replace("_", "-"): value for name, value in values.items() if name.replace("_", "-") in projects.OPTIONS}
    of_task = {name: str(values[name]) for name in _OF_TASK if name in values and name != "beside"}
    tasks = values.get("beside")
    observer, beside = CommandObserver(quiet=flags.quiet), tuple(map(str, tasks)) if isinstance(tasks, list | tuple) else ()
    return AnalysisCommand(options, request, observer, file, whole, known, frozenset(added_options), of_task, beside)


def other_task(command: AnalysisCommand, name: str) -> AnalysisCommand:
    """Return what the project file says of another task, on the GPU of the command.

    Raises UsageError where there is no such task, or it is on another GPU.
    """
    project, given = command.project, command.given
    if project is None:
        raise UsageError("usage", f"there is no project file with the task '{name}'", hint="describe both in a sassan.toml: [task.NAME]")
    here = {key: str(given[key]) for key in _OF_GPU if key in given}
    declared = project.tasks[name].options if name in project.tasks else {}
    for key, value in declared.items():
        if key in _OF_GPU and here.get(key) != value:
            message = f"{project.path}: the task '{name}' has {key} = {value}, and the GPU that it shares has {here.get(key, 'none')}"
            raise UsageError("usage", message, hint="tasks that share a GPU say the same of it")
    flags = TaskFlags(
        task=name,
        project=project.path,
        quiet=True,
        gpu=here.get("gpu"),
        clock=here.get("clock"),
        dram_share=here.get("dram-share"),
        co_runners=here.get("co-runners"),
    )
    return _command(flags, (), ())


def _options(values: Mapping[str, Any], offered: frozenset[str], *, occupancy: bool) -> AnalysisOptions:
    """The options of values by their names on the command line; a command without a choice of the model counts instructions."""
    named: dict[str, Any] = {
        _FIELDS.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name not in _OF_TASK
    }
    if "model" not in offered:
        named["model"] = UnitCostModel().name
    return AnalysisOptions(occupancy=occupancy, **named)


def _compiled(inputs: Iterable[str]) -> bool:
    """Whether a GPU says for which architecture an input is compiled."""
    return any(name.endswith(SUFFIX) for name in inputs)


def _idle(given: Mapping[str, Any], offered: frozenset[str], unused: frozenset[str]) -> Callable[[Mapping[str, Value]], frozenset[str]]:
    """What says which options of a project have no effect beside those `given`, by their long names."""

    def idle(of_project: Mapping[str, Value]) -> frozenset[str]:
        values = {**{name.replace("-", "_"): value for name, value in of_project.items()}, **given}
        longs = {name: long for long, name in _FIELDS.items()}
        without = _options(values, offered, occupancy=True).without_effect()
        return unused | frozenset(longs.get(name, name).replace("_", "-") for name in without)

    return idle


analysis = _with(AnalysisFlags)
task_analysis = _with(TaskFlags)
wcet_analysis = _with(WcetFlags)
listing_analysis = _with(ListingFlags)
graph_analysis = _with(GraphFlags)
