"""A whole run: find the compilers, search, keep the state; what the command line calls, and whoever has an executor."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sassan.errors import InputError, UsageError
from sassan.evolve import compilers, state
from sassan.evolve.answer import Answer, answer
from sassan.evolve.bench import Bench
from sassan.evolve.cache import key, program
from sassan.evolve.compilers import Tools
from sassan.evolve.config import Config
from sassan.evolve.evaluate import Task, evaluate, lost
from sassan.evolve.genes import Genome
from sassan.evolve.outcome import Fate, Outcome
from sassan.evolve.search import Hooks, Search, Step
from sassan.executor import Executor


@dataclass(slots=True)
class Work:
    """What a run did beside finding its result, which does not depend on it: compilations that the cache saved."""

    evaluated: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Runner:
    """Evaluates genomes of a configuration on an executor, and counts."""

    config: Config
    tools: Tools
    executor: Executor
    cached: bool = True
    bench: Bench | None = None
    """Where individuals run, one after the other; None: nowhere."""
    work: Work = field(default_factory=Work)

    def __call__(self, genomes: Sequence[Genome]) -> Iterator[Outcome]:
        """Yield the outcomes in order; raises InputError `default-failed` where the compiler's default comes to nothing."""
        tasks = [Task(self.config, self.tools, one, self.cached) for one in genomes]
        for genome, outcome in zip(genomes, self.executor.map(evaluate, tasks, lost=lost), strict=True):
            self.work.evaluated += 1
            self.work.cached += outcome.cached
            if genome == self.config.space.default and outcome.fate in {Fate.FAILED, Fate.HUNG, Fate.REFUSED}:
                raise InputError("default-failed", f"{self.config.kernel.path}: the compiler's default: {outcome.why}")
            yield self.bench(genome, outcome) if self.bench is not None else outcome


def tools_of(config: Config) -> Tools:
    """Return the compilers that a configuration needs; raises MissingToolError."""
    return compilers.find(nvrtc=not config.kernel.ptx, ptxas=config.ordered or config.kernel.ptx)


def makers(runner: Runner) -> str:
    """Return a hash of what makes costs: this sassan, the compilers, the GPU. Costs of different ones are not compared."""
    found = (runner.tools.nvrtc, runner.tools.ptxas)
    device = runner.bench.device.name if runner.bench is not None else ""
    return key(program(), *(one.identity if one is not None else "" for one in found), device)


def run(runner: Runner, folder: Path, *, resume: bool = False, watch: Callable[[Step], None] = lambda _: None) -> Answer:
    """Return what the search finds; its state lies in `folder` after each generation.

    Raises UsageError `bad-state`, `unfinished`, `cannot-write`; InputError `default-failed`; MissingToolError; SelfCheckError.
    """
    config = runner.config
    made_by = makers(runner)
    found = state.load(config, folder, made_by) if resume else None
    if not resume:
        _refuse_unfinished(folder)
    if resume and found is None:
        raise UsageError("bad-state", f"'{folder / state.FILE}' does not exist: there is nothing to resume", hint="start without --resume")
    begun = found if found is not None else state.begin(config.plan.seed)
    hooks = Hooks(keep=partial(_keep, config, folder, made_by), watch=watch)
    search = Search(config, runner, hooks)
    if found is None:
        _keep(config, folder, made_by, begun)
    return answer(config, begun if begun.done else search.run(begun))


def _keep(config: Config, folder: Path, made_by: str, now: state.State) -> None:
    state.save(now, config, folder, made_by)


def _refuse_unfinished(folder: Path) -> None:
    """Keep the state of a search that was interrupted from being overwritten by mistake."""
    path = folder / state.FILE
    try:
        unfinished = '"done": false' in path.read_text("utf-8", "replace")
    except OSError:
        return
    if unfinished:
        hint = "go on with --resume, choose another folder with -o DIR, or remove this one"
        raise UsageError("unfinished", f"'{path}' holds a search that was interrupted", hint=hint)
