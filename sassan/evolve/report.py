"""The output of a run: `result.json`, the cubins (and PTX) of the best individual and the front, and the convergence plot."""

import json
import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from sassan.app import documents
from sassan.assumptions import checked, proved
from sassan.errors import MissingToolError, SelfCheckError
from sassan.evolve.compilation.compile import CompileResult, CompileStatus
from sassan.evolve.evaluate import ONE_LAUNCH, SAME_WORK, EvaluationTask, compiled, content, job
from sassan.evolve.outcome import KernelSourceFields, OutcomeFields, OutcomeStatus
from sassan.evolve.plot import convergence
from sassan.evolve.result import Individual, SearchResult
from sassan.evolve.run import Runner
from sassan.evolve.space.config import Config, Objective
from sassan.evolve.state import put
from sassan.extras import install
from sassan.fields import field as fields
from sassan.fields.field import Declare, FieldKind, Record, Value
from sassan.fields.kinds import COUNT, FIGURE, STRING, WHOLE, array, mapping, merged, nullable, one
from sassan.fields.shared import MODEL, AssumedFields

_SHOWN = 32
"""Maximum number of individuals of the front whose cubins are written."""
_NVRTC_ONLY = ("-default-device", "--device-as-default-execution-space")


def check() -> None:
    """Check before a search for the extras needed at its end; raises MissingToolError `missing-extra`."""
    for module, need in (("deap", "the evolutionary compiler needs DEAP"), ("matplotlib", "the convergence plot needs matplotlib")):
        if find_spec(module) is None:
            raise MissingToolError("missing-extra", need, hint=install("evolve"))


def command(config: Config, individual: Individual, name: str = "best") -> str:
    """Return the command line that compiles an individual: with nvcc, or with ptxas from the PTX written beside its cubin."""
    compile_job = job(config, individual.choice)
    if compile_job.by_ptx:
        return shlex.join(("ptxas", *compile_job.ptxas_arguments, f"{name}.ptx", "-o", f"{name}.cubin"))
    words = [word for word in compile_job.nvrtc_arguments if word not in _NVRTC_ONLY]
    return shlex.join(("nvcc", "-cubin", *words, config.kernel.path, "-o", f"{name}.cubin"))


def assumptions(config: Config, result: SearchResult, runner: Runner) -> tuple[str, ...]:
    """Return the assumptions of the comparison, then those of the bounds of the best individual."""
    shown = result.best or result.default
    comparison = [SAME_WORK, ONE_LAUNCH, _compared(config)]
    if config.shape.settings:
        comparison.append(f"parameters: {', '.join(map(str, config.shape.settings))}")
    if config.ordered:
        order = "reordered PTX: every order was proved equivalent; the default is PTX in the original order, compiled by ptxas"
        comparison.append(proved(order))
    comparison.append(_equal(config, runner))
    return tuple(dict.fromkeys((*comparison, *shown.outcome.assumptions)))


def _compared(config: Config) -> str:
    blocks = f"{' x '.join(config.shape.grid)} blocks of {' x '.join(config.shape.block)} threads"
    meaning = {
        Objective.WCET: f"wcet: one warp alone, of {blocks}",
        Objective.MAKESPAN: f"makespan: {config.warps} warps on one SM, of {blocks}",
        Objective.GRID: f"grid: the whole launch of {blocks} on {config.shape.sms} SM",
        Objective.INSTRUCTIONS: "instructions: of the code, not executed",
        Objective.REGISTERS: "registers: per thread",
        Objective.ESTIMATE: f"estimate: the whole launch of {blocks}, in us{_on(config)}",
        Objective.MEASURED: f"measured: shortest of {config.runs - 1} runs after a warm-up, of {blocks}",
    }
    return "compared: " + "; ".join(meaning[objective] for objective in config.objectives)


def _on(config: Config) -> str:
    return f" on {config.shape.gpu.name}" if config.shape.gpu is not None else ""


def _equal(config: Config, runner: Runner) -> str:
    rounding = "; flags that change rounding were allowed" if config.allow_inexact else ""
    if runner.bench is not None:
        where = f"{runner.bench.device.name}, on one set of data"
        return checked(f"every bounded individual ran on {where} and computed the same results as the default{rounding}")
    return f"no GPU ran the individuals: that they compute the same results is claimed by the configuration{rounding}"


class NamedIndividual(NamedTuple):
    """An individual, and what its files are called."""

    config: Config
    individual: Individual
    name: str


class SearchReport(NamedTuple):
    """A search, its configuration, and the run that evaluated it."""

    config: Config
    result: SearchResult
    runner: Runner

    def shown(self, individual: Individual | None, name: str) -> NamedIndividual | None:
        """Return an individual with its name, None for none."""
        return None if individual is None else NamedIndividual(self.config, individual, name)


_of_individual, _of = Declare[NamedIndividual](), Declare[SearchReport]()


class IndividualFields(Record[NamedIndividual]):
    """An individual of a search."""

    genome = _of_individual(array(WHOLE), "its genes", lambda each: each.individual.genome)
    choice = _of_individual(STRING, "their values", lambda each: str(each.individual.choice))
    command = _of_individual(STRING, "that compiles it", lambda each: command(each.config, each.individual, each.name))
    launch = _of_individual(STRING, "its launch", lambda each: str(each.config.shape.launch(each.individual.choice)))
    _outcome = _of_individual(merged(OutcomeFields), "what became of it", lambda each: each.individual.outcome)


def _counts(report: SearchReport) -> Mapping[str, int]:
    result = report.result
    return {"evaluated": sum(result.status_counts.values()), "compiled": _compiled(result), **result.status_counts}


def _curves(report: SearchReport) -> Mapping[str, list[list[float | None]]]:
    curves = report.result.curves.items()
    return {name: [[cost if isfinite(cost) else None for cost in costs] for costs in points] for name, points in curves}


_COUNTS: FieldKind[Mapping[str, int]] = FieldKind(
    {
        "type": "object",
        "required": ["evaluated", "compiled", *OutcomeStatus],
        "properties": dict.fromkeys(("evaluated", "compiled", *OutcomeStatus), COUNT.schema),
    },
    dict,
)


class SearchFields(Record[SearchReport]):
    """What `sassan evolve` says, and the file result.json."""

    config = _of(STRING, "the configuration", lambda each: each.config.file)
    kernel = _of(one(KernelSourceFields), "the kernel", lambda each: each.config.kernel)
    objectives = _of(array(STRING), "what is minimized", lambda each: [objective.value for objective in each.config.objectives])
    model = _of(MODEL, "cost model of the bounds", lambda each: each.config.model)
    seed = _of(WHOLE, "of the search", lambda each: each.config.plan.seed)
    budget = _of(COUNT, "individuals that may be evaluated", lambda each: each.config.plan.budget)
    space = _of(COUNT, "individuals that there are", lambda each: each.config.space.size)
    default = _of(nullable(one(IndividualFields)), "the default", lambda each: each.shown(each.result.default, "default"))
    best = _of(
        nullable(one(IndividualFields)), "the best, null where nothing is bounded", lambda each: each.shown(each.result.best, "best")
    )
    front = _of(
        array(one(IndividualFields)),
        "those that no other is better than, best first",
        lambda each: [
            NamedIndividual(each.config, individual, f"front/{number:03d}") for number, individual in enumerate(each.result.front)
        ],
    )
    counts = _of(_COUNTS, "individuals: `evaluated`, `compiled`, and by status", _counts)
    generations = _of(COUNT, "of the search", lambda each: each.result.generations)
    sampled = _of(
        COUNT, "individuals of random search", lambda each: len(each.result.curves.get("random search", ())), key="random_search.evaluated"
    )
    best_sampled = _of(
        nullable(one(IndividualFields)),
        "the best of them",
        lambda each: each.shown(each.result.sampled, "random"),
        key="random_search.best",
    )
    convergence = _of(
        mapping(array(array(FIGURE))), "of each search, the best cost so far of each objective after each evaluation", _curves
    )
    _assumed = _of(merged(AssumedFields), "what the comparison rests on", lambda each: assumptions(*each))
    compilers = _of(STRING, "of this run", lambda each: str(each.runner.tools), key="run.compilers")
    evaluated = _of(COUNT, "individuals of this run", lambda each: each.runner.statistics.evaluated, key="run.evaluated", optional=True)
    cached = _of(COUNT, "those that were taken from the cache", lambda each: each.runner.statistics.cached, key="run.cached", optional=True)


def document(config: Config, result: SearchResult, runner: Runner) -> Mapping[str, Value]:
    """Return the JSON document of the result and of this run: how much of it was evaluated, and found in the cache."""
    return {**documents.tool(), **fields.document(SearchFields, SearchReport(config, result, runner), "evaluated", "cached")}


def _result(config: Config, result: SearchResult, runner: Runner) -> dict[str, Value]:
    """Return the JSON document of the result: a function of the configuration and the compilers, the same where a search was resumed."""
    return {**documents.tool(), **fields.document(SearchFields, SearchReport(config, result, runner))}


def _compiled(result: SearchResult) -> int:
    return sum(result.status_counts.values()) - result.status_counts["failed"] - result.status_counts["hung"]


def write(config: Config, result: SearchResult, runner: Runner, folder: Path) -> None:
    """Write all output files into a folder.

    Raises UsageError `cannot-write`; MissingToolError `missing-extra` for the plot; SelfCheckError if a cubin is not reproducible.
    """
    kept = {name: _recompiled(config, individual, runner) for name, individual in _written_individuals(result).items()}
    for name, built in kept.items():
        put(folder / f"{name}.cubin", built.cubin)
        if built.ptx:
            put(folder / f"{name}.ptx", built.ptx.encode())
    picture = convergence(config, result)
    for form in ("svg", "png"):
        put(folder / f"convergence.{form}", picture.render(form))
    # Last: where it is, all that it names is.
    put(folder / "result.json", (json.dumps(_result(config, result, runner), indent=2) + "\n").encode())


def _recompiled(config: Config, individual: Individual, runner: Runner) -> CompileResult:
    """Return the compilation of an individual, checked to be the one that was bounded."""
    built = compiled(EvaluationTask(config, runner.tools, individual.genome, runner.cached))
    if built.status is not CompileStatus.DONE:
        raise SelfCheckError("not-again", f"{individual.choice}: it was compiled before, but recompiling failed: {built.why}")
    if content(built.cubin) != individual.outcome.cubin:
        raise SelfCheckError("not-again", f"{individual.choice}: recompiling gave another cubin than the one that was bounded")
    return built


def _written_individuals(result: SearchResult) -> dict[str, Individual]:
    kept = {"default": result.default, **({"best": result.best} if result.best is not None else {})}
    if len(result.front) > 1:
        kept |= {f"front/{number:03d}": individual for number, individual in enumerate(result.front[:_SHOWN])}
    return kept
