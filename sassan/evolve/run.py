"""A whole run: find the compilers, search, save the state. Called by the command line and by users with their own executor."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sassan.errors import InputError, UsageError
from sassan.evolve import state
from sassan.evolve.bench import Bench
from sassan.evolve.cache import key, program
from sassan.evolve.compilation import compilers
from sassan.evolve.compilation.compilers import Tools
from sassan.evolve.evaluate import EvaluationTask, evaluate, lost
from sassan.evolve.outcome import GenomeOutcome, OutcomeStatus
from sassan.evolve.result import SearchResult, search_result
from sassan.evolve.search import GenomeSearch, Hooks, SearchProgress
from sassan.evolve.space.config import Config
from sassan.evolve.space.genes import Genome
from sassan.executor import Executor
from sassan.system import reading


@dataclass(slots=True)
class RunStatistics:
    """Statistics of a run that do not affect its result: evaluations, and cached compilations."""

    evaluated: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Runner:
    """Evaluates genomes of a configuration on an executor, and counts evaluations."""

    config: Config
    tools: Tools
    executor: Executor
    cached: bool = True
    bench: Bench | None = None
    """Runs individuals on a GPU, one after the other; None: no GPU."""
    statistics: RunStatistics = field(default_factory=RunStatistics)

    def __call__(self, genomes: Sequence[Genome]) -> Iterator[GenomeOutcome]:
        """Yield the outcomes in order; raises InputError `default-failed` if the compiler's default fails."""
        tasks = [EvaluationTask(self.config, self.tools, genome, self.cached) for genome in genomes]
        for genome, outcome in zip(genomes, self.executor.map(evaluate, tasks, lost=lost), strict=True):
            self.statistics.evaluated += 1
            self.statistics.cached += outcome.cached
            if genome == self.config.space.default and outcome.status in {OutcomeStatus.FAILED, OutcomeStatus.HUNG, OutcomeStatus.REFUSED}:
                raise InputError("default-failed", f"{self.config.kernel.path}: the compiler's default: {outcome.why}")
            yield self.bench(genome, outcome) if self.bench is not None else outcome


def tools_of(config: Config) -> Tools:
    """Return the compilers that a configuration needs; raises MissingToolError."""
    return compilers.find(nvrtc=not config.kernel.ptx, ptxas=config.ordered or config.kernel.ptx)


def toolchain_hash(runner: Runner) -> str:
    """Return a hash of this sassan, the compilers and the GPU. Costs with different hashes are not compared."""
    tools = (runner.tools.nvrtc, runner.tools.ptxas)
    device = runner.bench.device.name if runner.bench is not None else ""
    return key(program(), *(tool.identity if tool is not None else "" for tool in tools), device)


def run(runner: Runner, folder: Path, *, resume: bool = False, watch: Callable[[SearchProgress], None] = lambda _: None) -> SearchResult:
    """Run a search; its state is saved in `folder` after each generation.

    Raises UsageError `bad-state`, `unfinished`, `cannot-write`; InputError `default-failed`; MissingToolError; SelfCheckError.
    """
    config = runner.config
    toolchain = toolchain_hash(runner)
    saved = state.load(config, folder, toolchain) if resume else None
    if not resume:
        _refuse_unfinished(folder)
    if resume and saved is None:
        raise UsageError("bad-state", f"'{folder / state.FILE}' does not exist: nothing to resume", hint="omit --resume")
    start = saved if saved is not None else state.initial_state(config.plan.seed)
    hooks = Hooks(save=partial(_save, config, folder, toolchain), watch=watch)
    search = GenomeSearch(config, runner, hooks)
    if saved is None:
        _save(config, folder, toolchain, start)
    return search_result(config, start if start.done else search.run(start))


def _save(config: Config, folder: Path, toolchain: str, current: state.SearchState) -> None:
    state.save(current, config, folder, toolchain)


def _refuse_unfinished(folder: Path) -> None:
    """Refuse to overwrite the state of an interrupted search."""
    path = folder / state.FILE
    try:
        unfinished = '"done": false' in reading.text(path, state.LARGEST, errors="replace")
    except OSError:
        return
    if unfinished:
        hint = "pass --resume to continue it, choose another folder with -o DIR, or remove this one"
        raise UsageError("unfinished", f"'{path}' contains the state of an interrupted search", hint=hint)
