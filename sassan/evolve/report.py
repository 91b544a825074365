"""What a run leaves behind: `result.json`, the cubins (and PTX) of the best and of the front, and the convergence plot."""

import json
import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

from sassan.app import documents
from sassan.app.documents import Value
from sassan.errors import MissingToolError, SelfCheckError
from sassan.evolve.answer import Answer, Individual
from sassan.evolve.compile import Built, Fate
from sassan.evolve.config import Config, Objective
from sassan.evolve.evaluate import ONE_LAUNCH, SAME_WORK, Task, compiled, content, job
from sassan.evolve.outcome import to_json
from sassan.evolve.plot import convergence
from sassan.evolve.run import Runner
from sassan.evolve.state import put
from sassan.extras import install

_SHOWN = 32
"""Members of the front whose cubins are written."""
_NVRTC_ONLY = ("-default-device", "--device-as-default-execution-space")


def check() -> None:
    """Refuse before the search what would be missing at its end; raises MissingToolError `missing-extra`."""
    for module, what in (("deap", "the evolutionary compiler needs DEAP"), ("matplotlib", "the convergence plot needs matplotlib")):
        if find_spec(module) is None:
            raise MissingToolError("missing-extra", what, hint=install("evolve"))


def command(config: Config, one: Individual, name: str = "best") -> str:
    """Return the command line that compiles an individual: with nvcc, or with ptxas from the PTX that was written beside its cubin."""
    wanted = job(config, one.choice)
    if wanted.by_ptx:
        return shlex.join(("ptxas", *wanted.back, f"{name}.ptx", "-o", f"{name}.cubin"))
    words = [word for word in wanted.front if word not in _NVRTC_ONLY]
    return shlex.join(("nvcc", "-cubin", *words, config.kernel.path, "-o", f"{name}.cubin"))


def assumptions(config: Config, found: Answer, runner: Runner) -> tuple[str, ...]:
    """Return what the costs rest on: those of the comparison, then those of the bounds of the best individual."""
    shown = found.best or found.default
    own = [SAME_WORK, ONE_LAUNCH, _compared(config)]
    if config.shape.settings:
        own.append(f"parameters: {', '.join(map(str, config.shape.settings))}")
    if config.ordered:
        own.append("reordered PTX: every order was proved to keep what each instruction reads; the default is unordered PTX through ptxas")
    own.append(_equal(config, runner))
    return tuple(dict.fromkeys((*own, *shown.outcome.assumptions)))


def _compared(config: Config) -> str:
    blocks = f"{' x '.join(config.shape.grid)} blocks of {' x '.join(config.shape.block)} threads"
    meaning = {
        Objective.WCET: f"wcet: one warp alone, of {blocks}",
        Objective.MAKESPAN: f"makespan: {config.warps} warps on one SM, of {blocks}",
        Objective.GRID: f"grid: the whole launch of {blocks} on {config.shape.sms} SM",
        Objective.INSTRUCTIONS: "instructions: of the code, not executed",
        Objective.REGISTERS: "registers: per thread",
        Objective.MEASURED: f"measured: least time of {config.runs - 1} runs after a warm-up, of {blocks}",
    }
    return "compared: " + "; ".join(meaning[one] for one in config.objectives)


def _equal(config: Config, runner: Runner) -> str:
    rounding = "; flags that change rounding were allowed" if config.allow_inexact else ""
    if runner.bench is not None:
        where = f"{runner.bench.device.name}, on one set of data"
        return f"every bounded individual ran on {where}, and left what the default left in memory{rounding}"
    return f"no GPU ran the individuals: that they compute the same is what the configuration says of its macros{rounding}"


def document(config: Config, found: Answer, runner: Runner) -> Mapping[str, Value]:
    """Return the result as JSON: all but `run` is a function of the configuration."""
    return {
        **documents.tool(),
        "config": config.file,
        "kernel": {"source": config.kernel.path, "arch": config.kernel.arch, "function": config.kernel.function},
        "objectives": [one.value for one in config.objectives],
        "model": config.model,
        "seed": config.plan.seed,
        "budget": config.plan.budget,
        "space": config.space.size,
        "default": _individual(config, found.default, "default"),
        "best": _individual(config, found.best, "best") if found.best is not None else None,
        "front": [_individual(config, one, f"front/{number:03d}") for number, one in enumerate(found.front)],
        "counts": {"evaluated": sum(found.fates.values()), "compiled": _compiled(found), **found.fates},
        "generations": found.generations,
        "random_search": {
            "evaluated": len(found.curves.get("random search", ())),
            "best": _individual(config, found.sampled, "random") if found.sampled is not None else None,
        },
        "convergence": {
            name: [[one if isfinite(one) else None for one in costs] for costs in points] for name, points in found.curves.items()
        },
        "assumptions": list(assumptions(config, found, runner)),
        "run": {"compilers": str(runner.tools), "evaluated": runner.work.evaluated, "cached": runner.work.cached},
    }


def _compiled(found: Answer) -> int:
    return sum(found.fates.values()) - found.fates["failed"] - found.fates["hung"]


def _individual(config: Config, one: Individual, name: str) -> Mapping[str, Value]:
    return {
        "genome": list(one.genome),
        "choice": str(one.choice),
        "command": command(config, one, name),
        "launch": str(config.shape.launch(one.choice)),
        **{key: value for key, value in to_json(one.outcome).items() if key != "assumptions"},
    }


def write(config: Config, found: Answer, runner: Runner, folder: Path) -> None:
    """Write everything into a folder.

    Raises UsageError `cannot-write`; MissingToolError `missing-extra` for the plot; SelfCheckError where a cubin cannot be made again.
    """
    kept = {name: _again(config, one, runner) for name, one in _kept(found).items()}
    put(folder / "result.json", (json.dumps(document(config, found, runner), indent=2) + "\n").encode())
    for name, built in kept.items():
        put(folder / f"{name}.cubin", built.cubin)
        if built.ptx:
            put(folder / f"{name}.ptx", built.ptx.encode())
    picture = convergence(config, found)
    for form in ("svg", "png"):
        put(folder / f"convergence.{form}", picture.render(form))


def _again(config: Config, one: Individual, runner: Runner) -> Built:
    """Return the compilation of an individual, the very one whose costs are known."""
    built = compiled(Task(config, runner.tools, one.genome, runner.cached))
    if built.fate is not Fate.DONE:
        raise SelfCheckError("not-again", f"{one.choice}: it was compiled before, and now {built.why}")
    if content(built.cubin) != one.outcome.cubin:
        raise SelfCheckError("not-again", f"{one.choice}: compiled anew it is another cubin than the one that was bounded")
    return built


def _kept(found: Answer) -> dict[str, Individual]:
    kept = {"default": found.default, **({"best": found.best} if found.best is not None else {})}
    if len(found.front) > 1:
        kept |= {f"front/{number:03d}": one for number, one in enumerate(found.front[:_SHOWN])}
    return kept
