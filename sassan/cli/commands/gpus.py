"""`sassan gpus`: the products that --gpu names."""

from json import dumps
from typing import Annotated

import typer

from sassan.app import documents
from sassan.app.reading import read_gpu
from sassan.cli.options.inputs import Csv, Json, Quiet
from sassan.cli.output import csv as sheet
from sassan.cli.output.terminal import out
from sassan.cli.reports import gpus as report
from sassan.products import products

Name = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A product, as --gpu takes it; with its name, each figure is printed with its source.")
]


def gpus(name: Name = None, *, csv: Csv = False, json: Json = False, quiet: Quiet = False) -> None:
    """List the GPUs that --gpu knows, or the figures of one.

    A name may be written as NVIDIA's tools do, in any case, or abbreviated where that fits one product only; a .toml file describes another
    product, and SASSAN_GPUS names a folder of such files.
    Columns: base and boost, clocks in MHz; GB and GB/s, size and bandwidth of the DRAM; MiB and B/clk, size of the L2 and what it delivers
    in a cycle of the SMs.

    \b
    Examples:
      sassan gpus
      sassan gpus "RTX 3080"
      sassan gpus "orin nx 16gb" --json
      sassan gpus my.toml
    """
    del quiet  # there is no note: an option of every command
    sheet.exclude(csv=csv, json=json)
    several = products() if name is None else (read_gpu(name),)
    if json:
        out(dumps({**documents.tool(), "gpus": [report.row(product) for product in several]}, indent=2) + "\n")
    elif csv:
        rows = [report.row(product) for product in several]
        sheet.show([head for head in rows[0] if head != "sources"], rows)
    elif name is None:
        report.show(several)
    else:
        report.show_figures(several[0])
