"""From a genome to its costs: compile, read, bound. `evaluate` runs in other processes: but for the cache, a pure function of its task.

Every static cost is a bound for the one launch of the configuration: loop bounds are inferred from the code for its parameters, or there is
no number. No flow fact and no default bound is taken: a bound that holds for one unrolling means nothing to another.
"""

import hashlib
from dataclasses import dataclass

from sassan.app import documents
from sassan.app.analysis import analyze
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.errors import Gap, InputError, SelfCheckError, UsageError
from sassan.evolve import compile as compilation
from sassan.evolve.cache import Cache, key, program
from sassan.evolve.compile import Built, Job, build
from sassan.evolve.compilers import Tools
from sassan.evolve.config import Config, Objective
from sassan.evolve.genes import Choice, Genome
from sassan.evolve.outcome import Fate, Loop, Outcome, from_json, to_json
from sassan.evolve.shapes import ShapeProblem
from sassan.frontend import Image, read
from sassan.ipet.flow_facts import GIVE
from sassan.ir import Function
from sassan.machine.launch import check
from sassan.machine.occupancy import Resources
from sassan.timing import latencies
from sassan.timing.models import model
from sassan.timing.rates import Tables

SAME_WORK = "macros, launch shapes and parameters do the same work in every individual: the configuration says so"
ONE_LAUNCH = "costs are for one launch, and loops are bounded for its parameters"

_KEYS = {
    "no-function": "kernel.function",
    "unknown-parameter": "launch.param",
    "parameter": "launch.param",
    "launch": "launch.block, grid, shared",
}
"""The keys of a configuration with which codes of errors have to do."""


@dataclass(frozen=True, slots=True)
class Task:
    """One evaluation: everything that it depends on."""

    config: Config
    tools: Tools
    genome: Genome
    cached: bool = True


def job(config: Config, choice: Choice) -> Job:
    """Return what is compiled for a choice."""
    kernel = config.kernel
    by_ptx = config.ordered or kernel.ptx
    return Job(kernel.text, kernel.ptx, by_ptx, kernel.arch, kernel.options, choice, config.plan.seconds, kernel.headers)


def compiled(task: Task) -> Built:
    """Return the compilation of a task; raises SelfCheckError."""
    return build(job(task.config, task.config.space.choice(task.genome)), task.tools, Cache(used=task.cached))


def evaluate(task: Task) -> Outcome:
    """Return what became of a genome; raises MissingToolError for the disassembler, SelfCheckError."""
    built = compiled(task)
    if built.fate is not compilation.Fate.DONE:
        return Outcome(Fate(built.fate.value), why=built.why, cached=built.cached)
    choice = task.config.space.choice(task.genome)
    cache = Cache(used=task.cached)
    name = key(built.cubin, _settings_text(task.config, choice), program())
    known = cache.get_object(name)
    if known is not None:
        try:
            return from_json(known, cached=built.cached)
        except (KeyError, TypeError, ValueError):
            pass  # not an entry of this version: found out anew
    found = _bounded(task.config, choice, built.cubin)
    cache.put_object(name, dict(to_json(found)))
    return found


def content(cubin: bytes) -> str:
    """Return what an outcome says of its cubin."""
    return f"sha256:{hashlib.sha256(cubin).hexdigest()}"


def _settings_text(config: Config, choice: Choice) -> str:
    launch = (config.shape.block, config.shape.grid, config.shape.settings, config.shape.sms, config.shape.shared, choice.numbers)
    return repr((launch, config.kernel.function, config.objectives, config.model, config.latencies, config.warps, config.plan.largest))


def _bounded(config: Config, choice: Choice, cubin: bytes) -> Outcome:
    """Return the costs of a cubin; what refuses this one individual is its fate, and no error."""
    name = content(cubin)
    try:
        function = _function(config, cubin)
        if len(function.instructions) > config.plan.largest:
            why = f"{len(function.instructions)} instructions: more than {config.plan.largest} (search.largest)"
            return Outcome(Fate.REFUSED, why=why, cubin=name)
        settings = _settings(config, choice)
        check(settings.launch, (function,))
        found = analyze(function, settings)
    except (InputError, UsageError) as error:
        why = f"{error.message}; {error.hint}" if error.code == "unknown-parameter" else error.message
        key = _KEYS.get(error.code)
        return Outcome(Fate.REFUSED, why=f"{key}: {why}" if key is not None else why, cubin=name)
    except ShapeProblem as problem:
        return Outcome(Fate.REFUSED, why=str(problem), cubin=name)
    return _outcome(config, found, name)


def _function(config: Config, cubin: bytes) -> Function:
    functions = read(Image("kernel.cubin", cubin), cached=False).functions
    found = next((one for one in functions if one.name == config.kernel.function), None)
    if found is None:
        names = ", ".join(one.name for one in functions)
        raise InputError("no-function", f"the cubin has no function '{config.kernel.function}' (functions: {names})")
    return found


def _settings(config: Config, choice: Choice) -> Settings:
    """Return the settings of the analysis; raises ShapeProblem, UsageError."""
    shape = config.shape
    return Settings(
        launch=shape.launch(choice),
        costs=model(config.model, Tables(None, latencies.parse(config.latencies))),
        resources=Resources(shared=shape.shared or None, sms=shape.sms),
        warps=config.warps,
    )


def _outcome(config: Config, found: AnalysisResult, cubin: str) -> Outcome:
    compiler, bounds = found.function.compiler, found.makespan
    numbers: dict[str, int | float | None] = {
        Objective.WCET.value: found.wcet.value if found.wcet.bound else None,
        Objective.MAKESPAN.value: bounds.bound.value if bounds is not None and config.warps is not None else None,
        Objective.GRID.value: bounds.grid.value if bounds is not None and bounds.grid is not None else None,
        Objective.INSTRUCTIONS.value: len(found.function.instructions),
        Objective.REGISTERS.value: compiler.registers if compiler is not None else None,
    }
    loops = tuple(
        Loop(documents.address(found.cfg.nodes[loop.head].start), bound, origin.value)
        for loop, bound, origin in zip(found.cfg.loops, found.bounds.of_loop, found.bounds.origins, strict=True)
    )
    costs = [numbers[one.value] for one in config.objectives if one is not Objective.MEASURED]
    known = tuple(float(one) for one in costs if one is not None)
    if found.gaps or len(known) < len(costs):
        gap = next(iter(found.gaps), None)
        why = _gap(gap) if gap is not None else _missing(found)
        return Outcome(Fate.GAP, (), numbers, loops, why, cubin)
    return Outcome(Fate.BOUNDED, known, numbers, loops, "", cubin, _assumptions(config, found))


def _gap(gap: Gap) -> str:
    """Return a gap in words; a loop is bounded by the launch of the configuration and by nothing else."""
    message = gap.message.removesuffix(GIVE)
    advice = "" if message == gap.message else ": [launch] tells it with block, grid and param"
    return f"{documents.address(gap.address)}: {message}{advice}"


def _missing(found: AnalysisResult) -> str:
    residency = found.residency
    return residency.why if residency is not None and residency.why else f"no bound: {found.wcet.status}"


def _assumptions(config: Config, found: AnalysisResult) -> tuple[str, ...]:
    told = list(found.wcet.assumptions)
    if found.makespan is not None and Objective.MAKESPAN in config.objectives:
        told += found.makespan.bound.assumptions
    if found.makespan is not None and found.makespan.grid is not None and Objective.GRID in config.objectives:
        told += found.makespan.grid.assumptions
    return tuple(dict.fromkeys(told))


def lost(task: Task, error: Exception) -> Outcome:
    """Return the outcome of a task whose process died each time: an individual as any other that brings nothing."""
    del task
    if isinstance(error, SelfCheckError | InputError):
        return Outcome(Fate.REFUSED, why=error.message)
    raise error
