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
from sassan.cli.options.inputs import Csv, Json, Quiet
from sassan.cli.output import csv as sheet
from sassan.cli.output.terminal import is_terminal, note, out, safe
from sassan.cli.reports import evolve as evolve_report
from sassan.errors import InputError
from sassan.evolve import bench as gpu
from sassan.evolve import report
from sassan.evolve.run import Runner, run, tools_of
from sassan.evolve.search import SearchProgress
from sassan.evolve.space import config as configurations
from sassan.evolve.space.config import Config
from sassan.executor import Certificates

_INTERRUPTED = 130
_MANY = 1_000_000

Configuration = Annotated[str, typer.Argument(metavar="CONFIG.toml", help="Kernel, launch, genes and objectives; see samples/evolve.")]
Output = Annotated[
    str | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for the result and the state.", show_default="CONFIG.evolved")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the search whose state is in the folder.")]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="N", min=1, max=_MANY, help="Distinct individuals to evaluate; overrides CONFIG.")
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, max=2**31 - 1, help="Seed of the search; overrides CONFIG.")]


def evolve(
    config: Configuration,
    *,
    output: Output = None,
    resume: Resume = False,
    budget: Budget = None,
    seed: Seed = None,
    executor: executors.ExecutorOption = executors.ExecutorKind.PROCESSES,
    scheduler: executors.Scheduler = None,
    tls_ca_file: executors.TlsAuthority = None,
    tls_cert: executors.TlsCertificate = None,
    tls_key: executors.TlsKey = None,
    jobs: executors.Jobs = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile and analyze everything again; do not use the cache.")] = False,
    csv: Csv = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Search for the compiler choices of least cost.

    Choices are macros, compiler flags, and the order of PTX instructions. Costs are static: bounds of the execution time, registers,
    instructions; no GPU is needed. Random search with the same budget runs for comparison. After an interrupt, the same command with
    --resume continues and gives the same result.

    \b
    Examples:
      sassan evolve samples/evolve/matmul.toml
      sassan evolve kernel.toml -o found --budget 200 --seed 7
      sassan evolve kernel.toml -o found --budget 200 --seed 7 --resume
      sassan evolve kernel.toml --json | jq '.best.command'
    """
    sheet.exclude(csv=csv, json=json)
    chosen = _overridden(configurations.read(config), budget, seed)
    folder = Path(output) if output is not None else Path(f"{Path(config).stem}.evolved")
    report.check()
    tools = tools_of(chosen)
    bench = gpu.bench(chosen, tools, cached=not no_cache)
    with executors.executor(executor, scheduler, jobs, Certificates(tls_ca_file, tls_cert, tls_key)) as workers:
        runner = Runner(chosen, tools, workers, not no_cache, bench)
        try:
            with _progress(chosen, quiet=quiet) as watch:
                result = run(runner, folder, resume=resume, watch=watch)
                report.write(chosen, result, runner, folder)
        except KeyboardInterrupt:
            note(f"interrupted: the state is in '{safe(str(folder))}'; the same command with --resume continues\n")
            raise typer.Exit(_INTERRUPTED) from None
    if json:
        out(dumps(report.document(chosen, result, runner), indent=2) + "\n")
    elif csv:
        sheet.of_fields(evolve_report.row_fields(chosen), evolve_report.shown_of(result))
    elif output is None or not quiet:
        evolve_report.show(chosen, result, runner, folder)
    if result.best is None:
        why = result.default.outcome.why
        raise InputError("gaps", f"no individual has a cost; the default: {why}", hint="set block, grid and param in [launch]")


def _overridden(config: Config, budget: int | None, seed: int | None) -> Config:
    plan = config.plan
    if budget is not None:
        plan = replace(plan, budget=budget)
    if seed is not None:
        plan = replace(plan, seed=seed)
    return replace(config, plan=plan)


@contextmanager
def _progress(config: Config, *, quiet: bool) -> Generator[Callable[[SearchProgress], None]]:
    """Show the number of evaluations and the best costs so far, on a terminal."""
    if quiet or not is_terminal(sys.stderr):
        yield lambda _: None
        return

    text = TextColumn("{task.description}", markup=False)
    with Progress(text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("evolution", total=config.plan.budget)

        def watch(now: SearchProgress) -> None:
            bar.update(task, completed=now.done, total=now.budget, description=progress_text(config, now))

        yield watch


def progress_text(config: Config, now: SearchProgress) -> str:
    """Return the progress line: the search, and its best costs so far."""
    best = (
        ", ".join(
            f"{each.value} {evolve_report.cost(config, each, value)}"
            for each, value in zip(config.objectives, now.best or (), strict=False)
        )
        or "nothing bounded yet"
    )
    return f"{now.search}, generation {now.generation}: best {best}" if now.search == "evolution" else f"{now.search}: best {best}"
