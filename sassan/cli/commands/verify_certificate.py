"""`sassan verify-certificate`: a certificate checked again, without the analysis."""

from pathlib import Path

import typer

from sassan import verifier
from sassan.cli.options.inputs import Quiet
from sassan.cli.options.task import CertificateFile
from sassan.cli.output import failure
from sassan.cli.output.terminal import out, safe
from sassan.errors import InputError

REFUSED = 1
"""The status where a certificate does not hold (docs/reference/commands.md)."""


def verify_certificate(file: CertificateFile, *, quiet: Quiet = False) -> None:
    """Check a certificate of task, without the analysis.

    Hashes of the inputs that lie beside it, the solution of each integer program and the multipliers that prove it an optimum, the sums
    that make the bound of it, and the deadline, all in exact arithmetic and without a solver. Status 1 where something does not hold or
    the deadline may be missed. The module that checks (sassan/verifier.py) needs nothing but Python, and runs alone.

    \b
    Examples:
      sassan verify-certificate camera.json
    """
    try:
        verdict = verifier.verify(Path(file))
    except OSError as error:
        raise InputError("cannot-read", f"'{file}' cannot be read: {error.strerror or error}") from None
    except verifier.Refused as refused:
        failure.show(InputError("certificate", str(refused), hint="sassan task --certificate FILE writes one"), file)
        raise typer.Exit(REFUSED) from None
    if not quiet:
        for line in verifier.lines(verdict):
            out(f"{safe(line)}\n")
    if verdict.missed:
        raise typer.Exit(REFUSED)
