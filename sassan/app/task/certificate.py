"""The certificate of a task: all that its bound is made of, so that it can be checked again without the analysis (`sassan.verifier`)."""

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sassan import verifier
from sassan.app import documents
from sassan.app.analysis import recosted
from sassan.app.result import AnalysisResult
from sassan.app.task.definition import TaskDefinition
from sassan.app.task.fields import AssessedTask
from sassan.app.task.overlap import in_turn, overlapping_grid
from sassan.app.task.response import OtherTask, TaskResponse, TaskStep
from sassan.assumptions import AssumptionStatus, kind_of
from sassan.errors import SelfCheckError
from sassan.ilp.programs import Programs, SolvedProgram, kept
from sassan.ilp.write import lp
from sassan.ipet.sm.gpu import GpuMemory, cold_start, memory_of
from sassan.ipet.sm.hardware import sharing
from sassan.ipet.sm.makespan import SmMakespan
from sassan.ipet.sm.residency import Grid
from sassan.system import reading
from sassan.timing.rates import code_of

_CHECKS = {
    AssumptionStatus.PROVED: "a proof of sassan from other assumptions (docs/proofs)",
    AssumptionStatus.CHECKED: "checked on this input: where it did not hold, there would be no bound",
    AssumptionStatus.RECORDED: "holds for the recorded run: record the program with other data, and bound it again",
    AssumptionStatus.PUBLISHED: "compare its source with the target; sassan validate compares the bounds with measured launches",
    AssumptionStatus.ASSUMED: "measure it on the target; sassan validate compares the bounds with measured launches",
}
_KIB = 1024
_PART = 1 << 20


@dataclass(slots=True)
class _Parts:
    """What launches share: programs and assumptions, each once."""

    programs: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    places: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    assumptions: dict[str, AssumptionStatus] = field(default_factory=dict[str, AssumptionStatus])

    def cited(self, texts: Iterable[str]) -> list[int]:
        """Return the indices of assumptions."""
        for text in texts:
            self.assumptions.setdefault(str(text), kind_of(text))
        order = list(self.assumptions)
        return sorted({order.index(str(text)) for text in texts})

    def program(self, each: SolvedProgram) -> int:
        """Return the index of a program."""
        text = lp(each.model)
        key = text, each.scale
        if key not in self.places:
            self.places[key] = len(self.programs)
            self.programs.append(_program(each, text))
        return self.places[key]


def certificate(assessed: AssessedTask, inputs: Sequence[tuple[str, str]], folder: Path) -> dict[str, Any]:
    """Return the certificate of a task that has a bound, as plain data; `inputs` are roles and paths, `folder` is that of the certificate.

    Raises SelfCheckError where a bound that is made again is another one, OSError for an input that cannot be read.
    """
    task, parts = assessed.task, _Parts()
    of_sum = parts.cited(task.own_assumptions)
    every = (*task.steps, *(step for other in task.others for step in other.steps))
    different = {id(_counted(step)): step for step in every}
    launches = [_launch(task, step, parts) for step in different.values()]
    places = {identity: at for at, identity in enumerate(different)}
    document: dict[str, Any] = {
        **documents.tool(),
        "kind": verifier.KIND,
        "versions": {"python": platform.python_version(), "machine": platform.machine()},
        "inputs": [_input(role, Path(path), folder) for role, path in inputs],
        "product": _product(task),
        "task": {**_task(task), "assumptions": of_sum},
        "steps": _steps(task.steps, places),
        "others": [_other(other, places) for other in task.others],
        "launches": launches,
        "assumptions": [{"text": text, "status": kind.value, "check": _CHECKS[kind]} for text, kind in parts.assumptions.items()],
        "sensitivity": [
            {
                "figure": each.figure,
                "status": each.status.value,
                "value": each.value,
                "moves_us": "" if each.moves is None else str(each.moves),
            }
            for each in assessed.terms
        ],
        "programs": parts.programs,
    }
    return {**document, "digest": verifier.digest(document)}


def _counted(step: TaskStep) -> AnalysisResult | None:
    """The result that counts: that beside others where launches overlap."""
    return step.among if step.interfered else step.launch.result


def _input(role: str, path: Path, folder: Path) -> Mapping[str, object]:
    hashed, size = hashlib.sha256(), 0
    with reading.plain(path) as file:
        while part := file.read(_PART):
            hashed.update(part)
            size += len(part)
    name = Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    return {"role": role, "name": name, "bytes": size, "sha256": f"sha256:{hashed.hexdigest()}"}


def _product(task: TaskResponse) -> Mapping[str, object]:
    gpu, memory = task.gpu, memory_of(task.gpu)
    return {
        "name": gpu.name,
        "architecture": gpu.architecture,
        "sms": gpu.sms,
        "clock_mhz": gpu.boost_clock,
        "slowdown": str(gpu.slowdown),
        "dram_share": str(gpu.dram_share),
        "dram_bytes_per_us": str(gpu.dram_rate * 1000),
        "dram_bytes_per_cycle": str(memory.dram),
        "l2_bytes": (gpu.l2_size or 0) * _KIB,
        "l2_kept_bytes": 0 if task.interfered else memory.capacity,
        "launch_us": _text(gpu.launch_us),
        "launch_cycles": memory.launch,
        "between_us": _text(gpu.between_us),
        "dispatch_cycles": str(memory.dispatch),
        "sources": dict(gpu.sources),
    }


def _text(value: float) -> str:
    return str(Fraction(str(value)))


def _task(task: TaskResponse) -> Mapping[str, object]:
    defined, slack = task.definition, task.slack
    return {
        "name": defined.name,
        "program": " ".join((task.recording.program, *task.recording.arguments)).strip(),
        "mode": "interfered" if task.interfered else "isolated",
        "conditions": [task.condition, *sharing(task.gpu)],
        "bound_us": str(task.bound),
        "estimate_us": "" if task.estimate is None else f"{task.estimate:.3f}",
        "deadline_us": "" if defined.deadline is None else str(defined.deadline),
        "period_us": "" if defined.period is None else str(defined.period),
        "slack_us": "" if slack is None else str(slack),
        "deadline": "none" if slack is None else "missed" if slack < 0 else "met",
        "copy_bytes_per_us": _rate(defined),
    }


def _rate(defined: TaskDefinition) -> str:
    return "" if defined.copy_rate is None else str(defined.copy_rate * 1000)


def _other(other: OtherTask, places: Mapping[int, int]) -> Mapping[str, object]:
    return {
        "name": other.definition.name,
        "period_us": str(other.definition.period),
        "runs": other.runs,
        "response_us": str(other.response),
        "copy_bytes_per_us": _rate(other.definition),
        "steps": _steps(other.steps, places),
        "bound_us": str(other.bound),
    }


def _steps(steps: Sequence[TaskStep], places: Mapping[int, int]) -> list[Mapping[str, object]]:
    turns = in_turn([step.launch for step in steps])
    return [_step(step, places[id(_counted(step))], turn) for step, turn in zip(steps, turns, strict=True)]


def _step(step: TaskStep, launch: int, turn: int) -> Mapping[str, object]:
    recorded, copied = step.launch.launch, step.copied
    return {
        "kernel": recorded.kernel,
        "grid": list(recorded.grid),
        "block": list(recorded.block),
        "count": step.count,
        "launch": launch,
        "in_turn": turn,
        "host": {"number": copied.host, "bytes": copied.host_bytes},
        "within": {"number": copied.within, "bytes": copied.within_bytes},
        "left_bytes": step.left,
        "bound_us": str(step.bound),
    }


def _launch(task: TaskResponse, step: TaskStep, parts: _Parts) -> Mapping[str, object]:
    """Return the bound of one launch with its programs: they are solved once more, and kept."""
    result = _counted(step)
    assert result is not None
    with kept() as programs:
        again = recosted(result, replace(result.settings, partition=False))
    makespan, shape, memory = again.makespan, again.shape, memory_of(task.gpu)
    if again.grid_bound != result.grid_bound or makespan is None or shape is None or makespan.terms is None:
        raise SelfCheckError("certificate", f"the bound of {result.function.name} is another one when it is made again")
    terms = makespan.terms
    return {
        "kernel": result.function.name,
        "text": result.function.text_hash,
        "file": Path(result.file).name,
        "cycles": again.grid_bound,
        "optima": {
            name: [{"program": parts.program(each), "times": each.times} for each in programs[name]] for name in _names(makespan, programs)
        },
        "floors": {"segment": _floor(makespan, programs)},
        "grid": _grid(shape, makespan),
        "takes": _takes(again) if step.interfered else {},
        "memory": _memory(again, shape, memory),
        "terms": {name: str(getattr(terms, name)) for name in ("chain", "sm", "drain", "memory", "launch")},
        "assumptions": parts.cited(task.of_launch(step)),
    }


def _takes(result: AnalysisResult) -> Mapping[str, str]:
    """Return the part of each resource of an SM that a block takes."""
    grid = overlapping_grid(result)
    assert grid is not None
    return {name: str(part) for name, part in grid.takes.items()}


def _names(makespan: SmMakespan, programs: Programs) -> list[str]:
    """Return the purposes of the programs that the bound is made of."""
    optima = makespan.optima
    assert optima is not None
    known = {
        "isolated": True,
        "scheduler_stall": True,
        "block": optima.block is not None,
        "segment": optima.segment is not None,
        "openings": optima.openings is not None,
        "relay": optima.relay is not None,
        "alone": optima.alone is not None,
        "engines": optima.alone is not None and optima.engines > 0,
        "uncached": True,
        "cached": True,
    }
    return [name for name, used in known.items() if used and name in programs]


def _floor(makespan: SmMakespan, programs: Programs) -> str:
    """Return the cost of a single piece of code between barriers, where that is more than the optimum of segments; else 0."""
    optima = makespan.optima
    if optima is None or optima.segment is None:
        return "0"
    optimum = sum((each.times * Fraction(each.solution.value or 0, each.scale) for each in programs["segment"]), Fraction(0))
    return str(optima.segment) if optima.segment > optimum else "0"


def _grid(shape: Grid, makespan: SmMakespan) -> Mapping[str, int]:
    return {
        "blocks": shape.blocks,
        "block_warps": shape.block_warps,
        "sms": shape.sms,
        "places": shape.places,
        "cluster": shape.cluster,
        "at_once": int(shape.at_once),
        "resident_clusters": shape.resident_clusters,
        "line": makespan.optima.line if makespan.optima is not None else 0,
        "barriers": int(makespan.optima is not None and makespan.optima.barriers),
    }


def _memory(result: AnalysisResult, shape: Grid, memory: GpuMemory) -> Mapping[str, object]:
    return {
        "allocated": [] if shape.allocated is None else [shape.allocated],
        "cold_cycles": cold_start(code_of(result.cfg), result.problem.traffic, memory, shape.paged),
    }


def _program(each: SolvedProgram, text: str) -> dict[str, object]:
    model, solution = each.model, each.solution
    values = {variable.name: value for variable, value in zip(model.variables, solution.values, strict=True) if value}
    multipliers = (
        {row.name: str(value) for row, value in zip(model.rows, solution.multipliers, strict=True) if value} if solution.multipliers else {}
    )
    return {
        "name": model.name,
        "scale": each.scale,
        "value": solution.value,
        "proof": solution.proof,
        "values": values,
        "multipliers": multipliers,
        "lp": text,
    }
