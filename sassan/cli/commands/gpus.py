"""`sassan gpus`: the products that --gpu names."""

from collections.abc import Sequence
from json import dumps
from typing import Annotated

import typer

from sassan.app import documents
from sassan.app.peaks import check_peaks
from sassan.app.reading import read_gpu
from sassan.cli.options.inputs import Csv, Json, Quiet
from sassan.cli.output import csv as sheet
from sassan.cli.output.terminal import out
from sassan.cli.reports import gpus as report
from sassan.cli.reports.gpus import PeakFields, ProductFields
from sassan.errors import UsageError
from sassan.fields.field import document
from sassan.products import Product, products

Name = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A product, as --gpu takes it; with its name, each figure is printed with its source.")
]


Check = Annotated[
    bool,
    typer.Option("--check", help="Compare the peak rates that bounds count on with those of the data sheet; status 1 where one is off."),
]
OFF = 1
"""The status where a rate differs from that of the data sheet."""


def gpus(name: Name = None, *, check: Check = False, csv: Csv = False, json: Json = False, quiet: Quiet = False) -> None:
    """List the GPUs that --gpu knows, or the figures of one.

    A name may be written as NVIDIA's tools do, in any case; an abbreviation is refused, with the products that come near. A comma and a
    power mode behind a name give the product in that mode. A .toml file describes another product, and SASSAN_GPUS names a folder of such
    files.
    Columns: base and boost, clocks in MHz; GB and GB/s, size and bandwidth of the DRAM; MiB and B/clk, size of the L2 and what it delivers
    in a cycle of the SMs.
    With --check a row per kind of peak rate, in 10^12 operations a second without sparsity: fp64 and fp32 by fused multiply-adds, all
    others by tensor cores; _single: with sums of single precision. MHz is the clock of the data sheet, ratio the computed rate over the
    printed one. A rate is off where it differs by more than 1 % and by more than the printed digits leave open. Products without a data
    sheet have no row.

    \b
    Examples:
      sassan gpus
      sassan gpus "RTX 3080"
      sassan gpus "orin nx 16gb" --json
      sassan gpus "Orin NX 16GB, 15W"
      sassan gpus --check
      sassan gpus A10 --check
      sassan gpus my.toml
    """
    del quiet  # there is no note: an option of every command
    sheet.exclude(csv=csv, json=json)
    several = products() if name is None else (read_gpu(name),)
    if check:
        _check(several, csv=csv, json=json)
    elif json:
        out(dumps({**documents.tool(), "gpus": [document(ProductFields, product) for product in several]}, indent=2) + "\n")
    elif csv:
        sheet.of_fields(ProductFields, several)
    elif name is None:
        report.show(several)
    else:
        report.show_figures(several[0])


def _check(several: Sequence[Product], *, csv: bool, json: bool) -> None:
    """Print the comparison of rates; raises typer.Exit where one is off, UsageError where there is none."""
    checks = [each for product in several for each in check_peaks(product)]
    if not checks:
        raise UsageError(
            "no-peaks", f"no rates of a data sheet are known of {several[0].name}", hint="sassan gpus --check compares all that are"
        )
    if json:
        out(dumps({**documents.tool(), "peaks": [document(PeakFields, each) for each in checks]}, indent=2) + "\n")
    elif csv:
        sheet.of_fields(PeakFields, checks)
    else:
        report.show_peaks(checks)
    if not all(each.agrees for each in checks):
        raise typer.Exit(OFF)
