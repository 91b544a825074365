"""The end of a command: its exit status."""

from collections.abc import Sequence

import typer

from sassan.app.inputs import Inputs
from sassan.app.result import AnalysisResult
from sassan.cli.output import failure
from sassan.cli.output.terminal import label
from sassan.errors import InputError
from sassan.ir import Function

_NAMED = 3
"""Functions that an error names."""
_TARGETS = "give the targets in a file for --bounds; 'sassan ipet --facts-template' names the branches and calls"
_REMEDIES = (
    ("unbounded-loop", "pass loop bounds with --bounds or --loop-bound; 'sassan ipet --facts-template' writes the file"),
    ("refuted-bound", "report it, with the warning; --bounds or --loop-bound give the loop a bound"),
    ("indirect-branch", _TARGETS),
    ("indirect-call", _TARGETS),
    ("contradictory-facts", "check the facts of the file that --bounds names against each other"),
)
"""What to do about a gap: the first that is met is advised."""


def finish(inputs: Inputs, results: Sequence[AnalysisResult] = ()) -> None:
    """End the command with its status (docs/reference/commands.md).

    Refused files come first, else functions chosen with -f that have no number (`results`).

    Raises typer.Exit.
    """
    without = [
        result for result in results if result.wcet.value is None or (result.makespan is not None and result.makespan.bound.value is None)
    ]
    if without and not inputs.status:
        error = _no_number(without)
        failure.show(error)
        raise typer.Exit(error.status)
    if inputs.status:
        raise typer.Exit(inputs.status)


def named(functions: Sequence[Function]) -> str:
    """Return the names of a few functions, for an error."""
    return ", ".join(label(function.name, 40) for function in functions[:_NAMED]) + (", …" if len(functions) > _NAMED else "")


def _no_number(without: Sequence[AnalysisResult]) -> InputError:
    codes = sorted({gap.code for result in without for gap in result.gaps})
    names = named([result.function for result in without])
    reason = f"gaps forbid a bound ({', '.join(codes)})" if codes else f"no bound was proved ({without[0].wcet.status})"
    return InputError("gaps", f"{names}: {reason}", hint=next((hint for code, hint in _REMEDIES if code in codes), None))
