"""`sassan analyze`: the main job."""

from sassan import documents
from sassan.cli import document, options, report
from sassan.cli.asked import Asked, analysis
from sassan.cli.inputs import finish


@analysis
def analyze(asked: Asked, *, json: options.Json = False) -> None:
    """Bound every function: graph, string, WCET, makespan.

    A function that cannot be bounded lists its gaps: what is missing, and at which address. A bound holds under the assumptions that are
    printed with it. With --block-dim, as many warps as are resident on an SM are bounded together; with --grid, the whole grid.

    \b
    Examples:
      sassan analyze kernels.sass
      sassan analyze kernels.sass -f '*saxpy*' --loop-bound 10 -W 16
      sassan analyze k.cubin --block-dim 256 --param n=4096 --machine sm_61
      sassan analyze k.cubin --block-dim 256 --grid 120 --sms 20 --model table
      sassan analyze a.sass b.sass --bounds facts.toml --json
      cuobjdump -sass a.out | sassan analyze -
    """
    results, inputs = asked.analyses()
    if json:
        document.show([documents.analysis(one.file, one.analysis) for one in results], inputs.refused)
    else:
        report.show(results)
    finish(inputs, [one.analysis for one in results] if asked.functions else [])
