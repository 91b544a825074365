"""The options that say where independent work runs, and the executor that they ask for."""

from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from sassan import executor as executors
from sassan.errors import UsageError
from sassan.executor import Executor

_MANY = 4096


class Kind(StrEnum):
    """Where independent work runs."""

    PROCESSES = "processes"
    SERIAL = "serial"
    DASK = "dask"


ExecutorOption = Annotated[
    Kind,
    typer.Option("--executor", help="Where the work runs: in processes, in this process one item after the other, or on a Dask cluster."),
]
ChainsOption = Annotated[
    Kind | None,
    typer.Option(
        "--executor", help="Where the chains of annealing run: in processes, in this process, or on a Dask cluster.", show_default="threads"
    ),
]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="The Dask scheduler, such as tcp://host:8786, for --executor dask.")
]
Jobs = Annotated[
    int | None,
    typer.Option("-j", "--jobs", metavar="N", min=1, max=_MANY, help="Number of processes.", show_default="one per processor"),
]


@contextmanager
def executor(kind: Kind, scheduler: str | None, jobs: int | None) -> Generator[Executor]:
    """Hold the executor that the options ask for.

    Raises UsageError where the options contradict each other, or no scheduler answers; MissingToolError without the extra.
    """
    if (kind is Kind.DASK) != (scheduler is not None):
        raise UsageError(
            "usage", "--executor dask and --scheduler need each other", hint="pass --executor dask --scheduler tcp://host:8786"
        )
    if jobs is not None and kind is not Kind.PROCESSES:
        raise UsageError("usage", f"--jobs has no effect on the executor '{kind}'", hint="pass --executor processes -j N")
    match kind:
        case Kind.SERIAL:
            yield executors.Serial()
        case Kind.PROCESSES:
            with executors.Processes(jobs) as processes:
                yield processes
        case Kind.DASK:
            with executors.Dask(scheduler or "") as cluster:
                yield cluster
