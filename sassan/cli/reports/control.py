"""`sassan listing --check`: consumers that do not wait for their producers, as text and as a document."""

from collections.abc import Sequence
from typing import NamedTuple

import typer

from sassan.app.documents import FunctionFields
from sassan.app.inputs import Inputs, SelectedFunction
from sassan.cli.output import failure, table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import label, out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.analysis import NAME
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import InputError
from sassan.fields.field import Declare, FieldKind, Record
from sassan.fields.kinds import ADDRESS, BOUND, COUNT, STRING, address, array, choice, merged, nullable, one
from sassan.fields.shared import GAPS, AssumedFields
from sassan.isa.registers import names
from sassan.timing.findings import MissingWait, Report

FOUND = 1
"""The status where something was found: that of a gate (docs/reference/commands.md)."""
_UNCHECKED = "no-control-codes"

Checked = tuple[SelectedFunction, "Report"]


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


def _list(selected: SelectedFunction, findings: Sequence[MissingWait]) -> None:
    name = label(selected.function.name, 30)
    for finding in findings:
        out(f"  {name} {address(finding.address)} {finding.code}: {safe(_message(selected, finding))}\n")


def _count(report: Report) -> str:
    return "-" if _is_unchecked(report) else str(len(report.findings))


def _is_unchecked(report: Report) -> bool:
    return any(gap.code == _UNCHECKED for gap in report.gaps)


def _message(selected: SelectedFunction, finding: MissingWait) -> str:
    code = {each.address: each.text for each in selected.function.instructions}
    return finding.message(code[finding.address], code[finding.producer])


class FoundIn(NamedTuple):
    """A finding, and where it is."""

    selected: SelectedFunction
    finding: MissingWait


class ControlCheck(NamedTuple):
    """The check of one function."""

    selected: SelectedFunction
    report: Report


def _known(value: int) -> int | None:
    return None if value < 0 else value


_of_finding, _of = Declare[FoundIn](), Declare[ControlCheck]()


class FindingFields(Record[FoundIn]):
    """An instruction that does not wait for its producer."""

    code = _of_finding(choice("short-distance", "missing-wait", "early-wait"), "which kind it is", lambda each: each.finding.code)
    address = _of_finding(ADDRESS, "of the instruction", lambda each: each.finding.address)
    producer = _of_finding(ADDRESS, "of the instruction that it does not wait for", lambda each: each.finding.producer)
    dependence = _of_finding(
        FieldKind({"enum": ["raw", "waw", "war", None]}), "of the two, null for an early wait", lambda each: each.finding.dependence or None
    )
    registers = _of_finding(array(STRING), "that they share", lambda each: names(each.finding.registers))
    barrier = _of_finding(BOUND, "the one to wait for, null where the producer sets none", lambda each: _known(each.finding.barrier))
    have = _of_finding(BOUND, "from issue to issue, null where only a wait would do", lambda each: _known(each.finding.have), unit="cycles")
    need = _of_finding(BOUND, "that are needed, likewise", lambda each: _known(each.finding.need), unit="cycles")
    observations = _of_finding(BOUND, "on how few a note rests, null in findings", lambda each: each.finding.observations)
    message = _of_finding(STRING, "the finding in words", lambda each: _message(*each))


class ControlFields(Record[ControlCheck]):
    """What `sassan listing --check` says of one function."""

    _function = _of(merged(FunctionFields), "the function", lambda each: each.selected)
    instructions = _of(COUNT, "of the function", lambda each: len(each.selected.function.instructions))
    findings = _of(
        nullable(array(one(FindingFields))),
        "instructions that do not wait, null where nothing could be checked",
        lambda each: None if _is_unchecked(each.report) else [FoundIn(each.selected, finding) for finding in each.report.findings],
    )
    notes = _of(
        array(one(FindingFields)),
        "alike, which rest on fewer than 30 observations",
        lambda each: [FoundIn(each.selected, finding) for finding in each.report.notes],
    )
    gaps = _of(GAPS, "what could not be followed", lambda each: each.report.gaps)
    _assumed = _of(merged(AssumedFields), "what the check rests on", lambda each: each.report.assumptions)


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
