"""The options that say where independent work runs, and the executor that they ask for."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from sassan import executor as executors
from sassan.cli.options.panels import Panel
from sassan.cli.output.terminal import note, safe
from sassan.errors import UsageError
from sassan.executor import Certificates, Executor

_MANY = 4096
_LOCAL = re.compile(r"([a-z]+://)?(127\.[0-9.]+|localhost|\[::1\])(:[0-9]+)?$")


class ExecutorKind(StrEnum):
    """Where independent work runs."""

    PROCESSES = "processes"
    SERIAL = "serial"
    DASK = "dask"


_execution = partial(typer.Option, rich_help_panel=Panel.EXECUTION)
ExecutorOption = Annotated[
    ExecutorKind,
    _execution("--executor", help="Where the work runs: in processes, in this process one item after the other, or on a Dask cluster."),
]
ChainsOption = Annotated[
    ExecutorKind | None,
    _execution(
        "--executor", help="Where the chains of annealing run: in processes, in this process, or on a Dask cluster.", show_default="threads"
    ),
]
Scheduler = Annotated[
    str | None, _execution("--scheduler", metavar="ADDRESS", help="The Dask scheduler, such as tcp://host:8786, for --executor dask.")
]
TlsAuthority = Annotated[
    str | None,
    _execution("--tls-ca-file", metavar="X.pem", help="Who signed the certificates of the cluster, for --scheduler tls://HOST:PORT."),
]
TlsCertificate = Annotated[
    str | None, _execution("--tls-cert", metavar="X.pem", help="The certificate of this client, for --scheduler tls://HOST:PORT.")
]
TlsKey = Annotated[
    str | None, _execution("--tls-key", metavar="X.pem", help="The key of --tls-cert.", show_default="in the file of --tls-cert")
]
Jobs = Annotated[
    int | None,
    _execution("-j", "--jobs", metavar="N", min=1, max=_MANY, help="Number of processes.", show_default="one per processor"),
]


@contextmanager
def executor(kind: ExecutorKind, scheduler: str | None, jobs: int | None, certificates: Certificates) -> Generator[Executor]:
    """Hold the executor that the options ask for.

    Raises UsageError where the options contradict each other, or no scheduler answers; MissingToolError without the extra.
    """
    if (kind is ExecutorKind.DASK) != (scheduler is not None):
        raise UsageError(
            "usage", "--executor dask and --scheduler need each other", hint="pass --executor dask --scheduler tcp://host:8786"
        )
    if certificates != Certificates() and scheduler is None:
        raise UsageError(
            "usage", "certificates are for --scheduler tls://HOST:PORT", hint="pass --executor dask --scheduler tls://host:8786"
        )
    if jobs is not None and kind is not ExecutorKind.PROCESSES:
        raise UsageError("usage", f"--jobs has no effect on the executor '{kind}'", hint="pass --executor processes -j N")
    match kind:
        case ExecutorKind.SERIAL:
            yield executors.Serial()
        case ExecutorKind.PROCESSES:
            with executors.Processes(jobs) as processes:
                yield processes
        case ExecutorKind.DASK:
            _warn(scheduler or "")
            with executors.Dask(scheduler or "", certificates) as cluster:
                yield cluster


def _warn(scheduler: str) -> None:
    """Say that whoever reaches an unencrypted scheduler may run code here, unless it is one of this machine."""
    if not scheduler.startswith("tls://") and _LOCAL.match(scheduler) is None:
        note(f"note: '{safe(scheduler)}' is neither encrypted nor authenticated: whoever reaches it can run code here; use tls://\n")
