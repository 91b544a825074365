"""Instances of `sassan makespan` from a listing: which paths the warps of a function take."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sassan.cli import options
from sassan.cli.inputs import Inputs, Refused, Result, analyses
from sassan.cli.instances import Instance, instance
from sassan.cli.search import Answer

if TYPE_CHECKING:
    from sassan.errors import SassanError
    from sassan.ir import Function
    from sassan.makespan.configuration import Configuration
    from sassan.pipeline import ListedPath, Settings

LABELS = {
    options.Paths.WORST: "if every warp takes this path",
    options.Paths.ALL: "if every warp takes this path",
    options.Paths.EACH: "if the warps take these paths in turn",
}
BARRIER = "block barriers are not part of the model: one warp after the other, no schedule"


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function, the questions asked of it, and under which condition their answers hold; no questions where gaps forbid a path."""

    result: Result
    instances: tuple[Instance, ...]
    label: str
    barrier: bool


def ask(
    found: Inputs, analysed: "Settings", chosen: "Configuration", wanted: options.Paths, limit: int, *, quiet: bool
) -> tuple[tuple[Kernel, ...], Inputs]:
    """Return the instances of the chosen functions, and the inputs with what was refused on the way."""
    from sassan import pipeline

    results, found = analyses(found, lambda one: pipeline.analyze(one, analysed), "analyzing", quiet=quiet)
    return tuple(kernel_of(one, analysed, chosen, wanted, limit) for one in results), found


def kernel_of(result: Result, analysed: "Settings", chosen: "Configuration", wanted: options.Paths, limit: int) -> Kernel:
    """Return the instances of one analyzed function.

    Raises UsageError and InputError for a processor that is not known.
    """
    from sassan import pipeline

    one = result.analysis
    paths = pipeline.paths(one, 1 if wanted is options.Paths.WORST else limit)
    if wanted is options.Paths.WORST and one.worst_path is None:
        paths = ()  # the first path that comes is not the worst
    barrier = pipeline.has_block_barrier(one, analysed)
    said = (*one.wcet.assumptions, *((BARRIER,) if barrier else ()))
    every = [paths] if wanted is options.Paths.EACH and paths else [(path,) for path in paths]
    return Kernel(result, tuple(_instance(one.function, some, chosen, said) for some in every), LABELS[wanted], barrier)


def _instance(function: "Function", paths: "tuple[ListedPath, ...]", chosen: "Configuration", said: tuple[str, ...]) -> Instance:
    one = instance(function.name, tuple(path.string for path in paths), chosen, function.arch)
    return replace(one, costs=tuple(path.cost for path in paths), assumptions=(*said, *one.assumptions))


def serial(one: Instance) -> Answer:
    """Return the bound of warps that wait for each other: in each slot at least one of them runs."""
    from sassan.makespan.engine import Found
    from sassan.makespan.merge import Merged

    known = Merged(one.problem)
    known(Found("serial", upper=sum(string.length for string in one.problem.strings), proof="one-at-a-time", note=BARRIER))
    return Answer(one, "serial", known, 0.0)


def refusal(kernel: Kernel, error: "SassanError") -> Refused:
    """Return the entry of the document for an instance that an engine refused."""
    return Refused(kernel.result.file, error)
