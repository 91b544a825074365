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
WARPS = 80
"""Warps of each launch, at most: a batch of them runs about as fast as a few."""
PROGRAM_RUNS = 8
"""Warps of the launch of a random program."""


def word_tasks(runs: int, drawn: int, seed: int, steps: int, archs: tuple[str, ...] = ARCHS) -> Iterator[Task]:
    """Yield tasks for every sample with so many runs of each function, and for so many random programs of two architectures.

    A run is one warp of a drawn launch, with drawn contents of memory.
    """
    for arch in archs if runs else ():
        for path in sorted((SAMPLES / arch).glob("*.cubin")):
            yield Task(f"{GROUP}{arch}/{path.stem}", 0, len(shipped(arch, path.stem)), runs, seed, steps)
    for arch in (programs.OLD, programs.NEW):
        first = seed * 1_000_000
        for start in range(0, drawn if arch in archs else 0, CHUNK):
            yield Task(f"{GROUP}of programs/{arch}", first + start, first + min(start + CHUNK, drawn), PROGRAM_RUNS, seed, steps)


def carry_out_words(task: Task) -> Tally:
    """Return what a task found."""
    tally = Tally(task.group)
    arch, name = task.group.removeprefix(GROUP).split("/")
    for number in range(task.first, task.last):
        random = name in {programs.OLD, programs.NEW}
        function = programs.program(name, number) if random else shipped(arch, name)[number]
        plan = WordPlan(number if random else task.seed, -(-task.runs // WARPS), min(task.runs, WARPS), task.steps)
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
