"""`sassan makespan`: how long W warps may take on one SM, and the schedule that shows it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from sassan.app.inputs import Inputs, RefusedInput, RequestObserver
from sassan.app.makespan import kernels
from sassan.app.makespan.instances import MakespanInstance, configured, instance, is_string, strings_of
from sassan.app.makespan.kernels import Paths
from sassan.app.makespan.search import INTERRUPT, InstanceResult
from sassan.app.options import AnalysisOptions
from sassan.app.project import NONE
from sassan.app.reading import architecture, read_machine
from sassan.app.request import AnalysisRequest
from sassan.cli.options import executors
from sassan.cli.options.inputs import AllAssumptions, Csv, Functions, Json, NoCache, ProjectFile, Quiet
from sassan.cli.options.launch import BlockDim, Bounds, Grid, LoopBound, Parameters
from sassan.cli.options.makespan import (
    BlockWarps,
    Capacity,
    Chart,
    Configured,
    EngineChoice,
    EngineOption,
    Instances,
    Interval,
    Issue,
    Latency,
    Limit,
    MachineSm,
    MakespanProgram,
    Partition,
    PathsOption,
    ProgramForm,
    ProofFile,
    RowsOption,
    Seed,
    TimeLimit,
    WarpCount,
)
from sassan.cli.options.models import LettersChoice, LettersOption, MachineFile
from sassan.cli.options.project import completed, project_of
from sassan.cli.output import csv as sheet
from sassan.cli.output.files import check, check_writable, extension, save
from sassan.cli.output.finish import finish
from sassan.cli.output.observer import CommandObserver
from sassan.cli.reports import makespan as makespan_report
from sassan.cli.searching import watched_search
from sassan.errors import SassanError, UsageError
from sassan.executor import Certificates, Executor
from sassan.makespan.configuration import MakespanConfiguration, capacities, intervals, latencies
from sassan.makespan.engines import load
from sassan.makespan.exact.proof import proof as lines_of

_TIME_LIMIT = 10.0
_PATHS = 10
_TOO_LARGE = "too-large"
_INTERRUPTED = 130


def makespan(
    inputs: Instances = None,
    *,
    warps: WarpCount = None,
    sm: MachineSm = None,
    machine: MachineFile = None,
    partition: Partition = False,
    cap: Capacity = None,
    issue: Issue = None,
    latency: Latency = None,
    interval: Interval = None,
    block_warps: BlockWarps = None,
    engine: EngineOption = None,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    config: Configured = None,
    output: Chart = None,
    lp: MakespanProgram = None,
    proof: ProofFile = None,
    rows: RowsOption = None,
    path: PathsOption = None,
    limit: Limit = None,
    function: Functions = None,
    bounds: Bounds = None,
    loop_bound: LoopBound = None,
    block_dim: BlockDim = None,
    grid: Grid = None,
    param: Parameters = None,
    no_cache: NoCache = False,
    letters: LettersOption = LettersChoice.TIMING,
    executor: executors.ChainsOption = None,
    scheduler: executors.Scheduler = None,
    tls_ca_file: executors.TlsAuthority = None,
    tls_cert: executors.TlsCertificate = None,
    tls_key: executors.TlsKey = None,
    jobs: executors.Jobs = None,
    assumptions: AllAssumptions = False,
    csv: Csv = False,
    json: Json = False,
    quiet: Quiet = False,
    project: ProjectFile = None,
) -> None:
    """Find the longest makespan of W warps on one SM.

    A text of the letters L, C, S, D, T, B, digits, ( ) ^ is a kernel string; anything else names a listing (./LCL is a file). The answer
    is an interval: a schedule that exists, and a bound that none exceeds. Of a listing it holds if the warps take the paths that are shown;
    beside it stands the SM-level bound, whatever paths they take. Ctrl-C ends the search with the best result so far. The first search
    after an installation is compiled: up to 30 seconds, which no time limit counts. With a limit below 1.5 seconds nothing is compiled.
    A listing takes the options of its project; --config takes the place of the project's warps and machine.

    \b
    Examples:
      sassan makespan LCL -W 4
      sassan makespan L5C9L2C9 -W 16 --cap L=1,C=4 --issue 4 -o gantt.svg
      sassan makespan LC -W 8 --cap L=1/2,C=1 --engine exact --json
      sassan makespan L2BT4BC -W 8 --block-warps 4 --interval T=2 --latency T=18
      sassan makespan kernels.sass -f saxpy -W 16 --path all --limit 5
      sassan makespan L2C9 -W 16 --sm 8.6 --partition
      sassan makespan --config samples/makespan/figure-2.toml
    """
    sheet.exclude(csv=csv, json=json)
    texts = inputs or []
    listing = bool(texts) and not all(is_string(text) for text in texts)
    on_sm = {"warps": warps, "machine": machine, "partition": partition}
    of_code = {"bounds": bounds, "loop-bound": loop_bound, "block-dim": block_dim, "grid": grid, "param": param}
    values: dict[str, Any] = {**on_sm, **of_code}
    if listing:
        offered = of_code if config is not None else values
        values.update(completed(project_of(project, (texts[0],)), offered, quiet=quiet))
    given = MakespanConfiguration(
        strings=() if listing else strings_of(texts),
        warps=values["warps"],
        sm=sm,
        capacity=capacities(cap) if cap is not None else {},
        issue=issue,
        latency=latencies(latency) if latency is not None else {},
        interval=intervals(interval) if interval is not None else {},
        block_warps=block_warps,
        engine=engine.value if engine is not None else None,
        time_limit=time_limit,
        seed=seed,
        machine=read_machine(values["machine"]) if values["machine"] is not None else None,
        partition=values["partition"],
    )
    chosen = configured(config, given)
    wanted = makespan_report.Wanted(output, lp, rows or ProgramForm.SHORT, json=json, quiet=quiet, csv=csv, assumptions=assumptions)
    _check_outputs(output, lp, proof)
    with _chains(executor, scheduler, jobs, Certificates(tls_ca_file, tls_cert, tls_key), chosen) as workers:
        search = _Search(chosen, rows, workers, quiet)
        if not listing:
            paths = {"--path": path, "--limit": limit, "-f": function, "--bounds": bounds, "--loop-bound": loop_bound}
            named = {"--project": project if project != NONE else None}
            _refuse({**paths, **named, "--block-dim": block_dim, "--grid": grid, "--param": param})
            _strings(search, wanted, proof)
            return
        if proof is not None:
            raise UsageError("usage", "--proof is for kernel strings, and the input is a listing", hint="omit it, or pass the string")
        if len(texts) > 1:
            raise UsageError("usage", f"{len(texts)} listings, and at most one is possible", hint="'sassan analyze FILE… -W N' bounds many")
        request = AnalysisRequest(
            (*texts,),
            _options(values, letters).settings(),
            tuple(function or ()),
            architecture(chosen.sm),
            not no_cache,
            partial=bounds is None and values["bounds"] is not None,
        )
        _listing(request, search, wanted, path or Paths.WORST, limit or _PATHS)


@dataclass(frozen=True, slots=True)
class _Search:
    """How instances are searched: the form of an integer program, and where the chains of annealing run; None: as the engine chooses."""

    chosen: MakespanConfiguration
    rows: ProgramForm | None
    executor: Executor | None
    quiet: bool

    def answer(self, problem: MakespanInstance) -> InstanceResult:
        """Search one instance."""
        seconds = self.chosen.time_limit if self.chosen.time_limit is not None else _TIME_LIMIT
        engine = load(self.chosen.engine or "all", self.rows, self.executor)
        return watched_search(problem, engine, seconds=seconds, seed=self.chosen.seed or 0, quiet=self.quiet)


def _chains(
    kind: executors.ExecutorKind | None, scheduler: str | None, jobs: int | None, certificates: Certificates, chosen: MakespanConfiguration
) -> AbstractContextManager[Executor | None]:
    """Return the executor of the chains of annealing to hold; refuse one where nothing is annealed."""
    if kind is None and scheduler is None and jobs is None and certificates == Certificates():
        return nullcontext()
    if chosen.engine not in (None, EngineChoice.ALL, EngineChoice.ANNEAL):
        message = f"--executor runs the chains of annealing, and --engine is {chosen.engine}"
        raise UsageError("usage", message, hint="--engine anneal, or all")
    return executors.executor(kind or executors.ExecutorKind.PROCESSES, scheduler, jobs, certificates)


def _check_outputs(output: str | None, lp: str | None, proof: str | None) -> None:
    if output is not None:
        extension(output, ("svg", "html"))
    if lp is not None:
        extension(lp, ("lp", "mps"))
    check_writable(proof)


def _refuse(given: dict[str, object]) -> None:
    """Refuse options that speak of a listing where there is none."""
    spoken = [name for name, value in given.items() if value not in (None, [])]
    if spoken:
        raise UsageError("usage", f"{spoken[0]} applies to a listing, and the input is a kernel string", hint="omit it, or pass a file")


def _strings(search: _Search, wanted: makespan_report.Wanted, proof: str | None) -> None:
    """Answer for kernel strings."""
    chosen = search.chosen
    if not chosen.strings:
        raise UsageError("usage", "the input is missing", hint="pass a kernel string, a listing or --config: sassan makespan LCL -W 4")
    problem = instance(_name(chosen), chosen.strings, chosen, None)
    missing = _prove(problem, proof, quiet=wanted.quiet) if proof is not None else None
    answer = search.answer(problem)
    makespan_report.single(answer, wanted)
    if missing is not None:
        raise missing
    _end([answer])


def _options(values: Mapping[str, Any], letters: LettersChoice) -> AnalysisOptions:
    """Return the options of the analysis of a listing, by their names on the command line."""
    return AnalysisOptions(
        facts=values["bounds"],
        loop_bound=values["loop-bound"],
        block=values["block-dim"],
        grid=values["grid"],
        parameters=tuple(values["param"] or ()),
        letters=letters,
    )


def _listing(request: AnalysisRequest, search: _Search, wanted: makespan_report.Wanted, paths: Paths, limit: int) -> None:
    """Answer for paths of the functions of a listing, up to `limit` of each."""
    observer = CommandObserver(quiet=wanted.quiet)
    selection = request.inputs(observer)
    check(wanted.output, selection.names)
    check(wanted.program, selection.names)
    instances, selection = kernels.ask(selection, request.settings, search.chosen, paths, limit, observer)
    answers, selection = _answers(instances, search.answer, selection, observer)
    makespan_report.listing(instances, answers, selection.refused, wanted)
    _end([answer for some in answers for answer in some])
    finish(selection, [kernel.result for kernel in instances] if request.patterns else [])


def _prove(problem: MakespanInstance, path: str, *, quiet: bool) -> UsageError | None:
    """Write the proof; where it would be too large, return the error, which ends the command behind its other results."""
    try:
        save(Path(path), "".join(f"{line}\n" for line in lines_of(problem.problem)).encode(), quiet=quiet)
    except UsageError as error:
        if error.code != _TOO_LARGE:
            raise
        return error
    return None


def _name(chosen: MakespanConfiguration) -> str:
    return " ".join(str(string) for string in chosen.strings)


def _answers(
    instances: tuple[kernels.KernelInstances, ...],
    run: Callable[[MakespanInstance], InstanceResult],
    inputs: Inputs,
    observer: RequestObserver,
) -> tuple[tuple[tuple[InstanceResult, ...], ...], Inputs]:
    """Search every path of every function, one after the other; an instance that an engine refuses does not hide the others."""
    every: list[tuple[InstanceResult, ...]] = []
    refused = list(inputs.refused)
    for kernel in instances:
        answers: list[InstanceResult] = []
        for problem in kernel.instances:
            try:
                answers.append(kernels.capped(kernels.at_barriers(kernel, problem) if kernel.barrier else run(problem), kernel.bound))
            except SassanError as error:
                refused.append(RefusedInput(kernel.result.file, error))
                observer.refused(refused[-1])
        every.append(tuple(answers))
    return tuple(every), Inputs(inputs.selected, tuple(refused))


def _end(answers: list[InstanceResult]) -> None:
    """End with the status of an interrupt where there was one; its result has been printed.

    Raises typer.Exit.
    """
    if any(answer.stopped == INTERRUPT for answer in answers):
        raise typer.Exit(_INTERRUPTED)
