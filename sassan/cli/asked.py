"""The options that every analysis of whole files has, declared once: a command takes them as one value."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

from sassan.cli import options, settings
from sassan.cli.inputs import Inputs, Result, analyses, read
from sassan.errors import UsageError

if TYPE_CHECKING:
    from sassan.pipeline import Settings

_PLACE, _FILES = "asked", "files"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants analyzed, and how."""

    files: list[str]
    functions: list[str] | None
    settings: "Settings"
    warps: int | None
    sm: str | None
    cached: bool
    quiet: bool

    def inputs(self, *, partial: bool = False) -> Inputs:
        """Read the files and choose the functions; see `inputs.read` for what it prints and raises, and for `partial`."""
        chosen = self.settings
        return read(
            self.files,
            arch=self.sm,
            patterns=self.functions,
            facts=chosen.facts,
            launch=chosen.launch,
            cached=self.cached,
            partial=partial,
        )

    def analyses(self, *, partial: bool = False) -> tuple[tuple[Result, ...], Inputs]:
        """Analyze the chosen functions; see `inputs.analyses`."""
        from sassan import pipeline

        return analyses(
            self.inputs(partial=partial), lambda one: pipeline.analyze(one, self.settings, self.warps), "analyzing", quiet=self.quiet
        )


def analysis(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an analysis, behind those of its own: its parameter `asked` is made from them.

    A command with arguments of its own names its inputs by them: `asked.files` is empty.
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
    files: options.Files,
    *,
    function: options.Functions = None,
    warps: options.Warps = None,
    bounds: options.Bounds = None,
    loop_bound: options.LoopBound = None,
    block_dim: options.BlockDim = None,
    grid: options.Grid = None,
    param: options.Parameters = None,
    registers: options.Registers = None,
    shared: options.Shared = None,
    sms: options.Sms = None,
    partition: options.PartitionBound = False,
    model: options.ModelOption = options.Model.UNIT,
    machine: options.MachineFile = None,
    latency: options.Latencies = None,
    measurements: options.Measurements = None,
    letters: options.LettersOption = options.Letters.TIMING,
    order: options.OrderOption = options.Order.ARCH,
    call_depth: options.CallDepth = None,
    ablate: options.Ablate = None,
    paper_experiment: options.PaperExperiment = False,
    sm: options.Sm = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> Asked:
    if partition and warps is None and block_dim is None:
        raise UsageError("usage", "--partition says how warps share an SM", hint="give -W or --block-dim, too")
    chosen = settings.make(
        bounds=bounds,
        loop_bound=loop_bound,
        launch=settings.launch(block_dim, grid, param),
        letters=letters,
        model=model,
        machine=machine,
        latency=latency,
        measurements=measurements,
        order=order,
        call_depth=call_depth,
        ablate=ablate,
        paper_experiment=paper_experiment,
        resources=settings.resources(block_dim, grid, registers=registers, shared=shared, sms=sms),
        partition=partition,
    )
    return Asked(files, function, chosen, warps, sm, not no_cache, quiet)
