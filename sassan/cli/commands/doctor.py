"""`sassan doctor`: what of this machine sassan can use."""

from json import dumps

import typer

from sassan.app import documents
from sassan.app.doctor import ExaminedState, examine
from sassan.cli.options.inputs import Csv, Json, Quiet
from sassan.cli.output import csv as sheet
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import out
from sassan.cli.reports import doctor as report
from sassan.cli.reports.doctor import ExaminedFields
from sassan.fields.field import document

_WRONG = 4
"""The status where something that is there cannot be used."""


def doctor(*, csv: Csv = False, json: Json = False, quiet: Quiet = False) -> None:
    """Say what is installed, and how to get the rest.

    Disassemblers, compilers and ptxas are looked for on PATH, in CUDA_HOME and in installed wheels, as by all commands, and asked for their
    version. Nothing is changed, and nothing is fetched. What is missing is needed by some commands only. Exit status 4 where something is
    wrong: a package of sassan itself that is missing, a cache that others may write.

    \b
    Examples:
      sassan doctor
      sassan doctor --json
    """
    sheet.exclude(csv=csv, json=json)
    checks = list(track(examine(), "looking", quiet=quiet))
    if json:
        out(dumps({**documents.tool(), "examined": [document(ExaminedFields, check) for check in checks]}, indent=2) + "\n")
    elif csv:
        sheet.of_fields(ExaminedFields, checks)
    else:
        report.show(checks)
    if any(check.state is ExaminedState.WRONG for check in checks):
        raise typer.Exit(_WRONG)
