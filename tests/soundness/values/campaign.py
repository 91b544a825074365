"""Pieces of a run that holds the words of registers to warps with real integers: a sample for drawn launches, or random programs."""

from collections.abc import Iterator
from functools import lru_cache

from samples import SAMPLES
from sassan.errors import SassanError
from sassan.frontend import load, read
from sassan.ir import Function
from soundness.campaign import ARCHS, Tally, Task
from soundness.oracles import Finding
from soundness.values import programs
from soundness.values.runs import WordPlan, inspect_words

GROUP = "words "
"""What the groups of these tasks begin with."""
CHUNK = 20
_WARPS = 8


def word_tasks(launches: int, drawn: int, seed: int, steps: int, archs: tuple[str, ...] = ARCHS) -> Iterator[Task]:
    """Yield tasks for every sample with so many launches each, and for so many random programs of two architectures."""
    for arch in archs if launches else ():
        for path in sorted((SAMPLES / arch).glob("*.cubin")):
            yield Task(f"{GROUP}{arch}/{path.stem}", 0, len(shipped(arch, path.stem)), launches, seed, steps)
    for arch in (programs.OLD, programs.NEW):
        for start in range(0, drawn if arch in archs else 0, CHUNK):
            yield Task(f"{GROUP}of programs/{arch}", seed * 1_000_000 + start, seed * 1_000_000 + min(start + CHUNK, drawn), 1, seed, steps)


def carry_out_words(task: Task) -> Tally:
    """Return what a task found."""
    tally = Tally(task.group)
    arch, name = task.group.removeprefix(GROUP).split("/")
    for number in range(task.first, task.last):
        random = name in {programs.OLD, programs.NEW}
        function = programs.program(name, number) if random else shipped(arch, name)[number]
        plan = WordPlan(number if random else task.seed, task.runs, _WARPS, task.steps)
        try:
            report = inspect_words(function, plan)
        except SassanError as error:
            tally.findings.append(Finding(error.code, function.name, plan.seed, -1, error.message))
            continue
        if isinstance(report, str):
            tally.skipped.append(report)
        else:
            tally.add(report)
    return tally


@lru_cache(maxsize=4)
def shipped(arch: str, name: str) -> tuple[Function, ...]:
    """Return the functions of a sample's cubin, which says where parameters stand."""
    return read(load(str(SAMPLES / arch / f"{name}.cubin"))).functions
