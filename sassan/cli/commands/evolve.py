"""`sassan evolve`: the evolutionary compiler."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sassan.cli.options import executors
from sassan.cli.options.inputs import Json, Quiet
from sassan.cli.output import evolve_report
from sassan.cli.output.terminal import is_terminal, note, out, safe
from sassan.errors import InputError
from sassan.evolve import bench as gpu
from sassan.evolve import config as configurations
from sassan.evolve import report
from sassan.evolve.config import Config
from sassan.evolve.run import Runner, run, tools_of
from sassan.evolve.search import Step

_INTERRUPTED = 130
_MANY = 1_000_000

Configuration = Annotated[str, typer.Argument(metavar="CONFIG.toml", help="Kernel, launch, genes and costs; samples/evolve holds some.")]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="DIR", help="Folder of the result and of the state.", show_default="CONFIG.evolved"),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the search whose state lies in the folder.")]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="N", min=1, max=_MANY, help="Different individuals to evaluate; overrides CONFIG.")
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, max=2**31 - 1, help="Of the random numbers; overrides CONFIG.")]


def evolve(
    config: Configuration,
    *,
    output: Output = None,
    resume: Resume = False,
    budget: Budget = None,
    seed: Seed = None,
    executor: executors.ExecutorOption = executors.Kind.PROCESSES,
    scheduler: executors.Scheduler = None,
    jobs: executors.Jobs = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile and bound everything anew, and keep nothing.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Search for the choices with which a kernel costs least.

    Choices are macros, compiler flags, and the order of PTX instructions. Costs are static: bounds of the execution time, registers,
    instructions; no GPU is needed. Random search with the same budget runs beside it.
    After an interrupt the same command with --resume goes on, and ends with the same result.

    \b
    Examples:
      sassan evolve samples/evolve/matmul.toml
      sassan evolve kernel.toml -o found --budget 200 --seed 7
      sassan evolve kernel.toml -o found --budget 200 --seed 7 --resume
      sassan evolve kernel.toml --json | jq '.best.command'
    """
    chosen = _overridden(configurations.read(config), budget, seed)
    folder = Path(output) if output is not None else Path(f"{Path(config).stem}.evolved")
    report.check()
    tools = tools_of(chosen)
    bench = gpu.bench(chosen, tools, cached=not no_cache)
    with executors.executor(executor, scheduler, jobs) as workers:
        runner = Runner(chosen, tools, workers, not no_cache, bench)
        try:
            with _progress(chosen, quiet=quiet) as watch:
                found = run(runner, folder, resume=resume, watch=watch)
                report.write(chosen, found, runner, folder)
        except KeyboardInterrupt:
            note(f"interrupted: '{safe(str(folder))}' holds the state, and the same command with --resume goes on\n")
            raise typer.Exit(_INTERRUPTED) from None
    if json:
        out(dumps(report.document(chosen, found, runner), indent=2) + "\n")
    else:
        evolve_report.show(chosen, found, runner, folder)
    if found.best is None:
        why = found.default.outcome.why
        raise InputError("gaps", f"no individual has a cost; the default: {why}", hint="[launch] tells block, grid and param")


def _overridden(config: Config, budget: int | None, seed: int | None) -> Config:
    plan = config.plan
    if budget is not None:
        plan = replace(plan, budget=budget)
    if seed is not None:
        plan = replace(plan, seed=seed)
    return replace(config, plan=plan)


@contextmanager
def _progress(config: Config, *, quiet: bool) -> Generator[Callable[[Step], None]]:
    """Show evaluations that are done, and the best so far, where a person watches."""
    if quiet or not is_terminal(sys.stderr):
        yield lambda _: None
        return

    text = TextColumn("{task.description}", markup=False)
    with Progress(text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("evolution", total=config.plan.budget)

        def watch(now: Step) -> None:
            bar.update(task, completed=now.done, total=now.budget, description=progress_text(config, now))

        yield watch


def progress_text(config: Config, now: Step) -> str:
    """Return the line that a person watches: which search, and the best costs so far."""
    best = ", ".join(f"{one.value} {cost:g}" for one, cost in zip(config.objectives, now.best or (), strict=False)) or "nothing bounded yet"
    return f"{now.search}, generation {now.generation}: best {best}" if now.search == "evolution" else f"{now.search}: best {best}"
