"""`sassan memory`: the transactions of every memory access."""

from sassan.app.memory import memory_of
from sassan.cli.options.inputs import Json
from sassan.cli.options.request import Asked, graph_analysis
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import note
from sassan.cli.reports import memory as memory_report


@graph_analysis
def memory(asked: Asked, *, json: Json = False) -> None:
    """Print one row per memory access: its pattern, its transactions, and which of them are wasted.

    Transactions are those of one execution by a full warp: 32-byte sectors of global and local memory, passes over the banks of shared
    memory. Where they depend on what is not known, they are the most that may be. Rows stand by what a warp wastes.
    With --block-dim, the lanes of threadIdx are known; with --param, the row length of an array is.
    Columns: trans., transactions; ideal, as few as the same bytes need; exec., executions by one warp on its worst path.

    \b
    Examples:
      sassan memory kernels.cubin --block-dim 32,8
      sassan memory kernels.cubin -f transpose --block-dim 32,8 --param n=1024
      sassan memory kernels.cubin --block-dim 256 --json
    """
    results, inputs = asked.request.results(asked.observer)
    found = [memory_of(result) for result in results]
    if json:
        document.show([memory_report.row(one) for one in found], inputs.refused)
    else:
        memory_report.show(found)
    if not asked.observer.quiet and asked.request.settings.launch.block is None and any(one.rows for one in found):
        note("note: without --block-dim, it is not known which thread is in which lane\n")
    finish(inputs)
