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
    Model,
    ModelOption,
    Order,
    OrderOption,
    PaperExperiment,
)
from sassan.cli.output.observer import CommandObserver

_PLACE, _FILES = "asked", "files"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and who observes it."""

    request: AnalysisRequest
    observer: CommandObserver


def analysis(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an analysis, behind those of its own: its parameter `asked` is made from them.

    A command with arguments of its own names its inputs by them: `asked.request.files` is empty.
    """
    own = [one for one in inspect.signature(command).parameters.values() if one.name != _PLACE]
    arguments = [one for one in own if one.kind is one.POSITIONAL_OR_KEYWORD]
    common = {name: one for name, one in inspect.signature(_asked).parameters.items() if name != _FILES or not arguments}
    first = [one for one in common.values() if one.name == _FILES]
    several = [one for one in own if one not in arguments] + [one for one in common.values() if one.name != _FILES]
    signature = inspect.Signature([*arguments, *first, *several])

    @wraps(command)
    def run(**given: object) -> None:
        asked = _asked(**{_FILES: [], **{name: given[name] for name in common}})  # type: ignore[arg-type]  # typer has held them to this signature
        command(asked, **{one.name: given[one.name] for one in own})

    # What typer reads: the command as if every option stood in its own head.
    run.__dict__["__signature__"] = signature
    run.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    return run


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
    partition: PartitionBound = False,
    model: ModelOption = Model.UNIT,
    machine: MachineFile = None,
    latency: Latencies = None,
    measurements: Measurements = None,
    letters: LettersOption = Letters.TIMING,
    order: OrderOption = Order.ARCH,
    call_depth: CallDepth = None,
    ablate: Ablate = None,
    paper_experiment: PaperExperiment = False,
    sm: Sm = None,
    no_cache: NoCache = False,
    quiet: Quiet = False,
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
    )
    settings = options.settings()
    request = AnalysisRequest(
        tuple(files), settings, tuple(function or ()), architecture(sm), not no_cache, options.recording(), launches or ""
    )
    return Asked(request, CommandObserver(quiet=quiet))
