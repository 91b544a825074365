"""A task: its deadline, its period, its copies, its certificate."""

from functools import partial
from typing import Annotated

import typer

from sassan.cli.options.panels import Panel

_task = partial(typer.Option, rich_help_panel=Panel.TASK)
TaskName = Annotated[
    str | None,
    _task("--task", metavar="NAME", help="A task of the project file ([task.NAME]), with its program, launches, GPU and deadline."),
]
TaskDeadline = Annotated[
    str | None, _task("--deadline", metavar="TIME", help="The response time that is allowed, with its unit: 5ms, 800us, 0.01s.")
]
Period = Annotated[
    str | None,
    _task("--period", metavar="TIME", help="The time from one start of the task to the next (33ms); adds the utilisation."),
]
Copies = Annotated[
    str | None,
    _task(
        "--copies",
        metavar="RATE|outside",
        help="What copies from the host surely reach ('12 GB/s'), or that they are no part of the task; without it they are a gap.",
    ),
]
Beside = Annotated[
    list[str] | None,
    _task(
        "--beside",
        metavar="NAME",
        help="A task of the project file that runs on the same GPU, again and again with its period; may be repeated.",
    ),
]
Certificate = Annotated[
    str | None,
    _task("--certificate", metavar="C.json", help="Write the certificate, and beside it C.html, which prints; needs a bound."),
]
Tornado = Annotated[
    str | None,
    _task("-o", "--output", metavar="X.svg", help="Draw how far the bound moves when each figure is 10 % worse."),
]
Gantt = Annotated[
    str | None,
    _task("--gantt", metavar="X.svg", help="Draw the sequence: each launch at its latest, what its time is made of, the deadline."),
]
CertificateFile = Annotated[str, typer.Argument(metavar="C.json", help="The certificate, as sassan task --certificate writes it.")]
