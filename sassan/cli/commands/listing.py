"""`sassan listing`: one row per instruction."""

import sys
from dataclasses import replace

from sassan.access import assumptions
from sassan.app.documents import HeadFields
from sassan.app.inputs import Inputs, RequestObserver, SelectedFunction, each_function
from sassan.app.listing_fields import InstructionFields, ListedFunction, ListingFields
from sassan.app.request import AnalysisRequest
from sassan.app.settings import Settings
from sassan.app.sources import Sources
from sassan.app.views import check_control, listing_of
from sassan.cli.options.inputs import Csv, File, Json
from sassan.cli.options.request import AnalysisCommand, listing_analysis
from sassan.cli.options.views import Agreement, CheckControl, Live, SourceFolder
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import colourful, cut, is_terminal, note, out, safe, width
from sassan.cli.reports import control as listing_check
from sassan.cli.reports.analysis import title
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import UsageError
from sassan.fields import field as fields
from sassan.machine.launch import LaunchConfiguration
from sassan.render.listing import Listing, ListingRow
from sassan.render.listing_text import TextLine, lines

_LEAST_SOURCE = 24
"""Characters of a source line that are shown, however narrow the terminal is."""

_COLOURS = {"title": "1", "faint": "2", "wait": "33", "branch": "36", "source": "32"}
"""Parameters of the terminal's SGR sequence per style."""


@listing_analysis
def listing(
    command: AnalysisCommand,
    file: File,
    *,
    agreement: Agreement = False,
    live: Live = False,
    source: SourceFolder = None,
    check: CheckControl = False,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Print one row per instruction, with its control code.

    Control codes stand in the encodings, which cubins, cuobjdump -sass and nvdisasm -c -hex have. The columns:

    \b
      st     stall: cycles before the next instruction (0: both at once, to sm_62)
      y      Y is the hint to let another warp run
      w r    barriers set until the result is written, the sources are read
      waits  barriers waited for
      reuse  source slots kept in the operand cache
      unit l functional unit and letter
      trans. with --block-dim: memory transactions of a warp / how few
             the same bytes need ('sassan memory' says why there are more)
      live   with --live: general registers in use

    \b
    Examples:
      sassan listing kernels.sass -f saxpy
      sassan listing kernels.sass --agreement
      sassan listing kernels.cubin --source src/
      sassan listing kernels.cubin --block-dim 32,8 --param n=1024
      sassan listing kernels.sass --check
    """
    sheet.exclude(csv=csv, json=json)
    if csv and check:
        raise UsageError("usage", "--csv has the rows of the listing, and --check prints none", hint="pass --json with --check")
    request, observer = replace(command.request, files=(file,)), command.observer
    inputs = request.inputs(observer)
    if check:
        checked, inputs = each_function(inputs, lambda selected: (selected, check_control(selected.function)), "checking", observer)
        if json:
            rows = [fields.document(listing_check.ControlFields, listing_check.ControlCheck(*each)) for each in checked]
            document.show(rows, inputs.refused)
        else:
            listing_check.text(checked)
        listing_check.finish(checked, inputs)
    else:
        sources = Sources(*([source] if source is not None else ()))
        listings, inputs = _listings(request, inputs, observer)
        for text in assumptions([access for _, _, shown in listings for row in shown.rows for access in row.accesses]):
            observer.assumed(text)
        if json:
            document.show([fields.document(ListingFields, ListedFunction(*each)) for each in listings], inputs.refused)
        elif csv:
            sheet.of_parts(
                HeadFields, InstructionFields, ((each, each.shown.rows) for each in (ListedFunction(*listed) for listed in listings))
            )
        else:
            for selected, settings, shown in listings:
                _text(selected, settings.launch, shown.rows, sources, agreement=agreement, live=live)
            list_gaps([(selected.function.name, shown.gaps) for selected, _, shown in listings])
        if not observer.quiet and any(row.control is None for _, _, shown in listings for row in shown.rows):
            note(f"{safe(file)}: no encodings, so control codes are unknown: cuobjdump -sass and nvdisasm -c -hex print them\n")
    finish(inputs)


def _listings(
    request: AnalysisRequest, inputs: Inputs, observer: RequestObserver
) -> tuple[tuple[tuple[SelectedFunction, Settings, Listing], ...], Inputs]:
    """Return the listing of every function, or of each of its launches, with the settings of that launch."""
    if request.recording is None:
        return each_function(
            inputs, lambda selected: (selected, request.settings, listing_of(selected.function, request.settings)), "listing", observer
        )
    results, inputs = request.results_of(inputs, observer, label="listing")
    listings = (
        (SelectedFunction(result.file, result.function), result.settings, listing_of(result.function, result.settings))
        for result in results
    )
    return tuple(listings), inputs


def _text(
    selected: SelectedFunction, launch: LaunchConfiguration, rows: tuple[ListingRow, ...], sources: Sources, *, agreement: bool, live: bool
) -> None:

    styled = colourful(sys.stdout)
    body = "".join(_line(line, styled=styled) for line in lines(rows, sources.text, agreement=agreement, live=live))
    out(f"{title(selected.function, launch)}\n{body}\n")


def _line(line: TextLine, *, styled: bool) -> str:
    """Return one line; on a terminal the text of a source line is cut to its width, the listing itself never."""
    pieces = [(safe(piece.text), _COLOURS.get(piece.style.value)) for piece in line]
    if is_terminal(sys.stdout) and len(pieces) > 1:
        rest = width() - sum(len(text) for text, _ in pieces[:-1])
        pieces[-1] = (cut(pieces[-1][0], max(rest, _LEAST_SOURCE)), pieces[-1][1])
    if not styled:
        return "".join(text for text, _ in pieces).rstrip() + "\n"
    return "".join(f"\x1b[{colour}m{text}\x1b[0m" if colour and text else text for text, colour in pieces) + "\n"
