"""`sassan batch`: many files, and what became of them."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from sassan.app import documents
from sassan.batch import BatchSummary, Job, ResultsFile, count, run
from sassan.batch import parquet as parquet_table
from sassan.batch.summary import BatchSummaryFields
from sassan.cli.options import executors
from sassan.cli.options.inputs import Csv, Json
from sassan.cli.options.limits import SECONDS
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import table
from sassan.cli.output.files import check_writable
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import is_terminal, label, note, out, safe
from sassan.entries import usable
from sassan.errors import UsageError
from sassan.executor import Certificates, Executor, can_end_after
from sassan.fields.field import document
from sassan.frontend.cubin import cache
from sassan.names import middle

_INTERRUPTED = 130
_STANDARD_OUTPUT = "-"

Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="A file, a directory (every file with GPU code in it), or a pattern such as 'build/**/*.cubin'."),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="X.jsonl", help="Write JSON Lines, one line per function or refused file; - is standard output."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the results in the file of -o.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the results in the file of -o.")]
Parquet = Annotated[
    Path | None,
    typer.Option("--parquet", metavar="X.parquet", help="Also write the results as a Parquet table when the batch is done; with -o."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="S",
        min=0.01,
        max=1e6,
        help="Time limit of each function in seconds; a function that takes longer is refused.",
        show_default="600 with --executor processes",
    ),
]


@analysis
def batch(
    command: AnalysisCommand,
    paths: Paths,
    *,
    output: Output = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    parquet: Parquet = None,
    time_limit: TimeLimit = None,
    executor: executors.ExecutorOption = executors.ExecutorKind.PROCESSES,
    scheduler: executors.Scheduler = None,
    tls_ca_file: executors.TlsAuthority = None,
    tls_cert: executors.TlsCertificate = None,
    tls_key: executors.TlsKey = None,
    jobs: executors.Jobs = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Analyze many files.

    A directory stands for every cubin, .sass and .ptx file, program and library with GPU code in it. The results are JSON Lines in the
    order of the inputs, for any executor: one line per function or refused file; a refused file does not stop the others. An interrupted
    run keeps what it has written; the same command with --resume continues it.

    \b
    Examples:
      sassan batch build/ -o results.jsonl
      sassan batch build/ -o results.jsonl --resume
      sassan batch 'lib/**/*.cubin' libgpu.so -o out.jsonl -j 8 --time-limit 60
      sassan batch build/ -o out.jsonl --executor dask --scheduler tcp://host:8786
      sassan batch build/ -o out.jsonl --launches launches.toml
      sassan batch libgpu.so -o out.jsonl --parquet out.parquet
      sassan batch build/ -o - | jq 'select(.gaps != [])'
    """
    sheet.exclude(csv=csv, json=json)
    _check(paths, output, json=json or csv, resume=resume or overwrite)
    if resume and overwrite:
        raise UsageError("usage", "--resume and --overwrite exclude each other", hint="pass one of them")
    _check_table(parquet, output)
    job = Job(command.request, time_limit, usual=SECONDS if executor is executors.ExecutorKind.PROCESSES and can_end_after() else None)
    usable(cache.folder())  # it says if not: workers do not, which are many
    with executors.executor(executor, scheduler, jobs, Certificates(tls_ca_file, tls_cert, tls_key)) as chosen:
        try:
            summary = _run(command, paths, job, chosen, output, resume=resume, overwrite=overwrite)
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None
    if parquet is not None and output is not None:
        rows = parquet_table.write(Path(output), parquet)
        if not command.observer.quiet:
            note(f"wrote {safe(str(parquet))}: {rows} rows\n")
    if json or csv or output is None or summary.refused or not command.observer.quiet:
        _report(summary, output, csv=csv, json=json)
    if summary.status:
        raise typer.Exit(summary.status)


def _check(paths: list[str], output: str | None, *, json: bool, resume: bool) -> None:
    if "-" in paths:
        raise UsageError(
            "standard-input", "a batch may read its inputs again, and standard input can be read only once", hint="run sassan analyze -"
        )
    if resume and output in {None, _STANDARD_OUTPUT}:
        raise UsageError("usage", "--resume and --overwrite need a file of results", hint="pass -o X.jsonl")
    if json and output == _STANDARD_OUTPUT:
        raise UsageError("usage", "--json and --csv print the summary, and -o - the results", hint="pass a file name to -o")


def _check_table(table: Path | None, output: str | None) -> None:
    """Refuse a Parquet table that could not be written before hours of work, not after."""
    if table is None:
        return
    if output in {None, _STANDARD_OUTPUT}:
        raise UsageError("usage", "--parquet is made of a file of results", hint="pass -o X.jsonl")
    parquet_table.check()
    check_writable(str(table), (output,))


class _Lines:
    """Lines on standard output."""

    def write(self, lines: bytes) -> None:
        out(lines.decode())


class _Nowhere:
    """The lines are not wanted: the summary is all that was asked for."""

    def write(self, lines: bytes) -> None:
        del lines


def _run(
    command: AnalysisCommand, paths: list[str], job: Job, executor: Executor, output: str | None, *, resume: bool, overwrite: bool
) -> BatchSummary:

    if output is None or output == _STANDARD_OUTPUT:
        with _progress(paths, None, quiet=command.observer.quiet) as watch:
            return run(paths, job, executor, _Nowhere() if output is None else _Lines(), watch=watch)
    with ResultsFile(output, job, resume=resume, overwrite=overwrite) as results:
        try:
            with _progress(paths, Path(output), quiet=command.observer.quiet) as watch:
                return run(paths, job, executor, results, begun=results.begun, output=Path(output), watch=watch)
        except KeyboardInterrupt:
            _interrupted(output, empty=results.empty)
            raise


def _interrupted(output: str, *, empty: bool) -> None:
    if empty:
        note(f"interrupted before the first result: there is no '{safe(output)}'; the same command starts again\n")
    else:
        note(f"interrupted: '{safe(output)}' has the results so far; the same command with --resume continues\n")


@contextmanager
def _progress(paths: list[str], output: Path | None, *, quiet: bool) -> Generator[Callable[[BatchSummary], None]]:
    """Show files that are done, their rate and the time to go, where a person watches."""
    if quiet or not is_terminal(sys.stderr):
        yield lambda _: None
        return

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[functions]} functions, {task.fields[rate]:.0f}/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("batch", total=count(paths, output), functions=0, rate=0.0)

        def watch(now: BatchSummary) -> None:
            rate = (now.functions - now.before) / now.seconds if now.seconds else 0.0
            bar.update(task, completed=now.files, functions=now.functions, rate=max(rate, 0.0))

        yield watch


def _report(summary: BatchSummary, output: str | None, *, csv: bool, json: bool) -> None:
    if json:
        _document(summary)
    elif csv:
        sheet.show(("what", "count"), ({"what": text, "count": count} for text, count in _rows(summary)))
    elif output == _STANDARD_OUTPUT:
        note("".join(f"{text}: {count}\n" for text, count in _rows(summary)))
    else:
        table.show(Table((Column("count", number=True), Column("what")), tuple((count, text) for text, count in _rows(summary))))
        if summary.refused:
            out("\nrefused first:\n")
        for outcome in summary.first_refused:
            name = f" {label(outcome.name, 40)}" if outcome.name else ""
            out(f"  {safe(outcome.file)}{name}: {outcome.error}: {safe(outcome.message)}\n")
        if summary.slowest:
            out("\nslowest, in seconds:\n")
        for slow in summary.slowest:
            out(f"  {slow.seconds:.2f}  {label(slow.name, 40)} in {middle(safe(slow.file), 60)}\n")


def _document(summary: BatchSummary) -> None:

    out(dumps({**documents.tool(), "batch": document(BatchSummaryFields, summary)}, indent=2) + "\n")


def _rows(summary: BatchSummary) -> list[tuple[str, str]]:
    new = summary.functions - summary.before
    rate = f", {new / summary.seconds:.1f} functions a second" if summary.seconds and new > 0 else ""
    numbers = [
        ("files", summary.files),
        ("functions", summary.functions),
        ("functions with a WCET", summary.bounded),
        *((f"functions with the gap {code}", count) for code, count in sorted(summary.gaps.items())),
        *((f"refused: {code}", count) for code, count in sorted(summary.refused.items())),
    ]
    extra = [("lines of an earlier run", summary.before), ("other files skipped", summary.passed), ("files named twice", summary.repeated)]
    rows = [(text, str(count)) for text, count in (*numbers, *((text, count) for text, count in extra if count))]
    return [*rows, (f"seconds{rate}", f"{summary.seconds:.1f}")]
