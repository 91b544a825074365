"""The options that every analysis of whole files has, declared once: a command takes them as one value."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from sassan.app.options import AnalysisOptions
from sassan.app.reading import architecture
from sassan.app.request import AnalysisRequest
from sassan.cli.options.inputs import Files, Functions, NoCache, Quiet, Sm
from sassan.cli.options.launch import (
    BlockDim,
    Bounds,
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
    Order,
    OrderOption,
    PaperExperiment,
)
from sassan.cli.options.views import Solve
from sassan.cli.output.observer import CommandObserver

_PLACE, _FILES, _OCCUPANCY = "asked", "files", "occupancy"
_OF_AN_SM = frozenset({"warps", "launches", "registers", "shared", "sms", "gpu", "partition"})
_OF_COSTS = frozenset({"model", "machine", "latency", "measurements", "paper_experiment"})
_SOLVER = frozenset({"solve"})

Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, the options that it was made from, and who observes it."""

    options: AnalysisOptions
    request: AnalysisRequest
    observer: CommandObserver


def _giving(*, without: frozenset[str]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command the options of an analysis, behind those of its own: it takes them as one value, `asked`.

    A command with arguments of its own names its inputs by them: `asked.request.files` is empty.
    """

    def decorate(command: Command) -> Command:
        own = [parameter for parameter in inspect.signature(command).parameters.values() if parameter.name != _PLACE]
        arguments = [parameter for parameter in own if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        left_out = without | {_OCCUPANCY, *([_FILES] if arguments else ())}
        common = {name: parameter for name, parameter in inspect.signature(_asked).parameters.items() if name not in left_out}
        first = [parameter for parameter in common.values() if parameter.name == _FILES]
        several = [parameter for parameter in own if parameter not in arguments] + [
            parameter for parameter in common.values() if parameter.name != _FILES
        ]
        signature = inspect.Signature([*arguments, *first, *several])

        @wraps(command)
        def run(**given: object) -> None:
            asked = _asked(**{_FILES: [], _OCCUPANCY: not without & _OF_AN_SM, **{name: given[name] for name in common}})  # type: ignore[arg-type]  # typer has held them to this signature
            command(asked, **{parameter.name: given[parameter.name] for parameter in own})

        # What typer reads: the command as if every option stood in its own head.
        run.__dict__["__signature__"] = signature
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
        return run

    return decorate


def _asked(
    files: Files,
    *,
    function: Functions = None,
    warps: Warps = None,
    bounds: Bounds = None,
    loop_bound: LoopBound = None,
    block_dim: BlockDim = None,
    grid: Grid = None,
    param: Parameters = None,
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
    order: OrderOption = Order.ARCH,
    call_depth: CallDepth = None,
    ablate: Ablate = None,
    paper_experiment: PaperExperiment = False,
    solve: Solve = None,
    sm: Sm = None,
    no_cache: NoCache = False,
    quiet: Quiet = False,
    occupancy: bool = True,
) -> Asked:
    options = AnalysisOptions(
        facts=bounds,
        loop_bound=loop_bound,
        block=block_dim,
        grid=grid,
        parameters=tuple(param or ()),
        registers=registers,
        shared=shared,
        sms=sms,
        gpu=gpu,
        warps=warps,
        partition=partition,
        launches=launches,
        model=model,
        machine=machine,
        latency=tuple(latency or ()),
        measurements=measurements,
        letters=letters,
        order=order,
        call_depth=call_depth,
        ablate=tuple(ablate or ()),
        paper_experiment=paper_experiment,
        solver=solve,
        occupancy=occupancy,
    )
    settings = options.settings()
    request = AnalysisRequest(
        tuple(files), settings, tuple(function or ()), architecture(sm), not no_cache, options.recording(), launches or ""
    )
    return Asked(options, request, CommandObserver(quiet=quiet))


analysis = _giving(without=_SOLVER)
"""All options, for results of whole files."""
wcet_analysis = _giving(without=_OF_AN_SM)
"""Those of a single warp, for the WCET and its integer program."""
graph_analysis = _giving(without=_OF_AN_SM | _OF_COSTS | _SOLVER)
"""Those of a single warp whose instructions cost one each."""
