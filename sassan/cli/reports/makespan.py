"""What `sassan makespan` prints and writes: the interval, who found what, the schedule as a chart, and what all of it rests on."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sassan.app.documents import HeadFields
from sassan.app.inputs import RefusedInput
from sassan.app.makespan import document as makespan_document
from sassan.app.makespan.description import chart, strings_of, units, verdict
from sassan.app.makespan.document import (
    AnsweredKernel,
    AnsweredPath,
    AnsweredPathFields,
    EngineFields,
    InstanceFields,
    MakespanOfFileFields,
)
from sassan.app.makespan.kernels import KernelInstances
from sassan.app.makespan.search import InstanceResult
from sassan.cli.output import csv as sheet
from sassan.cli.output import document, table
from sassan.cli.output.files import outputs, save
from sassan.cli.output.terminal import colourful, cut, out, safe, width
from sassan.cli.reports import assumptions
from sassan.cli.reports.gaps import list_gaps
from sassan.fields import field as fields
from sassan.fields.field import heads, row
from sassan.render.gantt import Chart, runs
from sassan.render.gantt_svg import draw
from sassan.render.gantt_text import ChartSize, lines, style

_TITLE = 60


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be printed and written."""

    output: str | None
    program: str | None
    rows: str
    json: bool
    quiet: bool
    csv: bool = False
    assumptions: bool = False
    """All of them, also those that are backed."""

    @property
    def printed(self) -> bool:
        """Whether text is printed: files alone may be."""
        return not self.quiet or (self.output is None and self.program is None)


def single(answer: InstanceResult, wanted: Wanted) -> None:
    """Print and write the answer to one question about strings."""
    _write([answer], wanted)
    if wanted.json:
        out(makespan_document.text(answer))
    elif wanted.csv:
        sheet.show(heads(HeadFields, InstanceFields), [row(InstanceFields, answer)])
    elif wanted.printed:
        _text(answer, every=wanted.assumptions)


def listing(
    instances: Sequence[KernelInstances], answers: Sequence[Sequence[InstanceResult]], refused: Sequence[RefusedInput], wanted: Wanted
) -> None:
    """Print and write the answers for the functions of a listing."""
    flat = [answer for some in answers for answer in some]
    _write(flat, wanted)
    if wanted.json:
        document.show([fields.document(MakespanOfFileFields, each) for each in map(AnsweredKernel, instances, answers)], refused)
        return
    if wanted.csv:
        sheet.of_parts(HeadFields, InstanceFields, zip((kernel.result for kernel in instances), answers, strict=True))
        return
    if wanted.printed:
        _table(instances, answers, flat, every=wanted.assumptions)
    list_gaps([(kernel.result.function.name, kernel.result.gaps) for kernel in instances])


def _table(
    instances: Sequence[KernelInstances], answers: Sequence[Sequence[InstanceResult]], flat: Sequence[InstanceResult], *, every: bool
) -> None:
    if flat:
        _rows(instances, answers)
    if len(flat) == 1:
        out("\n")
        _text(flat[0], every=every)
    elif flat:
        assumptions.show([text for answer in flat for text in answer.instance.assumptions], every=every)


def _rows(instances: Sequence[KernelInstances], answers: Sequence[Sequence[InstanceResult]]) -> None:
    paths = [AnsweredPath(kernel, answer) for kernel, some in zip(instances, answers, strict=True) for answer in some]
    table.show(table.of_fields(AnsweredPathFields, paths))
    for label in dict.fromkeys(kernel.label for kernel in instances):
        out(f"lower, upper: {label}\n")
    for why in dict.fromkeys(kernel.why for kernel, some in zip(instances, answers, strict=True) if some):
        out(f"SM-level: bound of the warps, whatever paths they take{f' ({why})' if why else ''}\n")


def _text(answer: InstanceResult, *, every: bool) -> None:
    out(f"{cut(safe(strings_of(answer)), width())}\n{units(answer)}\n\n")
    if answer.known.last:
        table.show(table.of_fields(EngineFields, list(answer.known.last.values())))
    out(f"\n{verdict(answer)}\n")
    _estimates(answer)
    assumptions.show(answer.instance.assumptions, every=every)
    if answer.known.schedule is not None:
        out(f"\nschedule of {answer.known.lower} slots, slots from 1:\n")
        _chart(chart(answer))


def _estimates(answer: InstanceResult) -> None:
    estimates = makespan_document.estimates(answer)
    if not estimates:
        return
    out("\nestimates of Berezovskyi et al. 2011, which are no bounds:\n")
    for name, value, caution in estimates:
        out(f"  {name.ljust(23)} {value}  ({caution})\n")


def _chart(picture: Chart) -> None:

    shown = lines(picture, ChartSize(width()), ": -o gantt.svg shows all")
    if not colourful(sys.stdout):
        out("".join(f"{line}\n" for line in shown))
        return

    console = Console(width=max(width(), 40), highlight=False)
    with console.capture() as captured:
        for line in shown:
            text = Text(line.head)
            for run in runs(line.cells):
                text.append(run.mark * run.count, style(run.mark) if run.mark.strip() else "")
            console.print(text, no_wrap=True, crop=False, overflow="ignore")
    out(captured.get())


def _write(answers: Sequence[InstanceResult], wanted: Wanted) -> None:
    """Write the charts and the programs that were asked for, before anything is printed."""
    if wanted.output is not None:
        for path, answer in zip(_files(wanted.output, answers), answers, strict=True):
            text = draw(chart(answer), path.suffix.lower().removeprefix("."), _page(answer))
            _save(path, text, quiet=wanted.quiet)
    if wanted.program is not None:
        for path, answer in zip(_files(wanted.program, answers), answers, strict=True):
            _save(path, makespan_document.program(answer, path.suffix.lower().removeprefix("."), wanted.rows), quiet=wanted.quiet)


def _files(pattern: str, answers: Sequence[InstanceResult]) -> tuple[Path, ...]:
    return outputs(pattern, tuple(answer.instance.name if answer.instance.costs else "schedule" for answer in answers))


def _save(path: Path, text: str, *, quiet: bool) -> None:
    save(path, text.encode(), quiet=quiet)


def _page(answer: InstanceResult) -> tuple[tuple[str, ...], ...]:
    """Return the table below a chart on a page."""
    rows: list[tuple[str, str]] = [("string", strings_of(answer)), ("instance", units(answer)), ("result", verdict(answer))]
    rows += [
        (f"engine {outcome.engine}", f"{outcome.seconds:.3f} s {outcome.note or outcome.proof}") for outcome in answer.known.last.values()
    ]
    rows += [(f"estimate {name}", f"{value}: {caution}") for name, value, caution in makespan_document.estimates(answer)]
    rows += [("assumption", text) for text in answer.instance.assumptions]
    return (("", ""), *rows)
