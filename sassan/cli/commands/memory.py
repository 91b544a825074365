"""`sassan memory`: the transactions of every memory access."""

import typer

from sassan.app.documents import HeadFields
from sassan.app.memory import alignment, check_alignments, memory_of
from sassan.app.memory_fields import AccessFields, MemoryFields
from sassan.cli.options.inputs import Csv, Json
from sassan.cli.options.launch import Align
from sassan.cli.options.request import AnalysisCommand, graph_analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document, failure
from sassan.cli.output.finish import finish, named
from sassan.cli.output.terminal import note
from sassan.cli.reports import memory as memory_report
from sassan.errors import InputError
from sassan.fields import field as fields


@graph_analysis
def memory(command: AnalysisCommand, *, align: Align = None, csv: Csv = False, json: Json = False) -> None:
    """Print memory accesses: pattern, transactions, waste.

    Transactions are those of one execution by all lanes that may execute it: 32-byte sectors of global and local memory, passes over the
    banks of shared memory. Where they depend on what is not known, they are the most that may be. Rows stand by what a warp wastes.
    With --block-dim, the lanes of threadIdx are known; with --param, the row length of an array is.
    Columns: trans., transactions; ideal, as few as the same bytes need; exec., executions by one warp on its worst path.

    \b
    Examples:
      sassan memory kernels.cubin --block-dim 32,8
      sassan memory kernels.cubin -f transpose --block-dim 32,8 --param n=1024
      sassan memory kernels.cubin --block-dim 256 --align param_0=16 --json
    """
    sheet.exclude(csv=csv, json=json)
    aligned = [alignment(text) for text in align or ()]
    results, inputs = command.request.results(command.observer)
    check_alignments(aligned, [result.function for result in results])
    memories = [memory_of(result, aligned) for result in results]
    if json:
        document.show([fields.document(MemoryFields, result) for result in memories], inputs.refused)
    elif csv:
        sheet.of_parts(HeadFields, AccessFields, ((result.analysis, result.rows) for result in memories))
    else:
        memory_report.show(memories)
    if not command.observer.quiet and any(result.rows and result.analysis.settings.launch.block is None for result in memories):
        note("note: without --block-dim, it is not known which thread is in which lane\n")
    unknown = [result for result in memories if result.gaps] if command.request.patterns else []
    if unknown and not inputs.status:
        error = InputError("gaps", f"{named([result.function for result in unknown])}: accesses are not known")
        failure.show(error)
        raise typer.Exit(error.status)
    finish(inputs)
