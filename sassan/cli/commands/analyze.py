"""`sassan analyze`: the main job."""

from sassan.app import documents
from sassan.cli.inputs import finish
from sassan.cli.options.inputs import Json
from sassan.cli.options.request import Asked, analysis
from sassan.cli.output import analysis_report as report
from sassan.cli.output import document, launches_report


@analysis
def analyze(asked: Asked, *, json: Json = False) -> None:
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
      sassan analyze ./a.out --launches launches.toml --model control
    """
    if asked.recording is not None:
        _launched(asked, json=json)
        return
    results, inputs = asked.analyses()
    if json:
        document.show([documents.analysis(one.file, one.analysis) for one in results], inputs.refused)
    else:
        report.show(results)
    finish(inputs, [one.analysis for one in results] if asked.functions else [])


def _launched(asked: Asked, *, json: bool) -> None:
    """Print what is known of every recorded launch."""
    inputs = asked.inputs()
    found = tuple(asked.launches(inputs))
    if json:
        document.show([], inputs.refused, launches=[documents.launch(one) for one in found])
    else:
        launches_report.show(found, cut=asked.recording.cut if asked.recording is not None else "")
    finish(inputs, [one.analysis for one in found if one.analysis is not None] if asked.functions else [])
