"""The options that every analysis of whole files has, declared once: a command takes them as one value."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps

from sassan.app.analysis import analyze
from sassan.app.launches import LaunchAnalysis, analyze_launches
from sassan.app.settings import Settings
from sassan.cli.inputs import Inputs, Refused, Result, analyses, read, wanted
from sassan.cli.options import settings
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
from sassan.cli.output import failure
from sassan.cli.output.progress import track
from sassan.errors import InputError, UsageError
from sassan.launches import Launches

_PLACE, _FILES = "asked", "files"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants analyzed, and how."""

    files: list[str]
    functions: list[str] | None
    settings: Settings
    sm: str | None
    cached: bool
    quiet: bool
    recording: Launches | None = None
    """The launches of --launches."""
    launches_file: str = ""

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
        if self.recording is not None:
            return self._of_launches(partial=partial)
        return analyses(self.inputs(partial=partial), lambda one: analyze(one, self.settings), "analyzing", quiet=self.quiet)

    def launches(self, inputs: Inputs) -> Iterator[LaunchAnalysis]:
        """Yield the analysis of every recorded launch of the chosen functions, in order."""
        assert self.recording is not None
        functions = [(one.file, one.function) for one in inputs.selected]
        chosen = tuple(one for one in self.recording.launches if wanted(one.kernel, self.functions))
        found = analyze_launches(functions, replace(self.recording, launches=chosen), self.settings)
        yield from track(found, "analyzing", quiet=self.quiet, total=len(chosen))

    def _of_launches(self, *, partial: bool) -> tuple[tuple[Result, ...], Inputs]:
        """Return one result for each different launch; a kernel that the inputs do not hold is refused like a file that cannot be read."""
        inputs = self.inputs(partial=partial)
        results: dict[int, Result] = {}
        refused = {(one.file, one.error.message): one for one in inputs.refused}
        for one in self.launches(inputs):
            if one.analysis is not None:
                results[id(one.analysis)] = Result(one.file, one.analysis)
            for gap in one.missing:
                error = InputError(gap.code, gap.message)
                if (self.launches_file, gap.message) not in refused:
                    failure.show(error, self.launches_file)
                    refused[self.launches_file, gap.message] = Refused(self.launches_file, error)
        return tuple(results.values()), Inputs(inputs.selected, tuple(refused.values()))


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
    if launches is not None:
        given = {"--block-dim": block_dim, "--grid": grid, "--param": param, "--shared": shared, "-W": warps}
        settings.refuse_beside_launches([option for option, value in given.items() if value is not None])
    if partition and warps is None and block_dim is None and launches is None:
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
        resources=settings.resources(block_dim, grid, registers=registers, shared=shared, sms=sms, launched=launches is not None),
        warps=warps,
        partition=partition,
    )
    recording = settings.recording(launches)
    return Asked(files, function, chosen, sm, not no_cache, quiet, recording, launches or "")
