"""The output of a run: `result.json`, the cubins (and PTX) of the best individual and the front, and the convergence plot."""

import json
import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

from sassan.app import documents
from sassan.app.documents import Value
from sassan.assumptions import checked, proved
from sassan.errors import MissingToolError, SelfCheckError
from sassan.evolve.compilation.compile import CompileResult, CompileStatus
from sassan.evolve.evaluate import ONE_LAUNCH, SAME_WORK, EvaluationTask, compiled, content, job
from sassan.evolve.outcome import to_json
from sassan.evolve.plot import convergence
from sassan.evolve.result import Individual, SearchResult
from sassan.evolve.run import Runner
from sassan.evolve.space.config import Config, Objective
from sassan.evolve.state import put
from sassan.extras import install

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


def document(config: Config, result: SearchResult, runner: Runner) -> Mapping[str, Value]:
    """Return the JSON document of the result and of this run: how much of it was evaluated, and found in the cache."""
    statistics: dict[str, Value] = {"evaluated": runner.statistics.evaluated, "cached": runner.statistics.cached}
    return {**_result(config, result, runner), "run": {"compilers": str(runner.tools), **statistics}}


def _result(config: Config, result: SearchResult, runner: Runner) -> dict[str, Value]:
    """Return the JSON document of the result: a function of the configuration and the compilers, the same where a search was resumed."""
    return {
        **documents.tool(),
        "config": config.file,
        "kernel": {"source": config.kernel.path, "arch": config.kernel.arch, "function": config.kernel.function},
        "objectives": [objective.value for objective in config.objectives],
        "model": config.model,
        "seed": config.plan.seed,
        "budget": config.plan.budget,
        "space": config.space.size,
        "default": _individual(config, result.default, "default"),
        "best": _individual(config, result.best, "best") if result.best is not None else None,
        "front": [_individual(config, individual, f"front/{number:03d}") for number, individual in enumerate(result.front)],
        "counts": {"evaluated": sum(result.status_counts.values()), "compiled": _compiled(result), **result.status_counts},
        "generations": result.generations,
        "random_search": {
            "evaluated": len(result.curves.get("random search", ())),
            "best": _individual(config, result.sampled, "random") if result.sampled is not None else None,
        },
        "convergence": {
            name: [[cost if isfinite(cost) else None for cost in costs] for costs in points] for name, points in result.curves.items()
        },
        **documents.assumptions(assumptions(config, result, runner)),
        "run": {"compilers": str(runner.tools)},
    }


def _compiled(result: SearchResult) -> int:
    return sum(result.status_counts.values()) - result.status_counts["failed"] - result.status_counts["hung"]


def _individual(config: Config, individual: Individual, name: str) -> Mapping[str, Value]:
    return {
        "genome": list(individual.genome),
        "choice": str(individual.choice),
        "command": command(config, individual, name),
        "launch": str(config.shape.launch(individual.choice)),
        **{key: value for key, value in to_json(individual.outcome).items() if key != "assumptions"},
    }


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
