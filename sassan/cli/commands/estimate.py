"""`sassan estimate`: how long a launch takes, and why."""

import typer

from sassan.app.estimating import estimated
from sassan.cli.options.inputs import Json
from sassan.cli.options.launch import Policy, PolicyOption
from sassan.cli.options.request import Asked, analysis
from sassan.cli.output import document, failure
from sassan.cli.output.finish import finish, named
from sassan.cli.reports import estimate as report
from sassan.errors import InputError, UsageError


@analysis
def estimate(asked: Asked, *, policy: PolicyOption = Policy.GREEDY, json: Json = False) -> None:
    """Estimate how long a launch takes, and say why.

    An estimate is what to expect; a bound (sassan analyze) is what is never exceeded. One SM is simulated with its resident blocks, their
    control codes, units and barriers, and its share of L2 and DRAM; the rest of the grid follows in waves. The GPU, the block and the grid
    are needed; arguments that bound loops are, too (--param), or a recording of the launches (--launches).

    'bound by' names what to improve: issue (fewer instructions), a unit such as fma, shared (bank conflicts) or l1 (uncoalesced accesses),
    which share the memory pipeline of an SM, l2, dram (fewer bytes), latency (more warps, or more independent work in each), barrier, tail (blocks that
    are too few or too long), launch (too little work for a kernel). Rows are the work of one warp on the expected, the shortest and the
    longest path, in cycles of each unit. Stalls have the names of Nsight Compute.

    \b
    Examples:
      sassan estimate k.cubin --gpu T4 --block-dim 256 --grid 4096 --param n=100
      sassan estimate k.cubin --gpu T4 --block-dim 32,8 --grid 64,64 --json
      sassan estimate ./a.out --gpu "H100 PCIe" --launches launches.toml
    """
    request, settings = asked.request, asked.request.settings
    if settings.gpu is None:
        raise UsageError("usage", "an estimate needs a GPU", hint="pass --gpu NAME; sassan gpus lists them")
    if request.recording is None and (settings.launch.block is None or settings.launch.grid is None):
        raise UsageError("usage", "an estimate needs the shape of a launch", hint="pass --block-dim and --grid, or --launches")
    results, inputs = request.results(asked.observer, label="estimating")
    estimates = [estimated(result, greedy=policy is Policy.GREEDY) for result in results if result.function.kernel]
    if json:
        document.show([report.row(each) for each in estimates], inputs.refused)
    else:
        report.show(estimates)
    unknown = [each for each in estimates if each.estimate is None] if request.patterns else []
    if unknown and not inputs.status:
        codes = sorted({gap.code for each in unknown for gap in each.gaps})
        error = InputError("gaps", f"{named([each.analysis.function for each in unknown])}: no estimate ({', '.join(codes)})")
        failure.show(error)
        raise typer.Exit(error.status)
    finish(inputs)
