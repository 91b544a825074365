"""Evaluating a genome: compile, read, bound. `evaluate` runs in other processes; except for the cache it is a pure function of its task.

Every static cost is a bound for the launch of the configuration: loop bounds are inferred from the code for its parameters, or there is a
gap. Flow facts and default loop bounds are not used: a bound for one unrolling does not hold for another.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.options import machine_of_product
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.errors import Gap, InputError, SelfCheckError, UsageError
from sassan.evolve.cache import Cache, key, program
from sassan.evolve.compilation.compile import CompileJob, CompileResult, CompileStatus, build
from sassan.evolve.compilation.compilers import Tools
from sassan.evolve.outcome import GenomeOutcome, LoopReport, OutcomeStatus, from_json, to_json
from sassan.evolve.space.config import Config, Objective
from sassan.evolve.space.genes import Genome, GenomeValues
from sassan.evolve.space.shapes import ShapeProblem
from sassan.executor import More
from sassan.fields.kinds import address
from sassan.frontend import Image, read, read_ahead
from sassan.ipet.flow_facts import REMEDY
from sassan.ir import Function
from sassan.machine.launch import check
from sassan.machine.occupancy import Resources
from sassan.recorded.names import bare
from sassan.timing import latencies
from sassan.timing.models import model
from sassan.timing.rates import Tables

SAME_WORK = "macros, launch shapes and parameters do the same work in every individual, as the configuration claims"
ONE_LAUNCH = "costs are for one launch; loops are bounded for its parameters"

_CONTENTION = (Objective.MAKESPAN, Objective.GRID)
"""Objectives that need bounds of the warps of an SM."""
_BOUNDS = (Objective.WCET, *_CONTENTION)
_KEYS = {
    "no-function": "kernel.function",
    "unknown-parameter": "launch.param",
    "parameter": "launch.param",
    "launch": "launch.block, grid, shared",
}
"""The configuration key that an error code refers to."""


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """All inputs of an evaluation."""

    config: Config
    tools: Tools
    genome: Genome
    cached: bool = True


def job(config: Config, choice: GenomeValues) -> CompileJob:
    """Return the compile job of a choice."""
    kernel = config.kernel
    by_ptx = config.ordered or kernel.ptx
    return CompileJob(kernel.text, kernel.ptx, by_ptx, kernel.arch, kernel.options, choice, config.plan.seconds, kernel.headers)


def compiled(task: EvaluationTask) -> CompileResult:
    """Return the compilation of a task; raises SelfCheckError."""
    return build(job(task.config, task.config.space.choice(task.genome)), task.tools, Cache(used=task.cached))


def evaluate(task: EvaluationTask) -> GenomeOutcome:
    """Return the outcome of a genome; raises MissingToolError for the disassembler, SelfCheckError."""
    built = _built(task)
    return built if isinstance(built, GenomeOutcome) else _evaluated(task, built)


def evaluate_together(tasks: tuple[EvaluationTask, ...]) -> Iterable[GenomeOutcome]:
    """Return the outcomes of some genomes, whose code is disassembled together; raises as `evaluate`."""
    built = [_built(task) for task in tasks]
    read_ahead([_image(each.cubin) for each in built if not isinstance(each, GenomeOutcome)])
    return tuple(each if isinstance(each, GenomeOutcome) else _evaluated(task, each) for task, each in zip(tasks, built, strict=True))


def _built(task: EvaluationTask) -> CompileResult | GenomeOutcome:
    """Return the code of a genome, or its outcome where there is none, or where that is known."""
    if (why := _restricted(task)) is not None:
        return GenomeOutcome(OutcomeStatus.REFUSED, why=why)
    built = compiled(task)
    if built.status is not CompileStatus.DONE:
        return GenomeOutcome(OutcomeStatus(built.status.value), why=built.why, cached=built.cached)
    known = Cache(used=task.cached).get_object(_name(task, built))
    if known is not None:
        try:
            return from_json(known, cached=built.cached)
        except (KeyError, TypeError, ValueError):
            pass  # an entry of another version: evaluate again
    return built


def _evaluated(task: EvaluationTask, built: CompileResult) -> GenomeOutcome:
    outcome = _bounded(task.config, task.config.space.choice(task.genome), built.cubin)
    Cache(used=task.cached).put_object(_name(task, built), dict(to_json(outcome)))
    return outcome


def _name(task: EvaluationTask, built: CompileResult) -> str:
    return key(built.cubin, _settings_text(task.config, task.config.space.choice(task.genome)), program())


def _image(cubin: bytes) -> Image:
    return Image("kernel.cubin", cubin)


def _restricted(task: EvaluationTask) -> str | None:
    """Return why a genome is not launched, None where nothing forbids it."""
    choice = task.config.space.choice(task.genome)
    try:
        violated = task.config.shape.violated(choice)
    except ShapeProblem as problem:
        return str(problem)
    return f"the restriction '{violated}' does not hold" if violated else None


def content(cubin: bytes) -> str:
    """Return the content hash of a cubin in an outcome."""
    return f"sha256:{hashlib.sha256(cubin).hexdigest()}"


def _settings_text(config: Config, choice: GenomeValues) -> str:
    try:
        shape: object = config.shape.launch(choice)
    except (ShapeProblem, UsageError):
        shape = (config.shape.block, config.shape.grid, choice.numbers)
    launch = (shape, config.shape.sms, config.shape.shared, config.shape.gpu)
    return repr((launch, config.kernel.function, config.objectives, config.model, config.latencies, config.warps, config.plan.largest))


def _bounded(config: Config, choice: GenomeValues, cubin: bytes) -> GenomeOutcome:
    """Return the costs of a cubin; an error of a single individual becomes its status."""
    name = content(cubin)
    try:
        function = _function(config, cubin)
        if len(function.instructions) > config.plan.largest:
            why = f"{len(function.instructions)} instructions: more than {config.plan.largest} (search.largest)"
            return GenomeOutcome(OutcomeStatus.REFUSED, why=why, cubin=name)
        settings = _settings(config, choice)
        check(settings.launch, (function,))
        result = analyze(function, settings)
    except (InputError, UsageError) as error:
        why = f"{error.message}; {error.hint}" if error.code == "unknown-parameter" else error.message
        key = _KEYS.get(error.code)
        return GenomeOutcome(OutcomeStatus.REFUSED, why=f"{key}: {why}" if key is not None else why, cubin=name)
    except ShapeProblem as problem:
        return GenomeOutcome(OutcomeStatus.REFUSED, why=str(problem), cubin=name)
    return _outcome(config, result, name)


def _function(config: Config, cubin: bytes) -> Function:
    functions = read(_image(cubin), cached=False).functions
    named = [candidate for candidate in functions if candidate.name == config.kernel.function]
    plain = [candidate for candidate in functions if candidate.kernel and bare(candidate.name) == config.kernel.function]
    function = next(iter(named), plain[0] if len(plain) == 1 else None)
    if function is None:
        names = ", ".join(candidate.name for candidate in functions)
        raise InputError("no-function", f"the cubin has no function '{config.kernel.function}' (functions: {names})")
    return function


def _settings(config: Config, choice: GenomeValues) -> Settings:
    """Return the settings of the analysis; raises ShapeProblem, UsageError."""
    shape = config.shape
    machine = machine_of_product(shape.gpu, "launch.gpu") if shape.gpu is not None else None
    return Settings(
        launch=shape.launch(choice),
        costs=model(config.model, Tables(machine, latencies.parse(config.latencies), shape.gpu.latency if shape.gpu is not None else ())),
        resources=Resources(shared=shape.shared or None, sms=shape.sms),
        warps=config.warps,
        gpu=shape.gpu,
        machine=machine,
        contention=any(objective in _CONTENTION for objective in config.objectives),
        check=any(objective in _BOUNDS for objective in config.objectives),
    )


def _outcome(config: Config, result: AnalysisResult, cubin: str) -> GenomeOutcome:
    compiler, bounds = result.function.compiler, result.makespan
    expected = estimated(result) if Objective.ESTIMATE in config.objectives else None
    known_time = expected.estimate if expected is not None else None
    numbers: dict[str, int | float | None] = {
        Objective.WCET.value: result.wcet.value if result.wcet.bound else None,
        Objective.MAKESPAN.value: bounds.bound.value if bounds is not None and config.warps is not None else None,
        Objective.GRID.value: bounds.grid.value if bounds is not None and bounds.grid is not None else None,
        Objective.INSTRUCTIONS.value: len(result.function.instructions),
        Objective.REGISTERS.value: compiler.registers if compiler is not None else None,
        Objective.ESTIMATE.value: known_time.us if known_time is not None else None,
    }
    loops = tuple(
        LoopReport(address(result.cfg.nodes[loop.head].start), bound, origin.value)
        for loop, bound, origin in zip(result.cfg.loops, result.bounds.of_loop, result.bounds.origins, strict=True)
    )
    costs = [numbers[objective.value] for objective in config.objectives if objective is not Objective.MEASURED]
    known = tuple(float(cost) for cost in costs if cost is not None)
    gaps = (*result.gaps, *(expected.gaps if expected is not None else ()))
    if gaps or len(known) < len(costs):
        gap = next(iter(gaps), None)
        why = _gap(gap) if gap is not None else _missing(result)
        return GenomeOutcome(OutcomeStatus.GAP, (), numbers, loops, why, cubin)
    bound_by = known_time.bound_by if known_time is not None else ""
    return GenomeOutcome(OutcomeStatus.BOUNDED, known, numbers, loops, "", cubin, _assumptions(config, result, expected), bound_by)


def _gap(gap: Gap) -> str:
    """Return the text of a gap; loops can only be bounded by the launch of the configuration."""
    message, remedy, _ = gap.message.partition(REMEDY)
    return f"{address(gap.address)}: {message}" + (": set block, grid and param in [launch]" if remedy else "")


def _missing(result: AnalysisResult) -> str:
    residency = result.residency
    return residency.why if residency is not None and residency.why else f"no bound: {result.wcet.status}"


def _assumptions(config: Config, result: AnalysisResult, expected: EstimateResult | None) -> tuple[str, ...]:
    bounded = any(objective is not Objective.ESTIMATE for objective in config.objectives)
    assumptions = list(result.wcet.assumptions) if bounded else []
    assumptions += expected.assumptions if expected is not None else ()
    if result.makespan is not None and Objective.MAKESPAN in config.objectives:
        assumptions += result.makespan.bound.assumptions
    if result.makespan is not None and result.makespan.grid is not None and Objective.GRID in config.objectives:
        assumptions += result.makespan.grid.assumptions
    return tuple(dict.fromkeys(assumptions))


def lost(task: EvaluationTask, error: Exception) -> GenomeOutcome:
    """Return the outcome of a task whose process died on every attempt; the search continues."""
    del task
    if isinstance(error, SelfCheckError | InputError):
        return GenomeOutcome(OutcomeStatus.REFUSED, why=error.message)
    raise error


def lost_together(
    tasks: tuple[EvaluationTask, ...], error: Exception
) -> Iterable[GenomeOutcome] | More[tuple[EvaluationTask, ...], Iterable[GenomeOutcome]]:
    """Return the outcome of tasks whose process died: of several, each is tried alone."""
    if len(tasks) > 1:
        return More((), tuple((task,) for task in tasks))
    return tuple(lost(task, error) for task in tasks)
