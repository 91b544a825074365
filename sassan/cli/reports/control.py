"""`sassan listing --check`: consumers that do not wait for their producers, as text and as a document."""

from collections.abc import Mapping, Sequence

import typer

from sassan.app import documents
from sassan.app.inputs import Inputs, Selected
from sassan.cli.output import failure, table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import label, out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.analysis import NAME
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import InputError
from sassan.isa.registers import names
from sassan.timing.findings import Finding, Report

FOUND = 1
"""The status where something was found: that of a gate (docs/reference/commands.md)."""
_UNCHECKED = "no-control-codes"

Checked = tuple[Selected, "Report"]


def text(checked: Sequence[Checked]) -> None:
    """Print one line per function, then each finding and note, the assumptions, and what could not be followed."""
    if not checked:
        return
    columns = (NAME, Column("arch"), Column("instr", number=True), Column("findings", number=True))
    rows = tuple(
        (selected.function.name, selected.function.arch, str(len(selected.function.instructions)), _count(report))
        for selected, report in checked
    )
    table.show(Table(columns, rows))
    if any(report.findings for _, report in checked):
        out("\nfindings:\n")
    for selected, report in checked:
        _list(selected, report.findings)
    if any(report.notes for _, report in checked):
        out("\nnotes, on too few observations:\n")
    for selected, report in checked:
        _list(selected, report.notes)
    assumptions.show([text for _, report in checked for text in report.assumptions], every=True)
    list_gaps([(selected.function.name, report.gaps) for selected, report in checked if not _is_unchecked(report)])


def _list(selected: Selected, findings: Sequence[Finding]) -> None:
    name = label(selected.function.name, 30)
    for finding in findings:
        out(f"  {name} {documents.address(finding.address)} {finding.code}: {safe(_message(selected, finding))}\n")


def _count(report: Report) -> str:
    return "-" if _is_unchecked(report) else str(len(report.findings))


def _is_unchecked(report: Report) -> bool:
    return any(gap.code == _UNCHECKED for gap in report.gaps)


def _message(selected: Selected, finding: Finding) -> str:
    code = {each.address: each.text for each in selected.function.instructions}
    return finding.message(code[finding.address], code[finding.producer])


def rows(checked: Sequence[Checked]) -> list[Mapping[str, object]]:
    """Return the document of each function; `findings` is null where nothing could be checked."""
    return [
        {
            **documents.function_head(selected.function, selected.file),
            "instructions": len(selected.function.instructions),
            "findings": None if _is_unchecked(report) else [_finding(selected, finding) for finding in report.findings],
            "notes": [_finding(selected, finding) for finding in report.notes],
            "gaps": documents.gaps(report.gaps),
            **documents.assumptions(report.assumptions),
        }
        for selected, report in checked
    ]


def _finding(selected: Selected, finding: Finding) -> Mapping[str, documents.Value]:

    return {
        "code": finding.code,
        "address": documents.address(finding.address),
        "producer": documents.address(finding.producer),
        "dependence": finding.dependence or None,
        "registers": list(names(finding.registers)),
        "barrier": _known(finding.barrier),
        "have": _known(finding.have),
        "need": _known(finding.need),
        "observations": finding.observations,
        "message": _message(selected, finding),
    }


def _known(value: int) -> int | None:
    return None if value < 0 else value


def finish(checked: Sequence[Checked], inputs: Inputs) -> None:
    """End the command: a function that could not be checked at all is an error, and a finding has a status of its own.

    Raises typer.Exit.
    """
    unchecked = [selected for selected, report in checked if _is_unchecked(report)]
    if unchecked and not inputs.status:
        message = f"{label(unchecked[0].function.name, 40)}: the listing has no encodings, so there are no control codes to check"
        error = InputError(_UNCHECKED, message, hint="cuobjdump -sass and nvdisasm -c -hex print encodings")
        failure.show(error, unchecked[0].file)
        raise typer.Exit(error.status)
    if not inputs.status and any(report.findings for _, report in checked):
        raise typer.Exit(FOUND)
